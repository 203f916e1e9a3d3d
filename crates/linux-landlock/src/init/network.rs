//! The session's own network, made while the mounts are made: it takes the kernel as long as all of them together.

use std::os::fd::{AsFd, OwnedFd};
use std::thread::JoinHandle;

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space};

use super::{During, Failed};
use crate::plan::{NetworkNamespace, Plan};
use crate::step::Step;
use crate::sys::net::loopback_up;
use crate::sys::process::unshare;

/// A network that is being made.
pub(super) struct Network(Option<JoinHandle<Result<OwnedFd, Failed>>>);

impl Network {
    /// Begins to make the network that a plan asks for, in a thread that enters it first. Only namespaces are a
    /// thread's own; everything else of init is not touched.
    pub(super) fn begin(plan: &Plan) -> Result<Self, Failed> {
        let loopback = match plan.network {
            NetworkNamespace::Host => return Ok(Self(None)),
            NetworkNamespace::OwnLoopback => true,
            NetworkNamespace::Nothing => false,
        };
        let maker = std::thread::Builder::new().stack_size(64 * 1024);
        let thread = maker.spawn(move || make(loopback));
        thread.map(|thread| Self(Some(thread))).map_err(|error| {
            Failed::new(
                Step::Namespaces,
                Errno::from_io_error(&error).unwrap_or(Errno::AGAIN),
            )
        })
    }

    /// Waits for the network and enters it. Afterwards init has one thread again.
    pub(super) fn enter(self) -> Result<(), Failed> {
        let Some(thread) = self.0 else { return Ok(()) };
        let network = thread
            .join()
            .map_err(|_| Failed::new(Step::Namespaces, Errno::CHILD))??;
        move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network))
            .during(Step::Namespaces)
    }
}

fn make(loopback: bool) -> Result<OwnedFd, Failed> {
    unshare(UnshareFlags::NEWNET).during(Step::Namespaces)?;
    if loopback {
        loopback_up().during(Step::Loopback)?;
    }
    open(
        "/proc/thread-self/ns/net",
        OFlags::RDONLY | OFlags::CLOEXEC,
        Mode::empty(),
    )
    .during(Step::Namespaces)
}
