//! A profile with one half of its defences taken away, for those who check that the other half is enough.

use super::{Decision, Filter, Profile, Rule};

impl Profile {
    /// The profile without the denies that follow the allows: what is carved out of the allows must be enough.
    #[must_use]
    pub fn without_denies(&self) -> Self {
        let mut half = self.clone();
        half.rules.retain(|rule| rule.decision == Decision::Allow);
        half
    }

    /// The profile with nothing carved out of its allows: the denies must be enough. They keep their own exceptions.
    #[must_use]
    pub fn without_carves(&self) -> Self {
        let mut half = self.clone();
        for rule in &mut half.rules {
            if rule.decision == Decision::Allow {
                uncarve_rule(rule);
            }
        }
        half
    }
}

fn uncarve_rule(rule: &mut Rule) {
    for filter in &mut rule.filters {
        uncarve(filter);
    }
}

fn uncarve(filter: &mut Filter) {
    if let Filter::All(filters) | Filter::Any(filters) = filter {
        filters.retain(|inner| !matches!(inner, Filter::Not(_)));
        filters.iter_mut().for_each(uncarve);
    }
}
