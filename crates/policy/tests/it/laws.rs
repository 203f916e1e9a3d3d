//! Laws that hold for every policy, tried on random ones.

use palisade_policy::{
    AbsolutePath, Access, CanonicalSandboxPolicy, Clause, GitAccess, Grant, NetworkAccess,
    NetworkScope, PathCase, PathSpec, Permission, Place, PolicyContext, ResolvedPolicy,
    SandboxMode, SandboxPolicy, SensitivePath,
};
use proptest::prelude::*;

use crate::support::{
    any_access, any_context, any_entry, any_path, any_policy, any_root, any_rules,
};

fn both(
    narrow: &CanonicalSandboxPolicy,
    wide: &CanonicalSandboxPolicy,
    context: &PolicyContext,
) -> Option<(ResolvedPolicy, ResolvedPolicy)> {
    Some((narrow.resolve(context).ok()?, wide.resolve(context).ok()?))
}

/// An allowed write that the host sees; standard devices hold nothing.
fn reaches_host(policy: &ResolvedPolicy, access: &Access) -> bool {
    let verdict = policy.permits(access);
    verdict.permission == Permission::Allowed(Place::Host)
        && !matches!(verdict.clause, Clause::StandardDevice(_))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, ..ProptestConfig::default() })]

    #[test]
    fn mapping_is_total_and_survives_serde(
        mode in prop::sample::select(SandboxMode::ALL.to_vec()),
        network in prop::sample::select(NetworkAccess::ALL.to_vec()),
        root in any_root(),
    ) {
        let policy = SandboxPolicy::new(mode, network);
        let canonical = policy.to_canonical_policy(&root);
        let json = serde_json::to_string(&canonical).unwrap();
        prop_assert_eq!(serde_json::from_str::<CanonicalSandboxPolicy>(&json).unwrap(), canonical);
        let json = serde_json::to_string(&policy).unwrap();
        prop_assert_eq!(serde_json::from_str::<SandboxPolicy>(&json).unwrap(), policy);
    }

    #[test]
    fn every_policy_survives_serde(policy in any_policy()) {
        let json = serde_json::to_string(&policy).unwrap();
        let back: CanonicalSandboxPolicy = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(&back, &policy);
        prop_assert_eq!(serde_json::to_string(&back).unwrap(), json);
    }

    #[test]
    fn read_only_permits_a_subset_of_workspace_write_and_that_of_full_access(
        rules in any_rules(),
        access in any_access(),
        root in any_root(),
        context in any_context(),
        network in prop::sample::select(NetworkAccess::ALL.to_vec()),
    ) {
        let policy = |mode| {
            SandboxPolicy::new(mode, network).to_canonical_policy(&root).with_paths(rules.clone())
        };
        let mut context = context;
        context.cwd = root.clone();
        let narrow = policy(SandboxMode::ReadOnly);
        let middle = policy(SandboxMode::WorkspaceWrite);
        let wide = policy(SandboxMode::DangerFullAccess);
        if let Some((narrow, middle)) = both(&narrow, &middle, &context)
            // A protected git directory is private only where something is protected: not in read-only mode.
            && rules.git != GitAccess::Commit
        {
            let wide = wide.resolve(&context).unwrap();
            // Entries of a writable root are pinned, whatever else would allow to move them.
            let verdict = middle.permits(&access);
            let pinned = matches!(verdict.clause, Clause::HoldsGuarded(_) | Clause::Protected(_));
            if narrow.permits(&access).is_allowed() && !pinned {
                prop_assert!(verdict.is_allowed(), "{:?}: {}", access, verdict);
            }
            prop_assert!(wide.permits(&access).is_allowed());
        }
    }

    #[test]
    fn the_short_answer_is_the_long_one(
        policy in any_policy(),
        access in any_access(),
        context in any_context(),
    ) {
        if let Ok(policy) = policy.resolve(&context) {
            let long = match policy.permits(&access).permission {
                Permission::Allowed(place) => Some(place),
                Permission::Denied => None,
            };
            prop_assert_eq!(policy.place(&access), long, "{:?}", access);
        }
    }

    #[test]
    fn read_only_without_grants_never_changes_the_host(
        rules in any_rules(),
        access in any_access(),
        context in any_context(),
    ) {
        let rules = rules.with_reopened([]);
        let policy = CanonicalSandboxPolicy::read_only().with_paths(rules);
        let writes = matches!(
            access,
            Access::Write(_) | Access::Create(_) | Access::Delete(_) | Access::Rename { .. }
        );
        if writes && let Ok(policy) = policy.resolve(&context) {
            prop_assert!(!reaches_host(&policy, &access), "{}", policy.permits(&access));
        }
    }

    #[test]
    fn the_most_specific_secret_decides_and_of_equals_the_denial(
        secrets in prop::collection::vec((any_path(), any::<bool>()), 1..6),
        path in any_path(),
        context in any_context(),
    ) {
        let entries = secrets.iter().map(|(path, block)| {
            let mut entry = SensitivePath::blocking(PathSpec::from(path.clone()));
            entry.block_read = *block;
            entry.block_write = false;
            entry
        });
        let policy = CanonicalSandboxPolicy::workspace_write_with_sensitive_paths([], entries);
        let policy = policy.resolve(&context).unwrap();
        let holds = |secret: &AbsolutePath| path.as_path().starts_with(secret.as_path());
        let depth = |path: &AbsolutePath| path.as_path().components().count();
        let deepest = secrets.iter().filter(|(secret, _)| holds(secret)).map(|(secret, _)| depth(secret)).max();
        let denied = secrets
            .iter()
            .any(|(secret, block)| *block && holds(secret) && Some(depth(secret)) == deepest);
        prop_assert_eq!(policy.permits(&Access::Read(path)).is_allowed(), !denied);
    }

    #[test]
    fn a_writable_root_never_reopens_a_guard(
        policy in any_policy(),
        extra in any_root(),
        access in any_access(),
        context in any_context(),
    ) {
        let CanonicalSandboxPolicy::WorkspaceWrite { .. } = policy else { return Ok(()) };
        let mut json = serde_json::to_value(&policy).unwrap();
        json["writable_roots"].as_array_mut().unwrap().push(serde_json::to_value(&extra).unwrap());
        let wider: CanonicalSandboxPolicy = serde_json::from_value(json).unwrap();
        if let Some((narrow, wider)) = both(&policy, &wider, &context) {
            let clause = narrow.permits(&access).clause;
            if matches!(clause, Clause::Sensitive(_) | Clause::Protected(_) | Clause::DenyRead(_)) {
                prop_assert!(!wider.permits(&access).is_allowed(), "{clause}: {access:?}");
            }
        }
    }

    #[test]
    fn adding_a_denial_never_allows_more(
        policy in any_policy(),
        denied in any_path(),
        which in 0..2,
        access in any_access(),
        context in any_context(),
    ) {
        let mut json = serde_json::to_value(&policy).unwrap();
        if json.get("paths").is_none() {
            return Ok(());
        }
        let list = ["deny_read", "read_only"][usize::try_from(which).unwrap()];
        json["paths"][list].as_array_mut().unwrap().push(serde_json::to_value(&denied).unwrap());
        let narrower: CanonicalSandboxPolicy = serde_json::from_value(json).unwrap();
        if let Some((narrower, wide)) = both(&narrower, &policy, &context)
            && narrower.permits(&access).is_allowed()
        {
            prop_assert!(wide.permits(&access).is_allowed(), "{access:?}: {}", wide.permits(&access));
        }
    }

    #[test]
    fn a_remedy_remedies(policy in any_policy(), access in any_access(), context in any_context()) {
        if let Ok(resolved) = policy.resolve(&context) {
            let verdict = resolved.permits(&access);
            prop_assert!(!verdict.is_allowed() || verdict.remedy.is_none());
            if let Some(grant) = verdict.remedy {
                let granted = policy.with_grant(&grant).unwrap().resolve(&context).unwrap();
                prop_assert!(granted.permits(&access).is_allowed(), "{access:?} with {grant}");
            }
        }
    }

    #[test]
    fn a_grant_lifts_only_guards_that_it_names(
        policy in any_policy(),
        granted in any_path(),
        access in any_access(),
        context in any_context(),
    ) {
        let grant = Grant::Write(granted.clone());
        let (Ok(before), Ok(after)) = (
            policy.resolve(&context),
            policy.clone().with_grant(&grant).and_then(|policy| policy.resolve(&context)),
        ) else {
            return Ok(());
        };
        let guard = match before.permits(&access).clause {
            Clause::Protected(path) | Clause::HoldsGuarded(path) => path,
            Clause::Sensitive(matcher) | Clause::DenyRead(matcher) => match matcher.path() {
                Some(path) => path.clone(),
                None => return Ok(()),
            },
            _ => return Ok(()),
        };
        if !guard.covers(&granted, PathCase::Sensitive) {
            let verdict = after.permits(&access);
            prop_assert!(!verdict.is_allowed(), "{grant} opened {access:?}: {verdict}");
        }
    }

    #[test]
    fn a_rename_is_a_deletion_and_a_creation(
        policy in any_policy(),
        from in any_path(),
        to in any_path(),
        context in any_context(),
    ) {
        if let Ok(policy) = policy.resolve(&context) {
            let rename = Access::Rename { from: from.clone(), to: to.clone() };
            if policy.permits(&rename).is_allowed() {
                prop_assert!(policy.permits(&Access::Delete(from.clone())).is_allowed());
                prop_assert!(policy.permits(&Access::Create(to)).is_allowed());
                prop_assert!(policy.permits(&Access::Read(from)).is_allowed());
            }
        }
    }

    #[test]
    fn a_rename_uncovers_nothing(
        policy in any_policy(),
        from in any_path(),
        to in any_path(),
        names in prop::collection::vec(prop::sample::select(vec!["a", "b", ".git", ".ssh"]), 0..3),
        context in any_context(),
    ) {
        let Ok(resolved) = policy.resolve(&context) else { return Ok(()) };
        let rename = Access::Rename { from: from.clone(), to: to.clone() };
        if resolved.permits(&rename).is_allowed() {
            let below = |path: &AbsolutePath| {
                AbsolutePath::new(format!("{path}/{}", names.join("/"))).unwrap()
            };
            let reads = |path| resolved.permits(&Access::Read(below(path))).is_allowed();
            prop_assert!(reads(&from) || !reads(&to), "{rename} uncovers {}", below(&to));
        }
    }

    #[test]
    fn an_entry_that_may_go_holds_nothing_guarded(
        policy in any_policy(),
        path in any_path(),
        below in any_path(),
        context in any_context(),
    ) {
        let Ok(resolved) = policy.resolve(&context) else { return Ok(()) };
        let confined = policy.uses_runtime_sandbox();
        let inside = path.covers(&below, PathCase::Sensitive) && path != below;
        if confined && inside && resolved.permits(&Access::Delete(path.clone())).is_allowed() {
            let clause = resolved.permits(&Access::Write(below.clone())).clause;
            let by_glob = |matcher: &palisade_policy::PathMatcher| matcher.is_glob();
            let guarded = match &clause {
                Clause::Protected(_) => true,
                Clause::Sensitive(matcher) | Clause::DenyRead(matcher) | Clause::ReadOnlyPath(matcher) => {
                    // A glob guards by name: what it guards keeps its name wherever its directory goes. A guard above
                    // the entry denies the entry itself.
                    !by_glob(matcher)
                }
                _ => false,
            };
            prop_assert!(!guarded, "{path} may go with {below}: {clause}");
        }
    }

    #[test]
    fn an_empty_allowlist_is_never_open(policy in any_policy(), entry in any_entry()) {
        let asked_for = match &policy {
            CanonicalSandboxPolicy::ReadOnly { network_access, network_allowlist, .. }
            | CanonicalSandboxPolicy::WorkspaceWrite { network_access, network_allowlist, .. } => {
                *network_access && network_allowlist.is_empty()
            }
            _ => true,
        };
        prop_assert_eq!(policy.has_full_network(), asked_for);
        match policy.network() {
            NetworkScope::Only(hosts) => prop_assert!(!hosts.is_empty()),
            NetworkScope::Off | NetworkScope::Full => {}
        }
        // Granting a host to a closed network opens that host and not the network.
        if let Ok(granted) = policy.clone().with_grant(&Grant::Host(entry)) {
            prop_assert_eq!(granted.has_full_network(), policy.has_full_network());
        }
    }

    #[test]
    fn resolving_is_deterministic_and_its_roots_are_disjoint_or_separated(
        policy in any_policy(),
        context in any_context(),
    ) {
        if let Ok(resolved) = policy.resolve(&context) {
            prop_assert_eq!(&policy.resolve(&context).unwrap(), &resolved);
            if resolved.read_only().is_empty() {
                for a in resolved.roots() {
                    for b in resolved.roots() {
                        prop_assert!(a == b || !a.root.covers(&b.root, PathCase::Sensitive));
                    }
                }
            }
        }
    }
}
