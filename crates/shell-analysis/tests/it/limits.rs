//! Large and deep input: opaque, quick by count of steps, and no stack is harmed.

use palisade_shell_analysis::{Limits, OpaqueReason, Shell, analyze_argv, analyze_script};

use crate::mentions::mentions;
use crate::render::bash;

/// A bound that a quadratic step would break at these sizes.
fn assert_bounded(text: &str) {
    let analysis = bash(text);
    let bound = 64 * u64::try_from(text.len()).unwrap() + 10_000;
    assert!(
        analysis.steps() <= bound,
        "{} steps for {} bytes of {:?}",
        analysis.steps(),
        text.len(),
        &text[..text.len().min(20)]
    );
}

const OPENERS: &[(&str, &str)] = &[
    ("$(", ")"),
    ("${x:-", "}"),
    ("`", "`"),
    ("(", ")"),
    ("{ ", "; }"),
    ("\"$(", ")\""),
    ("<(", ")"),
    ("$((", "))"),
    ("if ", "; then a; fi"),
    ("[[ ! ", ""),
    ("! ", ""),
    ("f() { ", "; }"),
    ("case x in x) ", ";; esac"),
    ("while ", "; do a; done"),
    ("a[", "]=1"),
    ("coproc ", ""),
    ("{a,", "}"),
    ("x <<E\n", "\nE\n"),
    ("bash -c '", "'"),
    ("eval ", ""),
    ("sudo -Z ", ""),
    ("nice ", ""),
    ("env -S ", ""),
    ("a=(", ")"),
    ("x && ", ""),
    ("[[ a && ", " ]]"),
    ("time ", ""),
    ("cd a; ", ""),
    ("cat <(", ")"),
    ("@(", ")"),
    ("$'", "'"),
    ("[ ", "]"),
    ("\"${x:-", "}\""),
    ("$(a) ", ""),
    ("function f { ", "; }"),
    ("[[ ( ", " )"),
    ("[[ a || ", ""),
    ("\\\n", ""),
];

#[test]
fn nesting_of_every_kind_is_survived() {
    // The default stack of a test thread, whatever the environment says.
    let walk = || {
        for (open, close) in OPENERS {
            for depth in [4, 6, 12, 63, 400, 10_000] {
                let text = format!("{}rm -rf /{}", open.repeat(depth), close.repeat(depth));
                assert_bounded(&text);
                let text = open.repeat(depth);
                assert_bounded(&text);
            }
        }
    };
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .stack_size(2 * 1024 * 1024)
            .spawn_scoped(scope, walk)
            .unwrap();
    });
}

#[test]
fn ten_thousand_substitutions() {
    let text = format!("echo {}rm -rf /{}", "$(".repeat(10_000), ")".repeat(10_000));
    let analysis = bash(&text);
    assert!(analysis.plain.is_err());
    assert!(mentions(&analysis, "rm -rf /"));
}

#[test]
fn long_input() {
    let limits = Limits::default();
    let text = "a ".repeat(limits.max_bytes);
    let analysis = bash(&text);
    assert_eq!(analysis.plain.unwrap_err().reason(), OpaqueReason::Limit);
    assert!(analysis.mentions.truncated);
    for piece in [
        "a ", "a;", "a|", "'", "\"", "a\n", "$x ", "a=b ", "\\", "* ", "<<'E' ", "ls >x ", "{a,b}",
        "sudo ",
    ] {
        assert_bounded(&piece.repeat(limits.max_bytes / piece.len()));
    }
    let argv = vec!["a"; limits.max_bytes];
    let analysis = analyze_argv(&argv, &limits);
    assert_eq!(analysis.plain.unwrap_err().reason(), OpaqueReason::Limit);
}

#[test]
fn too_many_commands() {
    let limits = Limits::default();
    let at_cap = vec!["a"; limits.max_commands].join(";");
    assert!(bash(&at_cap).plain.is_ok());
    let over = format!("{at_cap};a");
    assert_eq!(bash(&over).plain.unwrap_err().reason(), OpaqueReason::Limit);
}

#[test]
fn a_spent_budget_is_opaque() {
    let mut limits = Limits::default();
    limits.max_steps = 10;
    let analysis = analyze_script("ls -l a b c d e", Shell::Bash, &limits);
    assert_eq!(analysis.plain.unwrap_err().reason(), OpaqueReason::Limit);
    assert!(analysis.mentions.truncated);
}
