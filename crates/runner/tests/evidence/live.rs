//! Real tools in the real sandbox, in both tiers: what each wrote, and what was concluded from it.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use palisade_linux_landlock::host::NamespaceSupport;
use palisade_linux_landlock::survey::{self, SurveyOptions};
use palisade_linux_landlock::{
    Command, ExitCause, Helper, LinuxLandlock, Session, Stdio, Tier, private_places,
};
use palisade_policy::{
    AcceptedLosses, Backend as _, Enforcement, Environment, Guarantee, ResolvedPolicy,
};
use palisade_runner::outcome::Outcome;

use crate::stage::{Stage, conclusions};

/// The helper: where whoever runs the tests put it, or beside this test in the build directory.
fn helper() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("PALISADE_TEST_HELPER") {
        return Some(path.into());
    }
    let test = std::env::current_exe().ok()?;
    let built = test.parent()?.parent()?.join("palisade-linux-sandbox");
    built.exists().then_some(built)
}

struct Sandbox {
    session: Session,
    policy: ResolvedPolicy,
    enforcement: Enforcement,
}

fn start(stage: &Stage, tier: Tier, helper: PathBuf) -> Option<Sandbox> {
    let mut host = survey::kernel(&stage.context().facts);
    if tier == Tier::Landlock {
        host.namespaces = NamespaceSupport::Refused {
            why: "emulated".to_owned(),
            cure: None,
        };
    }
    let context = stage.context().with_private(private_places(&host));
    let policy = stage.workspace_write().resolve(&context).unwrap();
    survey::look(&mut host, &policy, &SurveyOptions::launch());
    let losses: AcceptedLosses = match tier {
        Tier::Landlock => [
            Guarantee::ProtectedPaths,
            Guarantee::MetadataOutside,
            Guarantee::ProcessIsolation,
            Guarantee::GitImport,
        ]
        .into_iter()
        .collect(),
        _ => AcceptedLosses::none(),
    };
    let (plan, enforcement) = LinuxLandlock
        .lower(&policy, &host)
        .unwrap()
        .admit(&losses)
        .ok()?;
    let session = Session::start(&plan, &Helper::new(helper)).unwrap();
    Some(Sandbox {
        session,
        policy,
        enforcement,
    })
}

fn run(stage: &Stage, sandbox: &Sandbox, shell: &str, script: &str) -> (Outcome, String) {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    let env: Environment = [
        ("PATH".into(), path),
        ("HOME".into(), stage.home.clone().into_os_string()),
        ("LC_ALL".into(), "C".into()),
    ]
    .into();
    let command = Command::new([shell, "-c", script], &stage.workspace).with_env(env);
    let (reader, writer) = std::io::pipe().unwrap();
    let writer = OwnedFd::from(writer);
    let null = || {
        OwnedFd::from(
            File::options()
                .read(true)
                .write(true)
                .open("/dev/null")
                .unwrap(),
        )
    };
    let stdio = Stdio::new(null(), null(), writer);
    let mut child = sandbox.session.spawn(&command, &stdio).unwrap();
    drop(stdio);
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let mut reader = reader;
        reader.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let exit = child.wait().unwrap();
    let outcome = match exit.cause {
        ExitCause::Code(code) => Outcome::Exited { code },
        ExitCause::Signal(signal) => Outcome::Signaled { signal },
        other => panic!("{other:?}"),
    };
    (outcome, reader.join().unwrap())
}

/// What must be concluded: in both tiers, in the full tier only, nothing.
enum Expect {
    Both(&'static str),
    Full(&'static str),
    Nothing,
}
use Expect::{Both, Full, Nothing};

/// The tool that is needed, the script, and what must be concluded.
const ROWS: &[(&str, &str, Expect)] = &[
    ("touch", "touch @O/new", Both("create @O/new")),
    ("touch", "touch @O/file", Full("write @O/file")),
    ("mkdir", "mkdir @O/newdir", Both("create @O/newdir")),
    ("mkdir", "mkdir -p @O/a/b", Both("create @O/a")),
    ("rm", "rm @O/file", Both("delete @O/file")),
    ("rmdir", "rmdir @O/dir", Both("delete @O/dir")),
    ("cp", "cp notes @O/copy", Both("create @O/copy")),
    ("cp", "cp notes @O/file", Both("write @O/file")),
    ("mv", "mv notes @O/moved", Both("create @O/moved")),
    ("ln", "ln -s x @O/link", Both("create @O/link")),
    ("tee", "tee @O/file < notes", Both("write @O/file")),
    ("dd", "dd if=notes of=@O/file", Both("write @O/file")),
    ("chmod", "chmod 600 @O/file", Full("write @O/file")),
    ("truncate", "truncate -s 0 @O/file", Both("write @O/file")),
    (
        "install",
        "install notes @O/installed",
        Both("create @O/installed"),
    ),
    ("mktemp", "mktemp -p @O", Both("create @O")),
    ("sh", "echo x > @O/redirected", Both("create @O/redirected")),
    ("sh", "echo x >> @O/file", Both("write @O/file")),
    (
        "bash",
        "bash -c 'echo x > @O/redirected'",
        Both("create @O/redirected"),
    ),
    (
        "bash",
        "bash -c 'echo x > out/redirected'",
        Both("create @O/dir/redirected"),
    ),
    (
        "zsh",
        "zsh -fc 'echo x > @O/redirected'",
        Both("create @O/redirected"),
    ),
    ("touch", "touch ../outside/new", Both("create @O/new")),
    ("touch", "touch out/new", Both("create @O/dir/new")),
    (
        "python3",
        "python3 -c \"open('@O/new', 'w')\"",
        Both("create @O/new"),
    ),
    (
        "python3",
        "python3 -c \"open('@O/file', 'a')\"",
        Both("write @O/file"),
    ),
    (
        "python3",
        "python3 -c \"import os; os.mkdir('@O/d')\"",
        Both("create @O/d"),
    ),
    (
        "python3",
        "python3 -c \"import os; os.rename('notes', '@O/d')\"",
        Both("create @O/d"),
    ),
    (
        "python3",
        "python3 -c \"import pathlib; pathlib.Path('@O/file').unlink()\"",
        Both("@O/file"),
    ),
    (
        "perl",
        "perl -e 'open(F, \">\", \"@O/new\") or die \"cannot open @O/new: $!\"'",
        Both("create @O/new"),
    ),
    (
        "awk",
        "awk 'BEGIN { print 1 > \"@O/new\" }'",
        Both("create @O/new"),
    ),
    (
        "node",
        "node -e \"require('fs').writeFileSync('@O/new', '')\"",
        Both("create @O/new"),
    ),
    (
        "node",
        "node -e \"require('fs').mkdirSync('@O/d')\"",
        Both("create @O/d"),
    ),
    ("git", "git init @O/repo", Both("create @O/repo")),
    ("tar", "tar -cf @O/a.tar notes", Both("create @O/a.tar")),
    (
        "tar",
        "tar -cf n.tar notes && tar -C @O -xf n.tar",
        Full("write @O"),
    ),
    (
        "gcc",
        "echo 'int main(){return 0;}' > m.c && gcc -o @O/prog m.c",
        Both("create @O/prog"),
    ),
    ("sed", "sed -i s/a/b/ @O/file", Both("create @O/sed")),
    (
        "make",
        "printf 'all:\\n\\techo x > @O/made\\n' > Makefile && make",
        Both("create @O/made"),
    ),
    ("sort", "sort notes -o @O/sorted", Both("create @O/sorted")),
    ("split", "split notes @O/part", Both("create @O/partaa")),
    ("gzip", "gzip -c notes > @O/n.gz", Both("create @O/n.gz")),
    (
        "curl",
        "curl -sS -o x http://192.0.2.1:8080/",
        Both("connect to 192.0.2.1 port 8080/tcp"),
    ),
    (
        "curl",
        "curl -sS http://example.com/",
        Both("connect to example.com port 80/tcp"),
    ),
    (
        "curl",
        "curl -sS https://example.com/",
        Both("connect to example.com port 443/tcp"),
    ),
    (
        "wget",
        "wget --no-netrc https://example.com/",
        Both("connect to example.com port 443/tcp"),
    ),
    (
        "git",
        "git clone https://example.com/x/y.git",
        Both("connect to example.com port 443/tcp"),
    ),
    (
        "python3",
        "python3 -c \"import urllib.request as r; r.urlopen('https://example.com')\"",
        Both("connect to example.com port 443/tcp"),
    ),
    (
        "node",
        "node -e \"fetch('https://example.com').catch(e => { console.error(e); process.exit(1) })\"",
        Both("connect to example.com port 443/tcp"),
    ),
    (
        "cat",
        "cat @H/.ssh/id_ed25519",
        Both("read @H/.ssh/id_ed25519"),
    ),
    ("cat", "cat @H/.netrc", Both("read @H/.netrc")),
    ("cat", "cat ~/.netrc", Both("read @H/.netrc")),
    ("cat", "cat key", Both("read @H/.ssh/id_ed25519")),
    ("ls", "ls @H/.ssh", Both("read @H/.ssh")),
    ("grep", "grep x @H/.netrc", Both("read @H/.netrc")),
    ("cp", "cp @H/.netrc stolen", Both("read @H/.netrc")),
    ("head", "head @H/.netrc", Both("read @H/.netrc")),
    (
        "python3",
        "python3 -c \"open('@H/.netrc')\"",
        Both("read @H/.netrc"),
    ),
    (
        "node",
        "node -e \"require('fs').readFileSync('@H/.netrc')\"",
        Both("read @H/.netrc"),
    ),
    (
        "perl",
        "perl -e 'open(F, \"<\", \"@H/.netrc\") or die \"@H/.netrc: $!\"'",
        Both("read @H/.netrc"),
    ),
    ("sh", "read x < @H/.netrc", Both("read @H/.netrc")),
    ("tar", "tar -cf s.tar @H/.ssh", Both("read @H/.ssh")),
    (
        "touch",
        "touch .git/hooks/pre-commit",
        Full("create @W/.git/hooks/pre-commit"),
    ),
    ("sh", "echo x >> .git/config", Full("write @W/.git/config")),
    ("mv", "mv .git elsewhere", Full("@W/.git")),
    ("rm", "rm -r .git/hooks", Full("@W/.git/hooks")),
    (
        "ssh",
        "ssh -F /dev/null -o BatchMode=yes 192.0.2.1",
        Both("connect to 192.0.2.1 port 22/tcp"),
    ),
    // Ordinary failures.
    ("cat", "cat locked", Nothing),
    ("cat", "cat @O/unreadable", Nothing),
    ("python3", "python3 -c \"open('@O/unreadable')\"", Nothing),
    (
        "node",
        "node -e \"require('fs').readFileSync('@O/unreadable')\"",
        Nothing,
    ),
    ("sh", "@O/file", Nothing),
    ("sh", "./notes", Nothing),
    ("sh", "exec @O/nowhere", Nothing),
    ("sh", "no-such-program-here", Nothing),
    ("cat", "cat @O/missing", Nothing),
    ("cat", "cat missing", Nothing),
    ("ls", "ls @O/missing", Nothing),
    ("sh", "echo 'permission denied: notes' >&2; exit 1", Nothing),
    (
        "sh",
        "echo 'test_denied: Permission denied (as it should be)' >&2; exit 1",
        Nothing,
    ),
    (
        "sh",
        "echo 'mentions /etc/shadow in passing' >&2; exit 1",
        Nothing,
    ),
    ("sh", "cat @H/.netrc; true", Nothing),
    ("sh", "cat sandbox/x", Nothing),
    ("touch", "touch locked/x", Nothing),
    ("python3", "python3 -c \"open('locked')\"", Nothing),
    ("python3", "python3 -c 'import nowhere'", Nothing),
    ("git", "git -C @W log", Nothing),
    ("curl", "curl -sS http://127.0.0.1:1/", Full("")),
    ("make", "make -f missing.mk", Nothing),
    ("gcc", "gcc missing.c", Nothing),
];

fn exists(tool: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(tool).exists())
}

fn check(tier: Tier) {
    let Some(helper) = helper() else {
        eprintln!("skipped: no helper; build palisade-linux-sandbox or set PALISADE_TEST_HELPER");
        return;
    };
    let mut wrong = Vec::new();
    let mut ran = 0;
    for (tool, script, expect) in ROWS {
        if !exists(tool) {
            eprintln!("skipped: {tool} is not installed");
            continue;
        }
        // A stage for each, since some get through to it.
        let stage = Stage::new();
        let Some(sandbox) = start(&stage, tier, helper.clone()) else {
            eprintln!("skipped: this host has no {tier:?} tier");
            return;
        };
        let script = stage.fill(script);
        let (outcome, text) = run(&stage, &sandbox, "sh", &script);
        let argv = ["sh", "-c", &script];
        let found = conclusions(
            &stage,
            &sandbox.policy,
            &sandbox.enforcement,
            &argv,
            &outcome,
            &text,
        );
        sandbox.session.end();
        ran += 1;
        let right = match expect {
            Both(wanted) => found.len() == 1 && found[0].contains(wanted),
            Full(wanted) if tier == Tier::Full && !wanted.is_empty() => {
                !found.is_empty() && found.iter().all(|found| found.contains(wanted))
            }
            // The landlock tier has lost these by name, so nothing of theirs is a denial.
            Full(_) if tier == Tier::Landlock => true,
            Full(_) | Nothing => found.is_empty(),
        };
        if std::env::var_os("PALISADE_SHOW_OUTPUTS").is_some() {
            eprintln!(
                "=== {} | {outcome:?} | {found:?}\n{}",
                stage.unfill(&script),
                stage.unfill(&text)
            );
        }
        if !right {
            wrong.push(format!(
                "{}\n  {outcome:?}\n  wrote {:?}\n  concluded {found:?}",
                stage.unfill(&script),
                stage.unfill(&text)
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {ran} wrong in the {tier:?} tier:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn tools_in_the_full_tier() {
    check(Tier::Full);
}

#[test]
fn tools_in_the_landlock_tier() {
    check(Tier::Landlock);
}
