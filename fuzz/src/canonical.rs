//! Canonical policies: written and read back they are the same, resolving is a function, and a denial only takes away.

use arbitrary::Arbitrary;
use palisade_policy::{
    Access, CanonicalSandboxPolicy, Grant, NetworkAccess, PathSpec, Permission, Place,
    ResolvedPolicy, SandboxMode, SandboxPolicy,
};

use crate::random_policy::{Input, Path};

#[derive(Arbitrary, Debug)]
struct Case {
    random: Input,
    mode: u8,
    network: u8,
    denied: Path,
    denies_reading: bool,
    granted: Path,
    grants_writing: bool,
}

/// Holds a random policy, and the one that its mode stands for, to the laws.
pub fn run(data: &[u8]) {
    let Some(case) = crate::structured::<Case>(data) else {
        return;
    };
    let Some(context) = case.random.context() else {
        return;
    };
    let mode = SandboxMode::ALL[usize::from(case.mode) % SandboxMode::ALL.len()];
    let network = NetworkAccess::ALL[usize::from(case.network) % NetworkAccess::ALL.len()];
    let picked = SandboxPolicy::new(mode, network);
    assert_eq!(again(&picked), picked);
    let mapped = picked.to_canonical_policy(&context.cwd);
    assert_eq!(mapped, picked.to_canonical_policy(&context.cwd));

    for policy in [Some(mapped), case.random.policy()].into_iter().flatten() {
        assert_eq!(again(&policy), policy);
        let Ok(resolved) = policy.resolve(&context) else {
            continue;
        };
        assert_eq!(policy.resolve(&context).as_ref(), Ok(&resolved));
        // The policy that came over the wire protects the same.
        assert_eq!(again(&policy).resolve(&context).as_ref(), Ok(&resolved));
        let Some(access) = case.random.what.access() else {
            continue;
        };
        denial_takes_away(&case, &policy, &resolved, &access);
        grant_is_one(&case, &policy, &access, &resolved);
        rename_is_both(&case, &resolved);
    }
}

fn again<T: serde::Serialize + for<'de> serde::Deserialize<'de>>(value: &T) -> T {
    let json = serde_json::to_string(value).expect("it can be written");
    let back: T = serde_json::from_str(&json).expect("and read back");
    assert_eq!(serde_json::to_string(&back).expect("and written"), json);
    back
}

/// A policy with one more denial allows nothing that it did not allow.
fn denial_takes_away(
    case: &Case,
    policy: &CanonicalSandboxPolicy,
    resolved: &ResolvedPolicy,
    access: &Access,
) {
    let (Some((rules, _)), Ok(denied)) = (policy.rules(), PathSpec::parse(&case.denied.text()))
    else {
        return;
    };
    let rules = rules.clone();
    let stricter = if case.denies_reading {
        let list: Vec<_> = rules.deny_read.iter().cloned().chain([denied]).collect();
        rules.with_deny_read(list)
    } else {
        let list: Vec<_> = rules.read_only.iter().cloned().chain([denied]).collect();
        rules.with_read_only(list)
    };
    if let Ok(stricter) = policy
        .clone()
        .with_paths(stricter)
        .resolve(resolved.context())
        && stricter.permits(access).is_allowed()
    {
        let verdict = resolved.permits(access);
        assert!(verdict.is_allowed(), "a denial opened {access}: {verdict}");
    }
}

/// Granting twice is granting once, and a grant never opens the whole network.
fn grant_is_one(
    case: &Case,
    policy: &CanonicalSandboxPolicy,
    access: &Access,
    resolved: &ResolvedPolicy,
) {
    let Some(path) = case.granted.absolute() else {
        return;
    };
    let grant = if case.grants_writing {
        Grant::Write(path)
    } else {
        Grant::Read(path)
    };
    let Ok(once) = policy.clone().with_grant(&grant) else {
        return;
    };
    assert_eq!(once.clone().with_grant(&grant).as_ref(), Ok(&once));
    assert_eq!(again(&once), once);
    assert_eq!(once.has_full_network(), policy.has_full_network());
    // A grant to read does not let the host be changed.
    let writes = matches!(
        access,
        Access::Write(_) | Access::Create(_) | Access::Delete(_) | Access::Rename { .. }
    );
    if !case.grants_writing
        && writes
        && let Ok(granted) = once.resolve(resolved.context())
        && granted.permits(access).permission == Permission::Allowed(Place::Host)
    {
        let before = resolved.permits(access);
        assert_eq!(
            before.permission,
            Permission::Allowed(Place::Host),
            "{grant} opened {access}: {before}"
        );
    }
}

/// Who may rename may also remove, create and read.
fn rename_is_both(case: &Case, resolved: &ResolvedPolicy) {
    let (Some(from), Some(to)) = (case.denied.absolute(), case.granted.absolute()) else {
        return;
    };
    let rename = Access::Rename {
        from: from.clone(),
        to: to.clone(),
    };
    if resolved.permits(&rename).is_allowed() {
        for access in [
            Access::Delete(from.clone()),
            Access::Create(to),
            Access::Read(from),
        ] {
            assert!(
                resolved.permits(&access).is_allowed(),
                "{rename} but not {access}"
            );
        }
    }
}
