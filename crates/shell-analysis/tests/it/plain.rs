//! What is plain and what is opaque, case by case.

#[cfg(unix)]
use std::ffi::OsString;

use palisade_shell_analysis::{
    Limits, OpaqueReason as Reason, Shell, analyze_argv, analyze_script,
};

use crate::render::{bash, plain};

#[track_caller]
fn check(text: &str, expected: &str) {
    let rendered = plain(&bash(text));
    let squeezed = |text: &str| -> Vec<String> {
        let lines = text.lines();
        lines
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect()
    };
    let (rendered, expected) = (squeezed(&rendered), squeezed(expected));
    assert_eq!(rendered, expected, "{text:?}");
}

#[track_caller]
fn opaque(text: &str, reason: Reason) {
    match bash(text).plain {
        Ok(plain) => panic!("{text:?} is plain: {plain:?}"),
        Err(opaque) => assert_eq!(opaque.reason(), reason, "{text:?}: {opaque}"),
    }
}

#[test]
fn words_and_quotes() {
    check("ls -la", "[ls] [-la]");
    check("r''m \"a b\"'c'd", "[rm] [a bcd]");
    check("p '' \"\"", "[p] [] []");
    check("p 'a\nb'", r"[p] [a\nb]");
    check(
        "git diff HEAD~1 -- a:b x=y",
        "[git] [diff] [HEAD~1] [--] [a:b] [x=y]",
    );
    check("awk '{print $2}' f", "[awk] [{print $2}] [f]");
    check("wc -l src/*.rs", "[wc] [-l] glob[src/*.rs]");
    check("[ -f a ] && echo b", "[[] [-f] [a] []]\n&& [echo] [b]");
}

#[test]
fn operators_and_blank_lines() {
    check(
        "a && b || c; d | e\nf",
        "[a]\n&& [b]\n|| [c]\n; [d]\n| [e]\n; [f]",
    );
    check(
        "\n\na\n\n;",
        "opaque: syntax: an operator without a command (byte 5)",
    );
    check("a;\n\nb;\n", "[a]\n; [b]");
    check("a &&\n\n b |\n c", "[a]\n&& [b]\n| [c]");
    check("a |& b", "[a]\n|& [b]");
    for text in [
        "", " ", "\n", "a &&", "&& a", "a ;; b", "a ; ; b", "a | | b", "a |", ";", "a\n&& b",
    ] {
        opaque(text, Reason::Syntax);
    }
}

#[test]
fn redirects_are_data() {
    check("p >out 2>&1", "[p] 1>path[out] 2>&1");
    check(
        "p >/dev/null 2>>log <in",
        "[p] 1>null 2>>path[log] 0<path[in]",
    );
    check("p >| x", "[p] 1>|path[x]");
    check("p>x", "[p] 1>path[x]");
    check(">x p", "[p] 1>path[x]");
    for text in [
        "p >&x",
        "p <>x",
        "p > a*",
        "p >&-",
        "p 2>&1-",
        "p >&12",
        "p 10>x",
        "p a1>x",
        "p ''>x",
        "p <1-5>",
        "p >",
        ">x",
        "p > ''",
        "p &>x",
        "p >!x",
        "p 3<x",
        "p 0>x",
        "p >/dev/tcp/a/1",
        "p > -",
    ] {
        let analysis = bash(text);
        assert!(analysis.plain.is_err(), "{text:?}: {analysis:?}");
    }
    opaque("p <<E\nx\nE", Reason::HereDocument);
    opaque("p <<<x", Reason::HereDocument);
}

#[test]
fn here_documents_are_data() {
    check(
        "git commit -F - <<'EOF'\nmsg; rm -rf / $x\nEOF\nls",
        "[git] [commit] [-F] [-] 0<<body[msg; rm -rf / $x\\n]\n; [ls]",
    );
    check(
        "p <<'A' <<\"B\" | q\n1\nA\n2\nB\n",
        "[p] 0<<body[1\\n] 0<<body[2\\n]\n| [q]",
    );
    for text in [
        "p <<'E'\nx\n",
        "p <<'E' 'a\nb'\nx\nE\n",
        "p <<-'E'\nE\n",
        "p <<'E F'\nE F\n",
        "p <<'E'x\nEx\n",
        "p <<''\n\n",
        "q <(p <<'E'\nE\n)",
    ] {
        opaque(text, Reason::HereDocument);
    }
}

#[test]
fn assignments() {
    check("A=1 B='x y' p C=2", "A=\"1\" B=\"x y\" [p] [C=2]");
    for text in [
        "A=1",
        "A+=1 p",
        "1A=x p",
        "'A'=x p",
        "A==ls p",
        "A=x:=ls p",
        "A='$x' p",
        "SECONDS='a[$(id)]' ls",
        "a=b=c",
        ">x A=1 p",
    ] {
        opaque(text, Reason::Assignment);
    }
    opaque("A=~ p", Reason::Expansion);
    opaque("A=* p", Reason::Glob);
    opaque("A[0]=x p", Reason::Assignment);
}

#[test]
fn everything_else_is_opaque() {
    for (text, reason) in [
        ("p $x", Reason::Expansion),
        ("p `x`", Reason::Expansion),
        ("p \"$x\"", Reason::Expansion),
        ("p \"a!b\"", Reason::Expansion),
        ("p {a,b}", Reason::Expansion),
        ("p ~", Reason::Expansion),
        ("p a=~", Reason::Expansion),
        ("p a:~", Reason::Expansion),
        ("p ''~", Reason::Expansion),
        ("p =ls", Reason::Expansion),
        ("p ''=ls", Reason::Expansion),
        ("=ls", Reason::Expansion),
        ("p a^b", Reason::Expansion),
        ("p a\\b", Reason::Backslash),
        ("p \"a\\b\"", Reason::Backslash),
        ("p 'a", Reason::Quoting),
        ("p \"a", Reason::Quoting),
        ("p 'it''s'", Reason::Quoting),
        ("p # c", Reason::Construct),
        ("! p", Reason::Construct),
        ("(p)", Reason::Construct),
        ("p()", Reason::Construct),
        ("{ p; }", Reason::Expansion),
        ("if", Reason::Construct),
        ("noglob p", Reason::Construct),
        ("p && then", Reason::Construct),
        ("'if' p", Reason::Construct),
        ("p & q", Reason::Background),
        ("p &", Reason::Background),
        ("p* x", Reason::Glob),
        ("p x*a~y", Reason::Glob),
        ("-p", Reason::Program),
        ("'' x", Reason::Program),
        ("%1", Reason::Program),
        ("'a b'", Reason::Program),
        ("p \r", Reason::HiddenCharacter),
        ("p é", Reason::HiddenCharacter),
        ("p <(q)r", Reason::Construct),
        ("p r<(q)", Reason::Redirect),
        ("p >(q)", Reason::Redirect),
        ("<(p)", Reason::Construct),
        ("p <(q", Reason::Construct),
        ("p <(q))", Reason::Construct),
    ] {
        opaque(text, reason);
    }
}

#[test]
fn sh_has_no_pipe_both_and_no_process_substitution() {
    for text in ["a |& b", "a <(b)"] {
        assert!(bash(text).plain.is_ok());
        let sh = analyze_script(text, Shell::Sh, &Limits::default());
        assert!(sh.plain.is_err(), "{text}");
    }
}

#[test]
fn windows_shells_are_never_plain() {
    for shell in [Shell::PowerShell, Shell::Cmd] {
        let analysis = analyze_script("dir", shell, &Limits::default());
        assert_eq!(analysis.plain.unwrap_err().reason(), Reason::UnreadShell);
        assert_eq!(analysis.mentions.commands.len(), 1);
    }
    for text in ["pwsh -c dir", "cmd x"] {
        opaque(text, Reason::UnreadShell);
    }
}

#[test]
fn directories_are_followed() {
    check(
        "cd a && p; q",
        "[cd] [a] ChangesDirectory\n&& [p] cwd=[\"a\"]\n; [q] cwd=[\"a\", \"\"]",
    );
    check("cd a || p", "[cd] [a] ChangesDirectory\n|| [p]");
    check("cd && p", "[cd] ChangesDirectory\n&& [p] cwd=?");
    for text in [
        "cd - && p",
        "p | cd a && p",
        "env cd a && p",
        "A=1 cd a && p",
        "cd a b && p",
        "cd a* && p",
    ] {
        let analysis = plain(&bash(text));
        assert!(
            analysis.ends_with("[p] cwd=?\n") || analysis.starts_with("opaque"),
            "{text}: {analysis}"
        );
    }
}

#[test]
fn builtins_taint_the_rest() {
    for builtin in [
        "export A=1",
        "alias ls=x",
        "source x",
        ". x",
        "set -e",
        "shopt -s x",
        "unset A",
        "read A",
        "hash -r",
        "umask 0",
        "printf -v A x",
        "pushd a",
        "A=1 :",
        "command export A=1",
        "declare A=1",
    ] {
        let analysis = plain(&bash(&format!("{builtin}; ls")));
        assert!(analysis.contains("tainted by"), "{builtin}: {analysis}");
        let alone = plain(&bash(&format!("ls; {builtin}")));
        assert!(!alone.contains("tainted by"), "{builtin}: {alone}");
    }
    for text in [
        "eval x",
        "trap x EXIT",
        "enable -f x y",
        "mapfile -C x A",
        "jobs -x ls",
        "emulate sh -c ls",
        "fc -s",
        "compgen -W x",
        "command eval x",
    ] {
        opaque(text, Reason::EvaluatesOperands);
    }
}

#[test]
fn builtins_that_evaluate_names() {
    for text in [
        "test -v 'a[$(id)]'",
        "[ -v 'a[$(id)]' ]",
        "printf -v 'a[$(id)]' x",
        "unset 'a[`id`]'",
        "exit 'a[$(id)]'",
        "printf %d *",
        "test * -eq 1",
    ] {
        opaque(text, Reason::EvaluatesOperands);
    }
    check("test -z '' && ls", "[test] [-z] []\n&& [ls]");
    check("echo 'a[$(id)]' *", "[echo] [a[$(id)]] glob[*]");
}

#[test]
fn wrappers_are_removed() {
    check(
        "nice -n 10 make docs",
        "[make] [docs] via Transparent(nice -n 10)",
    );
    check(
        "sudo -u x env A=1 timeout -k 5 10 rm a",
        "A=\"1\" [rm] [a] via Privilege(sudo -u x) via Environment(env A=1) via Transparent(timeout -k 5 10)",
    );
    check(
        "env -S 'A=1 p x' y",
        "A=\"1\" [p] [x] [y] via Environment(env A=1)",
    );
    check("xargs -0 rm -f", "[rm] [-f] via Runner(xargs -0) +operands");
    check("busybox ls -l", "[ls] [-l] via Applet(busybox)");
    check("command -v cargo", "[command] [-v] [cargo]");
    check("env", "[env]");
    check("/usr/bin/nice ls", "[ls] via Transparent(/usr/bin/nice)");
    check("./nice ls", "[./nice] [ls]");
    check("time ls", "[ls] via Transparent(time)");
    for text in [
        "nice -x ls",
        "exec >x",
        "command exec 2>x",
        "nice --5 ls",
        "timeout 5",
        "env -C / ls",
        "env -S 'a \"b\"'",
        "env 1A=x ls",
        "sudo -s ls",
        "sudo -i",
        "xargs",
        "xargs nice",
        "xargs -I X X",
        "watch ls",
        "script -c ls f",
        "parallel ls",
        "chroot / ls",
        "time -p ls",
        "exec -a x ls",
        "nice *",
        "flock f ls",
        "env A='$x' ls",
        "xargs -i rm",
        "strace -o f ls",
        "su -c id",
        "find . -exec ls x +",
        "find . -okdir ls",
        "nice A=1 ls",
    ] {
        let analysis = bash(text);
        assert!(analysis.plain.is_err(), "{text}: {analysis:?}");
    }
}

#[test]
fn inline_scripts_are_read() {
    check(
        "cd a && A=1 bash -lc 'ls; cd b && pwd' >out",
        "[cd] [a] ChangesDirectory
         && A=\"1\" [ls] 1>path[out] cwd=[\"a\"] via Shell(bash -lc)
         ; A=\"1\" [cd] [b] 1>path[out] cwd=[\"a\"] via Shell(bash -lc) ChangesDirectory
         && A=\"1\" [pwd] 1>path[out] cwd=[\"a/b\"] via Shell(bash -lc)",
    );
    check(
        "sh -c 'export A=1'; ls",
        "[export] [A=1] via Shell(sh -c) ChangesState\n; [ls]",
    );
    check("bash x.sh", "[bash] [x.sh]");
    for text in [
        "bash -c 'p $x'",
        "bash -ic p",
        "bash -c",
        "bash -c -x p",
        "bash -O extglob -c p",
        "sh -c 'a |& b'",
        "bash -c \"bash -c 'p & q'\"",
        "xargs bash -c",
        "bash -c ''",
    ] {
        let analysis = bash(text);
        assert!(analysis.plain.is_err(), "{text}: {analysis:?}");
    }
}

#[test]
fn argument_lists() {
    let check = |argv: &[&str], expected: &str| {
        let analysis = analyze_argv(argv, &Limits::default());
        assert_eq!(plain(&analysis).trim(), expected, "{argv:?}");
    };
    check(&["git", "status"], "[git] [status]");
    check(&["git", "a b", "$x", "*"], "[git] [a b] [$x] [*]");
    check(
        &["bash", "-lc", "ls | wc"],
        "[ls] via Shell(bash -lc)\n|  [wc] via Shell(bash -lc)",
    );
    check(
        &["env", "A=1", "sh", "-c", "ls"],
        "A=\"1\" [ls] via Environment(env A=1) via Shell(sh -c)",
    );
    check(&[], "opaque: program word: empty");
    check(&[""], "opaque: program word: empty");
    check(
        &["a\0b"],
        "opaque: character outside printable ASCII: U+0000 NULL in an argument, which no system can pass on",
    );
    // Builtins do not exist outside a shell.
    check(&["export", "A=1"], "[export] [A=1]");
}

#[cfg(unix)]
#[test]
fn argument_bytes_are_kept() {
    use std::os::unix::ffi::OsStringExt;
    let word = OsString::from_vec(vec![0xFF, b'a', 0xED, 0xA0, 0x80]);
    let argv = [OsString::from("p"), word];
    let plain = analyze_argv(&argv, &Limits::default()).plain.unwrap();
    assert_eq!(
        plain.commands[0].words[1].literal(),
        Some(&[0xFF, b'a', 0xED, 0xA0, 0x80][..])
    );
    let argv = [OsString::from("sh"), OsString::from("-c"), argv[1].clone()];
    let opaque = analyze_argv(&argv, &Limits::default()).plain.unwrap_err();
    assert_eq!(opaque.reason(), Reason::HiddenCharacter);
}
