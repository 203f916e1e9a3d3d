//! Where history could not come back, the session is refused before anything runs, unless that loss was accepted.

use std::fs;
use std::path::Path;

use palisade_linux_landlock::git_import::{ImportError, ImportOptions};
use palisade_linux_landlock::{GitHistory, Helper, StartError, Tier, start, start_on};
use palisade_policy::{AcceptedLosses, Guarantee, Level};

use super::Repository;
use crate::support::{helper_path, landlock_losses};
use crate::toolbox::find;

/// Refused without the loss accepted; with it, git works in a layer that ends with the session.
#[track_caller]
fn refused(repository: &Repository, helper: &Helper, why: &str) {
    let context = repository.bench.stage.context();
    let none = AcceptedLosses::none();
    let error = start(&repository.policy(), &context, &none, helper).unwrap_err();
    let StartError::Refused(refusal) = &error else {
        panic!("{error}");
    };
    assert_eq!(refusal.losses.len(), 1);
    assert_eq!(refusal.losses[0].guarantee, Guarantee::GitImport);
    assert!(error.to_string().contains(why), "{error}");

    let accepted = [Guarantee::GitImport].into_iter().collect();
    let mut started = start(&repository.policy(), &context, &accepted, helper).unwrap();
    assert_eq!(
        started.enforcement.level(Guarantee::GitImport),
        Level::NotEnforced
    );
    assert!(started.history.is_none());
    let before = repository.on_host("git rev-parse main");
    repository.inside(&started, "git commit -q --allow-empty -m private");
    assert!(started.import_git().is_empty());
    started.session.end();
    assert_eq!(repository.on_host("git rev-parse main"), before);
}

fn with_git(git: impl AsRef<Path>) -> Helper {
    Helper::new(helper_path()).with_git(ImportOptions::new(git.as_ref()))
}

#[test]
fn no_git_at_all() {
    let Some(repository) = Repository::new() else {
        return;
    };
    refused(&repository, &Helper::new(helper_path()), "no git is known");
    refused(
        &repository,
        &with_git("/nonexistent/git"),
        "cannot be started",
    );
    refused(&repository, &with_git("git"), "its path is not absolute");
    refused(&repository, &with_git("/bin/false"), "git rev-parse failed");
}

/// A session that can write git, or whatever leads to it, could have the host run anything.
#[test]
fn a_git_that_the_session_can_write() {
    let Some(repository) = Repository::new() else {
        return;
    };
    let stage = &repository.bench.stage;
    let planted = stage.workspace.join("bin/git");
    repository.on_host(&repository.payload("payload"));
    fs::create_dir(stage.workspace.join("bin")).unwrap();
    fs::rename(stage.workspace.join("payload"), &planted).unwrap();
    let why = "the session could write it";
    refused(&repository, &with_git(&planted), why);
    let link = stage.home.join("git");
    std::os::unix::fs::symlink(&planted, &link).unwrap();
    refused(&repository, &with_git(&link), why);
    let roundabout = stage.home.join("../workspace/bin/git");
    refused(&repository, &with_git(roundabout), why);
    assert!(!repository.marker().exists());
}

/// A link in the workspace that leads to a good git is resolved once: where it leads later does not matter.
#[test]
fn a_link_to_git_that_the_session_replaces() {
    let Some(repository) = Repository::new() else {
        return;
    };
    let link = repository.bench.stage.workspace.join("git-2.0");
    std::os::unix::fs::symlink(find("git").unwrap(), &link).unwrap();
    let context = repository.bench.stage.context();
    let none = AcceptedLosses::none();
    let mut started = start(&repository.policy(), &context, &none, &with_git(&link)).unwrap();
    repository.inside(
        &started,
        &format!(
            "rm git-2.0; {}; git commit -q --allow-empty -m new",
            repository.payload("git-2.0")
        ),
    );
    repository.import(&mut started);
    assert_eq!(repository.on_host("git log -1 --format=%s"), "new\n");
    assert!(!repository.marker().exists());
}

#[test]
fn a_repository_that_cannot_be_imported_to() {
    let Some(repository) = Repository::new() else {
        return;
    };
    // As git would make it; what is in it does not matter to whoever cannot read it.
    if repository
        .bench
        .stage
        .workspace
        .join(".git/reftable")
        .exists()
    {
        return;
    }
    fs::create_dir(repository.dot_git().join("reftable")).unwrap();
    refused(
        &repository,
        &Repository::helper(),
        "refs are kept in reftables",
    );
}

#[test]
fn without_namespaces() {
    let Some(repository) = Repository::new() else {
        return;
    };
    let stage = &repository.bench.stage;
    let attempt = |accepted: &AcceptedLosses| {
        start_on(
            stage.host(Tier::Landlock),
            &repository.policy(),
            &stage.context(),
            accepted,
            &Repository::helper(),
        )
    };
    let others: AcceptedLosses = Guarantee::ALL
        .into_iter()
        .filter(|guarantee| landlock_losses().contains(*guarantee))
        .filter(|guarantee| *guarantee != Guarantee::GitImport)
        .collect();
    let error = attempt(&others).unwrap_err();
    let StartError::Refused(refusal) = &error else {
        panic!("{error}");
    };
    let lost: Vec<Guarantee> = refusal.losses.iter().map(|loss| loss.guarantee).collect();
    assert_eq!(lost, [Guarantee::GitImport]);
    let mut started = attempt(&landlock_losses()).unwrap();
    assert_eq!(started.plan.tier, Tier::Landlock);
    assert!(started.plan.git.is_empty() && started.history.is_none());
    assert!(started.import_git().is_empty());
}

/// History is brought back from the session that it was noted for, to the directory that it was noted of.
#[test]
fn another_session_and_another_directory() {
    let (Some(repository), Some(other)) = (Repository::new(), Repository::new()) else {
        return;
    };
    let mut started = repository.start();
    let of_other = other.start();
    other.inside(&of_other, "git commit -q --allow-empty -m other");
    let options = ImportOptions::new(find("git").unwrap());
    let mut history = GitHistory::before(&started.plan, &started.policy, &options).unwrap();
    let imports = history.import(&of_other.session);
    assert!(
        matches!(imports[0].outcome, Err(ImportError::Session(_))),
        "{imports:?}"
    );

    repository.inside(&started, "git commit -q --allow-empty -m new");
    repository.on_host("cp -a .git copy; mv .git aside; mv copy .git");
    let before = repository.on_host("git for-each-ref");
    let imports = started.import_git();
    assert!(
        matches!(imports[0].outcome, Err(ImportError::Unsupported(_))),
        "{imports:?}"
    );
    assert_eq!(repository.on_host("git for-each-ref"), before);
    repository.on_host("rm -rf .git; mv aside .git");
    repository.import(&mut started);
    assert_eq!(repository.on_host("git log -1 --format=%s"), "new\n");
}
