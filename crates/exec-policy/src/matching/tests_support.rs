//! Words for unit tests.

use super::args::Arg;

/// Splits at blanks.
pub(crate) fn args(line: &str) -> Vec<Arg<'_>> {
    line.split(' ')
        .map(|word| Arg::Known(word.as_bytes()))
        .collect()
}

/// A glob.
pub(crate) fn glob(text: &str) -> Arg<'_> {
    let end = text.find(['*', '?', '[']).unwrap_or(text.len());
    Arg::Pattern {
        text: text.as_bytes(),
        prefix: &text.as_bytes()[..end],
    }
}
