//! The allow side's answer: what runs, in order, with nothing left to guess.

use std::fmt;

use crate::word::{Span, Word};

/// Every command of a script or argument list, in the order in which a shell would reach them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Plain {
    /// Never empty in an [`Analysis`](crate::Analysis).
    pub commands: Vec<PlainCommand>,
}

/// One command whose program and arguments are known.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlainCommand {
    /// How it is joined to the command before it.
    pub join: Join,
    /// Literal `NAME=value` prefixes, wrappers' (`env A=1`) included, in order.
    pub assignments: Vec<Assignment>,
    /// Program and arguments with wrappers removed; the first is always a literal.
    pub words: Vec<Word>,
    /// Redirects, in order.
    pub redirects: Vec<Redirect>,
    /// The directories in which it may run.
    pub cwd: Cwd,
    /// The wrappers removed, outermost first.
    pub via: Vec<UnwrapStep>,
    /// Further arguments arrive at run time (`xargs`).
    pub operands_unknown: bool,
    /// What this command does to the shell that reads the rest of the script.
    pub effect: Option<ShellEffect>,
    /// An earlier command changed what this one means.
    pub tainted: Option<Taint>,
    /// Where the command stands in the script it was read from; empty for an argument list.
    pub span: Span,
}

impl PlainCommand {
    /// The program's bytes as typed.
    #[must_use]
    pub fn program(&self) -> &[u8] {
        self.words.first().and_then(Word::literal).unwrap_or(b"")
    }

    /// Whether a wrapper would run it with other privileges.
    #[must_use]
    pub fn is_privileged(&self) -> bool {
        self.via
            .iter()
            .any(|step| step.kind == UnwrapKind::Privilege)
    }
}

/// The operator before a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Join {
    /// First of its list.
    Start,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `;` or newline.
    Seq,
    /// `|`
    Pipe,
    /// `|&`: standard error goes down the pipe too.
    PipeBoth,
}

/// A literal variable assignment for one command.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Assignment {
    /// An identifier.
    pub name: Vec<u8>,
    /// The value with quotes removed.
    pub value: Vec<u8>,
}

/// One redirect.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Redirect {
    /// The descriptor changed: the one written, or the operator's default.
    pub fd: u8,
    /// The operator.
    pub kind: RedirectKind,
    /// Where it points.
    pub target: RedirectTarget,
}

/// A redirect operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RedirectKind {
    /// `<`
    Read,
    /// `>`
    Write,
    /// `>|`: writes even where the shell was told not to overwrite.
    Clobber,
    /// `>>`
    Append,
    /// `>&` with a descriptor.
    DuplicateOut,
    /// `<&` with a descriptor.
    DuplicateIn,
    /// `<<'WORD'`
    HereDocument,
}

/// What a redirect points at.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RedirectTarget {
    /// `/dev/null`.
    NullSink,
    /// A descriptor.
    Fd(u8),
    /// A literal path, as typed, relative to the command's directory.
    Path(Vec<u8>),
    /// The body of a quoted here-document: data, not shell text.
    Body(Vec<u8>),
}

/// The directories in which a command may run, as far as literal `cd` commands tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cwd {
    /// Where the script starts.
    #[default]
    Start,
    /// One of these: paths as typed, joined; the empty path is the start.
    OneOf(Vec<Vec<u8>>),
    /// A `cd` that cannot be followed came before.
    Unknown,
}

/// One wrapper that was looked through.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnwrapStep {
    /// What kind of wrapper.
    pub kind: UnwrapKind,
    /// The wrapper with its own arguments, without the inner command: `nice -n 10`, `bash -lc`.
    pub words: Vec<Vec<u8>>,
}

/// What a wrapper changes about the command inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UnwrapKind {
    /// Priority, buffering, time limit, session: the command itself is the same.
    Transparent,
    /// `env`: variables.
    Environment,
    /// `sudo`, `doas`, `su`: another user.
    Privilege,
    /// `xargs`: further operands from input.
    Runner,
    /// `busybox`, `toybox`: the applet is the command.
    Applet,
    /// `bash -c` and the like: a script in an argument.
    Shell,
}

/// What a builtin does to the shell that runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ShellEffect {
    /// `cd`.
    ChangesDirectory,
    /// Anything else: variables, aliases, options, traps, descriptors.
    ChangesState,
}

/// Why a command may not mean what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Taint {
    /// The builtin that changed the shell.
    pub by: Vec<u8>,
    /// Where that builtin stands.
    pub at: Span,
}

impl fmt::Display for Taint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` at byte {} changed the shell before this command",
            String::from_utf8_lossy(&self.by),
            self.at.start
        )
    }
}
