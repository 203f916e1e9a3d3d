//! Step `fmt`: the code is formatted.

use anyhow::Result;

use super::Outcome;
use crate::process;
use crate::workspace::Workspace;

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    let mut commands = vec![workspace.cargo(&["fmt", "--all", "--check"])];
    if let Some(manifest) = workspace.fuzz_manifest() {
        commands.push(workspace.cargo(&["fmt", "--manifest-path", manifest, "--check"]));
    }
    process::run_each(commands)
}
