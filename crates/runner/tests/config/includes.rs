//! What a file includes.

use std::fs;
use std::os::unix::fs::symlink;

use palisade_exec_policy::RuleDecision;
use palisade_runner::config::{ConfigError, FileProblem, MAX_FILES};

use crate::support::{Stage, chmod, rule, verdict};

#[test]
fn a_pattern_stands_for_files_in_the_order_of_their_names() {
    let stage = Stage::new();
    for name in ["b", "a", "c"] {
        let text = rule(name, &format!("\"{name}\""), "forbid");
        stage.write(&format!("home/.config/palisade/team/{name}.toml"), &text);
    }
    // None of these is meant.
    fs::write(stage.at("home/.config/palisade/team/.a.toml"), "broken").unwrap();
    fs::write(stage.at("home/.config/palisade/team/a.toml~"), "broken").unwrap();
    fs::create_dir(stage.at("home/.config/palisade/team/d.toml")).unwrap();
    stage.user("include = [\"team/*.toml\"]\n");
    let configuration = stage.load().unwrap();
    let names: Vec<_> = configuration
        .sources
        .iter()
        .map(|source| source.path.file_name().unwrap().to_str().unwrap())
        .collect();
    assert_eq!(names, ["policy.toml", "a.toml", "b.toml", "c.toml"]);
    for command in ["a", "b", "c"] {
        assert_eq!(verdict(&configuration, command), RuleDecision::Forbid);
    }
}

#[test]
fn includes_start_where_they_stand_and_are_read_once() {
    let stage = Stage::new();
    stage.user("include = [\"a/one.toml\", \"shared.toml\"]\n");
    stage.write(
        "home/.config/palisade/a/one.toml",
        "include = [\"two.toml\", \"../shared.toml\"]\n",
    );
    stage.write(
        "home/.config/palisade/a/two.toml",
        &rule("two", "\"two\"", "forbid"),
    );
    stage.write(
        "home/.config/palisade/shared.toml",
        &rule("shared", "\"shared\"", "forbid"),
    );
    let configuration = stage.load().unwrap();
    assert_eq!(configuration.sources.len(), 4);
    assert_eq!(verdict(&configuration, "two"), RuleDecision::Forbid);
    assert_eq!(verdict(&configuration, "shared"), RuleDecision::Forbid);
}

#[test]
fn what_leads_nowhere_in_a_circle_or_too_far_is_refused() {
    let stage = Stage::new();
    for (text, says) in [
        ("include = [\"none.toml\"]\n", "none.toml"),
        ("include = [\"policy.toml\"]\n", "circle"),
        ("include = [\"**/a.toml\"]\n", "`**`"),
        ("include = [\"deep0.toml\"]\n", "deep"),
    ] {
        stage.user(text);
        for level in 0..10 {
            let next = format!("include = [\"deep{}.toml\"]\n", level + 1);
            stage.write(&format!("home/.config/palisade/deep{level}.toml"), &next);
        }
        stage.write("home/.config/palisade/deep10.toml", "");
        let error = stage.load().unwrap_err().to_string();
        assert!(
            error.contains(says) && error.contains(".toml"),
            "{text}: {error}"
        );
    }
    // A pattern may stand for nothing, and that is said.
    stage.user("include = [\"none/*.toml\"]\n");
    assert_eq!(stage.load().unwrap().notices.len(), 1);
}

#[test]
fn an_included_file_is_checked_like_the_one_that_includes_it() {
    let stage = Stage::new();
    stage.user("include = [\"team.toml\"]\n");
    let team = stage.write("home/.config/palisade/team.toml", "");
    chmod(&team, 0o666);
    assert!(matches!(
        stage.refused(&team),
        FileProblem::OthersCanWrite { .. }
    ));
    chmod(&team, 0o644);
    fs::write(&team, "broken").unwrap();
    let error = stage.load().unwrap_err();
    assert!(error.to_string().contains("team.toml:1:"), "{error}");
}

#[test]
fn a_project_includes_nothing_from_outside_its_own_directory() {
    let stage = Stage::new();
    let secret = stage.write("home/secret.toml", "");
    stage.write("project/other.toml", "");
    let absolute = format!("include = [{:?}]\n", secret.to_str().unwrap());
    for text in [
        "include = [\"../other.toml\"]\n",
        "include = [\"../../home/*.toml\"]\n",
        &absolute,
    ] {
        stage.project(text);
        let error = stage.load().unwrap_err();
        let outside = matches!(
            &error,
            ConfigError::File {
                problem: FileProblem::LeadsOutside { .. },
                ..
            }
        );
        assert!(outside, "{text}: {error}");
    }
    stage.project("include = [\"link.toml\", \"team/*.toml\"]\n");
    for (name, target) in [("link.toml", "../other.toml"), ("team", "../../home")] {
        let link = stage.at("project/.palisade").join(name);
        symlink(target, &link).unwrap();
        let error = stage.load().unwrap_err();
        let outside = matches!(
            &error,
            ConfigError::File {
                problem: FileProblem::LeadsOutside { .. },
                ..
            }
        );
        assert!(outside, "{name}: {error}");
        assert!(
            !error.to_string().contains("version"),
            "nothing of it is shown: {error}"
        );
        fs::remove_file(link).unwrap();
        stage.write("project/.palisade/link.toml", "");
    }
    stage.load().unwrap();
}

#[test]
fn a_layer_has_an_end() {
    let stage = Stage::new();
    stage.user("include = [\"many/*.toml\"]\n");
    for index in 0..=MAX_FILES {
        stage.write(&format!("home/.config/palisade/many/{index}.toml"), "");
    }
    let error = stage.load().unwrap_err();
    assert!(
        matches!(
            &error,
            ConfigError::File {
                problem: FileProblem::TooMuch { .. },
                ..
            }
        ),
        "{error}"
    );
}
