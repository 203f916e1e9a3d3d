//! What shell builtins do to the shell that runs them, and which of them evaluate their operands.

use crate::opaque::{Opaque, OpaqueReason as Reason};
use crate::plain::{PlainCommand, ShellEffect};
use crate::word::Word;

/// Builtins after which later commands may mean something else.
const CHANGES_STATE: &[&[u8]] = &[
    b".",
    b"alias",
    b"autoload",
    b"bind",
    b"chdir",
    b"declare",
    b"dirs",
    b"disable",
    b"emulate",
    b"export",
    b"float",
    b"functions",
    b"getln",
    b"getopts",
    b"hash",
    b"integer",
    b"let",
    b"limit",
    b"local",
    b"mapfile",
    b"popd",
    b"private",
    b"pushd",
    b"pushln",
    b"read",
    b"readarray",
    b"readonly",
    b"rehash",
    b"set",
    b"setopt",
    b"shift",
    b"shopt",
    b"source",
    b"suspend",
    b"ttyctl",
    b"typeset",
    b"ulimit",
    b"umask",
    b"unalias",
    b"unfunction",
    b"unhash",
    b"unlimit",
    b"unset",
    b"unsetopt",
    b"vared",
    b"zformat",
    b"zmodload",
    b"zparseopts",
    b"zstyle",
];

/// Builtins that run an operand as code, now or later: never plain.
const RUNS_OPERANDS: &[&[u8]] = &[
    b"bindkey",
    b"compadd",
    b"compdef",
    b"compgen",
    b"complete",
    b"compopt",
    b"enable",
    b"eval",
    b"fc",
    b"history",
    b"r",
    b"sched",
    b"trap",
    b"zcompile",
    b"zle",
    b"zpty",
    b"zregexparse",
];

/// Builtins that evaluate a name or number among their operands, in some shell: `a[$(id)]` runs `id`.
const EVALUATES_NAMES: &[&[u8]] = &[
    b"[",
    b"bg",
    b"break",
    b"bye",
    b"cd",
    b"chdir",
    b"continue",
    b"declare",
    b"dirs",
    b"disown",
    b"echotc",
    b"echoti",
    b"exit",
    b"export",
    b"fg",
    b"float",
    b"getopts",
    b"integer",
    b"jobs",
    b"kill",
    b"let",
    b"limit",
    b"local",
    b"logout",
    b"mapfile",
    b"popd",
    b"print",
    b"printf",
    b"pushd",
    b"read",
    b"readarray",
    b"readonly",
    b"return",
    b"set",
    b"shift",
    b"test",
    b"typeset",
    b"ulimit",
    b"umask",
    b"unset",
    b"wait",
];

/// POSIX special builtins: an assignment before one of them outlasts it in dash.
const SPECIAL: &[&[u8]] = &[
    b".",
    b":",
    b"break",
    b"continue",
    b"eval",
    b"exec",
    b"exit",
    b"export",
    b"readonly",
    b"return",
    b"set",
    b"shift",
    b"source",
    b"times",
    b"trap",
    b"unset",
];

/// Refuses builtins that would run text hidden in their operands.
pub(crate) fn check(command: &PlainCommand) -> Result<(), Opaque> {
    let program = command.program();
    let at = command.span.start;
    let refuse = || {
        let name = String::from_utf8_lossy(program);
        Err(Opaque::new(
            Reason::EvaluatesOperands,
            at,
            format!("`{name}`"),
        ))
    };
    if RUNS_OPERANDS.contains(&program) {
        return refuse();
    }
    // A glob may expand to a file name that holds a subscript. `[` alone opens a test and `]` closes it.
    let evaluates = EVALUATES_NAMES.contains(&program);
    if evaluates
        && command
            .words
            .iter()
            .skip(1)
            .any(|word| word.literal().is_none_or(holds_subscript))
    {
        return refuse();
    }
    Ok(())
}

fn holds_subscript(word: &[u8]) -> bool {
    word.contains(&b'[') && word.iter().any(|b| matches!(b, b'$' | b'`'))
}

/// What the command does to its shell. `typed` is the first word before wrappers were removed.
pub(crate) fn effect(command: &PlainCommand, typed: &[u8]) -> Option<ShellEffect> {
    let program = command.program();
    if program == b"cd" {
        return Some(ShellEffect::ChangesDirectory);
    }
    let lasting_assignment = !command.assignments.is_empty() && SPECIAL.contains(&typed);
    let names_variable = matches!(program, b"printf" | b"print" | b"wait" | b"test")
        && command
            .words
            .iter()
            .skip(1)
            .filter_map(Word::literal)
            .any(|word| word.first() == Some(&b'-') && word.iter().any(|b| b"vpz".contains(b)));
    (CHANGES_STATE.contains(&program) || lasting_assignment || names_variable)
        .then_some(ShellEffect::ChangesState)
}

/// The operand of a `cd` that can be followed: one literal path, nothing that a shell resolves by its own state.
pub(crate) fn cd_target(command: &PlainCommand) -> Option<&[u8]> {
    let [_, Word::Literal(path)] = command.words.as_slice() else {
        return None;
    };
    let followable = command.via.is_empty()
        && command.assignments.is_empty()
        && !matches!(path.first(), None | Some(b'-' | b'+'));
    followable.then_some(path)
}
