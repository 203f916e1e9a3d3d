//! A session that goes on while its view is read.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::world::{World, write};

/// Imports again and again while `disturb` runs in a loop.
fn while_disturbed(world: &mut World, rounds: usize, disturb: impl Fn() + Sync) {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                disturb();
            }
        });
        let worked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for _ in 0..rounds {
                world.import();
            }
        }));
        stop.store(true, Ordering::Relaxed);
        if let Err(cause) = worked {
            std::panic::resume_unwind(cause);
        }
    });
}

/// Swaps a directory of the view for a link to `decoy`, and back.
fn swap(at: &Path, aside: &Path, decoy: &Path) {
    if std::fs::rename(at, aside).is_ok() {
        let _ = symlink(decoy, at);
        let _ = std::fs::remove_file(at);
        let _ = std::fs::rename(aside, at);
    }
}

#[test]
fn directories_that_turn_into_links() {
    for name in ["refs/heads", "refs", "objects", "logs"] {
        let mut world = World::new();
        // Refs of another repository of the user, which the session must not be able to pull in.
        let decoy = world.work.parent().unwrap().join("decoy");
        let main = world.host(&["rev-parse", "main"]);
        write(decoy.join("secret"), format!("{main}\n"));
        write(decoy.join("heads/secret"), format!("{main}\n"));
        let tip = world.commit_inside("a.txt", "two\n", "second");
        let (at, aside) = (
            world.view.join(name),
            world.work.parent().unwrap().join("aside"),
        );
        while_disturbed(&mut world, 8, || swap(&at, &aside, &decoy));
        assert_eq!(world.ref_on_host("refs/heads/secret"), None);
        world.import();
        assert!(world.ref_on_host("refs/heads/side").is_some(), "{name}");
        assert_eq!(world.host(&["rev-parse", "main"]), tip);
        world.use_as_owner();
    }
}

#[test]
fn a_session_that_keeps_committing() {
    let mut world = World::new();
    let (work, view) = (world.work.clone(), world.view.clone());
    while_disturbed(&mut world, 8, || {
        crate::world::git(&work)
            .env("GIT_DIR", &view)
            .env("GIT_WORK_TREE", &work)
            .args(["commit", "-q", "--allow-empty", "-m", "more"])
            .output()
            .unwrap();
    });
    world.host_is_sound();
    world.import();
    assert_eq!(
        world.host(&["rev-parse", "main"]),
        world.inside(&["rev-parse", "main"])
    );
    world.use_as_owner();
}

#[test]
fn files_that_change_their_size() {
    let mut world = World::new();
    world.commit_inside("a.txt", "two\n", "second");
    let at = world.view.join("refs/heads/main");
    let good = std::fs::read(&at).unwrap();
    while_disturbed(&mut world, 8, || {
        std::fs::write(&at, vec![b'a'; 100_000]).unwrap();
        std::fs::write(&at, &good).unwrap();
    });
    world.import();
    assert_eq!(
        world.host(&["rev-parse", "main"]),
        world.inside(&["rev-parse", "main"])
    );
    world.use_as_owner();
}
