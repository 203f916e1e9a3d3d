//! Who attends to a command on the caller's streams: passes signals on, minds the terminal.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use super::pump::Port;
use crate::launch::{Control, Descriptor};

/// What a host program does beside a command that runs on its streams. It is called where the run is driven, between one
/// wait and the next, and must not wait itself.
pub trait Attend: Send {
    /// An attempt is about to start. What can be read from the descriptor from now on is told once it has.
    fn begin(&mut self);

    /// It has started.
    fn started(&mut self, control: &Control);

    /// These bytes were read from the descriptor that was given along, such as one byte for each signal.
    fn told(&mut self, control: &Control, bytes: &[u8]) -> Patience;

    /// Whether what is typed at the caller's terminal is for the command now. Where it is not, nothing is read, and the
    /// question is asked again a few times a second.
    fn listens(&mut self, control: &Control) -> bool;

    /// These bytes were typed. What is left in the vector is what the command gets. No bytes are the end of the input:
    /// nothing more is read then, unless something is put into the vector.
    fn typed(&mut self, control: &Control, bytes: &mut Vec<u8>);

    /// The attempt is over, or could not start. There may be another one.
    fn end(&mut self);
}

/// Whether the rest of the output of a command that has ended is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "one waits or does not")]
pub enum Patience {
    /// It is passed on, however slowly it is taken.
    Stay,
    /// Nobody waits for whoever does not take it.
    Leave,
}

/// One who attends, shared by the attempts of a command.
pub(crate) type Attendant = Arc<Mutex<dyn Attend>>;

/// An attempt that somebody attends to, who is told its end however it comes.
pub(crate) struct Begun {
    attendant: Attendant,
    /// Readable when there is something to attend to.
    bell: Option<Descriptor>,
}

impl Begun {
    /// Tells the attendant that an attempt is about to start.
    pub(crate) fn new(attendant: Attendant, bell: Descriptor) -> Self {
        lock(&attendant).begin();
        Self {
            attendant,
            bell: Some(bell),
        }
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        lock(&self.attendant).end();
    }
}

/// Somebody who attends to an attempt that has started.
pub(crate) struct Attendance {
    pub(crate) begun: Begun,
    pub(crate) control: Control,
}

impl fmt::Debug for Attendance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attendance").finish_non_exhaustive()
    }
}

/// The same while an attempt is driven.
pub(super) struct Attending<P> {
    bell: Option<P>,
    begun: Begun,
    control: Control,
}

impl<P: Port> Attending<P> {
    pub(super) fn begin<E>(
        attendance: Attendance,
        port: impl FnOnce(Descriptor) -> Result<P, E>,
    ) -> Result<Self, E> {
        let Attendance { mut begun, control } = attendance;
        let attending = Self {
            bell: begun.bell.take().map(port).transpose()?,
            begun,
            control,
        };
        lock(&attending.begun.attendant).started(&attending.control);
        Ok(attending)
    }

    #[cfg(unix)]
    pub(super) fn port(&mut self) -> Option<&mut P> {
        self.bell.as_mut()
    }

    /// Attends to what there is.
    pub(super) fn turn(&mut self, cx: &mut Context<'_>) -> Option<Patience> {
        let mut bytes = Vec::with_capacity(64);
        match self.bell.as_mut()?.poll_read(cx, &mut bytes) {
            Poll::Pending => None,
            Poll::Ready(Ok(many)) if many > 0 => {
                Some(lock(&self.begun.attendant).told(&self.control, &bytes))
            }
            // Nobody is left who could ring.
            Poll::Ready(_) => {
                self.bell = None;
                None
            }
        }
    }

    pub(super) fn listens(&self) -> bool {
        lock(&self.begun.attendant).listens(&self.control)
    }

    pub(super) fn typed(&self, bytes: &mut Vec<u8>) {
        lock(&self.begun.attendant).typed(&self.control, bytes);
    }
}

fn lock(attendant: &Attendant) -> MutexGuard<'_, dyn Attend + 'static> {
    attendant.lock().unwrap_or_else(PoisonError::into_inner)
}
