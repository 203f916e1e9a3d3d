//! What shell builtins do to the shell that runs them, and which of them evaluate their operands.

use crate::opaque::{Opaque, OpaqueReason as Reason};
use crate::plain::{PlainCommand, ShellEffect};
use crate::word::Word;

/// Later commands may mean something else.
const CHANGES: u8 = 1;
/// Runs an operand as code, now or later: never plain.
const RUNS: u8 = 2;
/// Evaluates a name or number among its operands, in some shell: `a[$(id)]` runs `id`.
const EVALUATES: u8 = 4;
/// POSIX special builtin: an assignment before it outlasts it in dash.
const SPECIAL: u8 = 8;

/// The builtins of bash, dash and zsh that matter here, sorted.
const BUILTINS: &[(&[u8], u8)] = &[
    (b".", CHANGES | SPECIAL),
    (b":", SPECIAL),
    (b"[", EVALUATES),
    (b"alias", CHANGES),
    (b"autoload", CHANGES),
    (b"bg", EVALUATES),
    (b"bind", CHANGES),
    (b"bindkey", RUNS),
    (b"break", EVALUATES | SPECIAL),
    (b"bye", EVALUATES),
    (b"cd", EVALUATES),
    (b"chdir", CHANGES | EVALUATES),
    (b"compadd", RUNS),
    (b"compdef", RUNS),
    (b"compgen", RUNS),
    (b"complete", RUNS),
    (b"compopt", RUNS),
    (b"continue", EVALUATES | SPECIAL),
    (b"declare", CHANGES | EVALUATES),
    (b"dirs", CHANGES | EVALUATES),
    (b"disable", CHANGES),
    (b"disown", EVALUATES),
    (b"echotc", EVALUATES),
    (b"echoti", EVALUATES),
    (b"emulate", RUNS),
    (b"enable", RUNS),
    (b"eval", RUNS | SPECIAL),
    (b"exec", SPECIAL),
    (b"exit", EVALUATES | SPECIAL),
    (b"export", CHANGES | EVALUATES | SPECIAL),
    (b"fc", RUNS),
    (b"fg", EVALUATES),
    (b"float", CHANGES | EVALUATES),
    (b"functions", CHANGES),
    (b"getln", CHANGES),
    (b"getopts", CHANGES | EVALUATES),
    (b"hash", CHANGES),
    (b"history", RUNS),
    (b"integer", CHANGES | EVALUATES),
    (b"jobs", RUNS),
    (b"kill", EVALUATES),
    (b"let", CHANGES | EVALUATES),
    (b"limit", CHANGES | EVALUATES),
    (b"local", CHANGES | EVALUATES),
    (b"logout", EVALUATES),
    (b"mapfile", RUNS),
    (b"popd", CHANGES | EVALUATES),
    (b"print", EVALUATES),
    (b"printf", EVALUATES),
    (b"private", CHANGES),
    (b"pushd", CHANGES | EVALUATES),
    (b"pushln", CHANGES),
    (b"r", RUNS),
    (b"read", CHANGES | EVALUATES),
    (b"readarray", RUNS),
    (b"readonly", CHANGES | EVALUATES | SPECIAL),
    (b"rehash", CHANGES),
    (b"return", EVALUATES | SPECIAL),
    (b"sched", RUNS),
    (b"set", CHANGES | EVALUATES | SPECIAL),
    (b"setopt", CHANGES),
    (b"shift", CHANGES | EVALUATES | SPECIAL),
    (b"shopt", CHANGES),
    (b"source", CHANGES | SPECIAL),
    (b"suspend", CHANGES),
    (b"test", EVALUATES),
    (b"times", SPECIAL),
    (b"trap", RUNS | SPECIAL),
    (b"ttyctl", CHANGES),
    (b"typeset", CHANGES | EVALUATES),
    (b"ulimit", CHANGES | EVALUATES),
    (b"umask", CHANGES | EVALUATES),
    (b"unalias", CHANGES),
    (b"unfunction", CHANGES),
    (b"unhash", CHANGES),
    (b"unlimit", CHANGES),
    (b"unset", CHANGES | EVALUATES | SPECIAL),
    (b"unsetopt", CHANGES),
    (b"vared", CHANGES),
    (b"wait", EVALUATES),
    (b"zcompile", RUNS),
    (b"zformat", CHANGES),
    (b"zle", RUNS),
    (b"zmodload", CHANGES),
    (b"zparseopts", CHANGES),
    (b"zpty", RUNS),
    (b"zregexparse", RUNS),
    (b"zstyle", CHANGES),
];

fn traits(name: &[u8]) -> u8 {
    BUILTINS
        .binary_search_by(|(known, _)| crate::names::order(known, name))
        .ok()
        .and_then(|index| BUILTINS.get(index))
        .map_or(0, |(_, traits)| *traits)
}

/// Whether an assignment before this builtin may last.
pub(crate) fn is_special(name: &[u8]) -> bool {
    traits(name) & SPECIAL != 0
}

/// What the command does to its shell; refuses builtins that would run text hidden in their operands.
///
/// `special`: the word that was typed first, before wrappers were removed, is a special builtin.
pub(crate) fn effect(command: &PlainCommand, special: bool) -> Result<Option<ShellEffect>, Opaque> {
    let program = command.program();
    let traits = traits(program);
    let mut operands = command.words.iter().skip(1);
    // A glob may expand to a file name that holds a subscript.
    let runs_text = traits & RUNS != 0
        || traits & EVALUATES != 0
            && operands.any(|word| word.literal().is_none_or(holds_subscript));
    if runs_text {
        return Err(Opaque::new(
            Reason::EvaluatesOperands,
            command.span.start,
            format!("`{}`", String::from_utf8_lossy(program)),
        ));
    }
    if program == b"cd" {
        return Ok(Some(ShellEffect::ChangesDirectory));
    }
    let lasting_assignment = special && !command.assignments.is_empty();
    let changes = traits & CHANGES != 0 || lasting_assignment || names_variable(command);
    Ok(changes.then_some(ShellEffect::ChangesState))
}

/// `printf -v NAME`, `wait -p NAME`: options of otherwise harmless builtins.
fn names_variable(command: &PlainCommand) -> bool {
    let letters: &[u8] = match command.program() {
        b"printf" => b"v",
        b"print" => b"vzsSR",
        b"wait" => b"p",
        _ => return false,
    };
    let mut operands = command.words.iter().skip(1).filter_map(Word::literal);
    operands.any(|word| word.first() == Some(&b'-') && word.iter().any(|b| letters.contains(b)))
}

fn holds_subscript(word: &[u8]) -> bool {
    word.contains(&b'[') && word.iter().any(|b| matches!(b, b'$' | b'`'))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(BUILTINS.is_sorted_by(|a, b| a.0 < b.0));
    }
}
