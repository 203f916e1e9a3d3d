//! Sessions of the Linux sandbox, as the runner uses them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;

use palisade_policy::{
    CanonicalSandboxPolicy, Guarantee, Level, NetworkAllowlistEntry, WorkspaceRoot,
};

use super::support::{Starter, confined, end, host, pid_in, placed, script, stage, wait_until};
use crate::os::{ConfinedSession, Stdio};
use crate::supervise::{How, NoEnd};

#[test]
fn a_session_confines_and_reports() {
    let stage = stage();
    let Some((workspace, session)) = confined(&stage) else {
        return;
    };
    assert_eq!(
        session.enforcement().level(Guarantee::WritesOutside),
        Level::Enforced
    );
    assert_eq!(session.policy().roots().len(), 1);
    session.watch_aftermath(&host(&stage.path().join("home")));
    let outside = stage.path().join("outside");
    let starter = Starter::Confined(Box::new(session));
    let text = format!(
        "echo in > inside; echo planted > .envrc; echo out > {}",
        outside.display()
    );
    let (ended, _) = starter.run(&script(&text, &workspace)).unwrap();
    assert!(matches!(ended.how, How::Code(1..)), "{ended:?}");
    assert!(workspace.join("inside").exists());
    assert!(!outside.exists());
    let Starter::Confined(session) = starter else {
        panic!("it was confined")
    };
    assert_eq!(session.import_git(), Vec::<String>::new());
    let found = session.aftermath();
    assert!(
        found.iter().any(|line| line.contains(".envrc")),
        "{found:?}"
    );
    session.end();
}

#[test]
fn several_threads_use_one_session_and_each_ends_its_own() {
    let stage = stage();
    let Some((workspace, session)) = confined(&stage) else {
        return;
    };
    let session = Arc::new(session);
    let threads: Vec<_> = (0..4)
        .map(|number| {
            let (session, workspace) = (Arc::clone(&session), workspace.clone());
            std::thread::spawn(move || {
                let text = format!("setsid sleep 1000 & echo $! > child-{number}; exec sleep 1000");
                let mut process = session
                    .spawn(&script(&text, &workspace), Stdio::null().unwrap())
                    .unwrap();
                pid_in(&workspace.join(format!("child-{number}")));
                session.import_git();
                if number % 2 == 0 {
                    process.kill_tree();
                    assert_eq!(end(&mut process).unwrap().how, How::Signal(9));
                }
                process
            })
        })
        .collect();
    let mut left: Vec<_> = threads
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect();
    let still = left
        .iter_mut()
        .filter_map(|process| process.try_end().unwrap().is_none().then_some(()))
        .count();
    assert_eq!(still, 2);
    Arc::into_inner(session).unwrap().end();
    // What ran when the session ended has no end of its own.
    let lost = left
        .iter_mut()
        .filter_map(|process| {
            wait_until(|| {
                process
                    .try_end()
                    .map_or_else(|no_end| Some(Err(no_end)), |end| end.map(Ok))
            })
        })
        .filter(|end| matches!(end, Err(NoEnd::Lost(why)) if why.contains("session")))
        .count();
    assert_eq!(lost, 2);
}

#[test]
fn what_is_not_set_up_says_what_would_help() {
    let stage = stage();
    let workspace = stage.path().join("workspace");
    fs::create_dir(&workspace).unwrap();
    let mut host = host(stage.path());
    let place = placed(&workspace);
    host.helper = None;
    let failure = ConfinedSession::open(&host, &place).unwrap_err();
    assert_eq!(failure.step, "finding the sandbox helper");
    host.helper = Some("/no/such/helper".into());
    let failure = ConfinedSession::open(&host, &place).unwrap_err();
    assert_eq!(failure.step, "starting the sandbox helper");
    assert_eq!(failure.errno, Some(libc::ENOENT));
    let place = placed(Path::new("/no/where/at/all"));
    let failure = ConfinedSession::open(&host, &place).unwrap_err();
    assert_eq!(failure.step, "resolving the policy");
    assert_eq!(failure.errno, Some(libc::ENOENT));

    // A list of hosts is a way to those alone.
    host.helper = Some(super::support::helper());
    let root = WorkspaceRoot::new(&workspace).unwrap();
    let mut place = placed(&workspace);
    place.policy = listed_hosts(&root);
    let session = ConfinedSession::open(&host, &place).unwrap();
    let hosts = session.enforcement().level(Guarantee::NetworkHosts);
    assert_eq!(hosts, Level::Enforced);
}

fn listed_hosts(root: &WorkspaceRoot) -> CanonicalSandboxPolicy {
    let host = NetworkAllowlistEntry::https("example.com").unwrap();
    CanonicalSandboxPolicy::workspace_write_with_network([root.clone()], [host])
}

#[test]
fn a_helper_that_is_none_is_found_out() {
    let stage = stage();
    let workspace = stage.path().join("workspace");
    fs::create_dir(&workspace).unwrap();
    let fake = stage.path().join("fake");
    fs::write(&fake, "#!/bin/sh\nexit 0\n").unwrap();
    fs::set_permissions(&fake, fs::Permissions::from_mode(0o755)).unwrap();
    let mut host = host(stage.path());
    host.helper = Some(fake);
    let failure = ConfinedSession::open(&host, &placed(&workspace)).unwrap_err();
    assert_eq!(failure.step, "keeping the session", "{failure}");
}
