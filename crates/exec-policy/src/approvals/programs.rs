//! What is known about programs: which of them run whatever they are given, and which have subcommands.
//!
//! One [table](super::program_table), read by [`may_offer`](super::may_offer()), [`propose`](super::propose()) and the linter. A program that is
//! not in it is taken for one whose subcommand says what it does.

use super::program_table::PROGRAMS;

/// What a program is, as far as keeping an approval is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Runs text that it is given as shell commands.
    Shell,
    /// Runs programs of a language.
    Interpreter,
    /// Runs the command in its arguments.
    Wrapper,
    /// Destroys, or changes the system.
    Destructive,
    /// Sends and fetches whatever it is told to.
    Network,
    /// Does what its subcommand says.
    Subcommands(Subs),
    /// Runs the rest of the words as a command of its own, after none of its options.
    Runner,
    /// Does one thing, whatever its arguments.
    Flat,
}

impl Kind {
    /// Whether the program runs whatever it is given.
    pub(crate) const fn runs_anything(self) -> bool {
        matches!(self, Self::Shell | Self::Interpreter | Self::Wrapper)
    }
}

/// The subcommands of a program that are not simply a subcommand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Subs {
    /// Run anything: never kept.
    pub(crate) open: &'static str,
    /// Run the rest of the words as a command of its own.
    pub(crate) runs: &'static str,
    /// Need a further word that says what they do.
    pub(crate) group: &'static str,
}

/// What is known about a program, by any spelling of its name; `None`: nothing.
pub(crate) fn kind(program: &str) -> Option<Kind> {
    let base = base(program);
    lookup(&base)
        .or_else(|| {
            let unversioned = unversioned(&base)?;
            // Only programs that run things come in versions worth caring about: `pip3` and `python3.11`, not `sha1`.
            lookup(unversioned).filter(|kind| *kind != Kind::Flat)
        })
        .or_else(|| lookup(stem(&base)).filter(|kind| kind.runs_anything()))
}

fn lookup(base: &str) -> Option<Kind> {
    PROGRAMS
        .iter()
        .find(|(_, names)| listed(names, base))
        .map(|(kind, _)| *kind)
}

/// Whether a list of names, separated by blanks, has this one.
pub(crate) fn listed(names: &str, name: &str) -> bool {
    names.split_ascii_whitespace().any(|listed| listed == name)
}

/// The last part of a path, case folded, without the endings of executables.
pub(crate) fn base(program: &str) -> String {
    let last = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let mut base = last.to_lowercase();
    for ending in [".exe", ".cmd", ".bat", ".com", ".ps1"] {
        if base.len() > ending.len() && base.ends_with(ending) && base != "command.com" {
            base.truncate(base.len().saturating_sub(ending.len()));
            break;
        }
    }
    base
}

/// The name without a version: `python3.11`, `python3.13t`, `bash-5.2`, `python3-dbg`, `node_20`.
fn unversioned(base: &str) -> Option<&str> {
    let base = ["-dbg", "-debug", "-static", "-wasm"]
        .iter()
        .find_map(|ending| base.strip_suffix(ending))
        .unwrap_or(base);
    let letters = base.strip_suffix(['t', 'd', 'm', 'w', 'u']);
    [Some(base), letters]
        .into_iter()
        .flatten()
        .find_map(|name| {
            let stripped = name.trim_end_matches(|c: char| c.is_ascii_digit() || "._-".contains(c));
            (stripped != name && !stripped.is_empty()).then_some(stripped)
        })
}

/// The name up to its first `-`, `.` or digit: builds of a program are told apart by what follows.
///
/// `python3-intel64`, `perl5.34-x86_64-linux-gnu`, `node.real`, `sudo-rs`, `busybox.static`.
fn stem(base: &str) -> &str {
    base.split(|c: char| c.is_ascii_digit() || "-.".contains(c))
        .next()
        .unwrap_or(base)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approvals::programs::Kind::{Flat, Interpreter, Shell, Wrapper};

    #[test]
    fn no_program_is_listed_twice() {
        let mut names: Vec<&str> = PROGRAMS
            .iter()
            .flat_map(|(_, names)| names.split_ascii_whitespace())
            .collect();
        let count = names.len();
        names.sort_unstable();
        let twice: Vec<&[&str]> = names.windows(2).filter(|pair| pair[0] == pair[1]).collect();
        assert!(twice.is_empty(), "{twice:?}");
        assert!(count > 300);
        assert!(
            names.iter().all(|name| base(name) == *name),
            "every name is folded"
        );
    }

    #[test]
    fn every_spelling_is_found() {
        for spelling in [
            "python",
            "python3",
            "python3.11",
            "python3.13t",
            "Python3.EXE",
            "/usr/bin/python3",
            "./python",
            "C:\\Python\\python.exe",
            "python2.7",
            "python3-dbg",
            "pypy3",
            "node18",
            "node-20",
            "lua5.4",
            "perl5.36.0",
            "ruby3.2",
            "php8.1",
            "RUBY",
        ] {
            assert_eq!(kind(spelling), Some(Interpreter), "{spelling}");
        }
        for spelling in [
            "bash",
            "bash-5.2",
            "ZSH",
            "/bin/sh",
            "pwsh",
            "PowerShell.exe",
            "cmd.exe",
            "command.com",
        ] {
            assert_eq!(kind(spelling), Some(Shell), "{spelling}");
        }
        for (spelling, expected) in [
            ("python3-intel64", Interpreter),
            ("python3.12-x86_64", Interpreter),
            ("perl5.34-x86_64-linux-gnu", Interpreter),
            ("/usr/bin/node.real", Interpreter),
            ("sh.distrib", Shell),
            ("sudo-rs", Wrapper),
            ("busybox.static", Wrapper),
            ("ld-linux-x86-64.so.2", Wrapper),
        ] {
            assert_eq!(kind(spelling), Some(expected), "{spelling}");
        }
        assert_eq!(kind("clang-format"), Some(Flat), "its own name comes first");
        assert_eq!(kind("git-absorb"), None, "only what runs anything");
        assert_eq!(kind("sha256sum"), Some(Flat));
        assert_eq!(kind("pythonista"), None);
        assert_eq!(kind("3"), None);
        assert_eq!(kind(""), None);
    }
}
