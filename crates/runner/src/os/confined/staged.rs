//! A command behind `sandbox-exec` and the helper: how it is asked for, and what its end means.

use std::ffi::OsString;
use std::os::fd::OwnedFd;

use palisade_policy::Environment;
use palisade_seatbelt::apply::stage::{REPORT_MAX, Staged, heard, hidden_variable};
use palisade_seatbelt::apply::{ApplyError, Launch};
use rustix::io::Errno;

use crate::os::bare::candidates;
use crate::os::order::Order;
use crate::outcome::SetupFailure;
use crate::supervise::{Ended, How, NoEnd};

/// The order that starts the helper under the profile, which then becomes the command of this one.
///
/// # Errors
/// It cannot be passed on, or is too large.
pub(super) fn wrapped(
    order: &Order,
    launch: &Launch,
    helper: &std::path::Path,
) -> Result<Order, SetupFailure> {
    let name = order.argv.first().filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| failure(&ApplyError::NoProgram))?;
    let staged = match &order.program {
        Some(judged) => Staged::new([judged.path.clone().into_os_string()], order.argv.clone())
            .with_identity(judged.device, judged.inode),
        None => Staged::new(candidates(name, order), order.argv.clone()),
    };
    // Nobody but the helper, in the sandbox, is to do as the command's variables say.
    let env: Environment = order
        .env
        .iter()
        .map(|(name, value)| (hidden_variable(name), value.clone()))
        .collect();
    let environment = env
        .iter()
        .map(|(name, value)| name.len() + value.len() + 2 + size_of::<u64>())
        .sum();
    let argv: Vec<OsString> = launch
        .words(helper, staged.arguments(), environment)
        .map_err(|error| failure(&error))?;
    Ok(Order {
        argv,
        env,
        cwd: order.cwd.clone(),
        program: None,
        directory: order.directory,
        terminal: order.terminal,
        last: order.last,
    })
}

/// What the helper said so far. When the process has ended, that is all.
pub(super) fn read(report: &OwnedFd) -> Result<Vec<u8>, Errno> {
    let mut said = Vec::new();
    let mut buffer = [0; 1 + REPORT_MAX];
    loop {
        match rustix::io::read(report, &mut buffer) {
            Ok(0) | Err(Errno::AGAIN) => return Ok(said),
            Ok(count) => said.extend(buffer.iter().take(count)),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
        if said.len() > REPORT_MAX {
            return Ok(said);
        }
    }
}

/// What an end means, by what the helper said.
///
/// # Errors
/// The command was not started; or nobody knows.
pub(super) fn ended(
    ended: Ended,
    said: Result<Vec<u8>, Errno>,
    program: &str,
) -> Result<Ended, NoEnd> {
    let said = said.map_err(|errno| {
        NoEnd::Lost(format!(
            "whether {program} was started is not known: {errno}"
        ))
    })?;
    let end = match ended.how {
        How::Code(code) => Ok(code),
        How::Signal(signal) => Err(signal),
        // No limit is kept that could have ended it.
        How::Limit(_) => Err(0),
    };
    match heard(&said, end) {
        Ok(()) => Ok(ended),
        // Somebody said something that the helper does not say: whether the command ran cannot be known.
        Err(error @ ApplyError::Garbled) => Err(NoEnd::Lost(format!("{program}: {error}"))),
        Err(error) => Err(NoEnd::NotStarted(about(&failure(&error), program))),
    }
}

fn about(failure: &SetupFailure, program: &str) -> SetupFailure {
    let message = format!("{} ({program})", failure.message);
    SetupFailure::new(failure.step.clone(), failure.errno, message)
}

/// A refusal of the backend, in the words of all.
pub(super) fn failure(error: &ApplyError) -> SetupFailure {
    let (step, errno) = match error {
        ApplyError::Missing | ApplyError::Nested | ApplyError::NotMacos => {
            ("finding a sandbox".to_owned(), None)
        }
        ApplyError::Temporary { source, .. } => (
            "making the session's directory".to_owned(),
            source.as_ref().and_then(std::io::Error::raw_os_error),
        ),
        ApplyError::Step { step, source } => (step.to_string(), source.raw_os_error()),
        ApplyError::NestedOrRefused
        | ApplyError::ProfileRefused
        | ApplyError::EndedBefore { .. }
        | ApplyError::KilledBefore { .. } => ("starting the sandbox".to_owned(), None),
        _ => (
            "reading a request".to_owned(),
            Some(Errno::INVAL.raw_os_error()),
        ),
    };
    SetupFailure::new(step, errno, error.to_string())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::path::Path;

    use palisade_seatbelt::profile::Parameters;

    use super::*;
    use crate::os::order::JudgedFile;
    use crate::supervise::Usage;

    fn end(how: How) -> Ended {
        Ended {
            how,
            usage: Usage::default(),
        }
    }

    #[test]
    fn a_command_that_exits_like_sandbox_exec_is_a_command_that_exited() {
        for code in [71, 65, 64, 127, 0] {
            let told = ended(end(How::Code(code)), Ok(b"S".to_vec()), "make");
            assert_eq!(told, Ok(end(How::Code(code))));
        }
    }

    #[test]
    fn what_never_entered_the_sandbox_was_not_started_and_never_runs_plain() {
        for (how, word) in [
            (How::Code(71), "in another sandbox"),
            (How::Code(65), "did not compile"),
            (How::Code(0), "ended with 0"),
            (How::Signal(9), "signal 9"),
        ] {
            let told = ended(end(how), Ok(Vec::new()), "make");
            let Err(NoEnd::NotStarted(failure)) = told else {
                panic!("{told:?}")
            };
            assert_eq!(failure.step, "starting the sandbox");
            assert!(failure.message.contains(word), "{failure}");
        }
        let told = ended(
            end(How::Code(127)),
            Ok(b"S\x03\0\0\0\x02\0\0\0".to_vec()),
            "make",
        );
        let Err(NoEnd::NotStarted(failure)) = told else {
            panic!("{told:?}")
        };
        assert_eq!(
            (failure.step.as_str(), failure.errno),
            ("starting the program", Some(2))
        );
        // Where it cannot be known, it is not said that nothing ran.
        for said in [Ok(b"?".to_vec()), Err(Errno::IO)] {
            let told = ended(end(How::Code(71)), said, "make");
            assert!(matches!(told, Err(NoEnd::Lost(_))), "{told:?}");
        }
    }

    #[test]
    fn what_the_helper_said_is_read_without_waiting_and_not_without_end() {
        let (report, theirs) = crate::os::stdio::pipe_from_child().unwrap();
        // Somebody between fork and exec may still hold the other end.
        assert_eq!(read(&report), Ok(Vec::new()));
        rustix::io::write(&theirs, b"S").unwrap();
        assert_eq!(read(&report), Ok(b"S".to_vec()));
        rustix::io::write(&theirs, &[b'S'; 4096]).unwrap();
        let said = read(&report).unwrap();
        assert!(said.len() > REPORT_MAX && said.len() < 64);
        drop(theirs);
        assert!(!read(&report).unwrap().is_empty());
    }

    #[test]
    fn the_helper_is_started_by_the_absolute_sandbox_exec_and_told_the_judged_file() {
        let launch = Launch::new("(version 1)", &Parameters::default()).unwrap();
        let helper = Path::new("/usr/local/bin/palisade-helper");
        let order = Order::new(["make", "all"], "/srv/app")
            .with_env(Environment::from([("PATH".into(), "/a:/b".into())]));
        let plain = wrapped(&order, &launch, helper).unwrap();
        let expected = [
            "/usr/bin/sandbox-exec",
            "-p",
            "(version 1)",
            "--",
            "/usr/local/bin/palisade-helper",
            "--palisade-seatbelt-stage-1",
            "-",
            "2",
            "/a/make",
            "/b/make",
            "make",
            "all",
        ];
        assert_eq!(plain.argv, expected);
        assert_eq!((plain.program, plain.cwd), (None, "/srv/app".into()));
        // `sandbox-exec` runs without a sandbox, and knows none of the command's variables.
        let hidden: Vec<_> = plain.env.keys().collect();
        assert_eq!(hidden, [&hidden_variable("PATH".as_ref())]);
        assert!(!plain.env.contains_key(OsStr::new("PATH")));
        let judged = order.with_program(JudgedFile {
            path: "/usr/bin/make".into(),
            device: 5,
            inode: 7,
        });
        let judged = wrapped(&judged, &launch, helper).unwrap();
        assert_eq!(judged.argv[6..10], ["5:7", "1", "/usr/bin/make", "make"]);
        let none = Order::new([""], "/");
        assert!(wrapped(&none, &launch, helper).is_err());
        let relative = Order::new(["make"], "/");
        assert!(wrapped(&relative, &launch, Path::new("helper")).is_err());
    }
}
