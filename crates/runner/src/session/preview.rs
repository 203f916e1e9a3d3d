//! What would become of a command, said by the same code that runs it, without running anything.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use palisade_exec_policy::ReviewDecision;
use palisade_exec_policy::authoring::Explanation;
use palisade_policy::{CanonicalSandboxPolicy, Grant, SandboxType};

use super::admit;
use super::command::Command;
use super::error::Error;
use super::policy::Policy;
use super::sandbox::Sandbox;
use super::state::{Session, SessionOptions};
use crate::approve::Prompt;
use crate::host::Host;
use crate::judge::{Judgement, RuleBook};
use crate::supervise::block_on;

/// A session in which nothing runs. It judges, asks and places commands as a [`Session`] does, where whoever is asked
/// agrees, and says what came of it. Whether this host can keep the policy is not tried.
#[derive(Debug)]
pub struct Preview {
    session: Session,
}

/// What would become of a command.
#[derive(Debug)]
#[non_exhaustive]
pub struct Previewed {
    /// What the rules and the approval policy make of it.
    pub judgement: Judgement,
    /// How they came to that.
    pub explanation: Explanation,
    /// Where it would run, once whoever is asked agrees; or why it does not run, whatever anybody answers.
    pub place: Result<PreviewedPlace, Error>,
}

/// Where a command would run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PreviewedPlace {
    /// The mechanism; `None` if nothing confines it.
    pub sandbox: SandboxType,
    /// The policy, with what its rules and earlier answers grant.
    pub policy: CanonicalSandboxPolicy,
    /// What of that is for this command alone.
    pub grants: Vec<Grant>,
    /// How long it may run.
    pub wall: Option<Duration>,
}

impl Preview {
    /// A preview of a session with this policy, these rules and these options on this host.
    ///
    /// # Errors
    /// Such a session would not start, for a reason other than what the host can keep.
    pub fn on(
        host: Host,
        policy: Policy,
        rules: RuleBook,
        options: SessionOptions,
    ) -> Result<Self, Error> {
        let agrees = |_: &Prompt| ReviewDecision::Approved;
        let session = Sandbox::assumed(host, policy)?.session_with(rules, agrees, options)?;
        Ok(Self { session })
    }

    /// What would become of a program with its arguments in a directory.
    ///
    /// # Errors
    /// The rules cannot be used, or its directory or environment makes no sense.
    pub fn command(&self, argv: &[OsString], cwd: &Path) -> Result<Previewed, Error> {
        let mut words = argv.iter().cloned();
        let program = words.next().unwrap_or_default();
        self.preview(self.session.command(program).args(words).cwd(cwd))
    }

    /// What would become of a script in a directory.
    ///
    /// # Errors
    /// As [`command`](Self::command).
    pub fn script(&self, text: impl Into<OsString>, cwd: &Path) -> Result<Previewed, Error> {
        self.preview(self.session.script(text).cwd(cwd))
    }

    /// What is granted to all commands beyond the policy, because somebody agreed to it for good.
    #[must_use]
    pub fn granted(&self) -> Vec<Grant> {
        self.session.granted()
    }

    fn preview(&self, command: Command) -> Result<Previewed, Error> {
        // Nobody ends a command that is only looked at.
        let command = command.no_timeout();
        let (judgement, explanation) = admit::look(&command)?;
        let place = block_on(admit::would_run(&command)).and_then(|(attempts, wall)| {
            let first = attempts.first()?;
            Ok(PreviewedPlace {
                sandbox: first.sandbox,
                policy: first.policy,
                grants: attempts.grants,
                wall,
            })
        });
        Ok(Previewed {
            judgement,
            explanation,
            place,
        })
    }
}
