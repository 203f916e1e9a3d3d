//! The page `docs/decision-matrix.md`.

use std::fmt::Write as _;

use palisade_policy::{NetworkAccess, SandboxMode};

use super::cases::{Request, cases};
use super::describe::{GROUPS, approval_set, mode, names_of, outcome, request, verdicts};
use super::merge::{Row, rows};
use super::presets::{default_table, patch_table, shell_table};
use crate::decision::containment::SandboxablePreference;
use crate::decision::risk::Risk;

/// The whole page, as Markdown. It is the same text on every host.
#[must_use]
pub fn markdown() -> String {
    let rows = rows();
    let mut page = format!(
        "# Decision matrix\n\n\
         <!-- Generated from `palisade_exec_policy::matrix`. Do not edit. -->\n\n\
         Every combination of the finite inputs of `decide` was decided, {} cases, and equal ones were merged into\n\
         {} rows. Each case is in exactly one row, so the rows can be read in any order.\n\n\
         ## Words\n\n\
         What the **rules** say:\n\n",
        cases().count(),
        rows.len(),
    );
    for (name, meaning, _) in GROUPS {
        let _ = writeln!(page, "- *{name}*: {meaning}.");
    }
    page.push_str(WORDS);
    page.push_str(
        "| rules | tool's preference | sandbox works | mode | command requests | risk | network | approval policy | outcome |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    for row in &rows {
        let _ = writeln!(page, "{}", line(row));
    }
    page.push_str(
        "\n## Tools that run no command\n\n\
         `default_exec_approval_requirement`: only the approval policy and the sandbox decide.\n\n",
    );
    page.push_str(&default_table());
    page.push_str(EXECUTOR);
    page.push_str("### Shell commands\n\n");
    page.push_str(&shell_table());
    page.push_str("\n### Patches\n\n");
    page.push_str(&patch_table());
    page
}

const WORDS: &str = "
What the **command requests**: *permissions* are more permissions inside the sandbox, *escalation* is the command's own
wish to run without it, *bypass* is the host program's.

**Approval policy**: `reject(rules, no sandbox_approval)` stands for every `reject` policy that refuses `rules`
questions and does not refuse `sandbox_approval` questions, whatever its other flags are.

**Outcome**: *runs* is `Skip`; the command is confined wherever the mode or the tool's preference wants a sandbox.
*Runs unsandboxed* is `Skip` with `bypass_sandbox`. *Asks* is `NeedsApproval` with its purpose. *Forbidden* names the
category that may not be asked, the rule, or the sandbox that the tool requires and that is missing or is to be left.

## The decision

";

const EXECUTOR: &str = "
## The `executor` preset

A host picks this preset by name; the default is `orchestrator`, which follows the decision above and leaves the
sandbox only after an approval to run unsandboxed, or where the outcome is *runs unsandboxed*. Here an approved question
runs without a sandbox, unless the tool's preference is `require`, or the answer is a grant, which adds to the sandbox
and stays inside; *then may ask* means that a denial by the sandbox may be offered again without it. `external-sandbox`
reads like full access.

";

fn line(row: &Row) -> String {
    let preferences = SandboxablePreference::ALL.map(SandboxablePreference::name);
    let modes = SandboxMode::ALL.map(mode);
    let requests = Request::ALL.map(request);
    let risks = Risk::ALL.map(Risk::name);
    let networks = NetworkAccess::ALL.map(NetworkAccess::name);
    let values = row.values();
    let columns = [
        verdicts(&values.verdicts),
        named(
            values.preferences,
            SandboxablePreference::name,
            &preferences,
        ),
        named(
            values.backends,
            |works| if works { "yes" } else { "no" },
            &["yes", "no"],
        ),
        named(values.modes, mode, &modes),
        named(values.requests, request, &requests),
        named(values.risks, Risk::name, &risks),
        named(values.networks, NetworkAccess::name, &networks),
        approval_set(&values.approvals),
        outcome(row.outcome()),
    ];
    format!("| {} |", columns.join(" | "))
}

fn named<T>(values: Vec<T>, name: impl Fn(T) -> &'static str, all: &[&str]) -> String {
    let names: Vec<&str> = values.into_iter().map(name).collect();
    names_of(&names, all)
}
