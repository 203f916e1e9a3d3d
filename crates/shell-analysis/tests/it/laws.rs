//! Properties of any input.

use std::fmt::Write;

use palisade_shell_analysis::{
    Limits, Plain, PlainCommand, RedirectKind, RedirectTarget, Shell, Word, analyze_argv,
    analyze_script,
};
use proptest::prelude::*;

const SHELLS: [Shell; 5] = [
    Shell::Bash,
    Shell::Sh,
    Shell::Zsh,
    Shell::PowerShell,
    Shell::Cmd,
];

/// Text that looks like shell, so that properties reach past the first byte.
fn shellish() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-z]{1,3}",
        2 => Just(" ".to_owned()),
        2 => prop::sample::select(vec![
            "'a b'", "\"c\"", "*", "A=1 ", ";", "&&", "||", "|", "\n", ">x", "2>&1", " <(", ")", "$(", "`", "\\", "{", "}",
            "bash -c '", "'", "\"", "nice ", "env ", "sudo ", "xargs ", "cd a", "export A=1", "<<'E'\n", "\nE\n", "~", "=",
            "${x:-", "if ", "then ", "fi", "eval ", "$'\\x", "#", "!", "é", "\r", "[[ ", " ]]", "((", "case x in ", "esac",
        ]).prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_answered(text in prop::collection::vec(any::<u8>(), 0..200), shell in prop::sample::select(&SHELLS[..])) {
        let _answer = analyze_script(&text, shell, &Limits::default());
    }

    #[test]
    fn steps_are_linear(text in shellish()) {
        let analysis = analyze_script(&text, Shell::Bash, &Limits::default());
        let bound = 64 * u64::try_from(text.len()).unwrap() + 1_000;
        prop_assert!(analysis.steps() <= bound, "{} steps", analysis.steps());
    }

    #[test]
    fn any_arguments_are_answered(argv in prop::collection::vec(shellish(), 0..6)) {
        let _answer = analyze_argv(&argv, &Limits::default());
    }

    #[test]
    fn plain_commands_rendered_again_are_the_same(text in shellish()) {
        if let Ok(plain) = analyze_script(&text, Shell::Bash, &Limits::default()).plain
            && let Some(rendered) = render(&plain)
        {
            let again = analyze_script(&rendered, Shell::Bash, &Limits::default()).plain;
            prop_assert!(again.is_ok(), "{rendered:?}: {again:?}");
            prop_assert_eq!(without_places(plain), without_places(again.unwrap()), "{}", rendered);
        }
    }

    #[test]
    fn sh_accepts_no_more_than_bash(text in shellish()) {
        let sh = analyze_script(&text, Shell::Sh, &Limits::default()).plain;
        let bash = analyze_script(&text, Shell::Bash, &Limits::default()).plain;
        prop_assert!(sh.is_err() || sh == bash);
    }

    #[test]
    fn every_plain_command_is_mentioned(text in shellish()) {
        let analysis = analyze_script(&text, Shell::Bash, &Limits::default());
        if let Ok(plain) = &analysis.plain {
            for command in &plain.commands {
                let program = command.program();
                let mentioned = analysis.mentions.commands.iter().any(|mention| {
                    mention.words.first().and_then(|word| word.known()) == Some(program)
                });
                prop_assert!(mentioned);
            }
        }
    }

    #[test]
    fn an_argument_list_and_its_quoted_script_agree(argv in prop::collection::vec("[ -~]{1,8}", 1..5)) {
        let script = argv.iter().map(|word| quoted(word.as_bytes())).collect::<Option<Vec<_>>>();
        if let Some(script) = script
            && let Ok(from_script) = analyze_script(script.join(" "), Shell::Bash, &Limits::default()).plain
        {
            let from_argv = analyze_argv(&argv, &Limits::default()).plain;
            prop_assert!(from_argv.is_ok());
            let words = |plain: Plain| -> Vec<_> { plain.commands.into_iter().map(|c| (c.words, c.via)).collect() };
            prop_assert_eq!(words(from_script), words(from_argv.unwrap()));
        }
    }
}

fn quoted(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    (!text.contains('\'')).then(|| format!("'{text}'"))
}

/// The script a plain answer stands for, if it was not unwrapped from anything.
fn render(plain: &Plain) -> Option<String> {
    let mut out = String::new();
    let mut bodies = String::new();
    for command in &plain.commands {
        if !command.via.is_empty() {
            return None;
        }
        out.push_str(match command.join {
            palisade_shell_analysis::Join::Start => "",
            palisade_shell_analysis::Join::And => " && ",
            palisade_shell_analysis::Join::Or => " || ",
            palisade_shell_analysis::Join::Seq => " ; ",
            palisade_shell_analysis::Join::Pipe => " | ",
            _ => " |& ",
        });
        render_command(command, &mut out, &mut bodies)?;
    }
    if !bodies.is_empty() {
        let _infallible = write!(out, "\n{bodies}");
    }
    Some(out)
}

fn render_command(command: &PlainCommand, out: &mut String, bodies: &mut String) -> Option<()> {
    for assignment in &command.assignments {
        let name = String::from_utf8(assignment.name.clone()).ok()?;
        let _infallible = write!(out, "{name}={} ", quoted(&assignment.value)?);
    }
    for word in &command.words {
        match word {
            Word::Literal(bytes) => out.push_str(&quoted(bytes)?),
            Word::Pattern(pattern) => {
                for (byte, active) in pattern.bytes() {
                    if active || byte.is_ascii_alphanumeric() {
                        out.push(char::from(byte));
                    } else {
                        // Not in double quotes, where a dollar sign is never plain.
                        out.push_str(&quoted(&[byte])?);
                    }
                }
            }
            Word::ProcessSubstitution(inner) => {
                let _infallible = write!(out, "<({})", render(inner)?);
            }
            _ => return None,
        }
        out.push(' ');
    }
    for redirect in &command.redirects {
        let operator = match redirect.kind {
            RedirectKind::Read => "<",
            RedirectKind::Write => ">",
            RedirectKind::Clobber => ">|",
            RedirectKind::Append => ">>",
            RedirectKind::DuplicateOut => ">&",
            RedirectKind::DuplicateIn => "<&",
            _ => "<<",
        };
        let target = match &redirect.target {
            RedirectTarget::NullSink => "/dev/null".to_owned(),
            RedirectTarget::Fd(fd) => fd.to_string(),
            RedirectTarget::Path(path) => quoted(path)?,
            RedirectTarget::Body(body) => {
                let body = String::from_utf8(body.clone()).ok()?;
                let _infallible = writeln!(bodies, "{body}E");
                "'E'".to_owned()
            }
            _ => return None,
        };
        let _infallible = write!(out, "{}{operator}{target} ", redirect.fd);
    }
    Some(())
}

fn without_places(mut plain: Plain) -> Plain {
    for command in &mut plain.commands {
        command.span = palisade_shell_analysis::Span::default();
        if let Some(taint) = &mut command.tainted {
            taint.at = palisade_shell_analysis::Span::default();
        }
        for word in &mut command.words {
            if let Word::ProcessSubstitution(inner) = word {
                *inner = without_places(inner.clone());
            }
        }
    }
    plain
}
