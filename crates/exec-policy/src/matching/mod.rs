//! Rules x command: what the rules of a policy say about every segment of an analysed command.
//!
//! [`Ruleset::compile`] takes the rules of all layers; [`Ruleset::evaluate`] takes one analysed command and the facts
//! about the place where it would run, and returns an [`Evaluation`]: a verdict for each segment, every rule that
//! matched, the risk, and the prefix that an approval could keep.
//!
//! # How a segment is judged
//!
//! Two walks through the rules, with opposite error directions:
//!
//! - The **strict** walk finds rules that forbid or ask. It goes by the program's last name, case folded, looks
//!   through options that nobody knows, and also runs over everything that is merely mentioned.
//! - The **exact** walk finds rules that allow. It goes by the program that really runs, and ends at the first option
//!   that no table knows.
//!
//! The strictest of all matching rules wins. An allow holds only if the rest of the segment is harmless too: its
//! redirects, its variables, its directory, what came before it ([`HeldBack`] names what was not).
//!
//! A redirect is judged like a command named `>` (or `<`, if it reads) whose operand is the target, so that rules can
//! speak about it: `prefix = [">"]`, `args = "startup-files"`.
//!
//! # Globs
//!
//! A glob in an operand is as good as any operand for a rule without conditions. Under a rule with conditions it
//! counts as an unknown option where a file could be named like one (`*`, not `src/*`), and the checks of paths refuse
//! it where it could leave the project or match hidden names.

mod amend;
mod args;
pub mod builtin;
mod download;
mod env;
mod evaluation;
mod facts;
mod judge;
mod mentioned;
mod names;
mod options;
mod paths;
mod predicates;
mod program;
mod redirect;
mod rule;
mod ruleset;
mod surroundings;
#[cfg(test)]
mod tests_support;
mod trie;
mod verify;

pub use evaluation::{Evaluation, HeldBack, Match, Segment, SegmentPlace};
pub use facts::{Approvals, CommandFacts, PlaceFacts, Programs};
pub use rule::CompiledRule;
pub use ruleset::{Ruleset, RulesetInput};
pub use verify::{ExampleFailure, ExampleProblem, verify, verify_policy};
