//! What is said after something happened: one screen, the first line what, the last what to type next.

use std::fmt::Write as _;

use crate::say::{Tone, Voice};

/// Something that a person is told. Nothing in it comes from outside unseen: whoever puts such text in makes it visible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// What it is, in a word.
    pub(crate) word: &'static str,
    pub(crate) tone: Tone,
    /// What happened, in a sentence.
    pub(crate) what: String,
    /// More about it, a line each.
    pub(crate) more: Vec<String>,
    /// What to do, and how: each with the line that does it.
    pub(crate) next: Vec<(String, String)>,
}

impl Page {
    pub(crate) fn new(word: &'static str, tone: Tone, what: impl Into<String>) -> Self {
        Self {
            word,
            tone,
            what: what.into(),
            more: Vec::new(),
            next: Vec::new(),
        }
    }

    pub(crate) fn more(mut self, line: impl Into<String>) -> Self {
        self.more.push(line.into());
        self
    }

    /// What helps, and the line, or the lines, that do it.
    pub(crate) fn next(mut self, what: impl Into<String>, line: impl Into<String>) -> Self {
        self.next.push((what.into(), line.into()));
        self
    }

    /// The text, in the colours of this voice. One that is to be quiet says what happened and no more.
    pub(crate) fn text(&self, voice: &Voice) -> String {
        let word = voice.err_tone(self.tone, self.word);
        // Writing to a string cannot fail.
        let mut text = format!("palisade: {word}: {}\n", self.what.trim_end());
        if voice.quiet {
            return text;
        }
        for line in &self.more {
            let _ = writeln!(text, "  {line}");
        }
        for (what, line) in &self.next {
            let _ = writeln!(
                text,
                "  {}",
                voice.err_tone(Tone::Good, &format!("{what}:"))
            );
            for line in line.lines() {
                let _ = writeln!(text, "    {line}");
            }
        }
        text
    }
}
