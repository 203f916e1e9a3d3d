//! The table of programs that run another command given in their arguments.
//!
//! One row per wrapper: which of its options take a value, which do not, and how many operands come before the inner
//! command. The allow side follows a row to the letter and answers opaque to anything the row does not list; the
//! forbid side falls back to guessing generously.

use std::sync::LazyLock;

use crate::plain::UnwrapKind;

/// How the inner command is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inner {
    /// The remaining words are the command.
    Words,
    /// As `Words`, after `NAME=value` operands.
    AfterAssignments,
    /// The remaining words, joined by blanks, are a script for `sh`.
    Joined,
    /// The value of this option is a script for `sh`.
    ScriptOption(&'static str),
}

#[derive(Debug)]
pub(crate) struct Wrapper {
    pub(crate) names: &'static [&'static str],
    pub(crate) kind: UnwrapKind,
    /// Options without a value.
    pub(crate) bare: &'static [&'static str],
    /// Options with a value: `-n 5`, `-n5`, `--name 5`, `--name=5`.
    pub(crate) valued: &'static [&'static str],
    /// Options that make it do something else than run a command.
    pub(crate) stops: &'static [&'static str],
    /// Operands before the inner command.
    pub(crate) operands: usize,
    pub(crate) inner: Inner,
    /// `false`: the wrapper itself writes files, changes the root or re-reads its operands as shell text, so that the
    /// inner command is not the whole story. Only the forbid side looks inside.
    pub(crate) allow_side: bool,
}

const BASE: Wrapper = Wrapper {
    names: &[],
    kind: UnwrapKind::Transparent,
    bare: &[],
    valued: &[],
    stops: &["--help", "--version"],
    operands: 0,
    inner: Inner::Words,
    allow_side: true,
};

pub(crate) const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        names: &["nice"],
        valued: &["-n", "--adjustment"],
        ..BASE
    },
    Wrapper {
        names: &["ionice"],
        bare: &["-t", "--ignore"],
        valued: &["-c", "--class", "-n", "--classdata"],
        stops: &[
            "-p",
            "--pid",
            "-P",
            "--pgid",
            "-u",
            "--uid",
            "--help",
            "--version",
        ],
        ..BASE
    },
    Wrapper {
        names: &["timeout", "gtimeout"],
        bare: &["--foreground", "--preserve-status", "-v", "--verbose"],
        valued: &["-k", "--kill-after", "-s", "--signal"],
        operands: 1,
        ..BASE
    },
    Wrapper {
        names: &["nohup"],
        ..BASE
    },
    Wrapper {
        names: &["stdbuf", "gstdbuf"],
        valued: &["-i", "--input", "-o", "--output", "-e", "--error"],
        ..BASE
    },
    Wrapper {
        names: &["setsid"],
        bare: &["-c", "--ctty", "-f", "--fork", "-w", "--wait"],
        ..BASE
    },
    Wrapper {
        names: &["chrt"],
        bare: &[
            "-b", "--batch", "-f", "--fifo", "-i", "--idle", "-o", "--other", "-r", "--rr", "-R",
            "-v",
        ],
        stops: &["-p", "--pid", "-m", "--max", "--help", "--version"],
        operands: 1,
        ..BASE
    },
    Wrapper {
        names: &["taskset"],
        bare: &["-c", "--cpu-list", "-a", "--all-tasks"],
        stops: &["-p", "--pid", "--help", "--version"],
        operands: 1,
        ..BASE
    },
    Wrapper {
        names: &["caffeinate"],
        bare: &["-d", "-i", "-m", "-s", "-u"],
        valued: &["-t"],
        ..BASE
    },
    // Builtins. `-p` of `time` is a program in zsh and `-a` of `exec` is missing from dash.
    Wrapper {
        names: &["command"],
        stops: &["-v", "-V"],
        ..BASE
    },
    Wrapper {
        names: &["builtin", "exec", "time"],
        stops: &[],
        ..BASE
    },
    Wrapper {
        names: &["env", "genv"],
        kind: UnwrapKind::Environment,
        bare: &["-i", "--ignore-environment", "-v", "--debug"],
        valued: &["-u", "--unset"],
        inner: Inner::AfterAssignments,
        ..BASE
    },
    Wrapper {
        names: &["sudo"],
        kind: UnwrapKind::Privilege,
        bare: &[
            "-A",
            "--askpass",
            "-E",
            "--preserve-env",
            "-H",
            "--set-home",
            "-n",
            "--non-interactive",
            "-P",
            "--preserve-groups",
            "-S",
            "--stdin",
            "-k",
            "--reset-timestamp",
            "-B",
            "--bell",
            "-N",
        ],
        valued: &[
            "-u",
            "--user",
            "-g",
            "--group",
            "-p",
            "--prompt",
            "-h",
            "--host",
            "-C",
            "--close-from",
            "-r",
            "--role",
            "-t",
            "--type",
            "-T",
            "--command-timeout",
            "-U",
            "--other-user",
        ],
        stops: &[
            "-l",
            "--list",
            "-v",
            "--validate",
            "-V",
            "-K",
            "-e",
            "--edit",
            "--help",
            "--version",
        ],
        inner: Inner::AfterAssignments,
        ..BASE
    },
    Wrapper {
        names: &["doas"],
        kind: UnwrapKind::Privilege,
        bare: &["-n"],
        valued: &["-u"],
        stops: &["-C", "-L"],
        ..BASE
    },
    Wrapper {
        names: &["pkexec"],
        kind: UnwrapKind::Privilege,
        bare: &["--disable-internal-agent", "--keep-cwd"],
        valued: &["--user"],
        allow_side: false,
        ..BASE
    },
    Wrapper {
        names: &["su", "runuser"],
        kind: UnwrapKind::Privilege,
        bare: &["-", "-l", "--login", "-m", "-p", "-P", "--pty", "-f"],
        valued: &["-c", "--command", "-s", "--shell", "-g", "-G", "-u", "-w"],
        inner: Inner::ScriptOption("-c"),
        allow_side: false,
        ..BASE
    },
    Wrapper {
        names: &["xargs", "gxargs"],
        kind: UnwrapKind::Runner,
        bare: &[
            "-0",
            "--null",
            "-r",
            "--no-run-if-empty",
            "-t",
            "--verbose",
            "-x",
            "--exit",
            "-o",
            "--open-tty",
            "-p",
            "--interactive",
        ],
        valued: &[
            "-n",
            "--max-args",
            "-P",
            "--max-procs",
            "-L",
            "-I",
            "-d",
            "--delimiter",
            "-s",
            "--max-chars",
            "-E",
            "-a",
            "--arg-file",
        ],
        ..BASE
    },
    Wrapper {
        names: &["busybox", "toybox"],
        kind: UnwrapKind::Applet,
        stops: &["--list", "--list-full", "--install", "--help", "--version"],
        ..BASE
    },
    // From here on only the forbid side looks inside.
    Wrapper {
        names: &["watch"],
        bare: &[
            "-b",
            "--beep",
            "-c",
            "--color",
            "-C",
            "--no-color",
            "-e",
            "--errexit",
            "-g",
            "--chgexit",
            "-p",
            "--precise",
            "-r",
            "--no-rerun",
            "-t",
            "--no-title",
            "-w",
            "--no-wrap",
            "-x",
            "--exec",
        ],
        valued: &["-n", "--interval", "-q", "--equexit"],
        inner: Inner::Joined,
        allow_side: false,
        ..BASE
    },
    Wrapper {
        names: &["script"],
        bare: &[
            "-a", "--append", "-e", "--return", "-f", "--flush", "--force", "-q", "--quiet",
        ],
        valued: &[
            "-c",
            "--command",
            "-E",
            "--echo",
            "-I",
            "--log-in",
            "-O",
            "--log-out",
            "-B",
            "--log-io",
            "-m",
            "--logging-format",
            "-o",
            "--output-limit",
            "-T",
            "--log-timing",
        ],
        inner: Inner::ScriptOption("-c"),
        allow_side: false,
        ..BASE
    },
    Wrapper {
        names: &["flock"],
        bare: &[
            "-s",
            "--shared",
            "-x",
            "-e",
            "--exclusive",
            "-n",
            "--nonblock",
            "-o",
            "--close",
            "-F",
            "--no-fork",
        ],
        valued: &[
            "-w",
            "--wait",
            "--timeout",
            "-E",
            "--conflict-exit-code",
            "-c",
            "--command",
        ],
        operands: 1,
        inner: Inner::ScriptOption("-c"),
        allow_side: false,
        ..BASE
    },
    Wrapper {
        names: &["strace", "ltrace"],
        bare: &[
            "-f", "-ff", "-q", "-v", "-t", "-tt", "-T", "-c", "-C", "-y", "-i", "-k",
        ],
        valued: &["-e", "-o", "-s", "-p", "-u", "-P", "-E", "-a", "-S", "-O"],
        allow_side: false,
        ..BASE
    },
    Wrapper {
        names: &["chroot"],
        valued: &["--userspec", "--groups"],
        bare: &["--skip-chdir"],
        operands: 1,
        allow_side: false,
        ..BASE
    },
    Wrapper {
        names: &[
            "unshare",
            "nsenter",
            "systemd-run",
            "firejail",
            "proot",
            "fakeroot",
            "eatmydata",
            "rlwrap",
            "unbuffer",
        ],
        allow_side: false,
        ..BASE
    },
    Wrapper {
        names: &["parallel"],
        kind: UnwrapKind::Runner,
        bare: &[
            "-k",
            "--keep-order",
            "-0",
            "--null",
            "-q",
            "--quote",
            "-t",
            "--verbose",
            "-u",
            "--dry-run",
            "--bar",
        ],
        valued: &[
            "-j",
            "--jobs",
            "-n",
            "-N",
            "-I",
            "-a",
            "--arg-file",
            "-d",
            "--delimiter",
            "--colsep",
            "-L",
        ],
        inner: Inner::Joined,
        allow_side: false,
        ..BASE
    },
    // zsh's words before a command; the allow side never gets this far, because they are reserved there.
    Wrapper {
        names: &["noglob", "nocorrect", "-", "coproc"],
        allow_side: false,
        ..BASE
    },
    Wrapper {
        names: &["repeat"],
        operands: 1,
        allow_side: false,
        ..BASE
    },
];

/// The rows by name, sorted, because every command is looked up.
static INDEX: LazyLock<Vec<(&'static [u8], &'static Wrapper)>> = LazyLock::new(|| {
    let names = WRAPPERS
        .iter()
        .flat_map(|row| row.names.iter().map(move |name| (name.as_bytes(), row)));
    let mut index: Vec<_> = names.collect();
    index.sort_unstable_by_key(|(name, _)| *name);
    index
});

/// The row for a program name.
pub(crate) fn find(name: &[u8]) -> Option<&'static Wrapper> {
    let at = INDEX
        .binary_search_by(|(known, _)| crate::names::order(known, name))
        .ok()?;
    INDEX.get(at).map(|(_, row)| *row)
}

impl Wrapper {
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.names.contains(&name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_do_not_contradict_themselves() {
        let mut seen = std::collections::BTreeSet::new();
        for row in WRAPPERS {
            for name in row.names {
                assert!(seen.insert(*name), "{name} has two rows");
            }
            for flag in row.bare.iter().chain(row.valued).chain(row.stops) {
                assert!(flag.starts_with('-'), "{flag}");
                let lists = [row.bare, row.valued, row.stops];
                let times = lists.iter().filter(|list| list.contains(flag)).count();
                assert_eq!(times, 1, "{flag} of {:?}", row.names);
            }
        }
    }
}
