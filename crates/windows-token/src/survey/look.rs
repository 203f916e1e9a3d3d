//! The look at a host for one policy.

use std::io;

use palisade_policy::{AbsolutePath, PathMatcher, ResolvedPolicy};

use super::globs::Walk;
use super::identity::identity;
use super::locate::{LocateError, has_no_list, locate};
use crate::host::{Entry, Located, WindowsHost};
use crate::sys::file::volumes_without_acls;

/// How far the survey goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SurveyOptions {
    /// How many entries of directories are looked at for patterns.
    pub max_entries: usize,
    /// How many matches of each pattern are kept.
    pub max_matches: usize,
    /// Whether files in writable places with a second name are looked for; that means opening every file.
    pub second_names: bool,
}

impl SurveyOptions {
    /// What a launch needs.
    #[must_use]
    pub const fn launch() -> Self {
        Self {
            max_entries: 50_000,
            max_matches: 1_000,
            second_names: false,
        }
    }

    /// Everything, for those who check a host.
    #[must_use]
    pub const fn thorough() -> Self {
        Self {
            second_names: true,
            ..Self::launch()
        }
    }
}

impl Default for SurveyOptions {
    fn default() -> Self {
        Self::launch()
    }
}

/// Why a host could not be looked at.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SurveyError {
    /// A path of the policy.
    #[error("{0}")]
    Path(#[from] LocateError),
    /// The token of this process.
    #[error("the token of this process cannot be read: {0}")]
    Token(io::Error),
    /// A process that was not started by somebody who logged on.
    #[error(
        "this process belongs to no logon session, so a restricted one would not start; run it as a user who logged on"
    )]
    NoLogonSession,
    /// The drives of the machine.
    #[error("the drives of this machine cannot be listed: {0}")]
    Drives(io::Error),
}

/// Looks at everything that the policy names. Which capabilities its places have, and where temporary files go, is not
/// seen but decided: whoever starts a session adds it.
///
/// # Errors
/// A path cannot be judged, or the token of this process cannot be read.
pub fn look(policy: &ResolvedPolicy, options: &SurveyOptions) -> Result<WindowsHost, SurveyError> {
    let identity = identity().map_err(SurveyError::Token)?;
    let logon = identity.logon.ok_or(SurveyError::NoLogonSession)?;
    let mut host = WindowsHost::new(identity.user, logon);
    host.powerful_groups = identity.powerful_groups;
    host.privileges = identity.privileges;
    host.volumes_without_acls = volumes_without_acls().map_err(SurveyError::Drives)?;
    let Some((rules, _)) = policy.canonical().rules() else {
        return Ok(host);
    };
    let context = policy.context();
    let writable = || {
        let roots = policy.roots().iter().map(|root| &root.root);
        roots.chain(policy.private())
    };
    let guards = || {
        let guards = policy.guards().iter().map(|guard| &guard.matcher);
        guards.chain(policy.read_only())
    };

    let mut walk = Walk::new(guards(), context.facts.case, options);
    for place in writable() {
        walk.visit(place);
    }
    (host.matches, host.second_names) = walk.finish();

    let matched: Vec<AbsolutePath> = host
        .matches
        .values()
        .flat_map(|matches| matches.found.iter().cloned())
        .collect();
    let named = writable()
        .chain(guards().filter_map(PathMatcher::path))
        .chain(rules.reopened.iter().map(|reopened| &reopened.path))
        .chain([context.cwd.path()])
        .chain(&context.facts.home)
        .chain(&matched);
    for path in named {
        enter(&mut host, policy, path)?;
        // What lies between a writable place and something in it may have to be kept from being moved.
        let mut above = path.parent();
        while let Some(directory) = above {
            let inside = writable()
                .any(|place| place.covers(&directory, context.facts.case) && *place != directory);
            if !inside {
                break;
            }
            enter(&mut host, policy, &directory)?;
            above = directory.parent();
        }
    }
    Ok(host)
}

fn enter(
    host: &mut WindowsHost,
    policy: &ResolvedPolicy,
    path: &AbsolutePath,
) -> Result<(), SurveyError> {
    if host.places.contains_key(path) {
        return Ok(());
    }
    let case = policy.context().facts.case;
    let located = match locate(path) {
        Ok(located) => located,
        // What the user cannot even look at, a command of the same user with less cannot reach either. In a place that
        // it may write it could open the way.
        Err(error)
            if error.is_denied()
                && !policy
                    .roots()
                    .iter()
                    .any(|root| root.root.covers(path, case)) =>
        {
            Located {
                real: path.clone(),
                entry: Entry::Missing,
                has_acls: true,
                may_change_acl: false,
            }
        }
        Err(error) => return Err(error.into()),
    };
    if located.entry != Entry::Missing && has_no_list(&located.real)? {
        host.null_dacls.push(located.real.clone());
    }
    host.places.insert(path.clone(), located);
    Ok(())
}
