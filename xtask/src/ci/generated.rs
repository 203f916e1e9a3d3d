//! Step `generated`: generated files are what their generators write.

use anyhow::Result;

use super::Outcome;
use crate::codegen;
use crate::workspace::Workspace;

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    let stale = codegen::stale(workspace)?;
    let reports: Vec<_> = stale.iter().map(codegen::Stale::report).collect();
    Ok(Outcome::failed_if_any(reports.concat()))
}
