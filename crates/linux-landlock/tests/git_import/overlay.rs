//! The real thing: a session in namespaces of its own, on an overlay over the repository, still running while its
//! view is read.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use palisade_linux_landlock::git_import::DropReason;

use crate::world::{World, dropped, git_program};

#[test]
fn a_session_on_an_overlay() {
    let mut world = World::new();
    let top = world.work.parent().unwrap().to_path_buf();
    for name in ["upper", "scratch"] {
        std::fs::create_dir(top.join(name)).unwrap();
    }
    let script = r#"
        mount -t overlay overlay -o "lowerdir=$DOT_GIT,upperdir=$TOP/upper,workdir=$TOP/scratch,userxattr" "$DOT_GIT" || exit 7
        cd "$WORK" || exit 7
        echo session > a.txt
        "$GIT" commit -qam second &&
        "$GIT" branch -q -D side &&
        "$GIT" checkout -q -b topic &&
        "$GIT" gc -q --prune=now &&
        echo third > a.txt && "$GIT" commit -qam third &&
        echo '#!/bin/sh' > .git/hooks/pre-commit &&
        "$GIT" config core.fsmonitor /nonexistent/payload &&
        "$GIT" rev-parse HEAD && read -r line
    "#;
    let spawned = Command::new("unshare")
        .args(["-Urm", "sh", "-c", script])
        .env("DOT_GIT", &world.dot_git)
        .env("TOP", &top)
        .env("WORK", &world.work)
        .env("GIT", git_program())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "Dev")
        .env("GIT_AUTHOR_EMAIL", "dev@example.org")
        .env("GIT_COMMITTER_NAME", "Dev")
        .env("GIT_COMMITTER_EMAIL", "dev@example.org")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut session) = spawned else {
        return skip("unshare is not installed");
    };
    let mut tip = String::new();
    BufReader::new(session.stdout.take().unwrap())
        .read_line(&mut tip)
        .unwrap();
    let tip = tip.trim();
    if tip.is_empty() {
        let status = session.wait().unwrap();
        assert!(matches!(status.code(), Some(1 | 7)), "{status}");
        return skip("no unprivileged overlay here");
    }
    let merged = format!("/proc/{}/root{}", session.id(), world.dot_git.display());
    world.view = merged.into();
    let report = world.import();
    assert_eq!(world.host(&["rev-parse", "topic"]), tip, "{report}");
    assert_eq!(world.host(&["symbolic-ref", "HEAD"]), "refs/heads/topic");
    assert_eq!(world.host(&["status", "--porcelain"]), "");
    assert_eq!(world.host(&["log", "--format=%s"]), "third\nsecond\nfirst");
    assert_eq!(world.ref_on_host("refs/heads/side"), None);
    for planted in ["hooks/pre-commit", "config"] {
        assert_eq!(
            dropped(&report, planted),
            Some(&DropReason::Steers),
            "{report}"
        );
    }
    let again = world.import();
    assert!(
        again.refs.is_empty() && again.conflicts.is_empty(),
        "{again}"
    );
    drop(session.stdin.take());
    session.wait().unwrap();
    world.use_as_owner();
}

#[expect(clippy::print_stderr, reason = "a skipped test says why")]
fn skip(why: &str) {
    eprintln!("skipped: {why}");
}
