//! What is said after a run that did not end by itself.

use std::ffi::OsString;
use std::time::Duration;

use palisade::Outcome;
use palisade::runner::approve::visible;
use palisade::runner::outcome::SetupFailure;
use palisade::runner::policy::LimitKind;

use super::line::Line;
use super::page::Page;
use crate::exit::Code;
use crate::run::code;
use crate::say::Tone;

/// The page about an end, if there is anything to say that the command has not said. A denial has a page of its own.
pub(crate) fn page(outcome: &Outcome, line: &Line, program: &OsString) -> Option<Page> {
    match outcome {
        Outcome::TimedOut { after } => Some(timed_out(*after, line)),
        Outcome::LimitExceeded { which } => Some(over(*which, line)),
        Outcome::SetupFailed(failure) => Some(not_started(failure, program)),
        Outcome::Lost { why } => Some(
            Page::new("lost", Tone::Bad, visible(why))
                .next("see what this machine can do", "palisade doctor"),
        ),
        _ => None,
    }
}

fn timed_out(after: Duration, line: &Line) -> Page {
    let seconds = after.as_secs().max(1);
    let more = format!("{}s", seconds.saturating_mul(2));
    Page::new(
        "ended",
        Tone::Careful,
        format!("its time was up after {after:?}; everything that it started was ended"),
    )
    .next(
        "give it more time",
        line.with(&["--timeout".into(), more.into()]),
    )
}

fn over(which: LimitKind, line: &Line) -> Page {
    let (what, option) = match which {
        LimitKind::Memory => ("memory", Some(("--memory", "8GiB"))),
        LimitKind::Pids => ("processes", Some(("--pids", "4096"))),
        LimitKind::Disk => ("written bytes", None),
        LimitKind::Cpu => ("processor time", None),
        LimitKind::Wall => ("time", Some(("--timeout", "1h"))),
    };
    let page = Page::new(
        "ended",
        Tone::Careful,
        format!("it was over its limit of {what}; everything that it started was ended"),
    );
    match option {
        Some((option, value)) => {
            page.next("give it more", line.with(&[option.into(), value.into()]))
        }
        None => page.next(
            "see the limits",
            "palisade policy show    # [limits] sets them",
        ),
    }
}

/// The program could not be executed, or the sandbox could not be set up for it.
pub(crate) fn not_started(failure: &SetupFailure, program: &OsString) -> Page {
    let name = visible(&program.to_string_lossy());
    match code::of_failure(failure) {
        Code::NotFound => Page::new("error", Tone::Bad, format!("there is no program `{name}`"))
            .more("it is looked for in PATH, as the command would have it")
            .next(
                "see the PATH that commands get",
                "palisade run -- sh -c 'echo \"$PATH\"'",
            ),
        Code::Refused => Page::new(
            "error",
            Tone::Bad,
            format!("`{name}` cannot be executed: {}", visible(&failure.message)),
        )
        .more("it has to be a program, or a script that begins with a line such as #!/bin/sh, with the right to execute it"),
        Code::Usage => Page::new(
            "error",
            Tone::Bad,
            format!(
                "the policy makes no sense here: {}",
                visible(&failure.message)
            ),
        )
        .next("see the policy in force", "palisade policy show"),
        _ => Page::new(
            "error",
            Tone::Bad,
            format!("nothing ran: {}", visible(&failure.message)),
        )
        .next("see what this machine can do", "palisade doctor"),
    }
}
