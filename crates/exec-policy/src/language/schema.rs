//! The JSON Schema of the format, for editors: printed from the same description that the reader goes by.

use super::keys::{FILE, Key, Section, Shape};

/// The JSON Schema (draft 2020-12) of a policy file.
#[must_use]
pub fn schema() -> String {
    let mut json = Json::default();
    json.open('{');
    json.text("$schema", "https://json-schema.org/draft/2020-12/schema");
    json.text("title", "Palisade policy");
    section(&mut json, &FILE);
    json.close('}');
    json.text.push('\n');
    json.text
}

/// The parts of a table, inside an object that is open.
fn section(json: &mut Json, section: &Section) {
    json.text("description", section.doc);
    json.text("type", "object");
    json.key("additionalProperties");
    json.raw("false");
    let required: Vec<_> = section.keys.iter().filter(|key| key.required).collect();
    if !required.is_empty() {
        json.key("required");
        json.words(required.iter().map(|key| key.name));
    }
    json.key("properties");
    json.open('{');
    for key in section.keys {
        property(json, key);
    }
    json.close('}');
}

fn property(json: &mut Json, key: &Key) {
    json.key(key.name);
    json.open('{');
    // Where the value is a table, its own description follows.
    if !matches!(key.shape, Shape::Table(_)) {
        json.text("description", key.doc);
    }
    shape(json, &key.shape);
    json.close('}');
}

/// What a value looks like, inside an object that is open.
fn shape(json: &mut Json, of: &Shape) {
    match of {
        Shape::Text => json.text("type", "string"),
        Shape::Form { pattern, example } => {
            json.text("type", "string");
            json.text("pattern", pattern);
            json.key("examples");
            json.words([*example]);
        }
        Shape::Word(words) => {
            json.key("enum");
            json.words(words.iter().copied());
        }
        Shape::Switch => json.text("type", "boolean"),
        Shape::Count => {
            json.text("type", "integer");
            json.key("minimum");
            json.raw("1");
        }
        Shape::Version => {
            json.key("const");
            json.raw("1");
        }
        Shape::List(item) => {
            json.text("type", "array");
            json.key("items");
            json.object(|json| shape(json, item));
        }
        Shape::Either(shapes) => {
            json.key("anyOf");
            json.open('[');
            for one in *shapes {
                json.item();
                json.object(|json| shape(json, one));
            }
            json.close(']');
        }
        Shape::Table(table) => section(json, table),
        Shape::Tables(table) => {
            json.text("type", "array");
            json.key("items");
            json.object(|json| section(json, table));
        }
        Shape::Map(value) => {
            json.text("type", "object");
            json.key("additionalProperties");
            json.object(|json| shape(json, value));
        }
    }
}

/// Writes JSON with two blanks for each level.
#[derive(Default)]
struct Json {
    text: String,
    depth: usize,
    /// Whether something stands in the innermost brackets already.
    filled: bool,
}

impl Json {
    fn open(&mut self, bracket: char) {
        self.text.push(bracket);
        self.depth += 1;
        self.filled = false;
    }

    fn close(&mut self, bracket: char) {
        self.depth = self.depth.saturating_sub(1);
        if self.filled {
            self.line();
        }
        self.text.push(bracket);
        self.filled = true;
    }

    fn object(&mut self, inside: impl FnOnce(&mut Self)) {
        self.open('{');
        inside(self);
        self.close('}');
    }

    fn line(&mut self) {
        self.text.push('\n');
        self.text.push_str(&"  ".repeat(self.depth));
    }

    fn item(&mut self) {
        if self.filled {
            self.text.push(',');
        }
        self.line();
        self.filled = true;
    }

    fn key(&mut self, name: &str) {
        self.item();
        self.string(name);
        self.text.push_str(": ");
    }

    fn text(&mut self, name: &str, value: &str) {
        self.key(name);
        self.string(value);
    }

    fn raw(&mut self, value: &str) {
        self.text.push_str(value);
    }

    fn words<'w>(&mut self, words: impl IntoIterator<Item = &'w str>) {
        self.text.push('[');
        for (index, word) in words.into_iter().enumerate() {
            self.text.push_str(if index == 0 { "" } else { ", " });
            self.string(word);
        }
        self.text.push(']');
    }

    fn string(&mut self, value: &str) {
        self.text.push('"');
        for c in value.chars() {
            match c {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                other => self.text.push(other),
            }
        }
        self.text.push('"');
    }
}
