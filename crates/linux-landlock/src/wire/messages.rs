//! Requests of the caller and what comes back.

use std::ffi::OsString;

use super::codec::{Malformed, Reader, Wire, wire_struct};
use crate::marker::Marker;
use crate::plan::Ruleset;
use crate::seccomp::Filter;
use crate::step::Step;

/// What the caller asks of a session.
#[derive(Debug)]
pub(crate) enum Request {
    /// Start a command. With it travel four descriptors: where its status is reported, and its 0, 1 and 2.
    Command(Box<CommandRequest>),
    /// Send a signal to the process group of a command.
    Signal { id: u32, signal: i32 },
    /// End everything that belongs to no other command than this one.
    KillTree { id: u32 },
}

/// A command to start.
#[derive(Debug)]
pub(crate) struct CommandRequest {
    pub(crate) id: u32,
    pub(crate) argv: Vec<OsString>,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) cwd: OsString,
    /// The file to start in place of a search for the first argument.
    pub(crate) program: Option<ProgramRequest>,
    /// What the command's processes are known by, in their environment.
    pub(crate) marker: Option<Marker>,
    /// Whether the first of its descriptors that is a terminal becomes the command's own.
    pub(crate) terminal: bool,
    /// Whether the session ends with it, if it leaves nothing running.
    pub(crate) last: bool,
    /// A further Landlock layer, which can only take away.
    pub(crate) narrower_rules: Option<Ruleset>,
    /// A further filter, which can only take away.
    pub(crate) narrower_filter: Option<Filter>,
}

wire_struct!(CommandRequest {
    id,
    argv,
    env,
    cwd,
    program,
    marker,
    terminal,
    last,
    narrower_rules,
    narrower_filter
});

/// A file that was judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProgramRequest {
    pub(crate) path: OsString,
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

wire_struct!(ProgramRequest {
    path,
    device,
    inode
});

impl Wire for Request {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Command(command) => {
                0_u8.put(out);
                command.put(out);
            }
            Self::Signal { id, signal } => {
                1_u8.put(out);
                id.put(out);
                signal.put(out);
            }
            Self::KillTree { id } => {
                2_u8.put(out);
                id.put(out);
            }
        }
    }

    fn take(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        match u8::take(reader)? {
            0 => CommandRequest::take(reader).map(|command| Self::Command(Box::new(command))),
            1 => Ok(Self::Signal {
                id: Wire::take(reader)?,
                signal: Wire::take(reader)?,
            }),
            2 => Ok(Self::KillTree {
                id: Wire::take(reader)?,
            }),
            _ => Err(Malformed),
        }
    }
}

/// A step that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) step: Step,
    pub(crate) errno: i32,
    pub(crate) path: Option<OsString>,
}

impl Wire for Failure {
    fn put(&self, out: &mut Vec<u8>) {
        self.step.code().put(out);
        self.errno.put(out);
        self.path.put(out);
    }

    fn take(reader: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            step: Step::from_code(u16::take(reader)?).ok_or(Malformed)?,
            errno: Wire::take(reader)?,
            path: Wire::take(reader)?,
        })
    }
}

/// The helper's answer to the plan. With success travel two descriptors for each private git directory: first the
/// directories, then what lets the caller refresh their file systems, in the same order; and at last, where the plan has a
/// proxy, the socket that it listens on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SetupReply {
    pub(crate) failure: Option<Failure>,
    /// The private temporary directory of the landlock tier.
    pub(crate) tmpdir: Option<OsString>,
}

wire_struct!(SetupReply { failure, tmpdir });

/// The size of every record on a status pipe: small enough that the kernel writes it whole.
pub(crate) const STATUS_RECORD: usize = 40;

/// What happened to a command. Fixed size, so that a child between fork and exec can write one without allocating.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// It has a process, with this id in its namespace.
    Started { pid: i32 },
    /// A step before exec failed.
    Failed { step: Step, errno: i32 },
    /// It ended.
    Exited(Ended),
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    /// As from `waitpid`.
    pub(crate) status: i32,
    /// Which limit ended it: 0 none, 1 memory, 2 processes.
    pub(crate) limit: u32,
    pub(crate) user_micros: u64,
    pub(crate) system_micros: u64,
    pub(crate) max_rss_kib: u64,
}

impl Record {
    pub(crate) fn to_array(self) -> [u8; STATUS_RECORD] {
        let (tag, a, b, c, d, e) = match self {
            Self::Started { pid } => (1_u32, pid, 0, 0, 0, 0),
            Self::Failed { step, errno } => (2, i32::from(step.code()), errno, 0, 0, 0),
            Self::Exited(Ended {
                status,
                limit,
                user_micros,
                system_micros,
                max_rss_kib,
            }) => (
                3,
                status,
                limit.cast_signed(),
                user_micros,
                system_micros,
                max_rss_kib,
            ),
        };
        let mut record = [0; STATUS_RECORD];
        let parts: [&[u8]; 6] = [
            &tag.to_le_bytes(),
            &a.to_le_bytes(),
            &b.to_le_bytes(),
            &c.to_le_bytes(),
            &d.to_le_bytes(),
            &e.to_le_bytes(),
        ];
        for (slot, byte) in record.iter_mut().zip(parts.into_iter().flatten()) {
            *slot = *byte;
        }
        record
    }

    pub(crate) fn from_array(record: &[u8; STATUS_RECORD]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(record);
        let tag = u32::take(&mut reader)?;
        let a = i32::take(&mut reader)?;
        let b = i32::take(&mut reader)?;
        let (c, d, e) = (
            u64::take(&mut reader)?,
            u64::take(&mut reader)?,
            u64::take(&mut reader)?,
        );
        match tag {
            1 => Ok(Self::Started { pid: a }),
            2 => {
                let step = u16::try_from(a)
                    .ok()
                    .and_then(Step::from_code)
                    .ok_or(Malformed)?;
                Ok(Self::Failed { step, errno: b })
            }
            3 => Ok(Self::Exited(Ended {
                status: a,
                limit: b.cast_unsigned(),
                user_micros: c,
                system_micros: d,
                max_rss_kib: e,
            })),
            _ => Err(Malformed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_survive_the_pipe() {
        let ended = Ended {
            status: 139,
            limit: 1,
            user_micros: 7,
            system_micros: u64::MAX,
            max_rss_kib: 3,
        };
        for record in [
            Record::Started { pid: 4 },
            Record::Failed {
                step: Step::Canary,
                errno: 2,
            },
            Record::Exited(ended),
        ] {
            assert_eq!(Record::from_array(&record.to_array()), Ok(record));
        }
        assert_eq!(Record::from_array(&[9; STATUS_RECORD]), Err(Malformed));
    }
}
