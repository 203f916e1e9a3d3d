//! When nothing is concluded whatever was written, and what a conclusion says.

use std::ffi::OsString;
use std::os::unix::net::UnixListener;
use std::time::Duration;

use palisade_policy::{
    AbsolutePath, CanonicalSandboxPolicy, Clause, Enforcement, GitAccess, Grant, Guarantee,
    HostName, LimitKind, Measure,
};
use palisade_runner::evidence::{Failure, denials, rerun_line};
use palisade_runner::outcome::{Evidence, Outcome};

use crate::stage::{Stage, conclusions, enforced};

const FAILED: Outcome = Outcome::Exited { code: 1 };

fn of(
    stage: &Stage,
    policy: &CanonicalSandboxPolicy,
    outcome: &Outcome,
    text: &str,
) -> Vec<String> {
    let policy = stage.resolve(policy);
    conclusions(
        stage,
        &policy,
        &enforced(),
        &["tool"],
        outcome,
        &stage.fill(text),
    )
}

#[test]
fn only_a_failure_has_evidence() {
    let stage = Stage::new();
    let policy = stage.workspace_write();
    let text = "touch: cannot touch '@O/x': Read-only file system";
    assert_eq!(of(&stage, &policy, &FAILED, text), ["create @O/x"]);
    assert_eq!(
        of(&stage, &policy, &Outcome::Signaled { signal: 9 }, text),
        ["create @O/x"]
    );
    for outcome in [
        Outcome::Exited { code: 0 },
        Outcome::Exited { code: 127 },
        Outcome::Cancelled,
        Outcome::TimedOut {
            after: Duration::ZERO,
        },
        Outcome::LimitExceeded {
            which: LimitKind::Memory,
        },
    ] {
        assert!(
            of(&stage, &policy, &outcome, text).is_empty(),
            "{outcome:?}"
        );
    }
}

#[test]
fn the_filter_of_system_calls_is_known_by_its_signal() {
    let stage = Stage::new();
    let policy = stage.workspace_write();
    let killed = Outcome::Signaled { signal: 31 };
    assert_eq!(of(&stage, &policy, &killed, ""), ["system call"]);
    let told = Outcome::Exited { code: 159 };
    assert_eq!(
        of(&stage, &policy, &told, "Bad system call (core dumped)"),
        ["system call"]
    );
    assert!(of(&stage, &policy, &told, "").is_empty());
    assert!(of(&stage, &CanonicalSandboxPolicy::full_access(), &killed, "").is_empty());
}

#[test]
fn what_was_not_enforced_denied_nothing() {
    let stage = Stage::new();
    let policy = stage.resolve(&stage.workspace_write());
    let text = stage.fill("touch: cannot touch '@O/x': Permission denied\ntouch: cannot touch '.git/x': Permission denied");
    let with =
        |report: &Enforcement| conclusions(&stage, &policy, report, &["touch"], &FAILED, &text);
    assert_eq!(with(&enforced()), ["create @O/x", "create @W/.git/x"]);
    let writes = Enforcement::new().with(Guarantee::WritesOutside, Measure::enforced("a test"));
    assert_eq!(with(&writes), ["create @O/x"]);
    assert!(with(&Enforcement::new()).is_empty());
}

#[test]
fn a_policy_without_a_sandbox_denied_nothing() {
    let stage = Stage::new();
    let text = "touch: cannot touch '@O/x': Read-only file system";
    for policy in [
        CanonicalSandboxPolicy::full_access(),
        CanonicalSandboxPolicy::external("outer"),
    ] {
        assert!(of(&stage, &policy, &FAILED, text).is_empty());
    }
}

#[test]
fn in_a_read_only_policy_the_workspace_is_denied_too_but_not_every_word_is_a_path() {
    let stage = Stage::new();
    let policy = CanonicalSandboxPolicy::read_only();
    let text = "touch: cannot touch 'new': Read-only file system";
    assert_eq!(of(&stage, &policy, &FAILED, text), ["create @W/new"]);
    for text in [
        "sh: 1: cannot create new: Read-only file system",
        "sh: 1: cannot create new: Permission denied",
        "bash: line 1: new: Read-only file system",
        "bash: line 12: new: Permission denied",
        "zsh:1: read-only file system: new",
        "zsh:1: permission denied: new",
    ] {
        assert_eq!(
            of(&stage, &policy, &FAILED, text),
            ["create @W/new"],
            "{text}"
        );
    }
    for text in [
        "error: build failed: Read-only file system",
        "error: test 'parses' failed: Permission denied",
        "tool: Permission denied",
        "PermissionError: [Errno 13] Permission denied: 'locked'",
        "cat: locked: Permission denied",
    ] {
        assert!(of(&stage, &policy, &FAILED, text).is_empty(), "{text}");
    }
}

#[test]
fn the_network_is_evidence_only_where_it_is_off() {
    let stage = Stage::new();
    let text = "curl: (6) Could not resolve host: example.com";
    let off = of(&stage, &stage.workspace_write(), &FAILED, text);
    assert_eq!(off, ["connect to example.com port 443/tcp"]);
    let on = CanonicalSandboxPolicy::read_only_with_full_network();
    assert!(of(&stage, &on, &FAILED, text).is_empty());
}

#[test]
fn a_socket_of_the_host_is_named_as_one() {
    let stage = Stage::new();
    let _listener = UnixListener::bind(stage.outside.join("d.sock")).unwrap();
    let text = "Error: connect EACCES @O/d.sock";
    assert_eq!(
        of(&stage, &stage.workspace_write(), &FAILED, text),
        ["connect to the host's socket @O/d.sock"]
    );
}

#[test]
fn standard_output_is_read_where_standard_error_is_silent() {
    let stage = Stage::new();
    let policy = stage.resolve(&stage.workspace_write());
    let report = enforced();
    let argv = [OsString::from("tool")];
    let text = stage.fill("touch: cannot touch '@O/x': Read-only file system");
    let failure =
        Failure::new(&argv, &stage.workspace, &FAILED, &report).with_stdout(text.as_bytes());
    assert_eq!(denials(&policy, &failure.with_stderr(b" \n")).len(), 1);
    assert!(denials(&policy, &failure.with_stderr(b"something else\n")).is_empty());
}

#[test]
fn evidence_is_ordered_told_once_and_bounded() {
    let stage = Stage::new();
    let mut text = String::new();
    for number in 0..200 {
        let line = format!("touch: cannot touch '@O/{number}': Read-only file system\n");
        text.push_str(&line);
        text.push_str(&line);
    }
    let found = of(&stage, &stage.workspace_write(), &FAILED, &text);
    let wanted: Vec<_> = (192..200)
        .map(|number| format!("create @O/{number}"))
        .collect();
    assert_eq!(found, wanted);
}

#[test]
fn links_are_followed_and_loops_are_not() {
    use std::os::unix::fs::symlink;
    let stage = Stage::new();
    symlink(stage.workspace.join("b"), stage.workspace.join("a")).unwrap();
    symlink(stage.workspace.join("a"), stage.workspace.join("b")).unwrap();
    symlink(
        stage.outside.join("later"),
        stage.workspace.join("dangling"),
    )
    .unwrap();
    let policy = stage.workspace_write();
    let of = |text| of(&stage, &policy, &FAILED, text);
    assert_eq!(
        of("sh: 1: cannot create dangling: Permission denied"),
        ["create @O/later"]
    );
    assert_eq!(
        of("touch: cannot touch './dangling': Permission denied"),
        ["create @O/later"]
    );
    assert!(of("touch: cannot touch 'a': Permission denied").is_empty());
    assert!(of("cat: /proc/self/mem: Permission denied").is_empty());
    assert_eq!(
        of("cat: '@W/sandbox/../key': Permission denied"),
        ["read @H/.ssh/id_ed25519"]
    );
}

#[test]
fn a_conclusion_has_the_clause_and_the_line_that_would_help() {
    let stage = Stage::new();
    let policy = stage.resolve(&stage.workspace_write());
    let report = enforced();
    let argv = ["git", "commit", "-m", "it's"].map(OsString::from);
    let text = "fatal: Unable to create '.git/index.lock': Read-only file system";
    let failure =
        Failure::new(&argv, &stage.workspace, &FAILED, &report).with_stderr(text.as_bytes());
    let git = AbsolutePath::new(stage.workspace.join(".git")).unwrap();
    let found = denials(&policy, &failure);
    let [
        Evidence::Likely {
            clause,
            smallest_grant: Some(grant),
            ..
        },
    ] = found.as_slice()
    else {
        panic!("{found:?}");
    };
    assert_eq!(*clause, Clause::Protected(git));
    assert!(
        matches!(grant, Grant::Git(GitAccess::Commit | GitAccess::Full)),
        "{grant}"
    );
    let line = rerun_line(grant, &argv);
    assert!(
        line.starts_with("palisade run --git ") && line.ends_with(r"-- git commit -m 'it'\''s'"),
        "{line}"
    );
}

/// No grant turns these around, and what is not refused by the policy is not called so.
#[test]
fn what_is_refused_for_good_is_named_without_a_grant() {
    let stage = Stage::new();
    let policy = stage.resolve(&stage.workspace_write());
    let argv: Vec<OsString> = vec!["tool".into()];
    let own = std::process::id();
    let missing = format!("bash: line 1: kill: ({own}) - No such process");
    for (text, resource, clause) in [
        (
            "strace: ptrace(PTRACE_TRACEME, ...): Operation not permitted",
            "trace a process (system call ptrace)",
            Clause::FilteredCall,
        ),
        (
            "==7==LeakSanitizer has encountered a fatal error.",
            "trace a process (system call ptrace)",
            Clause::FilteredCall,
        ),
        (
            "mount: /x/m: permission denied.",
            "mount a file system (system call mount)",
            Clause::FilteredCall,
        ),
        (
            missing.as_str(),
            &format!("signal process {own}"),
            Clause::OwnProcesses,
        ),
    ] {
        let enforced = enforced();
        let failure =
            Failure::new(&argv, &stage.workspace, &FAILED, &enforced).with_stderr(text.as_bytes());
        let expected = Evidence::Likely {
            resource: resource.to_owned(),
            clause,
            smallest_grant: None,
        };
        assert_eq!(denials(&policy, &failure), [expected], "{text}");
        let nothing = Enforcement::new();
        let failure =
            Failure::new(&argv, &stage.workspace, &FAILED, &nothing).with_stderr(text.as_bytes());
        assert_eq!(denials(&policy, &failure), [], "{text}");
    }
}

#[test]
fn what_a_command_says_itself_is_not_pushed_out_by_hosts_that_were_refused() {
    let stage = Stage::new();
    let policy = stage.workspace_write();
    let policy = stage.resolve(&policy);
    let hosts: Vec<_> = (1..=5)
        .map(|at| (HostName::parse(&format!("h{at}.test")).unwrap(), 443))
        .collect();
    let told = |lines: usize| {
        let text: String = (0..lines)
            .map(|at| format!("touch: cannot touch '@O/{at}': Read-only file system\n"))
            .collect();
        let text = stage.fill(&text);
        let argv = [OsString::from("tool")];
        let enforcement = enforced();
        let failure = Failure::new(&argv, &stage.workspace, &FAILED, &enforcement)
            .with_stderr(text.as_bytes())
            .with_refused_hosts(&hosts);
        let evidence = denials(&policy, &failure);
        let resources = evidence.iter().map(|one| match one {
            Evidence::Likely { resource, .. } => stage.unfill(resource),
            other => format!("{other:?}"),
        });
        resources.collect::<Vec<_>>()
    };
    // The last of each, in the order in which they happened.
    let few = told(1);
    let [h3, h4, h5, path] = few.as_slice() else {
        panic!("{few:?}")
    };
    for (one, host) in [(h3, "h3.test"), (h4, "h4.test"), (h5, "h5.test")] {
        assert!(one.contains(host), "{few:?}");
    }
    assert_eq!(path, "create @O/0");
    let many = told(12);
    let paths: Vec<_> = (4..12).map(|at| format!("create @O/{at}")).collect();
    assert_eq!(many, paths);
}
