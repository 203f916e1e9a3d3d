//! The arguments of what runs a command, read without making a description of every other command first: whoever types
//! `palisade run` waits for that.
//!
//! Only what makes sense is read here, and exactly as all of clap reads it. Whatever does not, and whatever asks for help, is
//! nothing here, and is read again with the whole description, whose words are what people see.

use std::ffi::{OsStr, OsString};

use clap::FromArgMatches;

use super::{Colour, Command, Invocation, Manner};
use crate::run::{RunArgs, ShArgs};

/// What runs a command, if that is what the arguments say.
pub(super) fn parse(arguments: &[OsString]) -> Option<Invocation> {
    without_options(arguments).or_else(|| with_options(arguments))
}

/// Where nothing but words that are nobody's option follows, there is nothing to read.
fn without_options(arguments: &[OsString]) -> Option<Invocation> {
    let [_, name, dashes, words @ ..] = arguments else {
        return None;
    };
    if dashes != "--" {
        return None;
    }
    let command = match name.to_str()? {
        // Without a word there is no command, and clap says so.
        "run" if !words.is_empty() => Command::Run(RunArgs::plain(words.to_vec())),
        "sh" => Command::Sh(ShArgs::plain(words.to_vec())),
        _ => return None,
    };
    let how = Manner {
        quiet: false,
        color: Colour::Auto,
    };
    Some(Invocation { how, command })
}

/// The same with options: only the description of the one command is made.
fn with_options(arguments: &[OsString]) -> Option<Invocation> {
    let is = |name: &str| arguments.get(1).map(OsString::as_os_str) == Some(OsStr::new(name));
    if is("run") {
        one::<RunArgs>("run", arguments, Command::Run)
    } else if is("sh") {
        one::<ShArgs>("sh", arguments, Command::Sh)
    } else {
        None
    }
}

fn one<A: clap::Args>(
    name: &'static str,
    arguments: &[OsString],
    command: fn(A) -> Command,
) -> Option<Invocation> {
    let program = clap::Command::new("palisade")
        .disable_help_subcommand(true)
        .subcommand_required(true);
    let program = <Manner as clap::Args>::augment_args(program)
        .subcommand(A::augment_args(clap::Command::new(name)));
    let mut matches = program.try_get_matches_from(arguments).ok()?;
    let how = Manner::from_arg_matches_mut(&mut matches).ok()?;
    let (_, mut own) = matches.remove_subcommand()?;
    let command = command(A::from_arg_matches_mut(&mut own).ok()?);
    Some(Invocation { how, command })
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        let words = line.split(' ').map(|word| match word {
            "EMPTY" => OsString::new(),
            word => OsString::from(word),
        });
        words.collect()
    }

    /// What all of clap makes of it, as far as it makes sense.
    fn whole(arguments: &[OsString]) -> Option<String> {
        let parsed = Invocation::try_parse_from(arguments).ok()?;
        Some(format!("{parsed:?}"))
    }

    #[test]
    fn what_is_read_quickly_is_what_all_of_clap_reads() {
        for line in [
            "palisade run -- true",
            "palisade run -- -c -- --quiet EMPTY",
            "palisade run -- EMPTY",
            "/x/palisade run -- run -- sh",
            "palisade sh --",
            "palisade sh -- -euo pipefail -c x",
            "palisade sh -- -- x",
            "palisade sh -- --quiet",
            "palisade run -w a --write b --read-only --net --net=x:1 -- make all",
            "palisade run --mode ci --git commit --timeout 5m --pids 7 --memory 1GiB -- make",
            "palisade run --approval never --env A=b --env C --events fd:3 -- make",
            "palisade run --accept-loss network --grant read:/x --deny-read /y -- make",
            "palisade run -c script",
            "palisade run -q -- make",
            "palisade run --color always -c x --quiet",
            "palisade sh -c x",
            "palisade sh -q -w d -euo pipefail -c x y",
            "palisade sh build.sh --quiet",
            "palisade sh --color never",
            "palisade sh",
        ] {
            let arguments = words(line);
            let quick = parse(&arguments).map(|invocation| format!("{invocation:?}"));
            assert!(quick.is_some(), "{line}");
            assert_eq!(quick, whole(&arguments), "{line}");
        }
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStringExt as _;
            let mut arguments = words("palisade run --");
            arguments.push(OsString::from_vec(vec![0xff, b'=']));
            let quick = parse(&arguments).map(|invocation| format!("{invocation:?}"));
            assert_eq!(quick, whole(&arguments));
        }
    }

    #[test]
    fn what_makes_no_sense_is_left_to_all_of_clap() {
        for line in [
            "palisade",
            "palisade run",
            "palisade run --",
            "palisade run --help",
            "palisade run -h",
            "palisade run --version",
            "palisade run --nothing -- true",
            "palisade run -c x -- true",
            "palisade run --read-only --mode ci -- true",
            "palisade run true",
            "palisade run --pids x -- true",
            "palisade run --mode nothing -- true",
            "palisade run --color blue -- true",
            "palisade sh --mode nothing",
            "palisade help run",
        ] {
            let arguments = words(line);
            assert!(parse(&arguments).is_none(), "{line}");
            assert!(whole(&arguments).is_none(), "{line}");
        }
        // Other commands, and options before the name of one, make sense and are not read here.
        for line in [
            "palisade check -- run",
            "palisade --quiet run -- true",
            "palisade doctor",
        ] {
            let arguments = words(line);
            assert!(parse(&arguments).is_none(), "{line}");
            assert!(whole(&arguments).is_some(), "{line}");
        }
    }
}
