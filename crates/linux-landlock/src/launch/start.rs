//! From a policy to a session in one call: looks, lowers, asks for accepted losses, starts, and if namespaces turn out
//! not to work says so or goes on with the weaker tier, if every loss of it was accepted.

use palisade_policy::{
    AcceptedLosses, Backend as _, CanonicalSandboxPolicy, Enforcement, PolicyContext, PolicyError,
    Refusal, ResolvedPolicy,
};

use super::error::LaunchError;
use super::helper::Helper;
use super::session::Session;
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
    let error = match attempt(kernel.clone(), policy, context, accepted, helper) {
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
    attempt(kernel, policy, context, accepted, helper)
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

fn attempt(
    mut host: LinuxHost,
    policy: &CanonicalSandboxPolicy,
    context: &PolicyContext,
    accepted: &AcceptedLosses,
    helper: &Helper,
) -> Result<Started, StartError> {
    let policy = policy.resolve(&context.clone().with_private(private_places(&host)))?;
    survey::look(&mut host, &policy, &SurveyOptions::launch());
    let (plan, enforcement) = LinuxLandlock.lower(&policy, &host)?.admit(accepted)?;
    let session = Session::start(&plan, helper)?;
    Ok(Started {
        session,
        policy,
        plan,
        enforcement,
    })
}
