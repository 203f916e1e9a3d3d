//! The enumeration and the table that it merges into.

use std::collections::HashSet;
use std::sync::LazyLock;

use palisade_exec_policy::matrix::{Case, Outcome, Request, Row, VerdictKind, cases, rows};
use palisade_exec_policy::{Risk, SandboxablePreference};
use palisade_policy::{NetworkAccess, SandboxMode};

use crate::support::{PAGE, approvals};

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(rows);

fn expected_cases() -> usize {
    VerdictKind::ALL.len()
        * SandboxablePreference::ALL.len()
        * [true, false].len()
        * SandboxMode::ALL.len()
        * Request::ALL.len()
        * Risk::ALL.len()
        * approvals().len()
        * NetworkAccess::ALL.len()
}

#[test]
fn every_combination_is_there_once() {
    let all: HashSet<Case> = cases().collect();
    assert_eq!(all.len(), expected_cases());
    assert_eq!(cases().count(), expected_cases());
    assert!(all.len() > 100_000);
    for approval in approvals() {
        assert!(
            all.iter().any(|case| case.approval == approval),
            "{approval}"
        );
    }
}

#[test]
#[expect(
    clippy::print_stdout,
    reason = "the number that the page states is also printed by the tests"
)]
fn the_page_states_how_many_cases_there_are() {
    let page = &*PAGE;
    let count = format!("{} cases", cases().count());
    assert!(page.contains(&count), "the page does not say {count}");
    println!("{count}");
}

#[test]
fn the_rows_hold_every_case_once_and_say_what_is_decided() {
    let rows = &*ROWS;
    assert!(rows.len() < 150, "{} rows", rows.len());
    let mut held = HashSet::new();
    for row in rows {
        for case in row.cases() {
            assert!(held.insert(case), "two rows for {case:?}");
            assert_eq!(row.outcome(), Outcome::of(&case.decide()), "{case:?}");
        }
    }
    assert_eq!(held, cases().collect());
}

#[test]
fn every_row_is_a_line_of_the_page() {
    let page = &*PAGE;
    let table = page.split("## The decision").nth(1).expect("the table");
    let table = table.split("\n## ").next().expect("its end");
    let lines: HashSet<&str> = table.lines().filter(|line| line.starts_with('|')).collect();
    // The heading and the line below it.
    assert_eq!(lines.len(), ROWS.len() + 2, "two rows read the same");
}

#[test]
fn every_outcome_occurs() {
    let seen: HashSet<Outcome> = ROWS.iter().map(|row| row.outcome()).collect();
    // Four without a category, and the rule and the required sandbox, and three categories of four.
    assert_eq!(seen.len(), 9, "{seen:?}");
}
