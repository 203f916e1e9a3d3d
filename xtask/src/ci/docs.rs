//! Step `docs`: rustdoc has nothing to complain about.

use anyhow::Result;

use super::Outcome;
use crate::process;
use crate::workspace::Workspace;

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    let mut command = workspace.cargo(&[
        "doc",
        "--quiet",
        "--no-deps",
        "--workspace",
        "--all-features",
    ]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    process::run_each([command])
}
