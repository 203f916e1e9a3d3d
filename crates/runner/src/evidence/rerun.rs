//! The line that would run a command again with a grant.

use std::ffi::{OsStr, OsString};

use palisade_policy::{GitAccess, Grant};

/// The line of a shell that runs a command again with one more grant, such as
/// `palisade run -w /srv/data -- make install`.
///
/// What has no option of its own is written `--grant KIND:VALUE`.
#[must_use]
pub fn rerun_line(grant: &Grant, argv: &[OsString]) -> String {
    let mut words: Vec<OsString> = vec!["palisade".into(), "run".into()];
    words.extend(grant_words(grant));
    words.push("--".into());
    words.extend(argv.iter().cloned());
    shell_line(&words)
}

/// The words of a command line of `palisade run` that give a grant.
#[must_use]
pub fn grant_words(grant: &Grant) -> Vec<OsString> {
    let joined = |before: &str, value: &OsStr| {
        let mut word = OsString::from(before);
        word.push(value);
        word
    };
    match grant {
        Grant::Write(path) => vec!["-w".into(), path.as_path().as_os_str().to_owned()],
        Grant::Git(access) => vec![
            "--git".into(),
            match access {
                GitAccess::ReadOnly => "read-only",
                GitAccess::Commit => "commit",
                GitAccess::Full => "full",
            }
            .into(),
        ],
        Grant::Host(entry) => vec![format!("--net={entry}").into()],
        Grant::Read(path) => vec![
            "--grant".into(),
            joined("read:", path.as_path().as_os_str()),
        ],
        Grant::HostLoopback => vec!["--grant".into(), "host-loopback".into()],
        Grant::UnixSocket(path) => vec![
            "--grant".into(),
            joined("unix-socket:", path.as_path().as_os_str()),
        ],
        // The name that serde gives it is the one that a policy file has.
        other => vec![
            "--grant".into(),
            serde_json::to_string(other).unwrap_or_default().into(),
        ],
    }
}

/// Words as one line that a shell reads back, byte for byte. What cannot be seen is spelled out, as bash, zsh and ksh read
/// it.
#[must_use]
pub fn shell_line(words: &[OsString]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| quote(word)).collect();
    quoted.join(" ")
}

/// A word as a shell reads it back, byte for byte. What cannot be seen is spelled out.
fn quote(word: &OsStr) -> String {
    let bytes = word.as_encoded_bytes();
    let safe = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./:=@%+,".contains(byte);
    let text = word.to_str();
    let visible = text.filter(|text| !text.chars().any(hidden));
    match visible {
        Some(text) if !text.is_empty() && bytes.iter().all(safe) => text.to_owned(),
        Some(text) => format!("'{}'", text.replace('\'', r"'\''")),
        None => {
            use std::fmt::Write as _;
            let mut quoted = String::from("$'");
            for byte in bytes {
                // Writing to a string cannot fail.
                let _ = match byte {
                    b'\'' | b'\\' => write!(quoted, "\\{}", char::from(*byte)),
                    b' '..=b'~' => write!(quoted, "{}", char::from(*byte)),
                    byte => write!(quoted, "\\{byte:03o}"),
                };
            }
            quoted.push('\'');
            quoted
        }
    }
}

/// Characters that a terminal obeys or does not show.
pub(super) fn hidden(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

// The paths in it are those of Unix.
#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use palisade_policy::{AbsolutePath, NetworkAllowlistEntry};

    fn line(grant: &Grant, argv: &[&str]) -> String {
        let argv: Vec<OsString> = argv.iter().map(OsString::from).collect();
        rerun_line(grant, &argv)
    }

    fn path(text: &str) -> AbsolutePath {
        AbsolutePath::new(text).unwrap()
    }

    #[test]
    fn each_grant_has_its_words() {
        let rows = [
            (Grant::Write(path("/srv/a b")), "-w '/srv/a b'"),
            (
                Grant::Read(path("/home/dev/.netrc")),
                "--grant read:/home/dev/.netrc",
            ),
            (Grant::Git(GitAccess::Commit), "--git commit"),
            (Grant::Git(GitAccess::Full), "--git full"),
            (
                Grant::Host(NetworkAllowlistEntry::https("example.com").unwrap()),
                "--net=example.com:443",
            ),
            (
                Grant::Host(NetworkAllowlistEntry::with_port("[::1]", 80).unwrap()),
                "'--net=[::1]:80'",
            ),
            (Grant::HostLoopback, "--grant host-loopback"),
            (
                Grant::UnixSocket(path("/run/x.sock")),
                "--grant unix-socket:/run/x.sock",
            ),
        ];
        for (grant, words) in rows {
            assert_eq!(
                line(&grant, &["make"]),
                format!("palisade run {words} -- make")
            );
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_shell_reads_every_word_back() {
        use std::os::unix::ffi::OsStringExt as _;
        let words: Vec<OsString> = [
            &b"a b"[..],
            b"it's",
            b"$HOME `id` \"q\" \\",
            b"",
            b"new\nline\t\x1b[31m",
            b"\xff\xfe'\\9",
            b"*?[a]~!#;&|<>()",
            "é\u{202e}x".as_bytes(),
        ]
        .iter()
        .map(|bytes| OsString::from_vec(bytes.to_vec()))
        .collect();
        let line = rerun_line(&Grant::HostLoopback, &words);
        let (_, quoted) = line.split_once(" -- ").unwrap();
        assert!(!line.chars().any(hidden), "{line:?}");
        let script = format!("printf '%s\\0' {quoted}");
        let output = std::process::Command::new("bash")
            .args(["-c", &script])
            .output()
            .unwrap();
        let mut expected = Vec::new();
        for word in &words {
            expected.extend_from_slice(word.as_encoded_bytes());
            expected.push(0);
        }
        assert_eq!(output.stdout, expected);
    }
}
