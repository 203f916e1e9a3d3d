//! What is reported as lost, why, and what would help.

use palisade_policy::{
    AcceptedLosses, Backend as _, CanonicalSandboxPolicy, Enforcement, GitAccess, Guarantee, Level,
    NetworkAllowlistEntry, PathRules, Reopened, ResourceLimits, SeccompProfile,
};
use palisade_windows_token::WindowsToken;
use palisade_windows_token::acl::Rights;
use palisade_windows_token::host::{Matches, Residue, SecondNames};

use crate::world::{Node, World, abs, native, root, spec, with_rules, workspace};

/// What no restricted token keeps.
const ALWAYS_LOST: [Guarantee; 6] = [
    Guarantee::WritesOutside,
    Guarantee::DeniedReads,
    Guarantee::MetadataOutside,
    Guarantee::UnixSockets,
    Guarantee::ProcessIsolation,
    Guarantee::SystemCalls,
];

fn said(report: &Enforcement, guarantee: Guarantee) -> (Level, String, String) {
    let measure = report.measure(guarantee).unwrap();
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    (measure.level, text(&measure.why), text(&measure.cure))
}

#[test]
fn every_guarantee_is_spoken_of() {
    let (_, report) = World::sample().plan(&workspace());
    for guarantee in Guarantee::ALL {
        let measure = report.measure(guarantee).unwrap();
        let lost = measure.level < Level::Enforced;
        assert_eq!(lost, measure.why.is_some(), "{guarantee}");
        let expected = ALWAYS_LOST.contains(&guarantee)
            || matches!(guarantee, Guarantee::Network | Guarantee::NetworkHosts);
        assert_eq!(lost, expected, "{guarantee}: {measure:?}");
    }
}

/// Whoever wants to run all the same can copy the lines.
#[test]
fn a_refusal_says_how_each_loss_is_accepted() {
    let lowered = || World::sample().lower(&workspace()).unwrap();
    let refusal = lowered().admit(&AcceptedLosses::none()).unwrap_err();
    let text = refusal.to_string();
    let lines: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split_once("--accept-loss "))
        .map(|(_, name)| name)
        .collect();
    assert_eq!(
        lines,
        [
            "writes-outside",
            "denied-reads",
            "metadata-outside",
            "network",
            "unix-sockets",
            "process-isolation",
            "system-calls"
        ]
    );
    let accepted: AcceptedLosses = lines.iter().map(|name| name.parse().unwrap()).collect();
    assert!(lowered().admit(&accepted).is_ok());
    // One less, and it is refused for that one.
    for left_out in &lines {
        let fewer = lines.iter().filter(|name| *name != left_out);
        let accepted = fewer.map(|name| name.parse().unwrap()).collect();
        let refusal = lowered().admit(&accepted).unwrap_err();
        assert_eq!(refusal.losses.len(), 1);
        assert_eq!(refusal.losses[0].guarantee.name(), *left_out);
    }
}

#[test]
fn the_network_is_open_whatever_is_asked_for() {
    let listed = NetworkAllowlistEntry::with_port("crates.io", 443).unwrap();
    let only = CanonicalSandboxPolicy::workspace_write_with_network([root("/srv/app")], [listed]);
    for policy in [workspace(), only, CanonicalSandboxPolicy::read_only()] {
        let (_, report) = World::sample().plan(&policy);
        for guarantee in [Guarantee::Network, Guarantee::NetworkHosts] {
            let (level, why, cure) = said(&report, guarantee);
            assert_eq!(level, Level::NotEnforced);
            assert!(
                why.contains("sockets") && cure.contains("AppContainer"),
                "{why}: {cure}"
            );
        }
    }
    let full = CanonicalSandboxPolicy::workspace_write_full(
        [root("/srv/app")],
        [],
        None,
        ResourceLimits::moderate(),
        SeccompProfile::strict().with_network(),
    );
    let refusal = World::sample()
        .lower(&full)
        .unwrap()
        .admit(&ALWAYS_LOST.into_iter().collect());
    assert!(refusal.is_ok(), "an open network is no loss");
}

#[test]
fn a_protected_path_that_is_missing_is_named_with_its_cure() {
    let mut world = World::sample();
    world.remove("/srv/app/.git");
    let (_, report) = world.plan(&workspace());
    let (level, why, cure) = said(&report, Guarantee::ProtectedPaths);
    let git = native("/srv/app/.git");
    assert_eq!(level, Level::NotEnforced);
    assert_eq!(
        why,
        format!("{git} does not exist, and what does not exist has no access list")
    );
    assert_eq!(cure, format!("create {git}"));
    world.remove("/srv/app/.vscode");
    let (_, report) = world.plan(&workspace());
    let (_, why, _) = said(&report, Guarantee::ProtectedPaths);
    assert!(why.ends_with("(and 1 more)"), "{why}");
    assert!(report.notes().iter().any(|note| note.contains(".vscode")));
}

/// A grant is a workspace of its own: what it protects may be missing there.
#[test]
fn what_a_grant_protects_is_missed_as_well() {
    let rules = PathRules::default()
        .with_protected([])
        .with_read_only([spec("/srv/app")])
        .with_reopened([Reopened::write(abs("/srv/app/src"))]);
    let (_, report) = World::sample().plan(&with_rules(rules));
    let (level, why, _) = said(&report, Guarantee::ProtectedPaths);
    assert_eq!(level, Level::NotEnforced);
    assert!(why.contains(&native("/srv/app/src/.git")), "{why}");
}

/// What is missing outside the places cannot be made either.
#[test]
fn missing_secrets_outside_are_no_loss() {
    let mut world = World::sample();
    world.remove("/home/dev/.ssh");
    let (_, report) = world.plan(&workspace());
    assert_eq!(report.level(Guarantee::ProtectedPaths), Level::Enforced);
}

/// What is missing below something closed cannot be made.
#[test]
fn missing_paths_below_closed_ones_are_no_loss() {
    let rules = PathRules::default().with_read_only([spec("src"), spec("/srv/app/src/none")]);
    let (_, report) = World::sample().plan(&with_rules(rules));
    assert_eq!(report.level(Guarantee::ProtectedPaths), Level::Enforced);
}

#[test]
fn a_link_to_something_protected_is_a_loss() {
    let mut world = World::sample();
    world.add("/srv/app/.git", Node::Link("/srv/other"));
    let (_, report) = world.plan(&workspace());
    let (level, why, _) = said(&report, Guarantee::ProtectedPaths);
    assert_eq!(level, Level::NotEnforced);
    assert!(why.contains("the link can be replaced"), "{why}");
}

#[test]
fn a_list_of_somebody_else_keeps_nothing() {
    let mut world = World::sample();
    world.add("/srv/app/.git", Node::Foreign);
    let (_, report) = world.plan(&workspace());
    let (level, why, cure) = said(&report, Guarantee::ProtectedPaths);
    assert_eq!(level, Level::NotEnforced);
    assert!(
        why.contains("cannot be changed") && cure.contains("owner"),
        "{why}: {cure}"
    );
}

/// On a host where somebody tried, and the second check asks about every right.
#[test]
fn deletion_outside_is_lost_unless_it_was_seen_to_be_refused() {
    let world = World::sample();
    let reported = |seen| {
        let (policy, mut host) = world.prepare(&workspace(), world.host()).unwrap();
        host.second_check = seen;
        let lowered = WindowsToken.lower(&policy, &host).unwrap();
        said(lowered.enforcement(), Guarantee::WritesOutside)
    };
    for seen in [
        None,
        Some(Rights::NONE),
        Some(Rights::CHANGES & !Rights::DELETE_CHILD),
    ] {
        let (level, why, cure) = reported(seen);
        assert_eq!(level, Level::NotEnforced);
        assert!(
            why.contains("deleted") && cure.contains("AppContainer"),
            "{why}: {cure}"
        );
    }
    assert_eq!(reported(Some(Rights::CHANGES)).0, Level::Enforced);
}

#[test]
fn volumes_without_lists_are_open() {
    let world = World::sample();
    let mut host = world.host();
    host.volumes_without_acls = vec![abs("/mnt/stick")];
    let (policy, host) = world.prepare(&workspace(), host).unwrap();
    let lowered = WindowsToken.lower(&policy, &host).unwrap();
    let (level, why, cure) = said(lowered.enforcement(), Guarantee::WritesOutside);
    assert_eq!(level, Level::NotEnforced);
    assert!(
        why.contains(&native("/mnt/stick")) && cure.contains("NTFS"),
        "{why}: {cure}"
    );
    // A root on such a volume: nothing can be said there at all.
    let mut world = World::sample();
    world.add("/srv/app", Node::Bare);
    world.add("/srv/app/.git", Node::Bare);
    let (plan, report) = world.plan(&workspace());
    assert!(crate::world::added(&plan, "/srv/app").is_empty());
    assert_eq!(report.level(Guarantee::WritesOutside), Level::NotEnforced);
    assert_eq!(report.level(Guarantee::ProtectedPaths), Level::NotEnforced);
}

#[test]
fn objects_without_a_list_and_second_names_are_open() {
    let world = World::sample();
    let reported = |change: &dyn Fn(&mut palisade_windows_token::WindowsHost)| {
        let (policy, mut host) = world.prepare(&workspace(), world.host()).unwrap();
        change(&mut host);
        let lowered = WindowsToken.lower(&policy, &host).unwrap();
        lowered.enforcement().clone()
    };
    let report = reported(&|host| host.null_dacls = vec![abs("/srv/app/docs")]);
    assert_eq!(report.level(Guarantee::WritesOutside), Level::NotEnforced);
    let report = reported(&|host| {
        host.second_names = SecondNames::Found {
            count: 2,
            example: abs("/srv/app/docs/a"),
        };
    });
    let (level, why, _) = said(&report, Guarantee::WritesOutside);
    assert_eq!(level, Level::NotEnforced);
    assert!(
        why.starts_with("2 files") && why.contains(&native("/srv/app/docs/a")),
        "{why}"
    );
    let report = reported(&|host| host.second_names = SecondNames::Unknown);
    assert!(
        report
            .notes()
            .iter()
            .any(|note| note.contains("second name"))
    );
}

#[test]
fn patterns_that_keep_paths_read_only_do_not_keep_later_ones() {
    let rules = PathRules::default().with_read_only([spec("**/*.lock")]);
    let (_, report) = World::sample().plan(&with_rules(rules));
    let (level, why, cure) = said(&report, Guarantee::ProtectedPaths);
    assert_eq!(level, Level::NotEnforced);
    assert!(why.contains("what matches later"), "{why}");
    assert!(cure.contains("name the paths"), "{cure}");
}

#[test]
fn a_survey_that_gave_up_is_a_loss() {
    let rules = PathRules::default().with_deny_read([spec("**/.env")]);
    let world = World::sample();
    let (policy, mut host) = world.prepare(&with_rules(rules), world.host()).unwrap();
    for matches in host.matches.values_mut() {
        let mut cut = Matches::all(matches.found.clone());
        cut.truncated = true;
        *matches = cut;
    }
    let lowered = WindowsToken.lower(&policy, &host).unwrap();
    let level = lowered.enforcement().level(Guarantee::ProtectedPaths);
    assert_eq!(level, Level::NotEnforced);
}

#[test]
fn commits_do_not_come_back() {
    let commit = PathRules::default().with_git(GitAccess::Commit);
    let (_, report) = World::sample().plan(&with_rules(commit));
    assert_eq!(report.level(Guarantee::GitImport), Level::NotEnforced);
}

/// Whoever makes an object gives it a list, and its own entries are read before those that it inherits.
#[test]
fn what_an_earlier_command_opened_for_itself_is_not_called_protected() {
    let world = World::sample();
    let reported = |residue: Residue| {
        let mut host = world.host();
        host.residue = residue;
        let (policy, host) = world.prepare(&workspace(), host).unwrap();
        let report = WindowsToken.lower(&policy, &host).unwrap();
        said(report.enforcement(), Guarantee::ProtectedPaths)
    };
    assert_eq!(reported(Residue::None).0, Level::Enforced);
    let (level, why, cure) = reported(Residue::Found {
        count: 2,
        example: abs("/srv/app/.git/hooks"),
    });
    assert_eq!(level, Level::NotEnforced);
    assert!(why.contains(&native("/srv/app/.git/hooks")), "{why}");
    assert!(cure.contains("icacls"), "{cure}");
    let (level, why, _) = reported(Residue::Unknown);
    assert_eq!(level, Level::NotEnforced);
    assert!(why.contains("not everything"), "{why}");
}

/// A second name can be made by an earlier command, so that nobody looked is not that there is none.
#[test]
fn a_second_name_that_nobody_looked_for_is_a_loss() {
    let world = World::sample();
    let reported = |names: SecondNames| {
        let mut host = world.host();
        host.second_check = Some(Rights::CHANGES);
        host.second_names = names;
        let (policy, host) = world.prepare(&workspace(), host).unwrap();
        let report = WindowsToken.lower(&policy, &host).unwrap();
        said(report.enforcement(), Guarantee::WritesOutside)
    };
    assert_eq!(reported(SecondNames::None).0, Level::Enforced);
    let (level, why, _) = reported(SecondNames::Unknown);
    assert_eq!(level, Level::NotEnforced);
    assert!(why.contains("second name"), "{why}");
}
