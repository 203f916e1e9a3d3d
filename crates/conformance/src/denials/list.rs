//! The acts, as data.

use anyhow::{Context as _, Result};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    case: Vec<Case>,
}

/// Something that the sandbox refuses.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Case {
    /// Its name, for ever.
    pub name: String,
    /// What kind of refusal it is.
    pub class: String,
    /// What is run, as `palisade run -c`.
    pub script: String,
    /// What the message must name.
    pub names: String,
    /// A script that says, outside, whether the act was done.
    #[serde(default)]
    pub done: Option<String>,
    /// What the act prints when it is done.
    #[serde(default)]
    pub prints: Option<String>,
    /// Why no grant can help: the message must say so.
    #[serde(default)]
    pub nothing: Option<String>,
    /// Why the act cannot succeed here even when it is not refused: the line must open the way all the same.
    #[serde(default)]
    pub still: Option<String>,
    /// Why the sandbox is expected to say nothing: for the page.
    #[serde(default)]
    pub unsaid: Option<String>,
    /// Whether only root may do it outside. Anybody else is refused by the system, which is no denial of ours.
    #[serde(default)]
    pub root: bool,
    /// Programs that must be there.
    #[serde(default)]
    pub needs: Vec<String>,
}

/// All of them.
///
/// # Errors
/// The data is wrong.
pub fn all() -> Result<Vec<Case>> {
    let list: List = toml::from_str(include_str!("cases.toml")).context("denials/cases.toml")?;
    Ok(list.case)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_case_says_in_one_way_what_comes_after_it() {
        let all = all().unwrap();
        assert!(all.len() >= 55, "{}", all.len());
        let names: BTreeSet<&str> = all.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names.len(), all.len());
        for case in &all {
            let ways = [&case.done, &case.prints, &case.nothing, &case.still];
            let given = ways.iter().filter(|way| way.is_some()).count();
            assert_eq!(given, 1, "{}", case.name);
        }
    }
}
