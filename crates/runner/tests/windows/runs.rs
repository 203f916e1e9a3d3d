//! What goes in and what comes out.

use std::sync::{Arc, Mutex};

use palisade_exec_policy::{AskForApproval, ReviewDecision};
use palisade_policy::{Guarantee, Level, SandboxType};
use palisade_runner::approve::Prompt;
use palisade_runner::capture::Caps;
use palisade_runner::host::{Host, HostParts};
use palisade_runner::judge::RuleBook;
use palisade_runner::launch::{Driver, Launch, Live, OutputMode, Stdin};
use palisade_runner::outcome::Outcome;
use palisade_runner::session::{Policy, Sandbox};
use palisade_runner::supervise::Cancellation;

use super::acts::ACT;
use super::harness::Test;
use super::stage::{DRIVERS, PATIENT, Stage, block_on, environment, own};

pub(crate) const TESTS: &[Test] = &[
    ("output_is_captured_by_stream", output_is_captured_by_stream),
    (
        "exit_codes_are_those_of_windows",
        exit_codes_are_those_of_windows,
    ),
    ("a_crash_has_its_own_code", a_crash_has_its_own_code),
    ("input_arrives_whole", input_arrives_whole),
    (
        "input_that_nobody_reads_is_no_fault",
        input_that_nobody_reads_is_no_fault,
    ),
    (
        "a_queue_is_read_until_it_is_closed",
        a_queue_is_read_until_it_is_closed,
    ),
    ("arguments_arrive_as_they_are", arguments_arrive_as_they_are),
    ("the_environment_is_exact", the_environment_is_exact),
    ("it_runs_where_it_is_told", it_runs_where_it_is_told),
    ("big_output_is_bounded", big_output_is_bounded),
    (
        "live_output_is_what_was_written",
        live_output_is_what_was_written,
    ),
    (
        "a_name_is_looked_for_in_the_commands_path",
        a_name_is_looked_for_in_the_commands_path,
    ),
    ("many_at_once", many_at_once),
    (
        "a_session_with_full_access_runs",
        a_session_with_full_access_runs,
    ),
    ("a_session_can_be_talked_to", a_session_can_be_talked_to),
    (
        "the_host_is_found_by_its_variables",
        the_host_is_found_by_its_variables,
    ),
];

fn output_is_captured_by_stream() {
    let stage = Stage::new();
    for driver in DRIVERS {
        let run = stage.run(Launch::new(stage.act("say", &["hello"])), driver);
        assert_eq!(run.outcome, Outcome::Exited { code: 0 }, "{run:?}");
        assert_eq!(run.output.stdout.text(), "hello");
        assert!(
            run.output.stderr.is_empty() && run.notes.is_empty(),
            "{run:?}"
        );
        assert!(run.duration < PATIENT, "nobody holds its streams: {run:?}");
        let kill = run.enforcement.measure(Guarantee::TreeKill).unwrap();
        assert_eq!(kill.level, Level::Enforced);
        let run = stage.run(Launch::new(stage.act("complain", &["oh"])), driver);
        assert_eq!(run.output.stderr.text(), "oh");
        assert!(run.output.stdout.is_empty());
    }
}

fn exit_codes_are_those_of_windows() {
    let stage = Stage::new();
    for code in [0_u32, 1, 3, 255, 259, 0xC000_0005, 0xC000_013A, u32::MAX] {
        for driver in DRIVERS {
            let exit = stage.act("exit", &[code.to_string()]);
            let run = stage.run(Launch::new(exit), driver);
            let code = code.cast_signed();
            assert_eq!(run.outcome, Outcome::Exited { code });
        }
    }
}

fn a_crash_has_its_own_code() {
    let stage = Stage::new();
    let run = stage.run(
        Launch::new(stage.act::<&str>("abort", &[])),
        Driver::Blocking,
    );
    let Outcome::Exited { code } = run.outcome else {
        panic!("{run:?}")
    };
    assert_eq!(code.cast_unsigned(), 0xC000_0409);
    assert!(run.outcome.to_string().contains("0xC0000409"), "{run}");
}

fn input_arrives_whole() {
    let stage = Stage::new();
    let input: Vec<u8> = (0..1024 * 1024_u32).map(|n| (n % 251) as u8).collect();
    for driver in DRIVERS {
        let mut launch = Launch::new(stage.act::<&str>("repeat", &[]));
        launch.stdin = Stdin::Bytes(input.clone());
        launch.output = OutputMode::Capture(Caps::new(usize::MAX, 0));
        let run = stage.run(launch, driver);
        assert_eq!(run.outcome, Outcome::Exited { code: 0 });
        assert!(run.output.stdout.head == input);
        // Without any, it sees the end at once.
        let run = stage.run(Launch::new(stage.act::<&str>("repeat", &[])), driver);
        assert!(run.outcome.success() && run.output.stdout.is_empty());
    }
}

fn input_that_nobody_reads_is_no_fault() {
    let stage = Stage::new();
    for driver in DRIVERS {
        let mut launch = Launch::new(stage.act("say", &["done"]));
        launch.stdin = Stdin::Bytes(vec![b'x'; 4 * 1024 * 1024]);
        let run = stage.run(launch, driver);
        assert_eq!(run.outcome, Outcome::Exited { code: 0 });
        assert_eq!(run.output.stdout.text(), "done");
    }
}

fn a_queue_is_read_until_it_is_closed() {
    let stage = Stage::new();
    for driver in DRIVERS {
        let (sender, queue) = tokio::sync::mpsc::channel(1);
        let feeder = std::thread::spawn(move || {
            for piece in ["one ", "two ", "three"] {
                sender.blocking_send(piece.as_bytes().to_vec()).unwrap();
            }
        });
        let mut launch = Launch::new(stage.act::<&str>("repeat", &[]));
        launch.stdin = Stdin::Queue(queue);
        let run = stage.run(launch, driver);
        feeder.join().unwrap();
        assert_eq!(run.output.stdout.text(), "one two three");
    }
}

fn arguments_arrive_as_they_are() {
    let stage = Stage::new();
    let hostile = [
        "",
        "a b",
        r#"say "hi""#,
        r"C:\dir\",
        r#"\\" & calc.exe & ""#,
        "%PATH%",
        "^|>",
        "tab\there",
        "ünï©öde 漢字",
        r#"\\\\""#,
    ];
    let run = stage.run(
        Launch::new(stage.act("arguments", &hostile)),
        Driver::Blocking,
    );
    assert_eq!(run.output.stdout.text(), format!("{hostile:?}"));
}

fn the_environment_is_exact() {
    let stage = Stage::new();
    let mut command = stage.act::<&str>("environment", &[]);
    command.env.insert("PALISADE_TEST".into(), "ä b=c".into());
    command.env.insert("Empty".into(), "".into());
    let mut expected: Vec<_> = command.env.clone().into_iter().collect();
    let run = stage.run(Launch::new(command.clone()), Driver::Blocking);
    assert!(run.outcome.success(), "{run:?}");
    let by_name = |one: &(std::ffi::OsString, _), other: &(std::ffi::OsString, _)| {
        one.0
            .to_ascii_uppercase()
            .cmp(&other.0.to_ascii_uppercase())
    };
    expected.sort_by(by_name);
    let seen = run.output.stdout.text().into_owned();
    let expected: Vec<String> = expected.iter().map(|pair| format!("{pair:?}")).collect();
    for pair in &expected {
        assert!(seen.contains(pair.as_str()), "{pair} is not in {seen}");
    }
    // Wine adds what its loader found; nothing else is added.
    let more = seen.matches("(\"").count() - expected.len();
    let wine = seen.matches("(\"WINE").count();
    assert_eq!(more, wine, "{seen}");

    command.env.insert("palisade_test".into(), "twice".into());
    let run = stage.run(Launch::new(command), Driver::Blocking);
    let Outcome::SetupFailed(failure) = run.outcome else {
        panic!("{run:?}")
    };
    assert!(failure.message.contains("by case"), "{}", failure.message);
}

fn it_runs_where_it_is_told() {
    let stage = Stage::new();
    let below = stage.file("be low");
    std::fs::create_dir(&below).unwrap();
    let command = stage.act::<&str>("where", &[]).with_cwd(&below);
    let run = stage.run(Launch::new(command), Driver::Blocking);
    let said = std::path::PathBuf::from(run.output.stdout.text().into_owned());
    assert_eq!(said.canonicalize().unwrap(), below.canonicalize().unwrap());
    for nowhere in [stage.file("none"), own()] {
        let command = stage.act::<&str>("where", &[]).with_cwd(nowhere);
        let run = stage.run(Launch::new(command), Driver::Blocking);
        let Outcome::SetupFailed(failure) = run.outcome else {
            panic!("{run:?}")
        };
        assert_eq!(failure.step, "entering the working directory");
    }
}

fn big_output_is_bounded() {
    let stage = Stage::new();
    for driver in DRIVERS {
        let mut launch = Launch::new(stage.act("flood", &["48"]));
        launch.output = OutputMode::Capture(Caps::new(1000, 1000));
        let run = stage.run(launch, driver);
        assert_eq!(run.outcome, Outcome::Exited { code: 0 });
        let captured = &run.output.stdout;
        assert_eq!(captured.total(), 48 * 1024 * 1024);
        assert_eq!((captured.head.len(), captured.tail.len()), (1000, 1000));
    }
}

fn live_output_is_what_was_written() {
    let stage = Stage::new();
    for driver in DRIVERS {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let theirs = Arc::clone(&seen);
        let mut launch = Launch::new(stage.act("flood", &["2"]));
        launch.output = OutputMode::Capture(Caps::new(usize::MAX, 0));
        launch.live = Live::Call(Box::new(move |chunk| {
            theirs.lock().unwrap().extend_from_slice(&chunk.bytes);
        }));
        let run = stage.run(launch, driver);
        assert!(run.outcome.success());
        assert!(*seen.lock().unwrap() == run.output.stdout.head);
        assert_eq!(run.output.stdout.head.len(), 2 * 1024 * 1024);
    }
}

fn a_name_is_looked_for_in_the_commands_path() {
    let stage = Stage::new();
    let tools = stage.file("tools");
    std::fs::create_dir(&tools).unwrap();
    std::fs::copy(own(), tools.join("palisade-tool.exe")).unwrap();
    let named = |path: &std::path::Path| {
        let mut command = stage.act_of("palisade-tool".as_ref(), "say", &["found"]);
        command.env.insert("Path".into(), path.into());
        stage.run(Launch::new(command), Driver::Blocking)
    };
    let run = named(&tools);
    assert_eq!(run.output.stdout.text(), "found", "{run:?}");
    let missing = named(stage.path());
    assert!(
        matches!(missing.outcome, Outcome::SetupFailed(_)),
        "{missing:?}"
    );
    // Not even from the directory that it runs in.
    std::fs::copy(own(), stage.file("palisade-tool.exe")).unwrap();
    let missing = named(std::path::Path::new("."));
    assert!(
        matches!(missing.outcome, Outcome::SetupFailed(_)),
        "{missing:?}"
    );
}

/// Some live on while others end: none of them may have got a stream of another.
fn many_at_once() {
    let stage = Stage::new();
    let cancel = Cancellation::new();
    std::thread::scope(|scope| {
        let start = |number: usize, act, text: &str| {
            let (stage, cancel, text) = (&stage, cancel.clone(), text.to_owned());
            scope.spawn(move || {
                let mut launch = Launch::new(stage.act(act, &[&text]));
                if act == "sleep" {
                    launch.cancel = cancel;
                }
                stage.run(launch, DRIVERS[number % 2])
            })
        };
        let mut sleep = Vec::new();
        let mut say = Vec::new();
        for number in 0..6 {
            sleep.push(start(number, "sleep", ""));
            say.push(start(number, "say", &number.to_string()));
        }
        for (number, run) in say.into_iter().enumerate() {
            let run = run.join().unwrap();
            assert_eq!(run.output.stdout.text(), number.to_string(), "{run:?}");
            assert!(run.notes.is_empty(), "{run:?}");
        }
        cancel.cancel();
        for run in sleep {
            assert_eq!(run.join().unwrap().outcome, Outcome::Cancelled);
        }
    });
}

fn yes(_: &Prompt) -> ReviewDecision {
    ReviewDecision::Approved
}

fn host() -> Host {
    Host::from_parts(HostParts::look().with_environment(environment()))
}

fn a_session_with_full_access_runs() {
    let stage = Stage::new();
    let policy = Policy::full_access(stage.path()).approval(AskForApproval::OnRequest);
    let sandbox = Sandbox::on(host(), policy).unwrap();
    let session = sandbox.session(RuleBook::builtin().unwrap(), yes).unwrap();
    let command = || session.command(own()).args([ACT, "say", "kept"]);
    let run = command().output_blocking().unwrap();
    assert_eq!(run.outcome, Outcome::Exited { code: 0 }, "{run:?}");
    assert_eq!(run.output.stdout.text(), "kept");
    assert_eq!(run.sandbox, SandboxType::None);
    let run = block_on(command().output()).unwrap();
    assert_eq!(run.output.stdout.text(), "kept");
    let run = session
        .command(own())
        .args([ACT, "environment"])
        .output_blocking();
    let said = run.unwrap().output.stdout.text().into_owned();
    assert!(said.contains(r#"("PALISADE_SANDBOX", "none")"#), "{said}");
}

fn a_session_can_be_talked_to() {
    let stage = Stage::new();
    let policy = Policy::full_access(stage.path()).approval(AskForApproval::OnRequest);
    let sandbox = Sandbox::on(host(), policy).unwrap();
    let session = sandbox.session(RuleBook::builtin().unwrap(), yes).unwrap();
    block_on(async {
        let mut child = session
            .command(own())
            .args([ACT, "repeat"])
            .spawn()
            .await
            .unwrap();
        assert!(child.write("to ").await && child.write("and fro").await);
        child.close_stdin();
        let mut said = Vec::new();
        while let Some(chunk) = child.next().await {
            said.extend(chunk.bytes);
        }
        assert_eq!(said, b"to and fro");
        assert!(child.wait().await.outcome.success());

        let child = session
            .command(own())
            .args([ACT, "sleep"])
            .spawn()
            .await
            .unwrap();
        child.signal(15);
        let run = child.wait().await;
        assert_eq!(run.outcome, Outcome::Signaled { signal: 15 });
    });
}

fn the_host_is_found_by_its_variables() {
    let stage = Stage::new();
    let at = |name: &str| {
        let path = stage.file(name);
        std::fs::create_dir_all(&path).unwrap();
        path
    };
    let mut variables = environment();
    for (name, directory) in [
        ("UserProfile", "home"),
        ("TMP", "tmp"),
        ("LOCALAPPDATA", "local"),
        ("Home", "msys"),
    ] {
        variables.retain(|known, _| !known.eq_ignore_ascii_case(name));
        variables.insert(name.into(), at(directory).into());
    }
    let host = Host::from_parts(HostParts::default().with_environment(variables));
    let same = |path: &std::path::Path, name: &str| {
        path.canonicalize().unwrap() == stage.file(name).canonicalize().unwrap()
    };
    assert!(same(host.facts.home.as_ref().unwrap().as_path(), "home"));
    assert!(same(host.facts.tmpdir.as_ref().unwrap().as_path(), "tmp"));
    assert!(same(host.other_home.as_ref().unwrap().as_path(), "msys"));
    assert_eq!(host.state_dir, Some(stage.file("local").join("palisade")));
    let config = host.config_dir.unwrap();
    assert!(config.ends_with(r"AppData\Roaming\palisade"), "{config:?}");
    for path in [host.facts.home.unwrap(), host.facts.tmpdir.unwrap()] {
        assert!(!path.to_string().starts_with(r"\\?\"), "{path}");
    }
    let real = Host::look();
    assert!(real.facts.home.is_some() && real.state_dir.is_some());
    assert!(
        real.environment
            .keys()
            .all(|name| !name.to_string_lossy().starts_with('='))
    );
}
