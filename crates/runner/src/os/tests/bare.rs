//! Commands without a sandbox.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use super::support::{Starter, confined, end, env, order, read_all, script, stage, wait_until};
use crate::os::{
    JudgedFile, Order, Stdio, bare_enforcement, pipe_from_child, pipe_to_child, spawn_bare,
};
use crate::supervise::How;
use palisade_policy::{Guarantee, Level};

/// Both kinds, for what must hold in each.
fn both(test: impl Fn(&Path, &Starter)) {
    let stage = stage();
    test(stage.path(), &Starter::Bare);
    let stage = super::support::stage();
    if let Some((workspace, session)) = confined(&stage) {
        test(&workspace, &Starter::Confined(Box::new(session)));
    }
}

#[test]
fn codes_signals_and_output_come_as_they_are() {
    both(|cwd, starter| {
        for code in [0, 1, 77, 255] {
            let (ended, output) = starter
                .run(&script(
                    &format!("echo out; echo err >&2; exit {code}"),
                    cwd,
                ))
                .unwrap();
            assert_eq!(ended.how, How::Code(code));
            assert_eq!(output, "out\nerr\n");
            assert!(ended.usage.max_rss_kib > 0);
        }
        for signal in [9, 15, 6] {
            let (ended, _) = starter
                .run(&script(&format!("kill -{signal} $$"), cwd))
                .unwrap();
            assert_eq!(ended.how, How::Signal(signal));
        }
        let mut process = starter
            .spawn(&script("exec sleep 1000", cwd), Stdio::null().unwrap())
            .unwrap();
        assert_eq!(process.try_end().unwrap(), None);
        process.signal(15);
        assert_eq!(end(&mut process).unwrap().how, How::Signal(15));
        // Asked again it says the same again, and a signal for it reaches nobody.
        process.signal(9);
        assert_eq!(end(&mut process).unwrap().how, How::Signal(15));
    });
}

#[test]
fn what_is_not_started_is_a_step_and_an_error_number() {
    both(|cwd, starter| {
        let failed = |order: &Order| {
            let failure = starter.run(order).unwrap_err();
            (failure.step, failure.errno.unwrap(), failure.message)
        };
        let (step, errno, message) = failed(&order(["no-such-program"], cwd));
        assert_eq!(
            (step.as_str(), errno),
            ("starting the program", libc::ENOENT)
        );
        assert!(message.contains("no-such-program"), "{message}");
        let (step, errno, _) = failed(&order(["./missing"], cwd));
        assert_eq!(
            (step.as_str(), errno),
            ("starting the program", libc::ENOENT)
        );
        let text = cwd.join("text");
        fs::write(&text, "no program").unwrap();
        let (step, errno, _) = failed(&order(["./text"], cwd));
        assert_eq!(
            (step.as_str(), errno),
            ("starting the program", libc::EACCES)
        );
        fs::set_permissions(&text, fs::Permissions::from_mode(0o755)).unwrap();
        let (step, errno, message) = failed(&order(["./text"], cwd));
        assert_eq!(
            (step.as_str(), errno),
            ("starting the program", libc::ENOEXEC)
        );
        assert!(message.contains("#!/bin/sh"), "{message}");
        let (step, errno, message) = failed(&script("true", Path::new("/no/where")));
        let expected = ("entering the working directory", libc::ENOENT);
        assert_eq!((step.as_str(), errno), expected);
        assert!(message.contains("/no/where"), "{message}");
        let (step, errno, _) = failed(&script("true", cwd).with_terminal());
        assert_eq!(
            (step.as_str(), errno),
            ("taking the terminal", libc::ENOTTY)
        );
        for argv in [vec![], vec![""], vec!["sh", "a\0b"]] {
            let (step, errno, _) = failed(&Order::new(argv, cwd).with_env(env()));
            assert_eq!((step.as_str(), errno), ("reading a request", libc::EINVAL));
        }
        let mut broken = script("true", cwd);
        broken.env.insert("A=B".into(), "c".into());
        assert_eq!(failed(&broken).0, "reading a request");
    });
}

#[test]
fn the_judged_file_runs_and_no_other() {
    both(|cwd, starter| {
        let path = cwd.join("tool");
        let tool = |path: &Path, says: &str| {
            fs::write(path, format!("#!/bin/sh\necho > ran\necho {says}\n")).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
            fs::metadata(path).unwrap()
        };
        let is = tool(&path, "judged");
        let judged = JudgedFile {
            path: path.clone(),
            device: is.dev(),
            inode: is.ino(),
        };
        let order = order(["another name"], cwd).with_program(judged);
        assert_eq!(starter.run(&order).unwrap().1, "judged\n");
        fs::remove_file(cwd.join("ran")).unwrap();
        let next = cwd.join("next");
        assert_ne!(tool(&next, "swapped").ino(), is.ino());
        fs::rename(&next, &path).unwrap();
        let failure = starter.run(&order).unwrap_err();
        assert_eq!(failure.step, "checking that the program is the judged one");
        assert_eq!(failure.errno, Some(libc::ESTALE));
        assert!(failure.message.contains("judge"), "{failure}");
        assert!(!cwd.join("ran").exists());
    });
}

#[test]
fn a_command_inherits_nothing_but_what_it_is_given() {
    both(|cwd, starter| {
        // Descriptors that somebody in this program forgot to mark for closing.
        let leak = fs::File::open("/dev/null").unwrap();
        let copies: Vec<_> = [50, 900]
            .into_iter()
            .map(|least| rustix::io::fcntl_dupfd_cloexec(&leak, least).unwrap())
            .collect();
        for copy in &copies {
            rustix::io::fcntl_setfd(copy, rustix::io::FdFlags::empty()).unwrap();
        }
        let text = "for fd in $(seq 0 64) 900 901; do [ -e /proc/$$/fd/$fd ] && echo $fd; done";
        let (_, listing) = starter.run(&script(text, cwd)).unwrap();
        let numbers: Vec<u32> = listing.lines().map(|line| line.parse().unwrap()).collect();
        assert_eq!(numbers, [0, 1, 2], "{listing}");

        let status = "sed -n 's/^Sig\\(Blk\\|Ign\\|Cgt\\):\\t*//p' /proc/self/status";
        let (_, signals) = starter
            .run(&order(["sh", "-c", &format!("exec {status}")], cwd))
            .unwrap();
        for mask in signals.lines() {
            // The C library keeps 32 and 33 for itself, and sandboxed commands get them as they are.
            let kept = match starter {
                Starter::Bare => 0,
                Starter::Confined(_) => 0b11 << 31,
            };
            let mask = u64::from_str_radix(mask, 16).unwrap();
            assert_eq!(mask & !kept, 0, "{signals}");
        }
        let (_, ids) = starter
            .run(&script("echo $$ $(cut -d' ' -f5,6 /proc/$$/stat)", cwd))
            .unwrap();
        let ids: Vec<&str> = ids.split_whitespace().collect();
        assert_eq!(ids[0], ids[1], "a group of its own");
        assert_eq!(ids[0], ids[2], "a session of its own");

        let order = order(["env"], cwd);
        let (_, listing) = starter.run(&order).unwrap();
        let names: Vec<&str> = listing
            .lines()
            .filter_map(|line| Some(line.split_once('=')?.0))
            .collect();
        assert!(names.contains(&"PALISADE_RUN"), "{listing}");
        if matches!(starter, Starter::Bare) {
            assert_eq!(names, ["LC_ALL", "PATH", "PALISADE_RUN"]);
        }
    });
}

#[test]
fn input_comes_through_a_pipe_that_never_blocks_us() {
    both(|cwd, starter| {
        let (ours, stdin) = pipe_to_child().unwrap();
        let (mut reader, stdout) = pipe_from_child().unwrap();
        let stdio = Stdio {
            stdin,
            stderr: stdout.try_clone().unwrap(),
            stdout,
        };
        let mut process = starter
            .spawn(&script("sleep 0.1; exec wc -c", cwd), stdio)
            .unwrap();
        let mut written = 0;
        let full = loop {
            match rustix::io::write(&ours, &[b'x'; 4096]) {
                Ok(bytes) => written += bytes,
                Err(errno) => break errno,
            }
        };
        assert_eq!(full, rustix::io::Errno::AGAIN);
        drop(ours);
        assert_eq!(end(&mut process).unwrap().how, How::Code(0));
        assert_eq!(read_all(&mut reader).trim(), written.to_string());
    });
}

#[test]
fn other_children_of_this_program_are_left_alone() {
    let stage = stage();
    // Ours ended first, but it is for its own parent to ask.
    let mut sibling = std::process::Command::new("sh")
        .args(["-c", "exit 9"])
        .spawn()
        .unwrap();
    let mut alive = std::process::Command::new("sleep")
        .arg("1000")
        .spawn()
        .unwrap();
    let mut process = spawn_bare(&script("exit 4", stage.path()), Stdio::null().unwrap()).unwrap();
    assert_eq!(end(&mut process).unwrap().how, How::Code(4));
    process.kill_tree();
    drop(process);
    assert_eq!(sibling.wait().unwrap().code(), Some(9));
    assert_eq!(alive.try_wait().unwrap(), None);
    alive.kill().unwrap();
    alive.wait().unwrap();
}

#[test]
fn nothing_of_a_finished_command_is_left_in_this_program() {
    let stage = stage();
    for _ in 0..50 {
        let mut process =
            spawn_bare(&script("true", stage.path()), Stdio::null().unwrap()).unwrap();
        let pid = match &process {
            crate::os::Process::Bare(bare) => bare.pid(),
            #[cfg(feature = "linux-landlock")]
            other => panic!("{other:?}"),
        };
        end(&mut process).unwrap();
        drop(process);
        // Reaped: the number means nobody, or somebody else's process.
        let gone = wait_until(|| {
            let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            let own = format!("PPid:\t{}\n", std::process::id());
            (!status.contains(&own)).then_some(())
        });
        assert!(gone.is_some());
    }
}

#[test]
fn a_bare_run_promises_little() {
    let report = bare_enforcement();
    assert_eq!(report.level(Guarantee::TreeKill), Level::DetectedOnly);
    assert_eq!(report.level(Guarantee::WritesOutside), Level::NotEnforced);
}
