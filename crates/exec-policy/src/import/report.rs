//! What an import yields: a policy's text, and an account of what became of everything.

use std::fmt;

/// The result of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[must_use = "an import that nobody reads imports nothing"]
pub struct Import {
    /// A policy file of ours. It reads back.
    pub text: String,
    /// What became of everything.
    pub report: ImportReport,
}

/// What became of everything in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ImportReport {
    /// What is in the policy now, in the order of the file.
    pub carried: Vec<Carried>,
    /// What is not, in the order of the file.
    pub not_carried: Vec<NotCarried>,
}

impl ImportReport {
    /// Whether a denial of the original could not be carried over in full: the policy needs a person's look.
    #[must_use]
    pub fn weakens(&self) -> bool {
        self.not_carried.iter().any(|entry| entry.weakens)
    }
}

/// Something that was carried over.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Carried {
    /// The line in the original, from 1.
    pub line: usize,
    /// What stood there.
    pub what: String,
    /// What it is now, and what differs.
    pub note: String,
}

/// Something that was not carried over.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NotCarried {
    /// The line in the original, from 1.
    pub line: usize,
    /// What stood there.
    pub what: String,
    /// Why it is not in the policy.
    pub why: String,
    /// Whether it was a denial, so that the policy is weaker than the original without it.
    pub weakens: bool,
}

impl fmt::Display for ImportReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "carried over: {}", self.carried.len())?;
        for entry in &self.carried {
            writeln!(f, "  line {}: {}", entry.line, shown(&entry.what))?;
            writeln!(f, "    {}", shown(&entry.note))?;
        }
        writeln!(f, "not carried over: {}", self.not_carried.len())?;
        for entry in &self.not_carried {
            let mark = if entry.weakens { " (a denial)" } else { "" };
            writeln!(f, "  line {}: {}{mark}", entry.line, shown(&entry.what))?;
            writeln!(f, "    {}", shown(&entry.why))?;
        }
        Ok(())
    }
}

/// Text of somebody else's file on one line, without characters that change how the rest is displayed.
fn shown(text: &str) -> String {
    const MOST: usize = 160;
    let mut out: String = text
        .chars()
        .take(MOST)
        .flat_map(|c| match c {
            '"' | '\'' | '\\' => vec![c],
            _ => c.escape_debug().collect(),
        })
        .collect();
    if text.chars().nth(MOST).is_some() {
        out.push_str("...");
    }
    out
}

/// A file that cannot be imported at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// Larger than any such file needs to be.
    #[error("the file is larger than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// Not UTF-8.
    #[error("line {line}: not UTF-8")]
    NotText {
        /// The line, from 1.
        line: usize,
    },
    /// Not in the format that the file should have.
    #[error("line {line}: {problem}")]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        problem: &'static str,
    },
    /// A key that is there twice, of which two programs could read different ones.
    #[error("line {line}: the key `{}` is there twice", .key.escape_debug())]
    DuplicateKey {
        /// The line of the second one, from 1.
        line: usize,
        /// The key.
        key: String,
    },
    /// More rules than one file can hold.
    #[error("there are more than {limit} entries")]
    TooMany {
        /// The limit.
        limit: usize,
    },
    /// What came out does not read back, so nothing is handed out.
    #[error("the imported policy does not read back: {0}")]
    NotFaithful(String),
}
