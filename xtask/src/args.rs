//! The command line of xtask. It is small enough to parse by hand.

use anyhow::{Result, bail};

pub(crate) const USAGE: &str = "\
Automation of the workspace.

Usage: cargo xtask COMMAND

  ci [--list] [--only STEP]...        run every check, or only the named ones
  tidy                                the same as `ci --only tidy`
  codegen [--check]                   rewrite the generated files; with --check, fail if one is stale
  cross [--list] [--only PART]...     build, lint and test for macOS and Windows, as far as Linux can
  escapes [ARGUMENTS]                 every probe in every subject, ours and peers: `escapes --help`
  useful [ARGUMENTS]                  everyday commands that must do inside what they do outside
  denials [ARGUMENTS]                 induced denials: is each explained, and does the line offered work?
  friction [ARGUMENTS]                how often a person would be asked
  bench [ARGUMENTS]                   what a launch and work inside cost, beside bare and beside peers: `bench --help`
  dist                                build the programs as they ship for Linux, and say where they are
  fuzz [ARGUMENTS]                    run every fuzz target in turn: `fuzz --help`
  peers [ARGUMENTS]                   install other sandboxes into a scratch directory: `peers --help`
  prove-ci [--list] [--only NAME]...  break a clone of HEAD in every known way and see CI fail each time
  help                                print this

With PALISADE_CI_STRICT=1 a skipped step counts as a failure.
";

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Help,
    Ci {
        list: bool,
        only: Vec<String>,
    },
    Codegen {
        check: bool,
    },
    Dist,
    Cross {
        list: bool,
        only: Vec<String>,
    },
    ProveCi {
        list: bool,
        only: Vec<String>,
    },
    /// One of those that `palisade-conformance` answers, with its arguments.
    Evidence {
        name: String,
        arguments: Vec<String>,
    },
    Fuzz {
        arguments: Vec<String>,
    },
    Peers {
        arguments: Vec<String>,
    },
}

pub(crate) fn parse(args: impl IntoIterator<Item = String>) -> Result<Command> {
    let mut args = args.into_iter();
    let Some(command) = args.next() else {
        return Ok(Command::Help);
    };
    match command.as_str() {
        "help" | "--help" | "-h" => Ok(Command::Help),
        "ci" => selection(args).map(|(list, only)| Command::Ci { list, only }),
        "cross" => selection(args).map(|(list, only)| Command::Cross { list, only }),
        "prove-ci" => selection(args).map(|(list, only)| Command::ProveCi { list, only }),
        "escapes" | "useful" | "denials" | "friction" | "bench" => Ok(Command::Evidence {
            arguments: args.collect(),
            name: command,
        }),
        "dist" => match args.next() {
            None => Ok(Command::Dist),
            Some(other) => bail!("dist takes no argument `{other}`"),
        },
        "fuzz" => Ok(Command::Fuzz {
            arguments: args.collect(),
        }),
        "peers" => Ok(Command::Peers {
            arguments: args.collect(),
        }),
        "tidy" => match args.next() {
            None => Ok(Command::Ci {
                list: false,
                only: vec!["tidy".to_owned()],
            }),
            Some(extra) => unexpected(&extra),
        },
        "codegen" => {
            let mut check = false;
            for arg in args {
                match arg.as_str() {
                    "--check" => check = true,
                    _ => return unexpected(&arg),
                }
            }
            Ok(Command::Codegen { check })
        }
        _ => bail!("unknown command `{command}`\n\n{USAGE}"),
    }
}

/// Parses `[--list] [--only NAME]...`.
fn selection(mut args: impl Iterator<Item = String>) -> Result<(bool, Vec<String>)> {
    let mut list = false;
    let mut only = Vec::new();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--list" => list = true,
            "--only" => match args.next() {
                Some(name) => only.push(name),
                None => bail!("`--only` needs a name"),
            },
            _ => return unexpected(&arg),
        }
    }
    Ok((list, only))
}

fn unexpected<T>(arg: &str) -> Result<T> {
    bail!("unexpected argument `{arg}`\n\n{USAGE}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Command) {
        assert_eq!(parse_line(line).unwrap(), expected);
    }

    #[track_caller]
    fn check_error(line: &str, expected: &str) {
        let message = parse_line(line).unwrap_err().to_string();
        assert!(message.starts_with(expected), "{message}");
    }

    fn parse_line(line: &str) -> Result<Command> {
        parse(line.split_whitespace().map(str::to_owned))
    }

    fn ci(list: bool, only: &[&str]) -> Command {
        Command::Ci {
            list,
            only: only.iter().map(|&name| name.to_owned()).collect(),
        }
    }

    #[test]
    fn commands_and_their_flags() {
        check("", Command::Help);
        check("--help", Command::Help);
        check("ci", ci(false, &[]));
        check("ci --list", ci(true, &[]));
        check("ci --only fmt --only tidy", ci(false, &["fmt", "tidy"]));
        check("tidy", ci(false, &["tidy"]));
        check("codegen", Command::Codegen { check: false });
        check("codegen --check", Command::Codegen { check: true });
        check(
            "cross --only wine",
            Command::Cross {
                list: false,
                only: vec!["wine".to_owned()],
            },
        );
        check(
            "prove-ci --only fmt",
            Command::ProveCi {
                list: false,
                only: vec!["fmt".to_owned()],
            },
        );
        check(
            "escapes --only fs-create",
            Command::Evidence {
                name: "escapes".to_owned(),
                arguments: vec!["--only".to_owned(), "fs-create".to_owned()],
            },
        );
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        check_error("deploy", "unknown command `deploy`");
        check_error("ci --only", "`--only` needs a name");
        check_error("ci fmt", "unexpected argument `fmt`");
        check_error("tidy --fix", "unexpected argument `--fix`");
        check_error("codegen --write", "unexpected argument `--write`");
    }
}
