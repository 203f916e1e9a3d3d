//! Paths never change the text of a profile, whatever they hold.

use palisade_policy::{CanonicalSandboxPolicy, PathRules, RelativePath};
use palisade_seatbelt::host::{Entry, Located};
use palisade_seatbelt::profile::Profile;
use palisade_seatbelt::{MacHost, Seatbelt};
use proptest::prelude::*;

use crate::support::{abs, context, mac, plan, prepare, root};

/// A policy about a root and a denied path, both with this name, and the profile where they exist or do not.
fn profile(name: &str, exists: bool) -> Profile {
    use palisade_policy::Backend as _;

    let at = abs(format!("/Users/dev/{name}"));
    let inner = abs(format!("/Users/dev/{name}/{name}"));
    let mut context = context();
    context.cwd = palisade_policy::WorkspaceRoot::from_absolute(at.clone()).unwrap();
    let policy = CanonicalSandboxPolicy::workspace_write_no_sensitive_blocking([]).with_paths(
        PathRules::default()
            .with_protected([])
            .with_deny_read([inner.clone().into()]),
    );
    let (policy, host) = prepare(&policy, context, mac()).unwrap();
    let located = match exists {
        true => Located::new(inner.clone(), Entry::Directory),
        false => Located::missing(at.clone(), [name]),
    };
    let git = abs(format!("/Users/dev/{name}/.git"));
    let host: MacHost = host
        .with_place(at.clone(), Located::new(at, Entry::Directory))
        .with_place(git.clone(), Located::new(git, Entry::Directory))
        .with_place(inner, located);
    let accepted = palisade_policy::Guarantee::ALL.into_iter().collect();
    let lowered = Seatbelt.lower(&policy, &host).unwrap();
    lowered.admit(&accepted).unwrap().0.profile
}

const HOSTILE: [&str; 10] = [
    "a\"b",
    "a\") (allow default) (literal \"",
    "a)(b",
    "a\\b",
    "a\\\"b",
    "a b",
    "#\"x",
    "; comment",
    "$(param \"ROOT_0\")",
    "=x",
];

#[test]
fn what_exists_is_never_in_the_text() {
    let plain = profile("plain", true).text();
    for name in HOSTILE {
        assert!(profile(name, true).text() == plain, "{name}");
    }
}

#[test]
fn what_is_missing_is_a_pattern_of_single_characters() {
    let plain = profile("plain", false);
    for name in HOSTILE {
        let hostile = profile(name, false);
        assert_eq!(hostile.rules.len(), plain.rules.len(), "{name}");
        assert!(!hostile.text().contains(name), "{name}");
        assert!(hostile.text().is_ascii());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_name_changes_the_rules(name in "[^/\\x00\\r\\n]{1,12}") {
        prop_assume!(name != "." && name != ".." && !name.eq_ignore_ascii_case(".git"));
        let plain = profile("plain", true).text();
        prop_assert!(profile(&name, true).text() == plain);
        let missing = profile(&name, false);
        let text = missing.text();
        prop_assert_eq!(missing.rules.len(), profile("plain", false).rules.len());
        prop_assert!(text.is_ascii());
        // Strings and patterns end where they end: quotes come in pairs on every line.
        for line in text.lines().filter(|line| !line.starts_with(';')) {
            prop_assert!(line.matches('"').count() % 2 == 0, "{}", line);
        }
    }
}

/// A policy with these protected names.
fn protecting(names: &[&str]) -> Profile {
    let protected = names.iter().map(|name| RelativePath::new(name).unwrap());
    let policy =
        CanonicalSandboxPolicy::workspace_write_no_sensitive_blocking([root("/Users/dev/app")])
            .with_paths(PathRules::default().with_protected(protected));
    plan(&policy, mac()).profile
}

#[test]
fn a_second_protected_path_adds_just_its_rules() {
    for added in ["vendor", "later", "vendor/deep/er"] {
        let one = protecting(&["first"]);
        let two = protecting(&["first", added]);
        let mut rest = two.rules.clone();
        for rule in &one.rules {
            if rule.decision == palisade_seatbelt::profile::Decision::Deny {
                let at = rest.iter().position(|other| other == rule).unwrap();
                rest.remove(at);
            }
        }
        // What is left are the allows, carved once more, and the denies of the new path.
        let denies = rest
            .iter()
            .filter(|rule| rule.decision == palisade_seatbelt::profile::Decision::Deny);
        let above = if added.contains('/') { 2 } else { 0 };
        assert_eq!(denies.count(), 1 + above, "{added}");
        for (name, path) in one.parameters.iter() {
            assert_eq!(two.parameters.get(name), Some(path));
        }
    }
}

#[test]
fn the_same_policy_has_the_same_text() {
    let names = ["b", "a", ".x/y", "vendor"];
    assert_eq!(protecting(&names).text(), protecting(&names).text());
    let reversed: Vec<&str> = names.iter().rev().copied().collect();
    assert_eq!(
        protecting(&names).rules.len(),
        protecting(&reversed).rules.len()
    );
}
