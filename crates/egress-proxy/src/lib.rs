//! The network by host: a proxy for one sandboxed session, which reaches what a policy lists and nothing else.
//!
//! It takes a listening socket and serves whoever connects to it, on a thread of its own, until it is dropped. One port
//! speaks HTTP (`CONNECT` and plain requests) and SOCKS5. Where the socket was made is the caller's business: made in the
//! network namespace of a session, it is the only way out of it. `palisade-runner` serves it to every
//! session whose policy lists hosts.
//!
//! ```
//! use std::io::{Read as _, Write as _};
//! use std::net::{TcpListener, TcpStream};
//! use std::sync::{Arc, Mutex};
//!
//! use palisade_egress_proxy::{ConnectionRecord, Decision, Proxy, Refusal, Settings};
//! use palisade_policy::NetworkAllowlistEntry;
//!
//! let records = Arc::new(Mutex::new(Vec::new()));
//! let kept = Arc::clone(&records);
//! let settings = Settings::new([NetworkAllowlistEntry::https("docs.example.com")?])
//!     .with_observer(Arc::new(move |record: &ConnectionRecord| {
//!         kept.lock().unwrap().push(record.clone());
//!     }));
//! let proxy = Proxy::start(TcpListener::bind("127.0.0.1:0")?, settings)?;
//!
//! let mut client = TcpStream::connect(proxy.address())?;
//! client.write_all(b"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n")?;
//! client.shutdown(std::net::Shutdown::Write)?;
//! let mut answer = String::new();
//! client.read_to_string(&mut answer)?;
//! assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
//! drop(proxy);
//!
//! let records = records.lock().unwrap();
//! assert_eq!(records[0].decision, Decision::Refused { why: Refusal::NotListed });
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Terms
//!
//! - **Entry**: a host (or the subdomains of one) and a port that a policy opens. `palisade-policy` matches it.
//! - **Literal**: an address in the place of a name. It is reached only if an entry names it.
//! - **Pinned**: an address that was judged and is connected to; the name is not resolved again in between.
//! - **Opening**: what a client says first in a tunnel. It waits until it is known to be about the tunnel's own host.
//! - **Exchange**: one request, plain or in an opened tunnel, and its answer, over a connection of its own to the server.
//! - **Opened**: a tunnel whose TLS the proxy speaks itself, on both sides, to add a secret inside. That is for hosts that
//!   are named in an `Interception` and that a secret is bound to, with the feature `intercept`, on Linux.
//! - **Lease**: how long an approval holds. When it is over, what lives on it is closed.
//! - **Record**: what is told about a connection, or an exchange, when it has ended.
//!
//! # Non-goals
//!
//! - It does not look into TLS that is not opened. Whoever controls a server behind a listed name can pass on what is sent there, and a
//!   server for several hosts can be asked for another one inside TLS (domain fronting).
//! - It keeps nobody from connecting elsewhere: that is for the sandbox around the client.
//! - Secrets are added to plain HTTP requests, where anybody on the way can read them, and in opened tunnels; a server that
//!   repeats what it was sent repeats them too.
//! - UDP, HTTP/2 and upgrades without TLS or in opened tunnels, listening for others, caching and chaining to another proxy.

mod address;
mod approvals;
mod credential;
mod gate;
mod hooks;
#[cfg(all(feature = "intercept", target_os = "linux"))]
mod intercept;
mod lease;
mod limits;
mod proxy;
mod record;
mod refusal;
mod serve;
mod system;
pub mod wire;

pub use address::{AddressProblem, address_problem};
pub use credential::{Credential, CredentialError};
pub use gate::{Gate, Listing};
pub use hooks::{Answer, Approval, Approver, Connector, Later, Observer, Resolver};
#[cfg(all(feature = "intercept", target_os = "linux"))]
pub use intercept::{Interception, InterceptionError, Opener};
pub use lease::{Hold, Lease};
pub use limits::Limits;
pub use proxy::{Proxy, Settings};
pub use record::{ConnectionRecord, Decision, Ending, Spoken};
pub use refusal::Refusal;
pub use system::{SystemConnector, SystemResolver};
