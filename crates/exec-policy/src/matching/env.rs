//! `NAME=value command`: what setting a variable means.

use std::collections::HashMap;

use super::trie::RuleId;

/// `[env] prefix`, compiled: each entry is a rule of its own.
#[derive(Clone, Debug, Default)]
pub(crate) struct EnvTable {
    exact: HashMap<Vec<u8>, RuleId>,
    /// Entries with a trailing star, without it, longest first.
    starred: Vec<(Vec<u8>, RuleId)>,
}

impl EnvTable {
    pub(crate) fn insert(&mut self, name: &str, rule: RuleId) {
        match name.strip_suffix('*') {
            Some(stem) => {
                self.starred.push((stem.as_bytes().to_vec(), rule));
                self.starred
                    .sort_by_key(|(stem, _)| std::cmp::Reverse(stem.len()));
            }
            None => {
                self.exact.insert(name.as_bytes().to_vec(), rule);
            }
        }
    }

    /// The entry that speaks about a variable: the most specific one.
    pub(crate) fn get(&self, name: &[u8]) -> Option<RuleId> {
        self.exact.get(name).copied().or_else(|| {
            self.starred
                .iter()
                .find(|(stem, _)| name.starts_with(stem))
                .map(|(_, rule)| *rule)
        })
    }
}
