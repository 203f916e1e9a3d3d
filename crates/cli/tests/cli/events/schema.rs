//! The part of JSON Schema that `docs/events.schema.json` uses, read strictly: what the schema does not describe is an
//! error, so that a field or a type that somebody forgot to describe is found.
#![expect(
    clippy::indexing_slicing,
    reason = "a value of JSON that is not there is null, and a test may end"
)]

use std::collections::BTreeSet;

use serde_json::Value;

pub(super) struct Schema(Value);

/// The words of JSON Schema that are understood here. A schema with another is not half-checked.
const WORDS: &[&str] = &[
    "$schema",
    "title",
    "description",
    "oneOf",
    "$defs",
    "$ref",
    "type",
    "properties",
    "required",
    "items",
    "enum",
    "const",
    "minimum",
];

impl Schema {
    pub(super) fn of_events() -> Self {
        let text = include_str!("../../../../../docs/events.schema.json");
        let schema = Self(serde_json::from_str(text).unwrap());
        schema.understood(&schema.0);
        schema
    }

    /// The types that it describes.
    pub(super) fn types(&self) -> BTreeSet<String> {
        let each = self.0["oneOf"].as_array().unwrap().iter();
        each.map(|one| {
            let found = self.followed(one);
            let kind = found["properties"]["type"]["const"].as_str();
            kind.unwrap().to_owned()
        })
        .collect()
    }

    /// Checks a line, and returns its type.
    pub(super) fn check(&self, line: &Value) -> String {
        let kind = line["type"].as_str().unwrap_or_default();
        let each = self.0["oneOf"].as_array().unwrap().iter();
        let found = each
            .map(|one| self.followed(one))
            .find(|one| one["properties"]["type"]["const"] == kind);
        let found = found.unwrap_or_else(|| panic!("the schema has no type `{kind}`: {line}"));
        if let Err(wrong) = self.holds(found, line, kind) {
            panic!("{wrong}\nin {line}");
        }
        kind.to_owned()
    }

    fn followed<'a>(&'a self, schema: &'a Value) -> &'a Value {
        match schema["$ref"].as_str() {
            Some(name) => {
                let name = name.strip_prefix("#/$defs/").unwrap();
                &self.0["$defs"][name]
            }
            None => schema,
        }
    }

    fn holds(&self, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
        let schema = self.followed(schema);
        let wrong = |what: String| Err(format!("{at}: {what}"));
        if let Some(each) = schema["oneOf"].as_array() {
            let holding = each.iter().filter(|one| self.holds(one, value, at).is_ok());
            return match holding.count() {
                1 => Ok(()),
                count => wrong(format!("{count} of the alternatives hold")),
            };
        }
        if let Some(one) = schema.get("const")
            && one != value
        {
            return wrong(format!("{value} is not {one}"));
        }
        if let Some(each) = schema["enum"].as_array()
            && !each.contains(value)
        {
            return wrong(format!("{value} is not listed"));
        }
        let fits = match schema["type"].as_str() {
            None => true,
            Some("string") => value.is_string(),
            Some("integer") => value.is_i64() || value.is_u64(),
            Some("array") => value.is_array(),
            Some("object") => value.is_object(),
            Some(other) => panic!("{other}"),
        };
        if !fits {
            return wrong(format!("{value} is no {}", schema["type"]));
        }
        if let (Some(least), Some(found)) = (schema["minimum"].as_i64(), value.as_i64())
            && found < least
        {
            return wrong(format!("{found} is less than {least}"));
        }
        for item in value.as_array().into_iter().flatten() {
            self.holds(&schema["items"], item, &format!("{at}[]"))?;
        }
        for name in schema["required"].as_array().into_iter().flatten() {
            if value.get(name.as_str().unwrap()).is_none() {
                return wrong(format!("{name} is missing"));
            }
        }
        for (name, field) in value.as_object().into_iter().flatten() {
            match schema["properties"].get(name) {
                Some(described) => self.holds(described, field, &format!("{at}.{name}"))?,
                None => return wrong(format!("`{name}` is not described")),
            }
        }
        Ok(())
    }

    fn understood(&self, schema: &Value) {
        for (word, value) in schema.as_object().into_iter().flatten() {
            assert!(WORDS.contains(&word.as_str()), "`{word}` is not understood");
            match word.as_str() {
                "properties" | "$defs" => {
                    value
                        .as_object()
                        .unwrap()
                        .values()
                        .for_each(|one| self.understood(one));
                }
                "oneOf" => value
                    .as_array()
                    .unwrap()
                    .iter()
                    .for_each(|one| self.understood(one)),
                "items" => self.understood(value),
                "$ref" => assert!(self.followed(schema).is_object(), "{value} leads nowhere"),
                _ => {}
            }
        }
    }
}
