//! One attempt as two spans: setting it up, and running it.

use std::future::Future;

use palisade_policy::SandboxType;

use crate::audit::trace;
use crate::launch::{self, Driver, Running};
use crate::outcome::{Finished, SetupFailure};
use crate::supervise::Cancellation;

/// Starts something, waits for its end, and says what both came to.
pub(crate) async fn traced(
    call_id: &str,
    sandbox: SandboxType,
    cancel: &Cancellation,
    driver: Driver,
    starting: impl Future<Output = Result<Running, SetupFailure>>,
) -> Finished {
    let step = trace::launch(call_id, sandbox);
    let running = match step.wait(starting).await {
        Ok(running) => running,
        Err(failure) => {
            let outcome = launch::not_started(failure, cancel);
            step.ended(&outcome);
            return Finished::new(outcome, sandbox);
        }
    };
    drop(step);
    let step = trace::run(call_id, sandbox);
    let finished = step.wait(running.finish(driver)).await;
    step.ended(&finished.outcome);
    step.wrote(finished.output.aggregated.total());
    finished
}
