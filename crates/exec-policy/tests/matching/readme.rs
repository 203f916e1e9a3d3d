//! The rules that the project's own pages show.

use palisade_exec_policy::Rules;
use palisade_exec_policy::language::{Layer, Source};

use crate::support::place;

const README: &str = include_str!("../../../../README.md");

#[test]
fn the_rules_in_the_readme_hold_their_examples() {
    let blocks: Vec<&str> = README
        .split("```toml\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        let source = Source::new(Layer::User, "README.md", block);
        Rules::with_builtin([source], &place()).unwrap_or_else(|error| panic!("{error}"));
    }
}
