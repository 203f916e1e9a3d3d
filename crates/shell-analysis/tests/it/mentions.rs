//! What the forbid side sees, with and without the full parser.

use palisade_shell_analysis::{Limits, MentionWord, Shell, analyze_argv, analyze_script};

use crate::render::{bash, full};

/// Whether some mention starts with these words.
pub(crate) fn mentions(analysis: &palisade_shell_analysis::Analysis, expected: &str) -> bool {
    let expected: Vec<&[u8]> = expected.split(' ').map(str::as_bytes).collect();
    analysis.mentions.commands.iter().any(|mention| {
        mention.words.len() >= expected.len()
            && mention
                .words
                .iter()
                .zip(&expected)
                .all(|(word, expected)| word.known() == Some(*expected))
    })
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let analysis = bash(text);
    assert!(
        mentions(&analysis, expected),
        "{text:?}\n{}",
        full(&analysis)
    );
}

#[track_caller]
fn check_not(text: &str, unexpected: &str) {
    let analysis = bash(text);
    assert!(
        !mentions(&analysis, unexpected),
        "{text:?}\n{}",
        full(&analysis)
    );
}

#[test]
fn a_literal_command_is_found_anywhere() {
    for text in [
        "rm -rf /",
        "ls;rm -rf /",
        "ls\nrm -rf /",
        "echo $(rm -rf /)",
        "echo `rm -rf /`",
        "echo \"$(rm -rf /)\"",
        "echo \"${x:=$(rm -rf /)}\"",
        "echo $((a[$(rm -rf /)]))",
        "git() { rm -rf /; }; git status",
        "(rm -rf /)",
        "{ rm -rf /; }",
        "if a; then b; else rm -rf /; fi",
        "while rm -rf /; do a; done",
        "for x in $(rm -rf /); do a; done",
        "case $(rm -rf /) in a) b;; esac",
        "case x in a) rm -rf /;; esac",
        "rm -rf / &",
        "nohup nice -n 5 rm -rf / &",
        "! rm -rf /",
        "time rm -rf /",
        "diff <(rm -rf /) x",
        "cat <<E\n$(rm -rf /)\nE",
        "bash <<E\nrm -rf /\nE",
        "bash <<'E'\nrm -rf /\nE",
        "echo 'rm -rf /' | sh",
        "cat <<'E' | sudo bash\nrm -rf /\nE",
        "bash -c 'rm -rf /'",
        "bash -lc \"rm -rf /\" x",
        "sh -euc 'echo $(rm -rf /)'",
        "bash -O extglob -c 'rm -rf /'",
        "eval 'rm -rf /'",
        "eval rm -rf /",
        "trap 'rm -rf /' EXIT",
        "alias ls='rm -rf /'",
        "sudo rm -rf /",
        "sudo -Z rm -rf /",
        "env -i A=1 rm -rf /",
        "env -S 'rm -rf /'",
        "timeout 5 rm -rf /",
        "command rm -rf /",
        "exec rm -rf /",
        "xargs rm -rf / < x",
        "parallel rm -rf ::: / x",
        "watch -n 1 rm -rf /",
        "watch 'rm -rf /'",
        "script -qc 'rm -rf /' /dev/null",
        "su -c 'rm -rf /'",
        "flock x rm -rf /",
        "chroot x rm -rf /",
        "noglob rm -rf /",
        "repeat 2 rm -rf /",
        "busybox rm -rf /",
        "find . -exec rm -rf / \\;",
        "find . -execdir rm -rf / +",
        "coproc rm -rf /",
        "\\rm -rf /",
        "r''m -rf /",
        "\"rm\" -rf /",
        "$'\\x72\\x6d' -rf /",
        "r\\\nm -rf /",
        "=rm -rf /",
        "PAGER='rm -rf /' git log",
        "git -c alias.st='!rm -rf /' st",
        "git submodule foreach 'rm -rf /'",
        "git rebase -x 'rm -rf /' HEAD",
        "a=(x $(rm -rf /))",
        "a[$(rm -rf /)]=1",
        "x > $(rm -rf /)",
        "echo 'oops; rm -rf /",
        "echo ok\rrm; rm -rf /",
        "f() (rm -rf /)",
        "\u{e9}; rm -rf /",
        "rm -rf / | a && b || c",
        "select x in a; do rm -rf /; done",
        "((x=$(rm -rf /)))",
        "fish -c 'rm -rf /'",
        "/bin/BASH -c 'rm -rf /'",
        "bash -c 'bash -c \"rm -rf /\"'",
        "until false; do rm -rf /; done",
        "echo ${x#$(rm -rf /)}",
        "echo ${x/$(rm -rf /)/y}",
        "[ \"$(rm -rf /)\" ]",
        "function f { rm -rf /; }",
        "sudo -u x -- sh -c 'rm -rf /'",
        "if (x) { rm -rf / }",
    ] {
        check(text, "rm -rf /");
    }
}

/// The loose scan does not expand; all of these are opaque all the same.
#[cfg(feature = "bash-parser")]
#[test]
fn the_full_parser_sees_through_expansions() {
    for text in [
        "[[ -v 'a[$(rm -rf /)]' ]]",
        "bash <<< 'rm -rf /'",
        "{rm,-rf,/}",
        "X=rm; $X -rf /",
        "X='rm -rf /'; $X",
        "rm${IFS}-rf${IFS}/",
        "r$@m -rf /",
        "${x:-rm} -rf /",
    ] {
        check(text, "rm -rf /");
    }
}

#[test]
fn layers_are_mentioned_too() {
    for text in [
        "sudo env A=1 nice rm x",
        "bash -c 'sudo nice rm x'",
        "sudo -Z nice rm x",
    ] {
        check(text, "sudo");
        check(text, "nice rm x");
        check(text, "rm x");
    }
}

#[test]
fn data_is_not_mentioned() {
    for text in [
        "git commit -m 'fix; rm -rf /'",
        "grep -n \"rm -rf /\" f",
        "git commit -F - <<'E'\nmsg; rm -rf /\nE",
        "git commit -m \"$x; rm -rf /\"",
        "cat > f <<E\nrm -rf / $x\nE",
        "echo rm -rf /",
    ] {
        if cfg!(feature = "bash-parser") || bash(text).plain.is_ok() {
            check_not(text, "rm -rf /");
        }
    }
}

#[test]
fn redirects_are_mentioned() {
    for text in [
        "echo x > .git/hooks/pre-commit",
        "echo $x > .git/hooks/pre-commit",
        "{ a; } >.git/hooks/pre-commit",
    ] {
        let analysis = bash(text);
        let target = MentionWord::Known(b".git/hooks/pre-commit".to_vec());
        assert!(
            analysis
                .mentions
                .commands
                .iter()
                .any(|mention| mention.redirects.iter().any(|(_, word)| *word == target)),
            "{}",
            full(&analysis)
        );
    }
}

#[test]
fn argument_lists_are_followed_even_when_opaque() {
    for argv in [
        &["bash", "-c", "echo $(rm -rf /)"][..],
        &["sudo", "-s", "rm", "-rf", "/"],
        &["find", ".", "-exec", "rm", "-rf", "/", ";"],
        &["cmd", "/c", "rm -rf /"],
        &["pwsh", "-Command", "rm -rf /"],
        &["env", "bash", "-ic", "rm -rf /"],
    ] {
        let analysis = analyze_argv(argv, &Limits::default());
        assert!(
            mentions(&analysis, "rm -rf /"),
            "{argv:?}\n{}",
            full(&analysis)
        );
    }
}

#[test]
fn windows_shells_are_scanned() {
    let analysis = analyze_script(
        "cd C:\\x; Remove-Item -Recurse C:\\y",
        Shell::PowerShell,
        &Limits::default(),
    );
    assert!(mentions(&analysis, "Remove-Item -Recurse C:\\y"));
}
