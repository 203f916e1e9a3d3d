//! Arguments, variables and directories arrive as they were, unit by unit.

use std::ffi::{OsStr, OsString};
use std::os::windows::ffi::{OsStrExt as _, OsStringExt as _};

use super::{World, command, run, spawn};
use crate::apply::{LaunchError, Session, Stdio};
use crate::command_line::{CommandLineError, EnvironmentError};

/// What arrived, of what was sent.
fn sent(session: &Session, arguments: &[OsString]) -> Vec<Vec<u16>> {
    let mut all = vec![OsString::from("arguments")];
    all.extend(arguments.iter().cloned());
    let output = run(session, &all);
    let mut rest = output.stdout.as_slice();
    let mut arrived = Vec::new();
    while let [a, b, c, d, after @ ..] = rest {
        let length = u32::from_le_bytes([*a, *b, *c, *d]) as usize * 2;
        let (units, after) = after.split_at(length);
        arrived.push(
            units
                .chunks_exact(2)
                .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
                .collect(),
        );
        rest = after;
    }
    assert_eq!(rest, b"");
    arrived
}

fn assert_arrive(session: &Session, arguments: &[OsString]) {
    let wide: Vec<Vec<u16>> = arguments
        .iter()
        .map(|argument| argument.encode_wide().collect())
        .collect();
    assert_eq!(sent(session, arguments), wide, "{arguments:?}");
}

#[test]
fn nasty_arguments_arrive() {
    let world = World::new();
    let session = world.session();
    let nasty = [
        "",
        " ",
        "  ",
        "\t",
        "\n",
        "\r\n",
        "\"",
        "\"\"",
        "\"\"\"",
        "\\",
        "\\\\",
        "\\\"",
        "\\\\\"",
        "a\\",
        "a b\\",
        "a b\\\\",
        "\\\\server\\share\\",
        "C:\\Program Files\\",
        "say \"hi\"",
        "a\"b",
        "\"a b\"",
        "' '",
        "%PATH%",
        "%",
        "^",
        "&",
        "|",
        "<",
        ">",
        "&& exit 1",
        "; ls",
        "$(x)",
        "`x`",
        "*",
        "?",
        "[a]",
        "@file",
        "/c",
        "--",
        "-",
        "a=b",
        "=",
        "ends with space ",
        " starts",
        "\u{b}\u{c}",
        "tab\tin",
        "\u{1}\u{7f}",
        "~",
    ]
    .map(OsString::from);
    assert_arrive(&session, &nasty);
    // First, last, next to itself, and next to every other one.
    for (at, one) in nasty.iter().enumerate().step_by(8) {
        let mut turned = nasty.clone();
        turned.rotate_left(at);
        let doubled: Vec<OsString> = turned
            .into_iter()
            .flat_map(|other| [one.clone(), other.clone(), other])
            .collect();
        assert_arrive(&session, &doubled);
    }
}

#[test]
fn units_that_are_no_text_arrive() {
    let world = World::new();
    let session = world.session();
    let units: [&[u16]; 6] = [
        &[0xD800],
        &[0xDC00, 0xD800],
        &[0x61, 0xDFFF, 0x20, 0x22],
        &[0xFFFF, 0xFEFF],
        &[0x5C, 0xD83D, 0xDE00, 0x5C],
        &[0x9, 0xD800, 0x9],
    ];
    assert_arrive(&session, &units.map(OsString::from_wide));
    assert_arrive(
        &session,
        &["grün", "項目", "Ωμέγα", "🦀 🦀", "e\u{301}", "\u{202e}abc"].map(OsString::from),
    );
}

#[test]
fn random_arguments_arrive() {
    let world = World::new();
    let session = world.session();
    // The same on every machine; units that mean something are frequent.
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let special: Vec<u16> = " \t\n\"\"\\\\\\%^&|<>='a".encode_utf16().collect();
    for _ in 0..12 {
        let arguments: Vec<OsString> = (0..=next(60))
            .map(|_| {
                let units: Vec<u16> = (0..next(20))
                    .map(|_| match next(8) {
                        0 => u16::try_from(1 + next(0xFFFF)).unwrap(),
                        _ => special[usize::try_from(next(special.len() as u64)).unwrap()],
                    })
                    .collect();
                OsString::from_wide(&units)
            })
            .collect();
        assert_arrive(&session, &arguments);
    }
}

#[test]
fn what_windows_would_cut_or_mistake_is_refused() {
    let world = World::new();
    let session = world.session();
    let null = || Stdio::null().unwrap();
    let nul = session.spawn(&command(&["arguments", "a\0b"]), &null());
    assert!(matches!(
        nul.map(drop),
        Err(LaunchError::CommandLine(CommandLineError::Nul { index: 2 }))
    ));
    let long = session.spawn(&command(&["arguments", &"x".repeat(40_000)]), &null());
    assert!(matches!(
        long.map(drop),
        Err(LaunchError::CommandLine(CommandLineError::TooLong { .. }))
    ));
    let mut twice = command(&["exit", "0"]);
    twice.env.insert("name".into(), "1".into());
    twice.env.insert("NAME".into(), "2".into());
    assert!(matches!(
        session.spawn(&twice, &null()).map(drop),
        Err(LaunchError::Environment(EnvironmentError::Twice { .. }))
    ));
}

#[test]
fn the_environment_is_the_one_that_was_given_and_the_plan_comes_first() {
    let world = World::new();
    let session = world.session();
    let mut told = command(&["environment"]);
    told.env
        .insert("Greeting".into(), "grüß = \"dich\" 🦀".into());
    told.env.insert("EMPTY".into(), "".into());
    told.env.insert("temp".into(), r"C:\somewhere\else".into());
    told.env
        .insert("HALF".into(), OsString::from_wide(&[0x61, 0xD800]));
    let output = spawn(&session, &told).finish(&[]);
    let units: Vec<u16> = output
        .stdout
        .chunks_exact(2)
        .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
        .collect();
    let seen: Vec<OsString> = units
        .split(|unit| *unit == 0)
        .map(OsString::from_wide)
        .collect();
    let has = |line: &OsStr| seen.iter().any(|known| known == line);
    assert!(has("Greeting=grüß = \"dich\" 🦀".as_ref()), "{seen:?}");
    assert!(has("EMPTY=".as_ref()));
    assert!(has(&OsString::from_wide(&[
        0x48, 0x41, 0x4C, 0x46, 0x3D, 0x61, 0xD800
    ])));
    for name in ["TEMP", "TMP"] {
        let mut line = OsString::from(format!("{name}="));
        line.push(session.tmpdir());
        assert!(has(&line), "{seen:?}");
    }
    let temps = seen
        .iter()
        .filter(|line| line.to_string_lossy().to_lowercase().starts_with("temp="));
    assert_eq!(temps.count(), 1);
    // Nothing of ours is there that was not given.
    assert!(std::env::var_os("USERPROFILE").is_some());
    assert!(
        !seen
            .iter()
            .any(|line| line.to_string_lossy().starts_with("USERPROFILE="))
    );
}

#[test]
fn a_command_runs_where_it_was_told() {
    let world = World::new();
    let session = world.session();
    let directory = world.root.join("dir with ünïcode");
    std::fs::create_dir(&directory).unwrap();
    let mut told = command(&["directory"]);
    told.cwd = directory.clone();
    assert_eq!(
        spawn(&session, &told).finish(&[]).text(),
        directory.to_str().unwrap()
    );
    told.cwd = "relative".into();
    assert!(matches!(
        session.spawn(&told, &Stdio::null().unwrap()).map(drop),
        Err(LaunchError::Path(_))
    ));
}
