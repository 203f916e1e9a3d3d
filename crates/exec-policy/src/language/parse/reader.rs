//! Reads values and remembers what was wrong with them.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::super::error::{PolicyErrors, PolicyFileError, Problem, visible};
use super::super::keys::Section;
use super::super::lines::Lines;
use super::super::model::{Layer, Origin};
use super::super::suggest::nearest;

/// A value of the file with the place of its first and last byte.
pub(super) type Value<'i> = Spanned<DeValue<'i>>;

/// How much of a value an error shows.
const SHOWN: usize = 60;

/// A key, and the table that it stands in.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    above: Option<&'a At<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    File,
    Key(&'a str),
    Index(usize),
}

impl<'a> At<'a> {
    pub(super) const FILE: At<'static> = At {
        above: None,
        step: Step::File,
    };

    pub(super) fn key(&'a self, name: &'a str) -> Self {
        Self {
            above: Some(self),
            step: Step::Key(name),
        }
    }

    pub(super) fn index(&'a self, index: usize) -> Self {
        Self {
            above: Some(self),
            step: Step::Index(index),
        }
    }

    fn path(&self) -> String {
        let mut path = self.above.map(At::path).unwrap_or_default();
        match self.step {
            Step::File => {}
            Step::Key(name) => {
                if !path.is_empty() {
                    path.push('.');
                }
                if is_bare(name) {
                    path.push_str(name);
                } else {
                    path.push_str(&format!("{name:?}"));
                }
            }
            Step::Index(index) => path.push_str(&format!("[{index}]")),
        }
        path
    }
}

fn is_bare(name: &str) -> bool {
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    !name.is_empty() && name.bytes().all(bare)
}

/// Reads one file.
pub(super) struct Reader<'s> {
    pub(super) layer: Layer,
    name: &'s str,
    lines: Lines<'s>,
    errors: Vec<PolicyFileError>,
}

impl<'s> Reader<'s> {
    pub(super) fn new(layer: Layer, name: &'s str, text: &'s str) -> Self {
        Self {
            layer,
            name,
            lines: Lines::new(text),
            errors: Vec::new(),
        }
    }

    pub(super) fn finish<T>(self, value: T) -> Result<T, PolicyErrors> {
        if self.errors.is_empty() {
            return Ok(value);
        }
        Err(PolicyErrors::new(self.errors))
    }

    /// The place of a byte.
    pub(super) fn origin(&self, offset: usize) -> Origin {
        let (line, column) = self.lines.place(offset);
        Origin::new(self.layer, self.name, line, column)
    }

    /// Records a problem with what stands at a span.
    pub(super) fn fail(&mut self, span: Range<usize>, at: &At<'_>, problem: impl Into<Problem>) {
        self.fail_with(span, at, problem, None);
    }

    /// The same with what was probably meant.
    pub(super) fn fail_with(
        &mut self,
        span: Range<usize>,
        at: &At<'_>,
        problem: impl Into<Problem>,
        hint: Option<String>,
    ) {
        // A file full of mistakes is counted, not described.
        let described = self.errors.len() < PolicyErrors::SHOWN;
        let value = match described {
            true => self.shown(span.clone()),
            false => None,
        };
        let key = match described {
            true => at.path(),
            false => String::new(),
        };
        let error = PolicyFileError::new(self.origin(span.start), key, problem.into());
        self.errors.push(error.with_value(value).with_hint(hint));
    }

    /// Records that a table lacks something. What the table holds is not shown.
    pub(super) fn fail_table(
        &mut self,
        start: usize,
        at: &At<'_>,
        problem: impl Into<Problem>,
        hint: Option<String>,
    ) {
        self.fail_with(start..start, at, problem, hint);
    }

    /// What stands at a span, shortened, with what cannot be seen made visible.
    fn shown(&self, span: Range<usize>) -> Option<String> {
        let text = self.lines.text().get(span)?;
        let line = text.lines().next()?;
        let mut shown: String = line.chars().take(SHOWN).collect();
        if shown.len() < text.len() {
            shown.push('…');
        }
        Some(visible(&shown))
    }

    /// The key as the description knows it; any other is refused.
    pub(super) fn known(
        &mut self,
        section: &Section,
        key: &Spanned<impl AsRef<str>>,
        at: &At<'_>,
    ) -> Option<&'static str> {
        let written = key.get_ref().as_ref();
        if let Some(known) = section.key(written) {
            return Some(known.name);
        }
        let hint = nearest(written, section.names()).map(|name| format!("did you mean `{name}`?"));
        let at = at.key(written);
        let error = PolicyFileError::new(
            self.origin(key.span().start),
            at.path(),
            Problem::UnknownKey,
        );
        self.errors.push(error.with_hint(hint));
        None
    }

    /// Records that the description has a key which nothing reads. A test makes sure that there is none.
    pub(super) fn unread(&mut self, value: &Value<'_>, at: &At<'_>) {
        self.fail(value.span(), at, Problem::UnknownKey);
    }

    pub(super) fn wrong_type(
        &mut self,
        value: &Value<'_>,
        at: &At<'_>,
        expected: &'static str,
        hint: Option<String>,
    ) {
        let found = match value.get_ref() {
            DeValue::String(_) => "a text",
            DeValue::Integer(_) => "a whole number",
            DeValue::Float(_) => "a number",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        let problem = Problem::WrongType { expected, found };
        match value.get_ref() {
            DeValue::Table(_) => self.fail_table(value.span().start, at, problem, hint),
            _ => self.fail_with(value.span(), at, problem, hint),
        }
    }

    pub(super) fn table<'v, 'i>(
        &mut self,
        value: &'v Value<'i>,
        at: &At<'_>,
    ) -> Option<&'v DeTable<'i>> {
        match value.get_ref() {
            DeValue::Table(table) => Some(table),
            _ => {
                self.wrong_type(value, at, "a table", None);
                None
            }
        }
    }

    pub(super) fn list<'v, 'i>(
        &mut self,
        value: &'v Value<'i>,
        at: &At<'_>,
        expected: &'static str,
    ) -> Option<&'v [Value<'i>]> {
        match value.get_ref() {
            DeValue::Array(list) => Some(list),
            DeValue::String(text) => {
                let hint = format!("write `[{:?}]`", text.as_ref());
                self.wrong_type(value, at, expected, (text.len() < SHOWN).then_some(hint));
                None
            }
            _ => {
                self.wrong_type(value, at, expected, None);
                None
            }
        }
    }

    pub(super) fn text<'v>(&mut self, value: &'v Value<'_>, at: &At<'_>) -> Option<&'v str> {
        match value.get_ref() {
            DeValue::String(text) => Some(text),
            _ => {
                self.wrong_type(value, at, "a text", None);
                None
            }
        }
    }

    /// A text with something in it that shells and kernels can be given.
    pub(super) fn word<'v>(
        &mut self,
        value: &'v Value<'_>,
        at: &At<'_>,
        what: &'static str,
    ) -> Option<&'v str> {
        let text = self.text(value, at)?;
        if text.is_empty() {
            self.fail(value.span(), at, Problem::Empty(what));
            return None;
        }
        if text.contains('\0') {
            self.fail(value.span(), at, Problem::NotA("a text without a NUL"));
            return None;
        }
        Some(text)
    }

    pub(super) fn switch(&mut self, value: &Value<'_>, at: &At<'_>) -> Option<bool> {
        match value.get_ref() {
            DeValue::Boolean(switch) => Some(*switch),
            _ => {
                self.wrong_type(value, at, "true or false", None);
                None
            }
        }
    }

    pub(super) fn number(
        &mut self,
        value: &Value<'_>,
        at: &At<'_>,
        min: u64,
        max: u64,
    ) -> Option<u64> {
        let DeValue::Integer(integer) = value.get_ref() else {
            self.wrong_type(value, at, "a whole number", None);
            return None;
        };
        let number = u64::from_str_radix(integer.as_str(), integer.radix()).ok();
        let number = number.filter(|number| (min..=max).contains(number));
        if number.is_none() {
            self.fail(value.span(), at, Problem::OutOfRange { min, max });
        }
        number
    }

    /// One of the words of the description, as the value that it stands for.
    pub(super) fn one_of<T: Copy>(
        &mut self,
        value: &Value<'_>,
        at: &At<'_>,
        names: &[&'static str],
        meaning: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let text = self.text(value, at)?;
        let known = names.contains(&text).then(|| meaning(text)).flatten();
        if known.is_none() {
            let hint =
                nearest(text, names.iter().copied()).map(|name| format!("did you mean `{name}`?"));
            let problem = Problem::UnknownValue(names.to_vec());
            self.fail_with(value.span(), at, problem, hint);
        }
        known
    }
}
