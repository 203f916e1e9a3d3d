//! Walks from the crate's root along everything public and collects the foreign types that signatures name.
//!
//! Rustdoc leaves out private items, so what can be reached is public. Two things keep the walk short: children are
//! plain numbers under known keys, and a reference to a type or trait looks the same wherever it stands, an object
//! with `path`, `id` and `args`, so signatures need no knowledge of the grammar of types.

use std::collections::BTreeSet;

use serde_json::Value;

use super::document::{Document, Item};

/// One line per foreign type or trait and public item that names it.
pub(super) fn leaks(document: &Document, allowed: &BTreeSet<String>) -> BTreeSet<String> {
    let mut walk = Walk {
        document,
        allowed,
        visited: BTreeSet::new(),
        referenced: Vec::new(),
        leaks: BTreeSet::new(),
    };
    walk.visit(document.root(), "");
    // Last, so that whatever has a public path is reported under that.
    while let Some((id, parent)) = walk.referenced.pop() {
        walk.visit(id, &parent);
    }
    walk.leaks
}

struct Walk<'a> {
    document: &'a Document,
    allowed: &'a BTreeSet<String>,
    visited: BTreeSet<u64>,
    /// Our own types that signatures name, with the module they are in. It may be private: then no path leads to
    /// them, but who calls the function holds one.
    referenced: Vec<(u64, String)>,
    leaks: BTreeSet<String>,
}

impl Walk<'_> {
    fn visit(&mut self, id: u64, parent: &str) {
        let Some(item) = self.document.item(id) else {
            return;
        };
        if !self.visited.insert(id) || is_generated_impl(&item) {
            return;
        }
        let name = qualified(parent, &item);
        if item.kind == "use" {
            self.visit_reexport(&item, parent);
            return;
        }
        self.check_signature(item.body, &name);
        for child in children(&item) {
            self.visit(child, &name);
        }
    }

    fn visit_reexport(&mut self, item: &Item<'_>, parent: &str) {
        let name = item
            .body
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        // A primitive type has no number.
        if let Some(id) = item.body.get("id").and_then(Value::as_u64) {
            self.check_reference(id, &format!("{parent}::{name} (re-export)"));
            self.visit(id, parent);
        }
    }

    fn check_signature(&mut self, value: &Value, name: &str) {
        match value {
            Value::Array(values) => values
                .iter()
                .for_each(|value| self.check_signature(value, name)),
            Value::Object(fields) => {
                if fields.contains_key("path")
                    && fields.contains_key("args")
                    && let Some(id) = fields.get("id").and_then(Value::as_u64)
                {
                    self.check_reference(id, name);
                }
                fields
                    .values()
                    .for_each(|value| self.check_signature(value, name));
            }
            _ => {}
        }
    }

    fn check_reference(&mut self, id: u64, name: &str) {
        let Some(origin) = self.document.origin(id) else {
            return;
        };
        match origin.foreign_crate {
            Some(foreign) if self.allowed.contains(foreign) => {}
            Some(_) => {
                self.leaks.insert(format!("{name} names {}", origin.path));
            }
            None => {
                let module = origin
                    .path
                    .rsplit_once("::")
                    .map_or("", |(module, _)| module);
                self.referenced.push((id, module.to_owned()));
            }
        }
    }
}

/// Implementations that the compiler adds to every type say nothing about ours.
fn is_generated_impl(item: &Item<'_>) -> bool {
    let is_set = |key| {
        item.body
            .get(key)
            .is_some_and(|value| !value.is_null() && *value != Value::Bool(false))
    };
    item.kind == "impl" && (is_set("is_synthetic") || is_set("blanket_impl"))
}

fn qualified(parent: &str, item: &Item<'_>) -> String {
    let name = match (item.kind, item.name) {
        // An implementation is named after what it is for, and that is its parent.
        ("impl", _) => match item.body.pointer("/trait/path").and_then(Value::as_str) {
            Some(implemented) => return format!("{parent} (impl {implemented})"),
            None => return parent.to_owned(),
        },
        (_, Some(name)) => name,
        (kind, None) => kind,
    };
    if parent.is_empty() {
        name.to_owned()
    } else {
        format!("{parent}::{name}")
    }
}

/// The numbers of an item's parts: members of modules, traits and implementations, fields, variants, implementations.
fn children(item: &Item<'_>) -> Vec<u64> {
    const LISTS: &[&str] = &[
        "/items",
        "/variants",
        "/fields",
        "/impls",
        "/implementations",
        "/kind/tuple",
        "/kind/plain/fields",
        "/kind/struct/fields",
    ];
    let lists = LISTS
        .iter()
        .filter_map(|list| item.body.pointer(list)?.as_array());
    // A stripped private field of a tuple leaves `null` in its place.
    lists.flatten().filter_map(Value::as_u64).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const FOREIGN: u64 = 100;
    const STANDARD: u64 = 101;

    /// A crate `demo` with these public items, numbered from 1, beside a foreign type and one of `std`.
    #[track_caller]
    fn check(items: &[(&str, Value)], expected: &[&str]) {
        let mut index = serde_json::Map::new();
        let module = json!({ "module": { "items": [1] } });
        index.insert(
            "0".to_owned(),
            json!({ "crate_id": 0, "name": "demo", "inner": module }),
        );
        for (id, (name, inner)) in (1..).zip(items) {
            index.insert(
                format!("{id}"),
                json!({ "crate_id": 0, "name": name, "inner": inner }),
            );
        }
        let document = json!({
            "format_version": 57,
            "root": 0,
            "index": index,
            "paths": {
                "2": { "crate_id": 0, "path": ["demo", "hidden", "Own"] },
                "100": { "crate_id": 7, "path": ["foreign", "inner", "Thing"] },
                "101": { "crate_id": 8, "path": ["std", "vec", "Vec"] },
            },
            "external_crates": { "7": { "name": "foreign" }, "8": { "name": "std" } },
        });
        let document = Document::parse(&document.to_string()).unwrap();
        let found = leaks(&document, &BTreeSet::from(["std".to_owned()]));
        assert_eq!(
            found.iter().map(String::as_str).collect::<Vec<_>>(),
            expected
        );
    }

    fn resolved(id: u64, args: Value) -> Value {
        json!({ "resolved_path": { "path": "Name", "id": id, "args": args } })
    }

    fn function(input: Value) -> Value {
        json!({ "function": { "sig": { "inputs": [["x", input]], "output": null }, "generics": {} } })
    }

    #[test]
    fn a_function_is_searched_to_the_depth_of_its_types() {
        check(&[("f", function(resolved(STANDARD, json!(null))))], &[]);
        let nested =
            json!({ "angle_bracketed": { "args": [{ "type": resolved(FOREIGN, json!(null)) }] } });
        check(
            &[("f", function(resolved(STANDARD, nested)))],
            &["demo::f names foreign::inner::Thing"],
        );
    }

    #[test]
    fn bounds_count_as_much_as_types() {
        let bound = json!({ "impl_trait": [{ "trait_bound": { "trait": { "path": "T", "id": FOREIGN, "args": null } } }] });
        check(
            &[("f", function(bound))],
            &["demo::f names foreign::inner::Thing"],
        );
    }

    #[test]
    fn fields_and_variants_are_found_through_their_parents() {
        check(
            &[
                (
                    "Choice",
                    json!({ "enum": { "variants": [2], "impls": [] } }),
                ),
                (
                    "Some",
                    json!({ "variant": { "kind": { "tuple": [null, 3] } } }),
                ),
                (
                    "0",
                    json!({ "struct_field": resolved(FOREIGN, json!(null)) }),
                ),
            ],
            &["demo::Choice::Some::0 names foreign::inner::Thing"],
        );
        check(
            &[
                (
                    "Record",
                    json!({ "struct": { "kind": { "plain": { "fields": [2] } }, "impls": [] } }),
                ),
                (
                    "field",
                    json!({ "struct_field": resolved(FOREIGN, json!(null)) }),
                ),
            ],
            &["demo::Record::field names foreign::inner::Thing"],
        );
    }

    #[test]
    fn implementations_count_unless_the_compiler_made_them() {
        let from_foreign = |blanket: Value| {
            let args = json!({ "angle_bracketed": { "args": [{ "type": resolved(FOREIGN, json!(null)) }] } });
            let header = json!({ "path": "From", "id": STANDARD, "args": args });
            json!({ "impl": { "trait": header, "items": [], "is_synthetic": false, "blanket_impl": blanket } })
        };
        let own = json!({ "struct": { "kind": "unit", "impls": [2] } });
        check(
            &[("Own", own.clone()), ("", from_foreign(json!(null)))],
            &["demo::Own (impl From) names foreign::inner::Thing"],
        );
        check(
            &[("Own", own), ("", from_foreign(json!({ "generic": "T" })))],
            &[],
        );
    }

    #[test]
    fn a_foreign_item_must_not_be_re_exported() {
        let reexport =
            json!({ "use": { "source": "foreign::Thing", "name": "Thing", "id": FOREIGN } });
        check(
            &[("", reexport)],
            &["demo::Thing (re-export) names foreign::inner::Thing"],
        );
    }

    #[test]
    fn a_type_without_a_public_path_is_searched_too() {
        check(
            &[
                ("f", function(resolved(2, json!(null)))),
                (
                    "Own",
                    json!({ "struct": { "kind": { "tuple": [3] }, "impls": [] } }),
                ),
                (
                    "0",
                    json!({ "struct_field": resolved(FOREIGN, json!(null)) }),
                ),
            ],
            &["demo::hidden::Own::0 names foreign::inner::Thing"],
        );
    }
}
