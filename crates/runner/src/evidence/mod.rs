//! What the oracle says about the resources that a failed command named.
//!
//! A command that the sandbox stopped usually says what it could not open, make or reach. The last lines of its error
//! output are searched for the words of a refusal, and what those lines name is put to the oracle. Only what the policy
//! denies is evidence; a refusal by ordinary permissions is not, however much it looks like one.
//!
//! Evidence is likely, not certain: a command can write whatever it likes. So it leads to a question with the resource
//! in it, never to a grant.

mod hosts;
mod intent;
mod lines;
mod linked;
mod listening;
mod locate;
mod mentions;
mod processes;
mod refusal;
mod remedy;
mod rerun;

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::Path;

use palisade_policy::{
    AbsolutePath, Access, Clause, Enforcement, Guarantee, HostName, Level, Peer, Protocol,
    ResolvedPolicy, UnixAddress, Verdict,
};

use crate::outcome::{Evidence, Outcome};
use intent::Intent;
use locate::Located;
use refusal::Refusal;

pub(crate) use linked::is_linked;
pub(crate) use locate::resolve_host_path;
pub use locate::{Ordinary, ordinary_permissions};
pub use rerun::{grant_words, rerun_line, shell_line};

/// How much evidence is given at most.
const MOST: usize = 8;
/// How many paths and hosts are looked at, at most: looking costs system calls.
const MOST_LOOKED_AT: usize = 32;
/// How many hosts that a proxy refused are told, at most: what the command itself says comes first.
const MOST_HOSTS: usize = 3;
/// "Bad system call", and what shells make of it.
const SIGSYS: i32 = 31;

/// A command that is over, as far as it is known.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Failure<'a> {
    /// The command.
    pub argv: &'a [OsString],
    /// Where it ran: relative paths are relative to this.
    pub cwd: &'a Path,
    /// How it ended.
    pub outcome: &'a Outcome,
    /// The last that it wrote on standard error.
    pub stderr: &'a [u8],
    /// The last that it wrote on standard output, for commands that complain there.
    pub stdout: &'a [u8],
    /// What held while it ran. What was not enforced denied nothing.
    pub enforcement: &'a Enforcement,
    /// Hosts and ports that the sandbox's proxy refused, and that its failure has to do with.
    pub refused_hosts: &'a [(HostName, u16)],
}

impl<'a> Failure<'a> {
    /// A command that ended like this and wrote nothing.
    #[must_use]
    pub const fn new(
        argv: &'a [OsString],
        cwd: &'a Path,
        outcome: &'a Outcome,
        enforcement: &'a Enforcement,
    ) -> Self {
        Self {
            argv,
            cwd,
            outcome,
            stderr: &[],
            stdout: &[],
            enforcement,
            refused_hosts: &[],
        }
    }

    /// With the last that it wrote on standard error.
    #[must_use]
    pub const fn with_stderr(mut self, stderr: &'a [u8]) -> Self {
        self.stderr = stderr;
        self
    }

    /// With what the sandbox's proxy refused it.
    #[must_use]
    pub const fn with_refused_hosts(mut self, hosts: &'a [(HostName, u16)]) -> Self {
        self.refused_hosts = hosts;
        self
    }

    /// Where it complains: on standard error, unless it writes nothing there.
    const fn written(&self) -> &'a [u8] {
        match self.stderr.trim_ascii().is_empty() {
            true => self.stdout,
            false => self.stderr,
        }
    }

    /// With the last that it wrote on standard output.
    #[must_use]
    pub const fn with_stdout(mut self, stdout: &'a [u8]) -> Self {
        self.stdout = stdout;
        self
    }
}

/// What says that the sandbox is why a command failed; empty if nothing does, and after a success.
///
/// Paths are looked up on this host, to follow links and to tell ordinary permissions from the sandbox; nothing is
/// opened.
#[must_use]
pub fn denials(policy: &ResolvedPolicy, failure: &Failure<'_>) -> Vec<Evidence> {
    if !policy.canonical().uses_runtime_sandbox() {
        return Vec::new();
    }
    let code = match failure.outcome {
        Outcome::Signaled { signal: SIGSYS } => return vec![Evidence::SystemCall],
        Outcome::Exited { code } if *code != 0 => Some(*code),
        Outcome::Signaled { .. } => None,
        _ => return Vec::new(),
    };
    // Nothing was found to run: that is a mistake, not a refusal.
    if code == Some(127) {
        return Vec::new();
    }
    let lines = lines::last(failure.written());
    let mut search = Search {
        policy,
        failure,
        code,
        seen: HashSet::new(),
        found: Vec::new(),
    };
    // Backwards, so that what is looked at first is what happened last.
    for at in (0..lines.len()).rev() {
        search.line(&lines, at);
    }
    // Whoever spoke to the proxy need not have said so: programs name the proxy's answer, or nothing.
    for (host, port) in failure.refused_hosts.iter().rev().take(MOST_HOSTS) {
        search.conclude(Access::Connect {
            host: host.clone(),
            port: *port,
            protocol: Protocol::Tcp,
        });
    }
    if code == Some(128 + SIGSYS) && lines.iter().any(|line| line.contains("Bad system call")) {
        search.found.push(Evidence::SystemCall);
    }
    search.found.truncate(MOST);
    search.found.reverse();
    search.found
}

struct Search<'a> {
    policy: &'a ResolvedPolicy,
    failure: &'a Failure<'a>,
    code: Option<i32>,
    seen: HashSet<Access>,
    found: Vec<Evidence>,
}

impl Search<'_> {
    fn line(&mut self, lines: &[String], at: usize) {
        let Some(line) = lines.get(at) else { return };
        if let Some((resource, clause)) = processes::refused(line, self.policy) {
            return self.refuse_for_good(resource, clause);
        }
        let Some(refused) = refusal::find(line) else {
            return;
        };
        let before = lines.get(..at).unwrap_or_default();
        let mut mentioned = mentions::paths(line, &refused.range, self.failure.argv);
        let mut intent = intent::of(line, refused.what, self.code);
        if mentioned.is_empty() && refused.what != Refusal::Network {
            // Some name the path first and the reason in a line below it.
            if let Some(context) = mentions::context(before) {
                mentioned = mentions::paths(context, &(0..0), self.failure.argv);
                if intent == Intent::Unknown {
                    intent = intent::of(context, refused.what, self.code);
                }
            }
        }
        let known = self.found.len();
        for mention in mentioned.iter().rev() {
            let at = locate::locate(&mention.text, self.failure.cwd);
            if let Some(at) = at.filter(|at| mention.is_plausible(at, intent))
                && let Some(access) = self.denied_path(&at, refused.what, intent)
            {
                match &access {
                    Access::Create(new) if self.links_across(line, new) => {
                        let clause = self.policy.permits(&access).clause;
                        self.refuse_for_good(
                            format!("link {new} to a file of the workspace"),
                            clause,
                        );
                    }
                    _ => self.conclude(access),
                }
            }
        }
        if refused.what == Refusal::ReadOnly && self.found.len() == known {
            self.command(intent);
        }
        if self.found.len() == known && self.socket_of_command() {
            return;
        }
        if refused.what == Refusal::Network || refusal::speaks_of_network(line) {
            for (host, port) in hosts::named(line, before, lines.get(at + 1), self.failure.argv) {
                self.conclude(Access::Connect {
                    host,
                    port,
                    protocol: Protocol::Tcp,
                });
            }
        }
    }

    /// A denial that no grant turns around.
    fn refuse_for_good(&mut self, resource: String, clause: Clause) {
        let known = |one: &Evidence| matches!(one, Evidence::Likely { resource: known, .. } if *known == resource);
        if is_kept(&clause, self.failure.enforcement) && !self.found.iter().any(known) {
            self.found.push(Evidence::Likely {
                resource,
                clause,
                smallest_grant: None,
            });
        }
    }

    /// Whether a line speaks of a hard link from what may be written to somewhere else. Opening that place would not help:
    /// each writable place is a mount of its own, and no link leads from one to another.
    fn links_across(&self, line: &str, new: &AbsolutePath) -> bool {
        if !refusal::lower(line).contains("hard link") {
            return false;
        }
        let mut words = mentions::words_of_command(self.failure.argv).into_iter();
        words.any(|word| {
            locate::locate(&word, self.failure.cwd).is_some_and(|at| {
                let writes = Access::Write(at.resolved.clone());
                at.exists
                    && at.resolved != *new
                    && at.resolved.as_path().is_file()
                    && self.policy.place(&writes).is_some()
            })
        })
    }

    /// A change was refused, and the line does not say where: the last path of the command that the policy does not let
    /// it change is where commands put what they change.
    fn command(&mut self, intent: Intent) {
        let words: Vec<String> = mentions::of_command(self.failure.argv);
        let change = words.iter().rev().find_map(|word| {
            let at = locate::locate(word, self.failure.cwd).filter(|at| !at.is_program)?;
            self.denied_path(&at, Refusal::ReadOnly, intent)
        });
        if let Some(change) = change {
            self.conclude(change);
        }
    }

    /// A socket that the command names, and may not connect to: few programs say which one they could not reach.
    fn socket_of_command(&mut self) -> bool {
        let words = mentions::of_command(self.failure.argv);
        let socket = words.iter().find_map(|word| {
            let at = locate::locate(word, self.failure.cwd).filter(|at| at.is_socket)?;
            self.denied_path(&at, Refusal::Access, Intent::Unknown)
        });
        let known = self.found.len();
        if let Some(socket) = socket {
            self.conclude(socket);
        }
        self.found.len() > known
    }

    /// What the command wanted of a path, if the policy denies it.
    fn denied_path(&self, at: &Located, what: Refusal, intent: Intent) -> Option<Access> {
        let denies = |access: &Access| self.policy.place(access).is_none();
        if at.is_socket && what != Refusal::ReadOnly {
            let socket = Access::Unix {
                address: UnixAddress::Path(at.resolved.clone()),
                peer: Peer::Host,
            };
            return denies(&socket).then_some(socket);
        }
        let change = match intent {
            Intent::Delete => Access::Delete(at.entry.clone()),
            _ if at.exists => Access::Write(at.resolved.clone()),
            _ => Access::Create(at.resolved.clone()),
        };
        let reads = [&at.resolved, &at.entry];
        let read = reads
            .into_iter()
            .map(|path| Access::Read(path.clone()))
            .find(denies);
        match (what, intent) {
            (Refusal::Network, _) => None,
            // Hidden by a mask only if there is something to hide.
            (Refusal::Missing, _) if at.exists => read,
            // npm's word for a directory that it could not make.
            (Refusal::Missing, Intent::Write) => Some(change).filter(denies),
            (Refusal::Missing, _) => None,
            (Refusal::ReadOnly | Refusal::CrossDevice, _) => Some(change).filter(denies),
            (Refusal::Busy, _) => {
                Some(change).filter(|change| denies(change) && self.guarded(change))
            }
            (_, Intent::Read | Intent::Execute) => read,
            (_, Intent::Write | Intent::Delete) => Some(change).filter(denies).or(read),
            (_, Intent::Unknown) => read.or_else(|| {
                Some(change).filter(|change| at.must_have_been_a_change() && denies(change))
            }),
        }
    }

    /// Whether it is a guard that denies, and so a mount that is in the way.
    fn guarded(&self, access: &Access) -> bool {
        !matches!(
            self.policy.permits(access).clause,
            Clause::OutsideRoots | Clause::ReadOnlyMode
        )
    }

    /// Asks the oracle, and keeps its answer if it is a denial that was enforced.
    fn conclude(&mut self, access: Access) {
        if self.seen.len() >= MOST_LOOKED_AT || !self.seen.insert(access.clone()) {
            return;
        }
        let verdict = self.policy.permits(&access);
        if let Some((clause, grant)) = remedy::of_own_loopback(&access, &verdict)
            && is_kept(&clause, self.failure.enforcement)
        {
            self.found.push(Evidence::Likely {
                resource: access.to_string(),
                clause,
                smallest_grant: Some(grant),
            });
            return;
        }
        if verdict.is_allowed() || !was_enforced(&verdict, self.failure.enforcement) {
            return;
        }
        self.found.push(Evidence::Likely {
            resource: access.to_string(),
            smallest_grant: remedy::that_works(&access, &verdict),
            clause: verdict.clause,
        });
    }
}

/// Whether what the clause promises was kept while the command ran.
fn was_enforced(verdict: &Verdict, enforcement: &Enforcement) -> bool {
    is_kept(&verdict.clause, enforcement)
}

/// Whether what a clause denies is really denied where this is enforced.
#[must_use]
pub fn is_kept(clause: &Clause, enforcement: &Enforcement) -> bool {
    let guarantees: &[Guarantee] = match clause {
        Clause::OutsideRoots | Clause::ReadOnlyMode => &[Guarantee::WritesOutside],
        Clause::Protected(_)
        | Clause::ReadOnlyPath(_)
        | Clause::HoldsGuarded(_)
        | Clause::MovesGuarded(_) => &[Guarantee::ProtectedPaths],
        Clause::Sensitive(_) | Clause::DenyRead(_) => {
            &[Guarantee::DeniedReads, Guarantee::ProtectedPaths]
        }
        Clause::NoNetwork | Clause::NoHostLoopback | Clause::NoLoopback => &[Guarantee::Network],
        Clause::NotListed => &[Guarantee::NetworkHosts, Guarantee::Network],
        Clause::UnlistedSocket => &[Guarantee::UnixSockets],
        Clause::FilteredCall => &[Guarantee::SystemCalls],
        Clause::OwnProcesses => &[Guarantee::ProcessIsolation],
        _ => &Guarantee::ALL,
    };
    guarantees
        .iter()
        .any(|guarantee| enforcement.level(*guarantee) == Level::Enforced)
}
