//! Init's life after setup: starts commands, passes signals on, reaps, and ends when the caller is gone.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use palisade_policy::AbsolutePath;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::cgroup::Groups;
use super::command::{ChildSetup, Given, PreparedExec};
use super::handed_in::{self, HandedIn};
use super::sampler::{Over, Sampler};
use super::tree::{Ledger, Swept, TURN};
use super::{During, Failed};
use crate::channel::{Channel, retry};
use crate::plan::{Plan, Tier};
use crate::step::Step;
use crate::sys::process::{self, Forked};
use crate::sys::reap::{Reaped, has_children, reap_one, signal_command};
use crate::sys::signals::{next_signal, signal_descriptor};
use crate::wire::{CommandRequest, Ended, Record, Request, Wire};

/// How often init measures, where it has to.
const SAMPLE: Duration = Duration::from_millis(50);

/// How many are reaped before requests are looked at again: a storm of orphans must not keep the session from ending.
const REAPED_AT_ONCE: usize = 256;

/// A session that is set up.
pub(crate) struct Session {
    setup: ChildSetup,
    environment: Vec<Given>,
    sampler: Option<Sampler>,
    last_sample: Instant,
    groups: Groups,
    killed_for_memory: u64,
    children: OwnedFd,
    /// Readable when the helper above is gone.
    helper: OwnedFd,
    running: Vec<Running>,
    /// Whose processes are whose, and which trees are being ended.
    ledger: Ledger,
    /// Whether the session sees the files of the host through mounts of its own.
    own_mounts: bool,
    /// Whether the last command has ended.
    last_has_ended: bool,
}

struct Running {
    id: u32,
    pid: i32,
    status: OwnedFd,
    over: Option<Over>,
    last: bool,
}

impl Session {
    pub(super) fn new(
        plan: &Plan,
        ruleset: Option<OwnedFd>,
        tmpdir: Option<&AbsolutePath>,
        groups: Groups,
        helper: OwnedFd,
    ) -> Result<Self, Failed> {
        Ok(Self {
            environment: super::command::environment(plan, tmpdir),
            setup: ChildSetup::new(plan, ruleset),
            sampler: super::samples(plan).then(|| Sampler::new(plan)),
            last_sample: Instant::now(),
            children: signal_descriptor(&[libc::SIGCHLD]).during(Step::Serve)?,
            helper,
            groups,
            killed_for_memory: 0,
            running: Vec::new(),
            ledger: Ledger::new(plan.tier),
            own_mounts: plan.tier == Tier::Full,
            last_has_ended: false,
        })
    }

    /// Serves until the caller closes the channel, or the caller or the helper dies.
    pub(super) fn serve(mut self, channel: &Channel) -> Result<(), Failed> {
        let mut more_to_reap = false;
        loop {
            let pause = if more_to_reap {
                Some(Timespec::default())
            } else {
                self.pause()
            };
            let mut watched = [
                PollFd::new(channel, PollFlags::IN),
                PollFd::new(&self.children, PollFlags::IN),
                PollFd::new(&self.helper, PollFlags::IN),
            ];
            retry(|| poll(&mut watched, pause.as_ref())).during(Step::Serve)?;
            let [requests, children, orphaned] =
                watched.map(|watched| !watched.revents().is_empty());
            if orphaned {
                return Ok(());
            }
            if children || more_to_reap {
                more_to_reap = self.reap();
            }
            if requests {
                match channel.receive().during(Step::Serve)? {
                    None => return Ok(()),
                    Some((frame, descriptors)) => self.answer(&frame, descriptors),
                }
            }
            self.sweep();
            if self.last_has_ended && !has_children() {
                return Ok(());
            }
            self.sample();
        }
    }

    /// How long nothing has to be done by ourselves. Not only commands are measured, but also what they left behind.
    fn pause(&self) -> Option<Timespec> {
        let sample = (self.sampler.is_some() && has_children())
            .then(|| SAMPLE.saturating_sub(self.last_sample.elapsed()));
        let wait = [sample, self.ledger.pause()].into_iter().flatten().min()?;
        Timespec::try_from(wait).ok()
    }

    fn answer(&mut self, frame: &[u8], descriptors: Vec<OwnedFd>) {
        match Request::from_bytes(frame) {
            Ok(Request::Command(request)) => {
                // The status comes first: where we run out of descriptors, it is the one that gets through.
                let [status, stdin, stdout, stderr] = match <[OwnedFd; 4]>::try_from(descriptors) {
                    Ok(all) => all,
                    Err(some) => {
                        let failed = Record::Failed {
                            step: Step::Request,
                            errno: Errno::MFILE.raw_os_error(),
                        };
                        if let Some(status) = some.first() {
                            tell(status, failed);
                        }
                        return;
                    }
                };
                let (id, last) = (request.id, request.last);
                match self.start(*request, [stdin, stdout, stderr], &status) {
                    Ok(pid) => {
                        tell(&status, Record::Started { pid });
                        self.ledger.started(id, pid);
                        self.running.push(Running {
                            id,
                            pid,
                            status,
                            over: None,
                            last,
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
                    signal_command(running.pid, signal);
                }
            }
            Ok(Request::KillTree { id }) => self.ledger.end(id),
            // The caller is our own code; what it cannot have meant is left alone.
            Err(_) => {}
        }
    }

    fn start(
        &mut self,
        request: CommandRequest,
        stdio: [OwnedFd; 3],
        status: &OwnedFd,
    ) -> Result<i32, Failed> {
        let id = request.id;
        self.ledger.expect(id, request.marker);
        let prepared = PreparedExec::new(request, &self.environment)?;
        let [stdin, stdout, stderr] = stdio;
        let stdio = [
            self.handed_in(id, stdin)?,
            self.handed_in(id, stdout)?,
            self.handed_in(id, stderr)?,
        ];
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

    /// Without mounts of our own, a file is the same file however it is opened.
    fn handed_in(&mut self, id: u32, given: OwnedFd) -> Result<OwnedFd, Failed> {
        if !self.own_mounts {
            return Ok(given);
        }
        let HandedIn { descriptor, relay } =
            handed_in::as_the_session_sees_it(given).during(Step::Stdio)?;
        if let Some(relay) = relay {
            self.ledger.relays(id, relay);
        }
        Ok(descriptor)
    }

    /// Goes on ending what belongs to commands that were ended.
    fn sweep(&mut self) {
        let begun = Instant::now();
        while self.ledger.is_due() && begun.elapsed() < TURN {
            // What was killed is reaped before the next look.
            self.reap();
            if self.ledger.sweep() == Swept::Enough {
                return;
            }
        }
    }

    /// Reaps who has ended; says whether there may be more of them.
    fn reap(&mut self) -> bool {
        while next_signal(&self.children).is_some() {}
        for _ in 0..REAPED_AT_ONCE {
            let Some(Reaped { pid, status, usage }) = reap_one() else {
                return false;
            };
            self.ledger.reaped(pid);
            let Some(index) = self.running.iter().position(|running| running.pid == pid) else {
                continue;
            };
            let mut running = self.running.swap_remove(index);
            self.last_has_ended |= running.last;
            // Each kill of the kernel's explains one end at most: a later one may have other reasons.
            let killed = self.groups.killed_for_memory();
            if libc::WIFSIGNALED(status)
                && libc::WTERMSIG(status) == libc::SIGKILL
                && killed > self.killed_for_memory
            {
                running.over.get_or_insert(Over::Memory);
            }
            self.killed_for_memory = killed;
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
        true
    }

    /// Ends every command when the session is over a limit: nobody can tell whose fault it is.
    fn sample(&mut self) {
        if self.sampler.is_none() || self.last_sample.elapsed() < SAMPLE {
            return;
        }
        self.last_sample = Instant::now();
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
