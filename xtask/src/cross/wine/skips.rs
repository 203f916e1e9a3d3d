//! The skips under Wine that are known, each with the reason why no test can do better there.

use std::collections::BTreeMap;

use crate::ci::testing::skips;

/// How a line `skipped: ...` goes on, and why that is right under Wine.
const KNOWN: &[(&str, &str)] = &[
    (
        "Wine keeps no limits of jobs but the end of all",
        "limits on processes and memory are taken, read back as zero and not kept",
    ),
    (
        "Wine keeps no entries of files but those that a mode can say",
        "an access list becomes the mode of a file of Linux, so entries of a capability are gone when it is read",
    ),
    (
        "Wine does not restrict",
        "restricting identifiers are taken and dropped: there is no second check to try",
    ),
];

/// What the tests have said so far.
#[derive(Default)]
pub(super) struct Skips {
    seen: BTreeMap<&'static str, usize>,
}

impl Skips {
    /// The skips in this output that are not known, as a complaint; nothing if there are none.
    pub(super) fn unknown(&mut self, output: &str) -> String {
        self.unknown_of(output, KNOWN)
    }

    fn unknown_of(&mut self, output: &str, known: &[(&'static str, &str)]) -> String {
        let mut complaint = String::new();
        for why in skips(output) {
            match known.iter().find(|(start, _)| why.starts_with(start)) {
                Some((start, _)) => *self.seen.entry(*start).or_default() += 1,
                None => complaint.push_str(&format!(
                    "`skipped: {why}` is not a skip that is known under Wine\n"
                )),
            }
        }
        complaint
    }

    /// The skips that are known and that no test has said, as a complaint.
    pub(super) fn stale(&self) -> String {
        self.stale_of(KNOWN)
    }

    fn stale_of(&self, known: &[(&'static str, &str)]) -> String {
        let unseen = known
            .iter()
            .filter(|(start, _)| !self.seen.contains_key(start));
        unseen
            .map(|(start, _)| format!("no test says `skipped: {start}` any more: forget it\n"))
            .collect()
    }

    /// How many tests have said that they did not run.
    pub(super) fn seen(&self) -> usize {
        self.seen.values().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &[(&str, &str)] = &[("tokens do not restrict", "Wine"), ("no links", "Wine")];

    #[test]
    fn an_unknown_skip_is_a_complaint_and_so_is_a_stale_one() {
        let mut skips = Skips::default();
        let said = "skipped: tokens do not restrict here\nskipped: tokens do not restrict\nskipped: bored\n";
        assert_eq!(
            skips.unknown_of(said, LIST),
            "`skipped: bored` is not a skip that is known under Wine\n"
        );
        assert_eq!(skips.seen(), 2);
        assert_eq!(
            skips.stale_of(LIST),
            "no test says `skipped: no links` any more: forget it\n"
        );
        assert_eq!(skips.unknown_of("skipped: no links\n", LIST), "");
        assert_eq!(skips.stale_of(LIST), "");
    }
}
