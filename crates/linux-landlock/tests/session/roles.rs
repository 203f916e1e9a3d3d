//! Parts of a test that need a process of their own: the test program starts itself again, as another test.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use palisade_linux_landlock::Tier;

use crate::support::helper_path;

const ROLE: &str = "PALISADE_TEST_ROLE";

/// What this process was started for; `None` if it is an ordinary run of the tests.
pub(crate) fn role() -> Option<Vec<String>> {
    let role = std::env::var(ROLE).ok()?;
    Some(role.split(':').map(str::to_owned).collect())
}

/// The test program once more, for one test that is ignored otherwise. The role's words may not hold a colon.
pub(crate) fn actor(program: &Path, test: &str, role: &[&str]) -> Command {
    let mut command = Command::new(program);
    command
        .args([
            test,
            "--exact",
            "--ignored",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(ROLE, role.join(":"))
        .env("PALISADE_TEST_HELPER", helper_path());
    command
}

/// An actor that another program starts, as the last of its arguments.
pub(crate) fn started_by(mut program: Command, actor: &Command) -> Command {
    program.arg(actor.get_program()).args(actor.get_args());
    for (name, value) in actor.get_envs() {
        program.env(name, value.unwrap());
    }
    program
}

pub(crate) fn this_program() -> PathBuf {
    std::env::current_exe().unwrap()
}

/// Runs an actor to its end; its complaints become this test's.
#[track_caller]
pub(crate) fn perform(mut command: Command) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    let said = String::from_utf8_lossy(&stdout).into_owned();
    assert!(
        status.success() && said.contains("1 passed"),
        "{status}\n{said}\n{}",
        String::from_utf8_lossy(&stderr)
    );
    said
}

pub(crate) const fn tier_name(tier: Tier) -> &'static str {
    match tier {
        Tier::Full => "full",
        Tier::Landlock => "landlock",
    }
}

pub(crate) fn tier_named(name: &str) -> Tier {
    match name {
        "full" => Tier::Full,
        _ => Tier::Landlock,
    }
}
