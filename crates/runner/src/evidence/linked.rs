//! Whether the failure of a command has to do with a host that the proxy refused.
//!
//! A program that is refused a host may shrug and fail for another reason, and something that an earlier command left running
//! may have asked for it. So the command has to name the host, or to speak of what such a refusal looks like.

use palisade_policy::HostName;

use super::refusal::{self, Refusal, lower};
use super::{Failure, lines};

/// What clients make of the answer of a proxy that refuses, in lower case.
const WORDS: &[&str] = &["proxy", "403", "forbidden", "tunnel", "socks"];

/// Whether a failed command says that it is about this host; or, where nobody else could have asked for the host, at least
/// that it was refused something of the kind.
pub(crate) fn is_linked(failure: &Failure<'_>, host: &HostName, is_alone: bool) -> bool {
    let name = host.to_string();
    let mut words = failure.argv.iter();
    if words.any(|word| names(&word.to_string_lossy(), &name)) {
        return true;
    }
    let lines = lines::last(failure.written());
    if lines.iter().any(|line| names(line, &name)) {
        return true;
    }
    is_alone && lines.iter().any(|line| speaks_of_refusal(line))
}

fn speaks_of_refusal(line: &str) -> bool {
    let is_network = |found: refusal::Refused| found.what == Refusal::Network;
    if refusal::find(line).is_some_and(is_network) || refusal::speaks_of_network(line) {
        return true;
    }
    let line = lower(line);
    WORDS.iter().any(|word| line.contains(word))
}

/// Whether a text has this name, whole.
fn names(text: &str, name: &str) -> bool {
    let text = lower(text);
    let part = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    text.match_indices(name).any(|(at, found)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let mut after = text.get(at + found.len()..).unwrap_or_default().chars();
        let goes_on = match after.next() {
            // A name that ends a sentence is one too.
            Some('.') => after.next().is_some_and(part),
            Some(letter) => part(letter),
            None => false,
        };
        !goes_on && !before.is_some_and(|letter| part(letter) || letter == '.')
    })
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::path::Path;

    use palisade_policy::Enforcement;

    use super::*;
    use crate::outcome::Outcome;

    fn linked(argv: &[&str], stderr: &str, alone: bool) -> bool {
        let argv: Vec<OsString> = argv.iter().map(Into::into).collect();
        let enforcement = Enforcement::default();
        let outcome = Outcome::Exited { code: 1 };
        let failure = Failure::new(&argv, Path::new("/srv"), &outcome, &enforcement)
            .with_stderr(stderr.as_bytes());
        is_linked(&failure, &HostName::parse("docs.test").unwrap(), alone)
    }

    #[test]
    fn a_command_that_names_the_host_is_about_it() {
        for alone in [true, false] {
            assert!(linked(&["curl", "https://docs.test/x"], "", alone));
            assert!(linked(&["bash", "-c", "curl -s DOCS.test"], "", alone));
            assert!(linked(&["make"], "cannot reach docs.test.", alone));
            for other in [
                "adocs.test",
                "a.docs.test",
                "docs.test.evil",
                "docs.tests",
                "-docs.test",
            ] {
                assert!(!linked(&["curl", other], other, alone), "{other}");
            }
        }
    }

    #[test]
    fn what_speaks_of_a_refusal_is_about_it_only_if_nobody_else_is_there() {
        for line in [
            "urllib.error.URLError: <urlopen error Tunnel connection failed: 403 Forbidden>",
            "curl: (56) CONNECT tunnel failed, response 403",
            "Error: connect ECONNREFUSED",
            "ProxyError('Cannot connect to proxy.')",
        ] {
            assert!(linked(&["make"], line, true), "{line}");
            assert!(!linked(&["make"], line, false), "{line}");
        }
        for line in ["", "2 tests failed", "assertion `left == right` failed"] {
            assert!(!linked(&["make"], line, true), "{line}");
        }
    }
}
