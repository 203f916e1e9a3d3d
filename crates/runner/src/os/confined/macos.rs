//! Sessions of Seatbelt. There is no process that keeps a session: each command has a profile made for what is there when
//! it is started, and what they share is the policy and a directory for temporary files.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::sync::{Mutex, Weak};
use std::time::{Duration, Instant};

use palisade_policy::{
    AbsolutePath, AcceptedLosses, Backend as _, Enforcement, NetworkAllowlistEntry, NetworkScope,
    PolicyContext, PolicyError, ResolvedPolicy, proxy_variables,
};
use palisade_seatbelt::apply::{self, ApplyError, Launch, RunTag, SessionTmp};
use palisade_seatbelt::denials::{Collector, LogSource as _, SystemLog, collect};
use palisade_seatbelt::{MacHost, Seatbelt, SeatbeltPlan, survey};

use super::staged::{self, ended, failure, wrapped};
use super::trusted::{helper_is_same, real};
use crate::config::Own;
use crate::egress::{RefusedHost, Served};
use crate::host::Host;
use crate::launch::Placed;
use crate::os::bare::BareProcess;
use crate::os::order::Order;
use crate::os::process::Process;
use crate::os::stdio::{self, Stdio};
use crate::outcome::SetupFailure;
use crate::supervise::{Ended, NoEnd};
use crate::workspace::Claim;

/// How many denials are told.
const DENIALS: usize = 16;

/// How much of the log is read for them.
const LOG_BYTES: usize = 4 * 1024 * 1024;

/// A session that is set up, for commands from any thread.
#[derive(Debug)]
pub(crate) struct ConfinedSession {
    mac: MacHost,
    accepted: AcceptedLosses,
    tag: RunTag,
    helper: PathBuf,
    environment: Vec<(&'static str, AbsolutePath)>,
    policy: ResolvedPolicy,
    own: Own,
    enforcement: Enforcement,
    /// The claim on the workspace, while commands run.
    claim: Mutex<Weak<Claim>>,
    /// Removed with everything in it when the session ends.
    session_tmp: SessionTmp,
    /// The way to the hosts that the policy lists, if it lists any, and where that is.
    proxy: Option<(SocketAddrV4, Served)>,
}

/// Starts the proxy. Sandboxes have no loopback of their own here, so it listens on that of the host, where everybody on
/// this machine can use it: it adds no secrets.
fn serve(host: &Host, hosts: Vec<NetworkAllowlistEntry>) -> io::Result<(SocketAddrV4, Served)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let at = SocketAddrV4::new(Ipv4Addr::LOCALHOST, listener.local_addr()?.port());
    let served = host.egress.without_credentials().serve(listener, hosts)?;
    Ok((at, served))
}

impl ConfinedSession {
    /// Whether [`denials`](Self::denials) has anything to say, ever.
    pub(crate) const TELLS_DENIALS: bool = true;

    /// Sets a session up. Waits until that is done.
    ///
    /// # Errors
    /// Names the step that failed, or every loss that was not accepted, and what would help. Nothing ran.
    pub(crate) fn open(host: &Host, placed: &Placed) -> Result<Self, SetupFailure> {
        let helper = host.helper.clone().ok_or_else(|| {
            SetupFailure::new(
                "finding the sandbox helper",
                None,
                "no sandbox helper is known; name one (palisade-helper, or a program that calls \
                 palisade_runner::host::dispatch first in its main)",
            )
        })?;
        let sandbox_exec = apply::look();
        if let Some(error) = ApplyError::of_host(sandbox_exec) {
            return Err(failure(&error));
        }
        let base = host.facts.tmpdir.as_ref().map(AbsolutePath::as_path);
        let base = base.unwrap_or_else(|| std::path::Path::new("/tmp"));
        let session_tmp = SessionTmp::create(base).map_err(|error| failure(&error))?;
        let context = PolicyContext::new(host.facts.clone(), real(&placed.policy_cwd)?)
            .with_home_root(placed.home_root);
        if let Some(directory) = &host.runtime_dir {
            // The claim of the first command would make it; where it cannot be made, that claim says why.
            let mut builder = fs::DirBuilder::new();
            let _ = builder.recursive(true).mode(0o700).create(directory);
        }
        let own = Own::of(host);
        let proxy = match placed.policy.network() {
            NetworkScope::Only(hosts) => {
                let served = serve(host, hosts.to_vec());
                Some(served.map_err(|error| stdio::failure("starting the proxy", &error))?)
            }
            NetworkScope::Off | NetworkScope::Full => None,
        };
        let mac = MacHost::new(sandbox_exec)
            .with_session_tmp(session_tmp.path().clone())
            .with_proxy_ports(proxy.iter().map(|(at, _)| at.port()));
        let guarded = own.guarded(&placed.policy, &context.cwd);
        let (policy, mac) =
            survey::resolve_and_look(&guarded, context, mac).map_err(|error| refused(&error))?;
        own.check(&policy)?;
        helper_is_same(&helper)?;
        let tag = RunTag::random().map_err(|error| stdio::failure("finding a tag", &error))?;
        let (plan, enforcement) = admitted(&policy, &mac, &placed.accepted)?;
        launch(&plan, &tag)?;
        Ok(Self {
            mac,
            accepted: placed.accepted.clone(),
            tag,
            helper,
            environment: plan.environment,
            policy,
            own,
            enforcement,
            claim: Mutex::new(Weak::new()),
            session_tmp,
            proxy,
        })
    }

    /// Starts a command. Whether the sandbox was entered is what [`Process::try_end`] says.
    ///
    /// # Errors
    /// It cannot be passed on, or there is no process for it.
    pub(crate) fn spawn(&self, order: &Order, stdio: Stdio) -> Result<Process, SetupFailure> {
        // Started without a sandbox as far as `sandbox-exec`, and trusted to speak: it must be the same as before.
        helper_is_same(&self.helper)?;
        let mut order = order.clone();
        for (name, value) in &self.environment {
            let value = value.as_path().as_os_str();
            order.env.insert((*name).into(), value.into());
        }
        for variable in self.proxy.iter().flat_map(|(at, _)| proxy_variables(*at)) {
            let name = OsString::from(variable.name);
            if !(variable.yields && order.env.contains_key(&name)) {
                order.env.insert(name, variable.value.into());
            }
        }
        let name = order.name();
        let launch = self.launch_now()?;
        let wrapped = wrapped(&order, &launch, &self.helper)?;
        let (report, theirs) = stdio::pipe_from_child()?;
        let process = BareProcess::spawn_reporting(&wrapped, &stdio, theirs.as_fd())?;
        Ok(Process::Confined(ConfinedProcess {
            process,
            report,
            name,
            ended: None,
        }))
    }

    /// The profile for what is there now. Others change it while a session is open: what they remove could be made again
    /// under another spelling, and where they put a link, other rules are needed.
    fn launch_now(&self) -> Result<Launch, SetupFailure> {
        let mut mac = self.mac.clone();
        survey::look(&mut mac, &self.policy);
        let (plan, _) = admitted(&self.policy, &mac, &self.accepted)?;
        launch(&plan, &self.tag)
    }

    /// What is enforced, in absolute paths.
    pub(crate) const fn policy(&self) -> &ResolvedPolicy {
        &self.policy
    }

    /// What of the host no command may write.
    pub(crate) const fn own(&self) -> &Own {
        &self.own
    }

    /// What holds.
    pub(crate) const fn enforcement(&self) -> &Enforcement {
        &self.enforcement
    }

    /// The claim that the commands which run in it share.
    pub(crate) const fn claim(&self) -> &Mutex<Weak<Claim>> {
        &self.claim
    }

    /// Whether commands can still be started in it.
    pub(crate) fn is_alive(&self) -> bool {
        self.session_tmp.path().as_path().is_dir()
    }

    /// There is no history of its own: the git directory is read-only here.
    pub(crate) const fn has_history(&self) -> bool {
        false
    }

    /// Nothing: see [`has_history`](Self::has_history).
    pub(crate) const fn import_git(&self) -> Vec<String> {
        Vec::new()
    }

    /// Nobody looks here yet.
    pub(crate) const fn watch_aftermath(&self, _: &Host) {}

    /// Nothing: see [`watch_aftermath`](Self::watch_aftermath).
    pub(crate) const fn aftermath(&self) -> Vec<String> {
        Vec::new()
    }

    /// What the proxy refused since, where there is one.
    pub(crate) fn refused_hosts(&self, since: Instant) -> Vec<RefusedHost> {
        let proxy = self.proxy.as_ref();
        proxy.map_or_else(Vec::new, |(_, served)| served.refused_since(since))
    }

    /// What the kernel says that it denied in this session, in the last so long. The log may be late, and it may not be
    /// readable: then there is nothing, and nothing depends on it. Waits for the log.
    pub(crate) fn denials(&self, ran_for: Duration) -> Vec<String> {
        let collector = Collector::tagged(self.tag.as_str(), DENIALS);
        let Ok(lines) = SystemLog::default().last(ran_for, LOG_BYTES) else {
            return Vec::new();
        };
        let found = collect(&lines, &collector);
        let more = (found.more > 0).then(|| format!("the kernel denied {} more", found.more));
        found
            .denials
            .iter()
            .map(|ours| format!("the kernel denied: {ours}"))
            .chain(more)
            .collect()
    }

    /// Removes what the session had for itself. Its commands are ended by those who hold them.
    pub(crate) fn end(self) {
        // What cannot be removed stays in the user's own directory for temporary files.
        let _ = self.session_tmp.remove();
    }
}

fn admitted(
    policy: &ResolvedPolicy,
    mac: &MacHost,
    accepted: &AcceptedLosses,
) -> Result<(SeatbeltPlan, Enforcement), SetupFailure> {
    let lowered = Seatbelt
        .lower(policy, mac)
        .map_err(|error| refused(&error))?;
    lowered.admit(accepted).map_err(SetupFailure::too_weak)
}

fn launch(plan: &SeatbeltPlan, tag: &RunTag) -> Result<Launch, SetupFailure> {
    let text = tag.put_into(&plan.profile.text());
    Launch::new(&text, &plan.profile.parameters).map_err(|error| failure(&error))
}

fn refused(error: &PolicyError) -> SetupFailure {
    SetupFailure::new("resolving the policy", None, error.to_string())
}

/// A command behind `sandbox-exec`.
#[derive(Debug)]
pub(crate) struct ConfinedProcess {
    process: BareProcess,
    /// Where the helper says that the sandbox was entered.
    report: OwnedFd,
    name: String,
    ended: Option<Result<Ended, NoEnd>>,
}

impl ConfinedProcess {
    pub(in crate::os) fn status(&self) -> BorrowedFd<'_> {
        self.process.status()
    }

    pub(in crate::os) fn try_end(&mut self) -> Result<Option<Ended>, NoEnd> {
        if self.ended.is_none() {
            self.ended = self
                .process
                .try_end()?
                .map(|end| ended(end, staged::read(&self.report), &self.name));
        }
        self.ended.clone().transpose()
    }

    pub(in crate::os) fn signal(&self, signal: i32) {
        self.process.signal(signal);
    }

    pub(in crate::os) fn kill_tree(&mut self) {
        self.process.kill_tree();
    }
}
