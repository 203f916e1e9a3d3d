//! Committing from inside, and nothing else.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::support::House;

/// A project with one commit, of somebody whose name is in their own configuration.
fn house() -> House {
    let house = House::new();
    house.write(
        ".gitconfig",
        "[user]\n\tname = Dev Eloper\n\temail = dev@example.org\n",
    );
    house.write("project/file", "one\n");
    house.git(["add", "file"]);
    house.git(["commit", "--quiet", "-m", "first"]);
    house
}

#[test]
fn a_commit_comes_back_with_the_users_name() {
    let house = house();
    house.write("project/file", "two\n");
    let said = house.say(["run", "--git", "commit", "--", "git", "commit", "-am", "x"]);
    assert_eq!(said.code, 0, "{said:?}");
    let log = house.git(["log", "--format=%s %an %ae"]);
    assert_eq!(log, "x Dev Eloper dev@example.org\nfirst T t@example.org\n");
    assert_eq!(house.git(["status", "--porcelain"]), "");
    assert_eq!(house.git(["show", "HEAD:file"]), "two\n");
}

/// The built-in rules let `git commit` commit. What no rule knows does not.
#[test]
fn without_the_flag_a_script_commits_nothing() {
    let house = house();
    house.write("project/file", "two\n");
    house.write("project/commit.sh", "git commit -am x\n");
    let said = house.say(["run", "--", "sh", "./commit.sh"]);
    assert_ne!(said.code, 0, "{said:?}");
    assert_eq!(house.git(["log", "--format=%s"]), "first\n");
}

/// What plants code in `.git`, each in its own way. The rules read none of it: it is in a file, so the sandbox alone keeps it.
const ATTACKS: [(&str, &str); 6] = [
    (
        "a hook",
        "echo evil > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
    ),
    (
        "the configuration",
        "git config core.hooksPath evil; git config alias.st '!evil'",
    ),
    (
        "the configuration as a file",
        "printf '[core]\\n\\tfsmonitor = evil\\n' >> .git/config",
    ),
    (
        "a renamed .git",
        "mv .git moved && mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit; \
         echo evil > moved/hooks/pre-commit; echo '[alias]' >> moved/config",
    ),
    (
        "a .git that is a file",
        "mv .git moved; cp -r moved evil; echo 'gitdir: evil' > .git; ln -sfn evil .git",
    ),
    (
        "another hook by a link",
        "ln -s /tmp/evil .git/hooks/post-commit; ln .git/config linked; echo evil >> linked",
    ),
];

#[test]
fn nothing_planted_in_git_reaches_the_host() {
    for (what, attack) in ATTACKS {
        let house = house();
        let dot_git = house.project().join(".git");
        let config = fs::read(dot_git.join("config")).unwrap();
        let hooks = names(&dot_git.join("hooks"));
        house.write("project/attack.sh", &format!("#!/bin/sh\n{attack}\n:\n"));
        let script = house.project().join("attack.sh");
        fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
        let said = house.say(["run", "--git", "commit", "--", "./attack.sh"]);
        assert!(
            dot_git.symlink_metadata().unwrap().is_dir(),
            "{what}: {said:?}"
        );
        assert_eq!(
            fs::read(dot_git.join("config")).unwrap(),
            config,
            "{what}: {said:?}"
        );
        assert_eq!(names(&dot_git.join("hooks")), hooks, "{what}: {said:?}");
        // What git does next runs nothing of it.
        house.write("project/file", "three\n");
        house.git(["commit", "--quiet", "-am", "after"]);
        assert_eq!(house.git(["log", "-1", "--format=%s"]), "after\n", "{what}");
    }
}

fn names(directory: &std::path::Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn an_attack_and_a_commit_in_one_sandbox_bring_back_the_commit_alone() {
    let house = house();
    house.write("project/file", "two\n");
    let hooks = names(&house.project().join(".git/hooks"));
    house.write(
        "project/both.sh",
        "#!/bin/sh\necho 'touch ../owned' > .git/hooks/post-commit; chmod +x .git/hooks/post-commit\n\
         git commit -qam inside\n",
    );
    let script = house.project().join("both.sh");
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
    let said = house.say(["run", "--git", "commit", "--", "./both.sh"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(house.git(["log", "-1", "--format=%s"]), "inside\n");
    assert_eq!(names(&house.project().join(".git/hooks")), hooks);
    assert!(!house.home().join("owned").exists());
}
