//! `policy`: writing, reading, testing and comparing policies. Everything here is the library's work: this folder finds
//! files and prints answers.

mod artefact;
mod compare;
mod examine;
mod files;
mod fmt;
mod import;
mod init;
mod show;
mod suggest;
mod tables;
mod written;

use std::process::ExitCode;

use clap::{Subcommand, ValueEnum};
use palisade::runner::exec_policy::language::Layer;

use crate::complaint::Complaint;
use crate::say::Voice;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  palisade policy init                         a policy for this project, to start from
  palisade policy show                         what is in force here, and where each thing comes from
  palisade policy show --backend seatbelt      what a Mac would be told
  palisade policy test && palisade policy lint
  palisade policy diff old.toml new.toml --deny-loosening
  palisade policy import ~/.codex/rules/default.rules -o policy.toml")]
pub(crate) struct PolicyArgs {
    #[command(subcommand)]
    command: PolicyCommand,
}

#[derive(Debug, Subcommand)]
enum PolicyCommand {
    /// Write a policy to start from
    Init(init::InitArgs),
    /// Print what is in force here, or what a system would be told to enforce it
    Show(Box<show::ShowArgs>),
    /// Check the examples and cases of a policy; exit 1 if one does not hold
    Test(examine::TestArgs),
    /// Look for rules that do nothing, allow too much, or say too little; exit 1 on errors
    Lint(examine::LintArgs),
    /// Put policy files in order; comments and meaning stay
    Fmt(fmt::FmtArgs),
    /// Say what changes from one policy to another, above all what it newly allows
    Diff(compare::DiffArgs),
    /// Print the decision matrix, or the verdict of each command of a list
    Matrix(tables::MatrixArgs),
    /// Print the JSON Schema of policy files, for editors
    Schema,
    /// Turn the rules or settings of another tool into a policy
    Import(import::ImportArgs),
    /// Print rules for what people keep agreeing to, from the records of what ran
    Suggest(suggest::SuggestArgs),
}

/// Whose file a policy is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LayerName {
    System,
    User,
    Project,
}

impl From<LayerName> for Layer {
    fn from(name: LayerName) -> Self {
        match name {
            LayerName::System => Self::System,
            LayerName::User => Self::User,
            LayerName::Project => Self::Project,
        }
    }
}

pub(crate) fn policy(args: &PolicyArgs, voice: &Voice) -> Result<ExitCode, Complaint> {
    match &args.command {
        PolicyCommand::Init(args) => init::init(args, voice),
        PolicyCommand::Show(args) => show::show(args, voice),
        PolicyCommand::Test(args) => examine::test(args, voice),
        PolicyCommand::Lint(args) => examine::lint(args, voice),
        PolicyCommand::Fmt(args) => fmt::fmt(args, voice),
        PolicyCommand::Diff(args) => compare::diff(args, voice),
        PolicyCommand::Matrix(args) => tables::matrix(args, voice),
        PolicyCommand::Schema => tables::schema(voice),
        PolicyCommand::Import(args) => import::import(args, voice),
        PolicyCommand::Suggest(args) => suggest::suggest(args, voice),
    }
}
