//! Approvals and grants that are kept.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use palisade_exec_policy::approvals::{AmendmentSource, ApprovalEdit, Keep, edit_for};
use palisade_exec_policy::{ExecPolicyAmendment, RuleDecision};
use palisade_policy::{AbsolutePath, Grant, NetworkScope};
use palisade_runner::config::{ConfigError, FileProblem, StoredGrant};

use crate::support::{Stage, chmod, now, rule, verdict};

pub(crate) fn keep(stage: &Stage, prefix: &[&str], source: AmendmentSource<'_>) -> ApprovalEdit {
    let amendment = ExecPolicyAmendment::new(prefix.iter().copied()).unwrap();
    edit_for(&amendment, source, &Keep::for_project(stage.root(), now())).unwrap()
}

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn what_is_kept_is_in_force_the_next_time() {
    let stage = Stage::new();
    stage.user(&rule("ask", "\"cargo\", \"add\"", "prompt"));
    let approvals = stage.state().approvals();
    let answer = keep(
        &stage,
        &["cargo", "add"],
        AmendmentSource::RulePrompt("ask"),
    );
    let allow = keep(&stage, &["frobnicate", "lint"], AmendmentSource::Unmatched);
    assert_eq!(
        verdict(&stage.load().unwrap(), "frobnicate lint"),
        RuleDecision::Prompt
    );
    assert!(approvals.store(&answer).unwrap());
    assert!(approvals.store(&allow).unwrap());
    let before = fs::metadata(approvals.path()).unwrap().modified().unwrap();
    assert!(
        !approvals.store(&allow).unwrap(),
        "keeping twice is keeping once"
    );
    assert_eq!(
        fs::metadata(approvals.path()).unwrap().modified().unwrap(),
        before
    );
    let configuration = stage.load().unwrap();
    assert_eq!(
        verdict(&configuration, "frobnicate lint x"),
        RuleDecision::Allow
    );
    let answered =
        configuration
            .approvals
            .answers("ask", &["cargo", "add", "x"], &stage.root(), now());
    assert!(answered);
    let ApprovalEdit::Keep(allowed) = allow else {
        panic!("it was kept")
    };
    assert!(approvals.store(&ApprovalEdit::Remove(allowed)).unwrap());
    assert_eq!(
        verdict(&stage.load().unwrap(), "frobnicate lint"),
        RuleDecision::Prompt
    );
    // Nobody else reads it, and nothing else is left behind.
    assert_eq!(mode(&approvals.path()), 0o600);
    assert_eq!(mode(stage.state().directory()), 0o700);
    let mut names: Vec<_> = fs::read_dir(stage.state().directory())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, [".approvals.toml.lock", "approvals.toml"]);
}

#[test]
fn a_file_that_is_not_ours_alone_is_neither_read_nor_replaced() {
    let stage = Stage::new();
    let approvals = stage.state().approvals();
    let edit = keep(&stage, &["cargo", "add"], AmendmentSource::Unmatched);
    approvals.store(&edit).unwrap();
    let path = approvals.path();
    let refused = |problem: fn(&FileProblem) -> bool| {
        for error in [
            approvals.read().unwrap_err(),
            approvals.store(&edit).unwrap_err(),
        ] {
            assert!(
                matches!(&error, ConfigError::File { problem: found, .. } if problem(found)),
                "{error}"
            );
        }
        assert!(stage.load().is_err());
    };
    chmod(&path, 0o666);
    refused(|problem| matches!(problem, FileProblem::OthersCanWrite { .. }));
    chmod(&path, 0o600);
    chmod(stage.state().directory(), 0o777);
    refused(|problem| matches!(problem, FileProblem::OthersCanWrite { .. }));
    chmod(stage.state().directory(), 0o700);

    let elsewhere = stage.at("elsewhere.toml");
    fs::rename(&path, &elsewhere).unwrap();
    let text = fs::read_to_string(&elsewhere).unwrap();
    symlink(&elsewhere, &path).unwrap();
    refused(|problem| matches!(problem, FileProblem::Link));
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), text);
    fs::remove_file(&path).unwrap();
    symlink("nowhere", &path).unwrap();
    refused(|problem| matches!(problem, FileProblem::Link));
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    refused(|problem| matches!(problem, FileProblem::NotRegular));
    fs::remove_dir(&path).unwrap();

    let lock = stage.state().directory().join(".approvals.toml.lock");
    fs::remove_file(&lock).unwrap();
    symlink(&elsewhere, &lock).unwrap();
    assert!(approvals.store(&edit).is_err());
    assert!(!path.exists());
}

#[test]
fn a_torn_file_refuses_and_stays() {
    let stage = Stage::new();
    let approvals = stage.state().approvals();
    let edit = keep(&stage, &["cargo", "add"], AmendmentSource::Unmatched);
    approvals.store(&edit).unwrap();
    let good = fs::read(approvals.path()).unwrap();
    for bad in [&good[..good.len() - 10], b"\xff\xfe", b"version = 7\n"] {
        fs::write(approvals.path(), bad).unwrap();
        assert!(approvals.read().is_err());
        assert!(approvals.store(&edit).is_err());
        assert!(stage.load().is_err());
        assert_eq!(fs::read(approvals.path()).unwrap(), bad);
    }
}

#[test]
fn grants_hold_for_their_project_until_they_expire() {
    let stage = Stage::new();
    let grants = stage.state().grants();
    let path = |path: &str| AbsolutePath::new(path).unwrap();
    let host =
        Grant::Host(palisade_policy::NetworkAllowlistEntry::https("registry.example").unwrap());
    let read = StoredGrant::new(stage.root(), Grant::Read(path("/srv/data")), now());
    let reach = StoredGrant::new(stage.root(), host.clone(), now()).until(now().plus_days(1));
    let day = u64::try_from(now().plus_days(1).unix()).unwrap();
    let same = StoredGrant::new(stage.root(), host.clone(), now()).until_unix(Some(day));
    assert_eq!(same.unwrap(), reach);
    assert!(reach.clone().until_unix(Some(u64::MAX)).is_err());
    let foreign = StoredGrant::new(path("/srv/other"), Grant::Read(path("/srv/secret")), now());
    for grant in [&read, &reach, &foreign] {
        assert!(grants.keep(grant).unwrap());
        assert!(!grants.keep(grant).unwrap());
    }
    let at = |days| {
        grants
            .grants_for(&stage.root(), now().plus_days(days))
            .unwrap()
    };
    assert_eq!(at(0), [read.grant.clone(), host.clone()]);
    assert_eq!(
        at(1),
        std::slice::from_ref(&read.grant),
        "it is over at that very second"
    );
    let configuration = stage.load().unwrap();
    assert_eq!(configuration.grants, at(0));
    assert!(matches!(
        configuration.policy.network(),
        NetworkScope::Only(_)
    ));
    // Renewed, there is still one; and what is over goes when something is written.
    assert!(
        grants
            .keep(&StoredGrant::new(
                stage.root(),
                read.grant.clone(),
                now().plus_days(2)
            ))
            .unwrap()
    );
    let all = grants.read().unwrap();
    assert_eq!(all.len(), 2, "{all:?}");
    assert!(grants.remove(&stage.root(), &read.grant).unwrap());
    assert!(!grants.remove(&stage.root(), &read.grant).unwrap());
    let whole = StoredGrant::new(stage.root(), Grant::Write(path("/")), now());
    assert!(matches!(
        grants.keep(&whole),
        Err(ConfigError::Grant { .. })
    ));
    fs::write(grants.path(), "{\"version\":1").unwrap();
    assert!(matches!(
        stage.refused(&grants.path()),
        FileProblem::Corrupt(_)
    ));
}

#[test]
fn a_grant_that_is_kept_does_not_go_below_the_floor() {
    let stage = Stage::new();
    let host =
        Grant::Host(palisade_policy::NetworkAllowlistEntry::https("registry.example").unwrap());
    let write = Grant::Write(AbsolutePath::new(stage.at("data")).unwrap());
    for grant in [&host, &write] {
        let grant = StoredGrant::new(stage.root(), grant.clone(), now());
        stage.state().grants().keep(&grant).unwrap();
    }
    stage.system("[floor]\nno-network = true\n");
    let configuration = stage.load().unwrap();
    assert_eq!(configuration.grants, std::slice::from_ref(&write));
    assert_eq!(configuration.ignored_grants, std::slice::from_ref(&host));
    assert!(!matches!(
        configuration.policy.network(),
        NetworkScope::Only(_)
    ));
    stage.system("[floor]\npreset = \"read-only\"\n");
    assert_eq!(stage.load().unwrap().grants, [host]);
}
