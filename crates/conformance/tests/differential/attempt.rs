//! The accesses that are tried, each as a line of text, because another process tries them.

use std::fmt;
use std::path::{Path, PathBuf};

/// One attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    Read(PathBuf),
    List(PathBuf),
    /// Sets the mode that a file has.
    Change(PathBuf),
    MakeFile(PathBuf),
    MakeDirectory(PathBuf),
    /// Removes a file, and makes it again.
    RemoveFile(PathBuf, String),
    RemoveLink(PathBuf, PathBuf),
    RemoveDirectory(PathBuf),
    Rename(PathBuf, PathBuf),
    Exchange(PathBuf, PathBuf),
    /// Adds one byte; this stays.
    Append(PathBuf),
    /// Runs a program.
    Execute(PathBuf),
    /// Connects by TCP, or sends by UDP.
    Connect(Transport, String, u16),
    /// Listens on an address of the internet, and is reached there.
    Bind(String),
    /// Connects to a socket of the host.
    Unix(PathBuf),
    /// The same, by a name without a path.
    Abstract(String),
    /// Asks whether a process of the host could be signalled.
    Signal(u32),
    /// Makes a system call, by the number of its row in [`crate::calls::HARMLESS`].
    Call(usize),
}

/// How an address is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    Tcp,
    Udp,
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(path) => write!(f, "read\t{}", path.display()),
            Self::List(path) => write!(f, "list\t{}", path.display()),
            Self::Change(path) => write!(f, "change\t{}", path.display()),
            Self::MakeFile(path) => write!(f, "make-file\t{}", path.display()),
            Self::MakeDirectory(path) => write!(f, "make-directory\t{}", path.display()),
            Self::RemoveFile(path, text) => write!(f, "remove-file\t{}\t{text}", path.display()),
            Self::RemoveLink(path, target) => {
                write!(f, "remove-link\t{}\t{}", path.display(), target.display())
            }
            Self::RemoveDirectory(path) => write!(f, "remove-directory\t{}", path.display()),
            Self::Rename(from, to) => write!(f, "rename\t{}\t{}", from.display(), to.display()),
            Self::Exchange(one, two) => {
                write!(f, "exchange\t{}\t{}", one.display(), two.display())
            }
            Self::Append(path) => write!(f, "append\t{}", path.display()),
            Self::Execute(path) => write!(f, "execute\t{}", path.display()),
            Self::Connect(Transport::Tcp, host, port) => write!(f, "connect\t{host}\t{port}"),
            Self::Connect(Transport::Udp, host, port) => write!(f, "send\t{host}\t{port}"),
            Self::Bind(host) => write!(f, "bind\t{host}"),
            Self::Unix(path) => write!(f, "unix\t{}", path.display()),
            Self::Abstract(name) => write!(f, "abstract\t{name}"),
            Self::Signal(process) => write!(f, "signal\t{process}"),
            Self::Call(row) => {
                let (name, args) = crate::calls::HARMLESS[*row];
                write!(f, "call\t{row}\t{name}{args:x?}")
            }
        }
    }
}

impl Attempt {
    pub(crate) fn parse(line: &str) -> Self {
        let mut parts = line.trim_end_matches('\n').split('\t');
        let word = parts.next().unwrap();
        let text = parts.next().unwrap();
        let path = PathBuf::from(text);
        let more = parts.next().unwrap_or_default();
        match word {
            "read" => Self::Read(path),
            "list" => Self::List(path),
            "change" => Self::Change(path),
            "make-file" => Self::MakeFile(path),
            "make-directory" => Self::MakeDirectory(path),
            "remove-file" => Self::RemoveFile(path, more.replace('\u{1}', "\n")),
            "remove-link" => Self::RemoveLink(path, more.into()),
            "remove-directory" => Self::RemoveDirectory(path),
            "rename" => Self::Rename(path, more.into()),
            "exchange" => Self::Exchange(path, more.into()),
            "append" => Self::Append(path),
            "execute" => Self::Execute(path),
            "connect" => Self::Connect(Transport::Tcp, text.to_owned(), more.parse().unwrap()),
            "send" => Self::Connect(Transport::Udp, text.to_owned(), more.parse().unwrap()),
            "bind" => Self::Bind(text.to_owned()),
            "unix" => Self::Unix(path),
            "abstract" => Self::Abstract(text.to_owned()),
            "signal" => Self::Signal(text.parse().unwrap()),
            "call" => Self::Call(text.parse().unwrap()),
            other => panic!("no such attempt: {other}"),
        }
    }

    /// The paths that it names, in the order of the attempt.
    pub(crate) fn names(&self) -> Vec<&Path> {
        match self {
            Self::Read(path)
            | Self::List(path)
            | Self::Change(path)
            | Self::MakeFile(path)
            | Self::MakeDirectory(path)
            | Self::RemoveFile(path, _)
            | Self::RemoveLink(path, _)
            | Self::RemoveDirectory(path)
            | Self::Append(path)
            | Self::Execute(path)
            | Self::Unix(path) => vec![path],
            Self::Rename(from, to) | Self::Exchange(from, to) => vec![from, to],
            Self::Connect(..)
            | Self::Bind(_)
            | Self::Abstract(_)
            | Self::Signal(_)
            | Self::Call(_) => Vec::new(),
        }
    }

    /// Whether it only looks.
    pub(crate) const fn reads(&self) -> bool {
        matches!(self, Self::Read(_) | Self::List(_) | Self::Execute(_))
    }

    /// Whether it changes what is there, and not the directory that holds it.
    pub(crate) const fn changes_itself(&self) -> bool {
        matches!(self, Self::Change(_) | Self::Append(_))
    }

    /// Whether it may be tried for real: nothing that tests do leaves the machine.
    pub(crate) fn is_local(&self) -> bool {
        match self {
            // Whether a datagram arrived nobody can tell from inside.
            Self::Connect(Transport::Udp, ..) => false,
            Self::Connect(Transport::Tcp, host, _) | Self::Bind(host) => host == "127.0.0.1",
            _ => true,
        }
    }
}

/// How an attempt went: done, or the error number.
pub(crate) type Outcome = Result<(), i32>;
