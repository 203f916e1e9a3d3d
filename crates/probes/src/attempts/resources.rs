//! Resources: as much as the stage says, never without end.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::{PATIENCE, Tries};
use crate::report::Report;
use crate::site::Site;
use crate::sys::{self, files, process};

/// How many of these there may be, whatever the stage says.
const MOST: u32 = 2000;

pub(crate) fn processes(site: &Site) -> Report {
    let mut children = Vec::new();
    let mut stopped = None;
    for _ in 0..site.processes.min(MOST) {
        let child = process::fork(|| {
            thread::sleep(Duration::from_secs(8));
            0
        });
        match child {
            Ok(pid) => children.push(pid),
            Err(error) => {
                stopped = Some(error);
                break;
            }
        }
    }
    for pid in &children {
        let _ = process::kill(*pid, libc::SIGKILL);
    }
    for pid in &children {
        let _ = process::wait(*pid, false);
    }
    bounded("processes", children.len(), stopped)
}

fn bounded(what: &str, count: usize, stopped: Option<io::Error>) -> Report {
    let tries = Tries::default();
    match stopped {
        None => tries.escape(what, Ok(count)),
        Some(error) => tries.stopped(&format!("after {count} {what}"), &sys::error_name(&error)),
    }
    .report()
}

pub(crate) fn threads(site: &Site) -> Report {
    static DONE: AtomicBool = AtomicBool::new(false);
    let mut started = Vec::new();
    let mut stopped = None;
    for _ in 0..site.processes.min(MOST) {
        let thread = thread::Builder::new().stack_size(64 << 10).spawn(|| {
            while !DONE.load(Ordering::Relaxed) {
                thread::park_timeout(Duration::from_millis(50));
            }
        });
        match thread {
            Ok(thread) => started.push(thread),
            Err(error) => {
                stopped = Some(error);
                break;
            }
        }
    }
    DONE.store(true, Ordering::Relaxed);
    let count = started.len();
    for thread in started {
        thread.thread().unpark();
        let _ = thread.join();
    }
    bounded("threads", count, stopped)
}

/// No more than this is touched, whatever the stage says.
const MOST_MEMORY: u64 = 2048;

pub(crate) fn memory(site: &Site) -> Report {
    const MIB: usize = 1 << 20;
    let wanted = site.memory.min(MOST_MEMORY);
    let filled = vec![1_u8; MIB];
    let mut held: Vec<Vec<u8>> = Vec::new();
    for count in 0..wanted {
        let mut block = Vec::new();
        if block.try_reserve_exact(MIB).is_err() {
            return Tries::default()
                .stopped(&format!("after {count} MiB"), "ENOMEM")
                .report();
        }
        block.extend_from_slice(&filled);
        held.push(block);
    }
    // Where memory is only looked at now and then, this is when.
    thread::sleep(PATIENCE);
    Tries::default()
        .escape("MiB touched:", Ok(held.len()))
        .report()
}

pub(crate) fn sparse(site: &Site) -> Report {
    let size = site.file_size.saturating_mul(1 << 20);
    let made = File::create(site.workspace.join("sparse")).and_then(|file| file.set_len(size));
    Tries::default()
        .escape("MiB:", made.map(|()| site.file_size))
        .report()
}

pub(crate) fn spin(site: &Site) -> Report {
    let wanted = Duration::from_secs(site.cpu);
    // The wall clock too, for a busy machine.
    let start = Instant::now();
    while process::processor_time() < wanted {
        if start.elapsed() > Duration::from_secs(7) {
            return super::unavailable("the machine is too busy to use that much");
        }
        std::hint::spin_loop();
    }
    Tries::default()
        .escape(
            "processor time used:",
            Ok(format!("{:?}", process::processor_time())),
        )
        .report()
}

pub(crate) fn inotify(_: &Site) -> Report {
    const ENOUGH: usize = 16;
    let mut held = Vec::new();
    let mut stopped = None;
    while held.len() < ENOUGH {
        match files::watch(None) {
            Ok(instance) => held.push(instance),
            Err(error) => {
                stopped = Some(error);
                break;
            }
        }
    }
    bounded("instances", held.len(), stopped)
}
