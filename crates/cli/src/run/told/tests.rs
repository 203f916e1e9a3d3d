//! Pages that no test can bring about on every machine, as people read them.

use std::ffi::OsString;
use std::path::Path;

use palisade::runner::approve::NoPrompter;
use palisade::runner::exec_policy::Refusal;
use palisade::runner::outcome::SetupFailure;
use palisade::runner::policy::{AbsolutePath, Clause, Grant, LimitKind};
use palisade::{Evidence, Outcome};

use super::heard::{self, Overheard};
use super::line::Line;
use super::page::Page;
use super::{after, denied, refused};
use crate::events::Events;
use crate::lasting::Lasting;
use crate::say::Voice;

const PLAIN: Voice = Voice {
    quiet: false,
    colour_out: false,
    colour_err: false,
    err_is_terminal: true,
};

fn line() -> Line {
    let words = ["palisade", "run", "--", "docker", "ps"];
    Line::of(words.iter().map(OsString::from).collect())
}

fn text(page: &Page) -> String {
    page.text(&PLAIN)
}

fn of_denial(evidence: &[Evidence]) -> String {
    let lasting = Lasting {
        file: Some(Path::new("/home/dev/.config/palisade/policy.toml")),
        write: &[".".to_owned()],
        hosts: &["docs.example:443".to_owned()],
        argv: Some(&["docker", "ps"].map(OsString::from)),
        helps: &|_, _| true,
    };
    text(&denied::page(evidence, &line(), &lasting))
}

fn path(text: &str) -> AbsolutePath {
    AbsolutePath::new(text).unwrap()
}

#[test]
fn a_system_call_has_no_grant() {
    insta::assert_snapshot!(of_denial(&[Evidence::SystemCall]));
}

#[test]
fn several_denials_are_one_page_with_one_line() {
    let socket = path("/run/docker.sock");
    let secret = path("/home/dev/.docker/config.json");
    let likely = |resource: &str, clause, grant| Evidence::Likely {
        resource: resource.to_owned(),
        clause,
        smallest_grant: Some(grant),
    };
    insta::assert_snapshot!(of_denial(&[
        likely(
            "connect to /run/docker.sock",
            Clause::UnlistedSocket,
            Grant::UnixSocket(socket),
        ),
        likely(
            "read /home/dev/.docker/config.json",
            Clause::Protected(path("/home/dev/.docker")),
            Grant::Read(secret),
        ),
    ]));
}

#[test]
#[cfg(target_os = "linux")]
fn no_line_is_offered_that_would_be_refused() {
    let text = of_denial(&[Evidence::Likely {
        resource: "connect to 127.0.0.1:80".to_owned(),
        clause: Clause::NoHostLoopback,
        smallest_grant: Some(Grant::HostLoopback),
    }]);
    assert!(text.contains("palisade run --net -- docker ps"), "{text}");
    assert!(!text.contains("host-loopback"), "{text}");
}

#[test]
fn nothing_hides_in_what_is_to_be_kept() {
    let odd = "/srv/\u{202e}a\"\\\u{1b}[2Jé";
    let text = of_denial(&[Evidence::Likely {
        resource: "create it".to_owned(),
        clause: Clause::OutsideRoots,
        smallest_grant: Some(Grant::Write(path(odd))),
    }]);
    assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
    let kept = r#"write = [".", "/srv/\U0000202Ea\"\\\U0000001B[2Jé"]"#;
    assert!(text.contains(kept), "{text}");
}

#[test]
fn ends_that_are_not_of_the_command_have_a_page_each() {
    let program = OsString::from("docker");
    let outcomes = [
        Outcome::LimitExceeded {
            which: LimitKind::Memory,
        },
        Outcome::LimitExceeded {
            which: LimitKind::Disk,
        },
        Outcome::Lost {
            why: "the sandbox session ended before it did".to_owned(),
        },
        Outcome::SetupFailed(SetupFailure::new(
            "claiming the workspace",
            None,
            "another command guards more",
        )),
    ];
    let pages: Vec<String> = outcomes
        .iter()
        .filter_map(|outcome| after::page(outcome, &line(), &program))
        .map(|page| text(&page))
        .collect();
    insta::assert_snapshot!(pages.join("\n"));
    for outcome in [
        Outcome::Exited { code: 1 },
        Outcome::Signaled { signal: 15 },
        Outcome::Cancelled,
    ] {
        assert_eq!(after::page(&outcome, &line(), &program), None);
    }
}

#[test]
fn whoever_said_no_is_told_apart() {
    let why = |somebody| refused::Why {
        somebody,
        explain: "palisade explain -- docker ps".to_owned(),
        ..refused::Why::default()
    };
    let note = |note: &str| Refusal::Denied {
        note: Some(note.to_owned()),
    };
    let nobody = note("nobody could be asked: there is no terminal");
    assert!(heard::nobody(&nobody));
    assert!(!heard::nobody(&note("not today")));
    let pages = [
        refused::page(&nobody, &why(false)),
        refused::page(&note("not \u{1b}[2Jtoday"), &why(true)),
        refused::page(&Refusal::Aborted, &why(true)),
        refused::page(&Refusal::NoWorkingSandbox, &why(true)),
    ];
    let pages: Vec<String> = pages.iter().map(text).collect();
    insta::assert_snapshot!(pages.join("\n"));
}

#[test]
fn whoever_is_overheard_answers_the_same() {
    use palisade::runner::approve::{Prompt, Prompter as _};
    use palisade::runner::exec_policy::ReviewDecision;
    let overheard = Overheard::new(Box::new(NoPrompter), Events::default());
    let prompt = Prompt::new("run-1", ["make"], "/srv/app");
    let mut asking = overheard.ask(&prompt);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let answer = asking.as_mut().poll(&mut context);
    assert_eq!(answer, std::task::Poll::Ready(ReviewDecision::Denied));
}
