//! Builds the Landlock ruleset of a session, from what is mounted by then.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::fs::{FileType, fstat};
use rustix::io::{Errno, fcntl_dupfd_cloexec};

use super::mounts::find;
use super::{During, Failed};
use crate::plan::{FsRights, Ruleset};
use crate::step::Step;
use crate::sys::landlock::{add_path_rule, add_port_rule, create_ruleset};

/// Builds a ruleset. A path that is gone gets no rule, which grants nothing.
pub(crate) fn build(rules: &Ruleset) -> Result<OwnedFd, Failed> {
    let mut ruleset = create_ruleset(rules.handled_fs, rules.handled_net, rules.scopes)
        .during(Step::LandlockRules)?;
    if ruleset.as_raw_fd() < 3 {
        // A caller without descriptors 0-2: a command's own would take this one's place.
        ruleset = fcntl_dupfd_cloexec(&ruleset, 3).during(Step::LandlockRules)?;
    }
    for rule in &rules.paths {
        let at = match find(&rule.path) {
            Err(Errno::NOENT | Errno::LOOP | Errno::ACCESS) => continue,
            found => found.during_at(Step::LandlockRules, &rule.path)?,
        };
        let mode = fstat(&at)
            .during_at(Step::LandlockRules, &rule.path)?
            .st_mode;
        let meaningful = match FileType::from_raw_mode(mode) {
            FileType::Directory => rules.handled_fs,
            _ => rules.handled_fs & FsRights::FILE,
        };
        let rights = rule.rights & meaningful;
        if rights != FsRights::default() {
            add_path_rule(ruleset.as_fd(), at.as_fd(), rights)
                .during_at(Step::LandlockRules, &rule.path)?;
        }
    }
    for rule in &rules.ports {
        add_port_rule(ruleset.as_fd(), rule.port, rule.rights).during(Step::LandlockRules)?;
    }
    Ok(ruleset)
}
