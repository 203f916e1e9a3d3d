//! A host that can do less than this one: `palisade-conformance weaker OPTIONS -- COMMAND...`.
//!
//! It is made, not claimed: a filter that refuses what a weaker host would refuse is installed before the command starts,
//! and an older Landlock is answered for by a supervisor, which also refuses what that version does not know. The command
//! cannot tell the difference, and nothing in it knows that it is tested.

mod filter;
mod landlock;
mod sys;

use std::ffi::OsString;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitCode};

use anyhow::{Context as _, Result};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::options::Options;

/// What a host cannot do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "callers make these")]
pub struct Weakness {
    /// Whether it refuses namespaces.
    pub no_user_namespaces: bool,
    /// The Landlock that it has, if not this host's: 0 is none.
    pub landlock: Option<u32>,
}

impl Weakness {
    /// The words that make this host of the one that a command line would run on.
    #[must_use]
    pub fn words(self) -> Vec<OsString> {
        let mut words = vec![OsString::from("weaker")];
        if self.no_user_namespaces {
            words.push("--no-user-namespaces".into());
        }
        if let Some(abi) = self.landlock {
            words.extend(["--landlock".into(), abi.to_string().into()]);
        }
        words.push("--".into());
        words
    }
}

/// Runs the command on the weaker host.
///
/// # Errors
/// The options make no sense, or the host cannot be made.
pub fn main(arguments: impl Iterator<Item = OsString>) -> Result<ExitCode> {
    let options = Options::parse(arguments, &["--landlock"], &["--no-user-namespaces"])?;
    let landlock = options
        .last("--landlock")
        .map(|_| options.text("--landlock"));
    let weakness = Weakness {
        no_user_namespaces: options.has("--no-user-namespaces"),
        landlock: landlock
            .transpose()?
            .map(str::parse)
            .transpose()
            .context("--landlock")?,
    };
    let (program, rest) = options
        .rest
        .split_first()
        .context("-- COMMAND is missing")?;
    let mut command = Command::new(program);
    command.args(rest);
    rustix::thread::set_no_new_privs(true).context("no_new_privs")?;
    let filter = filter::program(weakness);
    match weakness.landlock {
        Some(abi @ 1..) => supervised(&filter, abi, command),
        None | Some(0) => {
            sys::install(&filter).context("the filter")?;
            Err(command.exec()).with_context(|| program.to_string_lossy().into_owned())
        }
    }
}

/// Starts the command from a thread that has the filter, and answers for Landlock until it has ended.
fn supervised(filter: &[libc::sock_filter], abi: u32, mut command: Command) -> Result<ExitCode> {
    let begin = move || -> Result<(_, Child)> {
        // A filter is its thread's alone; so this process can go on without it.
        let listener = sys::install_with_listener(filter).context("the filter")?;
        let child = command.spawn().context("the command")?;
        Ok((listener, child))
    };
    let started = std::thread::scope(|scope| scope.spawn(begin).join());
    let (listener, mut child) =
        started.map_err(|_| anyhow::anyhow!("the thread with the filter ended early"))??;
    let ended = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
    loop {
        let mut watched = [
            PollFd::new(&listener, PollFlags::IN),
            PollFd::new(&ended, PollFlags::IN),
        ];
        match poll(&mut watched, None) {
            Err(rustix::io::Errno::INTR) => continue,
            other => other?,
        };
        let [asked, over] = watched.map(|watched| watched.revents().contains(PollFlags::IN));
        if asked {
            sys::answer(&listener, |call| landlock::answer(abi, call))?;
        } else if over {
            break;
        }
    }
    let status = child.wait()?;
    let code = status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
    Ok(ExitCode::from(u8::try_from(code & 0xff).unwrap_or(u8::MAX)))
}
