//! The default preset, applied: what it must refuse is refused, and what it must allow works.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Output;

use palisade_policy::{
    AbsolutePath, AcceptedLosses, Backend as _, Guarantee, HostFacts, NetworkAccess, Os,
    PolicyContext, SandboxMode, SandboxPolicy, WorkspaceRoot,
};
use palisade_seatbelt::apply::{Launch, SessionTmp, look};
use palisade_seatbelt::{MacHost, Seatbelt, survey};

use crate::{run, text, workspace};

struct Stage {
    /// The workspace, below a directory that is not one.
    root: PathBuf,
    outside: PathBuf,
    launch: Launch,
    _tmp: SessionTmp,
    _directory: tempfile::TempDir,
}

fn abs(path: &Path) -> AbsolutePath {
    AbsolutePath::new(path).unwrap()
}

fn stage() -> Stage {
    let (directory, real) = workspace();
    let root = real.join("app");
    let outside = real.join("outside");
    std::fs::create_dir_all(root.join(".git/hooks")).unwrap();
    std::fs::create_dir_all(real.join("home/.ssh")).unwrap();
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(real.join("home/.ssh/id"), "secret").unwrap();
    std::fs::write(outside.join("file"), "before").unwrap();
    std::fs::write(root.join(".git/config"), "before").unwrap();

    let tmp = SessionTmp::create(&real).unwrap();
    let cwd = WorkspaceRoot::from_absolute(abs(&root)).unwrap();
    let facts = HostFacts::new(Os::Macos).with_home(abs(&real.join("home")));
    let policy = SandboxPolicy::new(SandboxMode::WorkspaceWrite, NetworkAccess::Restricted)
        .to_canonical_policy(&cwd);
    let host = MacHost::new(look()).with_session_tmp(tmp.path().clone());
    let (policy, host) =
        survey::resolve_and_look(&policy, PolicyContext::new(facts, cwd), host).unwrap();
    let losses: AcceptedLosses = Guarantee::ALL.into_iter().collect();
    let (plan, _) = Seatbelt
        .lower(&policy, &host)
        .unwrap()
        .admit(&losses)
        .unwrap();
    let launch = Launch::new(&plan.profile.text(), &plan.profile.parameters).unwrap();
    Stage {
        root,
        outside,
        launch,
        _tmp: tmp,
        _directory: directory,
    }
}

impl Stage {
    fn sh(&self, script: &str) -> Output {
        let words = self
            .launch
            .words(Path::new("/bin/sh"), ["-c", script], 0)
            .unwrap();
        run(&words, &self.root)
    }

    #[track_caller]
    fn works(&self, script: &str) {
        let output = self.sh(script);
        assert!(output.status.success(), "{script}: {}", text(&output));
    }

    /// Fails, and because the kernel said so: a shell that cannot run at all refuses everything.
    #[track_caller]
    fn refused(&self, script: &str) {
        self.works("true");
        let output = self.sh(script);
        assert!(!output.status.success(), "{script} went through");
        assert!(
            text(&output).contains("Operation not permitted"),
            "{script}: {}",
            text(&output)
        );
    }
}

#[test]
fn the_workspace_is_written_and_nothing_else() {
    let stage = stage();
    stage.works("echo x > new && mkdir -p a/b && mv new a/b/new && rm a/b/new");
    stage.refused("echo x >> ../outside/file");
    stage.refused("echo x > ../outside/new");
    stage.refused("rm ../outside/file");
    stage.refused("chmod 600 ../outside/file");
    let kept = std::fs::read_to_string(stage.outside.join("file")).unwrap();
    assert_eq!(kept, "before");
}

#[test]
fn what_is_protected_is_neither_written_nor_moved_away() {
    let stage = stage();
    stage.refused("echo x >> .git/config");
    stage.refused("echo x > .git/hooks/pre-commit");
    stage.refused("mv .git gone");
    stage.refused("mv ../app ../elsewhere");
    // Missing, and must not be made: whatever is there later would be trusted.
    stage.refused("mkdir .claude");
    stage.refused("ln .git/config second-name");
}

#[test]
fn secrets_are_not_read() {
    let stage = stage();
    stage.refused("cat ../home/.ssh/id");
}

#[test]
fn the_network_is_closed_and_the_loopback_too() {
    let stage = stage();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect = format!("exec /bin/bash -c 'echo x > /dev/tcp/127.0.0.1/{port}'");
    stage.refused(&connect);
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err(), "somebody got through");
}

#[test]
fn developer_tools_start() {
    let stage = stage();
    for tool in [
        "git --version",
        "cc --version",
        "python3 --version",
        "make --version",
    ] {
        stage.works(tool);
    }
}

#[test]
fn a_sandbox_in_a_sandbox_is_refused() {
    let stage = stage();
    let output = stage.sh("/usr/bin/sandbox-exec -p '(version 1)(allow default)' /usr/bin/true");
    assert_eq!(output.status.code(), Some(71), "{}", text(&output));
}
