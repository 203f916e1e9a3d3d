//! Init's life after setup: starts commands, passes signals on, reaps, and ends when the caller is gone.

use std::os::fd::{AsFd, OwnedFd};

use palisade_policy::AbsolutePath;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::cgroup::Groups;
use super::command::{ChildSetup, PreparedExec};
use super::sampler::{Over, Sampler};
use super::{During, Failed};
use crate::channel::{Channel, retry};
use crate::plan::Plan;
use crate::step::Step;
use crate::sys::process::{self, Forked};
use crate::sys::reap::{Reaped, reap_one};
use crate::sys::signals::{next_signal, signal_descriptor};
use crate::wire::{CommandRequest, Ended, Record, Request, Wire};

/// How often init measures, where it has to.
const SAMPLE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};

/// A session that is set up.
pub(crate) struct Session {
    setup: ChildSetup,
    environment: Vec<(std::ffi::OsString, std::ffi::OsString)>,
    sampler: Option<Sampler>,
    groups: Groups,
    children: OwnedFd,
    running: Vec<Running>,
}

struct Running {
    id: u32,
    pid: i32,
    status: OwnedFd,
    over: Option<Over>,
}

impl Session {
    pub(super) fn new(
        plan: &Plan,
        ruleset: Option<OwnedFd>,
        tmpdir: Option<&AbsolutePath>,
        groups: Option<&Groups>,
    ) -> Result<Self, Failed> {
        Ok(Self {
            environment: super::command::environment(plan, tmpdir),
            setup: ChildSetup::new(plan, ruleset),
            sampler: super::samples(plan).then(|| Sampler::new(plan)),
            children: signal_descriptor(&[libc::SIGCHLD]).during(Step::Serve)?,
            groups: groups.cloned().unwrap_or_default(),
            running: Vec::new(),
        })
    }

    /// Serves until the caller closes the channel or dies.
    pub(super) fn serve(mut self, channel: &Channel) -> Result<(), Failed> {
        loop {
            let mut watched = [
                PollFd::new(channel, PollFlags::IN),
                PollFd::new(&self.children, PollFlags::IN),
            ];
            let pause = match (&self.sampler, self.running.is_empty()) {
                (Some(_), false) => Some(&SAMPLE),
                _ => None,
            };
            retry(|| poll(&mut watched, pause)).during(Step::Serve)?;
            let [requests, children] = watched.map(|watched| !watched.revents().is_empty());
            if children {
                self.reap();
            }
            if requests {
                match channel.receive().during(Step::Serve)? {
                    None => return Ok(()),
                    Some((frame, descriptors)) => self.answer(&frame, descriptors),
                }
            }
            self.sample();
        }
    }

    fn answer(&mut self, frame: &[u8], descriptors: Vec<OwnedFd>) {
        match Request::from_bytes(frame) {
            Ok(Request::Command(request)) => {
                let Ok([stdin, stdout, stderr, status]) = <[OwnedFd; 4]>::try_from(descriptors)
                else {
                    return;
                };
                let id = request.id;
                match self.start(request, [stdin, stdout, stderr], &status) {
                    Ok(pid) => {
                        tell(&status, Record::Started { pid });
                        self.running.push(Running {
                            id,
                            pid,
                            status,
                            over: None,
                        });
                    }
                    Err(failed) => tell(
                        &status,
                        Record::Failed {
                            step: failed.step,
                            errno: failed.errno.raw_os_error(),
                        },
                    ),
                }
            }
            Ok(Request::Signal { id, signal }) => {
                if let Some(running) = self.running.iter().find(|running| running.id == id) {
                    crate::sys::reap::signal_group(running.pid, signal);
                }
            }
            // The caller is our own code; what it cannot have meant is left alone.
            Err(_) => {}
        }
    }

    fn start(
        &self,
        request: CommandRequest,
        stdio: [OwnedFd; 3],
        status: &OwnedFd,
    ) -> Result<i32, Failed> {
        let prepared = PreparedExec::new(request, &self.environment)?;
        match process::fork().during(Step::Fork)? {
            Forked::Child => {
                let [stdin, stdout, stderr] = &stdio;
                let (step, errno) = self
                    .setup
                    .become_command(&prepared, [stdin.as_fd(), stdout.as_fd(), stderr.as_fd()]);
                tell(
                    status,
                    Record::Failed {
                        step,
                        errno: errno.raw_os_error(),
                    },
                );
                process::exit_now(127)
            }
            Forked::Parent(pid) => Ok(pid),
        }
    }

    fn reap(&mut self) {
        while next_signal(&self.children).is_some() {}
        while let Some(Reaped { pid, status, usage }) = reap_one() {
            let Some(index) = self.running.iter().position(|running| running.pid == pid) else {
                continue;
            };
            let mut running = self.running.swap_remove(index);
            if libc::WIFSIGNALED(status)
                && libc::WTERMSIG(status) == libc::SIGKILL
                && self.groups.ran_out_of_memory()
            {
                running.over.get_or_insert(Over::Memory);
            }
            tell(
                &running.status,
                Record::Exited(Ended {
                    status,
                    limit: running.over.map_or(0, Over::code),
                    user_micros: usage.user_micros,
                    system_micros: usage.system_micros,
                    max_rss_kib: usage.max_rss_kib,
                }),
            );
        }
    }

    /// Ends every command when the session is over a limit: nobody can tell whose fault it is.
    fn sample(&mut self) {
        let Some(over) = self.sampler.as_ref().and_then(Sampler::over) else {
            return;
        };
        for running in &mut self.running {
            running.over.get_or_insert(over);
        }
        if let Some(sampler) = &self.sampler {
            sampler.end_everything();
        }
    }
}

/// Writes a record. The pipe is the caller's; if it is gone or full, the caller does not want to know.
fn tell(status: &OwnedFd, record: Record) {
    let _: Result<usize, Errno> = retry(|| rustix::io::write(status, &record.to_array()));
}
