//! A token is used only after it was seen to restrict: by its own word, and by what the system refuses it.

use std::fs::File;
use std::io;
use std::os::windows::io::AsHandle as _;
use std::path::{Path, PathBuf};

use windows_sys::Win32::Foundation::ERROR_ACCESS_DENIED;

use super::error::SelfCheckFailure;
use super::state::StateDirectory;
use crate::acl::{Acl, Rights};
use crate::journal::SessionId;
use crate::plan::{Plan, Purpose, TokenPlan};
use crate::sid::Sid;
use crate::sys::file::{LastName, open};
use crate::sys::process::{TAKES_OVER, open_own};
use crate::sys::security::file_dacl;
use crate::sys::thread::acting_as;
use crate::sys::token::Token;

/// A token that restricts. Only [`check`] makes one.
#[derive(Debug)]
pub(super) struct CheckedToken(Token);

impl CheckedToken {
    pub(super) const fn token(&self) -> &Token {
        &self.0
    }

    /// A token that nobody checked, for tests of everything but confinement.
    #[cfg(test)]
    pub(super) const fn unchecked(token: Token) -> Self {
        Self(token)
    }
}

/// What is asked of a token: on a canary that the user may change, all of this must be refused.
struct Trial {
    path: PathBuf,
    rights: Vec<Rights>,
}

/// Looks at a token and tries it. Everything that the plan added to access lists is there already.
///
/// # Errors
/// Says what was seen; the token is gone then.
pub(super) fn check(
    token: Token,
    plan: &Plan,
    state: &StateDirectory,
    session: SessionId,
    tmp: &Path,
) -> Result<CheckedToken, SelfCheckFailure> {
    check_words(&token, &plan.token)?;
    check_entries(plan)?;
    try_token(&token, plan, state, session, tmp)?;
    Ok(CheckedToken(token))
}

/// Tries a token: what it must be refused, and what it must be able to do.
pub(super) fn try_token(
    token: &Token,
    plan: &Plan,
    state: &StateDirectory,
    session: SessionId,
    tmp: &Path,
) -> Result<(), SelfCheckFailure> {
    let canary = Canary::make(state, session, &plan.token)?;
    let mut trials = canary.trials(plan.token.must_refuse)?;
    for edit in &plan.acl_edits {
        if edit.purpose == Purpose::Protected {
            trials.push(Trial {
                path: edit.path.as_path().to_path_buf(),
                rights: single(plan.token.must_refuse),
            });
        }
    }
    let acting = token
        .impersonation()
        .map_err(SelfCheckFailure::Impersonation)?;
    acting_as(&acting, || {
        for trial in &trials {
            trial.run()?;
        }
        canary.make_another()?;
        refuse_this_process()?;
        write_to(tmp)
    })
    .map_err(SelfCheckFailure::Impersonation)?
}

/// The rights that a write-restricted token is refused here although the user has them, by trying each on a file and on a
/// directory; `None` if tokens do not restrict here. Which rights count as writing is documented nowhere.
///
/// # Errors
/// The trial itself failed, so that nothing is known.
pub(super) fn second_check(
    state: &StateDirectory,
    session: SessionId,
    capability: Sid,
) -> Result<Option<Rights>, SelfCheckFailure> {
    let plan = TokenPlan {
        disable_max_privilege: true,
        lua_token: true,
        write_restricted: true,
        restricting: vec![capability],
        disable: Vec::new(),
        delete_privileges: Vec::new(),
        default_dacl: Vec::new(),
        must_refuse: Rights::CHANGES,
    };
    let token = Token::own()
        .and_then(|own| own.restrict(&plan))
        .map_err(SelfCheckFailure::Impersonation)?;
    if !token.is_restricted() {
        return Ok(None);
    }
    let canary = Canary::make(state, session, &plan)?;
    let trials = canary.trials(plan.must_refuse)?;
    let acting = token
        .impersonation()
        .map_err(SelfCheckFailure::Impersonation)?;
    let seen = acting_as(&acting, || {
        let is_refused = |right: &Rights| {
            trials.iter().all(|trial| {
                let opened = open(&trial.path, *right, LastName::Itself);
                refused(opened, &trial.path, *right).is_ok()
            })
        };
        single(plan.must_refuse)
            .into_iter()
            .filter(is_refused)
            .fold(Rights::NONE, |all, right| all | right)
    });
    seen.map(Some).map_err(SelfCheckFailure::Impersonation)
}

/// What the token says about itself.
fn check_words(token: &Token, plan: &TokenPlan) -> Result<(), SelfCheckFailure> {
    if !token.is_restricted() {
        return Err(SelfCheckFailure::NotRestricted);
    }
    // The system may add two of its own, which stand for such tokens and for nobody: who names one of them in an access
    // list means them.
    let mut found = token.restricting().unwrap_or_default();
    found.retain(|sid| *sid != Sid::restricted_code() && *sid != Sid::write_restricted());
    let mut wanted = plan.restricting.clone();
    found.sort();
    found.dedup();
    wanted.sort();
    wanted.dedup();
    if found != wanted {
        return Err(SelfCheckFailure::OtherIdentifiers { wanted, found });
    }
    let groups = token.groups().map_err(SelfCheckFailure::Impersonation)?;
    for group in groups {
        if plan.disable.contains(&group.sid) && (group.is_enabled() || !group.is_deny_only()) {
            return Err(SelfCheckFailure::GroupStillEnabled(group.sid));
        }
    }
    let privileges = token
        .privileges()
        .map_err(SelfCheckFailure::Impersonation)?;
    for privilege in privileges {
        if plan.delete_privileges.contains(&privilege.name) {
            return Err(SelfCheckFailure::PrivilegeStillThere(privilege.name));
        }
    }
    Ok(())
}

/// Whether the access lists have what was added to them.
fn check_entries(plan: &Plan) -> Result<(), SelfCheckFailure> {
    for edit in &plan.acl_edits {
        let path = edit.path.as_path();
        let list = open(path, Rights::READ_CONTROL, LastName::Itself)
            .and_then(|object| file_dacl(object.as_handle()))
            .map_err(trial_failed(path))?;
        let list = list.bytes.and_then(|bytes| Acl::from_bytes(&bytes).ok());
        let kept = list.is_some_and(|list| {
            edit.add
                .iter()
                .all(|wanted| list.aces().any(|ace| ace == wanted))
        });
        if !kept {
            return Err(SelfCheckFailure::EntryNotKept {
                path: edit.path.clone(),
            });
        }
    }
    Ok(())
}

/// A directory and a file in it that the user may change, and the token may not. They are in a directory whose children
/// nobody removes but for their own sake, wherever the state is. All go with it.
struct Canary {
    around: PathBuf,
    directory: PathBuf,
}

impl Canary {
    fn make(
        state: &StateDirectory,
        session: SessionId,
        plan: &TokenPlan,
    ) -> Result<Self, SelfCheckFailure> {
        let around = state.path().join(format!("canary-{session}"));
        let canary = Self {
            directory: around.join("directory"),
            around,
        };
        let make =
            |path: &Path, rights| state.make_canary(path, rights).map_err(trial_failed(path));
        make(&canary.around, Rights::FILE_ALL & !Rights::DELETE_CHILD)?;
        make(&canary.directory, plan.canary_rights())?;
        let file = canary.file();
        std::fs::write(&file, "canary").map_err(trial_failed(&file))?;
        Ok(canary)
    }

    fn file(&self) -> PathBuf {
        self.directory.join("canary")
    }

    /// What must be refused. The user is asked first: what he may not do either would show nothing.
    fn trials(&self, rights: Rights) -> Result<Vec<Trial>, SelfCheckFailure> {
        let mut trials = Vec::new();
        for path in [self.file(), self.directory.clone()] {
            open(&path, rights, LastName::Itself).map_err(trial_failed(&path))?;
            trials.push(Trial {
                path,
                rights: single(rights),
            });
        }
        Ok(trials)
    }

    /// Tries to make another file, as the token.
    fn make_another(&self) -> Result<(), SelfCheckFailure> {
        let path = self.directory.join("another");
        refused(File::create_new(&path), &path, Rights::WRITE_DATA)
    }
}

impl Drop for Canary {
    fn drop(&mut self) {
        // In the state directory it harms nobody; the name is never used again.
        let _ = std::fs::remove_dir_all(&self.around);
    }
}

impl Trial {
    /// Asks for each right by itself, as the token.
    fn run(&self) -> Result<(), SelfCheckFailure> {
        for rights in &self.rights {
            let opened = open(&self.path, *rights, LastName::Itself);
            refused(opened, &self.path, *rights)?;
        }
        Ok(())
    }
}

/// Only "access denied" is a refusal: with any other error nobody knows what kept the token out.
fn refused(outcome: io::Result<File>, path: &Path, rights: Rights) -> Result<(), SelfCheckFailure> {
    let path = || path.to_path_buf();
    match outcome {
        Err(error) if error.raw_os_error() == Some(ERROR_ACCESS_DENIED.cast_signed()) => Ok(()),
        Err(source) => Err(SelfCheckFailure::Unclear {
            path: path(),
            rights,
            source,
        }),
        Ok(_) => Err(SelfCheckFailure::Granted {
            path: path(),
            rights,
        }),
    }
}

/// Whoever may change a process that is not restricted, writes what that one may write. Tried on this process, which is
/// the user's as all others are, and may do all of it to itself.
pub(super) fn refuse_this_process() -> Result<(), SelfCheckFailure> {
    for right in TAKES_OVER {
        match open_own(right) {
            Err(error) if error.raw_os_error() == Some(ERROR_ACCESS_DENIED.cast_signed()) => {}
            Err(source) => return Err(SelfCheckFailure::ProcessUnclear { right, source }),
            Ok(()) => return Err(SelfCheckFailure::ProcessGranted { right }),
        }
    }
    Ok(())
}

/// The token must be able to write where its temporary files go, or the edits did not arrive.
fn write_to(tmp: &Path) -> Result<(), SelfCheckFailure> {
    let path = tmp.join("palisade-self-check");
    let tried = File::create_new(&path).and_then(|file| {
        drop(file);
        std::fs::remove_file(&path)
    });
    tried.map_err(|source| SelfCheckFailure::TempRefused {
        path: tmp.to_path_buf(),
        source,
    })
}

/// Each right by itself.
fn single(rights: Rights) -> Vec<Rights> {
    (0..u32::BITS)
        .map(|bit| Rights(1 << bit))
        .filter(|right| rights.contains(*right))
        .collect()
}

fn trial_failed(path: &Path) -> impl FnOnce(io::Error) -> SelfCheckFailure + '_ {
    move |source| SelfCheckFailure::Trial {
        path: path.to_path_buf(),
        source,
    }
}
