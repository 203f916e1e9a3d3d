//! Processes.

use std::fs;
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::{act, expect};
use crate::report::Report;
use crate::site::Site;
use crate::sys::process::{self, End};
use crate::sys::{files, harmless};

pub(crate) fn memory_file(_: &Site) -> Report {
    act(|| {
        let mut file = files::memory_file("use", false)?;
        file.write_all(b"in memory")?;
        files::write_mapped(&file, b'I')?;
        Ok("written and mapped")
    })
}

pub(crate) fn shell(_: &Site) -> Report {
    act(|| {
        let output = Command::new("/bin/sh")
            .args([
                "-c",
                "echo one two | (read first rest; echo $rest) && exit 7",
            ])
            .output()?;
        expect(output.stdout == b"two\n", "other output")?;
        expect(output.status.code() == Some(7), "another code")?;
        Ok("a pipeline")
    })
}

pub(crate) fn own_proc(_: &Site) -> Report {
    act(|| {
        let status = fs::read_to_string("/proc/self/status")?;
        expect(status.contains("Name:"), "no name")?;
        let program = fs::read_link("/proc/self/exe")?;
        fs::read_to_string("/proc/self/maps")?;
        let open = fs::read_dir("/proc/self/fd")?.count();
        for path in ["/proc/meminfo", "/proc/cpuinfo"] {
            fs::read(path)?;
        }
        Ok(format!("{} with {open} descriptors", program.display()))
    })
}

pub(crate) fn children(_: &Site) -> Report {
    act(|| {
        let mut child = Command::new("/bin/cat")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(b"through a child")?;
        }
        let mut heard = String::new();
        if let Some(mut stdout) = child.stdout.take() {
            stdout.read_to_string(&mut heard)?;
        }
        expect(child.wait()?.success(), "the child failed")?;
        expect(heard == "through a child", "other output")?;
        Ok(heard)
    })
}

pub(crate) fn signals(_: &Site) -> Report {
    act(|| {
        let pid = process::fork(|| {
            thread::sleep(Duration::from_secs(4));
            0
        })?;
        process::kill(pid, libc::SIGSTOP)?;
        expect(process::wait(pid, true)? == End::Stopped, "not stopped")?;
        process::kill(pid, libc::SIGCONT)?;
        process::kill(pid, libc::SIGTERM)?;
        let ended = process::wait(pid, false)?;
        expect(ended == End::Signal(libc::SIGTERM), "not ended")?;
        Ok("stopped and ended a child")
    })
}

pub(crate) fn threads(_: &Site) -> Report {
    act(|| {
        let started: Result<Vec<_>, _> = (0..8_u32)
            .map(|number| thread::Builder::new().spawn(move || number * 2))
            .collect();
        let sum: u32 = started?
            .into_iter()
            .filter_map(|thread| thread.join().ok())
            .sum();
        expect(sum == 56, "another sum")?;
        Ok("8 threads")
    })
}

pub(crate) fn limits(_: &Site) -> Report {
    act(|| {
        process::limit_descriptors(0, 64)?;
        Ok("lowered")
    })
}

pub(crate) fn clock(_: &Site) -> Report {
    act(|| {
        let start = Instant::now();
        thread::sleep(Duration::from_millis(5));
        expect(
            start.elapsed() >= Duration::from_millis(5),
            "time stood still",
        )?;
        let year_2020 = SystemTime::UNIX_EPOCH + Duration::from_secs(1_577_836_800);
        expect(SystemTime::now() > year_2020, "a wrong time")?;
        Ok("read")
    })
}

pub(crate) fn user(_: &Site) -> Report {
    act(|| {
        let (user, _) = process::users();
        let all = fs::read_to_string("/etc/passwd")?;
        let name = all
            .lines()
            .map(|line| line.split(':').collect::<Vec<_>>())
            .find(|fields| fields.get(2) == Some(&user.to_string().as_str()))
            .and_then(|fields| fields.first().map(|name| (*name).to_owned()));
        Ok(name.unwrap_or_else(|| format!("{user}, without a name")))
    })
}

pub(crate) fn affinity(_: &Site) -> Report {
    act(|| {
        let count = process::processors(0)?;
        expect(count > 0, "no processor")?;
        Ok(format!("{count} processors"))
    })
}

pub(crate) fn session(_: &Site) -> Report {
    act(|| {
        let pid = process::fork(|| u8::from(process::new_session().is_err()))?;
        expect(process::wait(pid, false)? == End::Code(0), "no session")?;
        Ok("made and waited for")
    })
}

pub(crate) fn random(_: &Site) -> Report {
    act(|| {
        for call in harmless::GETRANDOM {
            call.call()?;
        }
        Ok("the call is there")
    })
}
