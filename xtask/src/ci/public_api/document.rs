//! Rustdoc's JSON, as far as signatures need it.

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};

/// The versions whose structure this module and its neighbour follow. The pinned compiler writes the last one.
const KNOWN_FORMATS: &[u64] = &[57];

/// The local crate's number in every document.
const LOCAL: u64 = 0;

pub(super) struct Document {
    root: u64,
    index: Map<String, Value>,
    paths: Map<String, Value>,
    external_crates: Map<String, Value>,
}

/// One entry of the index.
pub(super) struct Item<'a> {
    pub(super) name: Option<&'a str>,
    /// The kind of item in rustdoc's words, such as `struct` or `function`.
    pub(super) kind: &'a str,
    pub(super) body: &'a Value,
}

/// Where something is defined.
pub(super) struct Origin<'a> {
    /// Nothing for the crate that is documented.
    pub(super) foreign_crate: Option<&'a str>,
    /// The full path, such as `serde_json::value::Value`.
    pub(super) path: String,
}

impl Document {
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut document: Value = serde_json::from_str(text).context("rustdoc's JSON")?;
        let format = document.get("format_version").and_then(Value::as_u64);
        if !format.is_some_and(|version| KNOWN_FORMATS.contains(&version)) {
            bail!(
                "rustdoc wrote JSON of format {format:?}; the public-api step knows {KNOWN_FORMATS:?}"
            );
        }
        let root = document
            .get("root")
            .and_then(Value::as_u64)
            .context("rustdoc's JSON has no root")?;
        let mut table = |name: &str| match document.get_mut(name).map(Value::take) {
            Some(Value::Object(table)) => Ok(table),
            _ => bail!("rustdoc's JSON has no `{name}`"),
        };
        Ok(Self {
            root,
            index: table("index")?,
            paths: table("paths")?,
            external_crates: table("external_crates")?,
        })
    }

    pub(super) fn root(&self) -> u64 {
        self.root
    }

    /// An item of the documented crate. Private ones, and those of other crates, have no entry.
    pub(super) fn item(&self, id: u64) -> Option<Item<'_>> {
        let item = self.index.get(&id.to_string())?;
        if item.get("crate_id").and_then(Value::as_u64) != Some(LOCAL) {
            return None;
        }
        let (kind, body) = item.get("inner")?.as_object()?.iter().next()?;
        Some(Item {
            name: item.get("name").and_then(Value::as_str),
            kind,
            body,
        })
    }

    /// Where the item with this number is defined. Private items of the documented crate are unknown.
    pub(super) fn origin(&self, id: u64) -> Option<Origin<'_>> {
        let summary = self.paths.get(&id.to_string())?;
        let path: Vec<_> = summary
            .get("path")?
            .as_array()?
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let number = summary.get("crate_id")?.as_u64()?;
        let external = self.external_crates.get(&number.to_string());
        let foreign_crate = external.and_then(|external| external.get("name")?.as_str());
        Some(Origin {
            foreign_crate: foreign_crate.filter(|_| number != LOCAL),
            path: path.join("::"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_format_is_refused() {
        let error = Document::parse(r#"{ "format_version": 3, "root": 0 }"#)
            .err()
            .unwrap();
        let expected = "rustdoc wrote JSON of format Some(3); the public-api step knows [57]";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn a_document_without_its_tables_is_refused() {
        let error = Document::parse(r#"{ "format_version": 57, "root": 0 }"#)
            .err()
            .unwrap();
        assert_eq!(error.to_string(), "rustdoc's JSON has no `index`");
    }
}
