//! From a policy to a session in one call: repairs, looks, lowers, asks for accepted losses, edits, and checks the token.

use std::fs::File;
use std::io;
use std::os::windows::io::AsHandle as _;
use std::path::PathBuf;
use std::time::Duration;

use palisade_policy::{
    AbsolutePath, AcceptedLosses, Backend as _, CanonicalSandboxPolicy, Enforcement, PolicyContext,
    ResolvedPolicy,
};

use super::book::Book;
use super::error::{EditError, StartError, StateError};
use super::self_check;
use super::session::{Session, Traces};
use super::state::StateDirectory;
use super::token;
use crate::host::WindowsHost;
use crate::journal::{EditId, SessionId};
use crate::lower::{WindowsToken, private_places};
use crate::plan::Plan;
use crate::survey::{SurveyError, SurveyOptions, look, plain, residue};
use crate::sys::file::{final_path, hold};
use crate::sys::job::is_in_job;
use crate::sys::random;
use crate::sys::token::Token;

/// What a start needs to know beyond the policy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StartOptions {
    /// Where Palisade remembers what it changed. It is made if it is missing; it is the user's alone, and outside every
    /// writable place. [`default_state_directory`](super::default_state_directory) is the usual one.
    pub state_directory: PathBuf,
    /// How long others are waited for: another session that holds the journal, processes that are ending.
    pub patience: Duration,
    /// How far the survey goes.
    pub survey: SurveyOptions,
}

impl StartOptions {
    /// With this state directory.
    #[must_use]
    pub fn new(state_directory: impl Into<PathBuf>) -> Self {
        Self {
            state_directory: state_directory.into(),
            patience: Duration::from_secs(10),
            survey: SurveyOptions::launch(),
        }
    }

    /// With this patience.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }
}

/// A session with everything that is known about it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Started {
    /// The session.
    pub session: Session,
    /// The policy that it enforces, in absolute paths.
    pub policy: ResolvedPolicy,
    /// What was done.
    pub plan: Plan,
    /// What holds.
    pub enforcement: Enforcement,
}

/// Starts a session for a policy on this host.
///
/// # Errors
/// The policy cannot be enforced here as asked, or a step failed. Nothing ran, and what was changed was changed back.
pub fn start(
    policy: &CanonicalSandboxPolicy,
    context: &PolicyContext,
    accepted: &AcceptedLosses,
    options: &StartOptions,
) -> Result<Started, StartError> {
    let prepared = prepare(policy, context, accepted, options)?;
    let Prepared {
        traces,
        policy,
        plan,
        enforcement,
        host,
    } = prepared;
    let token = token::make(&plan.token).map_err(system("a restricted token"))?;
    let checked = self_check::check(
        token,
        &plan,
        &traces.state,
        traces.session,
        traces.tmp.as_path(),
    )?;
    let session = Session::new(&plan, &host.user, checked, traces, options.patience)
        .map_err(system("the job or the desktop of the session"))?;
    Ok(Started {
        session,
        policy,
        plan,
        enforcement,
    })
}

/// Everything but the token: access lists are edited, and the traces remove that again.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) traces: Traces,
    pub(super) policy: ResolvedPolicy,
    pub(super) plan: Plan,
    pub(super) enforcement: Enforcement,
    pub(super) host: WindowsHost,
}

/// Repairs, looks, lowers and edits.
pub(super) fn prepare(
    policy: &CanonicalSandboxPolicy,
    context: &PolicyContext,
    accepted: &AcceptedLosses,
    options: &StartOptions,
) -> Result<Prepared, StartError> {
    let user = Token::own()
        .and_then(|token| token.user())
        .map_err(SurveyError::Token)?;
    let state = StateDirectory::open(&options.state_directory, &user, options.patience)?;
    let session = new_session(&state)?;
    prepare_session(policy, context, accepted, options, state, session)
}

/// The same for a session that has a number.
pub(super) fn prepare_session(
    policy: &CanonicalSandboxPolicy,
    context: &PolicyContext,
    accepted: &AcceptedLosses,
    options: &StartOptions,
    state: StateDirectory,
    session: SessionId,
) -> Result<Prepared, StartError> {
    let tmp = state.session_tmp(session)?;
    let mut book = Book::open(&state)?;
    let left = book.repair()?;
    state.remove_old_tmp(|session| book.is_open(session));

    book.begin(session)?;
    let made = state.make_session_tmp(&tmp);
    // From here on, whatever fails is undone.
    let mut traces = Traces {
        state: state.clone(),
        session,
        tmp: tmp.clone(),
        held: Vec::new(),
        removed: false,
    };
    let outcome = made
        .and_then(|()| state.hold())
        .map_err(StartError::from)
        .and_then(|held| {
            traces.held.extend(held);
            plan_and_edit(
                policy, context, accepted, options, &state, &mut book, session, &tmp,
            )
        })
        .and_then(|parts| {
            traces.held.extend(hold_places(&parts.1)?);
            Ok(parts)
        });
    let (policy, plan, mut enforcement, host) = match outcome {
        Ok(parts) => parts,
        Err(error) => {
            // While the journal is still held: nobody sees a half-made session.
            traces.held.clear();
            traces.removed = book.release(session).is_ok();
            drop(book);
            if traces.removed {
                let _ = std::fs::remove_dir_all(traces.tmp.as_path());
            }
            return Err(error);
        }
    };
    for leftover in left {
        enforcement = enforcement.with_note(format!(
            "an earlier session left an entry that could not be removed: {leftover}"
        ));
    }
    Ok(Prepared {
        traces,
        policy,
        plan,
        enforcement,
        host,
    })
}

type Parts = (ResolvedPolicy, Plan, Enforcement, WindowsHost);

#[expect(
    clippy::too_many_arguments,
    reason = "everything that a start was asked for, and everything that it holds"
)]
fn plan_and_edit(
    policy: &CanonicalSandboxPolicy,
    context: &PolicyContext,
    accepted: &AcceptedLosses,
    options: &StartOptions,
    state: &StateDirectory,
    book: &mut Book,
    session: SessionId,
    tmp: &AbsolutePath,
) -> Result<Parts, StartError> {
    // The session's own directory is part of what the policy says, so it is known before anybody looks.
    let private = palisade_policy::PrivatePlaces::default().with_overlays([tmp.clone()]);
    let policy = policy.resolve(&context.clone().with_private(private))?;
    let places = written(&policy);
    state.check_outside(&places)?;
    let mut host = look(&policy, &options.survey)?;
    let real: Vec<AbsolutePath> = places
        .iter()
        .filter_map(|place| host.places.get(place))
        .map(|located| located.real.clone())
        .collect();
    state.check_outside(&real)?;
    host.session_tmp = Some(tmp.clone());
    debug_assert_eq!(policy.context().private, private_places(&host));
    host.capabilities = state.capabilities(&places)?.into_iter().collect();
    host.capabilities
        .insert(tmp.clone(), state.new_capability()?);

    host.second_check = self_check::second_check(state, session, state.new_capability()?)?;
    host.residue = residue(&policy, &host, &options.survey);

    let (mut plan, mut enforcement) = WindowsToken.lower(&policy, &host)?.admit(accepted)?;
    if is_in_job().map_err(system("the job of the session"))? && !plan.job.ui_limits.is_empty() {
        // Documented: a job with such limits cannot be put into another one.
        plan.job.ui_limits.clear();
        enforcement = enforcement.with_note(
            "this process is in a job itself, so the clipboard, global atoms and windows of other programs are not closed to \
             the command, but for its desktop",
        );
    }
    for (number, edit) in (0..).zip(&plan.acl_edits) {
        book.edit(session, EditId(number), edit)?;
    }
    Ok((policy, plan, enforcement, host))
}

/// Holds the directories that a command may write. Each denies to be removed by its own list, but the directory above it
/// is the user's, and the second check does not ask about the removal of children: with its root a command would move
/// whatever is protected in it.
fn hold_places(plan: &Plan) -> Result<Vec<File>, EditError> {
    let held = plan.hold.iter().map(|path| {
        let failed = |source| EditError::Io {
            what: "holding",
            path: path.clone(),
            source,
        };
        let held = hold(path.as_path()).map_err(failed)?;
        let real = final_path(held.as_handle()).map_err(failed)?;
        match plain(&real) {
            Ok(found) if found == *path => Ok(held),
            _ => Err(EditError::Moved {
                path: path.clone(),
                real,
            }),
        }
    });
    let mut held: Vec<File> = held.collect::<Result<_, EditError>>()?;
    // What is above is not moved either while something below is open, by what is documented of NTFS. Where the user may
    // open it, nobody has to rely on that.
    let mut above: Vec<AbsolutePath> = Vec::new();
    for path in &plan.hold {
        let mut next = path.parent();
        while let Some(path) = next {
            next = path.parent();
            if next.is_some() {
                above.push(path);
            }
        }
    }
    above.sort();
    above.dedup();
    held.extend(above.iter().filter_map(|path| hold(path.as_path()).ok()));
    Ok(held)
}

/// The places of a policy that get a capability: the roots, and what is granted inside something guarded.
fn written(policy: &ResolvedPolicy) -> Vec<AbsolutePath> {
    let roots = policy.roots().iter().map(|root| &root.root);
    let rules = policy.canonical().rules().map(|(rules, _)| rules);
    let granted = rules
        .into_iter()
        .flat_map(|rules| &rules.reopened)
        .filter(|grant| grant.write)
        .map(|grant| &grant.path);
    let mut places: Vec<AbsolutePath> = roots.chain(granted).cloned().collect();
    places.sort();
    places.dedup();
    places
}

fn new_session(state: &StateDirectory) -> Result<SessionId, StateError> {
    let bytes = random::bytes::<8>().map_err(|source| StateError::Io {
        what: "making a number for a session in",
        path: state.path().to_path_buf(),
        source,
    })?;
    Ok(SessionId(u64::from_le_bytes(bytes)))
}

fn system(what: &'static str) -> impl FnOnce(io::Error) -> StartError {
    move |source| StartError::System { what, source }
}
