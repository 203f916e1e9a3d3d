//! From a policy to a session in one call: looks, lowers, asks for accepted losses, starts, and if namespaces turn out
//! not to work says so or goes on with the weaker tier, if every loss of it was accepted.

use palisade_policy::{
    AbsolutePath, AcceptedLosses, Access, Backend as _, CanonicalSandboxPolicy, Enforcement,
    Guarantee, Lowered, Measure, PathSpec, Place, PolicyContext, PolicyError, Refusal,
    ResolvedPolicy,
};

use super::error::LaunchError;
use super::helper::Helper;
use super::history::{GitHistory, GitImport};
use super::session::{Beginning, Session};
use crate::host::{LinuxHost, NamespaceSupport};
use crate::lower::{LinuxLandlock, private_places};
use crate::plan::Plan;
use crate::survey::{self, SurveyOptions};

/// A session with everything that is known about it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Started {
    /// The session.
    pub session: Session,
    /// The policy that it enforces, in absolute paths.
    pub policy: ResolvedPolicy,
    /// What the helper was told.
    pub plan: Plan,
    /// What holds.
    pub enforcement: Enforcement,
    /// What the repositories were that the session works on through an overlay; `None` if there are none, or if the
    /// loss of what git does was accepted.
    pub history: Option<GitHistory>,
}

impl Started {
    /// Brings back what git did in the session so far. Call it whenever a command has ended, and before the session
    /// does: what did not come back until then is gone.
    #[must_use = "what did not come back ends with the session"]
    pub fn import_git(&mut self) -> Vec<GitImport> {
        match &mut self.history {
            Some(history) => history.import(&self.session),
            None => Vec::new(),
        }
    }
}

/// Why there is no session. Nothing ran.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The policy makes no sense on this host, or nothing here can enforce it.
    #[error("{0}")]
    Policy(#[from] PolicyError),
    /// The sandbox would be weaker than the policy asks, and nobody accepted that.
    #[error("{0}")]
    Refused(#[from] Refusal),
    /// A step failed.
    #[error("{error}{}", explanation(.error))]
    Launch {
        /// Which, and why.
        #[from]
        error: LaunchError,
    },
}

fn explanation(error: &LaunchError) -> String {
    error
        .explain()
        .map(|explanation| format!(": {explanation}"))
        .unwrap_or_default()
}

/// Starts a session for a policy on this host.
///
/// # Errors
/// The policy cannot be enforced here as asked, or a step of the launch failed.
pub fn start(
    policy: &CanonicalSandboxPolicy,
    context: &PolicyContext,
    accepted: &AcceptedLosses,
    helper: &Helper,
) -> Result<Started, StartError> {
    start_on(
        survey::kernel(&context.facts),
        policy,
        context,
        accepted,
        helper,
    )
}

/// Starts a session with these facts about the kernel: those of this host, or weaker ones that a caller emulates.
///
/// # Errors
/// As [`start`].
pub fn start_on(
    kernel: LinuxHost,
    policy: &CanonicalSandboxPolicy,
    context: &PolicyContext,
    accepted: &AcceptedLosses,
    helper: &Helper,
) -> Result<Started, StartError> {
    let first = begin_attempt(kernel.clone(), policy, context, accepted, helper)
        .and_then(|attempt| attempt.finish(helper));
    or_weaker(first, kernel, policy, context, accepted, helper)
}

/// A session that is being set up: what was asked of it is known, whether it can be had is not.
#[derive(Debug)]
#[must_use = "it ends when it is dropped"]
pub struct Starting {
    kernel: LinuxHost,
    policy: CanonicalSandboxPolicy,
    context: PolicyContext,
    accepted: AcceptedLosses,
    helper: Helper,
    attempt: Attempt,
}

/// Begins what [`start_on`] does and leaves it to the helper: the caller does something else meanwhile.
///
/// # Errors
/// The policy cannot be enforced here as asked, or there is no helper.
pub fn begin_on(
    kernel: LinuxHost,
    policy: CanonicalSandboxPolicy,
    context: PolicyContext,
    accepted: AcceptedLosses,
    helper: Helper,
) -> Result<Starting, StartError> {
    let attempt = begin_attempt(kernel.clone(), &policy, &context, &accepted, &helper)?;
    Ok(Starting {
        kernel,
        policy,
        context,
        accepted,
        helper,
        attempt,
    })
}

impl Starting {
    /// The policy that is to be enforced, without what the sandbox has of its own.
    ///
    /// # Errors
    /// It makes no sense on this host; but then it was not begun.
    pub fn resolved(&self) -> Result<ResolvedPolicy, PolicyError> {
        self.policy.resolve(&self.context)
    }

    /// Waits until the session is set up.
    ///
    /// # Errors
    /// As [`start`].
    pub fn finish(self) -> Result<Started, StartError> {
        let Self {
            kernel,
            policy,
            context,
            accepted,
            helper,
            attempt,
        } = self;
        let first = attempt.finish(&helper);
        or_weaker(first, kernel, &policy, &context, &accepted, &helper)
    }
}

/// What an attempt came to, or what one with the tier below comes to if namespaces turned out not to work.
fn or_weaker(
    first: Result<Started, StartError>,
    kernel: LinuxHost,
    policy: &CanonicalSandboxPolicy,
    context: &PolicyContext,
    accepted: &AcceptedLosses,
    helper: &Helper,
) -> Result<Started, StartError> {
    let error = match first {
        Err(StartError::Launch { error }) => error,
        other => return other,
    };
    let Some(why) = refused_namespaces(&error) else {
        return Err(error.into());
    };
    // The launch itself was the probe. What is left of the tier below may be enough for those who said so.
    let kernel = LinuxHost {
        namespaces: why,
        ..kernel
    };
    begin_attempt(kernel, policy, context, accepted, helper)?.finish(helper)
}

/// What a failed launch says about namespaces, if it is about them.
fn refused_namespaces(error: &LaunchError) -> Option<NamespaceSupport> {
    let LaunchError::Step { step, source, .. } = error else {
        return None;
    };
    if !step.needs_namespaces() || step.is_about_a_path() {
        return None;
    }
    let explanation = error.explain();
    let layer = explanation
        .as_ref()
        .map(|explanation| format!(": {}", explanation.layer))
        .unwrap_or_default();
    Some(NamespaceSupport::Refused {
        why: format!("{step} failed ({source}){layer}"),
        cure: explanation.and_then(|explanation| explanation.cure),
    })
}

/// A session that is being set up on one tier.
#[derive(Debug)]
struct Attempt {
    session: Beginning,
    policy: ResolvedPolicy,
    plan: Plan,
    enforcement: Enforcement,
    history: Option<GitHistory>,
}

impl Attempt {
    fn finish(self, helper: &Helper) -> Result<Started, StartError> {
        Ok(Started {
            session: self.session.finish(helper)?,
            policy: self.policy,
            plan: self.plan,
            enforcement: self.enforcement,
            history: self.history,
        })
    }
}

fn begin_attempt(
    mut host: LinuxHost,
    policy: &CanonicalSandboxPolicy,
    context: &PolicyContext,
    accepted: &AcceptedLosses,
    helper: &Helper,
) -> Result<Attempt, StartError> {
    let context = context.clone().with_private(private_places(&host));
    let policy = resolve(policy, &context, helper)?;
    survey::look(&mut host, &policy, &SurveyOptions::launch());
    let (plan, enforcement) = LinuxLandlock.lower(&policy, &host)?.admit(accepted)?;
    let (plan, enforcement, history) = note_history(plan, enforcement, &policy, accepted, helper)?;
    let session = Session::begin(&plan, helper)?;
    Ok(Attempt {
        session,
        policy,
        plan,
        enforcement,
        history,
    })
}

/// Resolves the policy. A helper inside a writable root, as a local installation or a build is, becomes read-only:
/// otherwise a command could replace it, and the next session would run what it put there, unconfined.
fn resolve(
    policy: &CanonicalSandboxPolicy,
    context: &PolicyContext,
    helper: &Helper,
) -> Result<ResolvedPolicy, PolicyError> {
    let resolved = policy.resolve(context)?;
    let program = std::fs::canonicalize(helper.program()).ok();
    let Some(program) = program.and_then(|path| AbsolutePath::new(path).ok()) else {
        // It cannot be started either, and the launch says so.
        return Ok(resolved);
    };
    if resolved.place(&Access::Write(program.clone())) != Some(Place::Host) {
        return Ok(resolved);
    }
    let Some((rules, _)) = policy.rules() else {
        return Ok(resolved);
    };
    let read_only = rules
        .read_only
        .iter()
        .cloned()
        .chain([PathSpec::from(program)]);
    let rules = rules.clone().with_read_only(read_only);
    policy.clone().with_paths(rules).resolve(context)
}

/// Takes the old values of every repository with an overlay. Where that fails, nothing could come back: that is a loss
/// like any other, and needs to be accepted.
fn note_history(
    plan: Plan,
    enforcement: Enforcement,
    policy: &ResolvedPolicy,
    accepted: &AcceptedLosses,
    helper: &Helper,
) -> Result<(Plan, Enforcement, Option<GitHistory>), Refusal> {
    if plan.git.is_empty() {
        return Ok((plan, enforcement, None));
    }
    let noted = match helper.git() {
        Some(options) => {
            GitHistory::before(&plan, policy, options).map_err(|error| error.to_string())
        }
        None => Err("no git is known that would bring history back".to_owned()),
    };
    match noted {
        Ok(history) => Ok((plan, enforcement, Some(history))),
        Err(why) => {
            let lost = Measure::missing(format!("what git does would end with the session: {why}"));
            let (plan, enforcement) =
                Lowered::new(policy, plan, enforcement.with(Guarantee::GitImport, lost))
                    .admit(accepted)?;
            Ok((plan, enforcement, None))
        }
    }
}
