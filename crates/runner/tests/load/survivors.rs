//! The program that runs sessions is killed: nothing of them survives.

use std::path::{Path, PathBuf};

use palisade_exec_policy::AskForApproval;
use palisade_runner::approve::NoPrompter;
use palisade_runner::judge::RuleBook;
use palisade_runner::session::{Policy, Sandbox};

use crate::alone::myself;
use crate::counts::descendants_of;
use crate::support::{LONG, Stage, host, running_in, runtime, wait_for, wait_until};

/// The stage of whoever is to be killed.
const STAGE: &str = "PALISADE_TEST_LOAD_STAGE";

const NAME: &str = "survivors::nothing_survives_the_program_that_is_killed";

/// Runs commands of both drivers that leave daemons of every kind behind, and never comes to an end.
fn victim(stage: &Path) {
    let policy = Policy::workspace(stage.join("workspace")).approval(AskForApproval::OnRequest);
    let session = Sandbox::on(host(&stage.join("home")), policy)
        .unwrap()
        .session(RuleBook::builtin().unwrap(), NoPrompter)
        .unwrap();
    let script = |name: &str| {
        format!(
            "(setsid sleep 1000 &); (setsid nohup env -i /bin/sleep 1000 >/dev/null 2>&1 &); \
             (trap '' TERM HUP INT; sleep 1000 &); : > {name}; sleep 1000"
        )
    };
    let blocking = session.script(script("first")).timeout(LONG);
    std::thread::spawn(move || drop(blocking.output_blocking()));
    let awaited = session.script(script("second")).timeout(LONG).output();
    let _ = runtime().block_on(awaited);
}

fn names(directory: PathBuf) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().display().to_string())
        .collect();
    names.sort();
    names
}

#[test]
fn nothing_survives_the_program_that_is_killed() {
    if let Some(stage) = std::env::var_os(STAGE) {
        victim(Path::new(&stage));
        return;
    }
    let stage = Stage::new();
    let mut victim = myself(&[], NAME)
        .env(STAGE, stage.root())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    wait_for(&stage.path("workspace/first"));
    wait_for(&stage.path("workspace/second"));
    let family = descendants_of(victim.id());
    assert!(family.len() >= 8, "{family:?}");
    assert!(running_in(&stage.workspace()).len() >= 6);
    victim.kill().unwrap();
    victim.wait().unwrap();
    wait_until("everything ends", || {
        let left = |(pid, about): &(u32, String)| {
            // The same number with the same name, and no zombie, which whoever adopted it has to reap.
            std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
                let name = about.rsplit_once(' ').map_or("", |(name, _)| name);
                stat.starts_with(name) && !stat.contains(") Z")
            })
        };
        let ended = !family.iter().any(left) && running_in(&stage.workspace()).is_empty();
        ended.then_some(())
    });
    // What the sandbox put there for its own use is gone, too.
    wait_until("the workspace is as it was", || {
        (names(stage.workspace()) == ["first", "second"]).then_some(())
    });
}
