//! Step `tidy`: rules of this repository that no compiler knows. Each finding names the file and the line.

mod checklist;
mod front_page;
mod lexer;
mod manifests;
mod purity;
mod rules;
mod source;
mod text;

use std::fmt;
use std::path::Path;

use anyhow::Result;

use self::source::Source;
use crate::ci::Outcome;
use crate::files;
use crate::workspace::Workspace;

/// Where our Rust code lives.
const CODE: &[&str] = &["crates", "xtask", "fuzz"];

pub(crate) fn run(workspace: &Workspace) -> Result<Outcome> {
    let (findings, examined) = examine(workspace.root())?;
    if findings.is_empty() {
        return Ok(Outcome::passed_with(format!("{examined} files")));
    }
    let lines: Vec<_> = findings.iter().map(Finding::to_string).collect();
    Ok(Outcome::Failed(lines.join("\n")))
}

/// A place where a rule is not kept.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    path: String,
    line: usize,
    message: String,
}

impl Finding {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line,
            message: message.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// All findings, and how many files were examined.
fn examine(root: &Path) -> Result<(Vec<Finding>, usize)> {
    let mut findings = manifests::check(root)?;
    findings.extend(purity::check_crates(root)?);
    findings.extend(checklist::check(root)?);
    let mut examined = 0;
    for path in files::all(root)? {
        // What is not text cannot break a rule about text.
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        let name = files::relative(root, &path);
        findings.extend(text::check(&name, &text));
        if is_code(&name) {
            let source = Source::new(&name, &text);
            findings.extend(rules::check(&source));
            findings.extend(purity::check_source(&source));
            findings.extend(front_page::check(&source));
        }
        examined += 1;
    }
    Ok((findings, examined))
}

fn is_code(name: &str) -> bool {
    let folder = name.split('/').next().unwrap_or_default();
    name.ends_with(".rs") && CODE.contains(&folder)
}

#[cfg(test)]
mod fixtures {
    use super::{Finding, Source};

    /// Checks one file against one rule; findings are compared as `line: message`.
    #[track_caller]
    pub(super) fn check(
        rule: impl Fn(&Source<'_>) -> Vec<Finding>,
        path: &str,
        text: &str,
        expected: &[&str],
    ) {
        let found = rule(&Source::new(path, text));
        let found: Vec<_> = found
            .iter()
            .map(|finding| format!("{}: {}", finding.line, finding.message))
            .collect();
        assert_eq!(found, expected);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_can_be_clicked() {
        let finding = Finding::new("crates/a/src/lib.rs", 3, "is wrong");
        assert_eq!(finding.to_string(), "crates/a/src/lib.rs:3: is wrong");
    }

    #[test]
    fn only_our_rust_files_are_code() {
        assert!(is_code("crates/policy/src/lib.rs"));
        assert!(is_code("fuzz/fuzz_targets/parse.rs"));
        assert!(!is_code("docs/example.rs"));
        assert!(!is_code("crates/policy/Cargo.toml"));
    }
}
