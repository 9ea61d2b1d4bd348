//! The Grafana dashboard: it can be imported, and asks for what there is.

use serde_json::{Value, json};

use crate::{promql, scratch, strings, succeeded, text, tool};

const DASHBOARD: &str = "deploy/grafana/icache.json";

fn dashboard() -> Value {
    serde_json::from_str(&text(DASHBOARD)).unwrap()
}

/// Title and expression of every query.
fn queries() -> Vec<(String, String)> {
    let dashboard = dashboard();
    let mut found = Vec::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        let title = panel["title"].as_str().unwrap();
        found.extend(strings(panel, "targets.expr").into_iter().map(|expr| (title.to_owned(), expr)));
    }
    assert!(found.len() > 25, "{}", found.len());
    found
}

/// The expression as Grafana sends it.
fn sent(expression: &str) -> String {
    let mut sent = expression.replace("$__rate_interval", "1m");
    for variable in ["job", "instance", "model"] {
        sent = sent.replace(&format!("${variable}"), ".*");
    }
    assert!(!sent.contains('$'), "a variable that is not known: {sent}");
    sent
}

#[test]
fn queries_name_metrics_and_labels_that_exist() {
    for (title, expression) in queries() {
        promql::check(&title, &sent(&expression));
    }
    for query in strings(&dashboard(), "templating.list.definition") {
        let (selector, label) = query
            .strip_prefix("label_values(")
            .and_then(|inside| inside.strip_suffix(')')?.rsplit_once(", "))
            .unwrap_or_else(|| panic!("a variable asks for the values of a label: {query}"));
        promql::check("a variable", &format!("count by ({label}) ({})", sent(selector)));
    }
}

#[test]
fn promtool_takes_every_query() {
    let Some(mut promtool) = tool("promtool", "prometheus") else { return };
    let rules: Vec<Value> = queries()
        .iter()
        .enumerate()
        .map(|(number, (_, expression))| json!({"record": format!("query_{number}"), "expr": sent(expression)}))
        .collect();
    let count = rules.len();
    let folder = scratch();
    let file = folder.path().join("queries.yaml");
    // JSON is YAML.
    std::fs::write(&file, json!({"groups": [{"name": "dashboard", "rules": rules}]}).to_string()).unwrap();
    let printed = succeeded(promtool.args(["check", "rules"]).arg(&file));
    assert!(printed.contains(&format!("{count} rules found")), "{printed}");
}

#[test]
fn it_can_be_imported_anywhere() {
    let dashboard = dashboard();
    let variables = strings(&dashboard, "templating.list.name");
    assert_eq!(variables, ["datasource", "job", "instance", "model"]);
    assert_eq!(dashboard.get("id"), None, "an id of another Grafana");
    assert_eq!(dashboard["schemaVersion"], 39);
    let mut ids = Vec::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        let title = panel["title"].as_str().unwrap();
        ids.push(panel["id"].as_u64().unwrap());
        let place = ["x", "y", "w", "h"].map(|side| panel["gridPos"][side].as_u64().unwrap());
        assert!(place[0] + place[2] <= 24 && place[3] > 0, "{title}: {place:?}");
        if panel["type"] == "row" {
            continue;
        }
        assert!(!panel["description"].as_str().unwrap().is_empty(), "{title}: what it shows");
        let targets = panel["targets"].as_array().unwrap();
        for asks in [panel].into_iter().chain(targets) {
            assert_eq!(asks["datasource"], json!({"type": "prometheus", "uid": "${datasource}"}), "{title}");
        }
    }
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "each panel has its own id");
}
