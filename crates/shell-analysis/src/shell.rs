//! Which shell would read the text.

use std::fmt;

/// The shell a script was written for.
///
/// The allow side accepts only what bash, dash and zsh read alike; [`Shell::Sh`] further leaves out what POSIX does
/// not have (`|&` and `<(...)`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Shell {
    /// GNU bash.
    Bash,
    /// dash, ksh, or whatever `sh` happens to be: the least of them all.
    Sh,
    /// zsh with its default options.
    Zsh,
    /// PowerShell of either generation: never plain.
    PowerShell,
    /// The Windows command interpreter: never plain.
    Cmd,
}

impl Shell {
    /// Recognises a shell by program name, whatever directory it is named in: `bash`, `/bin/sh`, `PWSH.EXE`.
    #[must_use]
    pub fn from_program(program: &[u8]) -> Option<Self> {
        let name = crate::names::folded_base(program);
        Some(match &*name {
            b"bash" | b"rbash" => Self::Bash,
            b"sh" | b"dash" | b"ash" | b"ksh" | b"ksh93" | b"mksh" => Self::Sh,
            b"zsh" | b"rzsh" => Self::Zsh,
            b"pwsh" | b"powershell" => Self::PowerShell,
            b"cmd" => Self::Cmd,
            _ => return None,
        })
    }

    /// Whether the allow side can read scripts of this shell at all.
    #[must_use]
    pub fn is_posix_like(self) -> bool {
        matches!(self, Self::Bash | Self::Sh | Self::Zsh)
    }
}

impl fmt::Display for Shell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bash => "bash",
            Self::Sh => "sh",
            Self::Zsh => "zsh",
            Self::PowerShell => "PowerShell",
            Self::Cmd => "cmd",
        })
    }
}
