//! The schema knows exactly the keys that are read.

use palisade_exec_policy::language::{Layer, Source, parse, schema};
use serde_json::Value;

use crate::support::FULL;

fn parsed() -> Value {
    serde_json::from_str(&schema()).expect("the schema is JSON")
}

/// Every key of a schema, with the keys of the tables below it: `rule[].flags.else`.
fn keys(schema: &Value, path: &str, found: &mut Vec<(String, Value)>) {
    for option in schema["anyOf"].as_array().into_iter().flatten() {
        keys(option, path, found);
    }
    if schema.get("items").is_some() {
        keys(&schema["items"], &format!("{path}[]"), found);
    }
    if schema["additionalProperties"].is_object() {
        keys(&schema["additionalProperties"], &format!("{path}.*"), found);
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = match path {
            "" => name.clone(),
            above => format!("{above}.{name}"),
        };
        found.push((path.clone(), property.clone()));
        keys(property, &path, found);
    }
}

/// Every key of a document, in the same spelling.
fn used(schema: &Value, value: &toml::Value, path: &str, found: &mut Vec<String>) {
    match value {
        toml::Value::Table(table) => {
            for (name, value) in table {
                let free = schema["additionalProperties"].is_object();
                let (below, step) = match free {
                    true => (&schema["additionalProperties"], "*"),
                    false => (&schema["properties"][name], name.as_str()),
                };
                let path = match path {
                    "" => step.to_owned(),
                    above => format!("{above}.{step}"),
                };
                if !free {
                    found.push(path.clone());
                }
                used(pick(below, value), value, &path, found);
            }
        }
        toml::Value::Array(items) => {
            for item in items {
                let below = pick(&schema["items"], item);
                used(below, item, &format!("{path}[]"), found);
            }
        }
        _ => {}
    }
}

/// The part of an `anyOf` that a value can be.
fn pick<'s>(schema: &'s Value, value: &toml::Value) -> &'s Value {
    let Some(options) = schema["anyOf"].as_array() else {
        return schema;
    };
    let wanted = match value {
        toml::Value::Table(_) => "object",
        toml::Value::Array(_) => "array",
        toml::Value::Integer(_) => "integer",
        _ => "string",
    };
    let fits = |option: &&Value| {
        option["type"] == wanted || (wanted == "string" && option["enum"].is_array())
    };
    options.iter().find(fits).unwrap_or(schema)
}

#[test]
fn the_sample_uses_every_key_of_the_schema_and_no_other() {
    let schema = parsed();
    let mut known = Vec::new();
    keys(&schema, "", &mut known);
    let mut known: Vec<_> = known.into_iter().map(|(key, _)| key).collect();
    let sample: toml::Value = toml::from_str(FULL).unwrap();
    let mut there = Vec::new();
    used(&schema, &sample, "", &mut there);
    // `access` has no place beside a list.
    there.push("network.access".to_owned());
    // The sample is the system's, who binds no secrets: `only_the_user_binds_a_secret_to_a_host`.
    known.retain(|key| !key.starts_with("network.inject"));
    known.sort();
    there.sort();
    there.dedup();
    assert_eq!(there, known);
    // What the sample uses is read without an error: `a_policy_that_says_everything_is_read`.
}

#[test]
fn every_word_of_the_schema_is_read() {
    let schema = parsed();
    let mut found = Vec::new();
    keys(&schema, "", &mut found);
    let mut words = 0;
    for (path, property) in found {
        let list = match property["enum"].as_array() {
            Some(list) => list.clone(),
            None => Vec::new(),
        };
        for word in list {
            words += 1;
            let text = sample(&path, word.as_str().unwrap());
            let source = Source::new(Layer::System, "policy.toml", &text);
            let errors = parse(&source).err().map(|errors| errors.to_string());
            // A word that is known here can still contradict the rest of a rule.
            let unknown = errors.is_some_and(|text| text.contains("expected `"));
            assert!(!unknown, "{path} = {word}\n{text}");
        }
    }
    assert!(words > 25, "{words}");
}

/// A policy that says one word at one key.
fn sample(path: &str, word: &str) -> String {
    let (table, path) = match path.split_once("[].") {
        Some(("rule", "decision")) => ("[[rule]]\nid = \"a\"\nprefix = [\"a\"]\n", "decision"),
        Some(("rule", path)) => (
            "[[rule]]\nid = \"a\"\nprefix = [\"a\"]\ndecision = \"allow\"\n",
            path,
        ),
        Some(("case", path)) => ("[[case]]\nrun = \"a\"\n", path),
        _ => ("", path),
    };
    let line = match path.split_once("[].") {
        Some((list, key)) => format!("{list} = [{{ domain = \"a.example\", {key} = {word:?} }}]"),
        None => format!("{path} = {word:?}"),
    };
    format!("version = 1\n{table}{line}\n")
}

#[test]
fn the_published_schema_is_this_one() {
    assert_eq!(
        schema(),
        include_str!("../../../../docs/policy.schema.json")
    );
}
