//! Tests of rewriting: by real shells where they are installed, by their rules where they are not.

use super::*;
use crate::executor::request::ExecParams;

fn words<W: AsRef<OsStr>>(words: &[W]) -> Vec<OsString> {
    words.iter().map(|word| word.as_ref().to_owned()).collect()
}

fn text_of(formatted: &[OsString]) -> &str {
    formatted.last().unwrap().to_str().unwrap()
}

fn bash() -> UserShell {
    UserShell::Bash(ShellProgram::new("/bin/bash").with_profile("/home/dev/.bashrc"))
}

fn powershell() -> UserShell {
    UserShell::PowerShell(ShellProgram::new("pwsh"))
}

fn cmd() -> UserShell {
    UserShell::Cmd(ShellProgram::new("cmd.exe"))
}

mod translation {
    use super::*;

    fn params() -> ExecParams {
        ExecParams::new(["git", "status"], "/srv/app")
            .with_timeout_ms(7)
            .with_env([("A".into(), "b".into())].into())
            .asking_to_escalate("because")
    }

    #[test]
    #[cfg(unix)]
    fn a_profile_that_is_wanted_rewrites_the_command_and_keeps_every_other_parameter() {
        let translated = maybe_translate_shell_command(params(), Some(&bash()), true);
        let command = words(&[
            "/bin/bash",
            "-lc",
            "[ -r '/home/dev/.bashrc' ] && . '/home/dev/.bashrc'\nexec 'git' 'status'",
        ]);
        assert_eq!(
            translated,
            ExecParams {
                command,
                ..params()
            }
        );
    }

    #[test]
    fn without_a_wish_for_the_profile_only_powershell_rewrites() {
        for shell in [
            bash(),
            UserShell::Fish(ShellProgram::new("/usr/bin/fish")),
            cmd(),
        ] {
            let same = maybe_translate_shell_command(params(), Some(&shell), false);
            assert_eq!(same, params(), "{shell:?}");
        }
        let translated = maybe_translate_shell_command(params(), Some(&powershell()), false);
        assert_eq!(translated.command[0], "pwsh");
        assert_eq!(
            ExecParams {
                command: params().command,
                ..translated
            },
            params()
        );
    }

    #[test]
    fn what_the_shell_cannot_format_stays_as_it_is() {
        let quote = ExecParams::new(["tool", "a\"b"], "/srv/app");
        for shell in [powershell(), cmd()] {
            let same = maybe_translate_shell_command(quote.clone(), Some(&shell), true);
            assert_eq!(same, quote, "{shell:?}");
        }
        let empty = ExecParams::new([""; 0], "/srv/app");
        assert_eq!(
            maybe_translate_shell_command(empty.clone(), Some(&bash()), true),
            empty
        );
        let no_shell = maybe_translate_shell_command(params(), None, true);
        assert_eq!(no_shell, params());
    }
}

#[test]
fn a_shell_is_known_by_the_name_of_its_executable() {
    let kind = |path: &str| UserShell::from_path(path).map(|shell| format!("{shell:?}"));
    for (path, name) in [
        ("/bin/bash", "Bash"),
        ("/usr/bin/zsh", "Zsh"),
        ("/bin/dash", "Sh"),
        ("/usr/bin/fish", "Fish"),
        ("/opt/PWSH.EXE", "PowerShell"),
        ("cmd.exe", "Cmd"),
    ] {
        assert!(kind(path).unwrap().starts_with(name), "{path}");
    }
    assert_eq!(kind("/usr/bin/nu"), None);
}

#[test]
fn nothing_is_formatted_that_would_not_arrive_as_it_is() {
    let relative = UserShell::Bash(ShellProgram::new("/bin/bash").with_profile("bashrc"));
    assert_eq!(relative.format(&words(&["ls"]), true), None);
    assert!(relative.format(&words(&["ls"]), false).is_some());
    for command in [vec![""], vec!["-x", "a"], vec!["ls", "a\0b"]] {
        assert_eq!(bash().format(&words(&command), true), None, "{command:?}");
    }
    let long = words(&["echo".to_owned(), "x".repeat(LONGEST_SCRIPT)]);
    assert_eq!(bash().format(&long, true), None);
}

#[test]
#[cfg(unix)]
fn a_script_for_the_same_shell_sees_what_the_profile_defines() {
    let formatted = bash().format(&words(&["bash", "-lc", "a; b"]), true);
    assert_eq!(
        text_of(&formatted.unwrap()),
        "[ -r '/home/dev/.bashrc' ] && . '/home/dev/.bashrc'\n:\na; b"
    );
    let other = bash().format(&words(&["zsh", "-c", "a; b"]), false);
    assert_eq!(text_of(&other.unwrap()), "exec 'zsh' '-c' 'a; b'");
}

mod by_rules {
    use super::*;

    fn powershell_text(command: &[&str]) -> Option<String> {
        let formatted = powershell().format(&words(command), false)?;
        let text = text_of(&formatted);
        let call = text.split("; ").nth(1)?;
        Some(call.to_owned())
    }

    #[test]
    fn powershell_doubles_every_quote_that_it_takes_for_one() {
        let call = powershell_text(&["echo", "it's", "\u{2018}a\u{2019}\u{201a}\u{201b}", "$x`"]);
        assert_eq!(
            call.unwrap(),
            "& 'echo' 'it''s' '\u{2018}\u{2018}a\u{2019}\u{2019}\u{201a}\u{201a}\u{201b}\u{201b}' '$x`'"
        );
    }

    #[test]
    fn powershell_leaves_names_of_parameters_bare_and_quotes_the_program() {
        let call = powershell_text(&["-Program", "-Recurse", "-a;b", "--long", "-1", "-"]);
        assert_eq!(
            call.unwrap(),
            "& '-Program' -Recurse '-a;b' '--long' '-1' '-'"
        );
    }

    #[test]
    fn powershell_formats_no_word_that_its_generations_pass_on_differently() {
        for word in ["", "a\"b", "a b\\"] {
            assert_eq!(powershell_text(&["x", word]), None, "{word:?}");
        }
        for word in ["a\\", "a b", "%PATH%"] {
            assert!(powershell_text(&["x", word]).is_some(), "{word:?}");
        }
    }

    #[test]
    fn powershell_ends_with_the_status_of_the_command_and_reads_its_profile_only_if_wanted() {
        let formatted = powershell().format(&words(&["x"]), false).unwrap();
        assert_eq!(
            formatted[..4],
            words(&["pwsh", "-NoProfile", "-NonInteractive", "-Command"])
        );
        assert_eq!(
            text_of(&formatted),
            "$global:LASTEXITCODE = $null; & 'x'; $palisade = $?; \
             if ($null -ne $LASTEXITCODE) { exit $LASTEXITCODE }; if ($palisade) { exit 0 } else { exit 1 }"
        );
        let formatted = powershell().format(&words(&["x"]), true).unwrap();
        assert_eq!(
            formatted[..3],
            words(&["pwsh", "-NonInteractive", "-Command"])
        );
    }

    fn cmd_text(command: &[&str]) -> Option<String> {
        let formatted = cmd().format(&words(command), false)?;
        assert_eq!(formatted[..4], words(&["cmd.exe", "/d", "/s", "/c"]));
        Some(text_of(&formatted).to_owned())
    }

    #[test]
    fn cmd_quotes_its_operators_and_doubles_backslashes_before_a_closing_quote() {
        assert_eq!(
            cmd_text(&["dir", "C:\\x", "a b\\", "a&b|c^d", ""]).unwrap(),
            "\"dir C:\\x \"a b\\\\\" \"a&b|c^d\" \"\"\""
        );
    }

    #[test]
    fn cmd_formats_no_word_that_it_would_expand_or_cut() {
        for word in ["a\"b", "%PATH%", "a!b", "a\nb", "a\rb"] {
            assert_eq!(cmd_text(&["x", word]), None, "{word:?}");
        }
    }

    #[test]
    fn cmd_skips_its_registry_commands_unless_the_profile_is_wanted() {
        let formatted = cmd().format(&words(&["x"]), true).unwrap();
        assert_eq!(formatted, words(&["cmd.exe", "/s", "/c", "\"x\""]));
    }

    #[test]
    fn fish_escapes_quotes_and_backslashes_and_nothing_else() {
        let fish = UserShell::Fish(ShellProgram::new("fish"));
        let formatted = fish.format(&words(&["a", "it's", "\\n", "$x*"]), false);
        assert_eq!(
            text_of(&formatted.unwrap()),
            r"exec 'a' 'it\'s' '\\n' '$x*'"
        );
    }
}

/// Real shells are asked what they make of the text.
#[cfg(unix)]
mod by_running {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Output, Stdio};

    use proptest::prelude::*;

    use super::*;

    /// The shells of this host that the texts are meant for.
    fn installed() -> Vec<UserShell> {
        let shells = ["bash", "dash", "zsh", "fish"];
        let found = shells.iter().filter_map(|name| {
            let path = ["/bin", "/usr/bin", "/usr/local/bin"]
                .iter()
                .map(|directory| Path::new(directory).join(name))
                .find(|path| path.exists());
            match path {
                Some(path) => UserShell::from_path(path),
                None => {
                    skip(name);
                    None
                }
            }
        });
        found.collect()
    }

    #[expect(
        clippy::print_stderr,
        reason = "whoever reads a test's output wants to know"
    )]
    fn skip(name: &str) {
        eprintln!("skipped: {name} is not installed");
    }

    fn with_profile(shell: UserShell, profile: &Path) -> UserShell {
        match shell {
            UserShell::Bash(shell) => UserShell::Bash(shell.with_profile(profile)),
            UserShell::Zsh(shell) => UserShell::Zsh(shell.with_profile(profile)),
            UserShell::Sh(shell) => UserShell::Sh(shell.with_profile(profile)),
            UserShell::Fish(shell) => UserShell::Fish(shell.with_profile(profile)),
            other => panic!("{other:?} is not run here"),
        }
    }

    fn run(command: &[OsString], home: &Path) -> Output {
        Command::new(&command[0])
            .args(&command[1..])
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", home)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    /// Bytes without NUL, with those that shells care about more often than chance has them.
    fn word() -> impl Strategy<Value = Vec<u8>> {
        let special = b"'\"\\$`!*?[]{}()<>|&;#~=^%@+,: \t\n\r-\x01\x7f\x80\xff\xc3\xa9".to_vec();
        let byte = prop_oneof![
            3 => proptest::sample::select(special),
            1 => 1u8..=255,
        ];
        proptest::collection::vec(byte, 0..12)
    }

    fn argv_as_seen(shell: &UserShell, program: &Path, args: &[Vec<u8>], profile: bool) -> Vec<u8> {
        let home = program.parent().unwrap();
        let mut command = words(&[program.as_os_str(), OsStr::new("%s\\0")]);
        command.extend(args.iter().cloned().map(OsString::from_vec));
        let formatted = shell.format(&command, profile).unwrap();
        let output = run(&formatted, home);
        assert!(output.status.success(), "{formatted:?}: {output:?}");
        output.stdout
    }

    fn expected(args: &[Vec<u8>]) -> Vec<u8> {
        args.iter()
            .flat_map(|arg| arg.iter().copied().chain([0]))
            .collect()
    }

    /// A program whose name is hard to quote, which prints its arguments.
    fn odd_program(directory: &Path) -> PathBuf {
        let program = directory.join(OsStr::from_bytes(b"o'dd $HOME `x` \\ \"p\" =a\n\xff"));
        std::os::unix::fs::symlink("/usr/bin/printf", &program).unwrap();
        program
    }

    #[test]
    fn every_installed_shell_passes_on_each_argument_byte_for_byte() {
        let directory = tempfile::tempdir().unwrap();
        let program = odd_program(directory.path());
        let shells = installed();
        assert!(shells.len() >= 2, "a Unix host has at least sh and bash");
        proptest!(ProptestConfig::with_cases(48), |(args in proptest::collection::vec(word(), 1..10))| {
            for shell in &shells {
                let seen = argv_as_seen(shell, &program, &args, false);
                prop_assert_eq!(seen, expected(&args), "{:?}", shell);
            }
        });
    }

    #[test]
    fn a_profile_in_an_oddly_named_place_is_read_and_may_fail_without_stopping_the_command() {
        let directory = tempfile::tempdir().unwrap();
        let profile = directory.path().join("pro'file $x\\");
        std::fs::write(&profile, "export FROM_PROFILE=yes\ntest 1 = 2\n").unwrap();
        for shell in installed() {
            if matches!(shell, UserShell::Fish(_)) {
                std::fs::write(&profile, "set -gx FROM_PROFILE yes\ntest 1 = 2\n").unwrap();
            }
            let shell = with_profile(shell, &profile);
            let command = words(&["sh", "-c", "printf %s \"$FROM_PROFILE\"; exit 7"]);
            let output = run(&shell.format(&command, true).unwrap(), directory.path());
            assert_eq!(output.stdout, b"yes", "{shell:?}: {output:?}");
            assert_eq!(output.status.code(), Some(7), "{shell:?}");
        }
    }

    #[test]
    fn a_missing_profile_does_not_stop_the_command() {
        let directory = tempfile::tempdir().unwrap();
        for shell in installed() {
            let shell = with_profile(shell, &directory.path().join("missing"));
            let formatted = shell.format(&words(&["printf", "x"]), true).unwrap();
            let output = run(&formatted, directory.path());
            assert_eq!(output.stdout, b"x", "{shell:?}: {output:?}");
            assert!(output.status.success());
        }
    }

    #[test]
    fn no_shell_stays_between_so_a_signal_is_the_commands_own() {
        let directory = tempfile::tempdir().unwrap();
        for shell in installed() {
            // The name keeps this from being taken for a script of the shell itself.
            let command = words(&["/bin/sh", "-c", "kill -9 $$"]);
            let formatted = shell.format(&command, true).unwrap();
            let output = run(&formatted, directory.path());
            assert_eq!(output.status.signal(), Some(9), "{shell:?}");
        }
    }

    #[test]
    fn a_script_of_the_same_shell_starts_with_a_clean_status_and_sees_functions() {
        let directory = tempfile::tempdir().unwrap();
        let profile = directory.path().join("rc");
        std::fs::write(
            &profile,
            "helper() { printf 'from %s' profile; }\ntest 1 = 2\n",
        )
        .unwrap();
        for shell in installed() {
            if matches!(shell, UserShell::Fish(_)) {
                continue;
            }
            let name = shell.program().path.file_name().unwrap().to_owned();
            let shell = with_profile(shell, &profile);
            let script = OsString::from("printf \"$? \"; helper; exit 3");
            let formatted = shell.format(&[name, "-lc".into(), script], true).unwrap();
            let output = run(&formatted, directory.path());
            assert_eq!(output.stdout, b"0 from profile", "{shell:?}: {output:?}");
            assert_eq!(output.status.code(), Some(3), "{shell:?}");
        }
    }
}
