//! The entries of access lists: who may write where, what is closed inside, and what must stay in its place.

use palisade_policy::{CanonicalSandboxPolicy, GitAccess, PathRules, RelativePath, Reopened};
use palisade_windows_token::Sid;
use palisade_windows_token::acl::{Ace, AceFlags, AceKind, Rights};
use palisade_windows_token::plan::Purpose;

use crate::world::{Node, TMP, World, abs, added, logon, root, spec, with_rules, workspace};

/// The capability that the survey of these tests gave to the n-th place.
fn capability(n: u32) -> Sid {
    Sid::capability([7, 7, 7, n])
}

const APP: u32 = 1;

fn opens(n: u32) -> Ace {
    Ace::new(AceKind::Allow, Rights::WRITABLE_ROOT, capability(n)).with_flags(AceFlags::TREE)
}

fn closes(n: u32) -> Ace {
    Ace::new(AceKind::Deny, Rights::CHANGES, capability(n)).with_flags(AceFlags::TREE)
}

fn pins(n: u32) -> Ace {
    Ace::new(AceKind::Deny, Rights::DELETE, capability(n))
}

/// No child is removed by leave of the directory, which only the first check asks about.
fn keeps() -> Ace {
    Ace::new(AceKind::Deny, Rights::DELETE_CHILD, logon())
}

fn keeps_below() -> Ace {
    keeps().with_flags(AceFlags::CONTAINER_INHERIT)
}

fn on_a_file(ace: Ace) -> Ace {
    ace.with_flags(AceFlags::NONE)
}

#[test]
fn a_root_is_opened_and_stays_where_it_is() {
    let (plan, _) = World::sample().plan(&workspace());
    assert_eq!(added(&plan, "/srv/app"), [pins(APP), keeps(), opens(APP)]);
    assert_eq!(added(&plan, TMP), [pins(2), opens(2)]);
}

#[test]
fn what_is_protected_is_closed_for_every_change() {
    let (plan, _) = World::sample().plan(&workspace());
    for name in PathRules::DEFAULT_PROTECTED {
        assert_eq!(
            added(&plan, &format!("/srv/app/{name}")),
            [closes(APP), keeps_below()],
            "{name}"
        );
    }
    // Outside the places nothing is opened, so nothing is touched.
    assert_eq!(added(&plan, "/home/dev/.ssh"), []);
    for edit in &plan.acl_edits {
        for ace in &edit.add {
            assert!(!ace.flags.contains(AceFlags::INHERITED));
            match ace.kind {
                AceKind::Allow => {
                    let never = Rights::DELETE_CHILD | Rights::WRITE_DAC | Rights::WRITE_OWNER;
                    assert!(!ace.rights.intersects(never), "{ace}");
                }
                AceKind::Deny => assert!(Rights::CHANGES.contains(ace.rights), "{ace}"),
            }
            let keeps = ace.rights == Rights::DELETE_CHILD && ace.sid == logon();
            assert!(ace.sid.looks_like_capability() || keeps, "{ace}");
        }
    }
}

#[test]
fn everything_is_closed_before_anything_is_opened() {
    let (plan, _) = World::sample().plan(&workspace());
    let opens = |purpose| matches!(purpose, Purpose::WritableRoot | Purpose::Private);
    let purposes: Vec<bool> = plan
        .acl_edits
        .iter()
        .map(|edit| opens(edit.purpose))
        .collect();
    assert!(purposes.is_sorted(), "{plan}");
}

#[test]
fn directories_above_something_protected_stay() {
    let rules = PathRules::default().with_protected([RelativePath::new("src/deep").unwrap()]);
    let (plan, _) = World::sample().plan(&with_rules(rules));
    assert_eq!(
        added(&plan, "/srv/app/src/deep"),
        [closes(APP), keeps_below()]
    );
    assert_eq!(added(&plan, "/srv/app/src"), [pins(APP), keeps()]);
    assert_eq!(added(&plan, "/srv/app"), [pins(APP), keeps(), opens(APP)]);
}

/// Also while what is protected does not exist: what is there of the way to it must not be replaced.
#[test]
fn directories_above_something_missing_stay() {
    let rules = PathRules::default().with_protected([RelativePath::new("src/none/more").unwrap()]);
    let (plan, _) = World::sample().plan(&with_rules(rules));
    assert_eq!(added(&plan, "/srv/app/src"), [pins(APP)]);
    assert_eq!(added(&plan, "/srv/app/src/none"), []);
    assert_eq!(added(&plan, "/srv/app/src/none/more"), []);
}

#[test]
fn a_grant_inside_something_closed_is_opened_by_its_own_capability() {
    let rules = PathRules::default()
        .with_read_only([spec("src")])
        .with_reopened([Reopened::write(abs("/srv/app/src/deep"))]);
    let (plan, _) = World::sample().plan(&with_rules(rules));
    assert_eq!(added(&plan, "/srv/app/src"), [closes(APP), keeps_below()]);
    // The denial that is inherited from above comes behind the entry of the directory itself.
    let deep = added(&plan, "/srv/app/src/deep");
    assert_eq!(deep.last().unwrap().kind, AceKind::Allow);
    let inner = deep.last().unwrap().sid.clone();
    assert_ne!(inner, capability(APP));
    assert!(plan.token.restricting.contains(&inner));
}

#[test]
fn a_file_that_is_granted_is_written_and_not_removed() {
    let mut world = World::sample();
    world.add("/srv/other/file", Node::File);
    let rules = PathRules::default().with_reopened([Reopened::write(abs("/srv/other/file"))]);
    let (plan, _) = world.plan(&with_rules(rules));
    let entries = added(&plan, "/srv/other/file");
    let sid = entries[0].sid.clone();
    let with = |kind, rights| Ace::new(kind, rights, sid.clone());
    assert_eq!(
        entries,
        [
            with(AceKind::Deny, Rights::DELETE),
            with(AceKind::Allow, Rights::WRITABLE_ROOT)
        ]
    );
}

/// Every capability that could allow something there is denied it.
#[test]
fn something_protected_in_two_places_is_closed_for_both() {
    let rules = PathRules::default()
        .with_protected([])
        .with_read_only([spec("src"), spec("/srv/app/src/deep/.env")])
        .with_reopened([Reopened::write(abs("/srv/app/src/deep"))]);
    let (plan, _) = World::sample().plan(&with_rules(rules));
    let inner = plan
        .acl_edits
        .iter()
        .find(|edit| edit.path == abs("/srv/app/src/deep") && edit.purpose == Purpose::WritableRoot)
        .unwrap()
        .add[0]
        .sid
        .clone();
    let closed = added(&plan, "/srv/app/src/deep/.env");
    assert_eq!(closed.len(), 2, "{plan}");
    for sid in [capability(APP), inner] {
        let ace = on_a_file(Ace::new(AceKind::Deny, Rights::CHANGES, sid));
        assert!(closed.contains(&ace), "{ace}");
    }
}

/// What a directory above denies already is inherited; a second entry would say nothing.
#[test]
fn nothing_is_said_twice() {
    let rules = PathRules::default().with_read_only([spec("src"), spec("/srv/app/src/deep")]);
    let (plan, _) = World::sample().plan(&with_rules(rules));
    assert_eq!(added(&plan, "/srv/app/src"), [closes(APP), keeps_below()]);
    assert_eq!(added(&plan, "/srv/app/src/deep"), []);
}

#[test]
fn what_a_pattern_matches_now_is_closed() {
    let rules = PathRules::default().with_deny_read([spec("**/.env")]);
    let (plan, report) = World::sample().plan(&with_rules(rules));
    for path in ["/srv/app/.env", "/srv/app/src/deep/.env"] {
        assert_eq!(added(&plan, path), [on_a_file(closes(APP))], "{path}");
    }
    // The directory may go, but nothing goes by its leave alone.
    assert_eq!(added(&plan, "/srv/app/src/deep"), [keeps()]);
    let later = "what matches later is neither prevented nor reported";
    assert!(report.to_string().contains(later), "{report}");
}

/// A secret that is blocked, and a part of it that is not.
#[test]
fn a_guard_that_is_lifted_further_in_is_opened_again() {
    use palisade_policy::SensitivePath;
    let mut lifted = SensitivePath::blocking(spec("/srv/app/src/deep"));
    lifted.block_read = false;
    lifted.block_write = false;
    let policy = CanonicalSandboxPolicy::workspace_write_with_sensitive_paths(
        [root("/srv/app")],
        [SensitivePath::blocking(spec("/srv/app/src")), lifted],
    );
    let (plan, _) = World::sample().plan(&policy);
    assert_eq!(added(&plan, "/srv/app/src"), [closes(APP), keeps_below()]);
    // It stays where it is: under another name it would be something new in a directory that is closed.
    assert_eq!(added(&plan, "/srv/app/src/deep"), [pins(APP), opens(APP)]);
}

#[test]
fn a_read_only_policy_opens_nothing_but_what_is_its_own() {
    let (plan, _) = World::sample().plan(&CanonicalSandboxPolicy::read_only());
    let paths: Vec<_> = plan
        .acl_edits
        .iter()
        .map(|edit| edit.path.clone())
        .collect();
    assert_eq!(paths, [abs(TMP), abs(TMP)]);
}

#[test]
fn git_is_protected_also_where_commits_are_asked_for() {
    let commit = PathRules::default().with_git(GitAccess::Commit);
    let (plan, _) = World::sample().plan(&with_rules(commit));
    assert_eq!(added(&plan, "/srv/app/.git"), [closes(APP), keeps_below()]);
    let full = PathRules::default().with_git(GitAccess::Full);
    let (plan, _) = World::sample().plan(&with_rules(full));
    assert_eq!(added(&plan, "/srv/app/.git"), []);
}

/// A secret elsewhere that is really in the workspace: it is closed there, and the way to it stays.
#[test]
fn a_guard_is_where_its_path_leads_to() {
    let mut world = World::sample();
    world.add("/srv/app/src/keys", Node::Directory);
    world.add("/home/dev/.ssh", Node::Link("/srv/app/src/keys"));
    let (plan, _) = world.plan(&workspace());
    assert_eq!(
        added(&plan, "/srv/app/src/keys"),
        [closes(APP), keeps_below()]
    );
    assert_eq!(added(&plan, "/srv/app/src"), [pins(APP), keeps()]);
}
