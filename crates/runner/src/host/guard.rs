//! A user with two homes: what is guarded in one is guarded in the other.

use palisade_policy::{AbsolutePath, CanonicalSandboxPolicy, PathSpec, RelativePath};

use super::Host;

impl Host {
    /// The policy with everything that it guards below `~` guarded in the home of the user database as well.
    ///
    /// Programs do not agree on which of the two is home: a shell asks `HOME`, ssh the user database. Where there is
    /// but one home, or where the policy confines nothing, it is returned as it is.
    #[must_use]
    pub fn guard_other_home(&self, policy: CanonicalSandboxPolicy) -> CanonicalSandboxPolicy {
        let (Some(other), Some((paths, _))) = (&self.other_home, policy.rules()) else {
            return policy;
        };
        let mut paths = paths.clone();
        let secrets = policy.sensitive_paths(&self.facts);
        let unread = secrets.iter().filter(|secret| secret.block_read);
        let unwritten = secrets
            .iter()
            .filter(|secret| !secret.block_read && secret.block_write);
        let unread: Vec<PathSpec> = unread
            .map(|secret| &secret.path)
            .chain(&paths.deny_read)
            .filter_map(|spec| moved(spec, other))
            .collect();
        let unwritten: Vec<PathSpec> = unwritten
            .map(|secret| &secret.path)
            .chain(&paths.read_only)
            .filter_map(|spec| moved(spec, other))
            .collect();
        add(&mut paths.deny_read, unread);
        add(&mut paths.read_only, unwritten);
        policy.with_paths(paths)
    }
}

/// Adds what is not there yet, so that guarding twice is guarding once.
fn add(list: &mut Vec<PathSpec>, more: Vec<PathSpec>) {
    for spec in more {
        if !list.contains(&spec) {
            list.push(spec);
        }
    }
}

/// A spec below `~`, below another home instead.
fn moved(spec: &PathSpec, home: &AbsolutePath) -> Option<PathSpec> {
    if !spec.needs_home() {
        return None;
    }
    if let Some(path) = spec.in_home(home) {
        return Some(PathSpec::from(path));
    }
    let text = spec.to_string();
    let below = text.strip_prefix("~/").unwrap_or_default();
    let quoted = home.as_path().to_str().map(quote);
    if let Some(spec) = quoted.and_then(|home| PathSpec::parse(&format!("{home}/{below}")).ok()) {
        return Some(spec);
    }
    // A home that is not Unicode can be no part of a glob. What a glob would guard is then guarded from the last
    // directory that it names in full: too much rather than too little.
    let literal: Vec<&str> = below
        .split('/')
        .take_while(|name| !name.contains(['*', '?', '[']))
        .collect();
    let path = match RelativePath::new(literal.join("/")) {
        Ok(below) => home.join(&below),
        Err(_) => home.clone(),
    };
    Some(PathSpec::from(path))
}

/// A text in which no character of a pattern means anything.
fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '*' | '?' | '[') {
            quoted.extend(['[', character, ']']);
        } else {
            quoted.push(character);
        }
    }
    quoted
}
