//! Programs that people use, in a sandbox, to hosts that the policy lists: git, pip, npm and cargo against servers that
//! the test starts.
#![expect(clippy::print_stdout, reason = "a test says what it skips")]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use palisade_exec_policy::ReviewDecision;
use palisade_runner::approve::Prompt;
use palisade_runner::judge::RuleBook;
use palisade_runner::outcome::Finished;
use palisade_runner::session::{Sandbox, Session};
use sha2::{Digest as _, Sha256};

use crate::made_up_net::{MadeUp, files, host};
use crate::support::Stage;

/// Whether the system has these programs; says which one it has not.
pub(crate) fn have(programs: &[&str]) -> bool {
    programs.iter().all(|program| {
        let there = Path::new(program).exists();
        if !there {
            println!("skipped: there is no {program}");
        }
        there
    })
}

/// Makes something outside, with the system's shell.
#[track_caller]
pub(crate) fn make(directory: &Path, script: &str) {
    let made = Command::new("bash")
        .args(["-ec", script])
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
}

/// A session that reaches one made-up host, where the files below `outside` are.
fn session(stage: &Stage, name: &str) -> Session {
    let (server, _) = files(stage.path("outside"));
    let net = Arc::new(MadeUp::default().with(name, 80, server));
    Sandbox::on(
        stage.host().with_egress(net.egress()),
        stage.policy().grant(host(name, 80)),
    )
    .unwrap()
    .session(RuleBook::builtin().unwrap(), answer)
    .unwrap()
}

/// Agrees to commands, and to no further host.
fn answer(prompt: &Prompt) -> ReviewDecision {
    match prompt.proposed_grant {
        Some(_) => ReviewDecision::Denied,
        None => ReviewDecision::Approved,
    }
}

fn run(session: &Session, script: &str) -> Finished {
    session.script(script).output_blocking().unwrap()
}

#[track_caller]
fn prints(session: &Session, script: &str, expected: &str) {
    let run = run(session, script);
    assert!(run.outcome.success(), "{run}");
    assert_eq!(run.output.stdout.text(), expected, "{run}");
}

#[test]
fn git_clones() {
    if !have(&["/usr/bin/git"]) {
        return;
    }
    let stage = Stage::new();
    make(
        &stage.path("outside"),
        "git init --quiet work
         git -C work -c user.name=dev -c user.email=dev@git.test commit --quiet --allow-empty -m first
         git clone --quiet --bare work repo.git
         git -C repo.git update-server-info",
    );
    let session = session(&stage, "git.test");
    prints(
        &session,
        "git clone --quiet http://git.test/repo.git copy && git -C copy log --format=%s",
        "first\n",
    );
    let refused = run(&session, "git clone --quiet http://evil.test/repo.git evil");
    assert!(!refused.outcome.success(), "{refused}");
    assert!(
        refused.outcome.to_string().contains("evil.test"),
        "{refused}"
    );
}

#[test]
fn pip_installs() {
    if !have(&["/usr/bin/python3"]) {
        return;
    }
    let stage = Stage::new();
    let outside = stage.path("outside");
    fs::create_dir_all(outside.join("simple/demo")).unwrap();
    let wheel = "demo-1.0-py3-none-any.whl";
    let script = format!(
        "python3 - <<'END'
import zipfile
with zipfile.ZipFile('simple/demo/{wheel}', 'w') as wheel:
    wheel.writestr('demo.py', 'word = \"installed\"\\n')
    wheel.writestr('demo-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: demo\\nVersion: 1.0\\n')
    wheel.writestr('demo-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr('demo-1.0.dist-info/RECORD', '')
END"
    );
    make(&outside, &script);
    fs::write(
        outside.join("simple/demo/index.html"),
        format!("<a href=\"{wheel}\">{wheel}</a>"),
    )
    .unwrap();
    let session = session(&stage, "pypi.test");
    prints(
        &session,
        "/usr/bin/python3 -m venv env >&2 && env/bin/pip install --quiet --disable-pip-version-check \
         --index-url http://pypi.test/simple/ --trusted-host pypi.test demo >&2 && \
         env/bin/python -c 'import demo; print(demo.word)'",
        "installed\n",
    );
}

#[test]
fn npm_installs() {
    if !have(&["/usr/bin/npm", "/usr/bin/node"]) {
        return;
    }
    let stage = Stage::new();
    let outside = stage.path("outside");
    make(
        &outside,
        r#"mkdir package
         echo '{"name":"demo","version":"1.0.0","main":"index.js"}' > package/package.json
         echo 'module.exports = "installed";' > package/index.js
         tar -czf demo-1.0.0.tgz package"#,
    );
    fs::write(
        outside.join("demo"),
        r#"{"name":"demo","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"demo","version":"1.0.0",
            "dist":{"tarball":"http://npm.test/demo-1.0.0.tgz"}}}}"#,
    )
    .unwrap();
    fs::write(stage.path("workspace/package.json"), "{\"name\":\"mine\"}").unwrap();
    let session = session(&stage, "npm.test");
    prints(
        &session,
        "npm install --silent --no-audit --no-fund --registry http://npm.test/ demo >&2 && \
         node -e 'console.log(require(\"demo\"))'",
        "installed\n",
    );
}

#[test]
fn cargo_fetches() {
    // The system's: one that belongs to a user cannot be seen from here.
    if !have(&["/usr/bin/cargo"]) {
        return;
    }
    let stage = Stage::new();
    let outside = stage.path("outside");
    make(
        &outside,
        r#"mkdir -p demo-1.0.0/src index/de/mo dl
         printf '[package]\nname = "demo"\nversion = "1.0.0"\nedition = "2021"\n' > demo-1.0.0/Cargo.toml
         echo 'pub const WORD: &str = "installed";' > demo-1.0.0/src/lib.rs
         tar -czf dl/demo-1.0.0.crate demo-1.0.0"#,
    );
    let digest = Sha256::digest(fs::read(outside.join("dl/demo-1.0.0.crate")).unwrap());
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    fs::write(
        outside.join("index/de/mo/demo"),
        format!(
            r#"{{"name":"demo","vers":"1.0.0","deps":[],"cksum":"{digest}","features":{{}},"yanked":false}}"#
        ),
    )
    .unwrap();
    fs::write(
        outside.join("index/config.json"),
        r#"{"dl":"http://cargo.test/dl/{crate}-{version}.crate"}"#,
    )
    .unwrap();
    let workspace = stage.workspace();
    fs::create_dir(workspace.join("src")).unwrap();
    fs::write(workspace.join("src/lib.rs"), "").unwrap();
    fs::write(
        workspace.join("Cargo.toml"),
        "[package]\nname = \"mine\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\
         [dependencies]\ndemo = { version = \"1\", registry = \"local\" }\n",
    )
    .unwrap();
    let session = session(&stage, "cargo.test");
    prints(
        &session,
        "export CARGO_HOME=$PWD/cargo-home
         /usr/bin/cargo fetch --quiet --config 'registries.local.index=\"sparse+http://cargo.test/index/\"' >&2 && \
         cat cargo-home/registry/src/*/demo-1.0.0/src/lib.rs",
        "pub const WORD: &str = \"installed\";\n",
    );
}
