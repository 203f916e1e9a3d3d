//! Somebody who answers on a socket: one connection for each question, one line there and one line back.

use std::fs;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use palisade::runner::approve::{Prompt, Prompter};
use palisade::runner::exec_policy::ReviewDecision;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, connect, socket};

use super::exchange::{Until, exchange};
use super::{Place, guard, wire};
use crate::complaint::Complaint;
use crate::ground::Ground;
use crate::say::shown;

const FLAG: &str = "--approval-socket";

/// Who answers in the place of a person.
///
/// # Errors
/// There is no such socket, it belongs to somebody else, or a command could take its place or speak to it.
pub(super) fn answers(
    path: &Path,
    place: Place,
    patience: Duration,
    ground: &Ground,
) -> Result<Box<dyn Prompter>, Complaint> {
    let path = ground.cwd.join(path);
    let refused = |why: String| Complaint::refused(format!("{FLAG} {}: {why}", shown(&path)));
    // No link on the way there can lead elsewhere later.
    let path = fs::canonicalize(&path).map_err(|error| refused(error.to_string()))?;
    let found = fs::symlink_metadata(&path).map_err(|error| refused(error.to_string()))?;
    if !found.file_type().is_socket() {
        return Err(refused("it is not a socket".to_owned()));
    }
    if !is_trusted(found.uid()) {
        return Err(refused(
            "it belongs to somebody else, who would answer in your place".to_owned(),
        ));
    }
    guard::refuse_writable(FLAG, &path, ground)?;
    guard::refuse_reachable(FLAG, &path, ground)?;
    let answering = Answering {
        path,
        place,
        patience,
    };
    Ok(Box::new(move |prompt: &Prompt| answering.answer(prompt)))
}

fn is_trusted(uid: u32) -> bool {
    uid == 0 || uid == rustix::process::geteuid().as_raw()
}

#[derive(Debug)]
struct Answering {
    path: PathBuf,
    place: Place,
    patience: Duration,
}

impl Answering {
    fn answer(&self, prompt: &Prompt) -> ReviewDecision {
        match self.ask(prompt) {
            Ok(answer) => answer,
            Err(why) => wire::no(&self.path.to_string_lossy(), why),
        }
    }

    fn ask(&self, prompt: &Prompt) -> Result<ReviewDecision, String> {
        let question =
            wire::question(prompt, &self.place).ok_or("the question cannot be written")?;
        let deadline = Instant::now() + self.patience;
        let stream = self.connect().map_err(|errno| errno.to_string())?;
        if !is_peer_trusted(&stream) {
            return Err("somebody else listens there".to_owned());
        }
        let text = exchange(
            Some(stream.as_fd()),
            stream.as_fd(),
            &question,
            Until::Line,
            deadline,
        )
        .map_err(|failed| failed.to_string())?;
        wire::answer(&text, prompt, &self.place).map_err(str::to_owned)
    }

    fn connect(&self) -> rustix::io::Result<OwnedFd> {
        let stream = socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
        rustix::io::fcntl_setfd(&stream, rustix::io::FdFlags::CLOEXEC)?;
        // Whoever does not accept is not waited for either.
        rustix::io::ioctl_fionbio(&stream, true)?;
        connect(&stream, &SocketAddrUnix::new(&self.path)?)?;
        Ok(stream)
    }
}

/// Whether the one who listens is the user or root.
#[cfg(target_os = "linux")]
fn is_peer_trusted(stream: &OwnedFd) -> bool {
    let peer = rustix::net::sockopt::socket_peercred(stream);
    peer.is_ok_and(|peer| is_trusted(peer.uid.as_raw()))
}

/// The owner of the socket has to do.
#[cfg(not(target_os = "linux"))]
fn is_peer_trusted(_: &OwnedFd) -> bool {
    true
}
