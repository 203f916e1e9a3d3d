//! What was judged is what runs: nothing that changes while a person thinks, or later, takes its place.

use std::fs;
use std::os::unix::fs::symlink;

use palisade_exec_policy::ReviewDecision;
use palisade_policy::{AbsolutePath, Grant, SandboxType};
use palisade_runner::outcome::Outcome;
use palisade_runner::session::SessionOptions;

use crate::support::{Person, Stage, outside, writing};

/// Runs the stage's program without the sandbox, after a person has seen it and `meanwhile` has happened.
fn approved_while(stage: &Stage, meanwhile: impl Fn() + Send + Sync + 'static) -> bool {
    let session = stage.session(stage.policy(), move |_| {
        meanwhile();
        ReviewDecision::Approved
    });
    let program = stage.path("workspace/program");
    let run = outside(session.command(program)).output_blocking().unwrap();
    let refused = matches!(run.outcome, Outcome::SetupFailed(_));
    assert!(refused || run.sandbox == SandboxType::None);
    !refused
}

#[test]
fn a_program_that_is_replaced_while_a_person_thinks_does_not_run() {
    let stage = Stage::new();
    stage.script("workspace/program", "true");
    assert!(
        approved_while(&stage, || {}),
        "what nobody touches must run"
    );
    let proof = stage.path("outside/proof");
    let evil = stage.script("workspace/evil", &format!("touch {}", proof.display()));
    let program = stage.path("workspace/program");
    let ran = approved_while(&stage, move || fs::rename(&evil, &program).unwrap());
    assert!(!ran && !proof.exists());
}

#[test]
fn a_program_that_is_rewritten_while_a_person_thinks_does_not_run() {
    let stage = Stage::new();
    let program = stage.script("workspace/program", "true");
    let proof = stage.path("outside/proof");
    let text = format!("#!/bin/bash\ntouch {}\n", proof.display());
    let ran = approved_while(&stage, move || fs::write(&program, &text).unwrap());
    assert!(!ran && !proof.exists());
}

#[test]
fn a_program_that_appears_earlier_in_the_search_path_while_a_person_thinks_does_not_run() {
    let stage = Stage::new();
    let proof = stage.path("outside/proof");
    let (evil, name) = (
        stage.script("workspace/evil", &format!("touch {}", proof.display())),
        stage.path("bin/true"),
    );
    let session = stage.session(stage.policy(), move |_| {
        fs::copy(&evil, &name).unwrap();
        ReviewDecision::Approved
    });
    let run = outside(session.command("true")).output_blocking().unwrap();
    assert!(!proof.exists(), "{:?}", run.outcome);
}

#[test]
fn a_directory_that_leads_elsewhere_after_it_was_judged_is_not_entered() {
    let stage = Stage::new();
    let (link, real) = (stage.path("workspace/link"), stage.path("workspace/real"));
    fs::create_dir(&real).unwrap();
    symlink(&real, &link).unwrap();
    let elsewhere = stage.path("outside");
    let flip = {
        let (link, elsewhere) = (link.clone(), elsewhere.clone());
        move || {
            fs::remove_file(&link).unwrap();
            symlink(&elsewhere, &link).unwrap();
        }
    };
    let session = stage.session(stage.policy(), move |_| {
        flip();
        ReviewDecision::Approved
    });
    let run = outside(session.command("touch").arg("proof").cwd("link"))
        .output_blocking()
        .unwrap();
    assert!(!elsewhere.join("proof").exists(), "{:?}", run.outcome);
}

#[test]
fn a_directory_that_is_replaced_after_it_was_judged_is_not_entered() {
    let stage = Stage::new();
    let (real, moved) = (stage.path("workspace/real"), stage.path("workspace/moved"));
    fs::create_dir(&real).unwrap();
    let elsewhere = stage.path("outside");
    let flip = {
        let elsewhere = elsewhere.clone();
        move || {
            fs::rename(&real, &moved).unwrap();
            symlink(&elsewhere, &real).unwrap();
        }
    };
    let session = stage.session(stage.policy(), move |_| {
        flip();
        ReviewDecision::Approved
    });
    let run = outside(session.command("touch").arg("proof").cwd("real"))
        .output_blocking()
        .unwrap();
    assert!(!elsewhere.join("proof").exists(), "{:?}", run.outcome);
}

/// A rule lets a name run without the sandbox. A command that may write a directory of the search path puts its own file
/// there under that name.
#[test]
fn a_rule_about_a_name_is_not_about_a_file_that_commands_can_write() {
    const RULES: &str = r#"
version = 1
[[rule]]
id = "tool"
prefix = ["palisade-tool"]
decision = "allow"
unsandboxed = true
"#;
    // Not where anybody's programs are distrusted anyway.
    let Some(stage) = Stage::elsewhere() else {
        return;
    };
    let tools = stage.path("bin");
    let proof = stage.path("outside/proof");
    let with_root = stage.policy().also_write(&tools);
    let with_grant = stage.policy();
    for (policy, granted) in [(with_root, false), (with_grant, true)] {
        let person = Person::new(&[writing(&tools)]);
        let options = SessionOptions::default();
        let session = stage.session_under(RULES, policy, person.answering(), options);
        if granted {
            // Anything that is asked about.
            let asked = session.script("rm -rf nothing").output_blocking().unwrap();
            assert!(asked.outcome.success(), "{:?}", asked.outcome);
            let grant = Grant::Write(AbsolutePath::new(&tools).unwrap());
            assert_eq!(session.granted(), [grant]);
        }
        let planted = session
            .script(format!(
                "printf '#!/bin/sh\\ntouch {proof}\\n' > {tool} && chmod +x {tool}",
                proof = proof.display(),
                tool = tools.join("palisade-tool").display()
            ))
            .output_blocking()
            .unwrap();
        assert!(planted.outcome.success(), "{:?}", planted.outcome);
        let run = session.command("palisade-tool").output_blocking();
        assert!(!proof.exists(), "{run:?}");
        fs::remove_file(tools.join("palisade-tool")).unwrap();
    }
}
