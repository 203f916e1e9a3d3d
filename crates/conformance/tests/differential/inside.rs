//! What runs inside the sandbox: performs a list of accesses, undoes each one, and prints how each went.

use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::process::{Pid, test_kill_process};

use crate::attempt::{Attempt, Outcome, Transport};
use crate::{calls, sys};

impl Attempt {
    /// Does it, and undoes it; an undoing that fails is not an answer.
    fn perform(&self) -> Result<(), Failure> {
        let undo = |result: io::Result<()>| result.map_err(Failure::Undo);
        // An attempt may take away a link that its own path leads through, so undoing goes by the real path.
        let real = |path: &Path| {
            let parent = path.parent().and_then(|parent| parent.canonicalize().ok());
            let name = path.file_name();
            match (parent, name) {
                (Some(parent), Some(name)) => parent.join(name),
                _ => path.to_path_buf(),
            }
        };
        match self {
            Self::Read(path) => {
                let mut bytes = Vec::new();
                fs::File::open(path)?.read_to_end(&mut bytes)?;
            }
            Self::List(path) => {
                for entry in fs::read_dir(path)? {
                    entry?;
                }
            }
            Self::Change(path) => fs::set_permissions(path, fs::metadata(path)?.permissions())?,
            Self::MakeFile(path) => {
                OpenOptions::new()
                    .write(true)
                    .create_new(true)
                    .mode(0o644)
                    .open(path)?;
                undo(fs::remove_file(path))?;
            }
            Self::MakeDirectory(path) => {
                fs::create_dir(path)?;
                undo(fs::remove_dir(path))?;
            }
            Self::RemoveFile(path, text) => {
                let again = real(path);
                let permissions = fs::metadata(path)?.permissions();
                fs::remove_file(path)?;
                undo(fs::write(&again, text))?;
                undo(fs::set_permissions(&again, permissions))?;
            }
            Self::RemoveLink(path, target) => {
                let again = real(path);
                fs::remove_file(path)?;
                undo(symlink(target, again))?;
            }
            Self::RemoveDirectory(path) => {
                let again = real(path);
                fs::remove_dir(path)?;
                undo(fs::create_dir(again))?;
            }
            Self::Rename(from, to) => {
                let again = (real(to), real(from));
                rename(from, to, RenameFlags::NOREPLACE)?;
                undo(rename(&again.0, &again.1, RenameFlags::NOREPLACE))?;
            }
            Self::Exchange(one, two) => {
                let again = (real(one), real(two));
                rename(one, two, RenameFlags::EXCHANGE)?;
                undo(rename(&again.0, &again.1, RenameFlags::EXCHANGE))?;
            }
            Self::Append(path) => OpenOptions::new()
                .append(true)
                .open(path)?
                .write_all(b"+")?,
            Self::Execute(path) => {
                let mut command = Command::new(path);
                command.stdin(Stdio::null()).stdout(Stdio::null());
                command.status()?;
            }
            Self::Connect(Transport::Tcp, host, port) => {
                TcpStream::connect((host.as_str(), *port))?;
            }
            Self::Connect(Transport::Udp, host, port) => {
                UdpSocket::bind("127.0.0.1:0")?.connect((host.as_str(), *port))?;
            }
            Self::Bind(host) => {
                // A network without loopback lets a server listen, and nobody reach it.
                let server = TcpListener::bind((host.as_str(), 0))?;
                TcpStream::connect(server.local_addr()?)?;
            }
            Self::Unix(path) => {
                UnixStream::connect(path)?;
            }
            Self::Abstract(name) => {
                UnixStream::connect_addr(&SocketAddr::from_abstract_name(name)?)?;
            }
            Self::Signal(process) => {
                let process = Pid::from_raw(i32::try_from(*process).unwrap()).unwrap();
                test_kill_process(process).map_err(io::Error::from)?;
            }
            Self::Call(row) => {
                let (name, args) = calls::HARMLESS[*row];
                sys::call(calls::number(calls::here(), name).unwrap(), args)?;
            }
        }
        Ok(())
    }
}

fn rename(from: &Path, to: &Path, flags: RenameFlags) -> io::Result<()> {
    renameat_with(CWD, from, CWD, to, flags).map_err(io::Error::from)
}

enum Failure {
    Attempt(io::Error),
    Undo(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Attempt(error)
    }
}

const ATTEMPTS: &str = "PALISADE_DIFFERENTIAL_ATTEMPTS";
const MARK: &str = "differential-outcome";

/// The variables that tell the probe what to do.
pub(crate) fn environment(attempts: &[Attempt]) -> [(std::ffi::OsString, std::ffi::OsString); 1] {
    let lines: Vec<String> = attempts
        .iter()
        .map(|attempt| attempt.to_string().replace('\n', "\u{1}"))
        .collect();
    [(ATTEMPTS.into(), lines.join("\n").into())]
}

/// The arguments that make a test binary the probe.
pub(crate) const ARGUMENTS: [&str; 4] = ["--exact", "inside::inside", "--ignored", "--nocapture"];

/// What the probe said; an error if something could not be undone.
pub(crate) fn outcomes(text: &str) -> Result<Vec<Outcome>, String> {
    let mut outcomes = Vec::new();
    for line in text.lines() {
        let Some((_, line)) = line.split_once(MARK) else {
            continue;
        };
        match line.trim().split_once(' ') {
            None if line.trim() == "done" => outcomes.push(Ok(())),
            Some(("failed", code)) => outcomes.push(Err(code.parse().unwrap())),
            _ => return Err(format!("attempt {} was not undone: {line}", outcomes.len())),
        }
    }
    Ok(outcomes)
}

#[test]
#[ignore = "a part of other tests"]
fn inside() {
    let Ok(attempts) = std::env::var(ATTEMPTS) else {
        println!("skipped: nobody asked for anything");
        return;
    };
    for line in attempts.split('\n').filter(|line| !line.is_empty()) {
        let code = |error: io::Error| error.raw_os_error().unwrap_or(-1);
        match Attempt::parse(line).perform() {
            Ok(()) => println!("\n{MARK} done"),
            Err(Failure::Attempt(error)) => println!("\n{MARK} failed {}", code(error)),
            Err(Failure::Undo(error)) => {
                println!("\n{MARK} stuck {}", code(error));
                return;
            }
        }
    }
}
