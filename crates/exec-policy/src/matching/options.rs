//! Options of programs, in every spelling: `--x=v`, `--x v`, `-xv`, `-yx`, unambiguous abbreviations, `--`, and after
//! operands.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;
use std::sync::{Arc, OnceLock};

use super::args::Arg;
use super::builtin;
use crate::language::model::OptionTable;

/// The entry that stands for a number: `-20`.
const NUMBER: &[u8] = b"-<n>";

/// Whether an option takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arity {
    None,
    /// Joined or as the next word.
    Value,
    /// Joined only.
    Joined,
}

/// The options of one program or subcommand. There are many programs, and a command is about a few: an index is made when
/// somebody looks something up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    written: Vec<Written>,
    index: OnceLock<Index>,
}

/// Options as somebody wrote them.
#[derive(Clone, Debug)]
pub(crate) enum Written {
    Read(Arc<OptionTable>),
    /// As they are compiled in: the line is read when an index is made.
    Compiled(&'static str),
}

/// The options of a table, to look up.
#[derive(Clone, Debug, Default)]
struct Index {
    exact: HashMap<Box<[u8]>, Arity>,
    /// Long ones, sorted, for abbreviations.
    long: Vec<Box<[u8]>>,
    /// Entries with a trailing star, without it.
    starred: Vec<Box<[u8]>>,
}

impl Table {
    pub(crate) fn add(&mut self, options: Written) {
        self.written.push(options);
        self.index = OnceLock::new();
    }

    /// What it is made of.
    pub(crate) fn written(&self) -> &[Written] {
        &self.written
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| {
            let mut index = Index::default();
            for options in &self.written {
                match options {
                    Written::Read(options) => index.add(options),
                    // A test reads every line. Were one unreadable, its options would be unknown.
                    Written::Compiled(line) => {
                        index.add(&builtin::read_options_line(line).unwrap_or_default());
                    }
                }
            }
            index.long.sort_unstable();
            index
        })
    }
}

impl Index {
    fn add(&mut self, options: &OptionTable) {
        let lists = [
            (&options.flag, Arity::None),
            (&options.value, Arity::Value),
            (&options.optional, Arity::Joined),
        ];
        for (names, arity) in lists {
            for name in names {
                let name = name.as_bytes();
                if let Some(stem) = name.strip_suffix(b"*") {
                    self.starred.push(stem.into());
                    continue;
                }
                if name.starts_with(b"--") && !self.exact.contains_key(name) {
                    self.long.push(name.into());
                }
                self.exact.insert(name.into(), arity);
            }
        }
    }

    /// The arity of an option that is spelled out, without its value.
    fn arity(&self, name: &[u8]) -> Option<Arity> {
        self.exact.get(name).copied().or_else(|| {
            self.starred
                .iter()
                .any(|stem| name.len() > stem.len() && name.starts_with(stem))
                .then_some(Arity::Joined)
        })
    }

    /// The only long option that starts like this.
    fn unabbreviated(&self, name: &[u8]) -> Option<&[u8]> {
        let from = self.long.partition_point(|long| long.as_ref() < name);
        let mut matching = self
            .long
            .get(from..)?
            .iter()
            .take_while(|long| long.starts_with(name));
        match (matching.next(), matching.next()) {
            (Some(only), None) => Some(only),
            _ => None,
        }
    }
}

/// The tables of all programs, by the words that lead to them: `git`, `git diff`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tables {
    by_path: BTreeMap<String, Arc<Table>>,
    /// Programs whose table an author wrote.
    authored: BTreeSet<String>,
}

/// Programs that take options before a subcommand. The options of any other program belong to what it does: `rm -rf x`
/// is not `rm x`.
const WITH_GLOBALS: [&str; 12] = [
    "bun", "cargo", "docker", "git", "go", "helm", "kubectl", "nerdctl", "npm", "pnpm", "podman",
    "yarn",
];

impl Tables {
    pub(crate) fn add(&mut self, path: &str, options: Written) {
        Arc::make_mut(self.by_path.entry(path.to_owned()).or_default()).add(options);
    }

    /// The same for a table that an author wrote: its options may stand before the next word of a rule.
    pub(crate) fn add_authored(&mut self, path: &str, options: OptionTable) {
        self.add(path, Written::Read(Arc::new(options)));
        self.authored.insert(path.to_owned());
    }

    /// Whether options of this program may be looked past by a rule that allows.
    pub(crate) fn has_globals(&self, program: &str) -> bool {
        WITH_GLOBALS.contains(&program) || self.authored.contains(program)
    }

    /// Whether there is a table for a program or one of its subcommands.
    pub(crate) fn knows(&self, program: &str) -> bool {
        let from = (Bound::Included(program), Bound::Unbounded);
        let next = self.by_path.range::<str, _>(from).next();
        next.is_some_and(|(path, _)| path.starts_with(program))
    }

    pub(crate) fn get(&self, path: &str) -> Option<&Arc<Table>> {
        self.by_path.get(path)
    }
}

/// One thing found among the words.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Item<'a> {
    /// An option of the table, by its full name (a letter with its dash).
    Option {
        name: &'a [u8],
        value: Option<Arg<'a>>,
    },
    /// Something that may be an option and is not in the table.
    Unknown(&'a [u8]),
    /// `--`.
    End,
    Operand(Arg<'a>),
}

/// Calls `found` with everything in `words`. Without a table every option is unknown.
pub(crate) fn scan<'a>(
    table: Option<&'a Table>,
    words: &[Arg<'a>],
    mut found: impl FnMut(Item<'a>),
) {
    let mut at = 0;
    while let Some(word) = words.get(at).copied() {
        at = at.saturating_add(1);
        let bytes = match word {
            Arg::Known(bytes) => bytes,
            Arg::Pattern { text, .. } if word.may_be_option() => {
                found(Item::Unknown(text));
                continue;
            }
            Arg::Unknown => {
                found(Item::Unknown(b""));
                continue;
            }
            Arg::Pattern { .. } | Arg::Pipe(_) => {
                found(Item::Operand(word));
                continue;
            }
        };
        if bytes == b"--" {
            found(Item::End);
            for rest in words.get(at..).unwrap_or_default() {
                found(Item::Operand(*rest));
            }
            return;
        }
        let plus = bytes.first() == Some(&b'+')
            && table.is_some_and(|table| table.index().arity(bytes).is_some());
        if !plus && !word.may_be_option() {
            found(Item::Operand(word));
            continue;
        }
        let next = words.get(at).copied();
        let used = match table {
            None => {
                found(Item::Unknown(bytes));
                0
            }
            Some(table) => option(table, bytes, next, &mut found),
        };
        at = at.saturating_add(used);
    }
}

/// Reads one word that starts with a dash; says how many of the next words it takes.
fn option<'a>(
    table: &'a Table,
    word: &'a [u8],
    next: Option<Arg<'a>>,
    found: &mut impl FnMut(Item<'a>),
) -> usize {
    let table = table.index();
    let equals = word.iter().position(|&b| b == b'=');
    let name = equals.map_or(word, |equals| word.get(..equals).unwrap_or(word));
    let joined = equals
        .and_then(|equals| word.get(equals.saturating_add(1)..))
        .map(Arg::Known);
    let full = table.arity(name).map(|arity| (name, arity)).or_else(|| {
        let long =
            (name.starts_with(b"--") && name.len() > 2).then(|| table.unabbreviated(name))??;
        table.arity(long).map(|arity| (long, arity))
    });
    if let Some((name, arity)) = full {
        let (value, used) = match (joined, arity) {
            (Some(value), _) => (Some(value), 0),
            (None, Arity::Value) => (next, taken(next)),
            (None, Arity::None | Arity::Joined) => (None, 0),
        };
        found(Item::Option { name, value });
        return used;
    }
    if word.starts_with(b"--") {
        found(Item::Unknown(word));
        return 0;
    }
    let letters = word.get(1..).unwrap_or_default();
    if table.exact.contains_key(NUMBER) && letters.iter().all(u8::is_ascii_digit) {
        found(Item::Option {
            name: NUMBER,
            value: None,
        });
        return 0;
    }
    cluster(table, letters, next, found)
}

/// How many words a value takes. One that looks like an option is read as an option too: should the table be wrong
/// about its owner, nothing hides behind it.
fn taken(value: Option<Arg<'_>>) -> usize {
    usize::from(value.is_some_and(|value| !value.may_be_option() && value.known() != Some(b"--")))
}

/// `-yxVALUE`: letters without a value, then perhaps one that takes the rest or the next word.
fn cluster<'a>(
    table: &'a Index,
    letters: &'a [u8],
    next: Option<Arg<'a>>,
    found: &mut impl FnMut(Item<'a>),
) -> usize {
    for (index, letter) in letters.iter().enumerate() {
        let name = [b'-', *letter];
        let rest = letters.get(index.saturating_add(1)..).unwrap_or_default();
        let Some((name, arity)) = table.exact.get_key_value(&name[..]) else {
            found(Item::Unknown(letters.get(index..).unwrap_or_default()));
            return 0;
        };
        match (arity, rest) {
            (Arity::None, _) => found(Item::Option { name, value: None }),
            (Arity::Joined, []) => found(Item::Option { name, value: None }),
            (Arity::Value, []) => {
                found(Item::Option { name, value: next });
                return taken(next);
            }
            (Arity::Value | Arity::Joined, rest) => {
                found(Item::Option {
                    name,
                    value: Some(Arg::Known(rest)),
                });
                return 0;
            }
        }
    }
    0
}

/// How an option that stands before a position is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Skip<'a> {
    /// In the table: this many words, and its value.
    Known(usize, Option<Arg<'a>>),
    Unknown,
}

impl PartialEq for Arg<'_> {
    fn eq(&self, other: &Self) -> bool {
        matches!((self.known(), other.known()), (Some(a), Some(b)) if a == b)
    }
}

impl Eq for Arg<'_> {}

/// Reads the option at the start of `words` as one that may be skipped.
pub(crate) fn skip<'a>(table: &'a Table, words: &[Arg<'a>]) -> Skip<'a> {
    let Some(Arg::Known(word)) = words.first().copied() else {
        return Skip::Unknown;
    };
    let next = words.get(1).copied();
    let mut known = true;
    let mut value = None;
    let used = option(table, word, next, &mut |item| match item {
        Item::Option { value: found, .. } => {
            known &= found.is_none_or(|found| !found.may_be_option());
            value = value.or(found);
        }
        Item::Unknown(_) | Item::End | Item::Operand(_) => known = false,
    });
    if known {
        Skip::Known(used.saturating_add(1), value)
    } else {
        Skip::Unknown
    }
}

/// Whether something that is not in a table may be this flag, read generously.
pub(crate) fn may_be(unknown: &[u8], flag: &[u8]) -> bool {
    let name = unknown
        .iter()
        .position(|&b| b == b'=')
        .map_or(unknown, |equals| unknown.get(..equals).unwrap_or(unknown));
    if name == flag {
        return true;
    }
    if flag.starts_with(b"--") {
        return name.starts_with(b"--") && name.len() > 2 && flag.starts_with(name);
    }
    match flag {
        // One letter: anywhere in a cluster. Letters of a cluster that was cut come without their dash.
        [b'-', letter] => {
            let letters = name.strip_prefix(b"-").unwrap_or(name);
            !letters.starts_with(b"-") && letters.contains(letter)
        }
        _ => false,
    }
}

#[cfg(test)]
#[path = "options_tests.rs"]
mod tests;
