//! Rules for the front page of each library: a reader finds its words, its limits and an example that runs.

use super::Finding;
use super::source::Source;

const SECTIONS: &[&str] = &["# Terms", "# Non-goals"];

/// What may stand after the fence of an example that rustdoc compiles and runs.
const RUNS: &[&str] = &["", "rust", "should_panic", "standalone_crate"];

pub(super) fn check(source: &Source<'_>) -> Vec<Finding> {
    if source.shipped_by().is_none() || !source.path.ends_with("/src/lib.rs") {
        return Vec::new();
    }
    let doc: Vec<_> = source.front_doc().collect();
    let mut findings = Vec::new();
    for section in SECTIONS {
        if !doc.contains(section) {
            findings.push(Finding::new(
                source.path,
                1,
                format!("the crate's front page lacks a section `{section}`"),
            ));
        }
    }
    if !has_running_example(&doc) {
        findings.push(Finding::new(
            source.path,
            1,
            "the crate's front page lacks an example that runs",
        ));
    }
    findings
}

fn has_running_example(doc: &[&str]) -> bool {
    let fences = doc.iter().filter_map(|line| line.strip_prefix("```"));
    // Every second fence closes a block.
    let mut languages = fences.step_by(2);
    languages.any(|language| language.split(',').all(|word| RUNS.contains(&word.trim())))
}

#[cfg(test)]
mod tests {
    use super::super::fixtures;
    use super::*;

    const SECTIONS_ONLY: &str = "//! Doc.\n//!\n//! # Terms\n//!\n//! # Non-goals\n//!\n";
    const NO_EXAMPLE: &str = "1: the crate's front page lacks an example that runs";

    #[track_caller]
    fn check_page(text: &str, expected: &[&str]) {
        fixtures::check(check, "crates/a/src/lib.rs", text, expected);
    }

    #[test]
    fn a_complete_page_passes() {
        check_page(&format!("{SECTIONS_ONLY}//! ```\n//! f();\n//! ```\n"), &[]);
        check_page(
            &format!("{SECTIONS_ONLY}//! ```text\n//! f\n//! ```\n//! ```rust\n//! ```\n"),
            &[],
        );
    }

    #[test]
    fn an_example_must_run() {
        check_page(SECTIONS_ONLY, &[NO_EXAMPLE]);
        check_page(
            &format!("{SECTIONS_ONLY}//! ```text\n//! f\n//! ```\n"),
            &[NO_EXAMPLE],
        );
        check_page(
            &format!("{SECTIONS_ONLY}//! ```no_run\n//! f();\n//! ```\n"),
            &[NO_EXAMPLE],
        );
    }

    #[test]
    fn both_sections_are_needed() {
        check_page(
            "//! Doc.\n//!\n//! ```\n//! ```\nfn f() {}\n//! # Terms\n",
            &[
                "1: the crate's front page lacks a section `# Terms`",
                "1: the crate's front page lacks a section `# Non-goals`",
            ],
        );
    }

    #[test]
    fn other_files_have_no_front_page() {
        fixtures::check(check, "crates/a/src/model.rs", "", &[]);
        fixtures::check(check, "xtask/src/lib.rs", "", &[]);
    }
}
