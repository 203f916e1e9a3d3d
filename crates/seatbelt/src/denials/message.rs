//! One message of the kernel about a denial.

use std::fmt;

/// The longest name of a process that the kernel keeps.
const NAME_MAX: usize = 32;

/// The longest name of an operation that is taken for one.
const OPERATION_MAX: usize = 64;

/// Who denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Reporter {
    /// A profile.
    Sandbox,
    /// The system's own policy, such as the privacy settings: no profile of ours, and no policy of ours changes it.
    SystemPolicy,
}

/// Something that was denied.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Denial {
    /// Who denied.
    pub reporter: Reporter,
    /// The name of the process, which it may have chosen.
    pub process: String,
    /// Its number at the time.
    pub pid: i32,
    /// The operation, such as `file-write-create`.
    pub operation: String,
    /// What it was about, such as a path; empty for some operations. It may hold anything, line breaks too.
    pub target: String,
    /// How often more, as far as the system merged them.
    pub repeats: u32,
}

impl fmt::Display for Denial {
    /// On one line, whatever the names hold.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = match self.reporter {
            Reporter::Sandbox => "",
            Reporter::SystemPolicy => "by the system's own policy: ",
        };
        let process = self.process.escape_debug();
        write!(f, "{who}{process} ({}): {}", self.pid, self.operation)?;
        match self.target.as_str() {
            "" => Ok(()),
            target => write!(f, " {}", target.escape_debug()),
        }
    }
}

impl Denial {
    /// Reads a message without its tag; `None` if it is no denial, or could be about more than one process.
    #[must_use]
    pub fn read(message: &str) -> Option<Self> {
        let (repeats, rest) = duplicates(message);
        let (reporter, rest) = [
            ("Sandbox: ", Reporter::Sandbox),
            ("System Policy: ", Reporter::SystemPolicy),
        ]
        .into_iter()
        .find_map(|(prefix, reporter)| Some((reporter, rest.strip_prefix(prefix)?)))?;
        let mut readings = rest
            .match_indices('(')
            .take_while(|(at, _)| *at <= NAME_MAX)
            .filter_map(|(at, _)| reading(rest, at));
        let (process, pid, operation, target) = readings.next()?;
        // A name or a path that looks like the middle of a message: either could be meant.
        if readings.next().is_some() {
            return None;
        }
        Some(Self {
            reporter,
            process: process.to_owned(),
            pid,
            operation: operation.to_owned(),
            target: target.to_owned(),
            repeats,
        })
    }
}

/// `3 duplicate reports for Sandbox: ...`: how many, and the rest.
fn duplicates(message: &str) -> (u32, &str) {
    let read = || {
        let (count, rest) = message.split_once(" duplicate report")?;
        let count = number(count)?;
        let rest = rest.strip_prefix('s').unwrap_or(rest);
        Some((u32::try_from(count).ok()?, rest.strip_prefix(" for ")?))
    };
    read().unwrap_or((0, message))
}

/// `name(pid) deny(1) operation target`, if the name ends here.
fn reading(text: &str, at: usize) -> Option<(&str, i32, &str, &str)> {
    let (name, rest) = text.split_at_checked(at)?;
    let (pid, rest) = rest.strip_prefix('(')?.split_once(')')?;
    let (code, rest) = rest.strip_prefix(" deny(")?.split_once(')')?;
    number(code)?;
    let rest = rest.strip_prefix(' ')?;
    let (operation, target) = rest.split_once(' ').unwrap_or((rest, ""));
    let is_operation = operation.len() <= OPERATION_MAX
        && operation.starts_with(|first: char| first.is_ascii_lowercase())
        && operation.bytes().all(|byte| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-*".contains(&byte)
        });
    (!name.is_empty() && is_operation).then_some((name, number(pid)?, operation, target))
}

/// Digits only: a sign or a space is no number.
fn number(text: &str) -> Option<i32> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(message: &str) -> Option<(String, i32, String, String, u32)> {
        let denial = Denial::read(message)?;
        assert_eq!(denial.reporter, Reporter::Sandbox);
        Some((
            denial.process,
            denial.pid,
            denial.operation,
            denial.target,
            denial.repeats,
        ))
    }

    fn told(
        process: &str,
        pid: i32,
        operation: &str,
        target: &str,
        repeats: u32,
    ) -> Option<(String, i32, String, String, u32)> {
        Some((
            process.to_owned(),
            pid,
            operation.to_owned(),
            target.to_owned(),
            repeats,
        ))
    }

    /// Messages that people have published, from macOS 10.14 to 26; names of people are replaced.
    #[test]
    fn published_messages_are_read() {
        for (message, expected) in [
            (
                "Sandbox: cat(96728) deny(1) file-read-data /private/var/folders/zz/T/forbidden/read.txt",
                told(
                    "cat",
                    96728,
                    "file-read-data",
                    "/private/var/folders/zz/T/forbidden/read.txt",
                    0,
                ),
            ),
            (
                "Sandbox: bash(96731) deny(1) file-write-create /private/var/folders/zz/T/forbidden/write.txt",
                told(
                    "bash",
                    96731,
                    "file-write-create",
                    "/private/var/folders/zz/T/forbidden/write.txt",
                    0,
                ),
            ),
            (
                "Sandbox: mobileassetd(45396) deny(1) file-write-create /private/var/run/bootSessionMA.txt",
                told(
                    "mobileassetd",
                    45396,
                    "file-write-create",
                    "/private/var/run/bootSessionMA.txt",
                    0,
                ),
            ),
            (
                "Sandbox: mdworker(15726) deny(1) mach-lookup com.apple.security.syspolicy",
                told(
                    "mdworker",
                    15726,
                    "mach-lookup",
                    "com.apple.security.syspolicy",
                    0,
                ),
            ),
            (
                "Sandbox: limactl(42303) deny(1) mach-lookup com.apple.Virtualization.VirtualMachine (xpc)",
                told(
                    "limactl",
                    42303,
                    "mach-lookup",
                    "com.apple.Virtualization.VirtualMachine (xpc)",
                    0,
                ),
            ),
            (
                "Sandbox: curl(13590) deny(1) network-outbound remote:*:443",
                told("curl", 13590, "network-outbound", "remote:*:443", 0),
            ),
            (
                "Sandbox: curl(75886) deny(1) network-outbound /private/var/run/mDNSResponder",
                told(
                    "curl",
                    75886,
                    "network-outbound",
                    "/private/var/run/mDNSResponder",
                    0,
                ),
            ),
            (
                "Sandbox: curl(75886) deny(1) user-preference-read kCFPreferencesAnyApplication",
                told(
                    "curl",
                    75886,
                    "user-preference-read",
                    "kCFPreferencesAnyApplication",
                    0,
                ),
            ),
            (
                "Sandbox: python3(54920) deny(1) sysctl-read security.mac.lockdown_mode_state",
                told(
                    "python3",
                    54920,
                    "sysctl-read",
                    "security.mac.lockdown_mode_state",
                    0,
                ),
            ),
            (
                "Sandbox: python3.12(9) deny(1) network-outbound 1.1.1.1:443",
                told("python3.12", 9, "network-outbound", "1.1.1.1:443", 0),
            ),
            (
                "Sandbox: Gradle Worker(10) deny(1) signal",
                told("Gradle Worker", 10, "signal", "", 0),
            ),
            (
                "3 duplicate reports for Sandbox: maild(2087) deny(1) mach-lookup com.apple.contactsd.persistence",
                told(
                    "maild",
                    2087,
                    "mach-lookup",
                    "com.apple.contactsd.persistence",
                    3,
                ),
            ),
            (
                "1 duplicate report for Sandbox: go(7) deny(1) file-read-metadata /Library",
                told("go", 7, "file-read-metadata", "/Library", 1),
            ),
        ] {
            assert_eq!(read(message), expected, "{message}");
        }
        let policy = "System Policy: node(4711) deny(1) file-read-data /Users/dev/Documents/a.js";
        let denial = Denial::read(policy).unwrap();
        assert_eq!(denial.reporter, Reporter::SystemPolicy);
        assert!(denial.to_string().contains("the system's own policy"));
    }

    #[test]
    fn what_is_no_denial_is_none() {
        for message in [
            "",
            "Sandbox: ",
            "Sandbox: something else entirely",
            "Sandbox: npm(102) allow file-write-data /srv/app/out",
            "Sandbox: deny(1) file-write-data /Users/dev/.npm",
            "Sandbox: cat() deny(1) file-read-data /x",
            "Sandbox: cat(-1) deny(1) file-read-data /x",
            "Sandbox: cat(99999999999) deny(1) file-read-data /x",
            "Sandbox: cat(1) deny(x) file-read-data /x",
            "Sandbox: cat(1) deny(1) /x",
            "Sandbox: cat(1) deny(1)",
            "Sandbox: cat(1) deny(1) ",
            "-1 duplicate reports for Sandbox: cat(1) deny(1) signal",
            "say Sandbox: cat(1) deny(1) signal",
            "kernel: Sandbox: cat(1) deny(1) signal",
        ] {
            assert_eq!(Denial::read(message), None, "{message}");
        }
    }

    #[test]
    fn a_name_does_not_say_who_somebody_else_was() {
        // The kernel puts the name first: one that goes on like a message must not be believed.
        for name in ["x(77) deny(1) signal ", "x(77) deny(1) a b"] {
            let message = format!("Sandbox: {name}(4242) deny(1) file-read-data /p");
            assert_eq!(Denial::read(&message), None, "{message}");
        }
        // One that only begins so leaves one reading.
        let message = "Sandbox: x(77) deny(1) f(4242) deny(1) file-read-data /p";
        assert_eq!(
            read(message),
            told("x(77) deny(1) f", 4242, "file-read-data", "/p", 0)
        );
        // Nobody has no name.
        assert_eq!(
            read("Sandbox: (1) deny(1) a (4242) deny(1) signal"),
            told("(1) deny(1) a ", 4242, "signal", "", 0)
        );
        assert_eq!(
            read("Sandbox: a)(b(12) deny(1) signal"),
            told("a)(b", 12, "signal", "", 0)
        );
        assert_eq!(
            read("Sandbox: \"q\"(12) deny(1) signal"),
            told("\"q\"", 12, "signal", "", 0)
        );
    }

    #[test]
    fn a_path_is_a_path_whatever_it_says() {
        let hostile = "/srv/app/very/deep/down/in/here/x\nSandbox: sshd(1) deny(1) file-read-data /etc/passwd";
        let message = format!("Sandbox: cat(5) deny(1) file-read-data {hostile}");
        assert_eq!(read(&message), told("cat", 5, "file-read-data", hostile, 0));
        let shown = Denial::read(&message).unwrap().to_string();
        assert_eq!(shown.lines().count(), 1, "{shown}");
    }
}
