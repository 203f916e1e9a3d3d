//! The mounts of every plan against the oracle: what it denies is out of reach, what it allows works, and what holds a
//! guarded path stays where it is.

use palisade_linux_landlock::plan::model::{View, is_mount_point, view};
use palisade_linux_landlock::{LinuxLandlock, Plan};
use palisade_policy::{
    AbsolutePath, Access, Backend as _, CanonicalSandboxPolicy, Clause, Guarantee, Level, Place,
    PolicyContext, ResolvedPolicy,
};
use proptest::prelude::*;

use crate::files::{Files, Node};
use crate::policies::{any_context, any_path, any_policy, plan, prepare};

/// Whether a glob speaks about a path: what does not exist yet is not guarded by a mount.
fn under_a_glob(policy: &ResolvedPolicy, path: &AbsolutePath) -> bool {
    let case = policy.context().facts.case;
    let guards = policy.guards().iter().map(|guard| &guard.matcher);
    guards
        .chain(policy.read_only())
        .any(|matcher| matcher.is_glob() && matcher.specificity(path, case).is_some())
}

/// What must exist for the policy to be lowered.
fn writable(policy: &CanonicalSandboxPolicy, context: &PolicyContext) -> Vec<AbsolutePath> {
    let (rules, _) = policy.rules().unwrap();
    let granted = rules.reopened.iter().filter(|grant| grant.write);
    let mut paths = policy.writable_roots(&context.cwd, &context.facts);
    paths.extend(granted.map(|grant| grant.path.clone()));
    paths
}

/// Compares what the mounts make of a path with what the oracle says about it.
fn compare(
    policy: &ResolvedPolicy,
    plan: &Plan,
    files: &Files,
    path: &AbsolutePath,
    git_is_lost: bool,
) -> Result<(), TestCaseError> {
    let seen = view(plan, path);
    // A git directory that is no repository is read-only, whatever the oracle hopes for; the report says so.
    let in_git = path
        .as_path()
        .components()
        .any(|name| name.as_os_str() == ".git");
    let git_is_lost = git_is_lost && in_git;
    let read = policy.place(&Access::Read(path.clone()));
    let write = policy.place(&Access::Write(path.clone()));
    let exists = files.exists(path);
    let say = |what: &str| {
        format!("{path}: {what}: seen {seen:?}, read {read:?}, write {write:?}\n{plan}")
    };
    let below_a_file = path
        .as_path()
        .ancestors()
        .skip(1)
        .any(|above| files.is_file(above));
    if below_a_file || (!exists && under_a_glob(policy, path)) {
        return Ok(());
    }

    // What is denied.
    if exists && read.is_none() {
        prop_assert!(!seen.shows_the_host(), "{}", say("a denied path is shown"));
    }
    if write != Some(Place::Host) {
        prop_assert!(
            seen != View::HostWritable,
            "{}",
            say("the host's file is written")
        );
    }
    if exists && read == Some(Place::Private) && write != Some(Place::Host) {
        let private = matches!(
            seen,
            View::Fresh | View::Sealed | View::Layer | View::LayerReadOnly | View::Hidden
        );
        // A layer that nobody can write to shows what is under it.
        let fresh = ["/tmp", "/dev/shm"]
            .iter()
            .any(|fresh| path.as_path().starts_with(fresh));
        let unwritten = seen == View::HostReadOnly && write.is_none() && !fresh;
        prop_assert!(
            private || unwritten || git_is_lost,
            "{}",
            say("a private place shows the host")
        );
    }

    // What is allowed.
    // Sockets are masked, and the directories of sockets and devices are the session's own.
    let hidden_for_all = files.is_socket(path)
        || ["/run", "/dev"]
            .iter()
            .any(|hidden| path.as_path().starts_with(hidden));
    if exists && read == Some(Place::Host) && !hidden_for_all {
        prop_assert!(
            seen.shows_the_host(),
            "{}",
            say("a readable path is hidden")
        );
    }
    // A write grant on a private place reads one thing and writes another, by the oracle: the plan keeps to the stricter.
    if exists && write == Some(Place::Host) && read == Some(Place::Host) {
        prop_assert!(
            seen == View::HostWritable,
            "{}",
            say("a writable path is not")
        );
    }
    // A private place that is denied as a whole has no layer, so what is open again below it stays hidden.
    if exists && write == Some(Place::Private) && !git_is_lost && seen != View::Hidden {
        prop_assert!(
            matches!(seen, View::Fresh | View::Layer),
            "{}",
            say("a private place is not writable")
        );
    }

    // What holds something guarded.
    if exists
        && let Some(parent) = path.parent()
        && view(plan, &parent) == View::HostWritable
        && !is_mount_point(plan, path)
    {
        let verdict = policy.permits(&Access::Delete(path.clone()));
        let holds = matches!(verdict.clause, Clause::HoldsGuarded(_));
        prop_assert!(!holds, "{}", say("what holds a guarded path can be moved"));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mounts_and_oracle_agree(
        policy in any_policy(),
        context in any_context(),
        existing in prop::collection::vec((any_path(), any::<bool>()), 0..12),
        asked in prop::collection::vec(any_path(), 1..20),
    ) {
        let mut files = Files::sample();
        for (path, file) in existing {
            let path = std::path::PathBuf::from(path);
            // Whatever is there already stays what it is, and nothing lies below a file.
            if files.is_free(&path) {
                files.add(&path, if file { Node::File } else { Node::Directory });
            }
        }
        for path in writable(&policy, &context) {
            if path.as_path().ancestors().all(|above| !files.is_file(above)) {
                files.add(&path, Node::Directory);
            }
        }
        let host = files.kernel(7, true);
        // Policies that make no sense are refused by the policy crate, and missing roots by lowering.
        let Ok((policy, host)) = prepare(&policy, &context, &files, host) else { return Ok(()) };
        let Ok(lowered) = LinuxLandlock.lower(&policy, &host) else { return Ok(()) };
        let git_is_lost = lowered.enforcement().level(Guarantee::GitImport) < Level::Enforced
            || policy.private().iter().any(|path| path.as_path().ends_with(".git"));
        let (plan, _) = plan(lowered);
        let all: Vec<AbsolutePath> = files.paths().chain(asked.iter().map(crate::files::abs)).collect();
        for path in &all {
            compare(&policy, &plan, &files, path, git_is_lost)?;
        }
    }

    #[test]
    fn guards_hold_behind_links(
        policy in any_policy(),
        context in any_context(),
        links in prop::collection::vec((any_path(), 0..LINKED.len()), 1..5),
        existing in prop::collection::vec(any_path(), 0..8),
    ) {
        let mut files = Files::sample();
        files.add("/data/dev/.ssh/a/b", Node::Directory);
        for (path, target) in links {
            if files.is_free(path.as_ref()) {
                files.add(&path, Node::Link(LINKED[target].into()));
            }
        }
        let roots = writable(&policy, &context);
        for path in existing.iter().map(std::path::Path::new).chain(roots.iter().map(|path| path.as_path())) {
            if files.is_free(path) {
                files.add(path, Node::Directory);
            }
        }
        let host = files.kernel(7, true);
        let Ok((policy, host)) = prepare(&policy, &context, &files, host) else { return Ok(()) };
        let Ok(lowered) = LinuxLandlock.lower(&policy, &host) else { return Ok(()) };
        let (plan, _) = plan(lowered);
        let guards = policy.guards().iter().map(|guard| &guard.matcher);
        for name in guards.chain(policy.read_only()).filter_map(|matcher| matcher.path()) {
            let (real, links) = files.resolve(name);
            let seen = view(&plan, &real);
            let say = |what: &str| format!("{name} at {real}: {what}: seen {seen:?}\n{plan}");
            let reads = policy.place(&Access::Read(name.clone())).is_some();
            let writes = policy.place(&Access::Write(name.clone())).is_some();
            if !reads && files.exists(&real) {
                prop_assert!(!seen.shows_the_host(), "{}", say("a denied path is shown"));
            }
            if !writes {
                prop_assert!(seen != View::HostWritable, "{}", say("the host's file is written"));
                for link in links {
                    let parent = link.parent().unwrap();
                    let replaceable = view(&plan, &parent) == View::HostWritable;
                    prop_assert!(!replaceable || is_mount_point(&plan, &link), "{}", say("a link can be replaced"));
                }
            }
        }
    }
}

/// Where links lead: into a root, out of it, to a home with another name, and to nothing.
const LINKED: [&str; 6] = [
    "/srv/other",
    "/srv/app/src",
    "/data/dev",
    "/data/dev/.ssh",
    "/srv/app/later/on",
    "/none",
];
