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
    let _asked = session.script("rm -rf nothing").output_blocking();
    let _run = session
        .script(format!("rm {0}; echo theirs > {0}", own.display()))
        .output_blocking();
    assert_eq!(
        fs::read(&own).unwrap().len(),
        fs::read(crate::support::helper()).unwrap().len()
    );
}
