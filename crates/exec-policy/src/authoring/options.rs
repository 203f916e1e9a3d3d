//! Which options of a program the tables know, for the linter.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use crate::language::model::OptionTable;
use crate::matching::builtin;

/// Names of options by the words that lead to them: `git`, `git diff`.
static BUILT_IN: LazyLock<BTreeMap<String, BTreeSet<String>>> = LazyLock::new(|| {
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (of, table) in builtin::options() {
        for path in of {
            let names = known.entry(path).or_default();
            let lists = [&table.value, &table.flag, &table.optional];
            names.extend(lists.into_iter().flatten().cloned());
        }
    }
    known
});

/// Whether a flag of a rule with this prefix is known; `None` if nothing is known about the program at all.
pub(super) fn is_known(
    own: &BTreeMap<String, OptionTable>,
    prefix: &[Vec<String>],
    flag: &str,
) -> Option<bool> {
    let words: Vec<&str> = prefix
        .iter()
        .filter_map(|position| position.first().map(String::as_str))
        .collect();
    let mut any = false;
    for length in 1..=words.len() {
        let path = words.get(..length).unwrap_or_default().join(" ");
        if let Some(names) = BUILT_IN.get(&path) {
            any = any || length == words.len();
            let starred = |name: &String| {
                name.strip_suffix('*')
                    .is_some_and(|stem| flag.starts_with(stem))
            };
            if names.contains(flag) || names.iter().any(starred) {
                return Some(true);
            }
        }
        if let Some(table) = own.get(&path) {
            any = true;
            let lists = [&table.value, &table.flag, &table.optional];
            if lists.into_iter().flatten().any(|name| name == flag) {
                return Some(true);
            }
        }
    }
    any.then_some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_and_unknown_flags_are_told_apart() {
        let none = BTreeMap::new();
        let prefix = |words: &[&str]| {
            words
                .iter()
                .map(|word| vec![(*word).to_owned()])
                .collect::<Vec<_>>()
        };
        assert!(!BUILT_IN.is_empty());
        assert_eq!(is_known(&none, &prefix(&["frobnicate"]), "--x"), None);
        let (path, names) = BUILT_IN
            .iter()
            .find(|(_, names)| !names.is_empty())
            .unwrap();
        let words: Vec<&str> = path.split(' ').collect();
        let flag = names.first().unwrap().trim_end_matches('*');
        assert_eq!(is_known(&none, &prefix(&words), flag), Some(true));
        assert_eq!(
            is_known(&none, &prefix(&words), "--no-such-flag-at-all"),
            Some(false)
        );
    }
}
