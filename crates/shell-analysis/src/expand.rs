//! The forbid side's reading of one raw word: what it may expand to, and the scripts inside it.

use crate::ansi_c::ansi_c;
use crate::loose::{braces, closing};
use crate::mentions::{Construct, MentionWord};
use crate::walk::Variables;

/// More alternatives than this in one word are not worth the time.
const MAX_ALTERNATIVES: usize = 32;

/// Text found inside a word.
pub(crate) enum Inside {
    /// Shell text that runs.
    Script(Construct, Vec<u8>),
    /// Word text that may hold further substitutions: the inside of `${...}`.
    Word(Vec<u8>),
    /// The word was not cut where this reader would cut it: read all of it as text.
    Ragged,
}

/// Expands a word as it stands in a command.
pub(crate) fn fields(
    raw: &[u8],
    variables: &Variables,
    inside: &mut Vec<Inside>,
) -> Vec<MentionWord> {
    let mut fields = Vec::new();
    for raw in braces(raw, MAX_ALTERNATIVES) {
        Reader::new(&raw, variables, inside).read(&mut fields);
    }
    fields
}

/// Reads a here-document body or other text that is treated as if it stood in double quotes.
pub(crate) fn quoted_text(raw: &[u8], variables: &Variables, inside: &mut Vec<Inside>) {
    let mut reader = Reader::new(raw, variables, inside);
    reader.double = true;
    reader.body = true;
    reader.read(&mut Vec::new());
}

struct Reader<'a> {
    raw: &'a [u8],
    at: usize,
    variables: &'a Variables,
    inside: &'a mut Vec<Inside>,
    double: bool,
    /// A here-document body, in which quotes are text.
    body: bool,
    text: Vec<u8>,
    /// The field exists even if its text is empty.
    present: bool,
    unknown: bool,
    glob: bool,
}

impl<'a> Reader<'a> {
    fn new(raw: &'a [u8], variables: &'a Variables, inside: &'a mut Vec<Inside>) -> Self {
        Self {
            raw,
            at: 0,
            variables,
            inside,
            double: false,
            body: false,
            text: Vec::new(),
            present: false,
            unknown: false,
            glob: false,
        }
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.raw.get(self.at).copied()?;
        self.at = self.at.saturating_add(1);
        Some(byte)
    }

    fn peek(&self) -> Option<u8> {
        self.raw.get(self.at).copied()
    }

    fn finish(&mut self, fields: &mut Vec<MentionWord>) {
        let text = std::mem::take(&mut self.text);
        if self.unknown {
            fields.push(MentionWord::Unknown);
        } else if self.glob {
            fields.push(MentionWord::Pattern(text));
        } else if self.present || !text.is_empty() {
            fields.push(MentionWord::Known(text));
        }
        self.present = false;
        self.unknown = false;
        self.glob = false;
    }

    fn read(&mut self, fields: &mut Vec<MentionWord>) {
        while let Some(byte) = self.next() {
            match byte {
                b'\'' if !self.double => {
                    self.present = true;
                    while let Some(byte) = self.next().filter(|&b| b != b'\'') {
                        self.text.push(byte);
                    }
                }
                b'"' if !self.body => {
                    self.present = true;
                    self.double = !self.double;
                }
                b'\\' => match self.next() {
                    Some(b'\n') => {}
                    Some(escaped) => {
                        if self.double && !matches!(escaped, b'$' | b'`' | b'"' | b'\\') {
                            self.text.push(b'\\');
                        }
                        self.text.push(escaped);
                    }
                    None => self.text.push(b'\\'),
                },
                b'`' => self.backtick(),
                b'$' => self.dollar(fields),
                b'<' | b'>' if !self.double && self.peek() == Some(b'(') => {
                    self.script(Construct::ProcessSubstitution);
                }
                b'*' | b'?' | b'[' if !self.double => {
                    self.glob = true;
                    self.text.push(byte);
                }
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' if !self.double => {
                    self.inside.push(Inside::Ragged);
                    self.text.push(byte);
                }
                _ => self.text.push(byte),
            }
        }
        self.finish(fields);
    }

    /// Takes the bracketed script that opens at the current position.
    fn script(&mut self, construct: Construct) {
        self.unknown = true;
        let start = self.at.saturating_add(1);
        let end = closing(self.raw, start, b')').unwrap_or_else(|| {
            self.inside.push(Inside::Ragged);
            self.raw.len()
        });
        let body = self
            .raw
            .get(start..end.saturating_sub(1))
            .unwrap_or_default();
        self.inside.push(Inside::Script(construct, body.to_vec()));
        self.at = end;
    }

    fn backtick(&mut self) {
        self.unknown = true;
        let mut body = Vec::new();
        while let Some(byte) = self.next().filter(|&b| b != b'`') {
            if byte == b'\\' && matches!(self.peek(), Some(b'`' | b'\\' | b'$')) {
                body.extend(self.next());
            } else {
                body.push(byte);
            }
        }
        self.inside
            .push(Inside::Script(Construct::Substitution, body));
    }

    fn dollar(&mut self, fields: &mut Vec<MentionWord>) {
        match self.peek() {
            Some(b'\'') if !self.double => {
                let (decoded, end) = ansi_c(self.raw, self.at.saturating_add(1));
                self.present = true;
                self.text.extend_from_slice(&decoded);
                self.at = end;
            }
            Some(b'"') if !self.double => {}
            Some(b'(') => self.script(Construct::Substitution),
            Some(b'{') => self.parameter(fields),
            Some(b) if b.is_ascii_alphabetic() || b == b'_' => {
                let rest = self.raw.get(self.at..).unwrap_or_default();
                let length = name_length(rest);
                let name = rest.get(..length).unwrap_or_default().to_vec();
                self.at = self.at.saturating_add(length);
                let value = self.value_of(&name);
                self.substitute(value.as_deref(), fields);
            }
            // Positional parameters are empty in nearly every inline script: `r$@m` is `rm`.
            Some(b'@' | b'*' | b'0'..=b'9') => self.at = self.at.saturating_add(1),
            Some(b'#' | b'?' | b'$' | b'!' | b'-') => {
                self.at = self.at.saturating_add(1);
                self.unknown = true;
            }
            _ => self.text.push(b'$'),
        }
    }

    fn parameter(&mut self, fields: &mut Vec<MentionWord>) {
        let start = self.at.saturating_add(1);
        let end = closing(self.raw, start, b'}').unwrap_or_else(|| {
            self.inside.push(Inside::Ragged);
            self.raw.len()
        });
        let body = self
            .raw
            .get(start..end.saturating_sub(1))
            .unwrap_or_default();
        self.at = end;
        let (name, rest) = body
            .split_at_checked(name_length(body))
            .unwrap_or((body, &[]));
        if rest.is_empty() && !name.is_empty() {
            let value = self.value_of(name);
            return self.substitute(value.as_deref(), fields);
        }
        self.inside.push(Inside::Word(body.to_vec()));
        // `${x:-rm}` is `rm` when `x` is not set.
        let default = [&b":-"[..], b":=", b"-", b"="]
            .iter()
            .find_map(|operator| rest.strip_prefix(*operator))
            .filter(|default| {
                default
                    .iter()
                    .all(|b| b.is_ascii_graphic() && !b"$`'\"\\".contains(b))
            })
            .map(<[u8]>::to_vec);
        self.substitute(default.as_deref(), fields);
    }

    fn value_of(&self, name: &[u8]) -> Option<Vec<u8>> {
        match self.variables.get(name) {
            Some(value) => Some(value.clone()),
            None if name == b"IFS" => Some(b" ".to_vec()),
            None => None,
        }
    }

    /// Puts a variable's value in place, splitting it at blanks outside quotes.
    fn substitute(&mut self, value: Option<&[u8]>, fields: &mut Vec<MentionWord>) {
        let Some(value) = value else {
            self.unknown = true;
            return;
        };
        for &byte in value {
            if !self.double && matches!(byte, b' ' | b'\t' | b'\n') {
                self.finish(fields);
            } else {
                self.text.push(byte);
            }
        }
    }
}

fn name_length(text: &[u8]) -> usize {
    text.iter()
        .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoting_tricks_come_out_as_the_program_sees_them() {
        let mut variables = Variables::new();
        variables.insert(b"X".to_vec(), b"rm -rf".to_vec());
        let read = |raw: &str| {
            let mut inside = Vec::new();
            let fields = fields(raw.as_bytes(), &variables, &mut inside);
            let text: Vec<String> = fields
                .iter()
                .map(|word| match word {
                    MentionWord::Known(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                    MentionWord::Pattern(bytes) => {
                        format!("glob:{}", String::from_utf8_lossy(bytes))
                    }
                    MentionWord::Unknown => "?".to_owned(),
                })
                .collect();
            (text.join("|"), inside.len())
        };
        for (raw, expected, inside) in [
            ("r''m", "rm", 0),
            ("\\rm", "rm", 0),
            ("\"r\"'m'", "rm", 0),
            ("$'\\x72\\x6d'", "rm", 0),
            ("r\\\nm", "rm", 0),
            ("{rm,-rf,/}", "rm|-rf|/", 0),
            ("$X", "rm|-rf", 0),
            ("\"$X\"", "rm -rf", 0),
            ("rm${IFS}-rf${IFS}/", "rm|-rf|/", 0),
            ("r$@m", "rm", 0),
            ("${y:-rm}", "rm", 1),
            ("$(id)", "?", 1),
            ("a`id`b", "?", 1),
            ("*.rs", "glob:*.rs", 0),
            ("''", "", 0),
            ("$unset", "?", 0),
        ] {
            assert_eq!(read(raw), (expected.to_owned(), inside), "{raw}");
        }
    }
}
