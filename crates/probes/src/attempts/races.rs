//! Races: short, and over as soon as one is won.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::Tries;
use super::files::plant;
use super::processes::AFTERLIFE;
use crate::report::Report;
use crate::site::Site;
use crate::sys::{at, process};

/// How long a race lasts that nobody wins.
const LENGTH: Duration = Duration::from_millis(300);

/// Runs both again and again, side by side, until the second one wins; what counts is what is seen from outside.
fn race(what: &str, disturb: impl Fn() + Sync, attempt: impl Fn() -> bool) -> Report {
    let over = AtomicBool::new(false);
    let begin = Instant::now();
    let mut rounds = 0_u32;
    let mut won = 0_u32;
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                disturb();
            }
        });
        while won == 0 && begin.elapsed() < LENGTH {
            rounds += 1;
            won += u32::from(attempt());
        }
        over.store(true, Ordering::Relaxed);
    });
    Tries::default()
        .act(what, Ok(format!("{rounds} times, and won {won}")))
        .report()
}

pub(crate) fn swapped_link(site: &Site) -> Report {
    let at = |name: &str| site.workspace.join(name);
    let (place, link) = (at("place"), at("place-link"));
    let planted = site.outside.join("planted");
    let _ = fs::create_dir(&place);
    let _ = symlink(&site.outside, &link);
    race(
        "wrote through what is now a directory, now a link",
        || {
            let _ = at::rename(&place, &link, at::EXCHANGE);
        },
        || {
            let _ = plant(&place.join("planted"));
            let _ = fs::remove_file(link.join("planted"));
            planted.exists()
        },
    )
}

pub(crate) fn swapped_parent(site: &Site) -> Report {
    let at = |name: &str| site.workspace.join(name);
    let (sub, other) = (at("sub"), at("other"));
    let _ = fs::create_dir_all(other.join(".git"));
    let raced = race(
        "wrote into a repository whose parent is exchanged",
        || {
            let _ = at::rename(&sub, &other, at::EXCHANGE);
        },
        || plant(&sub.join(".git/planted")).is_ok(),
    );
    // Whichever of the two stands there in the end is the one that is looked at.
    let _ = plant(&sub.join(".git/planted-last"));
    raced
}

pub(crate) fn moved_directory(site: &Site) -> Report {
    let at = |name: &str| site.workspace.join(name);
    let (one, other) = (at("one/two"), at("two"));
    let _ = fs::create_dir_all(&one);
    let planted = site.outside.join("planted");
    race(
        "climbed out of a directory that moves",
        || {
            let _ = fs::rename(&one, &other);
            let _ = fs::rename(&other, &one);
        },
        || {
            for climb in ["../../outside/planted", "../../../outside/planted"] {
                if std::env::set_current_dir(&one).is_ok()
                    || std::env::set_current_dir(&other).is_ok()
                {
                    let _ = plant(Path::new(climb));
                }
            }
            planted.exists()
        },
    )
}

pub(crate) fn placeholder(site: &Site) -> Report {
    let git = site.plain.join(".git");
    let aside = site.plain.join("aside");
    let raced = race(
        "put a repository where a name is kept free",
        || {
            let _ = fs::create_dir(&aside);
            let _ = at::rename(&aside, &git, at::EXCHANGE);
            let _ = fs::rename(&aside, &git);
            let _ = fs::remove_dir(&git);
        },
        || plant(&git.join("config")).is_ok(),
    );
    // Where nothing keeps the name, no race is needed.
    let _ = fs::create_dir(&git);
    let _ = plant(&git.join("config"));
    raced
}

/// Leaves a process behind that works on after the run: what it does before that would be no evidence.
fn afterwards(what: &str, work: impl Fn() + Copy) -> Report {
    let started = process::fork(|| {
        let _ = process::new_session();
        let left = process::fork(|| {
            work();
            0
        });
        u8::from(left.is_err())
    });
    let waited = started.and_then(|pid| process::wait(pid, false));
    Tries::default().act(what, waited.map(|_| "")).report()
}

/// Does this again and again until whoever ordered the run says that it is over, which no clock can tell from inside.
/// Says whether that came to pass: where a sandbox waits for all that is in it, it never does.
fn until_over(site: &Site, mut meanwhile: impl FnMut()) -> bool {
    let begin = Instant::now();
    while begin.elapsed() < AFTERLIFE {
        if site.over.exists() {
            return true;
        }
        meanwhile();
        thread::sleep(Duration::from_millis(1));
    }
    false
}

pub(crate) fn after_the_end(site: &Site) -> Report {
    let file = site.workspace.join("planted");
    afterwards("left a process that writes later", || {
        if until_over(site, || {}) {
            let _ = plant(&file);
        }
    })
}

pub(crate) fn after_the_placeholder(site: &Site) -> Report {
    let git = site.plain.join(".git");
    let config = git.join("config");
    let seize = || {
        let _ = fs::create_dir(&git);
        let _ = plant(&config);
    };
    let report = afterwards("left a process that waits for the name to be free", || {
        if until_over(site, seize) {
            seize();
        }
    });
    // Where nothing keeps the name, no race is needed.
    seize();
    report
}

pub(crate) fn storm(_: &Site) -> Report {
    const RUNNERS: usize = 4;
    const LASTS: Duration = Duration::from_millis(2500);
    // Each one starts the next and ends, so that whoever looks for them always looks at the one before.
    let begin = Instant::now();
    let mut started = 0;
    for _ in 0..RUNNERS {
        let child = process::fork(|| {
            let _ = process::new_session();
            process::run_on(&|| {
                thread::sleep(Duration::from_millis(2));
                begin.elapsed() < LASTS
            });
            0
        });
        started += usize::from(child.is_ok());
    }
    Tries::default()
        .act("left so many that run on as new processes:", Ok(started))
        .report()
}
