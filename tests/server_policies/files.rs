//! Files and folders that change under a running server.

use std::os::unix::fs::symlink;
use std::process::Command;

use crate::*;

#[test]
fn an_invalid_set_is_a_startup_error_with_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.yaml");
    for (text, parts) in [
        (policy("p", "minimumMatchedTokens: -1"), &["p.yaml:4", "minimumMatchedTokens"][..]),
        ("kind: [".to_owned(), &["p.yaml:"]),
    ] {
        fs::write(&path, text).unwrap();
        for named in [&path, folder.path()] {
            let output = Command::new(env!("CARGO_BIN_EXE_icache"))
                .args([
                    "serve",
                    "--grpc-addr=127.0.0.1:0",
                    "--http-addr=127.0.0.1:0",
                    "--admin-addr=127.0.0.1:0",
                ])
                .arg("--policy")
                .arg(named)
                .output()
                .unwrap();
            let text = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{text}");
            for part in parts {
                assert!(text.contains(part), "`{part}` is not in {text}");
            }
        }
    }
    let output = Command::new(env!("CARGO_BIN_EXE_icache"))
        .args(["serve", "--policy", "/nonexistent/p.yaml"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("/nonexistent/p.yaml: cannot be read: no such file"), "{text}");
}

#[tokio::test]
async fn a_file_that_is_written_or_renamed_or_gone_for_a_while() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.yaml");
    fs::write(&path, showing()).unwrap();
    let served = Served::under(&path).await;
    assert_eq!(served.reason("p").await, MATCH);
    // In place.
    fs::write(&path, hiding()).unwrap();
    served.turns(MATCH, HIDDEN).await;
    // By rename.
    replace(&path, &showing());
    served.turns(HIDDEN, MATCH).await;
    // What is gone leaves the last good set in force.
    fs::remove_file(&path).unwrap();
    served.reloads(false).await;
    assert_eq!(served.reason("p").await, MATCH);
    fs::write(&path, hiding()).unwrap();
    served.turns(MATCH, HIDDEN).await;
    served.reloads(true).await;
    // And again: the watch has followed the new file.
    replace(&path, &showing());
    served.turns(HIDDEN, MATCH).await;
}

#[tokio::test]
async fn files_in_a_folder_come_and_go_and_so_does_the_folder() {
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("policies");
    fs::create_dir(&folder).unwrap();
    let served = Served::under(&folder).await;
    assert_eq!(served.reason("p").await, MATCH, "an empty folder holds no policy");
    fs::write(folder.join("b.yaml"), hiding()).unwrap();
    served.turns(MATCH, HIDDEN).await;
    // One that sorts first by name takes its place, and the other is reported.
    fs::write(folder.join("c.yaml"), policy("a", "minimumMatchedTokens: 0")).unwrap();
    served.turns(HIDDEN, MATCH).await;
    let inert = served.shown().await["inert"].to_string();
    assert!(inert.contains("CachePolicy team-a/hides") && inert.contains("comes first"), "{inert}");
    fs::remove_file(folder.join("c.yaml")).unwrap();
    served.turns(MATCH, HIDDEN).await;
    // A folder below counts too, also one that was not there before.
    fs::create_dir(folder.join("below")).unwrap();
    fs::write(folder.join("below/d.yml"), policy("a", "minimumMatchedTokens: 0")).unwrap();
    served.turns(HIDDEN, MATCH).await;
    fs::remove_dir_all(&folder).unwrap();
    served.reloads(false).await;
    assert_eq!(served.reason("p").await, MATCH, "the last good set is kept");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("b.json"), json_of_hiding()).unwrap();
    served.turns(MATCH, HIDDEN).await;
    served.reloads(true).await;
    fs::write(folder.join("b.json"), "").unwrap();
    served.turns(HIDDEN, MATCH).await;
}

fn json_of_hiding() -> String {
    serde_json::json!({
        "apiVersion": "v1",
        "kind": "List",
        "items": [{
            "apiVersion": "inferencecache.io/v1alpha1",
            "kind": "CachePolicy",
            "metadata": {"name": "hides", "namespace": "team-a"},
            "spec": {"minimumMatchedTokens": 101, "affinityRouting": "Disabled"},
        }],
    })
    .to_string()
}

/// What the kubelet does: files behind a link that is swapped, with links to them beside it.
struct ConfigMap<'a> {
    mount: &'a Path,
    generation: u32,
}

impl ConfigMap<'_> {
    fn publish(&mut self, text: &str) {
        let old = format!("..2026_11_30_{}", self.generation);
        self.generation += 1;
        let new = format!("..2026_11_30_{}", self.generation);
        fs::create_dir(self.mount.join(&new)).unwrap();
        fs::write(self.mount.join(&new).join("p.yaml"), text).unwrap();
        symlink(&new, self.mount.join("..data_tmp")).unwrap();
        fs::rename(self.mount.join("..data_tmp"), self.mount.join("..data")).unwrap();
        if !self.mount.join("p.yaml").is_symlink() {
            symlink("..data/p.yaml", self.mount.join("p.yaml")).unwrap();
        }
        // The first time there is none.
        let _ = fs::remove_dir_all(self.mount.join(old));
    }
}

#[tokio::test]
async fn a_mounted_config_map_is_read_once_and_its_swaps_are_seen() {
    for names_the_file in [false, true] {
        let mount = tempfile::tempdir().unwrap();
        let mut map = ConfigMap { mount: mount.path(), generation: 0 };
        map.publish(&showing());
        let path = if names_the_file { mount.path().join("p.yaml") } else { mount.path().to_path_buf() };
        let served = Served::under(&path).await;
        let shown = served.shown().await;
        assert_eq!(shown["inert"].as_array().map(Vec::len), Some(0), "{shown}");
        for _ in 0..3 {
            map.publish(&hiding());
            served.turns(MATCH, HIDDEN).await;
            map.publish(&showing());
            served.turns(HIDDEN, MATCH).await;
        }
        assert_eq!(served.metric("policies").await, Some(1.0));
        let (_, source) = served.knob("minimumMatchedTokens").await;
        let file = mount.path().join("p.yaml");
        assert_eq!(source, format!("CachePolicy team-a/shows ({}:4)", file.display()));
    }
}

/// What a checkout that is swapped whole does: nothing happens in the folder that was watched.
#[tokio::test]
async fn a_link_above_the_folder_that_is_swapped() {
    let above = tempfile::tempdir().unwrap();
    let link_to = |release: &str| {
        symlink(release, above.path().join("aside")).unwrap();
        fs::rename(above.path().join("aside"), above.path().join("current")).unwrap();
    };
    for (release, text) in [("1", showing()), ("2", hiding())] {
        let folder = above.path().join(release).join("policies");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("p.yaml"), text).unwrap();
    }
    link_to("1");
    let served = Served::under(&above.path().join("current/policies")).await;
    link_to("2");
    served.turns(MATCH, HIDDEN).await;
    replace(&above.path().join("2/policies/p.yaml"), &showing());
    served.turns(HIDDEN, MATCH).await;
    link_to("2");
    link_to("1");
    fs::write(above.path().join("1/policies/p.yaml"), hiding()).unwrap();
    served.turns(MATCH, HIDDEN).await;
}

#[tokio::test]
async fn an_invalid_set_keeps_the_last_good_one_and_says_so_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.yaml");
    fs::write(&path, showing()).unwrap();
    let served = Served::under(&path).await;
    let started = served.metric("policy_reload_timestamp_seconds").await.unwrap();
    assert!(started > 1.6e9, "{started}");
    assert_eq!(served.metric("policy_reload_success").await, Some(1.0));
    assert_eq!(served.shown().await["lastReload"]["succeeded"], true);

    // One object of two is wrong: neither counts.
    let wrong = hiding() + "---\n" + &policy("other", "evictionTTL: soon");
    fs::write(&path, &wrong).unwrap();
    served.reloads(false).await;
    assert_eq!(served.reason("p").await, MATCH);
    let shown = served.shown().await;
    assert_eq!(shown["lastReload"]["succeeded"], false);
    let problem = shown["lastReload"]["problems"][0].as_str().unwrap();
    assert!(problem.contains("p.yaml:9") && problem.contains("evictionTTL"), "{problem}");
    assert_eq!(served.knob("minimumMatchedTokens").await.0, 100, "the last good set is shown");

    // Another mistake is told too, and the same one is told once however often the files are read.
    fs::write(&path, "kind: CachePolicy\n").unwrap();
    let other = || async { served.shown().await["lastReload"]["problems"].to_string() };
    server_support::until(other, |told| told.contains("apiVersion")).await;
    fs::write(folder.path().join("unrelated.txt"), "a notice that changes nothing").unwrap();

    fs::write(&path, hiding()).unwrap();
    served.turns(MATCH, HIDDEN).await;
    served.reloads(true).await;
    assert_eq!(served.shown().await["lastReload"]["problems"].as_array().map(Vec::len), Some(0));
    let log = served.server.log();
    let told = |part: &str| {
        log.iter()
            .filter(|line| line["message"].as_str().is_some_and(|message| message.contains(part)))
            .count()
    };
    assert_eq!((told("evictionTTL"), told("last good")), (1, 2), "{log:#?}");
    assert!(told("apiVersion") > 0, "{log:#?}");
}

#[tokio::test]
async fn a_file_that_is_written_slowly_is_taken_when_it_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.yaml");
    fs::write(&path, showing()).unwrap();
    let served = Served::under(&path).await;
    let whole = hiding();
    let (half, rest) = whole.split_at(whole.len() - 20);
    fs::write(&path, half).unwrap();
    served.reloads(false).await;
    assert_eq!(served.reason("p").await, MATCH, "half a file changes nothing");
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    std::io::Write::write_all(&mut file, rest.as_bytes()).unwrap();
    served.turns(MATCH, HIDDEN).await;
}

#[tokio::test]
async fn several_paths_are_one_set_and_the_namespace_can_be_given() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("1.yaml"), folder.path().join("2.yaml"));
    fs::write(&first, hiding().replace(", namespace: team-a", "")).unwrap();
    fs::write(&second, quota(5)).unwrap();
    let paths = [first.to_str().unwrap(), second.to_str().unwrap()];
    let served = Served::start(&[
        "--policy",
        paths[0],
        "--policy",
        paths[1],
        "--namespace",
        "team-a",
        "--default-ttl",
        "1h",
    ])
    .await;
    served.report("p", Duration::ZERO).await;
    assert_eq!(served.reason("p").await, HIDDEN);
    assert_eq!(served.knob("quota.maxIndexEntries").await.0, 5);
    assert_eq!(served.knob("evictionTTL").await, ("1h".into(), "flag --default-ttl".to_owned()));
    assert_eq!(served.metric("policies").await, Some(1.0));
}
