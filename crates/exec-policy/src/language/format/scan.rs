//! Takes the text of a valid file apart, comments included.

use toml::de::DeValue;

/// A file.
#[derive(Default)]
pub(super) struct Document {
    /// Comments about the whole file, in paragraphs.
    pub(super) head: Vec<Vec<String>>,
    /// The keys before the first header, then one table for each header.
    pub(super) tables: Vec<Table>,
}

/// A header and what stands below it.
#[derive(Default)]
pub(super) struct Table {
    /// Comments above the header, in paragraphs.
    pub(super) above: Vec<Vec<String>>,
    pub(super) path: Vec<Name>,
    /// Whether the header is doubled.
    pub(super) listed: bool,
    /// The comment behind the header.
    pub(super) behind: Option<String>,
    pub(super) entries: Vec<Entry>,
    /// Comments below the last key.
    pub(super) below: Vec<String>,
}

/// A part of a key: as written, and what it says.
#[derive(Clone)]
pub(super) struct Name {
    pub(super) written: String,
    pub(super) says: String,
}

/// Something with comments: a key with its value, or a value of a list.
pub(super) struct Entry {
    pub(super) above: Vec<String>,
    /// Empty in a list.
    pub(super) key: Vec<Name>,
    pub(super) value: Value,
    pub(super) behind: Option<String>,
}

pub(super) enum Value {
    /// Anything without parts, as written.
    Scalar(String),
    List(Parts),
    Table(Parts),
}

/// What stands in brackets.
#[derive(Default)]
pub(super) struct Parts {
    pub(super) entries: Vec<Entry>,
    /// Comments before the closing bracket.
    pub(super) below: Vec<String>,
}

/// The parts of a file; `None` if it is not as simple as it looks.
pub(super) fn document(text: &str) -> Option<Document> {
    let mut scanner = Scanner { rest: text };
    let mut document = Document::default();
    let mut table = Table::default();
    let mut first = true;
    loop {
        let comments = scanner.paragraphs();
        let next = scanner.peek();
        if first {
            first = false;
            let (head, above) = comments.split();
            document.head = head;
            match next {
                Some('[') => table.above = above.into_iter().collect(),
                Some(_) => {
                    let above = above.unwrap_or_default();
                    table.entries.push(scanner.entry(above)?);
                }
                None => table.below = above.unwrap_or_default(),
            }
            continue;
        }
        match next {
            None => {
                table.below.extend(comments.into_lines());
                document.tables.push(table);
                return Some(document);
            }
            Some('[') => {
                let (tail, above) = comments.tail_and_above();
                table.below.extend(tail);
                let header = scanner.header(above)?;
                document.tables.push(std::mem::replace(&mut table, header));
            }
            Some(_) => table.entries.push(scanner.entry(comments.into_lines())?),
        }
    }
}

/// Comments between two things.
struct Comments {
    paragraphs: Vec<Vec<String>>,
    /// Whether the first stands directly below what comes before it.
    adjacent: bool,
    /// Whether a blank line stands behind the last.
    detached: bool,
}

impl Comments {
    /// All but the last paragraph, and the last if it stands directly above something.
    fn split(mut self) -> (Vec<Vec<String>>, Option<Vec<String>>) {
        match self.detached {
            true => (self.paragraphs, None),
            false => {
                let last = self.paragraphs.pop();
                (self.paragraphs, last)
            }
        }
    }

    /// What belongs to the table above, and what to the header below.
    fn tail_and_above(mut self) -> (Vec<String>, Vec<Vec<String>>) {
        let ends = self.paragraphs.len() > 1 || self.detached;
        if self.adjacent && ends && !self.paragraphs.is_empty() {
            let tail = self.paragraphs.remove(0);
            return (tail, self.paragraphs);
        }
        (Vec::new(), self.paragraphs)
    }

    fn into_lines(self) -> Vec<String> {
        self.paragraphs.into_iter().flatten().collect()
    }
}

struct Scanner<'t> {
    rest: &'t str,
}

impl<'t> Scanner<'t> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn take(&mut self, length: usize) -> &'t str {
        let (taken, rest) = self
            .rest
            .split_at_checked(length)
            .unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    fn blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    fn accept(&mut self, wanted: char) -> bool {
        let there = self.peek() == Some(wanted);
        if there {
            self.take(wanted.len_utf8());
        }
        there
    }

    /// The comment that stands here, without the end of its line.
    fn comment(&mut self) -> Option<String> {
        self.blanks();
        if self.peek() != Some('#') {
            return None;
        }
        let length = self.rest.find('\n').unwrap_or(self.rest.len());
        Some(self.take(length).trim_end().to_owned())
    }

    /// The comments up to the next thing that is none. What was read before ends with its line.
    fn paragraphs(&mut self) -> Comments {
        let mut paragraphs: Vec<Vec<String>> = Vec::new();
        let (mut adjacent, mut blank) = (false, false);
        loop {
            self.blanks();
            if let Some(comment) = self.comment() {
                match paragraphs.last_mut() {
                    Some(last) if !blank => last.push(comment),
                    Some(_) => paragraphs.push(vec![comment]),
                    None => {
                        adjacent = !blank;
                        paragraphs.push(vec![comment]);
                    }
                }
                blank = false;
                self.line_end();
            } else if self.line_end() {
                blank = true;
            } else {
                return Comments {
                    paragraphs,
                    adjacent,
                    detached: blank,
                };
            }
        }
    }

    fn line_end(&mut self) -> bool {
        if self.rest.starts_with("\r\n") {
            self.take(2);
            return true;
        }
        self.accept('\n')
    }

    fn header(&mut self, above: Vec<Vec<String>>) -> Option<Table> {
        self.accept('[');
        let listed = self.accept('[');
        let path = self.key()?;
        let closed = self.accept(']') && (!listed || self.accept(']'));
        let behind = self.comment();
        self.line_end();
        closed.then(|| Table {
            above,
            path,
            listed,
            behind,
            ..Table::default()
        })
    }

    /// A dotted key, up to what follows it.
    fn key(&mut self) -> Option<Vec<Name>> {
        let mut names = Vec::new();
        loop {
            self.blanks();
            let written = match self.peek()? {
                '"' | '\'' => self.string()?,
                _ => {
                    let bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
                    let length = self.rest.find(|c| !bare(c)).unwrap_or(self.rest.len());
                    self.take(length)
                }
            };
            let says = match written.starts_with(['"', '\'']) {
                true => DeValue::parse(written).ok()?.get_ref().as_str()?.to_owned(),
                false => written.to_owned(),
            };
            names.push(Name {
                written: written.to_owned(),
                says,
            });
            self.blanks();
            if !self.accept('.') {
                return Some(names);
            }
        }
    }

    /// A key and its value, to the end of the line.
    fn entry(&mut self, above: Vec<String>) -> Option<Entry> {
        let key = self.key()?;
        if !self.accept('=') {
            return None;
        }
        let value = self.value()?;
        let behind = self.comment();
        self.blanks();
        if !self.rest.is_empty() && !self.line_end() {
            return None;
        }
        Some(Entry {
            above,
            key,
            value,
            behind,
        })
    }

    fn value(&mut self) -> Option<Value> {
        self.blanks();
        match self.peek()? {
            '[' => self.parts(']').map(Value::List),
            '{' => self.parts('}').map(Value::Table),
            '"' | '\'' => self.string().map(|text| Value::Scalar(text.to_owned())),
            _ => {
                let end = self.rest.find([',', ']', '}', '#', '\n', '\r']);
                let text = self.take(end.unwrap_or(self.rest.len())).trim_end();
                (!text.is_empty()).then(|| Value::Scalar(text.to_owned()))
            }
        }
    }

    /// What stands between brackets, each part with its comments.
    fn parts(&mut self, close: char) -> Option<Parts> {
        self.take(1);
        let mut parts = Parts::default();
        loop {
            let above = self.paragraphs().into_lines();
            if self.accept(close) {
                parts.below = above;
                return Some(parts);
            }
            let key = match close {
                '}' => {
                    let key = self.key()?;
                    self.accept('=').then_some(key)?
                }
                _ => Vec::new(),
            };
            let value = self.value()?;
            let mut behind = self.comment();
            let before_comma = self.paragraphs().into_lines();
            let comma = self.accept(',');
            if comma && behind.is_none() && before_comma.is_empty() {
                behind = self.comment();
            }
            parts.entries.push(Entry {
                above,
                key,
                value,
                behind,
            });
            if comma {
                // Comments between a value and its comma belong to what follows.
                if let Some(last) = parts.entries.last_mut() {
                    last.above.extend(before_comma);
                }
            } else {
                parts.below = before_comma;
                return self.accept(close).then_some(parts);
            }
        }
    }

    /// A string with its quotes.
    fn string(&mut self) -> Option<&'t str> {
        let quote = self.peek()?;
        let escapes = quote == '"';
        let triple = if escapes { "\"\"\"" } else { "'''" };
        let many = self.rest.starts_with(triple);
        let start = if many { 3 } else { 1 };
        let mut escaped = false;
        let mut chars = self.rest.char_indices().skip(start);
        let end = chars.find_map(|(at, c)| {
            if std::mem::take(&mut escaped) {
                return None;
            }
            escaped = escapes && c == '\\';
            let closes = match many {
                true => self
                    .rest
                    .get(at..)
                    .is_some_and(|rest| rest.starts_with(triple)),
                false => c == quote,
            };
            closes.then_some(at + start)
        })?;
        // Up to two quotes may stand directly before the closing three.
        let more = self
            .rest
            .get(end..)?
            .chars()
            .take_while(|c| many && *c == quote);
        let length = end + more.take(2).count();
        Some(self.take(length))
    }
}
