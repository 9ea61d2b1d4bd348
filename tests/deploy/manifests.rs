//! The Kubernetes manifests: valid for clusters of the versions named, of one piece, and right about the binary's flags.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::process::Process;
use crate::server_support::{http_get, until};
use crate::{
    bytes, files, flags, given, guide, printed, scratch, seconds, strings, succeeded, text, value_of,
};
use crate::{yaml, yaml_documents};

const FOLDER: &str = "deploy/kubernetes";
const BASE: &str = "deploy/kubernetes/base";
const EXAMPLES: [&str; 2] =
    ["deploy/kubernetes/examples/vllm.yaml", "deploy/kubernetes/examples/sglang.yaml"];

/// The oldest version that the manifests are for, and the newest whose schemas are at hand.
const KUBERNETES: [&str; 2] = ["1.30", "1.37"];

fn deployment() -> Value {
    yaml(&format!("{BASE}/deployment.yaml"))
}

fn pod() -> Value {
    deployment()["spec"]["template"]["spec"].clone()
}

/// Arguments of the server's container.
pub fn server_args() -> Vec<String> {
    strings(&pod(), "containers.args")
}

/// Names and texts of the policies that are mounted into it.
pub fn server_policies() -> Vec<(String, String)> {
    let paths = strings(&yaml(&format!("{BASE}/kustomization.yaml")), "configMapGenerator.files");
    let name = |path: &String| path.rsplit('/').next().unwrap().to_owned();
    paths.iter().map(|path| (name(path), text(&format!("{BASE}/{path}")))).collect()
}

/// Every container that runs icache, with the file it stands in.
fn our_containers() -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for path in files(FOLDER, ".yaml") {
        for document in yaml_documents(&path).iter().filter(|document| document["kind"] == "Deployment") {
            let pod = &document["spec"]["template"]["spec"];
            for list in ["initContainers", "containers"] {
                let containers = pod[list].as_array().into_iter().flatten();
                let is_ours = |image: &str| image.contains("/icache:");
                let ours = containers.filter(|one| one["image"].as_str().is_some_and(is_ours));
                found.extend(ours.map(|one| (path.clone(), one.clone())));
            }
        }
    }
    assert_eq!(found.len(), 1 + EXAMPLES.len(), "the server and a sidecar of each engine");
    found
}

#[test]
fn the_schemas_of_kubernetes_take_them() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("python-manifests");
    succeeded(Command::new("sh").arg(tests.join("manifests-setup.sh")).arg(&folder));
    let manifests: Vec<String> =
        files(FOLDER, ".yaml").into_iter().filter(|path| is_of_kubernetes(path)).collect();
    let scratch = scratch();
    let rendered = ["base", "tls"].iter().filter_map(|folder| {
        let file = scratch.path().join(format!("{folder}.yaml"));
        let text = kustomized(folder)?;
        fs::write(&file, text).unwrap();
        Some(file.display().to_string())
    });
    let manifests: Vec<String> = manifests.into_iter().chain(rendered).collect();
    let validate = |paths: &[String]| {
        let mut command = Command::new(folder.join("bin/python"));
        command.arg(tests.join("manifests.py")).args(["--versions", &KUBERNETES.join(",")]).args(paths);
        command.current_dir(crate::root()).output().unwrap()
    };
    let output = validate(&manifests);
    assert!(output.status.success(), "{}", printed(&output));
    assert!(
        printed(&output).contains(&format!("{} files are valid", manifests.len())),
        "{}",
        printed(&output)
    );

    // What a cluster would refuse, it refuses too.
    for (was, is) in [
        ("replicas: 1", "replicas: one"),
        ("replicas: 1", "replikas: 1"),
        ("readOnlyRootFilesystem", "readOnlyRootFileSystem"),
    ] {
        let wrong = scratch.path().join("wrong.yaml");
        fs::write(&wrong, text(&format!("{BASE}/deployment.yaml")).replace(was, is)).unwrap();
        let output = validate(&[wrong.display().to_string()]);
        assert_eq!(output.status.code(), Some(1), "{is}: {}", printed(&output));
    }
}

/// Whether a file holds whole objects of Kubernetes itself: no patch, and nothing that only tools or operators know.
fn is_of_kubernetes(path: &str) -> bool {
    let is_of_others = |document: &Value| {
        let group = document["apiVersion"].as_str().unwrap().split('/').next().unwrap().to_owned();
        ["kustomize.config.k8s.io", "monitoring.coreos.com", "inferencecache.io"].contains(&group.as_str())
    };
    let is_patch = !path.starts_with(BASE) && path.ends_with("/deployment.yaml");
    !is_patch && !yaml_documents(path).iter().any(is_of_others)
}

/// What `kubectl kustomize` makes of a folder; none where there is no kubectl, which is no package of Debian's that is new
/// enough.
fn kustomized(folder: &str) -> Option<String> {
    let output =
        Command::new("kubectl").arg("kustomize").arg(crate::root().join(FOLDER).join(folder)).output();
    let Ok(output) = output else {
        eprintln!("not checked: `kubectl` is not there to render {folder}");
        return None;
    };
    assert!(output.status.success(), "{folder}: {}", printed(&output));
    Some(String::from_utf8(output.stdout).unwrap())
}

/// The schema of one of the Prometheus Operator's kinds.
fn operator_schema(kind: &str) -> jsonschema::Validator {
    let schema = text(&format!("testdata/prometheus-operator/{kind}.schema.json"));
    jsonschema::draft202012::new(&serde_json::from_str(&schema).unwrap()).unwrap()
}

/// Holds `object` against the schema, and each copy of it that is wrong at a place.
fn judge(kind: &str, object: &Value, wrong: &[(&str, Value)]) {
    let validator = operator_schema(kind);
    let faults: Vec<String> = validator.iter_errors(object).map(|fault| fault.to_string()).collect();
    assert!(faults.is_empty(), "{faults:?}");
    for (place, wrong) in wrong {
        let mut object = object.clone();
        let (parent, key) = place.rsplit_once('/').unwrap();
        object.pointer_mut(parent).unwrap()[key] = wrong.clone();
        assert!(!validator.is_valid(&object), "{place}");
    }
}

#[test]
fn the_schemas_of_the_prometheus_operator_take_monitor_and_rules() {
    let monitor = yaml(&format!("{FOLDER}/monitoring/servicemonitor.yaml"));
    let wrong = [
        ("/spec/endpoints/0/interval", json!("15 seconds")),
        ("/spec/endpoints/0/scrape_timeout", json!("10s")),
        ("/spec/selector", json!("app=icache")),
        ("/kind", json!("PodMonitor")),
    ];
    judge("servicemonitor", &monitor, &wrong);
    let service = yaml(&format!("{BASE}/service.yaml"));
    let wanted = &monitor["spec"]["selector"]["matchLabels"];
    assert_eq!(service["metadata"]["labels"], *wanted, "it finds the Service");
    assert_eq!(service["metadata"]["name"], "icache", "alerts and dashboard go by this name as `job`");
    for port in strings(&monitor, "spec.endpoints.port") {
        assert!(strings(&service, "spec.ports.name").contains(&port), "{port}");
    }
    let rules = yaml(&format!("{FOLDER}/monitoring/prometheusrule.yaml"));
    let wrong = [
        ("/spec/groups/0/rules/0/for", json!("two minutes")),
        ("/spec/groups/0/rules/0/severity", json!("critical")),
        ("/spec/groups/0/name", json!(1)),
    ];
    judge("prometheusrule", &rules, &wrong);
    assert_eq!(rules["spec"], yaml("deploy/prometheus/rules.yaml"), "the rules that are tested");
}

#[test]
fn the_pod_monitor_finds_the_sidecars_and_reaches_them() {
    let monitor = yaml(&format!("{FOLDER}/monitoring/podmonitor.yaml"));
    assert_eq!(
        (&monitor["apiVersion"], &monitor["kind"]),
        (&json!("monitoring.coreos.com/v1"), &json!("PodMonitor"))
    );
    assert_eq!(monitor["spec"]["namespaceSelector"], json!({"any": true}));
    let wanted = monitor["spec"]["selector"]["matchLabels"].as_object().unwrap();
    let port = strings(&monitor, "spec.podMetricsEndpoints.port").remove(0);
    for path in EXAMPLES {
        let documents = yaml_documents(path);
        let pod = &documents[0]["spec"]["template"];
        for (name, value) in wanted {
            assert_eq!(pod["metadata"]["labels"][name], *value, "{path}: {name}");
        }
        assert_eq!(strings(pod, "spec.initContainers.ports.name"), [port.as_str()], "{path}");
        let admitted = strings(&documents[1], "spec.ingress.ports.port");
        assert!(admitted.contains(&port), "{path}: Prometheus reaches it");
    }
}

#[test]
fn state_is_saved_where_the_server_may_write() {
    let folder = value_of(&server_args(), "--state-dir");
    let mounts = pod()["containers"][0]["volumeMounts"].clone();
    let mount = mounts.as_array().unwrap().iter().find(|mount| mount["mountPath"] == folder).unwrap();
    assert_ne!(mount["readOnly"], true);
    let volumes = pod()["volumes"].clone();
    let volume = volumes.as_array().unwrap().iter().find(|volume| volume["name"] == mount["name"]).unwrap();
    // The file, and the one that is written beside it.
    let room = bytes(volume["emptyDir"]["sizeLimit"].as_str().unwrap());
    assert!(room >= bytes(&value_of(&server_args(), "--max-memory")));
    let unit = text("deploy/systemd/icache.service");
    assert!(
        unit.contains("\nStateDirectory=icache\n") && unit.contains("--state-dir /var/lib/icache"),
        "{unit}"
    );
}

#[test]
fn tls_is_the_base_with_certificates() {
    let patch = yaml(&format!("{FOLDER}/tls/deployment.yaml"));
    let args = strings(&patch, "spec.template.spec.containers.args");
    let certificates = ["--tls-cert", "--tls-key", "--tls-client-ca"];
    let is_certificate = |arg: &String| certificates.iter().any(|flag| arg.starts_with(flag));
    let (added, rest): (Vec<String>, Vec<String>) = args.into_iter().partition(is_certificate);
    let base: Vec<String> = server_args().into_iter().filter(|arg| arg != "--insecure-plaintext").collect();
    assert_eq!(rest, base);
    let mount = strings(&patch, "spec.template.spec.containers.volumeMounts.mountPath").remove(0);
    let files = ["tls.crt", "tls.key", "ca.crt"];
    let expected = certificates.iter().zip(files).map(|(flag, file)| format!("{flag}={mount}/{file}"));
    assert_eq!(added, expected.collect::<Vec<_>>());
    let known = flags("serve").unwrap();
    if !known.contains("--tls-cert") {
        eprintln!("not checked: flags of TLS; this build has none");
        return;
    }
    assert!(certificates.iter().all(|flag| known.contains(*flag)), "{known:?}");
    let Some(rendered) = kustomized("tls") else { return };
    assert!(!rendered.contains("--insecure-plaintext"), "{rendered}");
}

#[test]
fn flags_exist_and_say_what_the_manifests_rely_on() {
    for (path, container) in our_containers() {
        let args = strings(&container, "args");
        // A build that has no such command has nothing to compare with.
        let Some(known) = flags(&args[0]) else {
            assert_eq!(args[0], "subscribe", "{path}");
            eprintln!("not checked: flags of `icache subscribe` in {path}; this build has no such command");
            continue;
        };
        for (flag, _) in given(&args) {
            assert!(known.contains(&flag), "{path}: `icache {}` has no `{flag}`", args[0]);
        }
    }
    let args = server_args();
    for (flag, value) in [
        ("--replica-timeout", "30s"),
        ("--admin-addr", "127.0.0.1:8081"),
        ("--policy", "/etc/icache/policies"),
    ] {
        assert_eq!(value_of(&args, flag), value, "{flag}");
    }
    for path in EXAMPLES {
        let args = strings(&yaml_documents(path)[0], "spec.template.spec.initContainers.args");
        for (flag, value) in [
            ("--replica", "$(POD_NAME)"),
            ("--server", "http://icache.icache.svc:9090"),
            ("--engine", "tcp://127.0.0.1:5557"),
            ("--replay", "tcp://127.0.0.1:5558"),
        ] {
            assert_eq!(value_of(&args, flag), value, "{path}: {flag}");
        }
        let engine = strings(&yaml_documents(path)[0], "spec.template.spec.containers.args");
        assert_eq!(value_of(&engine, "--served-model-name"), value_of(&args, "--model"), "{path}");
        let events: Value = serde_json::from_str(&value_of(&engine, "--kv-events-config")).unwrap();
        assert_eq!(
            (&events["endpoint"], &events["replay_endpoint"]),
            (&json!("tcp://*:5557"), &json!("tcp://*:5558"))
        );
    }
}

#[test]
fn containers_are_confined_bounded_and_of_this_version() {
    let tag = format!("/icache:{}", env!("CARGO_PKG_VERSION"));
    let dockerfile = text("deploy/Dockerfile");
    assert!(dockerfile.contains(&tag), "{tag}");
    for (path, container) in our_containers() {
        assert!(container["image"].as_str().unwrap().ends_with(&tag), "{path}");
        let context = &container["securityContext"];
        assert_eq!(context["readOnlyRootFilesystem"], true, "{path}");
        assert_eq!(context["allowPrivilegeEscalation"], false, "{path}");
        assert_eq!(context["capabilities"], json!({"drop": ["ALL"]}), "{path}");
        let of_pod = pod()["securityContext"].clone();
        let context = if container["args"][0] == "serve" { &of_pod } else { context };
        assert_eq!(
            (&context["runAsNonRoot"], &context["runAsUser"]),
            (&json!(true), &json!(65532)),
            "{path}"
        );
        assert_eq!(context["seccompProfile"], json!({"type": "RuntimeDefault"}), "{path}");
        for bound in ["/resources/requests/cpu", "/resources/requests/memory", "/resources/limits/memory"] {
            assert!(container.pointer(bound).is_some(), "{path}: {bound}");
        }
        assert!(container["livenessProbe"]["httpGet"]["path"] == "/healthz", "{path}");
    }
    for path in files(FOLDER, ".yaml") {
        for document in yaml_documents(&path) {
            let images = ["initContainers", "containers"]
                .iter()
                .flat_map(|list| strings(&document, &format!("spec.template.spec.{list}.image")));
            for image in images {
                let tag = image.rsplit_once(':').map_or("", |(_, tag)| tag);
                assert!(!tag.is_empty() && tag != "latest", "{path}: {image} may be anything");
            }
        }
    }
    assert_eq!(pod()["automountServiceAccountToken"], false);
    let namespace = yaml(&format!("{BASE}/namespace.yaml"));
    assert_eq!(namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"], "restricted");
}

#[test]
fn the_server_has_time_to_drain_and_room_for_its_index() {
    let args = server_args();
    let container = &pod()["containers"][0];
    let before = container["lifecycle"]["preStop"]["sleep"]["seconds"].as_u64().unwrap();
    let drain = seconds(&value_of(&args, "--drain-timeout"));
    assert!(pod()["terminationGracePeriodSeconds"].as_u64().unwrap() > before + drain);

    let entries: u64 = value_of(&args, "--max-entries").parse().unwrap();
    let index = bytes(&value_of(&args, "--max-memory"));
    assert!(index >= entries * guide::bytes_an_entry(), "--max-entries is reached before --max-memory");
    let limit = bytes(container["resources"]["limits"]["memory"].as_str().unwrap());
    assert!(limit >= index + guide::beside_the_index(), "the process is never killed for its index");
    assert_eq!(container["resources"]["requests"]["memory"], container["resources"]["limits"]["memory"]);
}

#[test]
fn the_parts_fit_together() {
    let labels = deployment()["spec"]["template"]["metadata"]["labels"].clone();
    let ports = &pod()["containers"][0]["ports"];
    let names = strings(ports, "name");
    for (path, place) in [
        ("service", "/spec/selector"),
        ("networkpolicy", "/spec/podSelector/matchLabels"),
        ("poddisruptionbudget", "/spec/selector/matchLabels"),
        ("deployment", "/spec/selector/matchLabels"),
    ] {
        assert_eq!(yaml(&format!("{BASE}/{path}.yaml")).pointer(place), Some(&labels), "{path}");
    }
    let targets = strings(&yaml(&format!("{BASE}/service.yaml")), "spec.ports.targetPort");
    let admitted = strings(&yaml(&format!("{BASE}/networkpolicy.yaml")), "spec.ingress.ports.port");
    assert_eq!((targets.clone(), admitted), (names.clone(), targets), "each port is served and guarded");
    for (flag, port) in [("--grpc-addr", &ports[0]), ("--http-addr", &ports[1])] {
        assert_eq!(value_of(&server_args(), flag), format!("0.0.0.0:{}", port["containerPort"]), "{flag}");
    }
    for probe in ["startupProbe", "readinessProbe", "livenessProbe"] {
        assert_eq!(pod()["containers"][0][probe]["httpGet"]["port"], "http", "{probe}");
    }
    let client = json!({"inferencecache.io/client": "true"});
    let policy = yaml(&format!("{BASE}/networkpolicy.yaml"));
    assert_eq!(policy.pointer("/spec/ingress/0/from/0/podSelector/matchLabels"), Some(&client));
    assert_eq!(policy["spec"]["egress"], json!([]), "it calls nobody");
    for path in EXAMPLES {
        let labels = &yaml_documents(path)[0]["spec"]["template"]["metadata"]["labels"];
        assert_eq!(labels["inferencecache.io/client"], "true", "{path}: the sidecar may connect");
    }
}

#[test]
fn kustomizations_list_what_lies_beside_them() {
    for folder in ["base", "monitoring", "tls"] {
        let folder = format!("{FOLDER}/{folder}");
        let kustomization = yaml(&format!("{folder}/kustomization.yaml"));
        let listed: BTreeSet<String> = strings(&kustomization, "resources")
            .into_iter()
            .filter(|name| name != "../base")
            .chain(strings(&kustomization, "patches.path"))
            .chain(strings(&kustomization, "configMapGenerator.files"))
            .chain(["kustomization.yaml".to_owned()])
            .map(|name| format!("{folder}/{name}"))
            .collect();
        assert_eq!(listed, files(&folder, "").into_iter().collect(), "{folder}");
    }
    let mounted = strings(&pod(), "volumes.configMap.name");
    assert_eq!(mounted, strings(&yaml(&format!("{BASE}/kustomization.yaml")), "configMapGenerator.name"));
}

/// A ConfigMap as the kubelet lays it out: each file a link into `..data`, which is a link that is swapped.
fn mount(folder: &Path, version: &str, policies: &[(String, String)]) {
    let data = folder.join(format!("..{version}"));
    fs::create_dir(&data).unwrap();
    for (name, policy) in policies {
        fs::write(data.join(name), policy).unwrap();
        let link = folder.join(name);
        if !link.is_symlink() {
            symlink(Path::new("..data").join(name), link).unwrap();
        }
    }
    symlink(format!("..{version}"), folder.join("..data_tmp")).unwrap();
    fs::rename(folder.join("..data_tmp"), folder.join("..data")).unwrap();
}

#[tokio::test]
async fn a_changed_config_map_is_in_force_without_a_restart() {
    let policies = server_policies();
    let folder = scratch();
    mount(folder.path(), "1", &policies);
    let lint = Command::new(env!("CARGO_BIN_EXE_icache"))
        .args(["policy", "lint", "--deny", "warnings"])
        .arg(folder.path())
        .output()
        .unwrap();
    assert!(lint.status.success(), "{}", printed(&lint));
    let server = Process::start(&["--policy", &folder.path().display().to_string()]);
    let view = || async { http_get(server.admin_addr, "/policy").await.1 };
    assert!(view().await.contains("30m"), "{}", view().await);
    let changed: Vec<(String, String)> =
        policies.into_iter().map(|(name, policy)| (name, policy.replace("30m", "47m"))).collect();
    mount(folder.path(), "2", &changed);
    until(view, |view| view.contains("47m")).await;
}

#[test]
fn a_server_starts_before_there_is_a_policy() {
    let folder = scratch();
    let server = Process::start(&["--policy", &folder.path().display().to_string()]);
    server.signal("TERM");
    assert_eq!(server.wait().0.code(), Some(0));
}
