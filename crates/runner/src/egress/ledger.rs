//! The record of a connection, and whose it was.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{self, AtomicU32};
use std::time::SystemTime;

use palisade_egress_proxy::ConnectionRecord;

use super::{Ledger, Outlet};
use crate::audit::{AuditRecord, AuditSink};

/// What connections are called in records.
const TOOL: &str = "network";

/// So many connections of a command are recorded, so that none pushes older records out.
const MOST_RECORDS: u32 = 1000;

/// Whose connection it was.
pub(crate) struct Whose<'a> {
    /// The call, if it is known for sure.
    pub(crate) call: &'a str,
    /// Where that runs, or where calls run otherwise.
    pub(crate) cwd: &'a Path,
    /// The calls that may have made it, if it is not known which. It may be none of them: something that an earlier one left
    /// running can have made it too.
    pub(crate) perhaps: Vec<String>,
}

/// Keeps a connection, the so manieth since the last command was started.
pub(crate) fn keep(
    sink: &dyn AuditSink,
    manieth: u32,
    whose: Whose<'_>,
    connection: &ConnectionRecord,
) {
    let record =
        AuditRecord::new(SystemTime::now().into(), whose.call, TOOL).with_command(&[], whose.cwd);
    match manieth.cmp(&MOST_RECORDS) {
        Ordering::Less => {
            let record = record.with_connection(connection);
            sink.record(&record.perhaps_by(whose.perhaps));
        }
        Ordering::Equal => sink.record(
            &record.with_refusal("no more connections are recorded before the next command"),
        ),
        Ordering::Greater => {}
    }
}

/// Records the connections of one call that has a sandbox for itself.
pub(crate) struct CallLedger {
    sink: Arc<dyn AuditSink>,
    call: String,
    cwd: PathBuf,
    recorded: AtomicU32,
}

impl CallLedger {
    pub(crate) fn new(sink: Arc<dyn AuditSink>, call: &str, cwd: &Path) -> Self {
        Self {
            sink,
            call: call.to_owned(),
            cwd: cwd.to_owned(),
            recorded: AtomicU32::new(0),
        }
    }
}

impl Ledger for CallLedger {
    fn ended(&self, _: Outlet, connection: &ConnectionRecord) {
        let before = self.recorded.fetch_update(
            atomic::Ordering::Relaxed,
            atomic::Ordering::Relaxed,
            |before| before.checked_add(1),
        );
        let whose = Whose {
            call: &self.call,
            cwd: &self.cwd,
            perhaps: Vec::new(),
        };
        let manieth = before.map_or(u32::MAX, |before| before.saturating_add(1));
        keep(self.sink.as_ref(), manieth, whose, connection);
    }
}
