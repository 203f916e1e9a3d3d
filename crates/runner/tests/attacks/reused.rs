//! An approval answers the question that was asked, and no other.

use std::fs;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use palisade_exec_policy::{GrantScope, ReviewDecision};
use palisade_policy::{AbsolutePath, Grant, SandboxPermissions};

use crate::support::{Person, Stage, outside, writing};

#[test]
fn an_approval_for_the_session_is_not_for_other_variables() {
    let stage = Stage::new();
    let proof = stage.path("outside/proof");
    let program = stage.script("workspace/program", "true");
    let evil = stage.script("workspace/evil", &format!("touch {}", proof.display()));
    let person = Person::new(&[ReviewDecision::ApprovedForSession]);
    let session = stage.session(stage.policy(), person.answering());
    for _ in 0..2 {
        let run = outside(session.command(&program)).output_blocking();
        assert!(run.unwrap().outcome.success());
    }
    assert_eq!(
        person.prompts().len(),
        1,
        "the same command is not asked about twice"
    );
    let run = outside(session.command(&program).env("BASH_ENV", &evil)).output_blocking();
    assert!(!proof.exists(), "{run:?}");
    assert_eq!(person.prompts().len(), 2);
    let shown = person.prompts()[1].display_line();
    assert!(shown.contains("BASH_ENV="), "{shown}");
}

#[test]
fn an_approval_for_the_session_is_not_for_other_input() {
    let stage = Stage::new();
    let proof = stage.path("outside/proof");
    let person = Person::new(&[ReviewDecision::ApprovedForSession]);
    let session = stage.session(stage.policy(), person.answering());
    let shell = |input: String| outside(session.command("bash").stdin(input));
    assert!(
        shell("true".to_owned())
            .output_blocking()
            .unwrap()
            .outcome
            .success()
    );
    let run = shell(format!("touch {}", proof.display())).output_blocking();
    assert!(!proof.exists(), "{run:?}");
    assert_eq!(person.prompts().len(), 2);
}

#[test]
fn an_approval_to_leave_the_sandbox_is_not_for_what_the_program_became() {
    let stage = Stage::new();
    let proof = stage.path("outside/proof");
    let program = stage.script("workspace/program", "true");
    let person = Person::new(&[ReviewDecision::ApprovedForSession]);
    let session = stage.session(stage.policy(), person.answering());
    let run = outside(session.command(&program)).output_blocking();
    assert!(run.unwrap().outcome.success());
    // From within the sandbox, where the workspace is the command's own.
    let rewritten = session
        .script(format!(
            "printf '#!/bin/sh\\ntouch {}\\n' > {}",
            proof.display(),
            program.display()
        ))
        .output_blocking()
        .unwrap();
    assert!(rewritten.outcome.success(), "{:?}", rewritten.outcome);
    let run = outside(session.command(&program)).output_blocking();
    assert!(!proof.exists(), "{run:?}");
    assert_eq!(person.prompts().len(), 2);
}

#[test]
fn a_grant_ends_when_the_answer_says() {
    let stage = Stage::new();
    let now = || {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap()
            .as_secs()
    };
    let ends = now() + 3;
    let grant = ReviewDecision::ApprovedWithGrant {
        grant: Grant::Write(AbsolutePath::new(stage.path("outside")).unwrap()),
        scope: GrantScope::Session,
        expires: Some(ends),
    };
    let person = Person::new(&[grant]);
    let session = stage.session(stage.policy(), person.answering());
    let asked = session.script("rm -rf nothing").output_blocking().unwrap();
    assert!(asked.outcome.success(), "{:?}", asked.outcome);
    while now() < ends {
        std::thread::sleep(Duration::from_millis(50));
    }
    let late = stage.path("outside/late");
    let run = session.command("touch").arg(&late).output_blocking();
    assert!(!late.exists(), "{run:?}");
    assert!(session.granted().is_empty());
}

#[test]
fn an_answer_that_makes_no_sense_costs_neither_the_output_nor_the_session() {
    let stage = Stage::new();
    let target = stage.path("outside/file");
    let text = format!("echo kept; echo x > {}", target.display());
    stage.script("workspace/program", &text);
    let policy = stage
        .policy()
        .approval(palisade_exec_policy::AskForApproval::OnFailure);
    let person = Person::new(&[writing("/")]);
    let session = stage.session(policy, person.answering());
    let run = session
        .command(stage.path("workspace/program"))
        .output_blocking()
        .unwrap();
    assert_eq!(run.output.stdout.text(), "kept\n");
    assert!(fs::symlink_metadata(&target).is_err());
    let run = session.command("true").output_blocking().unwrap();
    assert!(run.outcome.success());
}

#[test]
fn an_approval_for_the_session_is_not_for_other_permissions() {
    let stage = Stage::new();
    let person = Person::new(&[ReviewDecision::ApprovedForSession]);
    let session = stage.session(stage.policy(), person.answering());
    let text = format!("echo x | tee {0}/a {0}/b", stage.path("outside").display());
    let program = stage.script("workspace/program", &text);
    let asking = |below: &str| {
        let permissions = SandboxPermissions::WithAdditionalPermissions {
            fs_read: Vec::new(),
            fs_write: vec![AbsolutePath::new(stage.path(below)).unwrap()],
            network: Vec::new(),
        };
        session.command(&program).asking_for(permissions, "it must")
    };
    for name in ["a", "b"] {
        fs::write(stage.path("outside").join(name), "").unwrap();
    }
    let run = asking("outside/a").output_blocking().unwrap();
    assert_eq!(
        fs::read_to_string(stage.path("outside/a")).unwrap(),
        "x\n",
        "{:?}",
        run.outcome
    );
    let shown = person.prompts()[0].reasons.join(" ");
    assert!(shown.contains("outside/a"), "{shown}");
    let run = asking("outside/b").output_blocking();
    assert_eq!(
        fs::read_to_string(stage.path("outside/b")).unwrap(),
        "",
        "{run:?}"
    );
    assert_eq!(person.prompts().len(), 2);
}
