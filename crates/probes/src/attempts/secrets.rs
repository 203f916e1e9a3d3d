//! Secrets. What is read goes into the report: the stage looks for its secret there.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use super::Tries;
use super::mounts::open_device;
use crate::report::Report;
use crate::site::Site;
use crate::sys::{files, harmless, ipc};

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
