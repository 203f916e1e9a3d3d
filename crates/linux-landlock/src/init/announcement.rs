//! How those who set a session up hear that what it stands on has been made.

use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};

use super::{During, Failed};
use crate::channel::retry;
use crate::plan::Plan;
use crate::step::Step;

/// Where it is heard.
pub(super) struct Announcement(OwnedFd);

/// What it is said with.
pub(super) struct Voice(OwnedFd);

/// What could not be made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unmade {
    errno: Errno,
    /// Which placeholder it is about.
    placeholder: Option<u32>,
}

impl Unmade {
    pub(super) const fn at(placeholder: u32, errno: Errno) -> Self {
        Self {
            errno,
            placeholder: Some(placeholder),
        }
    }

    /// The failure that this is, of a plan.
    pub(super) fn of(self, plan: &Plan) -> Failed {
        let index = self
            .placeholder
            .and_then(|index| usize::try_from(index).ok());
        match index.and_then(|index| plan.placeholders.get(index)) {
            Some(path) => Failed::at(Step::Janitor, path, self.errno),
            None => Failed::new(Step::Janitor, self.errno),
        }
    }
}

impl From<Errno> for Unmade {
    fn from(errno: Errno) -> Self {
        Self {
            errno,
            placeholder: None,
        }
    }
}

/// Two numbers: 0 or an error, and which placeholder it is about.
const RECORD: usize = 8;
const NONE: u32 = u32::MAX;

impl Announcement {
    pub(super) fn new() -> Result<(Self, Voice), Failed> {
        let (hears, says) = pipe_with(PipeFlags::CLOEXEC).during(Step::Janitor)?;
        Ok((Self(hears), Voice(says)))
    }

    /// Waits until everything for this plan was made.
    pub(super) fn wait(self, plan: &Plan) -> Result<(), Failed> {
        let mut record = [0_u8; RECORD];
        let read = retry(|| rustix::io::read(&self.0, &mut record)).during(Step::Janitor)?;
        let [a, b, c, d, e, f, g, h] = record;
        let errno = i32::from_le_bytes([a, b, c, d]);
        let placeholder = u32::from_le_bytes([e, f, g, h]);
        match (read, errno) {
            (RECORD, 0) => Ok(()),
            (RECORD, errno) => {
                let errno = Errno::from_raw_os_error(errno);
                let placeholder = Some(placeholder).filter(|index| *index != NONE);
                Err(Unmade { errno, placeholder }.of(plan))
            }
            // Whoever should have said it is gone.
            _ => Err(Failed::new(Step::Janitor, Errno::CHILD)),
        }
    }
}

impl Voice {
    /// Says what became of it. Who does not hear it does not go on.
    pub(super) fn say(self, made: Result<(), Unmade>) {
        let (errno, placeholder) = match made {
            Ok(()) => (0, NONE),
            Err(unmade) => (
                unmade.errno.raw_os_error(),
                unmade.placeholder.unwrap_or(NONE),
            ),
        };
        let mut record = errno.to_le_bytes().to_vec();
        record.extend(placeholder.to_le_bytes());
        let _ = retry(|| rustix::io::write(&self.0, &record));
    }
}
