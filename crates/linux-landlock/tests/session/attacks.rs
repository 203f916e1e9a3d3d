//! Attacks that once worked, one test for each.

use std::fs::{self, File};
use std::io::Write as _;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::Path;
use std::time::{Duration, Instant};

use palisade_linux_landlock::{
    Helper, LaunchError, Session, StartError, Started, Stdio, Step, Tier, start,
};
use palisade_policy::{
    AcceptedLosses, CanonicalSandboxPolicy, PathRules, PathSpec, Reopened, WorkspaceRoot,
};
use rustix::fs::{FlockOperation, XattrFlags, flock, fsetxattr};

use crate::support::{Output, Stage, TIERS, helper_path, read};

/// Runs a script with a descriptor of the test's as its input.
fn run_with_input(
    stage: &Stage,
    session: &Session,
    input: impl Into<OwnedFd>,
    script: &str,
) -> Result<Output, LaunchError> {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let writer = OwnedFd::from(writer);
    let stdio = Stdio::new(input.into(), writer.try_clone().unwrap(), writer);
    let mut child = session.spawn(&stage.script(script), &stdio)?;
    drop(stdio);
    let exit = child.wait()?;
    let mut text = String::new();
    std::io::Read::read_to_string(&mut reader, &mut text).unwrap();
    Ok(Output { exit, text })
}

fn begin(stage: &Stage, policy: &CanonicalSandboxPolicy) -> Result<Started, StartError> {
    let helper = Helper::new(helper_path());
    start(policy, &stage.context(), &AcceptedLosses::none(), &helper)
}

fn with_rules(stage: &Stage, rules: PathRules) -> CanonicalSandboxPolicy {
    stage.workspace_write().with_paths(rules)
}

fn denying(patterns: &[&str]) -> PathRules {
    PathRules::default().with_deny_read(patterns.iter().map(|text| PathSpec::parse(text).unwrap()))
}

/// Runs the helper in mounts of the test's own; `None` if there can be none.
fn in_own_mounts(stage: &Stage, script: &str) -> Option<std::process::Output> {
    let output = std::process::Command::new("unshare")
        .args(["-r", "-m", "sh", "-c", script])
        .current_dir(&stage.workspace)
        .env("HOME", &stage.home)
        .env("OUTSIDE", &stage.outside)
        .env("HELPER", helper_path())
        .output();
    match output {
        Ok(output) if !matches!(output.status.code(), Some(1 | 77)) => Some(output),
        other => {
            println!("skipped: no mounts of the test's own here: {other:?}");
            None
        }
    }
}

/// What a command tries with a file that it was only given to read.
const TAMPER: &str = "cat; echo planted >> /proc/self/fd/0; truncate -s 0 /proc/self/fd/0
    chmod 777 /proc/self/fd/0; touch -d 2001-01-01 /proc/self/fd/0
    python3 -c 'import os; os.fchmod(0, 0o777)'";

/// A descriptor of the host leads through the host's mounts, where `.git` is as writable as the rest of the workspace,
/// and the mode of a file outside can be changed.
#[test]
fn a_file_that_is_handed_in_for_reading_cannot_be_changed() {
    let stage = Stage::new();
    fs::write(stage.workspace.join(".env"), "denied").unwrap();
    fs::write(stage.workspace.join("readme"), "readable").unwrap();
    let policy = with_rules(&stage, denying(&[".env"]));
    let session = stage.session(&policy, Tier::Full);
    for (path, content) in [
        (stage.workspace.join(".git/HEAD"), "ref: refs/heads/main\n"),
        (stage.workspace.join(".env"), "denied"),
        (stage.outside.join("victim"), "precious"),
        (stage.home.join(".netrc"), "secret password"),
    ] {
        let before = fs::metadata(&path).unwrap();
        let input = File::open(&path).unwrap();
        let output = run_with_input(&stage, &session, input, TAMPER).unwrap();
        // It was handed in, so it can be read.
        assert!(output.text.starts_with(content), "{path:?}: {output:?}");
        assert_eq!(read(&path), content, "{path:?}: {output:?}");
        let after = fs::metadata(&path).unwrap();
        assert_eq!(
            (before.mode(), before.ctime(), before.ctime_nsec()),
            (after.mode(), after.ctime(), after.ctime_nsec()),
            "{path:?}: {output:?}"
        );
    }
}

/// What the session does not see comes through a pipe, all of it; what it sees can still be searched back and forth.
#[test]
fn input_from_files_still_works() {
    for tier in TIERS {
        let stage = Stage::new();
        let session = stage.session(&stage.workspace_write(), tier);
        let mut hidden = tempfile::tempfile_in("/tmp").unwrap();
        let line = [b'x'; 99];
        for _ in 0..5000 {
            hidden.write_all(&line).unwrap();
            hidden.write_all(b"\n").unwrap();
        }
        std::io::Seek::rewind(&mut hidden).unwrap();
        let output = run_with_input(&stage, &session, hidden, "wc -c").unwrap();
        assert_eq!(output.text.trim(), "500000", "{tier:?}");

        fs::write(stage.workspace.join("input"), "first\nsecond\n").unwrap();
        let mut seen = File::open(stage.workspace.join("input")).unwrap();
        std::io::Seek::seek(&mut seen, std::io::SeekFrom::Start(6)).unwrap();
        let script = "cat; python3 -c 'import os; os.lseek(0, 0, 0); print(os.read(0, 5))'";
        let output = run_with_input(&stage, &session, seen, script).unwrap();
        assert_eq!(output.text, "second\nb'first'\n", "{tier:?}");
    }
}

/// A socket stays in the network that it was made in: taken apart and connected again, it reaches the host's services.
#[test]
fn a_socket_of_the_host_is_no_input() {
    for tier in TIERS {
        let stage = Stage::new();
        let session = stage.session(&stage.workspace_write(), tier);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (datagram, _peer) = UnixDatagram::pair().unwrap();
        let unix = UnixListener::bind(stage.outside.join("socket")).unwrap();
        let refused: [OwnedFd; 5] = [
            stream.into(),
            listener.into(),
            UdpSocket::bind("127.0.0.1:0").unwrap().into(),
            datagram.into(),
            unix.into(),
        ];
        for socket in refused {
            let refusal = run_with_input(&stage, &session, socket, "true");
            assert!(
                matches!(refusal, Err(LaunchError::Descriptor { number: 0, .. })),
                "{tier:?}: {refusal:?}"
            );
        }
        // What many programs use in place of pipes leads to its peer and nowhere else.
        let (ours, theirs) = UnixStream::pair().unwrap();
        (&ours).write_all(b"hello").unwrap();
        drop(ours);
        let output = run_with_input(&stage, &session, theirs, "cat").unwrap();
        assert_eq!(output.text, "hello", "{tier:?}");
    }
}

/// One session closes a directory, so that the survey of the next cannot look for secrets in it; then that one opens it.
#[test]
fn closing_a_directory_does_not_take_its_secrets_out_of_a_pattern() {
    let stage = Stage::new();
    fs::create_dir_all(stage.workspace.join("conf/deep")).unwrap();
    fs::write(stage.workspace.join("conf/.env"), "secret").unwrap();
    fs::write(stage.workspace.join("conf/deep/x.key"), "secret").unwrap();
    for pattern in ["**/.env", "conf/deep/*.key"] {
        let policy = with_rules(&stage, denying(&[pattern]));
        let first = begin(&stage, &policy).unwrap();
        stage.run(&first.session, "chmod 000 conf").assert_success();
        first.session.end();
        match begin(&stage, &policy) {
            Err(refusal) => assert!(
                matches!(refusal, StartError::Refused(_)),
                "{pattern}: {refusal}"
            ),
            // Whoever may look everywhere has found it.
            Ok(second) => {
                let output = stage.run(
                    &second.session,
                    "chmod 700 conf; cat conf/.env conf/deep/x.key; true",
                );
                let secrets = output.text.matches("secret").count();
                assert_eq!(secrets, 1, "only the other file: {}", output.text);
            }
        }
        let open = fs::Permissions::from_mode(0o755);
        fs::set_permissions(stage.workspace.join("conf"), open).unwrap();
    }
}

/// Root sees every socket, and in a namespace of its own cannot reach those in private directories of others: whoever made
/// one kept root from starting anything.
#[test]
#[expect(clippy::print_stderr, reason = "a test says what it skips")]
fn a_socket_in_a_private_directory_of_another_user_is_in_nobodys_way() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("for root alone: others do not see such a socket");
        return;
    }
    let stage = Stage::new();
    let private = stage.outside.join("private");
    fs::create_dir(&private).unwrap();
    let _listener = UnixListener::bind(private.join("agent")).unwrap();
    std::os::unix::fs::chown(&private, Some(65_534), Some(65_534)).unwrap();
    fs::set_permissions(&private, fs::Permissions::from_mode(0o700)).unwrap();
    let session = stage.session(&stage.workspace_write(), Tier::Full);
    let connect = "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"../outside/private/agent\")'";
    let script = format!(
        "{connect} && echo connected; chmod 755 ../outside/private; {connect} && echo connected; echo ran"
    );
    let output = stage.run(&session, &script);
    assert!(output.text.contains("ran"), "{}", output.text);
    assert!(!output.text.contains("connected"), "{}", output.text);
}

/// The kernel lists a socket where it was bound. One session moves its directory, the next finds it without a mask.
#[test]
fn a_socket_of_the_host_cannot_be_moved_away_from_its_mask() {
    let stage = Stage::new();
    let directory = stage.workspace.join("run/sockets");
    fs::create_dir_all(&directory).unwrap();
    let _listener = UnixListener::bind(directory.join("db")).unwrap();
    let connect = "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"PATH\")' && echo connected";
    let first = stage.session(&stage.workspace_write(), Tier::Full);
    let script = format!(
        "{}; mv run/sockets/db run/sockets/other; mv run/sockets run/moved; mv run moved; chmod 000 run",
        connect.replace("PATH", "run/sockets/db")
    );
    let output = stage.run(&first, &script);
    assert!(!output.text.contains("connected"), "{}", output.text);
    first.end();
    let open = |path: &Path| {
        let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o755));
    };
    match begin(&stage, &stage.workspace_write()) {
        Err(error) => assert!(
            matches!(
                error,
                StartError::Launch {
                    error: LaunchError::Step {
                        step: Step::Mask | Step::Pin,
                        ..
                    }
                }
            ),
            "{error}"
        ),
        Ok(second) => {
            let paths = ["run/sockets/db", "run/moved/db", "moved/sockets/db"];
            for path in paths {
                let script = format!("chmod 700 run; {}", connect.replace("PATH", path));
                let output = stage.run(&second.session, &script);
                assert!(!output.text.contains("connected"), "{}", output.text);
            }
        }
    }
    open(&stage.workspace.join("run"));
    assert!(directory.join("db").exists());
}

/// A secret that is mounted a second time would be open at its other name.
#[test]
fn secrets_are_masked_at_every_name_that_mounts_give_them() {
    let stage = Stage::new();
    for name in ["alias", "part"] {
        fs::create_dir(stage.outside.join(name)).unwrap();
    }
    fs::create_dir(stage.home.join(".ssh/old")).unwrap();
    fs::write(stage.home.join(".ssh/old/key"), "secret key").unwrap();
    let script = r#"mount --bind "$HOME" "$OUTSIDE/alias" && mount --bind "$HOME/.ssh/old" "$OUTSIDE/part" || exit 77
        cat "$OUTSIDE/alias/.ssh/id_ed25519" "$OUTSIDE/part/key" || exit 78
        exec "$HELPER" --sandbox-policy-cwd . --sandbox-policy '{"type":"workspace_write"}' -- \
            sh -c 'cat "$HOME/.ssh/id_ed25519" "$OUTSIDE/alias/.ssh/id_ed25519" "$OUTSIDE/part/key" "$OUTSIDE/alias/.netrc"; cat "$OUTSIDE/victim"'"#;
    let Some(output) = in_own_mounts(&stage, script) else {
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    // The first two are from before the sandbox: the aliases are there.
    assert_eq!(text, "secret keysecret keyprecious", "{output:?}");
}

/// What is written there sets the parameters of the kernel, such as the program that takes core dumps as root.
#[test]
fn kernel_file_systems_are_no_roots() {
    let stage = Stage::new();
    for path in [
        "/proc/sys/kernel",
        "/proc/sys/kernel/core_pattern",
        "/sys/kernel",
    ] {
        let root = WorkspaceRoot::new(path).unwrap();
        let rules = PathRules::default().with_reopened([Reopened::write(root.path().clone())]);
        for policy in [
            CanonicalSandboxPolicy::workspace_write([stage.root(), root.clone()])
                .with_paths(PathRules::default().with_protected([])),
            with_rules(&stage, rules),
        ] {
            let refusal = begin(&stage, &policy).map(|_| ()).unwrap_err();
            assert!(
                matches!(refusal, StartError::Policy(_)),
                "{path}: {refusal}"
            );
            assert!(refusal.to_string().contains("not for files"), "{refusal}");
        }
    }
}

/// A command of another session keeps the lock of a placeholder: the next session says so instead of waiting.
#[test]
fn a_kept_lock_does_not_keep_a_session_waiting() {
    let stage = Stage::new();
    let planted = stage.workspace.join(".vscode");
    fs::create_dir(&planted).unwrap();
    let directory = File::open(&planted).unwrap();
    let mark = fsetxattr(
        &directory,
        "user.palisade.placeholder",
        b"1",
        XattrFlags::empty(),
    );
    if let Err(errno) = mark {
        println!("skipped: no extended attributes here: {errno}");
        return;
    }
    flock(&directory, FlockOperation::LockExclusive).unwrap();
    let start = Instant::now();
    let refusal = begin(&stage, &stage.workspace_write())
        .map(|_| ())
        .unwrap_err();
    assert!(
        matches!(
            refusal,
            StartError::Launch {
                error: LaunchError::Step {
                    step: Step::Janitor,
                    ..
                }
            }
        ),
        "{refusal}"
    );
    assert!(start.elapsed() < Duration::from_secs(20));
    assert!(planted.exists());
}

/// A placeholder that another session is making has no mark yet. Protected as somebody's directory, it would be removed
/// under this session by the other one's janitor, and the protection with it.
#[test]
fn a_placeholder_in_the_making_is_shared() {
    let stage = Stage::new();
    let unfinished = stage.workspace.join(".vscode");
    fs::create_dir(&unfinished).unwrap();
    fs::set_permissions(&unfinished, fs::Permissions::from_mode(0o1700)).unwrap();
    let plan = stage.plan(&stage.workspace_write(), Tier::Full);
    assert!(
        plan.placeholders
            .iter()
            .any(|path| path.as_path() == unfinished),
        "{plan}"
    );
}

/// A second list of the host's processes, as chroots have one, shows the command lines of everybody.
#[test]
fn no_other_list_of_processes_is_open() {
    let stage = Stage::new();
    let script = r#"mount --rbind /proc "$OUTSIDE" || exit 77
        test -r "$OUTSIDE/$$/cmdline" || exit 78
        "$HELPER" --sandbox-policy-cwd . --sandbox-policy '{"type":"workspace_write"}' -- \
            sh -c 'ls "$OUTSIDE"; cat "$OUTSIDE"/[0-9]*/cmdline; echo end' 2>/dev/null; exit 0"#;
    let Some(output) = in_own_mounts(&stage, script) else {
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(text, "end\n", "{output:?}");
}

/// On a file system without extended attributes nobody can tell a placeholder of another session from a directory of the
/// user's. The other session's janitor must not take it away under this one.
#[test]
fn placeholders_without_marks_stay_while_another_session_stands_on_them() {
    let stage = Stage::new();
    let script = r#"mount -t ramfs ramfs "$OUTSIDE" || exit 77
        mkdir "$OUTSIDE/ws" && cd "$OUTSIDE/ws" && mkfifo "$HOME/go1" "$HOME/go2" || exit 78
        sandbox() { "$HELPER" --sandbox-policy-cwd . --sandbox-policy '{"type":"workspace_write"}' -- sh -c "$1"; }
        ready() { until test -s "$1"; do kill -0 $2 || exit 79; sleep 0.01; done; }
        sandbox 'echo ready; read end' < "$HOME/go1" > "$HOME/said1" & first=$!
        exec 5> "$HOME/go1"
        ready "$HOME/said1" $first
        (exec 5>&-; sandbox 'echo ready; read end; mkdir .vscode; echo planted > .vscode/tasks.json') \
            < "$HOME/go2" > "$HOME/said2" 2> /dev/null & second=$!
        exec 6> "$HOME/go2"
        ready "$HOME/said2" $second
        exec 5>&-; wait $first
        exec 6>&-; wait $second
        find . -type f; echo end"#;
    let Some(output) = in_own_mounts(&stage, script) else {
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(text, "end\n", "{output:?}");
}
