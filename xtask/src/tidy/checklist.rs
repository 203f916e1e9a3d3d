//! Rules for `docs/checklist.md`: every row is there, and every test that it names exists.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;

use super::Finding;
use super::source::{Source, starts_with};
use crate::files;

const PAGE: &str = "docs/checklist.md";

/// How many behaviours there are.
const ROWS: usize = 100;

/// What a row without a test says.
const OPEN: &str = "open: ";

/// Where tests that rows name can be.
const FOLDERS: &[&str] = &["crates/", "xtask/"];

pub(super) fn check(root: &Path) -> Result<Vec<Finding>> {
    let page = files::read(&root.join(PAGE))?;
    let mut known: BTreeMap<String, Vec<String>> = BTreeMap::new();
    Ok(findings(&page, |file| {
        known
            .entry(file.to_owned())
            // A file that cannot be read has no tests.
            .or_insert_with(|| match std::fs::read_to_string(root.join(file)) {
                Ok(text) => tests(&Source::new(file, &text)),
                Err(_) => Vec::new(),
            })
            .clone()
    }))
}

/// All findings, given which tests a file has.
fn findings(page: &str, mut tests_of: impl FnMut(&str) -> Vec<String>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut next = 1;
    for (line, text) in (1..).zip(page.lines()) {
        let Some(number) = row(text) else { continue };
        if number != next {
            findings.push(Finding::new(
                PAGE,
                line,
                format!("row {number} stands where row {next} belongs"),
            ));
        }
        next = number + 1;
        let named: Vec<&str> = named_tests(text).collect();
        if named.is_empty() && !text.contains(OPEN) {
            findings.push(Finding::new(
                PAGE,
                line,
                format!("row {number} names no test, and is not open"),
            ));
        }
        for name in named {
            let exists = name
                .split_once("::")
                .is_some_and(|(file, test)| tests_of(file).iter().any(|one| one == test));
            if !exists {
                findings.push(Finding::new(PAGE, line, format!("no test `{name}`")));
            }
        }
    }
    if next != ROWS + 1 {
        findings.push(Finding::new(
            PAGE,
            1,
            format!("{} rows, not {ROWS}", next - 1),
        ));
    }
    findings
}

/// The number of a row of the table.
fn row(line: &str) -> Option<usize> {
    line.strip_prefix("| ")?.split(' ').next()?.parse().ok()
}

/// The tests that a row names, each between backquotes.
fn named_tests(line: &str) -> impl Iterator<Item = &str> {
    line.split('`')
        .skip(1)
        .step_by(2)
        .filter(|word| FOLDERS.iter().any(|folder| word.starts_with(folder)))
}

/// The names of the functions that an attribute makes tests.
fn tests(source: &Source<'_>) -> Vec<String> {
    const ATTRIBUTES: &[&[&str]] = &[
        &["#", "[", "test", "]"],
        &["#", "[", "tokio", ":", ":", "test"],
    ];
    let mut names = Vec::new();
    for attribute in ATTRIBUTES {
        for (at, _) in source.tokens.iter().enumerate() {
            let Some(rest) = source.tokens.get(at..) else {
                continue;
            };
            if !starts_with(rest, attribute) {
                continue;
            }
            let mut after = rest.iter().skip_while(|token| !token.is("fn")).skip(1);
            names.extend(after.next().map(|name| name.text.to_owned()));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "crates/a/tests/it/b.rs";

    fn page(change: impl Fn(usize) -> Option<String>) -> String {
        let rows: Vec<String> = (1..=ROWS).filter_map(change).collect();
        format!(
            "# Checklist\n\n| # | item |\n|---|---|\n{}\n",
            rows.join("\n")
        )
    }

    fn good(number: usize) -> String {
        format!("| {number} | item |  | `a` | `{FILE}::works` |")
    }

    fn messages(page: &str) -> Vec<String> {
        findings(page, |file| match file {
            FILE => vec!["works".to_owned()],
            _ => Vec::new(),
        })
        .into_iter()
        .map(|finding| finding.message)
        .collect()
    }

    #[test]
    fn a_complete_page_passes() {
        assert!(messages(&page(|number| Some(good(number)))).is_empty());
    }

    #[test]
    fn a_missing_row_is_found() {
        let without = page(|number| (number != 7).then(|| good(number)));
        assert_eq!(messages(&without), ["row 8 stands where row 7 belongs"]);
        let short = page(|number| (number < ROWS).then(|| good(number)));
        assert_eq!(messages(&short), ["99 rows, not 100"]);
    }

    #[test]
    fn a_row_names_a_test_or_is_open() {
        let with = |cell: &'static str| {
            page(move |number| match number {
                3 => Some(format!("| 3 | item |  | `a` | {cell} |")),
                _ => Some(good(number)),
            })
        };
        assert_eq!(
            messages(&with("")),
            ["row 3 names no test, and is not open"]
        );
        assert!(messages(&with("open: there is none yet")).is_empty());
        assert_eq!(
            messages(&with("`crates/a/tests/it/b.rs::gone`")),
            ["no test `crates/a/tests/it/b.rs::gone`"]
        );
        assert_eq!(
            messages(&with("`crates/a/tests/it/c.rs::works`")),
            ["no test `crates/a/tests/it/c.rs::works`"]
        );
    }

    #[test]
    fn only_functions_with_the_attribute_are_tests() {
        let text = "#[test]\nfn one() {}\n\n#[tokio::test(flavor = \"current_thread\")]\n#[ignore]\n\
                    async fn two() {}\n\nfn helper() {}\n// #[test]\nfn comment() {}\n";
        assert_eq!(tests(&Source::new(FILE, text)), ["one", "two"]);
    }
}
