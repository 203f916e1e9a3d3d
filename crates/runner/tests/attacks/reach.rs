//! Nothing that decides about commands is theirs to write, whatever a person grants.

use std::fs;
use std::path::PathBuf;

use palisade_exec_policy::ReviewDecision;
use palisade_runner::config::State;
use palisade_runner::session::SessionOptions;

use crate::support::{Person, Stage, writing};

/// Gives this grant, then lets a command of the session write the file.
fn reaches(stage: &Stage, state: bool, grant: ReviewDecision, file: &PathBuf) -> bool {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let person = Person::new(&[grant]);
    let options = match state {
        true => SessionOptions::default()
            .with_state(State::new(stage.path("home/.local/state/palisade"))),
        false => SessionOptions::default(),
    };
    let session = stage.session_under("", stage.policy(), person.answering(), options);
    let asked = session.script("rm -rf nothing").output_blocking();
    assert_eq!(person.prompts().len(), 1);
    let run = session
        .script(format!("echo '# theirs' >> {}", file.display()))
        .output_blocking();
    let reached = fs::read_to_string(file).is_ok_and(|text| text.contains("theirs"));
    let both = format!("{asked:?} {run:?}");
    assert!(reached || both.contains("palisade"), "it says what: {both}");
    reached
}

#[test]
fn a_grant_of_the_home_does_not_open_what_people_agreed_to() {
    for name in ["approvals.toml", "grants.json", "trust.json"] {
        let stage = Stage::new();
        let file = stage.path("home/.local/state/palisade").join(name);
        assert!(!reaches(&stage, true, writing(stage.path("home")), &file));
        assert!(!reaches(
            &stage,
            false,
            writing(stage.path("home/.local")),
            &file
        ));
        assert!(!reaches(
            &stage,
            true,
            writing(file.parent().unwrap()),
            &file
        ));
    }
}

#[test]
fn a_grant_does_not_open_policies_claims_or_records() {
    let stage = Stage::new();
    for below in [
        "home/.config/palisade/policy.toml",
        "home/.local/state/palisade/audit/audit.jsonl",
        "home/.local/state/palisade/run/claims/lock",
    ] {
        let file = stage.path(below);
        assert!(
            !reaches(&stage, false, writing(file.parent().unwrap()), &file),
            "{below}"
        );
    }
}

#[test]
fn a_grant_does_not_open_the_helper() {
    let stage = Stage::new();
    let own = stage.path("outside/palisade-helper");
    fs::copy(crate::support::helper(), &own).unwrap();
    let person = Person::new(&[writing(stage.path("outside"))]);
    let host = stage.host().with_helper(&own);
    let session = palisade_runner::session::Sandbox::on(host, stage.policy())
        .unwrap()
        .session(
            palisade_runner::judge::RuleBook::builtin().unwrap(),
            person.answering(),
        )
        .unwrap();
    let text = format!("mv {0} {0}.away; rm {0}; echo theirs > {0}", own.display());
    let granted = session
        .script(format!("rm -rf nothing; {text}"))
        .output_blocking();
    assert!(own.is_file(), "{granted:?}");
    let program = stage.script("workspace/program", &text);
    let run = session.command(program).output_blocking();
    assert!(own.exists(), "{run:?}");
    assert_eq!(
        fs::read(&own).unwrap().len(),
        fs::read(crate::support::helper()).unwrap().len()
    );
}

/// Whoever can open a file for reading can lock it: a command that stays in the background would keep everybody from ever
/// claiming a workspace again.
#[test]
fn a_command_cannot_hold_the_locks_of_the_runner() {
    let stage = Stage::new();
    let options = || {
        let state = State::new(stage.path("home/.local/state/palisade"));
        SessionOptions::default().with_state(state)
    };
    let nobody = |_: &palisade_runner::approve::Prompt| ReviewDecision::Denied;
    let session = stage.session_under("", stage.policy(), nobody, options());
    let claims = stage.path("home/.local/state/palisade/run/claims");
    assert!(
        session
            .command("true")
            .output_blocking()
            .unwrap()
            .outcome
            .success()
    );
    assert!(claims.join("lock").exists(), "there is a lock to hold");
    let held = session
        .script(format!(
            "exec 9< {}/lock && flock -n 9 && echo held && (setsid sleep 300 </dev/null >/dev/null 2>&1 &)",
            claims.display()
        ))
        .output_blocking()
        .unwrap();
    assert_eq!(held.output.stdout.text(), "", "{:?}", held.outcome);
    assert!(
        session
            .command("true")
            .output_blocking()
            .unwrap()
            .outcome
            .success()
    );
}

#[test]
fn a_workspace_that_is_the_home_leaves_what_decides_alone() {
    let stage = Stage::new();
    let file = stage.path("home/.local/state/palisade/approvals.toml");
    let policy = palisade_runner::session::Policy::workspace(stage.path("home"))
        .approval(palisade_exec_policy::AskForApproval::OnRequest)
        .allow_home_root();
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let session = stage.session(policy, |_| ReviewDecision::Denied);
    for file in [file, stage.path("home/.config/palisade/policy.toml")] {
        let text = format!(
            "mkdir -p {0}; echo theirs > {1}",
            file.parent().unwrap().display(),
            file.display()
        );
        let program = stage.script("home/program", &text);
        let run = session.command(program).output_blocking().unwrap();
        assert!(
            !run.outcome.success() && !file.exists(),
            "{:?}",
            run.outcome
        );
    }
    let run = session
        .command("touch")
        .arg("mine")
        .output_blocking()
        .unwrap();
    assert!(run.outcome.success(), "{:?}", run.outcome);
}
