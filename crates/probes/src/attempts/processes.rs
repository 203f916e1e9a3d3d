//! Processes. The only process that is aimed at is the stage's own victim.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::process::Command;
use std::thread;
use std::time::Duration;

use super::secrets::text;
use super::{Tries, WHOAMI, unavailable};
use crate::report::Report;
use crate::site::Site;
use crate::sys::{ipc, process};

/// How much of the victim's secret to read.
const LENGTH: usize = 48;
const DAMAGE: &[u8] = b"damaged";

pub(crate) fn trace(site: &Site) -> Report {
    Tries::default()
        .escape("seize", process::trace(site.victim).map(|()| "worked"))
        .report()
}

pub(crate) fn vm(site: &Site) -> Report {
    let read = process::read_memory(site.victim, site.victim_memory, LENGTH);
    let write = process::write_memory(site.victim, site.victim_memory, DAMAGE);
    Tries::default()
        .escape("read", read.map(|bytes| text(&bytes)))
        .escape("write", write.map(|()| "worked"))
        .report()
}

pub(crate) fn memory(site: &Site) -> Report {
    let path = format!("/proc/{}/mem", site.victim);
    let read = File::open(&path).and_then(|file| {
        let mut bytes = [0_u8; LENGTH];
        file.read_exact_at(&mut bytes, site.victim_memory)?;
        Ok(text(&bytes))
    });
    let write = OpenOptions::new()
        .write(true)
        .open(&path)
        .and_then(|file| file.write_all_at(DAMAGE, site.victim_memory));
    Tries::default()
        .escape("read", read)
        .escape("write", write.map(|()| "worked"))
        .report()
}

pub(crate) fn take_descriptor(site: &Site) -> Report {
    let read = process::open(site.victim)
        .and_then(|victim| process::take_descriptor(&victim, site.victim_file))
        .and_then(|fd| {
            let mut bytes = [0_u8; 100];
            let length = File::from(fd).read_at(&mut bytes, 0)?;
            Ok(text(bytes.get(..length).unwrap_or_default()))
        });
    Tries::default().escape("descriptor", read).report()
}

pub(crate) fn kill(site: &Site) -> Report {
    let by_descriptor = process::open(site.victim)
        .and_then(|victim| process::signal_by_descriptor(&victim, libc::SIGTERM));
    let worked = |result: io::Result<()>| result.map(|()| "worked");
    Tries::default()
        .escape("kill", worked(process::kill(site.victim, libc::SIGTERM)))
        .escape(
            "tgkill",
            worked(process::kill_thread(site.victim, libc::SIGTERM)),
        )
        .escape("pidfd_send_signal", worked(by_descriptor))
        .report()
}

pub(crate) fn limits(site: &Site) -> Report {
    let worked = |result: io::Result<()>| result.map(|()| "worked");
    Tries::default()
        .escape(
            "prlimit",
            worked(process::limit_descriptors(site.victim, 3)),
        )
        .escape("setpriority", worked(process::lower_priority(site.victim)))
        .escape("sched_setaffinity", worked(process::pin(site.victim)))
        .report()
}

pub(crate) fn oom(site: &Site) -> Report {
    let write = OpenOptions::new()
        .write(true)
        .open(format!("/proc/{}/oom_score_adj", site.victim))
        .and_then(|mut file| file.write_all(b"1000"));
    Tries::default()
        .escape("score", write.map(|()| "was written"))
        .report()
}

/// How long what is left behind lives, if nobody ends it.
pub(super) const AFTERLIFE: Duration = Duration::from_secs(6);

pub(super) fn leave_behind(prepare: impl Fn() + Copy) -> Report {
    let started = process::fork(|| {
        prepare();
        let left = process::fork(|| {
            prepare();
            thread::sleep(AFTERLIFE);
            0
        });
        u8::from(left.is_err())
    });
    let waited = started.and_then(|pid| process::wait(pid, false));
    Tries::default()
        .act("left a process behind", waited.map(|_| ""))
        .report()
}

pub(crate) fn survive(_: &Site) -> Report {
    leave_behind(|| {
        let _ = process::new_session();
    })
}

pub(crate) fn deaf(_: &Site) -> Report {
    leave_behind(process::ignore_signals)
}

pub(crate) fn elevate(site: &Site) -> Report {
    let program = site.outside.join("elevate");
    if !program.exists() {
        return unavailable("the stage could not lay out a program of another user");
    }
    let told = Command::new(program).arg(WHOAMI).output();
    let (user, effective) = process::users();
    let mut tries = match told {
        Err(error) => Tries::default().escape("exec", Err::<&str, _>(error)),
        Ok(output) => {
            let told = text(&output.stdout);
            let now = told.split_whitespace().nth(1);
            if now == Some(effective.to_string().as_str()) {
                Tries::default().stopped("still the same user", "no_new_privs")
            } else {
                Tries::default().escape("ran as user", Ok(now.unwrap_or("nobody knows")))
            }
        }
    };
    if user != 0 {
        tries = tries.escape("setuid", process::become_root().map(|()| "worked"));
    }
    tries.report()
}

pub(crate) fn segment(site: &Site) -> Report {
    Tries::default()
        .escape(
            "segment",
            ipc::read_segment(site.segment, LENGTH).map(|bytes| text(&bytes)),
        )
        .report()
}
