//! Which file is run: the one that the command's own search path leads to, or the one that was judged.

use super::{World, command, spawn};
use crate::apply::{Command, JudgedProgram, LaunchError, Stdio};
use crate::command_line::CommandLineError;
use crate::sys::tests::child_program;

#[test]
fn a_program_is_found_in_the_search_path_of_the_command() {
    let world = World::new();
    let session = world.session();
    let tools = world.root.join("tools");
    std::fs::create_dir(&tools).unwrap();
    std::fs::copy(child_program(), tools.join("Tool.exe")).unwrap();
    for name in ["tool", "tool.exe", "TOOL.EXE"] {
        let mut told = command(&["exit", "7"]);
        told.argv[0] = name.into();
        told.env.insert(
            "Path".into(),
            format!(r"relative;{}", tools.display()).into(),
        );
        told.env.remove(std::ffi::OsStr::new("PATH"));
        let output = spawn(&session, &told).finish(&[]);
        assert_eq!(output.exit.cause.code(), 7, "{name}");
    }
    // By a path it is found from the working directory, and nowhere else.
    let mut told = command(&["exit", "8"]);
    told.cwd = world.root.clone();
    told.argv[0] = r"tools\tool".into();
    assert_eq!(spawn(&session, &told).finish(&[]).exit.cause.code(), 8);
}

#[test]
fn the_working_directory_is_not_searched() {
    let world = World::new();
    let session = world.session();
    std::fs::copy(child_program(), world.root.join("planted.exe")).unwrap();
    for path in ["", ".", r"..\root"] {
        let mut told = Command::new(["planted", "exit", "0"], &world.root);
        told.env.insert("PATH".into(), path.into());
        let error = session
            .spawn(&told, &Stdio::null().unwrap())
            .map(drop)
            .unwrap_err();
        assert!(
            matches!(error, LaunchError::NoProgram { .. }),
            "{path}: {error}"
        );
    }
}

#[test]
fn batch_files_and_devices_are_no_programs() {
    let world = World::new();
    let session = world.session();
    let null = || Stdio::null().unwrap();
    std::fs::write(world.root.join("run.bat"), "exit 0").unwrap();
    let batch = session.spawn(&Command::new([r".\run.bat"], &world.root), &null());
    let error = batch.map(drop).unwrap_err();
    assert!(
        matches!(
            error,
            LaunchError::CommandLine(CommandLineError::BatchFile { .. })
        ),
        "{error}"
    );
    for name in [r"C:\nul", r"\\.\pipe\x", r"\\server\share\tool.exe"] {
        let told = Command::new([name], &world.root);
        assert!(session.spawn(&told, &null()).is_err(), "{name}");
    }
    let none = Command::new(Vec::<&str>::new(), &world.root);
    assert!(matches!(
        session.spawn(&none, &null()).map(drop),
        Err(LaunchError::CommandLine(CommandLineError::Empty))
    ));
}

#[test]
fn the_judged_file_runs_or_nothing() {
    let world = World::new();
    let session = world.session();
    let path = world.root.join("judged.exe");
    std::fs::copy(child_program(), &path).unwrap();
    let judged = JudgedProgram::look(&path).unwrap();
    // Whatever the first argument says.
    let mut told = command(&["exit", "6"]).with_program(judged.clone());
    told.argv[0] = "another name".into();
    assert_eq!(spawn(&session, &told).finish(&[]).exit.cause.code(), 6);

    let other = world.root.join("other.exe");
    std::fs::copy(child_program(), &other).unwrap();
    std::fs::rename(&other, &path).unwrap();
    let error = session
        .spawn(&told, &Stdio::null().unwrap())
        .map(drop)
        .unwrap_err();
    assert!(
        matches!(error, LaunchError::ProgramChanged { .. }),
        "{error}"
    );
    assert_eq!(judged.path(), path);
}
