//! A strict JSON reader that knows lines: no key twice, no lone surrogates, no deep nesting.
//!
//! Settings files of other tools are JSON. A reader that silently takes the last of two equal keys would import
//! something else than what the other tool may read.

use super::report::ImportError;

const MAX_DEPTH: usize = 32;

/// A value and the line where it starts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Json {
    pub(crate) line: usize,
    pub(crate) value: Value,
}

/// What is there.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Json>),
    /// In the order of the file; no key twice.
    Object(Vec<(String, Json)>),
}

impl Json {
    pub(crate) fn parse(text: &str) -> Result<Self, ImportError> {
        let mut reader = Reader {
            rest: text.chars().peekable(),
            line: 1,
        };
        reader.blanks();
        let value = reader.value(MAX_DEPTH)?;
        reader.blanks();
        match reader.rest.next() {
            None => Ok(value),
            Some(_) => Err(reader.fail("something follows the end of the JSON value")),
        }
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        match &self.value {
            Value::Object(entries) => entries
                .iter()
                .find(|(name, _)| name == key)
                .map(|(_, value)| value),
            _ => None,
        }
    }

    /// The entries of an object. Anything else in its place would say something that nobody reads.
    pub(crate) fn entries(&self) -> Result<&[(String, Self)], ImportError> {
        match &self.value {
            Value::Object(entries) => Ok(entries),
            _ => Err(ImportError::Syntax {
                line: self.line,
                problem: "an object is expected here",
            }),
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn list(&self) -> Option<&[Self]> {
        match &self.value {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    /// A short description for reports.
    pub(crate) fn shown(&self) -> String {
        match &self.value {
            Value::Null => "null".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Number(text) => text.clone(),
            Value::Text(text) => text.clone(),
            Value::List(items) => format!("a list of {}", items.len()),
            Value::Object(entries) => format!("an object of {}", entries.len()),
        }
    }
}

struct Reader<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    line: usize,
}

impl Reader<'_> {
    fn fail(&self, problem: &'static str) -> ImportError {
        ImportError::Syntax {
            line: self.line,
            problem,
        }
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.next();
        if c == Some('\n') {
            self.line = self.line.saturating_add(1);
        }
        c
    }

    fn blanks(&mut self) {
        while matches!(self.rest.peek(), Some(' ' | '\t' | '\r' | '\n')) {
            self.next();
        }
    }

    fn value(&mut self, depth: usize) -> Result<Json, ImportError> {
        let line = self.line;
        let depth = depth
            .checked_sub(1)
            .ok_or_else(|| self.fail("nested too deeply"))?;
        let value = match self.rest.peek() {
            Some('{') => self.object(depth)?,
            Some('[') => self.list(depth)?,
            Some('"') => Value::Text(self.text()?),
            Some('t' | 'f' | 'n') => self.word()?,
            Some('-' | '0'..='9') => self.number()?,
            Some(_) => return Err(self.fail("no JSON value starts like this")),
            None => return Err(self.fail("the file ends in the middle of a value")),
        };
        Ok(Json { line, value })
    }

    fn object(&mut self, depth: usize) -> Result<Value, ImportError> {
        self.next();
        let mut entries: Vec<(String, Json)> = Vec::new();
        let mut keys = std::collections::BTreeSet::new();
        self.blanks();
        if self.rest.next_if_eq(&'}').is_some() {
            return Ok(Value::Object(entries));
        }
        loop {
            self.blanks();
            if self.rest.peek() != Some(&'"') {
                return Err(self.fail("a key in double quotes is missing"));
            }
            let key = self.text()?;
            if !keys.insert(key.clone()) {
                let line = self.line;
                return Err(ImportError::DuplicateKey { line, key });
            }
            self.blanks();
            if self.rest.next_if_eq(&':').is_none() {
                return Err(self.fail("a colon is missing after the key"));
            }
            self.blanks();
            let value = self.value(depth)?;
            entries.push((key, value));
            self.blanks();
            match self.next() {
                Some(',') => {}
                Some('}') => return Ok(Value::Object(entries)),
                _ => return Err(self.fail("a comma or `}` is missing")),
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value, ImportError> {
        self.next();
        let mut items = Vec::new();
        self.blanks();
        if self.rest.next_if_eq(&']').is_some() {
            return Ok(Value::List(items));
        }
        loop {
            self.blanks();
            items.push(self.value(depth)?);
            self.blanks();
            match self.next() {
                Some(',') => {}
                Some(']') => return Ok(Value::List(items)),
                _ => return Err(self.fail("a comma or `]` is missing")),
            }
        }
    }

    fn word(&mut self) -> Result<Value, ImportError> {
        let mut word = String::new();
        while let Some(c) = self.rest.next_if(char::is_ascii_alphabetic) {
            word.push(c);
        }
        match word.as_str() {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            "null" => Ok(Value::Null),
            _ => Err(self.fail("no JSON value starts like this")),
        }
    }

    fn number(&mut self) -> Result<Value, ImportError> {
        let mut number = String::new();
        let part = |c: &char| c.is_ascii_digit() || "+-.eE".contains(*c);
        while let Some(c) = self.rest.next_if(part) {
            number.push(c);
        }
        let readable = number.parse::<f64>().is_ok_and(f64::is_finite);
        if readable {
            Ok(Value::Number(number))
        } else {
            Err(self.fail("not a number"))
        }
    }

    fn text(&mut self) -> Result<String, ImportError> {
        self.next();
        let mut text = String::new();
        loop {
            match self.next() {
                Some('"') => return Ok(text),
                Some('\\') => text.push(self.escape()?),
                Some(c) if c < ' ' => return Err(self.fail("a control character in a string")),
                Some(c) => text.push(c),
                None => return Err(self.fail("a string never ends")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, ImportError> {
        Ok(match self.next() {
            Some(c @ ('"' | '\\' | '/')) => c,
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => self.unicode()?,
            _ => return Err(self.fail("an unknown escape in a string")),
        })
    }

    fn unicode(&mut self) -> Result<char, ImportError> {
        let high = self.hexadecimal()?;
        if let Some(c) = char::from_u32(high) {
            return Ok(c);
        }
        let paired = self.next() == Some('\\') && self.next() == Some('u');
        let low = if paired { self.hexadecimal()? } else { 0 };
        let both = (0xD800..0xDC00).contains(&high) && (0xDC00..0xE000).contains(&low);
        both.then(|| 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
            .and_then(char::from_u32)
            .ok_or_else(|| self.fail("half a surrogate pair in a string"))
    }

    fn hexadecimal(&mut self) -> Result<u32, ImportError> {
        let mut value = 0;
        for _ in 0..4 {
            let digit = self.next().and_then(|c| c.to_digit(16));
            let digit = digit.ok_or_else(|| self.fail("an unknown escape in a string"))?;
            value = value * 16 + digit;
        }
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_their_lines() {
        let json =
            Json::parse("{\n \"a\": [1,\n \"x\\u00e9\\ud83d\\ude00\"],\n \"b\": null}").unwrap();
        let items = json.get("a").unwrap().list().unwrap();
        assert_eq!(items[1].line, 3);
        assert_eq!(items[1].text(), Some("xé😀"));
        assert_eq!(json.get("b").unwrap().value, Value::Null);
        assert_eq!(json.get("c"), None);
    }

    #[test]
    fn what_two_readers_could_read_differently_is_refused() {
        for (text, expected) in [
            ("{\"a\":1,\n\"a\":2}", "line 2: the key `a` is there twice"),
            ("\"\\ud800\"", "line 1: half a surrogate pair in a string"),
            (
                "\"\\ud800\\u0041\"",
                "line 1: half a surrogate pair in a string",
            ),
            ("[1,]", "line 1: no JSON value starts like this"),
            ("{\"a\":1,}", "line 1: a key in double quotes is missing"),
            (
                "{} x",
                "line 1: something follows the end of the JSON value",
            ),
            ("// x\n{}", "line 1: no JSON value starts like this"),
            ("\"a\nb\"", "line 2: a control character in a string"),
            ("", "line 1: the file ends in the middle of a value"),
            ("[1e999]", "line 1: not a number"),
            ("[nul]", "line 1: no JSON value starts like this"),
        ] {
            assert_eq!(
                Json::parse(text).unwrap_err().to_string(),
                expected,
                "{text}"
            );
        }
        let deep = "[".repeat(100_000);
        assert_eq!(
            Json::parse(&deep).unwrap_err().to_string(),
            "line 1: nested too deeply"
        );
    }
}
