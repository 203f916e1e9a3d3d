//! The landlock tier: no namespaces, so the helper serves by itself and adopts what its commands leave behind.

use std::fs;

use palisade_policy::AbsolutePath;

use super::cgroup::Groups;
use super::sampler::all_processes;
use super::serve::Session;
use super::{During, Failed, privileges, rules};
use crate::plan::{FsRights, PathRule, Plan};
use crate::step::Step;
use crate::sys::reap::{kill_process, reap_one, reap_this};

/// Sets the session up: rules for the host's own paths, and one for the private temporary directory.
pub(super) fn begin(
    plan: &Plan,
    tmpdir: Option<&AbsolutePath>,
    groups: Option<&Groups>,
) -> Result<Session, Failed> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).during(Step::Serve)?;
    let ruleset = match &plan.landlock {
        None => None,
        Some(rules) => {
            let mut rules = rules.clone();
            rules.paths.extend(tmpdir.map(|path| PathRule {
                path: path.clone(),
                rights: FsRights::READ | FsRights::WRITE,
            }));
            Some(rules::build(&rules)?)
        }
    };
    privileges::renounce()?;
    Session::new(plan, ruleset, tmpdir, groups)
}

/// Kills and reaps every descendant. A process whose parent dies becomes our child, so this ends when there is none:
/// a storm of forks is met by killing all that are seen, again and again.
pub(super) fn sweep() {
    loop {
        let seen = descendants();
        seen.iter().copied().for_each(kill_process);
        while reap_one().is_some() {}
        if seen.is_empty() {
            // What was born between the two looks is our child by now, or does not exist.
            match children_of(std::process::id()).first() {
                None => return,
                Some(child) => {
                    kill_process(*child);
                    let _ = reap_this(*child);
                }
            }
        }
    }
}

/// Every process below this one.
pub(super) fn descendants() -> Vec<i32> {
    let parents: Vec<(i32, i32)> = all_processes()
        .filter_map(|pid| Some((pid, parent_of(pid)?)))
        .collect();
    let mut found = vec![rustix::process::getpid().as_raw_nonzero().get()];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        found.extend(
            parents
                .iter()
                .filter(|(_, of)| *of == parent)
                .map(|(pid, _)| *pid),
        );
        next += 1;
    }
    found.split_off(1)
}

fn children_of(parent: u32) -> Vec<i32> {
    all_processes()
        .filter(|pid| parent_of(*pid).and_then(|of| u32::try_from(of).ok()) == Some(parent))
        .collect()
}

/// The parent, from the field after the name; the name may hold anything, a closing bracket too.
fn parent_of(pid: i32) -> Option<i32> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let after_name = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(stat.get(after_name + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    // A zombie has nothing left to kill; its parent reaps it.
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    (state != "Z").then_some(parent)
}
