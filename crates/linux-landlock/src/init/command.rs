//! From a request to exec. Everything is prepared before the fork; after it there are only system calls.

use std::ffi::{CStr, CString, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use palisade_policy::AbsolutePath;
use rustix::fs::{Access, CWD, Mode, OFlags, access, openat, stat};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, chdir, getrlimit, setrlimit, setsid};
use rustix::thread::set_no_new_privs;

use super::{Failed, privileges, rules};
use crate::marker::Marker;
use crate::plan::{EnvValue, LimitMechanism, Limits, Plan, Tier};
use crate::seccomp::Instruction;
use crate::step::Step;
use crate::sys::process::{ExecStrings, close_on_exec_from, exec};
use crate::sys::{landlock, seccomp, signals};
use crate::wire::CommandRequest;

/// A command's strings, ready for exec.
pub(crate) struct PreparedExec {
    /// Where the program may be, in the order of the command's own search path.
    candidates: Vec<CString>,
    /// What the only candidate must be: its device and inode number.
    identity: Option<(u64, u64)>,
    argv: ExecStrings,
    env: ExecStrings,
    cwd: CString,
    terminal: bool,
    narrower_ruleset: Option<OwnedFd>,
    narrower_filter: Vec<Instruction>,
}

/// Where programs are looked for if the command has no search path.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

impl PreparedExec {
    pub(crate) fn new(request: CommandRequest, given: &[Given]) -> Result<Self, Failed> {
        let bad = || Failed::new(Step::Request, Errno::INVAL);
        let text = |string: OsString| CString::new(string.into_vec()).map_err(|_| bad());
        let mut env = request.env;
        env.retain(|(name, _)| {
            !given
                .iter()
                .any(|given| !given.yields && given.name == *name)
        });
        for given in given {
            if !env.iter().any(|(name, _)| *name == given.name) {
                env.push((given.name.clone(), given.value.clone()));
            }
        }
        if let Some(marker) = &request.marker {
            env.retain(|(name, _)| name != Marker::VARIABLE);
            env.push((Marker::VARIABLE.into(), marker.to_string().into()));
        }
        if env
            .iter()
            .any(|(name, _)| name.is_empty() || name.as_bytes().contains(&b'='))
        {
            return Err(bad());
        }
        let program = request
            .argv
            .first()
            .filter(|program| !program.is_empty())
            .ok_or_else(bad)?;
        let identity = request
            .program
            .as_ref()
            .map(|judged| (judged.device, judged.inode));
        let candidates = match request.program {
            Some(judged) if judged.path.as_bytes().starts_with(b"/") => vec![judged.path],
            Some(_) => return Err(bad()),
            None => candidates(program, &env),
        };
        let candidates = candidates.into_iter().map(text).collect::<Result<_, _>>()?;
        let pair = |(name, value): (OsString, OsString)| {
            let mut both = name;
            both.push("=");
            both.push(value);
            text(both)
        };
        let narrower_ruleset = request
            .narrower_rules
            .as_ref()
            .map(rules::build)
            .transpose()?;
        Ok(Self {
            candidates,
            identity,
            env: ExecStrings::new(env.into_iter().map(pair).collect::<Result<_, _>>()?),
            argv: ExecStrings::new(
                request
                    .argv
                    .into_iter()
                    .map(text)
                    .collect::<Result<_, _>>()?,
            ),
            cwd: text(request.cwd)?,
            terminal: request.terminal,
            narrower_ruleset,
            narrower_filter: request
                .narrower_filter
                .map_or_else(Vec::new, |filter| filter.instructions().to_vec()),
        })
    }
}

fn candidates(program: &OsString, env: &[(OsString, OsString)]) -> Vec<OsString> {
    if program.as_bytes().contains(&b'/') {
        return vec![program.clone()];
    }
    let path = env
        .iter()
        .find(|(name, _)| name == "PATH")
        .map_or(DEFAULT_PATH.as_bytes(), |(_, path)| path.as_bytes());
    path.split(|byte| *byte == b':')
        .map(|directory| {
            let mut candidate = if directory.is_empty() {
                b".".to_vec()
            } else {
                directory.to_vec()
            };
            candidate.push(b'/');
            candidate.extend_from_slice(program.as_bytes());
            OsString::from_vec(candidate)
        })
        .collect()
}

/// A variable that a session gives to every command.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    name: OsString,
    value: OsString,
    /// Whether one of the command's own takes its place.
    yields: bool,
}

/// The variables that a plan gives to every command.
pub(super) fn environment(plan: &Plan, tmpdir: Option<&AbsolutePath>) -> Vec<Given> {
    let tmp = tmpdir.map_or_else(
        || OsString::from("/tmp"),
        |path| path.as_path().as_os_str().to_owned(),
    );
    let value = |value: &EnvValue| match value {
        EnvValue::Literal(text) | EnvValue::Unset(text) => OsString::from(text),
        EnvValue::InTmp(below) if below.is_empty() => tmp.clone(),
        EnvValue::InTmp(below) => {
            let mut path = tmp.clone();
            path.push("/");
            path.push(below);
            path
        }
    };
    plan.environment
        .iter()
        .map(|(name, text)| Given {
            name: OsString::from(name),
            value: value(text),
            yields: matches!(text, EnvValue::Unset(_)),
        })
        .collect()
}

/// What every command of a session goes through, prepared once.
#[derive(Debug)]
pub(crate) struct ChildSetup {
    tier: Tier,
    ruleset: Option<OwnedFd>,
    filter: Vec<Instruction>,
    limits: Vec<(Resource, Rlimit)>,
    canaries: Vec<CString>,
    /// Whether the child gives up its privileges by itself; in a session init has done so for all.
    renounces: bool,
}

impl ChildSetup {
    /// For commands whose parent has privileges of its own.
    pub(crate) fn renouncing(plan: &Plan, ruleset: Option<OwnedFd>) -> Self {
        Self {
            renounces: true,
            ..Self::new(plan, ruleset)
        }
    }

    pub(crate) fn new(plan: &Plan, ruleset: Option<OwnedFd>) -> Self {
        let canary = |path: &AbsolutePath| CString::new(path.as_path().as_os_str().as_bytes()).ok();
        Self {
            tier: plan.tier,
            ruleset,
            filter: plan.filter.instructions().to_vec(),
            limits: rlimits(&plan.limits),
            canaries: chosen_canaries(plan).iter().filter_map(canary).collect(),
            renounces: false,
        }
    }

    /// Turns this process into the command; returns only if a step fails. System calls only: nothing allocates, locks
    /// or panics here.
    pub(crate) fn become_command(
        &self,
        command: &PreparedExec,
        stdio: [BorrowedFd<'_>; 3],
    ) -> (Step, Errno) {
        match self.restrict(command, stdio) {
            Err(failed) => failed,
            Ok(()) => {
                let mut last = Errno::NOENT;
                for candidate in &command.candidates {
                    if let Some(judged) = command.identity
                        && let Err(failed) = is_still(candidate, judged)
                    {
                        return failed;
                    }
                    match exec(candidate, &command.argv, &command.env) {
                        Errno::NOENT | Errno::NOTDIR => {}
                        // Another directory may have one that can be run; if none has, this is the better answer.
                        errno @ Errno::ACCESS => last = errno,
                        errno => return (Step::Exec, errno),
                    }
                }
                (Step::Exec, last)
            }
        }
    }

    fn restrict(
        &self,
        command: &PreparedExec,
        stdio: [BorrowedFd<'_>; 3],
    ) -> Result<(), (Step, Errno)> {
        let during = |step: Step| move |errno: Errno| (step, errno);
        signals::reset_for_exec().map_err(during(Step::ProcessSession))?;
        setsid().map_err(during(Step::ProcessSession))?;
        let [stdin, stdout, stderr] = stdio;
        rustix::stdio::dup2_stdin(stdin).map_err(during(Step::Stdio))?;
        rustix::stdio::dup2_stdout(stdout).map_err(during(Step::Stdio))?;
        rustix::stdio::dup2_stderr(stderr).map_err(during(Step::Stdio))?;
        if command.terminal {
            // The first of the three that is one. Of those that are not, the kernel says so.
            let taken = [
                rustix::stdio::stdin(),
                rustix::stdio::stdout(),
                rustix::stdio::stderr(),
            ]
            .into_iter()
            .map(rustix::process::ioctl_tiocsctty)
            .find(|taken| *taken != Err(Errno::NOTTY));
            taken
                .unwrap_or(Err(Errno::NOTTY))
                .map_err(during(Step::Terminal))?;
        }
        close_on_exec_from(3).map_err(during(Step::Descriptors))?;
        for (resource, limit) in &self.limits {
            setrlimit(*resource, *limit).map_err(during(Step::Limits))?;
        }
        chdir(command.cwd.as_c_str()).map_err(during(Step::WorkingDirectory))?;
        if self.renounces {
            privileges::drop_capabilities().map_err(during(Step::Capabilities))?;
            set_no_new_privs(true).map_err(during(Step::NoNewPrivileges))?;
        }
        for ruleset in [&self.ruleset, &command.narrower_ruleset]
            .into_iter()
            .flatten()
        {
            landlock::restrict_self(ruleset.as_fd()).map_err(during(Step::Landlock))?;
        }
        for canary in &self.canaries {
            self.check_canary(canary).map_err(during(Step::Canary))?;
        }
        // The narrower one first: the session's own denies only what setting up needs, so it does not stand in the way
        // of the other, which may deny anything.
        if !command.narrower_filter.is_empty() {
            seccomp::install(&command.narrower_filter).map_err(during(Step::Filter))?;
        }
        // Never skipped: the kernel refuses an empty program, and then so do we.
        seccomp::install(&self.filter).map_err(during(Step::Filter))?;
        Ok(())
    }

    /// A file without a name, made in a directory outside: it must be refused, and by what we rely on. Were it not, it
    /// would leave nothing behind.
    fn check_canary(&self, directory: &CString) -> Result<(), Errno> {
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        match (
            openat(CWD, directory.as_c_str(), flags, Mode::from(0o600)),
            self.tier,
        ) {
            (Ok(_), _) => Err(Errno::NOTRECOVERABLE),
            (Err(Errno::ROFS), Tier::Full) => Ok(()),
            (Err(Errno::NOENT | Errno::NOTDIR), _) => Ok(()),
            (Err(errno), Tier::Full) => Err(errno),
            (Err(_), Tier::Landlock) => Ok(()),
        }
    }
}

/// Whether a file is the one that was judged. What cannot be seen cannot be started either.
fn is_still(program: &CStr, judged: (u64, u64)) -> Result<(), (Step, Errno)> {
    let now = stat(program).map_err(|errno| (Step::Exec, errno))?;
    match (now.st_dev, now.st_ino) == judged {
        true => Ok(()),
        false => Err((Step::ProgramChanged, Errno::STALE)),
    }
}

/// The canaries that are tried. Without namespaces one is enough, and it costs more there: the one that only Landlock
/// keeps from being written, if there is one.
fn chosen_canaries(plan: &Plan) -> &[AbsolutePath] {
    let all = plan.canaries.as_slice();
    match plan.tier {
        Tier::Full => all,
        Tier::Landlock => {
            let writable = |path: &AbsolutePath| access(path.as_path(), Access::WRITE_OK).is_ok();
            let chosen = all.iter().position(writable).unwrap_or(0);
            all.get(chosen..=chosen).unwrap_or_default()
        }
    }
}

fn rlimits(limits: &Limits) -> Vec<(Resource, Rlimit)> {
    let mut all = Vec::new();
    let mut set = |resource, soft: u64, hard: u64| {
        // A limit that is already tighter stays; raising it would be refused.
        let inherited = getrlimit(resource);
        let tighter =
            |asked: u64, bound: Option<u64>| Some(bound.map_or(asked, |bound| bound.min(asked)));
        let limit = Rlimit {
            current: tighter(soft, inherited.maximum),
            maximum: tighter(hard, inherited.maximum),
        };
        all.push((resource, limit));
    };
    if limits.cpu_seconds > 0 {
        // A second apart: at the first the kernel sends a signal that says why, at the other the one that none survives.
        let grace = limits.cpu_seconds.saturating_add(1);
        set(Resource::Cpu, limits.cpu_seconds, grace);
    }
    if limits.file_size > 0 {
        set(Resource::Fsize, limits.file_size, limits.file_size);
    }
    if let Some((pids, LimitMechanism::Rlimit)) = limits.pids {
        // Init counts too.
        let count = u64::from(pids).saturating_add(1);
        set(Resource::Nproc, count, count);
    }
    // One byte, not none: the kernel does not heed 0 where cores are piped to a program.
    set(Resource::Core, 1, 1);
    all
}
