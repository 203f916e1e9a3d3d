//! A question out, an answer in, within a time.

use std::fmt;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::wire::LONGEST_ANSWER;

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failed {
    TooLate,
    TooLong,
    System(Errno),
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLate => f.write_str("there was no answer in time"),
            Self::TooLong => f.write_str("the answer is too long"),
            Self::System(errno) => write!(f, "{errno}"),
        }
    }
}

/// When an answer is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    /// With its line.
    Line,
    /// When nothing more can come.
    End,
}

/// Writes a question and reads what is answered. The descriptors do not block. `asked` is closed when all of it was written.
pub(super) fn exchange(
    mut asked: Option<impl AsFd>,
    answered: BorrowedFd<'_>,
    mut question: &[u8],
    until: Until,
    deadline: Instant,
) -> Result<Vec<u8>, Failed> {
    let mut answer = Vec::new();
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Failed::TooLate);
        }
        let left = Timespec::try_from(left).map_err(|_| Failed::TooLate)?;
        let mut polled = vec![PollFd::from_borrowed_fd(answered, PollFlags::IN)];
        if let Some(asked) = &asked {
            polled.push(PollFd::from_borrowed_fd(asked.as_fd(), PollFlags::OUT));
        }
        match poll(&mut polled, Some(&left)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(Failed::System(errno)),
        }
        let ready: Vec<bool> = polled
            .iter()
            .map(|polled| !polled.revents().is_empty())
            .collect();
        if let (Some(end), Some(true)) = (&asked, ready.get(1)) {
            match rustix::io::write(end, question) {
                Ok(written) => question = question.get(written..).unwrap_or_default(),
                Err(Errno::AGAIN | Errno::INTR) => {}
                // Who does not read the question may answer all the same: no to everything needs no question.
                Err(Errno::PIPE | Errno::CONNRESET) => question = &[],
                Err(errno) => return Err(Failed::System(errno)),
            }
            if question.is_empty() {
                asked = None;
            }
        }
        if ready.first() == Some(&true) {
            let mut some = [0; 4096];
            match rustix::io::read(answered, &mut some) {
                Ok(0) => return Ok(answer),
                Ok(read) => answer.extend_from_slice(some.get(..read).unwrap_or_default()),
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(errno) => return Err(Failed::System(errno)),
            }
            if answer.len() > LONGEST_ANSWER {
                return Err(Failed::TooLong);
            }
            if until == Until::Line && answer.contains(&b'\n') {
                return Ok(answer);
            }
        }
    }
}
