//! Things of the stage in places that all programs of a user share: queues, files in memory, a terminal.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{OpenOptionsExt as _, chown};
use std::path::{Path, PathBuf};

use crate::sys::{ipc, terminal};

/// Gone when this is dropped.
#[derive(Debug)]
pub(super) struct Shared {
    /// Where each file with the secret is.
    pub(super) files: Vec<PathBuf>,
    /// The number of a System V queue.
    pub(super) messages: i32,
    queue: Option<(String, OwnedFd)>,
    terminal: Option<(File, PathBuf)>,
}

/// The name of the stage's own things in shared places.
pub(crate) fn own_name(token: &str) -> String {
    format!("palisade-stage-own-{token}")
}

/// The name of its message queue.
pub(crate) fn own_queue_name(token: &str) -> String {
    format!("/{}", own_name(token))
}

impl Shared {
    pub(super) fn make(token: &str, secret: &str, owner: Option<(u32, u32)>) -> io::Result<Self> {
        let mut made = Self {
            files: Vec::new(),
            messages: ipc::make_messages(owner.map(|(user, _)| user))?,
            queue: None,
            terminal: None,
        };
        for directory in ["/dev/shm", "/tmp"] {
            let path = Path::new(directory).join(own_name(token));
            let mut file = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&path)?;
            made.files.push(path.clone());
            file.write_all(secret.as_bytes())?;
            if let Some((user, group)) = owner {
                chown(&path, Some(user), Some(group))?;
            }
        }
        let name = own_queue_name(token);
        // A kernel may be built without queues, and a container without terminals.
        made.queue = ipc::own_queue(&name, owner).ok().map(|queue| (name, queue));
        if let Ok((shown, path)) = terminal::make() {
            if let Some((user, group)) = owner {
                chown(&path, Some(user), Some(group))?;
            }
            made.terminal = Some((File::from(shown), path));
        }
        Ok(made)
    }

    /// The path of the terminal; empty if there is none.
    pub(super) fn terminal(&self) -> PathBuf {
        self.terminal
            .as_ref()
            .map(|(_, path)| path.clone())
            .unwrap_or_default()
    }

    /// What arrived.
    pub(super) fn heard(&self) -> Vec<String> {
        let mut heard = Vec::new();
        if ipc::count_messages(self.messages) > 0 {
            heard.push("a message in the System V queue".to_owned());
        }
        if let Some((_, queue)) = &self.queue
            && ipc::waiting(queue) > 0
        {
            heard.push("a message in the queue".to_owned());
        }
        if let Some((shown, _)) = &self.terminal {
            let mut bytes = [0_u8; 64];
            let mut shown: &File = shown;
            if matches!(shown.read(&mut bytes), Ok(1..)) {
                heard.push("the terminal was written".to_owned());
            }
        }
        heard
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        for path in &self.files {
            let _ = fs::remove_file(path);
        }
        ipc::remove_messages(self.messages);
        if let Some((name, _)) = &self.queue {
            ipc::remove_queue(name);
        }
    }
}
