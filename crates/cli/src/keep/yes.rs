//! A yes that somebody types.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

/// Asks on the terminal, and says whether the answer is exactly `yes`. `None` if nobody sits there.
pub(super) fn typed_yes(question: &str) -> Option<bool> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return None;
    }
    // What was typed before the question is no answer to it.
    #[cfg(unix)]
    let _ = rustix::termios::tcflush(
        rustix::stdio::stdin(),
        rustix::termios::QueueSelector::IFlush,
    );
    write!(io::stderr(), "{question} Type yes: ").ok()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).ok()?;
    Some(line.trim() == "yes")
}
