//! Other sandboxes, each with its documented command line for *workspace write, no network*.
//!
//! Where a command line can name further roots it gets them too, because ours does. Nothing else is added: a peer is shown
//! as its own documentation sets it up, neither hardened nor weakened.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use palisade_probes::Mode;
use serde_json::json;

use super::{Kind, Place, Prefix, Programs, Subject, says_version};

macro_rules! peers {
    ($($name:literal: $program:expr, $version:expr, $prefix:expr;)*) => {
        pub(super) const ALL: &[Subject] = &[$(Subject {
            name: $name,
            kind: Kind::Peer,
            program: $program,
            version: $version,
            prefix: $prefix,
        },)*];
    };
}

peers! {
    "bubblewrap": |_| "/usr/bin/bwrap".into(), says_version, bubblewrap;
    "firejail": |_| "/usr/bin/firejail".into(), says_version, firejail;
    "codex": |programs| programs.peers.join("node/node_modules/.bin/codex"), says_version, codex;
    "srt": |programs| programs.peers.join("node/node_modules/.bin/srt"), says_version, srt;
    "zerobox": |programs| programs.peers.join("python/bin/zerobox"), says_version, zerobox;
    "landstrip": |programs| programs.peers.join("cargo/bin/landstrip"), says_version, landstrip;
    "sandlock": |programs| package(programs, "sandlock"), packaged, sandlock;
    "nono-py": |programs| package(programs, "nono_py"), packaged, nono;
    "hakoniwa": |programs| programs.peers.join("cargo/bin/hakoniwa"), says_version, hakoniwa;
}

fn bubblewrap(_: &Programs, place: &Place<'_>) -> io::Result<Prefix> {
    let line = "/usr/bin/bwrap --ro-bind / / --dev /dev --proc /proc";
    let prefix = place
        .writable()
        .fold(Prefix::default().words(line.split(' ')), |prefix, root| {
            prefix.words(["--bind".as_ref(), root, root])
        });
    Ok(prefix.words(["--unshare-net", "--unshare-pid", "--die-with-parent"]))
}

fn firejail(_: &Programs, place: &Place<'_>) -> io::Result<Prefix> {
    let line = "/usr/bin/firejail --quiet --noprofile --net=none --read-only=/";
    let roots = place.writable().map(|root| joined("--read-write=", root));
    Ok(Prefix::default().words(line.split(' ')).words(roots))
}

fn codex(programs: &Programs, place: &Place<'_>) -> io::Result<Prefix> {
    let home = place.scratch.join("codex");
    fs::create_dir_all(&home)?;
    let mode = match place.mode {
        Mode::ReadOnly => "sandbox_mode=\"read-only\"",
        Mode::Write | Mode::Both => "sandbox_mode=\"workspace-write\"",
    };
    // A list of texts is the same in TOML as in JSON.
    let roots = format!(
        "sandbox_workspace_write.writable_roots={}",
        json!(place.roots)
    );
    Ok(Prefix::default()
        .variable("CODEX_HOME", home)
        .words([programs.peers.join("node/node_modules/.bin/codex")])
        .words(["sandbox", "-c", mode, "-c", &roots, "--"]))
}

fn srt(programs: &Programs, place: &Place<'_>) -> io::Result<Prefix> {
    let settings = place.scratch.join("srt.json");
    let roots: Vec<&Path> = place.writable().collect();
    let content = json!({
        "filesystem": {"denyRead": [], "allowWrite": roots, "denyWrite": []},
        "network": {"allowedDomains": [], "deniedDomains": []},
    });
    fs::write(&settings, content.to_string())?;
    Ok(Prefix::default()
        .words([programs.peers.join("node/node_modules/.bin/srt")])
        .each("-s", [settings])
        .words(["--"]))
}

fn zerobox(programs: &Programs, place: &Place<'_>) -> io::Result<Prefix> {
    let roots = place.writable().map(|root| joined("--allow-write=", root));
    Ok(Prefix::default()
        .words([programs.peers.join("python/bin/zerobox")])
        .words(roots)
        .words(["--"]))
}

fn landstrip(programs: &Programs, place: &Place<'_>) -> io::Result<Prefix> {
    let settings = place.scratch.join("landstrip.json");
    let roots: Vec<&Path> = place.writable().chain([Path::new("/dev/null")]).collect();
    let content = json!({
        "filesystem": {"allowWrite": roots},
        "network": {"allowNetwork": false},
    });
    fs::write(&settings, content.to_string())?;
    Ok(Prefix::default()
        .words([programs.peers.join("cargo/bin/landstrip")])
        .words(["run"])
        .each("-p", [settings])
        .words(["--"]))
}

/// Runs the words after it, and hands on what came of them.
const SANDLOCK: &str = "\
import sys, json, sandlock
roots = json.loads(sys.argv[1])
result = sandlock.Sandbox(fs_readable=['/'], fs_writable=roots).run(sys.argv[2:])
sys.stdout.buffer.write(result.stdout or b'')
sys.stderr.buffer.write(result.stderr or b'')
sys.stdout.flush()
sys.exit(result.exit_code & 255)
";

const NONO: &str = "\
import sys, json
from nono_py import AccessMode, CapabilitySet, sandboxed_exec
capabilities = CapabilitySet()
capabilities.allow_path('/', AccessMode.READ)
for root in json.loads(sys.argv[1]):
    capabilities.allow_path(root, AccessMode.READ_WRITE)
capabilities.block_network()
result = sandboxed_exec(capabilities, sys.argv[2:])
sys.stdout.buffer.write(bytes(result.stdout))
sys.stderr.buffer.write(bytes(result.stderr))
sys.stdout.flush()
sys.exit(result.exit_code & 255)
";

fn sandlock(programs: &Programs, place: &Place<'_>) -> io::Result<Prefix> {
    Ok(python(programs, place, SANDLOCK))
}

fn nono(programs: &Programs, place: &Place<'_>) -> io::Result<Prefix> {
    Ok(python(programs, place, NONO))
}

/// A script that gets the roots and then the command line.
fn python(programs: &Programs, place: &Place<'_>, script: &str) -> Prefix {
    let roots: Vec<&Path> = place.writable().collect();
    Prefix::default()
        .words([programs.peers.join("python/bin/python")])
        .words(["-c", script, &json!(roots).to_string()])
}

fn hakoniwa(programs: &Programs, place: &Place<'_>) -> io::Result<Prefix> {
    let twice = |path: &Path| {
        let mut word = path.as_os_str().to_owned();
        word.push(":");
        word.push(path);
        word
    };
    let prefix = Prefix::default()
        .words([programs.peers.join("cargo/bin/hakoniwa")])
        .words(["run", "--unshare-network", "--devfs", "/dev"]);
    let prefix = match place.mode {
        Mode::ReadOnly => prefix.each("-b", [twice(place.workspace)]),
        Mode::Write | Mode::Both => prefix
            .each("-w", [place.workspace])
            .each("-B", place.roots.iter().map(|root| twice(root))),
    };
    Ok(prefix.words(["--"]))
}

fn joined(option: &str, path: &Path) -> OsString {
    let mut word = OsString::from(option);
    word.push(path);
    word
}

/// Where a Python package is, if it is installed.
fn package(programs: &Programs, name: &str) -> PathBuf {
    let below = Path::new("site-packages").join(name).join("__init__.py");
    let libraries = fs::read_dir(programs.peers.join("python/lib"));
    libraries
        .into_iter()
        .flatten()
        .flatten()
        .map(|library| library.path().join(&below))
        .find(|file| file.is_file())
        .unwrap_or(below)
}

/// The version is in the name of a folder beside the package: `sandlock-0.9.0.dist-info`.
fn packaged(file: &Path) -> Option<String> {
    let name = format!("{}-", file.parent()?.file_name()?.to_str()?);
    let beside = fs::read_dir(file.ancestors().nth(2)?).ok()?.flatten();
    beside
        .filter_map(|entry| entry.file_name().into_string().ok())
        .find_map(|entry| {
            Some(
                entry
                    .strip_prefix(&name)?
                    .strip_suffix(".dist-info")?
                    .to_owned(),
            )
        })
}
