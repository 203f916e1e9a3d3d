//! From policy files to a policy.
//!
//! ```text
//! Source        the text of a file, its layer and whether the user trusts it: the caller reads, nothing here does
//!   | parse     a PolicyFile: what the author wrote, each value checked by itself
//! PolicyFile
//!   | load      layers, trust, floor and presets combined
//! LoadedPolicy  settings and rules, each with its origin
//! ```
//!
//! Examples (`match`, `not_match`) and cases (`[[case]]`) speak about what a matcher says, so they are verified by the
//! matcher, on a loaded policy, before anything is decided with it.

mod canonical;
mod error;
mod format;
mod include;
mod keys;
mod lines;
mod load;
mod loaded;
pub mod model;
mod notice;
mod parse;
mod presets;
mod schema;
mod settings;
mod show;
mod source;
mod suggest;

pub use canonical::Anchors;
pub use error::{IncludeProblem, PolicyErrors, PolicyFileError, Problem, RuleContradiction};
pub use format::fmt;
pub use include::{IncludeRequest, MAX_INCLUDE_DEPTH, includes};
pub use load::{LoadContext, load, load_sources};
pub use loaded::LoadedPolicy;
pub use model::{Layer, Origin, PolicyFile};
pub use notice::{Notice, NoticeKind};
pub use parse::{MAX_BYTES, MAX_RULES, parse};
pub use presets::PresetSettings;
pub use schema::schema;
pub use settings::{LimitSettings, NetworkSetting, Setting, Settings};
pub use show::show_resolved;
pub use source::{Source, Trust};
