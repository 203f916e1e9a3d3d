//! A project's files loosen something only with the content that the user agreed to.

use std::fs;
use std::os::unix::fs::symlink;

use palisade_exec_policy::RuleDecision;
use palisade_runner::config::{ConfigError, FileProblem, ProjectTrust, project_layer};

use crate::support::{Stage, now, rule, verdict};

#[test]
fn trust_is_about_content() {
    let stage = Stage::new();
    let text = format!(
        "include = [\"team/*.toml\"]\n{}",
        rule("p", "\"deploy\"", "allow")
    );
    let file = stage.project(&text);
    stage.write(
        "project/.palisade/team/a.toml",
        &rule("a", "\"build\"", "allow"),
    );
    let says = || {
        let configuration = stage.load().unwrap();
        let trusted = matches!(configuration.project_trust, ProjectTrust::Trusted(_));
        let allowed = ["deploy", "build"]
            .map(|command| verdict(&configuration, command) == RuleDecision::Allow);
        assert_eq!(allowed, [trusted; 2]);
        assert_ne!(configuration.notices.is_empty(), !trusted);
        trusted
    };
    let trust = stage.state().trust();
    assert!(!says());
    let seen = project_layer(&stage.at("project")).unwrap().unwrap();
    assert_eq!(seen.files.len(), 2);
    assert!(trust.trust(&seen, now()).unwrap());
    assert!(!trust.trust(&seen, now()).unwrap(), "once is enough");
    assert!(says());

    // Another byte in any of them, one more that the pattern finds, one less.
    let before = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{before}\n")).unwrap();
    assert!(!says());
    let error = trust.trust(&seen, now()).unwrap_err();
    assert!(
        matches!(error, ConfigError::ChangedSinceShown { .. }),
        "{error}"
    );
    fs::write(&file, &before).unwrap();
    assert!(says());
    let more = stage.write("project/.palisade/team/b.toml", "");
    assert!(!says());
    fs::rename(&more, stage.at("project/b.toml")).unwrap();
    assert!(says());

    // Also under another name of the same project.
    symlink(stage.at("project"), stage.at("link")).unwrap();
    assert_eq!(project_layer(&stage.at("link")).unwrap().unwrap(), seen);

    assert!(trust.untrust(&stage.root()).unwrap());
    assert!(!trust.untrust(&stage.root()).unwrap());
    assert!(!says());
}

#[test]
fn an_untrusted_project_still_tightens() {
    let stage = Stage::new();
    stage.user(&rule("u", "\"deploy\"", "allow"));
    stage.project(&rule("p", "\"deploy\"", "forbid"));
    assert_eq!(
        verdict(&stage.load().unwrap(), "deploy"),
        RuleDecision::Forbid
    );
}

#[test]
fn without_files_there_is_nothing_to_trust() {
    let stage = Stage::new();
    assert_eq!(project_layer(&stage.at("project")).unwrap(), None);
    let file = stage.project("");
    let seen = project_layer(&stage.at("project")).unwrap().unwrap();
    fs::remove_file(file).unwrap();
    let error = stage.state().trust().trust(&seen, now()).unwrap_err();
    assert!(
        matches!(error, ConfigError::NothingToTrust { .. }),
        "{error}"
    );
}

#[test]
fn a_trust_file_that_is_not_understood_refuses_and_stays() {
    let stage = Stage::new();
    let file = stage.project("");
    let seen = project_layer(&stage.at("project")).unwrap().unwrap();
    let trust = stage.state().trust();
    trust.trust(&seen, now()).unwrap();
    let good = fs::read_to_string(trust.path()).unwrap();
    for bad in [
        &good[..good.len() / 2],
        "{}",
        "{\"version\":2,\"projects\":[]}",
        &good.replace("sha256\": \"", "sha256\": \"x"),
    ] {
        fs::write(trust.path(), bad).unwrap();
        assert!(
            matches!(stage.refused(&trust.path()), FileProblem::Corrupt(_)),
            "{bad}"
        );
        assert!(trust.trust(&seen, now()).is_err());
        assert!(trust.untrust(&stage.root()).is_err());
        assert_eq!(
            fs::read_to_string(trust.path()).unwrap(),
            bad,
            "left as it was"
        );
    }
    fs::remove_file(file).unwrap();
}
