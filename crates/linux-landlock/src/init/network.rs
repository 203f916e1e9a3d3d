//! The session's own network, made while the mounts are made: it takes the kernel as long as all of them together.

use std::net::TcpListener;
use std::os::fd::{AsFd, OwnedFd};
use std::thread::JoinHandle;

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space};

use super::{During, Failed};
use crate::plan::{NetworkNamespace, PROXY, Plan};
use crate::step::Step;
use crate::sys::net::loopback_up;
use crate::sys::process::unshare;

/// A network that is being made.
pub(super) struct Network(Option<JoinHandle<Result<Made, Failed>>>);

/// A network that was made: the namespace, and what listens in it if the plan wants a proxy there.
struct Made {
    namespace: OwnedFd,
    listener: Option<OwnedFd>,
}

impl Network {
    /// Begins to make the network that a plan asks for, in a thread that enters it first. Only namespaces are a
    /// thread's own; everything else of init is not touched.
    pub(super) fn begin(plan: &Plan) -> Result<Self, Failed> {
        let network = plan.network;
        if network == NetworkNamespace::Host {
            return Ok(Self(None));
        }
        let maker = std::thread::Builder::new().stack_size(64 * 1024);
        let thread = maker.spawn(move || make(network));
        thread.map(|thread| Self(Some(thread))).map_err(|error| {
            Failed::new(
                Step::Namespaces,
                Errno::from_io_error(&error).unwrap_or(Errno::AGAIN),
            )
        })
    }

    /// Waits for the network and enters it. Afterwards init has one thread again. Returns the socket that a proxy is
    /// to accept from, if the plan asks for one.
    pub(super) fn enter(self) -> Result<Option<OwnedFd>, Failed> {
        let Some(thread) = self.0 else {
            return Ok(None);
        };
        let made = thread
            .join()
            .map_err(|_| Failed::new(Step::Namespaces, Errno::CHILD))??;
        move_into_link_name_space(made.namespace.as_fd(), Some(LinkNameSpaceType::Network))
            .during(Step::Namespaces)?;
        Ok(made.listener)
    }
}

fn make(network: NetworkNamespace) -> Result<Made, Failed> {
    unshare(UnshareFlags::NEWNET).during(Step::Namespaces)?;
    if network != NetworkNamespace::Nothing {
        loopback_up().during(Step::Loopback)?;
    }
    let listener = match network {
        NetworkNamespace::Proxied => Some(listen().during(Step::Loopback)?),
        NetworkNamespace::Host | NetworkNamespace::OwnLoopback | NetworkNamespace::Nothing => None,
    };
    let namespace = open(
        "/proc/thread-self/ns/net",
        OFlags::RDONLY | OFlags::CLOEXEC,
        Mode::empty(),
    )
    .during(Step::Namespaces)?;
    Ok(Made {
        namespace,
        listener,
    })
}

/// A socket keeps the network that it was made in: whoever holds this one accepts from inside the session, wherever it
/// is itself. Commands do not get it, and cannot take its place: nobody shares the port.
fn listen() -> Result<OwnedFd, Errno> {
    TcpListener::bind(PROXY)
        .map(OwnedFd::from)
        .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}
