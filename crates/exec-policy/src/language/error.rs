//! What can be wrong with a policy: where, at which key, with which value, and what was probably meant.

use std::fmt;

use palisade_policy::{HostError, PathError};

use super::model::Origin;

/// Everything that is wrong with one or more policy files; never empty.
///
/// There is no half of a policy: whoever gets this runs nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyErrors {
    errors: Vec<PolicyFileError>,
    left_out: usize,
}

impl PolicyErrors {
    /// More than this and nobody reads on.
    pub(crate) const SHOWN: usize = 100;

    pub(crate) fn new(mut errors: Vec<PolicyFileError>) -> Self {
        errors.sort_by(|left, right| left.origin.cmp(&right.origin));
        let left_out = errors.len().saturating_sub(Self::SHOWN);
        errors.truncate(Self::SHOWN);
        Self { errors, left_out }
    }

    /// Each of them, by place.
    pub fn iter(&self) -> impl Iterator<Item = &PolicyFileError> {
        self.errors.iter()
    }

    /// The one that stands first.
    #[must_use]
    pub fn first(&self) -> Option<&PolicyFileError> {
        self.errors.first()
    }

    /// How many there are, those that are not kept included.
    #[must_use]
    pub fn count(&self) -> usize {
        self.errors.len() + self.left_out
    }

    /// Those of several files as one.
    #[must_use]
    pub fn merged(all: impl IntoIterator<Item = Self>) -> Option<Self> {
        let mut errors = Vec::new();
        let mut left_out = 0;
        for one in all {
            errors.extend(one.errors);
            left_out += one.left_out;
        }
        if errors.is_empty() {
            return None;
        }
        let mut merged = Self::new(errors);
        merged.left_out += left_out;
        Some(merged)
    }
}

impl From<PolicyFileError> for PolicyErrors {
    fn from(error: PolicyFileError) -> Self {
        Self::new(vec![error])
    }
}

impl fmt::Display for PolicyErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.errors.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            error.fmt(f)?;
        }
        match self.left_out {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}

impl std::error::Error for PolicyErrors {}

/// One thing that is wrong with a policy file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyFileError {
    origin: Origin,
    key: String,
    value: Option<String>,
    problem: Problem,
    hint: Option<String>,
}

impl PolicyFileError {
    pub(crate) fn new(origin: Origin, key: impl Into<String>, problem: Problem) -> Self {
        Self {
            origin,
            key: key.into(),
            value: None,
            problem,
            hint: None,
        }
    }

    pub(crate) fn with_value(mut self, value: Option<String>) -> Self {
        self.value = value;
        self
    }

    pub(crate) fn with_hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }

    /// Where it stands.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The key, as in `rule[2].flags.allow`; empty if the whole file is meant.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// What stands there, shortened.
    #[must_use]
    pub fn value(&self) -> Option<&str> {
        self.value.as_deref()
    }

    /// What is wrong.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// What was probably meant.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for PolicyFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.origin)?;
        if !self.key.is_empty() {
            write!(f, "`{}`: ", visible(&self.key))?;
        }
        write!(f, "{}", self.problem)?;
        // These say the value themselves.
        let said = matches!(
            self.problem,
            Problem::Path(_) | Problem::Host(_) | Problem::Repeated(_)
        );
        if let (Some(value), false) = (&self.value, said) {
            write!(f, " (found `{value}`)")?;
        }
        match &self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for PolicyFileError {}

/// What is wrong with a policy file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// A file that nobody wrote by hand.
    #[error("the file has {bytes} bytes, more than the {max} that are read")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The largest that is read.
        max: usize,
    },
    /// Bytes that are not text.
    #[error("the file is not UTF-8")]
    NotUtf8,
    /// An invisible mark at the start.
    #[error("the file starts with a byte order mark; save it as UTF-8 without one")]
    ByteOrderMark,
    /// Not TOML.
    #[error("not valid TOML: {0}")]
    Syntax(String),
    /// No `version`.
    #[error("the version of the format is missing; write `version = 1` at the top")]
    MissingVersion,
    /// A `version` of the future.
    #[error("only version 1 of the format is known")]
    UnknownVersion,
    /// A key that means nothing here.
    #[error("unknown key")]
    UnknownKey,
    /// A key that must be there.
    #[error("`{0}` is missing")]
    MissingKey(&'static str),
    /// A value of another type.
    #[error("expected {expected}, not {found}")]
    WrongType {
        /// What belongs there.
        expected: &'static str,
        /// What stands there.
        found: &'static str,
    },
    /// A word that is none of those understood.
    #[error("expected {}", quoted(.0))]
    UnknownValue(Vec<&'static str>),
    /// A number out of range.
    #[error("expected a number from {min} to {max}")]
    OutOfRange {
        /// The smallest.
        min: u64,
        /// The largest.
        max: u64,
    },
    /// Nothing where something belongs.
    #[error("{0} must not be empty")]
    Empty(&'static str),
    /// The same thing twice.
    #[error("`{0}` is listed twice")]
    Repeated(String),
    /// More than anybody needs.
    #[error("{count} {what}, more than the {max} that are read")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// How many.
        count: usize,
        /// The most that are read.
        max: usize,
    },
    /// A text that is not what the key asks for.
    #[error("not {0}")]
    NotA(&'static str),
    /// A duration or size that cannot be counted.
    #[error("more than can be counted")]
    Overflow,
    /// A path.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A `~` without a known home directory.
    #[error("`~` has no meaning here, because the home directory is not known")]
    NoHome,
    /// A host.
    #[error(transparent)]
    Host(#[from] HostError),
    /// Two things that cannot both be meant.
    #[error(transparent)]
    Contradiction(#[from] RuleContradiction),
    /// An include that leads nowhere, too far, or in a circle.
    #[error(transparent)]
    Include(#[from] IncludeProblem),
}

/// Two things that a policy file cannot both mean.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleContradiction {
    /// The same id twice in a layer.
    #[error("the id is taken by the rule at {first}; ids are unique in a layer")]
    DuplicateId {
        /// The other rule.
        first: Origin,
    },
    /// A flag that is both allowed and forbidden.
    #[error("`{0}` is in `flags.allow` and in `flags.forbid`")]
    FlagAllowedAndForbidden(String),
    /// An `else` that would be looser than the rule.
    #[error("`flags.else` is looser than the rule's decision, so a flag would loosen the rule")]
    LooserElse,
    /// A forbid that leaves the sandbox or gets more in it.
    #[error(
        "a rule that forbids runs nothing, so it can neither leave the sandbox nor get more in it"
    )]
    ForbidWithGrants,
    /// A rule outside the sandbox with grants inside it.
    #[error("what runs unsandboxed needs no grants: `sandbox` has no meaning beside `unsandboxed`")]
    UnsandboxedWithGrants,
    /// A default that allows.
    #[error("a default can be `prompt` or `forbid`, never `allow`: write a rule for what may run")]
    AllowByDefault,
    /// An exception to something the rule does not say.
    #[error("an exception must be longer than the rule's prefix and begin with it")]
    ExceptOutsidePrefix,
    /// A floor outside the system layer.
    #[error("only the system layer has a floor")]
    FloorOutsideSystem,
    /// A secret that somebody else than the user binds to a host.
    #[error("only your own policy file binds secrets to hosts")]
    InjectOutsideUser,
    /// Everything, and a list.
    #[error(
        "`access` and `allow` contradict each other: full network has no list, and restricted network has no hosts"
    )]
    NetworkAccessAndList,
    /// Writable roots in a preset that writes nothing.
    #[error("the preset `read-only` writes nothing; leave `write` out or pick `workspace`")]
    ReadOnlyWithWrite,
    /// Writable roots without the project.
    #[error(
        "whoever may write at all may write the project: list `.` too, or write `[]` for nothing"
    )]
    WriteWithoutProject,
    /// A path that is both denied and opened.
    #[error("`{0}` is in `write` and in `{1}`")]
    WriteAndGuarded(String, &'static str),
}

/// What is wrong with an include.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IncludeProblem {
    /// Nobody said what it stands for.
    #[error("nothing was found for this include")]
    Missing,
    /// A source that was not handed in.
    #[error("`{0}` is included but was not handed in")]
    NotHandedIn(String),
    /// A source of somebody else.
    #[error("`{0}` belongs to another layer; a file includes files of its own layer only")]
    OtherLayer(String),
    /// A circle.
    #[error("files include each other in a circle: {}", .0.join(" -> "))]
    Cycle(Vec<String>),
    /// Too far down.
    #[error("includes are nested more than {0} deep")]
    TooDeep(usize),
}

/// A text with what cannot be seen made visible; quotes stay as they are.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\'' | '\\' => shown.push(c),
            other => shown.extend(other.escape_debug()),
        }
    }
    shown
}

fn quoted(names: &[&str]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        None => "nothing".to_owned(),
        Some((only, [])) => only.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}
