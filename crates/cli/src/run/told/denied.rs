//! What is said after the sandbox denied something: what, by which clause, how to run it again, how to keep it so.

use std::ffi::OsString;

use palisade::Evidence;
use palisade::runner::approve::visible;
use palisade::runner::policy::{Clause, GitAccess, Grant};

use super::line::Line;
use super::page::Page;
use crate::lasting::{Lasting, words};
use crate::say::Tone;

/// The page about a denial.
pub(crate) fn page(evidence: &[Evidence], line: &Line, lasting: &Lasting<'_>) -> Page {
    let mut lines = evidence.iter().map(said);
    let first = lines.next().unwrap_or_else(|| "something".to_owned());
    let mut page = Page::new("blocked", Tone::Careful, first);
    for line in lines {
        page = page.more(format!("and {line}"));
    }
    if evidence
        .iter()
        .any(|one| matches!(one, Evidence::Likely { .. }))
    {
        page = page.more("that is what the command itself named, so it is likely, not certain");
    }
    let grants = grants(evidence);
    if grants.is_empty() {
        return page.next(
            match evidence.iter().any(makes) {
                true => "nothing can be granted for it before it exists; see why",
                false => "nothing can be granted that would help; see why",
            },
            "palisade why --last",
        );
    }
    let words: Vec<OsString> = grants.iter().flat_map(|(grant, _)| words(grant)).collect();
    let whole_network = grants.iter().any(|(grant, _)| {
        matches!(grant, Grant::HostLoopback) || (cfg!(windows) && matches!(grant, Grant::Host(_)))
    });
    let whole_git = grants
        .iter()
        .any(|(grant, _)| **grant == Grant::Git(GitAccess::Full));
    page = page.next(
        match (whole_network, whole_git) {
            (true, _) => "run it again with the whole network (nothing smaller opens it)",
            // Less does not open it: what steers git never comes back from a private layer.
            (false, true) => {
                "run it again with all of .git open: what it puts there, hooks and settings, your own git runs later"
            }
            (false, false) => "run it again with just that",
        },
        line.with(&words),
    );
    page.next(
        format!("keep it so, in {}", lasting.place()),
        lasting.lines(&grants),
    )
}

/// Whether something new was to be made: that can be granted by itself once it is there.
fn makes(evidence: &Evidence) -> bool {
    matches!(evidence, Evidence::Likely { resource, .. } if resource.starts_with("create "))
}

/// One thing that was denied, and the clause.
fn said(evidence: &Evidence) -> String {
    match evidence {
        Evidence::Likely {
            resource, clause, ..
        } => format!("{}: {}", visible(resource), visible(&clause.to_string())),
        // The signal is all that is known: whoever may signal a command can send it, too.
        Evidence::SystemCall => {
            "it died by SIGSYS, which is how the sandbox ends a command for a system call that it forbids".to_owned()
        }
        other => visible(&other.to_string()),
    }
}

/// The smallest grants that would help, each once, with the clause that it turns around.
fn grants(evidence: &[Evidence]) -> Vec<(&Grant, &Clause)> {
    let mut grants: Vec<(&Grant, &Clause)> = Vec::new();
    for one in evidence {
        if let Evidence::Likely {
            smallest_grant: Some(grant),
            clause,
            ..
        } = one
            && !grants.iter().any(|(known, _)| *known == grant)
        {
            grants.push((grant, clause));
        }
    }
    // The wider access to git includes the narrower.
    let git = grants.iter().filter_map(|(grant, _)| match grant {
        Grant::Git(access) => Some(*access),
        _ => None,
    });
    if let Some(widest) = git.max() {
        grants.retain(|(grant, _)| !matches!(grant, Grant::Git(access) if *access < widest));
    }
    grants
}
