//! The line before a command: what holds.

use std::path::Path;

use crate::say::shown;
use palisade::runner::host::Host;
use palisade::runner::policy::{
    AbsolutePath, CanonicalSandboxPolicy, Enforcement, Guarantee, GuardOrigin, HomeRoot, Level,
    NetworkScope, PathCase, PathMatcher, PolicyContext, ResolvedPolicy, Stance, WorkspaceRoot,
};

/// How many directories or hosts are named before the rest is counted.
const NAMED: usize = 3;

/// What the line is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Holds<'a> {
    pub(crate) host: &'a Host,
    pub(crate) policy: &'a CanonicalSandboxPolicy,
    pub(crate) workspace: &'a WorkspaceRoot,
    pub(crate) enforcement: &'a Enforcement,
    pub(crate) cwd: &'a Path,
}

/// `full - writes ./ - network off - 24 secrets hidden`.
pub(crate) fn line(holds: &Holds<'_>) -> String {
    if !holds.policy.uses_runtime_sandbox() {
        return "no sandbox: the command can touch whatever you can".to_owned();
    }
    let context = PolicyContext::new(holds.host.facts.clone(), holds.workspace.clone())
        .with_home_root(HomeRoot::Allow);
    let Ok(policy) = holds.policy.resolve(&context) else {
        // The sandbox was made of it, so this is not reached; and nothing false may be said.
        return "a sandbox holds".to_owned();
    };
    let mut parts = vec![tier(&policy, holds.enforcement)];
    parts.push(writes(&policy, holds));
    parts.push(network(holds.policy));
    parts.push(secrets(&policy, holds));
    parts.join(" - ")
}

/// Whether everything that the policy asks for holds, and if not what does not.
fn tier(policy: &ResolvedPolicy, enforcement: &Enforcement) -> String {
    let lost: Vec<&str> = policy
        .guarantees()
        .into_iter()
        .filter(|guarantee| enforcement.level(*guarantee) < Level::Enforced)
        .map(Guarantee::name)
        .collect();
    match lost.is_empty() {
        true => "full".to_owned(),
        false => format!("weaker, without {}", lost.join(", ")),
    }
}

fn writes(policy: &ResolvedPolicy, holds: &Holds<'_>) -> String {
    let roots = policy.roots().iter().map(|root| root.root.clone());
    let home = holds.host.facts.home.as_ref();
    let mut shown: Vec<String> = Vec::new();
    for path in roots.chain(reopened(policy)) {
        let short = short(&path, holds.cwd, home);
        if !policy.private().contains(&path) && !shown.contains(&short) {
            shown.push(short);
        }
    }
    match shown.is_empty() {
        true => "writes nothing".to_owned(),
        false => format!("writes {}", counted(&shown)),
    }
}

/// What grants let it write, be it in a root or not.
fn reopened(policy: &ResolvedPolicy) -> Vec<AbsolutePath> {
    let rules = policy.canonical().rules();
    let reopened = rules.into_iter().flat_map(|(rules, _)| &rules.reopened);
    let written = reopened.filter(|open| open.write);
    written.map(|open| open.path.clone()).collect()
}

fn network(policy: &CanonicalSandboxPolicy) -> String {
    match policy.network() {
        NetworkScope::Off => "network off".to_owned(),
        NetworkScope::Full => "network on".to_owned(),
        NetworkScope::Only(hosts) => {
            let hosts: Vec<String> = hosts.iter().map(ToString::to_string).collect();
            format!("network {}", counted(&hosts))
        }
    }
}

fn secrets(policy: &ResolvedPolicy, holds: &Holds<'_>) -> String {
    let case = holds.host.facts.case;
    let hidden: usize = policy
        .guards()
        .iter()
        .filter(|guard| {
            guard.read == Some(Stance::Denies) && guard.origin != GuardOrigin::Protected
        })
        .map(|guard| there(&guard.matcher, case))
        .sum();
    let word = match hidden {
        1 => "secret",
        _ => "secrets",
    };
    match holds.enforcement.level(Guarantee::DeniedReads) {
        Level::Enforced => format!("{hidden} {word} hidden"),
        _ => format!("{hidden} {word} not hidden"),
    }
}

/// How many files or directories a guard covers, of those that are there.
fn there(matcher: &PathMatcher, case: PathCase) -> usize {
    if let Some(path) = matcher.path() {
        return usize::from(path.as_path().symlink_metadata().is_ok());
    }
    // A glob is looked for in the last directory that it names in full, and no deeper: this is a line, not a search.
    let Some(Ok(entries)) = matcher.base().map(std::fs::read_dir) else {
        return 0;
    };
    entries
        .filter_map(Result::ok)
        .filter_map(|entry| AbsolutePath::new(entry.path()).ok())
        .filter(|path| matcher.specificity(path, case).is_some())
        .count()
}

/// A directory as people in `cwd` would write it, with a slash behind it.
fn short(path: &AbsolutePath, cwd: &Path, home: Option<&AbsolutePath>) -> String {
    let path = path.as_path();
    let real = std::fs::canonicalize(cwd).unwrap_or_else(|_| cwd.to_owned());
    let slash = |text: String| match path.is_dir() && !text.ends_with('/') {
        true => format!("{text}/"),
        false => text,
    };
    let shown = if let Ok(below) = path.strip_prefix(&real) {
        match below.as_os_str().is_empty() {
            true => ".".to_owned(),
            false => format!("./{}", shown(below)),
        }
    } else if let Ok(above) = real.strip_prefix(path) {
        let up = vec![".."; above.components().count()];
        match up.len() {
            1..=NAMED => up.join("/"),
            _ => shown(path),
        }
    } else {
        match home.and_then(|home| path.strip_prefix(home.as_path()).ok()) {
            Some(below) if !below.as_os_str().is_empty() => format!("~/{}", shown(below)),
            _ => shown(path),
        }
    };
    palisade::runner::approve::visible(&slash(shown))
}

fn counted(things: &[String]) -> String {
    let named: Vec<&str> = things.iter().take(NAMED).map(String::as_str).collect();
    match things.len().saturating_sub(NAMED) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}
