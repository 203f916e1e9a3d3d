//! Redirects: what is harmless whatever the rule, and the words that rules see.

use palisade_shell_analysis::{Redirect, RedirectKind, RedirectTarget};

use super::facts::{Names, PlaceFacts};
use super::paths::resolve;
use super::program::folded_base;

/// Programs that run what they read.
const INTERPRETERS: &[&str] = &[
    "sh",
    "bash",
    "zsh",
    "dash",
    "ksh",
    "fish",
    "csh",
    "tcsh",
    "ash",
    "python",
    "python2",
    "python3",
    "perl",
    "ruby",
    "node",
    "nodejs",
    "deno",
    "bun",
    "php",
    "lua",
    "luajit",
    "tclsh",
    "expect",
    "ghci",
    "irb",
    "psql",
    "mysql",
    "sqlite3",
    "ed",
    "ex",
    "vi",
    "vim",
    "emacs",
    "make",
    "gmake",
    "at",
    "batch",
    "crontab",
    "osascript",
    "ssh",
    "gdb",
    "bc",
    "dc",
    "r",
    "rscript",
    "julia",
    "pwsh",
    "powershell",
    "cmd",
    "docker",
    "kubectl",
    "ftp",
    "sftp",
    "gnuplot",
    "octave",
    "scala",
    "groovy",
    "jshell",
    "erl",
    "iex",
    "elixir",
    "nu",
    "xonsh",
    "patch",
    "git-shell",
    "awk",
    "gawk",
    "mawk",
    "sed",
    "xargs",
    "parallel",
];

/// Whether a program runs what it reads.
pub(crate) fn is_interpreter(program: &[u8]) -> bool {
    let base = folded_base(program);
    let stem = base
        .iter()
        .position(|b| b.is_ascii_digit() || *b == b'.')
        .and_then(|at| base.get(..at))
        .filter(|stem| stem.len() > 1)
        .unwrap_or(&base);
    INTERPRETERS
        .iter()
        .any(|name| name.as_bytes() == base.as_ref() || name.as_bytes() == stem)
}

/// Whether an allow survives a redirect.
pub(crate) fn is_harmless(
    redirect: &Redirect,
    program: &[u8],
    cwds: &[Names],
    place: &PlaceFacts,
) -> bool {
    match (&redirect.target, redirect.kind) {
        (RedirectTarget::NullSink | RedirectTarget::Fd(_), _) => true,
        (RedirectTarget::Body(_), _) => !is_interpreter(program),
        (RedirectTarget::Path(path), RedirectKind::Read) => {
            !is_interpreter(program)
                && !cwds.is_empty()
                && cwds.iter().all(|cwd| {
                    let path = resolve(cwd, place, path);
                    !path.is_secret(place) && !path.is_device()
                })
        }
        (
            RedirectTarget::Path(path),
            RedirectKind::Write | RedirectKind::Append | RedirectKind::Clobber,
        ) => {
            !cwds.is_empty()
                && cwds.iter().all(|cwd| {
                    let path = resolve(cwd, place, path);
                    path.is_writable(place) && !path.is_protected(place) && !path.is_secret(place)
                })
        }
        _ => false,
    }
}

/// The pseudo-program under which rules speak about a redirect.
pub(crate) fn pseudo_program(kind: RedirectKind) -> Option<&'static [u8]> {
    match kind {
        RedirectKind::Write | RedirectKind::Append | RedirectKind::Clobber => Some(b">"),
        RedirectKind::Read => Some(b"<"),
        _ => None,
    }
}
