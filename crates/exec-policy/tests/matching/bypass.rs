//! The known bypass classes of other tools, by name.

use palisade_exec_policy::RuleDecision::{Allow, Forbid, Prompt};

use crate::support::Policy;

/// CVE-2025-66032: blanks from `$IFS`, and short flags, past a check for readers.
#[test]
fn ifs_and_short_flags() {
    Policy::built_in().never_allows(&[
        "cat$IFS/etc/shadow",
        "sort${IFS}-o${IFS}x",
        "sort -ox f",
        "sort -ro x f",
        "git diff -ox",
        "tree -aox",
    ]);
}

/// CVE-2025-54795: what `echo` is given is parsed like everything else.
#[test]
fn echo_parsing() {
    let policy = Policy::built_in();
    policy.never_allows(&[
        "echo \"a\"; touch /etc/x",
        "echo $(id)",
        "echo `id`",
        "echo a > /etc/x",
        "echo a | tee ../x",
        "echo -e \"\\$(id)\"",
    ]);
    policy.check(Allow, &["echo 'a; b'", "echo \"a | b\""]);
}

/// CVE-2025-58764: `rg` runs programs.
#[test]
fn ripgrep_preprocessors() {
    Policy::built_in().never_allows(&[
        "rg --pre ./x y",
        "rg --pre=./x y",
        "rg y --pr ./x",
        "rg --hostname-bin ./x y",
        "rg -z y",
        "rg -nz y",
        "rg -A --pre=./x y",
    ]);
}

/// CVE-2025-64755 and CVE-2026-25723: `sed` writes, also behind a pipe.
#[test]
fn sed_writes() {
    Policy::built_in().never_allows(&[
        "sed 'w x' f",
        "sed -n '/a/w x' f",
        "sed s/a/b/w f",
        "sed -i s/a/b/ f",
        "echo 'a' | sed 'w .bashrc'",
        "cat f | sed -i p f",
        "sed --in-place=.b p f",
        "sed -Ei p f",
        "sed -n '1e id' f",
        "sed 's/x/id/e' f",
        "sed -n p -- -i f | sed 'e'",
    ]);
}

/// CVE-2026-24887: `find` acts.
#[test]
fn find_actions() {
    Policy::built_in().never_allows(&[
        "find . -delete",
        "find . -name x -exec id {} +",
        "find . -fprint x",
        "find . -okdir id {} +",
        "find . -fls x",
        "find *",
    ]);
}

/// CVE-2026-25722: `cd` before a write.
#[test]
fn cd_before_a_write() {
    let policy = Policy::built_in();
    policy.never_allows(&[
        "cd .. && touch x",
        "cd /tmp && touch x",
        "cd .git && touch hooks/x",
        "cd .git/hooks && echo x > pre-commit",
        "cd a/../.. && touch x",
        "cd $x && touch y",
        "cd; touch x",
        "cd src; cd ../..; touch x",
        "cd .claude && touch settings.json",
        "cd - && touch x",
    ]);
    policy.check(Allow, &["cd src && touch x", "cd src/a && touch ../b"]);
    policy.check(
        Forbid,
        &[
            "cd .git && cp ../x hooks/pre-commit",
            "cd / && rm -rf *",
            "cd .. && rm -rf app",
        ],
    );
}

/// CVE-2026-24053: zsh's clobbering redirect.
#[test]
fn clobbering_redirects() {
    Policy::built_in().never_allows(&[
        "echo x >| ../y",
        "echo x >! ../y",
        "echo x >|/etc/x",
        "echo x >| .git/config",
    ]);
}

/// Forbids hold beyond any number of commands.
#[test]
fn forbids_beyond_fifty_commands() {
    let policy = Policy::built_in();
    for count in [10, 51, 200, 400] {
        let script = format!("{}rm -rf /", "ls; ".repeat(count));
        assert_eq!(policy.says(&script), Forbid, "{count}");
    }
    assert_ne!(
        policy.says(&format!("{}rm -rf /", "ls; ".repeat(5000))),
        Allow
    );
}

/// CVE-2025-54131: backticks and `$( )`.
#[test]
fn substitutions() {
    let policy = Policy::built_in();
    policy.never_allows(&[
        "ls `id`",
        "ls $(id)",
        "echo \"$(id)\"",
        "git log --format=\"`id`\"",
    ]);
    policy.check(
        Forbid,
        &[
            "ls $(rm -rf /)",
            "ls `rm -rf /`",
            "echo \"a $(echo $(rm -rf /))\"",
        ],
    );
}

/// CVE-2026-22708: builtins poison what later commands mean.
#[test]
fn poisoned_state() {
    Policy::built_in().never_allows(&[
        "export PATH=.; git status",
        "alias git=id; git status",
        "export GIT_PAGER=id; git log",
        "set -a; ls",
        "hash -p ./x git; git status",
        "typeset PATH=.; ls",
        "source x; ls",
        "printf -v PATH .; ls",
        "read PATH; ls",
        "export LD_PRELOAD=x && ls",
        "unset x; ls",
        "shopt -s dotglob; cat *",
        "declare -x PATH=.; ls",
        "set -o noglob; ls",
    ]);
}

/// CVE-2025-59944: names on volumes that fold case.
#[test]
fn case_folding() {
    let policy = Policy::built_in();
    policy.check(
        Forbid,
        &[
            "RM -rf /",
            "Sudo id",
            "echo x > .GIT/hooks/pre-commit",
            "cp x .Git/config",
            "cat ~/.SSH/id_rsa",
        ],
    );
    policy.never_allows(&[
        "cat .ENV",
        "cp .Env x",
        "LS",
        "Git status",
        "touch .VSCODE/x",
    ]);
}

/// CVE-2026-29783: parameter expansions that evaluate.
#[test]
fn evaluating_expansions() {
    Policy::built_in().never_allows(&[
        "echo ${v@P}",
        "echo ${v:=$(id)}",
        "echo ${!v}",
        "echo \"${v:-`id`}\"",
        "echo $((a[$(id)]))",
    ]);
}

/// A global option does not hide a subcommand.
#[test]
fn global_options_hide_nothing() {
    let policy = Policy::built_in();
    policy.check(
        Forbid,
        &[
            "git -C x push -f",
            "git --no-pager push --force",
            "git -c a=b push -f",
            "git --git-dir x push -f",
            "git --frob=1 push -f",
            "git -C a -C b --bare push -f",
        ],
    );
    policy.check(
        Prompt,
        &[
            "git -C x push",
            "git -c a=b status",
            "git --exec-path=x status",
            "git --git-dir=x log",
            "git --frob status",
        ],
    );
    policy.check(Allow, &["git -C src status", "git --no-pager -C src log"]);
}

/// A path is not the program that it is named like.
#[test]
fn planted_programs() {
    let policy = Policy::built_in();
    policy.check(
        Prompt,
        &[
            "./git status",
            "/tmp/git status",
            "bin/git status",
            "/srv/app/git status",
            "../git status",
            "/usr/bin/../../tmp/git status",
            "~/bin/git status",
        ],
    );
    policy.check(Allow, &["/usr/bin/git status", "/bin/ls"]);
    policy.check(Forbid, &["./rm -rf /", "/tmp/sudo id"]);
}

/// Rules are not lost behind a shell, variables or wrappers.
#[test]
fn wrapped_commands_are_the_commands() {
    let policy = Policy::built_in();
    policy.check(
        Allow,
        &[
            "bash -lc 'git status'",
            "zsh -lc 'git status'",
            "RUST_LOG=x git status",
            "env CI=1 git status",
            "nice -n 3 git status",
            "timeout 5 git status",
        ],
    );
    policy.check(
        Prompt,
        &[
            "bash -lc 'git push'",
            "env CI=1 git push",
            "bash -c 'bash -c \"git push\"'",
        ],
    );
    policy.check(
        Forbid,
        &[
            "bash -lc 'git push -f'",
            "CI=1 git push -f",
            "env CI=1 nice git push -f",
            "sudo git status",
        ],
    );
}

/// A response file, a pipe or a here-document must not smuggle arguments or code past a rule.
#[test]
fn arguments_from_elsewhere() {
    Policy::built_in().never_allows(&[
        "gcc @args",
        "xargs touch < list",
        "xargs git < list",
        "xargs -I{} cp {} x",
        "find . | xargs sort",
        "find . | xargs rg x",
        "python3 - <<'EOF'\nx\nEOF",
        "bash <<'EOF'\nls\nEOF",
        "cat x | python3",
        "make -f - < x",
        "echo .env | xargs cat",
        "sort --files0-from=x",
        "xargs -a .env echo",
        "xargs --arg-file=/home/dev/.ssh/id_rsa cat",
        "python3 -m timeit 1",
        "git init --template=x",
        "cargo doc --open",
    ]);
}

/// Parser tricks do not find a reader where there is none.
#[test]
fn no_allow_from_text_that_is_not_plain() {
    Policy::built_in().never_allows(&[
        "ls\r",
        "ls \u{200b}",
        "ls\u{a0}-la",
        "l\\s",
        "git diff\\\ntool",
        "=ls",
        "ls {a,b}",
        "ls &",
        "ls 'x",
        "(ls)",
        "time -p ls",
        "!ls",
        "ls #",
    ]);
}

#[expect(clippy::disallowed_types, reason = "time is what is tested")]
#[test]
fn a_long_word_takes_no_time() {
    let policy = Policy::built_in();
    let word = "a=:,@".repeat(12 * 1024);
    let start = std::time::Instant::now();
    for program in [
        "cat",
        "cp x",
        "rm -r",
        "echo",
        "git add",
        "grep -r x",
        "frob",
    ] {
        policy.never_allows(&[
            &format!("{program} {word}"),
            &format!("frob $x; {program} {word}"),
        ]);
    }
    assert!(start.elapsed() < std::time::Duration::from_secs(5));
}
