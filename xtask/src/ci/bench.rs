//! Step `bench`: the benchmarks compile. Their figures are for people, see `docs/bench/`.

use anyhow::Result;

use super::Outcome;
use crate::process;
use crate::workspace::Workspace;

pub(super) fn run(workspace: &Workspace) -> Result<Outcome> {
    let mut members = workspace.metadata()?.members();
    if !members.any(|package| package.targets.iter().any(|target| target.is("bench"))) {
        return Ok(Outcome::Skipped(
            "the workspace has no benchmark".to_owned(),
        ));
    }
    // Not `--benches`, which would build every library once more with its unit tests; not optimised, because whether they
    // compile shows without building every library once more either.
    let arguments = [
        "bench",
        "--profile",
        "dev",
        "--workspace",
        "--all-features",
        "--bench",
        "*",
        "--no-run",
    ];
    process::run_each([workspace.cargo(&arguments)])
}
