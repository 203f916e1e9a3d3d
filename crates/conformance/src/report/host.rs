//! Where and when something was measured.

use std::process::Command;

use serde::{Deserialize, Serialize};

/// Where and when something was measured, and by whom.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Host {
    /// The day, in UTC.
    pub date: String,
    /// The kernel.
    pub kernel: String,
    /// How many processors.
    pub processors: usize,
    /// `root`, or `user` with the number.
    pub user: String,
}

impl Host {
    /// This one, now.
    #[must_use]
    pub fn this() -> Self {
        let uid = rustix::process::geteuid();
        Self {
            date: said_by("date", &["-u", "+%Y-%m-%d"]),
            kernel: rustix::system::uname()
                .release()
                .to_string_lossy()
                .into_owned(),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
            user: if uid.is_root() {
                "root".to_owned()
            } else {
                format!("user {}", uid.as_raw())
            },
        }
    }
}

/// What a program says, in one line.
fn said_by(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let text = output.map_or_else(|_| Vec::new(), |output| output.stdout);
    String::from_utf8_lossy(&text).trim().to_owned()
}
