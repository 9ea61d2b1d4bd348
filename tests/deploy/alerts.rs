//! Alert rules: they are rules, each is tested both ways and says where to read on, and they name what is there.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{promql, strings, succeeded, text, tool, yaml};

const RULES: &str = "deploy/prometheus/rules.yaml";
const TESTS: &str = "deploy/prometheus/rules_test.yaml";
const GUIDE: &str = "docs/operations.md";

/// What operators must be told of, whatever else they are told of.
const REQUIRED: [&str; 9] = [
    "IcacheDown",
    "IcacheIndexEmpty",
    "IcacheNoHintShareHigh",
    "IcacheUnknownKeys",
    "IcacheReplicaSilent",
    "IcachePolicyReloadFailed",
    "IcacheEvictionsByCap",
    "IcacheShedding",
    "IcacheAuthFailures",
];

fn rules() -> Vec<Value> {
    let file = yaml(RULES);
    let groups = file["groups"].as_array().unwrap();
    groups.iter().flat_map(|group| group["rules"].as_array().unwrap().clone()).collect()
}

fn alerts() -> Vec<String> {
    strings(&Value::from(rules()), "alert")
}

#[test]
fn promtool_takes_the_rules_and_their_tests_pass() {
    let Some(mut check) = tool("promtool", "prometheus") else { return };
    let printed = succeeded(check.args(["check", "rules", RULES]).current_dir(crate::root()));
    assert!(printed.contains(&format!("SUCCESS: {} rules found", rules().len())), "{printed}");
    let Some(mut test) = tool("promtool", "prometheus") else { return };
    succeeded(test.args(["test", "rules", TESTS]).current_dir(crate::root()));
}

#[test]
fn every_alert_is_tested_where_it_fires_and_where_it_does_not() {
    let file = yaml(TESTS);
    let mut tested: BTreeMap<String, [bool; 2]> = BTreeMap::new();
    for case in file["tests"].as_array().unwrap() {
        for check in case["alert_rule_test"].as_array().unwrap() {
            let fires = !check["exp_alerts"].as_array().unwrap().is_empty();
            tested.entry(check["alertname"].as_str().unwrap().to_owned()).or_default()[usize::from(fires)] =
                true;
        }
    }
    for alert in alerts() {
        assert_eq!(tested.get(&alert), Some(&[true, true]), "{alert}: [silent, firing]");
    }
    let alerts: BTreeSet<String> = alerts().into_iter().collect();
    assert!(tested.keys().all(|name| alerts.contains(name)), "only alerts that exist are tested");
}

#[test]
fn rules_and_their_tests_name_metrics_that_exist() {
    for rule in rules() {
        promql::check(rule["alert"].as_str().unwrap(), rule["expr"].as_str().unwrap());
    }
    for series in strings(&yaml(TESTS), "tests.input_series.series") {
        promql::check("a series of the tests", &series);
    }
}

#[test]
fn every_alert_has_its_section_and_points_to_it() {
    let guide = text(GUIDE);
    let sections: Vec<&str> = guide.lines().filter_map(|line| line.strip_prefix("### Icache")).collect();
    let alerts = alerts();
    for required in REQUIRED {
        assert!(alerts.iter().any(|alert| alert == required), "{required}");
    }
    assert_eq!(
        sections.iter().map(|name| format!("Icache{name}")).collect::<Vec<_>>(),
        alerts,
        "a section for each alert, in the order of the rules"
    );
    for rule in rules() {
        let name = rule["alert"].as_str().unwrap();
        let annotations = &rule["annotations"];
        assert_eq!(annotations["runbook"], format!("{GUIDE}#{}", name.to_lowercase()), "{name}");
        assert!(["critical", "warning"].contains(&rule["labels"]["severity"].as_str().unwrap()), "{name}");
        for part in ["summary", "description"] {
            assert!(annotations[part].as_str().is_some_and(|text| !text.is_empty()), "{name}: {part}");
        }
        let section = guide.split(&format!("### {name}\n")).nth(1).unwrap_or_default();
        let section = section.split("\n#").next().unwrap_or_default();
        assert!(
            section.contains("**Means**") && section.contains("**Do**"),
            "{name}: what it means and what to do"
        );
    }
}
