//! Whether the properties would notice: plans with something wrong in them, each of which lets something through.

use palisade_policy::{
    CanonicalSandboxPolicy, Guarantee, Level, PathRules, RelativePath, Reopened,
};
use palisade_windows_token::acl::{Ace, AceKind, Rights};
use palisade_windows_token::model::{Kind, Token};
use palisade_windows_token::plan::Purpose;
use palisade_windows_token::{Plan, Sid};
use proptest::prelude::*;

use crate::attacks::everything;
use crate::properties::{first_capability, objection};
use crate::support::{abs, allow, attempt, capability, deny, user};
use crate::world::{Own, World, context, node, root, spec};

/// A workspace in which everything that a policy can say is said, and a host that makes it count: the user controls
/// everything in full, somebody opened a directory to everybody, and an earlier command gave itself what it could.
fn scene(second_check: Option<Rights>) -> World {
    let rules = PathRules::default()
        .with_protected([".git", "pkg/.vscode"].map(|name| RelativePath::new(name).unwrap()))
        .with_read_only([spec("/srv/app/docs")])
        .with_reopened([Reopened::write(abs("/srv/app/.git/hooks"))]);
    let policy =
        CanonicalSandboxPolicy::workspace_write_with_sensitive_paths([root("/srv/app")], [])
            .with_paths(rules);
    let nodes = [
        node("/srv/app/.git/config", Kind::File, Own::Nothing),
        node("/srv/app/.git/hooks", Kind::Directory, Own::Nothing),
        node("/srv/app/.git/hooks/.git", Kind::Directory, Own::Nothing),
        node(
            "/srv/app/.git/hooks/pkg/.vscode",
            Kind::Directory,
            Own::Nothing,
        ),
        node("/srv/app/pkg/.vscode", Kind::Directory, Own::Residue),
        node("/srv/app/pkg/.vscode/a", Kind::File, Own::Nothing),
        node("/srv/app/docs", Kind::Directory, Own::Residue),
        node("/srv/app/docs/a", Kind::File, Own::Nothing),
        node("/srv/app/a", Kind::File, Own::Nothing),
        node("/srv/share", Kind::Directory, Own::EveryoneFull),
        node("/home/dev/a", Kind::File, Own::Nothing),
    ];
    let world = World::new(&policy, &context("/srv/app"), &nodes, second_check).unwrap();
    let level = world.report.level(Guarantee::ProtectedPaths);
    assert_eq!(level, Level::Enforced, "{}", world.report);
    world
}

/// The first thing that goes wrong with a plan, in one step.
fn goes_wrong(world: &World, plan: &Plan) -> Option<String> {
    let started = world.start(plan).unwrap();
    let switches = world.switches(plan);
    everything(&started.files, &first_capability(world))
        .iter()
        .filter(|operation| !world.breaches(operation, &started.files).is_empty())
        .find_map(|operation| {
            switches.iter().find_map(|switches| {
                let tried = operation.attempt(&started.files, &started.token, *switches);
                tried.ok()?;
                objection(world, operation, &started.files, &started.token, *switches)
            })
        })
}

fn both() -> [World; 2] {
    [scene(None), scene(Some(Rights::CHANGES))]
}

#[test]
fn nothing_is_wrong_with_the_plan() {
    for world in both() {
        assert!(!world.switches(&world.plan).is_empty());
        assert_eq!(goes_wrong(&world, &world.plan), None);
    }
}

fn with(world: &World, how: impl FnOnce(&mut Plan)) -> Option<String> {
    let mut plan = world.plan.clone();
    how(&mut plan);
    assert_ne!(plan, world.plan);
    goes_wrong(world, &plan)
}

#[test]
fn everyone_among_the_restricting_identifiers_is_noticed() {
    for world in both() {
        let said = with(&world, |plan| plan.token.restricting.push(Sid::everyone()));
        assert!(said.is_some_and(|said| said.contains("writes-outside")));
    }
}

#[test]
fn the_user_among_the_restricting_identifiers_is_noticed() {
    // Such a token is refused before it is used; if it were not, everything would be open.
    for world in both() {
        let mut plan = world.plan.clone();
        plan.token.restricting.push(user());
        assert!(world.switches(&plan).is_empty());
        let started = world.start(&plan).unwrap();
        let outside = palisade_windows_token::model::Operation::Write(abs("/home/dev/a"));
        assert!(attempt(&started.files, &started.token, &outside));
    }
}

#[test]
fn a_token_that_is_not_restricted_is_never_used() {
    for world in both() {
        let mut plan = world.plan.clone();
        plan.token.restricting.clear();
        plan.token.write_restricted = false;
        assert!(world.switches(&plan).is_empty());
        let mut plan = world.plan.clone();
        plan.token.disable_max_privilege = false;
        plan.token.delete_privileges.clear();
        assert!(
            world.switches(&plan).is_empty(),
            "privileges override lists"
        );
        assert!(
            !Token::of_plan(&plan.token, &world.host)
                .privileges
                .is_empty()
        );
    }
}

/// Every denial is needed: without it something can be done. Where an object denies the same to several capabilities, any
/// of them is enough, because a token that has one has them all.
#[test]
fn every_denial_is_needed() {
    for world in both() {
        let mut denials: Vec<(usize, Rights)> = Vec::new();
        for (at, edit) in world.plan.acl_edits.iter().enumerate() {
            for ace in edit.add.iter().filter(|ace| ace.kind == AceKind::Deny) {
                if !denials.contains(&(at, ace.rights)) {
                    denials.push((at, ace.rights));
                }
            }
        }
        assert!(denials.len() >= 10, "{}", world.plan);
        for (at, rights) in denials {
            let said = with(&world, |plan| {
                // What is kept open stays without any entry; either half alone must do.
                plan.hold.clear();
                let denied = |ace: &Ace| ace.kind == AceKind::Deny && ace.rights == rights;
                plan.acl_edits[at].add.retain(|ace| !denied(ace));
            });
            let path = &world.plan.acl_edits[at].path;
            // Where the second check sees the removal of children, and no capability has it, its denial only doubles.
            let doubled = world.host.second_check.is_some() && rights == Rights::DELETE_CHILD;
            assert!(said.is_some() || doubled, "{path} {rights}\n{}", world.plan);
        }
    }
}

/// A check that no Windows passes keeps everything out, the command included: as published, the removal of children is not
/// asked about, so the user must not have it where the token is tried, unless that is what is tried.
#[test]
fn the_self_check_passes_where_windows_is_as_published() {
    use palisade_windows_token::model::{Switches, WriteType};
    let passes = |world: &World, write_type| {
        let switches = Switches::PUBLISHED.with_write_type(write_type);
        world.switches(&world.plan).contains(&switches)
    };
    let [usual, seen] = both();
    assert!(passes(&usual, WriteType::Wide) && passes(&usual, WriteType::Widest));
    assert!(!passes(&seen, WriteType::Wide) && passes(&seen, WriteType::Widest));
    assert!(
        !passes(&usual, WriteType::Narrow),
        "then lists can be changed"
    );
}

/// A root denies its own removal, but the directory above it is the user's: with the root everything protected in it would
/// be gone from its path, and a name outside could be written.
#[test]
fn a_root_that_is_not_kept_open_can_be_moved() {
    use palisade_windows_token::model::{Failed, Operation, Switches};
    let world = scene(None);
    let to = abs("/srv/elsewhere");
    let from = abs("/srv/app");
    let moved = Operation::Rename {
        from: from.clone(),
        to,
    };
    let tried = |plan: &Plan| {
        let started = world.start(plan).unwrap();
        moved.attempt(&started.files, &started.token, Switches::PUBLISHED)
    };
    assert_eq!(tried(&world.plan), Err(Failed::Held(from)));
    let mut plan = world.plan.clone();
    plan.hold.clear();
    assert_eq!(tried(&plan), Ok(()));
}

/// Every right that a guard denies is needed, where an earlier command gave itself that right.
#[test]
fn every_right_of_a_guard_is_needed() {
    for world in both() {
        for bit in 0..u32::BITS {
            let right = Rights(1 << bit);
            // What removes children is denied by an entry of its own.
            if !Rights::CHANGES.contains(right) || right == Rights::DELETE_CHILD {
                continue;
            }
            let said = with(&world, |plan| {
                for edit in &mut plan.acl_edits {
                    let guards = edit.add.iter_mut();
                    for ace in guards.filter(|ace| ace.rights == Rights::CHANGES) {
                        ace.rights = Rights::CHANGES & !right;
                    }
                }
            });
            // Extended attributes are not modelled as an operation.
            assert_eq!(said.is_some(), right != Rights::WRITE_EA, "{right}");
        }
    }
}

#[test]
fn the_removal_of_children_in_a_permission_is_noticed() {
    for world in both() {
        let said = with(&world, |plan| {
            for edit in &mut plan.acl_edits {
                edit.add.retain(|ace| ace.rights != Rights::DELETE_CHILD);
                for ace in edit.add.iter_mut().filter(|ace| ace.kind == AceKind::Allow) {
                    ace.rights = ace.rights | Rights::DELETE_CHILD;
                }
            }
        });
        assert!(said.is_some_and(|said| said.contains("protected-paths")));
    }
}

/// A builder that puts permissions first.
#[test]
fn permissions_before_denials_are_noticed() {
    for world in both() {
        let swapped = with(&world, |plan| {
            for edit in &mut plan.acl_edits {
                if edit.purpose == Purpose::Protected {
                    let capability = capability(1);
                    let open = allow(Rights::WRITABLE_ROOT, capability.clone());
                    // The same as a list whose denial comes second: a denial that nobody sees.
                    edit.add.retain(|ace| ace.sid != capability);
                    edit.add.push(open);
                }
            }
        });
        assert!(swapped.is_some());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// One more denial, anywhere in a list, never allows more.
    #[test]
    fn a_denial_never_allows_more(
        entries in prop::collection::vec((any::<bool>(), 0..4_u32, any::<u32>()), 0..6),
        extra in (0..4_u32, any::<u32>()),
        at in any::<prop::sample::Index>(),
        asked in any::<u32>(),
    ) {
        use palisade_windows_token::model::{Descriptor, Switches, check};
        let sids = [user(), capability(1), Sid::everyone(), Sid::owner_rights()];
        let rights = |bits: u32| Rights(bits & Rights::FILE_ALL.0);
        let entry = |(allows, whom, bits): &(bool, u32, u32)| {
            let sid = sids[*whom as usize].clone();
            if *allows { allow(rights(*bits), sid) } else { deny(rights(*bits), sid) }
        };
        let before: Vec<_> = entries.iter().map(entry).collect();
        let mut after = before.clone();
        after.insert(at.index(before.len() + 1), deny(rights(extra.1), sids[extra.0 as usize].clone()));
        let token = Token::of(user(), [Sid::everyone()]).restricted([capability(1)], true);
        for switches in Switches::all() {
            let may = |entries: &[_]| {
                let object = Descriptor::new(user(), entries.to_vec());
                check(&token, &object, rights(asked), switches).is_ok()
            };
            prop_assert!(may(&before) || !may(&after));
        }
    }
}
