//! What is said where this machine cannot keep the policy: which guarantee, why, what mends it, how to go without.

use std::ffi::OsString;

use palisade::runner::evidence::shell_line;
use palisade::runner::policy::{Loss, Refusal};

use super::line::Line;
use super::page::Page;
use crate::say::Tone;

/// Who asks for a sandbox that cannot be kept.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Asker<'a> {
    /// Somebody whom the system's floor lets accept a loss.
    MayAccept,
    /// Somebody who may not.
    BoundByFloor,
    /// A command in a sandbox of ours, which is this one: it accepts nothing, and is contained already.
    Inside { argv: &'a [OsString] },
}

/// The page about losses that nobody accepted.
pub(crate) fn page(refusal: &Refusal, line: &Line, asker: Asker<'_>) -> Page {
    let losses = &refusal.losses;
    let count = losses.len() + refusal.limits.len();
    let who = match asker {
        Asker::Inside { .. } => "a sandbox inside a sandbox of Palisade's",
        Asker::MayAccept | Asker::BoundByFloor => "this machine",
    };
    let what = match count {
        1 => format!("{who} cannot keep something that the policy promises; nothing ran"),
        _ => format!("{who} cannot keep {count} things that the policy promises; nothing ran"),
    };
    let mut page = Page::new("refused", Tone::Bad, what);
    let common = common(losses);
    for loss in losses {
        let own = reason(loss).strip_suffix(common).unwrap_or(reason(loss));
        page = page.more(format!("{}: {own}", loss.guarantee));
    }
    if let Some(common) = common.strip_prefix(JOINT) {
        page = page.more(format!("because {common}"));
    }
    for limit in &refusal.limits {
        page = page.more(format!(
            "the limit {limit:?} is required and cannot be enforced"
        ));
    }
    if let Asker::Inside { argv } = asker {
        return page
            .more("a command accepts no loss for itself; only whoever runs it from outside could")
            .next(
                "run it as it is: the sandbox around this one holds it",
                shell_line(argv),
            );
    }
    let mut cures: Vec<&str> = Vec::new();
    for cure in losses.iter().filter_map(|loss| loss.cure.as_deref()) {
        if !cures.contains(&cure) {
            cures.push(cure);
        }
    }
    if !cures.is_empty() {
        page = page.next(
            "mend it",
            format!(
                "{}\npalisade setup      # says how, step by step",
                cures.join("\n")
            ),
        );
    }
    if losses.is_empty() || !refusal.limits.is_empty() {
        return page;
    }
    if matches!(asker, Asker::BoundByFloor) {
        return page
            .more("the system's floor accepts no loss: only the administrator can change that");
    }
    let words: Vec<OsString> = losses
        .iter()
        .flat_map(|loss| ["--accept-loss".into(), loss.guarantee.name().into()])
        .collect();
    page.next("go without", line.with(&words))
}

/// Where what all reasons end with begins.
const JOINT: &str = ", and ";

/// What all reasons end with, so that it is said once; empty if they have nothing in common.
fn common(losses: &[Loss]) -> &str {
    let mut reasons = losses.iter().map(reason);
    let (Some(first), true) = (reasons.next(), losses.len() > 1) else {
        return "";
    };
    let rest: Vec<&str> = reasons.collect();
    first
        .match_indices(JOINT)
        .filter_map(|(at, _)| first.get(at..))
        .find(|end| rest.iter().all(|reason| reason.ends_with(end)))
        .unwrap_or("")
}

fn reason(loss: &Loss) -> &str {
    loss.why.as_deref().unwrap_or("nothing here enforces it")
}
