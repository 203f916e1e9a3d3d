//! A command that runs, for those who talk to it meanwhile.

use std::sync::Arc;

use palisade_policy::SandboxType;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::admit::{Admitted, environment};
use super::command::Command;
use super::error::Error;
use super::hosts::Registered;
use super::run::{ground, output_mode};
use crate::audit::trace;
use crate::capture::Chunk;
use crate::launch::{self, Control, Driver, Launch, Live, Stdin, WindowSize};
use crate::outcome::{Finished, Outcome};
use crate::supervise::Cancellation;

/// How many chunks wait in a queue before the command does.
const QUEUE: usize = 16;

/// A running command. Dropping it ends the command, with everything that it started.
#[derive(Debug)]
pub struct Child {
    stdin: Option<mpsc::Sender<Vec<u8>>>,
    output: mpsc::Receiver<Chunk>,
    control: Control,
    cancel: Cancellation,
    sandbox: SandboxType,
    task: Option<JoinHandle<Finished>>,
}

impl Child {
    pub(super) async fn start(command: Command, admitted: Admitted) -> Result<Self, Error> {
        let shared = Arc::clone(&command.shared);
        let placed = admitted.attempts.first()?;
        let (to_child, from_us) = mpsc::channel(QUEUE);
        let (to_us, output) = mpsc::channel(QUEUE);
        let mut spec = admitted.spec.clone();
        // What it runs in may not be what the session has.
        spec.env = environment(&command, placed.sandbox, &placed.policy)
            .map_err(|error| Error::Environment(error.to_string()))?;
        let mut launch = Launch::new(spec);
        launch.seen = Some(admitted.asked.seen().clone());
        launch.output = output_mode(&command)?;
        launch.stdin = Stdin::Queue(from_us);
        launch.live = Live::Queue(to_us);
        launch.wall = admitted.wall;
        launch.timing = shared.options.timing;
        launch.cancel = command.cancel.clone();
        launch.wait_for_others = shared.options.wait();
        if let Some(bytes) = command.stdin {
            // What is to be read first is in the queue first.
            let _ = to_child.try_send(bytes);
        }
        let step = trace::launch(&admitted.call.id, placed.sandbox);
        let known = Registered::new(&shared, &admitted, &command.cancel);
        let starting = async {
            let own = &admitted.session_policy;
            let ground = ground(&shared, &placed, own, Driver::Tokio).await?;
            launch.alone = known.enter(&ground);
            let host = &shared.sandbox.host;
            launch::start(host, ground, placed.sandbox, launch, Driver::Tokio).await
        };
        let running = match step.wait(starting).await {
            Ok(running) => running,
            Err(failure) => {
                let outcome = launch::not_started(failure.clone(), &command.cancel);
                step.ended(&outcome);
                let finished = Finished::new(outcome, placed.sandbox);
                shared.record_once(&admitted, &placed, &finished);
                return Err(match finished.outcome {
                    Outcome::Cancelled => Error::Cancelled,
                    _ => failure.into(),
                });
            }
        };
        drop(step);
        let control = running.control();
        let sandbox = placed.sandbox;
        // Made here, so that it belongs to whatever span the caller is in.
        let step = trace::run(&admitted.call.id, sandbox);
        let task = tokio::spawn(async move {
            let finished = step.wait(running.finish(Driver::Tokio)).await;
            step.ended(&finished.outcome);
            step.wrote(finished.output.aggregated.total());
            drop(step);
            drop(known);
            shared.record_once(&admitted, &placed, &finished);
            finished
        });
        Ok(Self {
            stdin: Some(to_child),
            output,
            control,
            cancel: command.cancel,
            sandbox,
            task: Some(task),
        })
    }

    /// Gives it something to read; waits while it reads more slowly than that. `false` if it no longer reads.
    pub async fn write(&mut self, bytes: impl Into<Vec<u8>>) -> bool {
        match &self.stdin {
            Some(stdin) => stdin.send(bytes.into()).await.is_ok(),
            None => false,
        }
    }

    /// Tells it that there is nothing more to read.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// The next output, as it arrives; `None` when there will be no more. While nobody asks, a command that writes much
    /// waits.
    pub async fn next(&mut self) -> Option<Chunk> {
        self.output.recv().await
    }

    /// Tells it the new size of its terminal, if it has one.
    pub fn resize(&self, size: WindowSize) {
        self.control.resize(size);
    }

    /// Sends a signal to its process group.
    pub fn signal(&self, signal: i32) {
        self.control.signal(signal);
    }

    /// Ends it, politely first, with everything that it started.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Waits for its end. Output that nobody has taken is in the outcome, as much as the caps say.
    pub async fn wait(mut self) -> Finished {
        self.stdin = None;
        // From here on nobody takes chunks, so none may be waited for.
        self.output.close();
        while self.output.recv().await.is_some() {}
        let lost = |sandbox| {
            let why = "whoever watched the command is gone, and the command was ended".to_owned();
            Finished::new(Outcome::Lost { why }, sandbox)
        };
        match self.task.take() {
            Some(task) => task.await.unwrap_or_else(|_| lost(self.sandbox)),
            None => lost(self.sandbox),
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.task.is_some() {
            self.cancel.cancel();
        }
    }
}
