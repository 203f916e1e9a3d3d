//! Tools for people who write policies: every one takes values and returns data that prints as readable text.
//!
//! - [`explain`](explain()): why a command gets its verdict.
//! - [`test`](test()): whether examples, cases and a corpus hold, and which rules they exercise.
//! - [`lint`](lint()): rules that do nothing, allow too much, or say too little.
//! - [`diff`](diff()): which commands get another verdict, and what the sandbox newly grants.
//! - [`matrix`](matrix()): the verdict of many commands, as a table.
//! - [`report`](report()): all of it as a page, in Markdown or HTML.
//! - [`suggest`](suggest()): rules that people have been giving the answer to, over and over.
//!
//! ```
//! use palisade_exec_policy::authoring::{Workbench, explain, lint};
//! use palisade_exec_policy::language::{Layer, Source, load_sources};
//! use palisade_exec_policy::matching::{CommandFacts, PlaceFacts};
//! use palisade_policy::{AbsolutePath, HostFacts, Os};
//!
//! let text = r#"
//! version = 1
//! [[rule]]
//! id = "no-push"
//! prefix = ["git", "push"]
//! decision = "forbid"
//! why = "Pushing is for people"
//! "#;
//! let policy = load_sources([Source::new(Layer::User, "rules.toml", text)])?;
//! let bench = Workbench::new(&policy);
//! let place = PlaceFacts::new(&AbsolutePath::new("/srv/app")?, &HostFacts::new(Os::Linux));
//! let explanation = explain(&bench, "cd sub && git push", &CommandFacts::new(&place), None);
//! assert!(explanation.to_string().contains("forbid by `no-push` (user layer, rules.toml:3:1)"));
//! assert_eq!(lint(&bench).findings.len(), 1, "it has no examples");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod diff;
mod explain;
mod lint;
mod matrix;
mod near;
mod options;
mod report;
mod settings_diff;
mod suggest;
mod test;
pub(crate) mod toml_text;
mod witness;
mod words;
mod workbench;

pub use diff::{DiffVerdict, Direction, Moved, PolicyDiff, SettingChange, diff};
pub use explain::{ExplainedRule, ExplainedSegment, Explanation, explain, explain_decided};
pub use lint::{Finding, Lint, LintReport, Severity, lint};
pub use matrix::{Matrix, MatrixRow, matrix};
pub use report::{Page, report};
pub use suggest::{LoggedAnswer, LoggedCommand, Suggestion, Suggestions, suggest};
pub use test::{Coverage, TestReport, test};
pub use workbench::Workbench;
