//! Reading in the landlock tier: an allow-list, held against the oracle for random policies.

use palisade_linux_landlock::plan::{FsRights, Plan};
use palisade_linux_landlock::{LinuxLandlock, Tier};
use palisade_policy::{
    AbsolutePath, Access, Backend as _, Guarantee, Level, PathRules, Place, Reopened,
};
use proptest::prelude::*;

use crate::files::{Files, Node, abs};
use crate::policies::{
    any_context, any_path, any_policy, context, plan, prepare, spec, with_rules, workspace,
};

/// The rights on a path: those of every rule on it or above it.
fn rights(plan: &Plan, path: &AbsolutePath) -> FsRights {
    let rules = &plan.landlock.as_ref().unwrap().paths;
    rules
        .iter()
        .filter(|rule| path.as_path().starts_with(rule.path.as_path()))
        .fold(FsRights::default(), |all, rule| all | rule.rights)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rules_and_oracle_agree_where_the_report_says_so(
        policy in any_policy(),
        context in any_context(),
        existing in prop::collection::vec(any_path(), 0..12),
    ) {
        let mut files = Files::sample();
        for path in existing {
            files.add(path, Node::Directory);
        }
        let roots = policy.writable_roots(&context.cwd, &context.facts);
        for path in roots {
            if path.as_path().ancestors().all(|above| !files.is_file(above)) {
                files.add(&path, Node::Directory);
            }
        }
        let host = files.kernel(7, false);
        let Ok((policy, host)) = prepare(&policy, &context, &files, host) else { return Ok(()) };
        let Ok(lowered) = LinuxLandlock.lower(&policy, &host) else { return Ok(()) };
        let (plan, report) = plan(lowered);
        prop_assert_eq!(plan.tier, Tier::Landlock);
        let reads_hold = report.level(Guarantee::DeniedReads) == Level::Enforced;
        let protected_holds = report.level(Guarantee::ProtectedPaths) == Level::Enforced;
        for path in files.paths() {
            let rights = rights(&plan, &path);
            let may_read = policy.place(&Access::Read(path.clone())).is_some();
            let may_write = policy.place(&Access::Write(path.clone()));
            if !may_read && reads_hold {
                prop_assert!(!rights.contains(FsRights::READ_FILE), "{path} can be read\n{plan}");
            }
            // A file may be unreadable only above a denied path, where nothing but directories is.
            if may_read && files.is_file(path.as_path()) {
                prop_assert!(rights.contains(FsRights::READ_FILE), "{path} cannot be read\n{plan}");
            }
            let device = path.as_path().starts_with("/dev");
            if may_write.is_none() && protected_holds && !device {
                prop_assert!(!rights.contains(FsRights::WRITE_FILE), "{path} can be written\n{plan}");
            }
            if may_write == Some(Place::Host) {
                prop_assert!(rights.contains(FsRights::WRITE_FILE), "{path} cannot be written\n{plan}");
            }
            prop_assert!(!rights.contains(FsRights::MAKE_CHAR) && !rights.contains(FsRights::MAKE_BLOCK));
        }
    }
}

#[test]
fn next_to_a_path_that_is_open_again_the_denial_stays() {
    let mut files = Files::sample();
    files.add("/home/dev/.ssh/id", Node::File);
    files.add("/home/dev/.ssh/public/inner/key", Node::File);
    files.add("/home/dev/.ssh/public/note", Node::File);
    let rules = PathRules::default()
        .with_deny_read([spec("/home/dev/.ssh/public/inner")])
        .with_reopened([Reopened::read(abs("/home/dev/.ssh/public"))]);
    let (policy, host) = prepare(
        &with_rules(rules),
        &context(1000),
        &files,
        files.kernel(7, false),
    )
    .unwrap();
    let (plan, report) = plan(LinuxLandlock.lower(&policy, &host).unwrap());
    assert_eq!(report.level(Guarantee::DeniedReads), Level::Enforced);
    let readable = |path: &str| rights(&plan, &abs(path)).contains(FsRights::READ_FILE);
    assert!(!readable("/home/dev/.ssh/id"), "{plan}");
    assert!(readable("/home/dev/.ssh/public/note"), "{plan}");
    assert!(!readable("/home/dev/.ssh/public/inner/key"), "{plan}");
    assert!(readable("/home/dev/.profile"), "{plan}");
}

#[test]
fn a_secret_in_a_root_is_a_loss() {
    let files = Files::sample();
    let policy = with_rules(PathRules::default().with_deny_read([spec("/srv/app/.env")]));
    let (policy, host) = prepare(&policy, &context(1000), &files, files.kernel(7, false)).unwrap();
    let (_, report) = plan(LinuxLandlock.lower(&policy, &host).unwrap());
    assert_eq!(report.level(Guarantee::DeniedReads), Level::NotEnforced);
}

#[test]
fn devices_are_granted_one_by_one_also_where_nothing_is_denied() {
    let mut files = Files::sample();
    for secret in [".aws", ".ssh", ".bash_history", ".cargo"] {
        files.remove(&format!("/home/dev/{secret}"));
    }
    let (policy, host) =
        prepare(&workspace(), &context(1000), &files, files.kernel(7, false)).unwrap();
    let (plan, _) = plan(LinuxLandlock.lower(&policy, &host).unwrap());
    assert_eq!(rights(&plan, &abs("/dev/sda")), FsRights::default());
    assert!(rights(&plan, &abs("/dev/null")).contains(FsRights::WRITE_FILE));
    assert!(rights(&plan, &abs("/srv/app/x")).contains(FsRights::READ));
}
