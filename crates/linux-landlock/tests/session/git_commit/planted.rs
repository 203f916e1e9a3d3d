//! Attempts to leave something behind that the host's git would run, follow or overwrite. The session has the whole
//! git directory to itself, so every one of them succeeds there.

use palisade_linux_landlock::git_import::DropReason;

use super::{Repository, dropped};

/// Plants, beside an honest commit, and lets the owner go on. `PAYLOAD` is a program in the work tree, `MARKER` what it
/// makes, `VICTIM` a file outside.
#[track_caller]
fn plant(script: &str, reported: &[(&str, DropReason)]) {
    let Some(repository) = Repository::new() else {
        return;
    };
    repository.on_host(
        "printf '#!/bin/sh\\necho mine\\n' > .git/hooks/post-update; chmod +x .git/hooks/post-update",
    );
    let mut started = repository.start();
    let workspace = repository.bench.stage.workspace.display().to_string();
    let script = script
        .replace("PAYLOAD", &format!("{workspace}/payload"))
        .replace(
            "VICTIM",
            &format!("{}/victim", repository.bench.stage.outside.display()),
        );
    repository.inside(
        &started,
        &format!(
            "{}; echo payload >> .git/info/exclude; git commit -q --allow-empty -m honest; git rev-parse HEAD > honest
             {script}",
            repository.payload("payload"),
        ),
    );
    let report = repository.import(&mut started);
    assert_eq!(
        repository.on_host("git rev-parse main"),
        repository.on_host("cat honest"),
        "{script}: {report}"
    );
    for (path, why) in reported {
        assert_eq!(dropped(&report, path), why, "{script}: {report}");
    }
    // With the session still there, and without it.
    repository.is_sound();
    started.session.end();
    repository.owner_goes_on();
}

#[test]
fn hooks_and_configuration() {
    plant(
        "for hook in pre-commit post-commit post-checkout reference-transaction post-index-change pre-auto-gc \\
             post-merge post-rewrite prepare-commit-msg pre-rebase fsmonitor-watchman; do
             cp payload .git/hooks/$hook; done
         rm .git/hooks/post-update
         git config core.fsmonitor PAYLOAD; git config core.hooksPath PAYLOAD/..; git config core.pager PAYLOAD
         git config alias.status '!PAYLOAD'; git config filter.x.clean PAYLOAD; git config filter.x.smudge PAYLOAD
         git config diff.external PAYLOAD; git config core.editor PAYLOAD; git config gpg.program PAYLOAD
         git config include.path PAYLOAD; git config extensions.worktreeConfig true; git config core.sshCommand PAYLOAD
         printf '[core]\\n\\tfsmonitor = PAYLOAD\\n' > .git/config.worktree
         echo '* filter=x diff=x merge=x' > .git/info/attributes",
        &[
            ("hooks/pre-commit", DropReason::Steers),
            ("hooks/reference-transaction", DropReason::Steers),
            ("hooks/post-update", DropReason::Removed),
            ("config", DropReason::Steers),
            ("config.worktree", DropReason::Steers),
            ("info/attributes", DropReason::Steers),
            ("info/exclude", DropReason::Steers),
        ],
    );
}

#[test]
fn pointers_to_other_places() {
    plant(
        "git init -q elsewhere; cp payload elsewhere/.git/hooks/pre-commit; git -C elsewhere config core.fsmonitor PAYLOAD
         mkdir -p .git/worktrees/x .git/modules/x .git/remotes
         echo ../elsewhere/.git > .git/commondir; echo ../elsewhere/.git > .git/gitdir
         echo $PWD/elsewhere/.git > .git/worktrees/x/gitdir; echo ../../../elsewhere/.git > .git/worktrees/x/commondir
         echo 'ref: refs/heads/main' > .git/worktrees/x/HEAD
         cp elsewhere/.git/config .git/modules/x/config; echo $PWD/elsewhere/.git/objects > .git/objects/info/alternates
         echo 'URL: ext::PAYLOAD' > .git/remotes/origin; git -C elsewhere rev-parse --git-dir > /dev/null",
        &[
            ("commondir", DropReason::Steers),
            ("gitdir", DropReason::Steers),
            ("worktrees/x/gitdir", DropReason::Steers),
            ("worktrees/x/commondir", DropReason::Steers),
            ("modules/x/config", DropReason::Steers),
            ("objects/info/alternates", DropReason::Steers),
            ("remotes/origin", DropReason::Steers),
        ],
    );
}

#[test]
fn operations_that_would_go_on() {
    plant(
        "mkdir -p .git/rebase-merge .git/rebase-apply .git/sequencer
         echo 'exec PAYLOAD' > .git/rebase-merge/git-rebase-todo; echo refs/heads/main > .git/rebase-merge/head-name
         git rev-parse HEAD | tee .git/rebase-merge/onto .git/rebase-merge/orig-head .git/MERGE_HEAD > .git/CHERRY_PICK_HEAD
         touch .git/rebase-merge/interactive; echo 1 > .git/rebase-apply/next; echo 'exec PAYLOAD' > .git/sequencer/todo
         echo PAYLOAD > .git/BISECT_RUN; touch .git/index.lock .git/HEAD.lock .git/refs/heads/main.lock .git/gc.pid.lock",
        &[
            ("rebase-merge/git-rebase-todo", DropReason::Unfinished),
            ("rebase-apply/next", DropReason::Unfinished),
            ("sequencer/todo", DropReason::Unfinished),
            ("MERGE_HEAD", DropReason::Unfinished),
            ("CHERRY_PICK_HEAD", DropReason::Unfinished),
            ("index.lock", DropReason::Lock),
            ("HEAD.lock", DropReason::Lock),
        ],
    );
}

/// A rebase that stops half-way is real work: it stays in the session, and the branch stays where it was.
#[test]
fn a_rebase_that_stopped() {
    let Some(repository) = Repository::new() else {
        return;
    };
    let mut started = repository.start();
    let main = repository.on_host("git rev-parse main");
    repository.inside(
        &started,
        "git switch -qc topic v0; echo other >> file; git commit -qam topic; ! git rebase main > /dev/null 2>&1",
    );
    let report = repository.import(&mut started);
    assert!(
        report
            .dropped
            .iter()
            .any(|dropped| dropped.why == DropReason::Unfinished),
        "{report}"
    );
    repository.is_sound();
    repository.inside(
        &started,
        "echo resolved > file; git add file; GIT_EDITOR=true git rebase --continue > /dev/null",
    );
    repository.import(&mut started);
    let said = "git rev-parse topic main; git status --porcelain; git symbolic-ref HEAD";
    assert_eq!(repository.on_host(said), repository.inside(&started, said));
    assert_eq!(repository.on_host("git rev-parse main"), main);
    started.session.end();
    repository.owner_goes_on();
}

#[test]
fn links_in_place_of_files_that_git_writes() {
    plant(
        "for name in COMMIT_EDITMSG MERGE_MSG SQUASH_MSG ORIG_HEAD FETCH_HEAD description logs/extra; do
             rm -f .git/$name; ln -s VICTIM .git/$name; done
         rm -f .git/index .git/logs/HEAD .git/packed-refs; ln -s VICTIM .git/index; ln -s VICTIM .git/logs/HEAD
         ln -s VICTIM .git/packed-refs; ln -s VICTIM .git/refs/heads/linked; ln -s VICTIM .git/refs/tags/linked
         ln -s $PWD/../outside .git/refs/notes; mkfifo .git/refs/heads/pipe .git/pipe; ln -s /dev/zero .git/refs/heads/zero",
        &[
            ("COMMIT_EDITMSG", DropReason::NotRegular),
            ("index", DropReason::NotRegular),
            ("packed-refs", DropReason::NotRegular),
            ("refs/heads/linked", DropReason::NotRegular),
            ("refs/heads/pipe", DropReason::NotRegular),
        ],
    );
}

#[test]
fn links_in_place_of_directories() {
    plant(
        "mv .git/logs moved-logs; ln -s $PWD/moved-logs .git/logs; mkdir -p .git/refs/heads/d
         ln -s ../../../.. .git/refs/heads/d/up; rm -rf .git/hooks; ln -s $PWD .git/hooks; cp payload pre-commit
         rm -rf .git/info; ln -s $PWD .git/info; echo '* filter=x' > attributes",
        &[("hooks", DropReason::Steers)],
    );
}

#[test]
fn heads_that_are_none() {
    for (head, why) in [
        ("ref: refs/heads/../../config", DropReason::Name),
        ("ref: ../../outside/victim", DropReason::Malformed),
        ("ref: refs/heads/$(payload)", DropReason::Name),
        ("ref: refs/remotes/origin/main", DropReason::Malformed),
        (
            "0000000000000000000000000000000000000000",
            DropReason::Malformed,
        ),
        (
            "abababababababababababababababababababab",
            DropReason::Objects,
        ),
    ] {
        plant(
            &format!("printf '%s\\n' '{head}' > .git/HEAD"),
            &[("HEAD", why)],
        );
    }
    plant(
        "rm .git/HEAD; ln -s VICTIM .git/HEAD",
        &[("HEAD", DropReason::NotRegular)],
    );
}

#[test]
fn refs_and_objects_that_are_none() {
    plant(
        "for name in -x .hidden 'a b' x.lock; do git rev-parse HEAD > \".git/refs/heads/$name\"; done
         echo 'ref: refs/heads/main' > .git/refs/heads/symbolic; mkdir -p .git/refs/replace
         git rev-parse side > .git/refs/replace/$(git rev-parse main)
         head -c 20 /dev/zero | sha1sum | cut -c-40 > .git/refs/heads/nothing
         git rev-parse HEAD^{tree} > .git/refs/heads/tree
         truncate -s 8G .git/refs/heads/huge; truncate -s 8G .git/logs/refs/heads/main; truncate -s 8G .git/huge
         blob=$(git hash-object file); chmod u+w .git/objects/${blob:0:2}/${blob:2}; echo no > .git/objects/${blob:0:2}/${blob:2}
         evil=$(printf 'evil' | git hash-object -w --stdin)
         tree=$(printf '100644 blob %s\\t.git\\n' $evil | git mktree 2>/dev/null || printf '100644 blob %s\\tgit~1\\n' $evil | git mktree)
         git commit-tree -m evil $tree > .git/refs/heads/evil",
        &[
            ("refs/heads/nothing", DropReason::Objects),
            ("refs/heads/tree", DropReason::Objects),
            ("refs/heads/huge", DropReason::TooLarge),
        ],
    );
}

/// Whatever the session leaves of the git directory: nothing, or a file in its place is not possible, an empty one is.
#[test]
fn an_emptied_git_directory() {
    let Some(repository) = Repository::new() else {
        return;
    };
    let refs = "git for-each-ref; git symbolic-ref HEAD; git status --porcelain";
    let before = repository.on_host(refs);
    let mut started = repository.start();
    repository.inside(
        &started,
        "shopt -s dotglob; rm -rf .git/*; ! mv .git moved 2>/dev/null; ! rmdir .git 2>/dev/null",
    );
    let report = repository.import(&mut started);
    assert!(
        report.refs.is_empty() && report.index_paths == 0,
        "{report}"
    );
    assert_eq!(repository.on_host(refs), before);
    // A new repository in its place has nothing to do with the old one.
    repository.inside(
        &started,
        "git init -q -b main; git add file; git commit -qm unrelated",
    );
    repository.import(&mut started);
    started.session.end();
    repository.owner_goes_on();
}
