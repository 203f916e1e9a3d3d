//! `cargo xtask fuzz`: runs every fuzz target in turn, and keeps what it found worth keeping.
//!
//! It needs a C++ compiler, for libFuzzer, and nothing else: neither `cargo-fuzz` nor a nightly toolchain, although
//! `cargo +nightly fuzz run TARGET` works as well. What is found grows in `target/fuzz-corpus`; a part of it that reaches
//! as much is committed as `fuzz/seeds`, and is run through the same code by every CI.

mod build;
mod minimise;
mod report;
mod run;

use anyhow::{Context, Result, bail};

use crate::workspace::Workspace;
use build::Built;

const USAGE: &str = "\
Usage: cargo xtask fuzz [--seconds N] [--jobs N] [--only TARGET]... [--list] [--minimise] [--address]

  --seconds N    how long each target runs (default: 60)
  --jobs N       how many targets run at once (default: 1)
  --only TARGET  only this one
  --list         name the targets
  --minimise     afterwards, or with --seconds 0 instead: rewrite fuzz/seeds from what was found
  --address      with the address sanitizer, which needs a nightly toolchain and takes half of the speed

Inputs that were found are kept in target/fuzz-corpus and used again. An input that breaks a law is kept in
target/fuzz-artifacts. Once it is mended, put it into fuzz/seeds/TARGET under a name that says what it was.
";

#[derive(Debug, PartialEq, Eq)]
struct Options {
    seconds: u64,
    jobs: usize,
    only: Vec<String>,
    list: bool,
    help: bool,
    minimise: bool,
    address: bool,
}

pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<bool> {
    let options = parse(arguments)?;
    if options.help {
        print!("{USAGE}");
        return Ok(true);
    }
    let targets = select(build::targets(workspace)?, &options.only)?;
    if options.list {
        for target in targets {
            println!("{target}");
        }
        return Ok(true);
    }
    let built = Built::new(workspace, &targets, options.address)?;
    let well = options.seconds == 0 || run::all(workspace, &built, &targets, &options)?;
    if options.minimise {
        minimise::all(workspace, &built, &targets)?;
    }
    Ok(well)
}

fn parse(arguments: &[String]) -> Result<Options> {
    let mut options = Options {
        seconds: 60,
        jobs: 1,
        only: Vec::new(),
        list: false,
        help: false,
        minimise: false,
        address: false,
    };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let mut value = || {
            let value = arguments.next();
            value.with_context(|| format!("`{argument}` needs a value\n\n{USAGE}"))
        };
        match argument.as_str() {
            "--seconds" => options.seconds = number(argument, value()?)?,
            "--jobs" => options.jobs = number::<usize>(argument, value()?)?.max(1),
            "--only" => options.only.push(value()?.clone()),
            "--list" => options.list = true,
            "--minimise" => options.minimise = true,
            "--address" => options.address = true,
            "--help" | "-h" => options.help = true,
            _ => bail!("unexpected argument `{argument}`\n\n{USAGE}"),
        }
    }
    Ok(options)
}

fn number<N: std::str::FromStr>(option: &str, text: &str) -> Result<N> {
    match text.parse() {
        Ok(number) => Ok(number),
        Err(_) => bail!("`{option}` needs a number, and `{text}` is none"),
    }
}

fn select(targets: Vec<String>, only: &[String]) -> Result<Vec<String>> {
    if let Some(unknown) = only.iter().find(|name| !targets.contains(name)) {
        bail!(
            "unknown target `{unknown}`; the targets are {}",
            targets.join(", ")
        );
    }
    let wanted = |target: &String| only.is_empty() || only.contains(target);
    Ok(targets.into_iter().filter(wanted).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_line(line: &str) -> Result<Options> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&words)
    }

    #[test]
    fn options_are_read() {
        let options = parse_line("--seconds 5 --only a --only b --jobs 2 --minimise").unwrap();
        assert_eq!((options.seconds, options.jobs), (5, 2));
        assert_eq!(options.only, ["a", "b"]);
        assert!(options.minimise && !options.list);
        assert_eq!(parse_line("").unwrap().seconds, 60);
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        for (line, expected) in [
            ("--seconds", "`--seconds` needs a value"),
            ("--seconds long", "`--seconds` needs a number"),
            ("policy_json", "unexpected argument `policy_json`"),
        ] {
            let message = parse_line(line).unwrap_err().to_string();
            assert!(message.starts_with(expected), "{message}");
        }
        let targets = || vec!["a".to_owned(), "b".to_owned()];
        let error = select(targets(), &["c".to_owned()]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown target `c`; the targets are a, b"
        );
        assert_eq!(select(targets(), &["b".to_owned()]).unwrap(), ["b"]);
    }
}
