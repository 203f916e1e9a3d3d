//! What a shell command would run: either every command exactly, or a reason why nobody can tell.
//!
//! A sandbox for other people's commands has to answer two questions about a line of shell text, and the safe answers
//! err in opposite directions:
//!
//! - *May this run unasked?* Only if it is certain what runs. The **allow side** is a strict reader that accepts the
//!   small part of the language which bash, dash and zsh all read alike, and calls everything else [`Opaque`].
//! - *Must this never run?* Then it is enough that it might. The **forbid side** walks everything it can find,
//!   substitutions, functions, strings handed to `sh -c`, wrappers, and lists every command mentioned.
//!
//! [`analyze_script`] and [`analyze_argv`] always answer both, in one [`Analysis`]. Neither judges: which commands are
//! fine is for rules to say.
//!
//! ```
//! use palisade_shell_analysis::{Limits, Shell, analyze_script};
//!
//! let analysis = analyze_script("cd src && nice -n 5 cargo test", Shell::Bash, &Limits::default());
//! let plain = analysis.plain.expect("a literal list is plain");
//! assert_eq!(plain.commands.len(), 2);
//! assert_eq!(plain.commands[1].program(), b"cargo");
//! assert_eq!(plain.commands[1].via[0].words, [&b"nice"[..], b"-n", b"5"]);
//!
//! let analysis = analyze_script("echo $(rm -rf /)", Shell::Bash, &Limits::default());
//! assert_eq!(
//!     analysis.plain.unwrap_err().to_string(),
//!     "shell expansion: `$` (byte 5)"
//! );
//! assert!(analysis.mentions.commands.iter().any(|m| m.to_string().starts_with("rm -rf /")));
//! ```
//!
//! # Terms
//!
//! - A **word** is one argument: literal, or a *pattern* (glob) that expands in its own position only.
//! - A **plain** script is a list of commands with literal programs, joined by `&&`, `||`, `;`, `|` and newlines.
//! - A **wrapper** is a program that runs the command in its arguments (`nice`, `env`, `xargs`); it is removed from
//!   the words and listed in [`PlainCommand::via`].
//! - A command is **tainted** if an earlier builtin (`export`, `alias`, `source`, ...) changed what it may mean.
//! - A **mention** is a command found anywhere by the forbid side, with the constructs around it.
//!
//! # What the caller must provide
//!
//! The answer is about the text. That `ls` means the usual `ls` depends on the host: no aliases or functions from
//! start-up files (`BASH_ENV`, `ENV`, `.zshenv`), no `CDPATH`, no exported functions, and a search path the command's
//! author cannot write to.
//!
//! # Non-goals
//!
//! - Running, expanding or completing anything; files, environment and clock are never looked at.
//! - PowerShell and cmd: always opaque, scanned for mentions only.
//! - Understanding programs in other languages (`python -c`, `awk`), or what a program does with its arguments.
//! - Finding every forbidden command: text can always be assembled at run time. Such text is opaque, and a rule or a
//!   person answers; the sandbox contains the rest.
//!
//! # Features
//!
//! - `bash-parser` (default): opaque scripts are walked with a full bash parser. Without it, or where that parser
//!   fails, a loose text scan takes its place.
#![forbid(unsafe_code)]

mod analysis;
mod ansi_c;
#[cfg(feature = "bash-parser")]
mod bash_walk;
mod builtins;
#[cfg(feature = "bash-parser")]
mod expand;
mod flow;
mod follow;
mod hidden;
mod lexer;
mod limits;
#[cfg(feature = "bash-parser")]
mod loose;
mod mentions;
mod names;
mod opaque;
mod options;
mod parse;
mod plain;
mod script;
mod shell;
mod text_scan;
mod unwrap;
mod walk;
mod word;
#[cfg(feature = "bash-parser")]
mod words;
mod wrappers;

pub use analysis::{Analysis, analyze_argv, analyze_script};
pub use hidden::{HiddenPoint, hidden_points};
pub use limits::Limits;
pub use mentions::{Construct, Mention, MentionWord, Mentions};
pub use opaque::{Opaque, OpaqueReason};
pub use plain::{
    Assignment, Cwd, Join, Plain, PlainCommand, Redirect, RedirectKind, RedirectTarget,
    ShellEffect, Taint, UnwrapKind, UnwrapStep,
};
pub use shell::Shell;
pub use word::{Pattern, Span, Word};
