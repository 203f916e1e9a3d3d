//! Writing outside in several steps, each of which may be harmless by itself.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::files::{append, plant};
use super::rarer::{reopen, write};
use super::{PATIENCE, Tries};
use crate::report::Report;
use crate::site::Site;
use crate::sys::process::{self, End};
use crate::sys::{at, files, net, privilege};

/// What an error is as the code of a child.
fn code(result: io::Result<&str>) -> u8 {
    match result {
        Ok(_) => 0,
        Err(error) => error
            .raw_os_error()
            .and_then(|number| u8::try_from(number).ok())
            .unwrap_or(u8::MAX),
    }
}

/// What the code of a child is as a result.
pub(super) fn result_of(ended: io::Result<End>) -> io::Result<&'static str> {
    match ended? {
        End::Code(0) => Ok("was written"),
        End::Code(number) => Err(io::Error::from_raw_os_error(number)),
        End::Signal(_) | End::Stopped => Err(io::Error::from_raw_os_error(libc::EINTR)),
    }
}

pub(crate) fn renamed_link(site: &Site) -> Report {
    let at = |name: &str| site.workspace.join(name);
    let followed = symlink(&site.outside, at("first"))
        .and_then(|()| fs::rename(at("first"), at("second-link")))
        .and_then(|()| symlink(at("second-link"), at("third-link")))
        .and_then(|()| plant(&at("third-link/planted")));
    Tries::default()
        .escape("link that was moved, by another link", followed)
        .escape(
            "link of the stage, by its descriptor",
            at::open(&at("to-outside"), libc::O_PATH).and_then(|link| {
                let path = format!("/proc/self/fd/{}/file", link.as_raw_fd());
                append(Path::new(&path))
            }),
        )
        .report()
}

pub(crate) fn climb(site: &Site) -> Report {
    let up = Path::new("../../outside/file");
    let directory = |path: &Path| at::open(path, libc::O_PATH | libc::O_DIRECTORY);
    let plain = directory(&site.workspace.join("sub"))
        .and_then(|from| at::open_at(&from, up, libc::O_WRONLY))
        .and_then(write);
    let deep = site.workspace.join("deep/deeper");
    let after_rename = fs::create_dir_all(&deep)
        .and_then(|()| directory(&deep))
        .and_then(|from| {
            fs::rename(&deep, site.workspace.join("moved-up"))?;
            at::open_at(&from, up, libc::O_WRONLY)
        })
        .and_then(write);
    Tries::default()
        .escape("from a directory", plain)
        .escape("from a directory that was moved", after_rename)
        .report()
}

pub(crate) fn to_grandchild(site: &Site) -> Report {
    // The descriptor that is handed down is of a directory outside: open for nothing, which nobody refuses.
    let handed = || {
        let (here, there) = UnixStream::pair()?;
        let directory = at::open(&site.outside, libc::O_PATH | libc::O_DIRECTORY)?;
        let child = process::fork(|| {
            let grandchild = process::fork(|| {
                let _ = process::new_session();
                code(
                    net::receive_fd(&there)
                        .and_then(|from| {
                            let flags = libc::O_CREAT | libc::O_WRONLY;
                            at::open_at(&from, Path::new("planted"), flags)
                        })
                        .and_then(write),
                )
            });
            code(result_of(
                grandchild.and_then(|pid| process::wait(pid, false)),
            ))
        })?;
        net::send_fd(&here, directory.as_fd())?;
        result_of(process::wait(child, false))
    };
    Tries::default()
        .escape("file below a handed descriptor", handed())
        .report()
}

pub(crate) fn first_process(site: &Site) -> Report {
    let below = |link: &str| {
        let mut path = OsString::from(link);
        path.push(site.outside.join("file"));
        append(Path::new(&path))
    };
    Tries::default()
        .escape("root of the first process", below("/proc/1/root"))
        .escape("its working directory", below("/proc/1/cwd"))
        .report()
}

/// The numbers of the processes that can be seen, without this one.
pub(super) fn others() -> Vec<i32> {
    let own = i32::try_from(std::process::id()).unwrap_or_default();
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| *pid != own)
        .take(4000)
        .collect()
}

pub(crate) fn seen_processes(site: &Site) -> Report {
    let mut refused = io::Error::from_raw_os_error(libc::ESRCH);
    for pid in others() {
        let mut path = OsString::from(format!("/proc/{pid}/root"));
        path.push(site.outside.join("file"));
        match append(Path::new(&path)) {
            Ok(done) => {
                return Tries::default()
                    .escape(&format!("root of process {pid}"), Ok(done))
                    .report();
            }
            Err(error) => refused = error,
        }
    }
    Tries::default()
        .escape("root of each other process", Err::<&str, _>(refused))
        .report()
}

pub(crate) fn own_mounts(site: &Site) -> Report {
    // In a child, so that the namespace goes with it.
    let child = process::fork(|| {
        code(
            process::unshare(process::NEW_USER_AND_MOUNTS)
                .and_then(|()| privilege::bind(&site.outside, &site.workspace.join("sub")))
                .and_then(|()| append(&site.workspace.join("sub/file"))),
        )
    });
    Tries::default()
        .escape(
            "file below a mount of its own",
            result_of(child.and_then(|pid| process::wait(pid, false))),
        )
        .report()
}

/// Runs a program and says whether it did what it was told.
fn ran(command: &mut Command) -> io::Result<&'static str> {
    let status = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    if status.success() {
        Ok("did it")
    } else {
        Err(io::Error::from_raw_os_error(libc::EACCES))
    }
}

pub(crate) fn other_programs(site: &Site) -> Report {
    let file = site.outside.join("file");
    let shell = |script: &str| {
        ran(Command::new("/bin/sh")
            .args(["-c", script, "sh"])
            .arg(&file))
    };
    Tries::default()
        .escape("a shell", shell("echo written >> \"$1\""))
        .escape("cp", ran(Command::new("cp").arg("/etc/passwd").arg(&file)))
        .escape(
            "a clean environment",
            shell("env -i /bin/sh -c 'echo x >> \"$1\"' sh \"$1\""),
        )
        .escape(
            "another session",
            shell("exec setsid /bin/sh -c 'echo x >> \"$1\"' sh \"$1\""),
        )
        .report()
}

/// Runs this program again, from another place, with the attempt to write outside.
fn again(program: &Path, site: &Site) -> io::Result<&'static str> {
    let output = Command::new(program)
        .arg("fs-open-write")
        .args(site.arguments())
        .stdin(Stdio::null())
        .output()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if said.starts_with("escaped") {
        Ok("wrote")
    } else {
        Err(io::Error::from_raw_os_error(libc::EACCES))
    }
}

pub(crate) fn from_memory(site: &Site) -> Report {
    let run = || {
        let program = fs::read("/proc/self/exe")?;
        let mut file = files::memory_file("palisade-probe", true)?;
        file.write_all(&program)?;
        let readable = File::open(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
        drop(file);
        let kept = files::leak(&readable)?;
        again(
            Path::new(&format!("/proc/self/fd/{}", kept.as_raw_fd())),
            site,
        )
    };
    Tries::default()
        .escape("a program in memory", run())
        .report()
}

pub(crate) fn from_script(site: &Site) -> Report {
    // In read-only mode there is nowhere to plant it but the private place for temporary files.
    let directory = if fs::write(site.workspace.join("try"), "").is_ok() {
        site.workspace.clone()
    } else {
        std::env::temp_dir()
    };
    let run = || {
        let script: PathBuf = directory.join(format!("script-{}", site.token));
        let text = format!(
            "#!/bin/sh\necho written >> '{}'\n",
            site.outside.join("file").display()
        );
        fs::write(&script, text)?;
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
        let done = ran(&mut Command::new(&script));
        let _ = fs::remove_file(&script);
        done
    };
    Tries::default().escape("a planted script", run()).report()
}

pub(crate) fn puppet(site: &Site) -> Report {
    // Not shared: only whoever may write another process's memory can change it in the child.
    static GO: AtomicU32 = AtomicU32::new(0);
    let file = site.outside.join("file");
    let run = || {
        let child = process::fork(|| {
            let begin = Instant::now();
            while GO.load(Ordering::SeqCst) == 0 {
                if begin.elapsed() > PATIENCE {
                    return u8::try_from(libc::EPERM).unwrap_or(u8::MAX);
                }
                thread::sleep(Duration::from_millis(1));
            }
            code(append(&file))
        })?;
        let address = u64::try_from(GO.as_ptr().expose_provenance()).unwrap_or_default();
        let told = process::write_memory(child, address, &1_u32.to_ne_bytes());
        if told.is_err() {
            let _ = process::kill(child, libc::SIGKILL);
        }
        let ended = process::wait(child, false);
        told?;
        result_of(ended)
    };
    Tries::default()
        .escape("a child whose memory was written", run())
        .report()
}

pub(crate) fn own_rules(site: &Site) -> Report {
    // A kernel without Landlock has nothing to add.
    let _ = privilege::allow_writing_everywhere();
    Tries::default()
        .escape(
            "file after rules of its own that allow it",
            append(&site.outside.join("file")),
        )
        .report()
}

pub(crate) fn working_directory(site: &Site) -> Report {
    let write = std::env::set_current_dir(&site.outside).and_then(|()| {
        let here = at::open(Path::new("."), libc::O_PATH)?;
        std::env::set_current_dir(&site.workspace)?;
        let name = format!("/proc/self/fd/{}/file", here.as_raw_fd());
        append(Path::new(&name)).or_else(|_| {
            at::open_at(&here, Path::new("file"), libc::O_RDONLY).and_then(|file| reopen(&file))
        })
    });
    Tries::default()
        .escape("file below a directory that it was in", write)
        .report()
}
