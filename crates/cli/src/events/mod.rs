//! The outcome for programs: JSON lines, version 1. `docs/events.schema.json` describes them.
//!
//! The last line of a run says how it ended, and is one of `end`, `refused` and `failed`, also where nothing was started.
//! A file is appended to, so that several runs can share one: the lines of a run have its `id` and are numbered.

mod bytes;
mod event;
mod sink;
#[cfg(unix)]
mod sys;

use std::ffi::OsStr;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use palisade::runner::audit::Timestamp;
use serde::Serialize;

pub(crate) use self::bytes::Bytes;
pub(crate) use self::event::{Ending, Event, Grant, Kept, Loss, Place, Written};
use self::sink::{Named, Sink};
use crate::complaint::Complaint;

/// The version of the form of events. Fields and types are only added; readers skip those that they do not know.
const VERSION: u32 = 1;

/// Who is told by events: nobody, or whoever reads a file or a descriptor. Clones are the same stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct Events(Option<Arc<Stream>>);

#[derive(Debug)]
struct Stream {
    id: String,
    /// What no command may write.
    named: Named,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    sink: Sink,
    seq: u64,
    over: bool,
    broken: Option<String>,
}

/// A line, as it is written.
#[derive(Debug, Serialize)]
struct Line<'a> {
    v: u32,
    id: &'a str,
    seq: u64,
    time: Timestamp,
    #[serde(flatten)]
    event: &'a Event,
}

impl Events {
    /// Opens what `--events` names, from a directory.
    ///
    /// # Errors
    /// It cannot be opened for writing.
    pub(crate) fn open(named: Option<&OsStr>, cwd: &Path) -> Result<Self, Complaint> {
        let Some(named) = named else {
            return Ok(Self(None));
        };
        let (sink, named_place) = sink::open(named, cwd).map_err(|why| {
            Complaint::usage(format!("--events {}: {why}", crate::say::shown(named))).help(
                "name a file outside of what the command writes, or an open descriptor as fd:N",
            )
        })?;
        let time = Timestamp::from(SystemTime::now()).millis();
        Ok(Self(Some(Arc::new(Stream {
            id: format!("{time:x}-{:x}", std::process::id()),
            named: named_place,
            state: Mutex::new(State {
                sink,
                seq: 0,
                over: false,
                broken: None,
            }),
        }))))
    }

    /// The file that events are written to, which no command may write.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.0.as_ref()?.named {
            Named::File(path) => Some(path),
            Named::Pipe(_) | Named::Nothing => None,
        }
    }

    /// The pipe that events are written to, which must be out of reach of every command.
    #[cfg(unix)]
    pub(crate) fn pipe(&self) -> Option<&Path> {
        match &self.0.as_ref()?.named {
            Named::Pipe(path) => Some(path),
            Named::File(_) | Named::Nothing => None,
        }
    }

    /// The same with an event that is only made if somebody is told.
    pub(crate) fn tell_of(&self, event: impl FnOnce() -> Event) {
        if self.0.is_some() {
            self.tell(&event());
        }
    }

    /// Writes an event. After the last one, none is written any more.
    pub(crate) fn tell(&self, event: &Event) {
        let Some(stream) = &self.0 else { return };
        let mut state = stream.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.over || state.broken.is_some() {
            return;
        }
        let line = Line {
            v: VERSION,
            id: &stream.id,
            seq: state.seq,
            time: Timestamp::from(SystemTime::now()),
            event,
        };
        state.seq += 1;
        state.over = event.is_last();
        let written = serde_json::to_vec(&line)
            .map_err(std::io::Error::from)
            .and_then(|mut line| {
                line.push(b'\n');
                state.sink.write(&line)
            });
        if let Err(error) = written {
            state.broken = Some(error.to_string());
        }
    }

    /// Why events are lost, if they are.
    pub(crate) fn broken(&self) -> Option<String> {
        let stream = self.0.as_ref()?;
        let state = stream.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.broken.clone()
    }
}
