//! Secrets. What is read goes into the report: the stage looks for its secret there.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use super::Tries;
use super::mounts::open_device;
use crate::report::Report;
use crate::site::Site;
use crate::sys::{at, files, harmless, ipc};

/// The start of a file, as text.
pub(super) fn read(path: impl AsRef<Path>) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(600).read_to_end(&mut bytes)?;
    Ok(text(&bytes))
}

pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn below_home(site: &Site, names: &[&str]) -> Report {
    names
        .iter()
        .fold(Tries::default(), |tries, name| {
            tries.escape(name, read(site.home.join(name)))
        })
        .report()
}

pub(crate) fn keys(site: &Site) -> Report {
    below_home(site, &[".ssh/id_ed25519", ".gnupg/secring.gpg"])
}

pub(crate) fn tokens(site: &Site) -> Report {
    below_home(
        site,
        &[
            ".aws/credentials",
            ".config/gcloud/credentials.db",
            ".netrc",
            ".docker/config.json",
            ".npmrc",
        ],
    )
}

pub(crate) fn history(site: &Site) -> Report {
    below_home(site, &[".bash_history", ".mozilla/cookies.sqlite"])
}

pub(crate) fn shadow(_: &Site) -> Report {
    // What is in it is nobody's business: that it could be read is enough.
    let size = |path: &str| {
        let mut first = [0_u8; 1];
        File::open(path)?.read(&mut first).map(|_| "could be read")
    };
    Tries::default()
        .escape("/etc/shadow", size("/etc/shadow"))
        .escape("/etc/gshadow", size("/etc/gshadow"))
        .report()
}

pub(crate) fn alias(site: &Site) -> Report {
    Tries::default()
        .escape("second name", read(site.workspace.join("key-alias")))
        .report()
}

pub(crate) fn environment(_: &Site) -> Report {
    let all = read("/proc/self/environ");
    Tries::default().act("environment", all).report()
}

pub(crate) fn other_environment(site: &Site) -> Report {
    Tries::default()
        .escape(
            "environment",
            read(format!("/proc/{}/environ", site.victim)),
        )
        .report()
}

pub(crate) fn command_line(site: &Site) -> Report {
    let mut tries = Tries::default().escape(
        "command line",
        read(format!("/proc/{}/cmdline", site.victim)),
    );
    // Its number may be another one here.
    let everybody = fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines: Vec<String> = everybody
        .filter(|entry| {
            entry
                .file_name()
                .to_string_lossy()
                .bytes()
                .all(|byte| byte.is_ascii_digit())
        })
        .filter_map(|entry| read(entry.path().join("cmdline")).ok())
        .filter(|line| line.contains(super::VICTIM) && !line.contains(&site.token))
        .take(8)
        .collect();
    if !lines.is_empty() {
        tries = tries.act("others", Ok(lines.join(" ")));
    }
    tries.report()
}

pub(crate) fn leaked(site: &Site) -> Report {
    let content = files::copy_of(site.leaked_secret)
        .map(File::from)
        .and_then(|file| {
            let mut bytes = [0_u8; 100];
            let length = file.read_at(&mut bytes, 0)?;
            Ok(text(bytes.get(..length).unwrap_or_default()))
        });
    Tries::default().act("descriptor", content).report()
}

/// The name of the victim's key.
pub(crate) fn key_name(pid: u32) -> String {
    format!("palisade-probe-{pid}")
}

pub(crate) fn keyring(site: &Site) -> Report {
    let name = key_name(site.victim.unsigned_abs());
    Tries::default()
        .escape("key", ipc::read_key(&name).map(|bytes| text(&bytes)))
        .report()
}

pub(crate) fn terminal(_: &Site) -> Report {
    Tries::default()
        .escape("/dev/tty", open_device("/dev/tty", false))
        .report()
}

pub(crate) fn kernel_log(_: &Site) -> Report {
    Tries::default()
        .reach_all(harmless::SYSLOG)
        .escape("/dev/kmsg", open_device("/dev/kmsg", false))
        .report()
}

pub(crate) fn other_names(site: &Site) -> Report {
    let key = ".ssh/id_ed25519";
    let below = |prefix: &str, path: &Path| {
        let mut whole = std::ffi::OsString::from(prefix);
        whole.push(path);
        read(whole)
    };
    let by_descriptor = at::open(&site.home.join(".ssh"), libc::O_PATH)
        .and_then(|directory| at::open_at(&directory, Path::new("id_ed25519"), libc::O_RDONLY))
        .and_then(|file| {
            let mut told = String::new();
            File::from(file).take(100).read_to_string(&mut told)?;
            Ok(told)
        });
    let by_link = symlink(site.home.join(".ssh"), site.workspace.join("keys"))
        .and_then(|()| read(site.workspace.join("keys/id_ed25519")));
    let from_home = std::env::set_current_dir(&site.home)
        .and_then(|()| read(Path::new("/proc/self/cwd").join(key)));
    Tries::default()
        .escape(
            "by the root of /proc",
            below("/proc/self/root", &site.home.join(key)),
        )
        .escape(
            "by the way back",
            read(site.home.join(".ssh/../.ssh/id_ed25519")),
        )
        .escape("below a descriptor", by_descriptor)
        .escape("by a link", by_link)
        .escape("by the working directory", from_home)
        .report()
}

pub(crate) fn other_programs(site: &Site) -> Report {
    let key = site.home.join(".ssh/id_ed25519");
    // A shell that runs a file tells what is in it, because there is no such command.
    let run = |program: &str| {
        let output = Command::new(program)
            .arg(&key)
            .stdin(Stdio::null())
            .output()?;
        let told = text(&output.stdout) + &text(&output.stderr);
        if told.contains("secret-") {
            Ok(told)
        } else {
            Err(io::Error::from_raw_os_error(libc::EACCES))
        }
    };
    Tries::default()
        .escape("cat", run("cat"))
        .escape("a shell", run("/bin/sh"))
        .report()
}

pub(crate) fn list(site: &Site) -> Report {
    let names = |below: &str| {
        let names: Vec<String> = fs::read_dir(site.home.join(below))?
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        if names.is_empty() {
            Err(io::Error::from_raw_os_error(libc::ENOENT))
        } else {
            Ok(names.join(" "))
        }
    };
    Tries::default()
        .escape(".ssh", names(".ssh"))
        .escape(".aws", names(".aws"))
        .report()
}

pub(crate) fn shared_tmp(site: &Site) -> Report {
    let path = Path::new("/tmp").join(crate::stage::shared::own_name(&site.token));
    Tries::default().escape("file", read(path)).report()
}

pub(crate) fn descriptor_of_other(site: &Site) -> Report {
    Tries::default()
        .escape(
            "descriptor",
            read(format!("/proc/{}/fd/{}", site.victim, site.victim_file)),
        )
        .report()
}

pub(crate) fn layout_of_other(site: &Site) -> Report {
    let size = |name: &str| {
        let mut bytes = [0_u8; 8];
        File::open(format!("/proc/{}/{name}", site.victim))?.read(&mut bytes)
    };
    // The directory opens for everybody; what is in it is another matter.
    let maps = fs::read_dir(format!("/proc/{}/map_files", site.victim)).and_then(|mut names| {
        let missing = || io::Error::from_raw_os_error(libc::ENOENT);
        names.next().ok_or_else(missing)?.map(|_| "were listed")
    });
    Tries::default()
        .escape("maps", size("maps"))
        .escape("pagemap", size("pagemap"))
        .escape("auxv", size("auxv"))
        .escape("personality", size("personality"))
        .escape("map_files", maps)
        .report()
}

pub(crate) fn status_of_other(site: &Site) -> Report {
    let name = fs::read_to_string(format!("/proc/{}/status", site.victim))
        .map(|status| status.lines().next().unwrap_or_default().to_owned());
    Tries::default().escape("status", name).report()
}

pub(crate) fn first_process(_: &Site) -> Report {
    // What is in there is nobody's business: that it could be opened is enough.
    let open = |name: &str| File::open(Path::new("/proc/1").join(name)).map(|_| "was opened");
    let link = |name: &str| fs::read_link(Path::new("/proc/1").join(name)).map(|_| "was read");
    Tries::default()
        .escape("environment", open("environ"))
        .escape("memory", open("mem"))
        .escape("maps", open("maps"))
        .escape("program", link("exe"))
        .escape("first descriptor", link("fd/0"))
        .report()
}

pub(crate) fn everybodys_environment(_: &Site) -> Report {
    // Only what a stage put there is told.
    let told = super::chains::others().into_iter().find_map(|pid| {
        let all = fs::read(format!("/proc/{pid}/environ")).ok()?;
        all.split(|byte| *byte == 0).map(text).find(|entry| {
            entry.starts_with("VICTIM_SECRET=secret-") || entry.contains("ACCESS_KEY=secret-")
        })
    });
    Tries::default()
        .escape(
            "environment",
            told.ok_or_else(|| io::Error::from_raw_os_error(libc::EACCES)),
        )
        .report()
}
