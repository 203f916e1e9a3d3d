//! The session's own network, made while the mounts are made: it takes the kernel as long as all of them together.

use std::net::TcpListener;
use std::os::fd::{AsFd, OwnedFd};
use std::thread::JoinHandle;

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space};

use super::{During, Failed};
use crate::plan::{NetworkNamespace, PROXY};
use crate::step::Step;
use crate::sys::net::loopback_up;
use crate::sys::process::unshare;

/// A network that is being made.
pub(super) struct Network(Option<Making>);

struct Making {
    loopback: Loopback,
    thread: JoinHandle<Result<OwnedFd, Failed>>,
}

/// What a network of a session's own has from the start.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Loopback {
    Up,
    Down,
}

impl Loopback {
    /// `None` for the host's network.
    const fn of(network: NetworkNamespace) -> Option<Self> {
        match network {
            NetworkNamespace::Host => None,
            NetworkNamespace::OwnLoopback | NetworkNamespace::Proxied => Some(Self::Up),
            NetworkNamespace::Nothing => Some(Self::Down),
        }
    }
}

impl Network {
    /// Begins to make a network, in a thread that enters it first. Only namespaces are a thread's own; everything else of
    /// init is not touched.
    pub(super) fn begin(network: NetworkNamespace) -> Result<Self, Failed> {
        let Some(loopback) = Loopback::of(network) else {
            return Ok(Self(None));
        };
        let maker = std::thread::Builder::new().stack_size(64 * 1024);
        let thread = maker.spawn(move || make(loopback)).map_err(|error| {
            let errno = Errno::from_io_error(&error).unwrap_or(Errno::AGAIN);
            Failed::new(Step::Namespaces, errno)
        })?;
        Ok(Self(Some(Making { loopback, thread })))
    }

    /// Enters the network that a plan asks for: this one, once it is there, or another where it is none of the kind.
    /// Afterwards init has one thread again. Returns the socket that a proxy is to accept from, if the plan asks for one.
    pub(super) fn enter(self, wanted: NetworkNamespace) -> Result<Option<OwnedFd>, Failed> {
        let made = match self.0 {
            None => None,
            Some(Making { loopback, thread }) => {
                let made = thread.join();
                let made = made.map_err(|_| Failed::new(Step::Namespaces, Errno::CHILD))?;
                Some((loopback, made))
            }
        };
        let Some(loopback) = Loopback::of(wanted) else {
            return Ok(None);
        };
        match made {
            Some((kind, made)) if kind == loopback => {
                move_into_link_name_space(made?.as_fd(), Some(LinkNameSpaceType::Network))
                    .during(Step::Namespaces)?;
            }
            _ => change_into(loopback)?,
        }
        match wanted {
            NetworkNamespace::Proxied => listen().during(Step::Loopback).map(Some),
            NetworkNamespace::Host | NetworkNamespace::OwnLoopback | NetworkNamespace::Nothing => {
                Ok(None)
            }
        }
    }
}

/// Gives the calling thread a network of its own.
fn change_into(loopback: Loopback) -> Result<(), Failed> {
    unshare(UnshareFlags::NEWNET).during(Step::Namespaces)?;
    match loopback {
        Loopback::Up => loopback_up().during(Step::Loopback),
        Loopback::Down => Ok(()),
    }
}

fn make(loopback: Loopback) -> Result<OwnedFd, Failed> {
    change_into(loopback)?;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    open("/proc/thread-self/ns/net", flags, Mode::empty()).during(Step::Namespaces)
}

/// A socket belongs to the network that it was made in: whoever holds this one accepts from inside the session, wherever it
/// is itself. Commands do not get it, and cannot take its place: nobody shares the port.
fn listen() -> Result<OwnedFd, Errno> {
    TcpListener::bind(PROXY)
        .map(OwnedFd::from)
        .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}
