//! Somebody changes the tree while files are worked with: nothing outside is ever read or changed.

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;

use palisade_runner::files::{FileError, NewFile, Strength};
use palisade_runner::patch::{Patch, apply};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::support::{Stage, tree};

const ROUNDS: usize = 400;

/// A thread that keeps exchanging two names until it is dropped.
struct Swapper {
    stop: Arc<AtomicBool>,
    swaps: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

impl Swapper {
    fn start(one: PathBuf, other: PathBuf) -> Self {
        let (stop, swaps) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicUsize::new(0)),
        );
        let thread = {
            let (stop, swaps) = (Arc::clone(&stop), Arc::clone(&swaps));
            std::thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    if renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).is_ok() {
                        swaps.fetch_add(1, Ordering::Relaxed);
                    }
                }
            })
        };
        Self {
            stop,
            swaps,
            thread: Some(thread),
        }
    }
}

impl Drop for Swapper {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

/// How often each kind of answer came.
#[derive(Debug, Default)]
struct Tally {
    done: usize,
    refused: usize,
    unstable: usize,
    other: usize,
}

impl Tally {
    fn count<T>(&mut self, result: Result<T, FileError>) {
        match result {
            Ok(_) => self.done += 1,
            Err(FileError::Refused(_)) => self.refused += 1,
            Err(FileError::Unstable { .. }) => self.unstable += 1,
            Err(_) => self.other += 1,
        }
    }
}

fn work(stage: &Stage, strength: Strength) -> Tally {
    let files = stage.files_without_outside().at_most(strength);
    let mut tally = Tally::default();
    let patch =
        Patch::parse(b"--- /dev/null\n+++ b/src/patched\n@@ -0,0 +1 @@\n+patched\n").unwrap();
    let base = stage.path("");
    for round in 0..ROUNDS {
        let name = |what: &str| stage.path(&format!("src/{what}{round}"));
        let read = files.read(&stage.path("src/lib.rs"));
        if let Ok(content) = &read {
            assert!(
                !content.bytes.starts_with(b"OUTSIDE"),
                "what is outside was read"
            );
        }
        tally.count(read);
        if round % 10 == 0 {
            tally.count(files.write(&stage.path("src/lib.rs"), b"again"));
            tally.count(files.create(&name("new"), b"new", NewFile::Plain));
            let _ = apply(&patch, &files, &base);
            tally.count(files.remove(&stage.path("src/patched")));
        }
        tally.count(files.create_dir(&name("made")));
        tally.count(files.rename(&name("made"), &name("moved")));
        tally.count(files.remove(&name("moved")));
        tally.count(files.remove(&stage.path("src/below/lib.rs")));
    }
    tally
}

fn attack(strength: Strength, prepare: impl FnOnce(&Stage) -> (PathBuf, PathBuf)) -> Tally {
    let stage = Stage::new();
    let before = tree(&stage.outside);
    let (one, other) = prepare(&stage);
    let swapper = Swapper::start(one, other);
    let tally = work(&stage, strength);
    let swaps = Arc::clone(&swapper.swaps);
    drop(swapper);
    assert!(
        swaps.load(Ordering::Relaxed) > ROUNDS,
        "the attack hardly happened"
    );
    assert_eq!(tree(&stage.outside), before, "something outside changed");
    println!("{strength:?}: {tally:?}");
    tally
}

fn directory_and_link(stage: &Stage) -> (PathBuf, PathBuf) {
    let link = stage.workspace.join("link");
    symlink(&stage.outside, &link).unwrap();
    (stage.workspace.join("src"), link)
}

#[test]
fn a_directory_that_is_exchanged_for_a_link_leads_nowhere() {
    for strength in [Strength::Kernel, Strength::Stepwise] {
        let tally = attack(strength, directory_and_link);
        // Both sides of the race were seen, so it was one.
        assert!(tally.done > 0, "{tally:?}");
        assert!(tally.refused > 0, "{tally:?}");
    }
}

#[test]
fn a_file_that_is_exchanged_for_a_link_leads_nowhere() {
    let tally = attack(Strength::Kernel, |stage| {
        let link = stage.workspace.join("src/link");
        symlink(stage.outside.join("lib.rs"), &link).unwrap();
        (stage.workspace.join("src/lib.rs"), link)
    });
    assert!(tally.done > 0, "{tally:?}");
}

#[test]
fn an_ancestor_that_is_exchanged_for_a_link_leads_nowhere() {
    // The same names exist outside, one level up.
    let tally = attack(Strength::Kernel, |stage| {
        std::fs::create_dir_all(stage.workspace.join("deep/src")).unwrap();
        std::fs::write(stage.workspace.join("deep/src/lib.rs"), "inside").unwrap();
        std::fs::remove_dir_all(stage.workspace.join("src")).unwrap();
        symlink("deep/src", stage.workspace.join("src")).unwrap();
        let link = stage.workspace.join("link");
        symlink(&stage.top, &link).unwrap();
        symlink("outside", stage.top.join("src")).unwrap();
        (stage.workspace.join("deep"), link)
    });
    assert!(tally.done > 0, "{tally:?}");
}
