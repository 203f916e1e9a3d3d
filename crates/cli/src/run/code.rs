//! What `run` exits with.

use std::process::ExitCode;

use palisade::runner::outcome::SetupFailure;
use palisade::{Error, Outcome};

use crate::exit::Code;

/// The step in which the program itself is started, as every backend calls it.
const EXEC: &str = "starting the program";

/// The step in which a policy is found to make no sense here.
const RESOLVE: &str = "resolving the policy";

/// What the system says where there is no such file.
const ENOENT: i32 = 2;

/// What a run that ended exits with: the code of the command where it has one.
pub(crate) fn of_outcome(outcome: &Outcome) -> ExitCode {
    ExitCode::from(number(outcome))
}

/// The same as a number.
pub(crate) fn number(outcome: &Outcome) -> u8 {
    let ours = match outcome {
        Outcome::TimedOut { .. } => Code::TimedOut,
        Outcome::SetupFailed(failure) => of_failure(failure),
        Outcome::Lost { .. } => Code::Failed,
        _ => {
            let code = outcome.exit_code();
            return u8::try_from(code).unwrap_or(Code::Failed.number());
        }
    };
    ours.number()
}

/// What a run that did not begin exits with.
pub(crate) fn of_error(error: &Error) -> Code {
    match error {
        Error::Sandbox(failure) => of_failure(failure),
        Error::Rules(_) => Code::Usage,
        Error::Refused(_) | Error::Unavailable(_) | Error::Policy(_) | Error::Workspace { .. } => {
            Code::Refused
        }
        _ => Code::Failed,
    }
}

/// The program could not be executed, or something before it failed.
pub(crate) fn of_failure(failure: &SetupFailure) -> Code {
    if failure.step == RESOLVE {
        return Code::Usage;
    }
    match (failure.step == EXEC, failure.errno) {
        (true, Some(ENOENT)) => Code::NotFound,
        (true, _) => Code::Refused,
        (false, _) => Code::Failed,
    }
}
