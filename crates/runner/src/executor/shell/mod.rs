//! The user's shell, and commands rewritten for it.
//!
//! An argument list becomes script text only where every word survives that byte for byte. Where a shell offers no such
//! spelling, nothing is rewritten and the command runs as it is.

mod bytes;
mod cmd;
mod fish;
mod posix;
mod powershell;
mod translate;

pub use translate::maybe_translate_shell_command;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The longest script that is formatted: Linux starts no program with a longer argument.
const LONGEST_SCRIPT: usize = 128 * 1024 - 1;

/// A shell on this host.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShellProgram {
    /// Its executable.
    pub path: PathBuf,
    /// The start-up file that interactive shells read, such as `~/.bashrc` spelled out. Not for PowerShell and cmd,
    /// which have their own ways.
    pub profile: Option<PathBuf>,
}

impl ShellProgram {
    /// The shell of this executable, without a start-up file.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            profile: None,
        }
    }

    /// With this start-up file.
    #[must_use]
    pub fn with_profile(self, profile: impl Into<PathBuf>) -> Self {
        Self {
            profile: Some(profile.into()),
            ..self
        }
    }
}

/// The shell of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UserShell {
    /// GNU bash.
    Bash(ShellProgram),
    /// zsh.
    Zsh(ShellProgram),
    /// dash, or whatever else `sh` is.
    Sh(ShellProgram),
    /// fish.
    Fish(ShellProgram),
    /// PowerShell of either generation.
    PowerShell(ShellProgram),
    /// The Windows command interpreter.
    Cmd(ShellProgram),
}

impl UserShell {
    /// The shell that an executable is, by its name.
    #[must_use]
    pub fn from_path(path: impl Into<PathBuf>) -> Option<Self> {
        let shell = ShellProgram::new(path);
        let name = shell.path.file_name()?.to_str()?.to_ascii_lowercase();
        Some(match name.strip_suffix(".exe").unwrap_or(&name) {
            "bash" => Self::Bash(shell),
            "zsh" => Self::Zsh(shell),
            "sh" | "dash" | "ash" | "ksh" | "mksh" => Self::Sh(shell),
            "fish" => Self::Fish(shell),
            "pwsh" | "powershell" => Self::PowerShell(shell),
            "cmd" => Self::Cmd(shell),
            _ => return None,
        })
    }

    /// Its executable and its start-up file.
    #[must_use]
    pub const fn program(&self) -> &ShellProgram {
        match self {
            Self::Bash(shell)
            | Self::Zsh(shell)
            | Self::Sh(shell)
            | Self::Fish(shell)
            | Self::PowerShell(shell)
            | Self::Cmd(shell) => shell,
        }
    }

    /// Whether commands are rewritten for it also where nobody asks for the start-up file.
    #[must_use]
    pub const fn always_translates(&self) -> bool {
        matches!(self, Self::PowerShell(_))
    }

    /// The command, run by this shell; with its start-up file read first, if that is wanted.
    ///
    /// `None` if this shell has no text for it that means exactly the same: no program, a word with a NUL, a word that
    /// the shell cannot quote, or more text than the system takes.
    #[must_use]
    pub fn format(&self, command: &[OsString], use_profile: bool) -> Option<Vec<OsString>> {
        let (program, _) = command.split_first()?;
        if program.is_empty() {
            return None;
        }
        let words = command
            .iter()
            .map(|word| bytes::of(word))
            .collect::<Option<Vec<_>>>()?;
        if words.iter().any(|word| word.contains(&0)) {
            return None;
        }
        let shell = self.program();
        let script = Script {
            profile: profile(shell, use_profile)?,
            own_script: own_script(shell, &words),
            words: &words,
        };
        let (flags, text): (&[&str], Vec<u8>) = match self {
            Self::Bash(_) | Self::Zsh(_) | Self::Sh(_) => (&["-lc"], posix::script(&script)?),
            Self::Fish(_) => (&["-lc"], fish::script(&script)?),
            Self::PowerShell(_) => (powershell::flags(use_profile), powershell::script(&words)?),
            Self::Cmd(_) => (cmd::flags(use_profile), cmd::script(&words)?),
        };
        if text.len() > LONGEST_SCRIPT {
            return None;
        }
        let mut formatted = vec![shell.path.clone().into_os_string()];
        formatted.extend(flags.iter().map(OsString::from));
        formatted.push(bytes::into_os(text)?);
        Some(formatted)
    }
}

/// What a script is made of.
struct Script<'a> {
    /// The start-up file to read first.
    profile: Option<&'a [u8]>,
    /// The text, where the command is this very shell with a script.
    own_script: Option<&'a [u8]>,
    /// The command.
    words: &'a [&'a [u8]],
}

/// The start-up file, if it is wanted. A relative one would be looked for in the search path, so it formats nothing.
#[expect(
    clippy::option_option,
    reason = "no file to read is not the same as a file that cannot be named"
)]
fn profile(shell: &ShellProgram, wanted: bool) -> Option<Option<&[u8]>> {
    match &shell.profile {
        Some(profile) if wanted => {
            let bytes = bytes::of(profile.as_os_str())?;
            (profile.is_absolute() && !bytes.contains(&0)).then_some(Some(bytes))
        }
        _ => Some(None),
    }
}

/// The script of `bash -c script`, if the shell is that bash: such a text sees what the start-up file defines.
fn own_script<'a>(shell: &ShellProgram, words: &[&'a [u8]]) -> Option<&'a [u8]> {
    let [program, b"-c" | b"-lc", script] = words else {
        return None;
    };
    let named = Path::new(bytes::as_os(program)?).file_name()?;
    (named == shell.path.file_name().unwrap_or(OsStr::new(""))).then_some(script)
}

#[cfg(test)]
mod tests;
