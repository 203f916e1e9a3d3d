//! `policy test` and `policy lint`: whether a policy does what its author says, and whether it says enough.

use std::path::PathBuf;
use std::process::ExitCode;

use palisade::runner::config::DraftPolicy;
use palisade::runner::exec_policy::authoring::{self, Severity, TestReport, Workbench};
use palisade::runner::exec_policy::language::{Layer, LoadedPolicy};
use palisade::runner::exec_policy::matching::CommandFacts;

use super::{LayerName, files};
use crate::complaint::Complaint;
use crate::exit::Code;
use crate::say::Voice;

#[derive(Debug, clap::Args)]
pub(super) struct TestArgs {
    /// A policy file, instead of those in force here
    file: Option<PathBuf>,
    /// Also fail if fewer than this many percent of the rules are exercised
    #[arg(long, value_name = "PERCENT", default_value_t = 0)]
    min_coverage: usize,
    /// Read the file as one of this layer
    #[arg(long, value_name = "LAYER", requires = "file")]
    layer: Option<LayerName>,
}

#[derive(Debug, clap::Args)]
pub(super) struct LintArgs {
    /// A policy file, instead of those in force here
    file: Option<PathBuf>,
    /// Also fail on warnings
    #[arg(long)]
    strict: bool,
    /// Read the file as one of this layer
    #[arg(long, value_name = "LAYER", requires = "file")]
    layer: Option<LayerName>,
}

pub(super) fn test(args: &TestArgs, voice: &Voice) -> Result<ExitCode, Complaint> {
    let draft = files::find(args.file.as_deref(), args.layer)?;
    let policy = files::combined(&draft)?;
    let report = report(&policy)?;
    voice.answer(&report.to_string());
    say_what_was_read(&draft, voice);
    match report.passes(args.min_coverage) {
        true => Ok(ExitCode::SUCCESS),
        false => Ok(Code::No.into()),
    }
}

/// What holds of what the authors wrote. The built-in examples are not theirs: a policy may well be stricter.
fn report(policy: &LoadedPolicy) -> Result<TestReport, Complaint> {
    let place = files::place()?;
    let mut report = authoring::test(&Workbench::new(policy), &[], &CommandFacts::new(&place));
    report
        .failures
        .retain(|failure| failure.origin().layer != Layer::BuiltIn);
    let own = policy
        .rules()
        .iter()
        .filter(|rule| rule.origin.layer != Layer::BuiltIn);
    let examples = own.map(|rule| rule.matches.len().saturating_add(rule.not_matches.len()));
    let cases = policy
        .cases()
        .iter()
        .filter(|case| case.origin.layer != Layer::BuiltIn);
    report.checked = examples.sum::<usize>().saturating_add(cases.count());
    Ok(report)
}

pub(super) fn lint(args: &LintArgs, voice: &Voice) -> Result<ExitCode, Complaint> {
    let draft = files::find(args.file.as_deref(), args.layer)?;
    let policy = files::combined(&draft)?;
    let found = authoring::lint(&Workbench::new(&policy));
    let report = report(&policy)?;
    let examples = report.failures.iter();
    let examples = examples.map(|failure| format!("error example: {failure}\n"));
    let notices = policy.notices().iter();
    let notices = notices.map(|notice| format!("note not-in-force: {notice}\n"));
    let more: String = examples.chain(notices).collect();
    match found.findings.is_empty() && !more.is_empty() {
        true => voice.answer(&more),
        false => voice.answer(&format!("{found}{more}")),
    }
    say_what_was_read(&draft, voice);
    let least = match args.strict {
        true => Severity::Warning,
        false => Severity::Error,
    };
    match found.has(least) || !report.failures.is_empty() {
        true => Ok(Code::No.into()),
        false => Ok(ExitCode::SUCCESS),
    }
}

/// Where nothing was read, a good result means little.
fn say_what_was_read(draft: &DraftPolicy, voice: &Voice) {
    if draft.sources.is_empty() {
        voice.note("there is no policy file here: only the built-in rules are in force");
        voice.note("`palisade policy init` writes one to start from");
    }
}
