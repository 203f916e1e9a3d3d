//! What is said about each connection when it has ended.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::hooks::{Approval, Observer};
use crate::lease::Lease;
use crate::refusal::Refusal;

/// What a client spoke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Spoken {
    /// A tunnel by HTTP CONNECT.
    Connect,
    /// Plain HTTP; one record for each request.
    Http,
    /// A tunnel by SOCKS5.
    Socks5,
    /// A tunnel whose TLS is opened; one record for each request, and one if there is none.
    OpenedTls,
    /// Not known, or nothing that is served.
    Unknown,
}

impl fmt::Display for Spoken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "connect",
            Self::Http => "http",
            Self::Socks5 => "socks5",
            Self::OpenedTls => "opened-tls",
            Self::Unknown => "unknown",
        })
    }
}

/// What was decided, and by what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "decision", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Decision {
    /// An entry of the policy opens it.
    Listed {
        /// The entry, as it is written in a policy.
        entry: String,
    },
    /// Somebody was asked and agreed.
    Approved {
        /// For how long.
        approval: Approval,
    },
    /// It was refused.
    Refused {
        /// Why.
        why: Refusal,
    },
    /// The client was gone before anything was to be decided.
    None,
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Ending {
    /// Both sides had said all.
    Complete,
    /// It was refused.
    Refused,
    /// The name has no address, or nobody said which.
    Unresolved,
    /// No address of the host accepted a connection.
    Unreachable,
    /// The client broke it off.
    ClientGone,
    /// The server broke it off.
    ServerGone,
    /// The server's answer could not be forwarded.
    BadAnswer,
    /// Nothing moved for too long.
    Idle,
    /// The approval that it lived on is over: its time is up, its run has ended, or it was taken back.
    ApprovalOver,
    /// The proxy was stopped.
    Stopped,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Complete => "complete",
            Self::Refused => "refused",
            Self::Unresolved => "unresolved",
            Self::Unreachable => "unreachable",
            Self::ClientGone => "client-gone",
            Self::ServerGone => "server-gone",
            Self::BadAnswer => "bad-answer",
            Self::Idle => "idle",
            Self::ApprovalOver => "approval-over",
            Self::Stopped => "stopped",
        })
    }
}

/// One connection, or one request of plain HTTP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ConnectionRecord {
    /// What the client spoke.
    pub spoken: Spoken,
    /// The host as it was asked for, if that far; what does not print is escaped.
    pub host: Option<String>,
    /// The port, likewise.
    pub port: Option<u16>,
    /// What was decided.
    #[serde(flatten)]
    pub decision: Decision,
    /// The address that was connected to.
    pub address: Option<SocketAddr>,
    /// Bytes from the client to the server.
    pub sent: u64,
    /// Bytes from the server to the client.
    pub received: u64,
    /// How it ended.
    pub ending: Ending,
    /// How long it took.
    pub duration: Duration,
    /// Whether a secret was added.
    pub credential: bool,
}

/// What went through, counted where it goes through.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    sent: AtomicU64,
    received: AtomicU64,
}

impl Meter {
    pub(crate) fn sent(&self, bytes: usize) {
        add(&self.sent, bytes);
    }

    pub(crate) fn received(&self, bytes: usize) {
        add(&self.received, bytes);
    }

    /// A number that changes whenever something moves.
    pub(crate) fn moved(&self) -> u64 {
        let received = self.received.load(Ordering::Relaxed);
        self.sent.load(Ordering::Relaxed).wrapping_add(received)
    }
}

fn add(counter: &AtomicU64, bytes: usize) {
    counter.fetch_add(bytes.try_into().unwrap_or(u64::MAX), Ordering::Relaxed);
}

/// A record in the making. However its connection ends, it is told.
pub(crate) struct Account {
    observer: Arc<dyn Observer>,
    started: Instant,
    pub(crate) meter: Arc<Meter>,
    /// Where it is allowed for a time.
    pub(crate) lease: Option<Lease>,
    pub(crate) record: ConnectionRecord,
}

impl Account {
    pub(crate) fn open(observer: &Arc<dyn Observer>, spoken: Spoken) -> Self {
        Self {
            observer: Arc::clone(observer),
            started: Instant::now(),
            meter: Arc::default(),
            lease: None,
            record: ConnectionRecord {
                spoken,
                host: None,
                port: None,
                decision: Decision::None,
                address: None,
                sent: 0,
                received: 0,
                ending: Ending::Stopped,
                duration: Duration::ZERO,
                credential: false,
            },
        }
    }

    /// Names whom the client wants to reach, however oddly it says so.
    pub(crate) fn target(&mut self, host: &str, port: u16) {
        let host: String = host.chars().take(256).collect();
        self.record.host = Some(host.escape_default().to_string());
        self.record.port = Some(port);
    }

    pub(crate) fn refused(&mut self, why: Refusal) {
        self.record.decision = Decision::Refused { why };
        self.record.ending = Ending::Refused;
    }

    pub(crate) fn ended(&mut self, ending: Ending) {
        self.record.ending = ending;
    }

    /// Bytes that the client got from the server so far.
    pub(crate) fn answered(&self) -> u64 {
        self.meter.received.load(Ordering::Relaxed)
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        self.record.sent = self.meter.sent.load(Ordering::Relaxed);
        self.record.received = self.meter.received.load(Ordering::Relaxed);
        self.record.duration = self.started.elapsed();
        self.observer.ended(&self.record);
    }
}
