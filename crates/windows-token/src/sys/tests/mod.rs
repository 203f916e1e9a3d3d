//! The calls into Windows, held against Windows: under Wine as far as that is honest, on a real one all of them.

mod files;
mod jobs;
mod lists;
mod objects;
mod tokens;
#[cfg(feature = "model")]
mod vectors;

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::desktop::Desktop;
use super::job::Job;
use super::process::{Launch, Process};
use super::security::Descriptor;
use super::token::Token;
use crate::acl::{Ace, AceKind, Acl, Rights};
use crate::command_line::{environment_block, join, wide};
use crate::plan::{JobPlan, TokenPlan, UiLimit};
use crate::sid::Sid;

/// Longer than anything here takes, shorter than anybody waits.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The program that plays the command in all tests: beside the tests' own directory, or where those who copied it say.
pub(crate) fn child_program() -> PathBuf {
    let programs = match std::env::var_os("PALISADE_TEST_PROGRAMS") {
        Some(programs) => PathBuf::from(programs),
        None => {
            let test = std::env::current_exe().unwrap();
            test.parent().and_then(Path::parent).unwrap().to_path_buf()
        }
    };
    let program = programs.join("palisade-windows-test-child.exe");
    assert!(
        program.is_file(),
        "{} is missing: it is built with the feature `model`",
        program.display()
    );
    // A path of Linux, where Wine runs there, becomes one with a drive.
    crate::survey::plain(&std::fs::canonicalize(&program).unwrap())
        .unwrap()
        .as_path()
        .to_path_buf()
}

/// A plan that takes nothing away.
pub(crate) fn harmless() -> TokenPlan {
    TokenPlan {
        disable_max_privilege: false,
        lua_token: false,
        write_restricted: false,
        restricting: Vec::new(),
        disable: Vec::new(),
        delete_privileges: Vec::new(),
        default_dacl: Vec::new(),
        must_refuse: Rights::CHANGES,
    }
}

pub(crate) fn job_plan() -> JobPlan {
    JobPlan {
        kill_on_close: true,
        no_breakaway: true,
        active_processes: None,
        job_memory: None,
        cpu_seconds: None,
        ui_limits: UiLimit::ALL.to_vec(),
    }
}

pub(crate) fn bytes_of(aces: impl IntoIterator<Item = Ace>) -> Vec<u8> {
    aces.into_iter().collect::<Acl>().to_bytes().unwrap()
}

pub(crate) fn allow(rights: Rights, sid: &Sid) -> Ace {
    Ace::new(AceKind::Allow, rights, sid.clone())
}

pub(crate) fn desktop() -> Desktop {
    let user = Token::own().unwrap().user().unwrap();
    let list = bytes_of([allow(Rights(0x000F_01FF), &user)]);
    let number = super::random::numbers().unwrap()[0];
    Desktop::create(
        &format!("palisade-test-{number:08x}"),
        &Descriptor::new(&list).unwrap(),
    )
    .unwrap()
}

/// Starts the child in these jobs, without handles of its own.
pub(crate) fn start_child(arguments: &[&str], jobs: &[&Job]) -> Process {
    let program = child_program();
    let mut argv = vec![program.as_os_str()];
    argv.extend(arguments.iter().map(std::ffi::OsStr::new));
    let variables = std::env::vars_os().map(|(name, value)| {
        (
            wide(name.as_os_str()).unwrap(),
            wide(value.as_os_str()).unwrap(),
        )
    });
    let null = std::fs::File::options()
        .read(true)
        .write(true)
        .open("NUL")
        .unwrap();
    let handle = std::os::windows::io::AsHandle::as_handle(&null);
    Launch {
        program: &program,
        command_line: &join(&argv).unwrap(),
        environment: &environment_block(variables).unwrap(),
        directory: program.parent().unwrap(),
        token: &Token::own().unwrap().restrict(&harmless()).unwrap(),
        jobs,
        desktop: &desktop(),
        stdio: [handle; 3],
    }
    .start()
    .unwrap()
}
