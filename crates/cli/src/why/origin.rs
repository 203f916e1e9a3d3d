//! Where a clause comes from: a line of a file, a flag, a preset, or what is built in.

use palisade::runner::exec_policy::language::model::Origin;
use palisade::runner::exec_policy::language::{Layer, Setting};
use palisade::runner::policy::{
    AbsolutePath, Clause, GuardOrigin, PathMatcher, PathSpec, ResolvedPolicy,
};

use crate::ground::{Ground, PolicyFlags, absolute};

/// Where a clause comes from.
pub(super) fn of(
    clause: &Clause,
    ground: &Ground,
    flags: &PolicyFlags,
    oracle: &ResolvedPolicy,
) -> String {
    let settings = ground.configuration.rules.policy().settings();
    let preset = || {
        let name = settings.preset.value.name();
        written(settings.preset.origin.as_ref(), || {
            format!("preset `{name}`, which is the default")
        })
    };
    let or_preset = |origin: Option<&Origin>| match origin {
        Some(_) => written(origin, String::new),
        None => preset(),
    };
    match clause {
        Clause::FullAccess | Clause::ExternalSandbox => preset(),
        Clause::ReadOnlyMode | Clause::OutsideRoots => or_preset(settings.write.origin.as_ref()),
        Clause::WritableRoot(root) => match by_flag(root, ground, flags) {
            Some(flag) => flag.to_owned(),
            None => or_preset(settings.write.origin.as_ref()),
        },
        Clause::Protected(path) if path.as_path().file_name() == Some(".git".as_ref()) => {
            match flags.git {
                Some(_) => "--git".to_owned(),
                None => or_preset(settings.git.origin.as_ref()),
            }
        }
        Clause::Protected(_) => written(settings.protected.origin.as_ref(), || {
            "built in: every writable directory protects it".to_owned()
        }),
        Clause::Sensitive(_) | Clause::NotBlocked(_) => "built in: the list of secrets".to_owned(),
        Clause::DenyRead(matcher) => {
            let listed = listed(matcher, &settings.deny, oracle, |spec| {
                let (rules, local) = oracle.canonical().rules()?;
                let rules = rules.clone().with_deny_read([spec.clone()]);
                let policy = oracle.canonical().clone().with_paths(rules);
                Some(policy.with_local(local.clone()))
            });
            listed.unwrap_or_else(|| own_or_flag(matcher, ground))
        }
        Clause::ReadOnlyPath(matcher) => {
            let listed = listed(matcher, &settings.read_only, oracle, |spec| {
                let (rules, local) = oracle.canonical().rules()?;
                let rules = rules.clone().with_read_only([spec.clone()]);
                let policy = oracle.canonical().clone().with_paths(rules);
                Some(policy.with_local(local.clone()))
            });
            listed.unwrap_or_else(|| own_or_flag(matcher, ground))
        }
        Clause::Reopened(path) => match by_flag(path, ground, flags) {
            Some(flag) => flag.to_owned(),
            None => "a grant that was kept for this project: palisade approvals list".to_owned(),
        },
        Clause::FullNetwork | Clause::NoNetwork | Clause::Listed(_) | Clause::NotListed => {
            match flags.net.is_empty() {
                true => or_preset(settings.network.origin.as_ref()),
                false => "--net".to_owned(),
            }
        }
        Clause::HostLoopback | Clause::ListedSocket(_) => match flags.grant.is_empty() {
            true => "a grant that was kept for this project: palisade approvals list".to_owned(),
            false => "--grant".to_owned(),
        },
        _ => "built in".to_owned(),
    }
}

/// The place, or what is said where nobody wrote it.
fn written(origin: Option<&Origin>, otherwise: impl FnOnce() -> String) -> String {
    match origin {
        Some(origin) if origin.layer == Layer::Session => "a flag of this command".to_owned(),
        Some(origin) => format!("{origin} ({} layer)", origin.layer.name()),
        None => otherwise(),
    }
}

/// The entry of a list that a matcher was made from.
fn listed(
    matcher: &PathMatcher,
    entries: &[Setting<PathSpec>],
    oracle: &ResolvedPolicy,
    alone: impl Fn(&PathSpec) -> Option<palisade::runner::policy::CanonicalSandboxPolicy>,
) -> Option<String> {
    let made_by = |entry: &&Setting<PathSpec>| {
        let resolved = alone(&entry.value).and_then(|one| one.resolve(oracle.context()).ok());
        resolved.is_some_and(|one| {
            let denied = one.guards().iter();
            let mut denied = denied.filter(|guard| guard.origin == GuardOrigin::DenyRead);
            denied.any(|guard| guard.matcher == *matcher) || one.read_only().contains(matcher)
        })
    };
    let entry = entries.iter().find(made_by)?;
    Some(written(entry.origin.as_ref(), || "built in".to_owned()))
}

/// What no file lists: a flag, or Palisade's own directories.
fn own_or_flag(matcher: &PathMatcher, ground: &Ground) -> String {
    let host = &ground.host;
    let own = [&host.state_dir, &host.config_dir, &host.runtime_dir];
    let is_own = |path: &AbsolutePath| {
        own.into_iter().flatten().any(|directory| {
            let real = std::fs::canonicalize(directory);
            real.as_deref().unwrap_or(directory) == path.as_path()
        })
    };
    match matcher.path().is_some_and(is_own) {
        true => "built in: Palisade's own files, which decide about commands".to_owned(),
        false => "--deny-read".to_owned(),
    }
}

/// The flag that opens a path.
fn by_flag(path: &AbsolutePath, ground: &Ground, flags: &PolicyFlags) -> Option<&'static str> {
    let same = |given: &std::path::Path| {
        absolute("", given, &ground.cwd).is_ok_and(|given| {
            let real = std::fs::canonicalize(&given).unwrap_or(given);
            real == path.as_path()
        })
    };
    if flags.write.iter().any(|directory| same(directory)) {
        return Some("-w");
    }
    let granted = flags.grant.iter().any(|grant| {
        let text = grant.to_string_lossy();
        let path = text.split_once(':').map(|(_, path)| path.to_owned());
        path.is_some_and(|path| same(path.as_ref()))
    });
    granted.then_some("--grant")
}
