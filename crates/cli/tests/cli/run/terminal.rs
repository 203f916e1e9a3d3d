//! A command on the caller's terminal: one of its own inside, with keys, sizes and jobs.

use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};

use super::{states, until, word};
use crate::support::House;
use crate::support::terminal::Terminal;

/// Starts a shell with jobs on a terminal, with `palisade` as `$P`.
fn shell(house: &House) -> Terminal {
    let mut shell = house.command("bash");
    shell
        .args(["--norc", "--noprofile", "-i"])
        .env("PS1", "at your service$ ")
        .env("P", house.palisade().get_program());
    let mut terminal = Terminal::start(&mut shell);
    terminal.expect("at your service$ ");
    terminal
}

#[test]
fn each_stream_is_a_terminal_inside_if_it_is_one_outside() {
    let script =
        "for f in 0 1 2; do eval \"t$f=n; test -t $f && t$f=y\"; done; echo $t0$t1$t2 > seen";
    for streams in ["nnn", "nny", "nyn", "nyy", "ynn", "yny", "yyn", "yyy"] {
        let house = House::new();
        let mut command = house.palisade();
        command.args(["--quiet", "run", "--", "sh", "-c", script]);
        let mut terminal = Terminal::start_with(&mut command, 24, 80, |command, tty| {
            let stream = |letter: u8| match letter {
                b'y' => Stdio::from(tty.try_clone().unwrap()),
                _ => Stdio::null(),
            };
            let [stdin, stdout, stderr] = streams.as_bytes() else {
                panic!("three letters");
            };
            command.stdin(stream(*stdin));
            command.stdout(stream(*stdout)).stderr(stream(*stderr));
        });
        assert_eq!(terminal.end().code(), Some(0), "{}", terminal.all());
        assert_eq!(house.read("seen").trim_end(), streams);
    }
}

#[test]
fn what_is_shown_is_shown_as_it_would_be_without_us() {
    let house = House::new();
    let script = "echo one; echo two >&2; printf 'three\\r\\n'; stty -opost 2>/dev/null; echo four";
    for with_input in [true, false] {
        let mut command = house.palisade();
        command.args(["--quiet", "run", "--", "sh", "-c", script]);
        let mut terminal = Terminal::start_with(&mut command, 24, 80, |command, tty| {
            let stream = || Stdio::from(tty.try_clone().unwrap());
            command.stdout(stream()).stderr(stream());
            match with_input {
                true => command.stdin(stream()),
                false => command.stdin(Stdio::null()),
            };
        });
        assert_eq!(terminal.end().code(), Some(0));
        let wanted = match with_input {
            true => "one\r\ntwo\r\nthree\r\r\nfour\n",
            false => "one\r\ntwo\r\nthree\r\r\nfour\r\n",
        };
        assert_eq!(terminal.all(), wanted);
    }
}

#[test]
fn the_size_is_that_of_the_window_and_follows_it() {
    let house = House::new();
    // No shell: one that gets a signal while it starts a program may lose it.
    let script = "exec python3 -c 'import os, signal
signal.signal(signal.SIGINT, signal.SIG_DFL)
heard = [signal.SIGWINCH]
signal.pthread_sigmask(signal.SIG_BLOCK, heard)
while True:
    print(\"%dx%d\" % os.get_terminal_size()[::-1], flush=True)
    signal.sigwait(heard)'";
    let mut command = house.palisade();
    command.args(["--quiet", "run", "--", "sh", "-c", script]);
    let mut terminal = Terminal::start_sized(&mut command, 31, 97);
    terminal.expect("31x97");
    terminal.resize(44, 120);
    terminal.expect("44x120");
    terminal.type_keys("\x03");
    assert_eq!(terminal.end().code(), Some(130));
}

#[test]
fn ctrl_c_is_what_the_terminal_inside_makes_of_it() {
    let house = House::new();
    let mut command = house.palisade();
    let script = "exec python3 -c 'import signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
print(\"ready\", flush=True)
signal.sigwait([signal.SIGINT])
print(\"caught\", flush=True)
sys.exit(9)'";
    command.args(["--quiet", "run", "--", "sh", "-c", script]);
    let mut terminal = Terminal::start(&mut command);
    terminal.expect("ready");
    assert!(!terminal.is_cooked());
    terminal.type_keys("\x03");
    terminal.expect("caught");
    assert_eq!(terminal.end().code(), Some(9));
    assert!(terminal.is_cooked());

    // Where the command wants keys and no signals, it gets the key.
    let script = "stty raw -echo; echo ready; head -c 1 | od -An -tx1";
    let mut command = house.palisade();
    command.args(["--quiet", "run", "--", "sh", "-c", script]);
    let mut terminal = Terminal::start(&mut command);
    terminal.expect("ready");
    terminal.type_keys("\x03");
    terminal.expect("03");
    assert_eq!(terminal.end().code(), Some(0));
    assert!(terminal.is_cooked());
}

#[test]
fn what_is_typed_arrives_and_is_echoed_once() {
    let house = House::new();
    let mut command = house.palisade();
    command.args([
        "--quiet",
        "run",
        "--",
        "sh",
        "-c",
        "echo ready; cat; echo over",
    ]);
    let mut terminal = Terminal::start(&mut command);
    terminal.expect("ready\r\n");
    terminal.type_keys("hello\r");
    terminal.expect("hello\r\nhello\r\n");
    terminal.type_keys("\x04");
    assert_eq!(terminal.expect("over"), "");
    assert_eq!(terminal.end().code(), Some(0));
}

#[test]
fn a_pager_behind_us_keeps_its_keys_and_lines_still_arrive() {
    let house = House::new();
    let mut command = house.palisade();
    command.args(["--quiet", "run", "--", "cat"]);
    let (ours, theirs) = std::io::pipe().unwrap();
    let mut terminal = Terminal::start_with(&mut command, 24, 80, |command, tty| {
        let stream = || Stdio::from(tty.try_clone().unwrap());
        command.stdin(stream()).stderr(stream()).stdout(theirs);
    });
    // The terminal stays as it is: whoever reads the other end may want it.
    terminal.type_keys("hello\n");
    let mut lines = std::io::BufReader::new(ours);
    let mut line = String::new();
    std::io::BufRead::read_line(&mut lines, &mut line).unwrap();
    assert_eq!(line, "hello\n");
    assert!(terminal.is_cooked());
    terminal.type_keys("\x04");
    assert_eq!(terminal.end().code(), Some(0));
    assert_eq!(terminal.all(), "hello\r\n");
}

#[test]
fn with_its_output_in_a_pipe_ctrl_c_and_ctrl_z_do_what_they_do_without_us() {
    let house = House::new();
    let word = word(&house);
    let mut terminal = shell(&house);
    let inner = "echo rea\"\"dy >&2; while read line; do echo \"<$line>\"; done";
    terminal.type_keys(format!("$P --quiet run -- sh -c '{inner}' {word} | cat\n"));
    terminal.expect("ready\r\n");
    terminal.type_keys("\x1a");
    terminal.expect("Stopped");
    terminal.expect("at your service$ ");
    until("it is stopped inside", || states(&word) == ['T']);
    terminal.type_keys("fg\n");
    until("it goes on inside", || states(&word) == ['S']);
    terminal.type_keys("one\n");
    terminal.expect("<one>");
    terminal.type_keys("\x03");
    terminal.expect("at your service$ ");
    until("nothing of it runs", || states(&word).is_empty());
    terminal.type_keys("exit 7\n");
    assert_eq!(terminal.end().code(), Some(7));
}

/// What docs/troubleshooting.md says about passwords: the pipe goes inside, too.
#[test]
fn a_password_is_not_shown_where_the_pipe_is_inside() {
    let house = House::new();
    let script = "stty -echo < /dev/tty; echo ready; read line < /dev/tty; stty echo < /dev/tty; echo \"${#line}\" | cat";
    let mut command = house.palisade();
    command.args(["--quiet", "run", "-c", script]);
    let mut terminal = Terminal::start(&mut command);
    terminal.expect("ready");
    terminal.type_keys("hunter2\r");
    terminal.expect("7\r\n");
    assert_eq!(terminal.end().code(), Some(0));
    assert!(!terminal.all().contains("hunter2"), "{}", terminal.all());
}

#[test]
fn ctrl_z_stops_it_and_fg_lets_it_go_on() {
    let house = House::new();
    let word = word(&house);
    let mut terminal = shell(&house);
    let inner = format!("echo rea''dy; while read line; do echo \"<$line>\"; done' {word}");
    terminal.type_keys(format!(
        "$P --quiet run -- sh -c '{}\n",
        inner.replace("''", "")
    ));
    terminal.expect("ready\r\n");
    for round in ["one", "two"] {
        terminal.type_keys("\x1a");
        terminal.expect("Stopped");
        terminal.expect("at your service$ ");
        until("it is stopped inside", || states(&word) == ['T']);
        terminal.type_keys("fg\n");
        until("it goes on inside", || states(&word) == ['S']);
        terminal.type_keys(format!("{round}\r"));
        terminal.expect(&format!("<{round}>"));
    }
    terminal.type_keys("\x04");
    terminal.expect("at your service$ ");
    terminal.type_keys("exit 7\n");
    assert_eq!(terminal.end().code(), Some(7));
}

#[test]
fn a_shell_inside_minds_its_own_jobs() {
    let house = House::new();
    let word = word(&house);
    let mut command = house.palisade();
    command.args(["--quiet", "run", "--env", "PS1=inside$ ", "--"]);
    command.args(["bash", "--norc", "--noprofile", "-i"]);
    let mut terminal = Terminal::start(&mut command);
    terminal.expect("inside$ ");
    terminal.type_keys(format!("sh -c 'echo began; read line' {word}\r"));
    terminal.expect("began\r\n");
    terminal.type_keys("\x1a");
    terminal.expect("Stopped");
    terminal.expect("inside$ ");
    until("the job is stopped", || states(&word) == ['T']);
    // The shell itself is not: the key means nothing to it.
    terminal.type_keys("\x1aecho still-$((40 + 2))\r");
    terminal.expect("still-42");
    terminal.type_keys("kill -KILL %1; exit 8\rexit 8\r");
    assert_eq!(terminal.end().code(), Some(8));
}

#[test]
fn in_the_background_it_neither_stops_nor_takes_the_terminal() {
    let house = House::new();
    let mut terminal = shell(&house);
    terminal.type_keys("$P --quiet run -- sh -c 'sleep 0.5; echo done > note' &\n");
    until("it is done", || house.project().join("note").exists());
    terminal.type_keys("wait; echo waited-$((1 + 1))\n");
    terminal.expect("waited-2");
    terminal.type_keys("exit 3\n");
    assert_eq!(terminal.end().code(), Some(3));
    assert!(!terminal.all().contains("Stopped"), "{}", terminal.all());
}

#[test]
fn brought_to_the_foreground_it_takes_the_keys() {
    let house = House::new();
    let mut terminal = shell(&house);
    terminal.type_keys("$P --quiet run -- sh -c 'echo > began; read line; echo \"<$line>\"' &\n");
    until("it runs", || house.project().join("began").exists());
    terminal.type_keys("fg\n");
    terminal.expect("fg\r\n");
    terminal.expect("read line");
    until("it is raw", || !terminal.is_cooked());
    terminal.type_keys("hello\r");
    terminal.expect("<hello>");
    terminal.expect("at your service$ ");
    terminal.type_keys("exit 3\n");
    assert_eq!(terminal.end().code(), Some(3));
}

#[test]
fn a_closed_window_ends_everything() {
    let house = House::new();
    let word = word(&house);
    let mut command = house.palisade();
    let script = "echo ready; while :; do sleep 0.05; done";
    command.args(["--quiet", "run", "--", "sh", "-c", script, &word]);
    let mut terminal = Terminal::start(&mut command);
    terminal.expect("ready");
    terminal.hang_up();
    assert_eq!(terminal.end().code(), Some(129));
    until("nothing of it runs", || states(&word).is_empty());
}

#[test]
fn the_terminal_is_as_it_was_however_a_run_ends() {
    let house = House::new();
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::QUIT, 131)] {
        let mut command = house.palisade();
        command.args([
            "--quiet",
            "run",
            "--",
            "sh",
            "-c",
            "echo ready; exec sleep 60",
        ]);
        let mut terminal = Terminal::start(&mut command);
        terminal.expect("ready");
        until("it is raw", || !terminal.is_cooked());
        kill_process(Pid::from_raw(terminal.pid()).unwrap(), signal).unwrap();
        assert_eq!(terminal.end().code(), Some(code));
        assert!(terminal.is_cooked());
    }
    let mut command = house.palisade();
    command.args(["--quiet", "run", "--timeout", "1s", "--", "sleep", "60"]);
    let mut terminal = Terminal::start(&mut command);
    assert_eq!(terminal.end().code(), Some(124));
    assert!(terminal.is_cooked());
}
