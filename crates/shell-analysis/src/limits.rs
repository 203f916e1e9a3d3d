//! Caps on the work one analysis may do, and the counter that enforces them.

/// How large a script may be before it is opaque.
///
/// Going over a cap never weakens a verdict: the allow side answers opaque, the forbid side reports what it has read
/// and sets [`Mentions::truncated`](crate::Mentions::truncated).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Longest text in bytes, for a script or for all arguments together.
    pub max_bytes: usize,
    /// Most commands in one analysis, nested ones included.
    pub max_commands: usize,
    /// How deep scripts, wrappers and substitutions may nest.
    pub max_depth: usize,
    /// Longest text handed to the full bash parser; beyond it the loose scan reads the text instead.
    pub max_parser_bytes: usize,
    /// Most brackets and keywords that open something in text for the full bash parser, which is recursive.
    pub max_parser_openers: usize,
    /// Most openers of the kind that doubles the parser's work: bare parentheses, and `case` counted twice.
    pub max_parser_doublings: usize,
    /// Steps (about one per byte or word looked at) one analysis may take.
    pub max_steps: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_bytes: 64 * 1024,
            max_commands: 512,
            max_depth: 16,
            max_parser_bytes: 16 * 1024,
            max_parser_openers: 64,
            max_parser_doublings: 12,
            max_steps: 4_000_000,
        }
    }
}

/// Counts steps against the cap, so that bounded time is a property of a number and not of a clock.
#[derive(Debug)]
pub(crate) struct Meter {
    limits: Limits,
    steps: u64,
    commands: usize,
}

impl Meter {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            limits: *limits,
            steps: 0,
            commands: 0,
        }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// Takes `n` steps; `false` when the budget is spent.
    pub(crate) fn take(&mut self, n: usize) -> bool {
        self.steps = self
            .steps
            .saturating_add(u64::try_from(n).unwrap_or(u64::MAX));
        self.steps <= self.limits.max_steps
    }

    /// Counts one command of the allow side; `false` when there are too many.
    pub(crate) fn take_command(&mut self) -> bool {
        self.commands = self.commands.saturating_add(1);
        self.commands <= self.limits.max_commands
    }
}
