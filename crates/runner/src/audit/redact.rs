//! Taking secrets out of what is written down: by the name before a value, and by the shape of the value.
//!
//! It is a courtesy to those who read records, not a promise: a secret that looks like nothing stays. Records are for
//! the user's eyes only for that reason.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::ops::Range;

use palisade_policy::Environment;

use crate::environment::secrets;

/// What stands where a secret was.
pub const MASK: &str = "[redacted]";

/// How much of one argument is kept, and of all together.
const WORD_BYTES: usize = 4 * 1024;
const ARGV_BYTES: usize = 64 * 1024;

/// What follows a name that says it is a secret, but is not one itself.
const NOT_VALUES: &[&str] = &[
    "_FILE", "_PATH", "_DIR", "_STDIN", "_FD", "_ENV", "_CMD", "_COMMAND", "_HELPER", "_TYPE",
    "_NAME", "_LENGTH", "_COUNT", "_LIMIT", "_POLICY", "_STORE", "_MANAGER", "_PROMPT", "_EXPIRY",
    "_TTL",
];
const AMOUNTS: &[&str] = &["MAX_", "MIN_", "NUM_", "N_", "NO_"];

/// Headers whose whole value is a secret.
const HEADERS: &[&str] = &[
    "authorization",
    "proxy-authorization",
    "cookie",
    "set-cookie",
];

/// Programs whose short flags take a secret.
const SHORT_FLAGS: &[(&[&str], &str, Style)] = &[
    (
        &[
            "mysql",
            "mysqldump",
            "mysqladmin",
            "mysqlimport",
            "mysqlshow",
            "mysqlcheck",
            "mariadb",
            "mariadb-dump",
            "mariadb-admin",
        ],
        "-p",
        Style::Attached,
    ),
    (&["sshpass"], "-p", Style::Either),
    (
        &["docker", "podman", "skopeo", "buildah", "helm"],
        "-p",
        Style::OnlyAfter("login"),
    ),
    (&["redis-cli"], "-a", Style::Either),
    (
        &["curl", "wget", "http", "https"],
        "-u",
        Style::UserPassword,
    ),
    (&["curl"], "--user", Style::UserPassword),
    (&["curl"], "--proxy-user", Style::UserPassword),
    (&["curl"], "-U", Style::UserPassword),
    (
        &["ldapsearch", "ldapadd", "ldapmodify"],
        "-w",
        Style::Either,
    ),
    (&["7z", "zip", "unzip"], "-P", Style::Either),
    (&["7z", "7za"], "-p", Style::Attached),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    /// `-pSECRET`; alone it asks.
    Attached,
    /// `-pSECRET` or `-p SECRET`.
    Either,
    /// `-p SECRET` where this word came before.
    OnlyAfter(&'static str),
    /// `-u USER:SECRET`.
    UserPassword,
}

/// A command, word for word, without its secrets.
#[must_use]
pub fn argv(argv: &[OsString]) -> Vec<String> {
    let words: Vec<String> = argv.iter().map(|word| readable(word)).collect();
    let mut flags = Flags::default();
    let mut last: Option<&str> = None;
    let mut redacted = Vec::with_capacity(words.len());
    for word in &words {
        redacted.push(match last {
            Some(flag) if takes_secret(flag) && !word.starts_with("--") => MASK.to_owned(),
            _ => flags
                .redacted(last.unwrap_or_default(), word)
                .unwrap_or_else(|| text(word)),
        });
        flags.learn(word);
        last = Some(word);
    }
    redacted
}

/// An environment without its secrets.
#[must_use]
pub fn environment(env: &Environment) -> BTreeMap<String, String> {
    env.iter()
        .map(|(name, value)| {
            let value = match secrets::is_secret_name(name.as_encoded_bytes()) {
                true => MASK.to_owned(),
                false => text(&readable(value)),
            };
            (readable(name), value)
        })
        .collect()
}

/// How often what is left is looked at again. Nobody needs more than two looks by accident.
const LOOKS: usize = 8;

/// A text, such as a script or a message, without the secrets in it.
///
/// A secret that is taken out can let another one begin that stood in the middle of a word before, so what is left is
/// looked at again until it stays as it is; what is made so that it never does is hidden as a whole.
#[must_use]
pub fn text(text: &str) -> String {
    let mut clean = masked(text);
    for _ in 0..LOOKS {
        let again = masked(&clean);
        if again == clean {
            return clean;
        }
        clean = again;
    }
    MASK.to_owned()
}

/// A text without the secrets that one look finds.
fn masked(text: &str) -> String {
    let mut ranges = secrets::secret_ranges(text.as_bytes());
    ranges.extend(named_values(text));
    ranges.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    let mut clean = String::with_capacity(text.len());
    let mut done = 0;
    for range in ranges {
        if range.end <= done {
            continue;
        }
        if range.start >= done {
            clean.push_str(text.get(done..range.start).unwrap_or_default());
            clean.push_str(MASK);
        }
        done = range.end;
    }
    clean.push_str(text.get(done..).unwrap_or_default());
    clean
}

/// Text for a person: bytes that are no text are escaped, so this cannot be undone.
pub(super) fn readable(text: &OsStr) -> String {
    use std::fmt::Write as _;
    let mut readable = String::new();
    for chunk in text.as_encoded_bytes().utf8_chunks() {
        readable.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(readable, "\\x{byte:02x}");
        }
    }
    readable
}

/// A command of bounded length. It says how much is missing.
pub(super) fn bounded(argv: Vec<String>) -> Vec<String> {
    let mut left = ARGV_BYTES;
    let mut kept = Vec::new();
    let words = argv.len();
    for word in argv {
        if left == 0 {
            kept.push(format!("[{} more arguments]", words - kept.len()));
            break;
        }
        let room = WORD_BYTES.min(left);
        let end = (0..=room.min(word.len()))
            .rev()
            .find(|end| word.is_char_boundary(*end))
            .unwrap_or(0);
        left -= end.min(left);
        let rest = word.len() - end;
        let mut word = word;
        if rest > 0 {
            word.truncate(end);
            word.push_str(&format!("[{rest} more bytes]"));
        }
        kept.push(word);
    }
    kept
}

/// Whether a flag is followed by a secret, as in `--token SECRET`.
fn takes_secret(word: &str) -> bool {
    let name = word.trim_start_matches('-');
    let long = word.starts_with("--") || (word.starts_with('-') && name.len() > 2);
    long && !name.contains('=') && !name.contains(char::is_whitespace) && names_secret(name)
}

fn names_secret(name: &str) -> bool {
    let upper = name.to_ascii_uppercase().replace(['-', '.'], "_");
    let value = !NOT_VALUES.iter().any(|ending| upper.ends_with(ending))
        && !AMOUNTS.iter().any(|start| upper.starts_with(start));
    value && secrets::is_secret_name(upper.as_bytes())
}

/// The entries of [`SHORT_FLAGS`] whose program was named so far.
#[derive(Default)]
struct Flags {
    active: Vec<&'static (&'static [&'static str], &'static str, Style)>,
    commands: Vec<&'static str>,
}

impl Flags {
    fn learn(&mut self, word: &str) {
        let name = word.rsplit('/').next().unwrap_or_default();
        for entry in SHORT_FLAGS {
            let (programs, _, style) = entry;
            if programs.contains(&name)
                && !self.active.iter().any(|known| std::ptr::eq(*known, entry))
            {
                self.active.push(entry);
            }
            if let Style::OnlyAfter(command) = style
                && *command == word
                && !self.commands.contains(command)
            {
                self.commands.push(command);
            }
        }
    }

    /// A word that only its program makes a secret.
    fn redacted(&self, last: &str, word: &str) -> Option<String> {
        self.active.iter().find_map(|(_, flag, style)| {
            let follows = last == *flag;
            let attached = word.strip_prefix(flag).filter(|rest| !rest.is_empty());
            match style {
                Style::Attached => attached.map(|_| format!("{flag}{MASK}")),
                Style::Either if follows => Some(MASK.to_owned()),
                Style::Either => attached.map(|_| format!("{flag}{MASK}")),
                Style::OnlyAfter(command) => {
                    (follows && self.commands.contains(command)).then(|| MASK.to_owned())
                }
                Style::UserPassword if follows => {
                    let (user, _) = word.split_once(':')?;
                    Some(format!("{user}:{MASK}"))
                }
                Style::UserPassword => {
                    let (user, _) = attached?.split_once(':')?;
                    Some(format!("{flag}{user}:{MASK}"))
                }
            }
        })
    }
}

/// Values that the name before them makes secrets: `NAME=value`, `"name": "value"`, `--name value`, headers.
fn named_values(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut ranges = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let length = bytes
            .iter()
            .skip(start)
            .take_while(|byte| is_name(**byte))
            .count();
        at = start + length.max(1);
        let Some(name) = text
            .get(start..start + length)
            .filter(|name| !name.is_empty())
        else {
            continue;
        };
        if let Some(value) = value_after(bytes, start, start + length, name) {
            at = value.end.max(at);
            ranges.push(value);
        }
    }
    ranges
}

const fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// The value that belongs to the name that ends at `end`, if it is a secret.
fn value_after(text: &[u8], start: usize, end: usize, name: &str) -> Option<Range<usize>> {
    let get = |at: usize| text.get(at).copied();
    let bare = name.trim_start_matches('-');
    // `password` at the end of a name in quotes: `"password": "x"`.
    let quoted = matches!(get(end), Some(b'"' | b'\''));
    let after = end + usize::from(quoted);
    let from = match get(after) {
        Some(b'=') if get(after + 1) != Some(b'=') => after + 1,
        Some(b':') if quoted || get(after + 1) == Some(b' ') => after + 1,
        // A flag in a script, with its value after a space.
        Some(b' ') if name.starts_with("--") && takes_secret(name) => after + 1,
        _ => return None,
    };
    let header = HEADERS
        .iter()
        .any(|header| bare.eq_ignore_ascii_case(header));
    // `-Ddb.password=x` defines; so does `-e NAME=x`.
    let defined = bare.strip_prefix('D').filter(|_| name.starts_with('-'));
    if !header && !names_secret(bare) && !defined.is_some_and(names_secret) {
        return None;
    }
    let from = from
        + text
            .get(from..)?
            .iter()
            .take_while(|byte| **byte == b' ')
            .count();
    let opening = get(from).filter(|byte| matches!(byte, b'"' | b'\''));
    let from = from + usize::from(opening.is_some());
    let around = start
        .checked_sub(1)
        .and_then(get)
        .filter(|byte| matches!(byte, b'"' | b'\''));
    let ends = |byte: u8| match (opening, header) {
        (Some(quote), _) => byte == quote,
        (None, true) => byte == b'\n' || byte == b'\r' || Some(byte) == around,
        (None, false) => byte.is_ascii_whitespace() || b"\"';&|,)}".contains(&byte),
    };
    let length = text
        .get(from..)?
        .iter()
        .take_while(|byte| !ends(**byte))
        .count();
    let value = text.get(from..from + length)?;
    // A variable that the shell fills in is no secret; neither is nothing.
    let real = !value.is_empty() && (header || !value.starts_with(b"$"));
    real.then(|| from..from + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &[&str]) -> String {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        argv(&words).join(" ")
    }

    #[test]
    fn secrets_are_taken_out() {
        let rows: &[(&[&str], &str)] = &[
            (
                &["tool", "--password", "hunter2"],
                "tool --password [redacted]",
            ),
            (
                &["tool", "--password=hunter2", "x"],
                "tool --password=[redacted] x",
            ),
            (&["tool", "--api-key", "abc"], "tool --api-key [redacted]"),
            (&["tool", "-token", "abc"], "tool -token [redacted]"),
            (
                &["vault", "--client-secret=abc"],
                "vault --client-secret=[redacted]",
            ),
            (
                &["mysql", "-uroot", "-phunter2", "app"],
                "mysql -uroot -p[redacted] app",
            ),
            (
                &["/usr/bin/mysqldump", "-phunter2"],
                "/usr/bin/mysqldump -p[redacted]",
            ),
            (
                &["env", "A=b", "mysql", "-phunter2"],
                "env A=b mysql -p[redacted]",
            ),
            (
                &["sshpass", "-p", "hunter2", "ssh", "h"],
                "sshpass -p [redacted] ssh h",
            ),
            (
                &["docker", "login", "-u", "me", "-p", "hunter2"],
                "docker login -u me -p [redacted]",
            ),
            (
                &["curl", "-u", "me:hunter2", "https://h"],
                "curl -u me:[redacted] https://h",
            ),
            (&["curl", "-ume:hunter2"], "curl -ume:[redacted]"),
            (
                &["curl", "--user", "me:hunter2"],
                "curl --user me:[redacted]",
            ),
            (&["redis-cli", "-a", "hunter2"], "redis-cli -a [redacted]"),
            (
                &["psql", "postgres://app:hunter2@db/app"],
                "psql postgres://app:[redacted]@db/app",
            ),
            (
                &["git", "clone", "https://me:hunter2@h/x"],
                "git clone https://me:[redacted]@h/x",
            ),
            (
                &["curl", "-H", "Authorization: Bearer abc.def"],
                "curl -H Authorization: [redacted]",
            ),
            (
                &["curl", "-H", "authorization: Basic YTpi"],
                "curl -H authorization: [redacted]",
            ),
            (
                &["curl", "-H", "X-Api-Key: abc"],
                "curl -H X-Api-Key: [redacted]",
            ),
            (
                &["curl", "-b", "Cookie: a=b; c=d"],
                "curl -b Cookie: [redacted]",
            ),
            (
                &["env", "GITHUB_TOKEN=abc", "make"],
                "env GITHUB_TOKEN=[redacted] make",
            ),
            (&["env", "DB_PASSWORD=a b"], "env DB_PASSWORD=[redacted] b"),
            (
                &["docker", "run", "-e", "API_KEY=abc", "x"],
                "docker run -e API_KEY=[redacted] x",
            ),
            (
                &["java", "-Ddb.password=abc", "x"],
                "java -Ddb.password=[redacted] x",
            ),
            (
                &["bash", "-c", "export TOKEN=abc; make"],
                "bash -c export TOKEN=[redacted]; make",
            ),
            (
                &["bash", "-c", "tool --token abc && x"],
                "bash -c tool --token [redacted] && x",
            ),
            (
                &[
                    "bash",
                    "-c",
                    "curl -H 'Authorization: Bearer abc' https://h",
                ],
                "bash -c curl -H 'Authorization: [redacted]' https://h",
            ),
            (
                &["curl", "-d", r#"{"password": "hunter2", "a": 1}"#],
                r#"curl -d {"password": "[redacted]", "a": 1}"#,
            ),
            (
                &["echo", "ghp_0123456789abcdefghijABCDEFGHIJ012345"],
                "echo [redacted]",
            ),
            (
                &["echo", "key AKIAIOSFODNN7EXAMPLE."],
                "echo key [redacted].",
            ),
            (
                &["x", "https://h/?access_token=abc&b=1"],
                "x https://h/?access_token=[redacted]&b=1",
            ),
        ];
        for (words, expected) in rows {
            assert_eq!(line(words), *expected);
            assert!(!line(words).contains("hunter2"));
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        for words in [
            &["docker", "login", "--password-stdin"][..],
            &["tool", "--token-file", "/home/dev/t"],
            &["llm", "--max-tokens", "4096"],
            &["mysql", "-p", "app"],
            &["mkdir", "-p", "src/secret"],
            &["grep", "-rn", "password", "src"],
            &["cargo", "test", "token"],
            &["git", "clone", "git@github.com:x/y.git"],
            &["git", "commit", "-m", "Rotate the token when it expires"],
            &["ssh", "-i", "/home/dev/.ssh/id", "me@h"],
            &["make", "KEYBOARD=de"],
            &["curl", "https://h/tokens/list?page=2"],
            &["bash", "-c", "tool --token \"$TOKEN\""],
            &["bash", "-c", "export TOKEN=$(cat t)"],
            &["test", "a", "==", "b"],
            &["curl", "-u", "me", "https://h"],
            &["docker", "run", "-p", "80:80", "x"],
            &["python3", "-c", "if password == other: pass"],
        ] {
            assert_eq!(line(words), words.join(" "));
        }
    }

    #[test]
    fn a_secret_behind_a_secret_is_taken_out_too() {
        let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
        assert_eq!(
            text(&format!("x {token}---token t")),
            "x [redacted]---token [redacted]"
        );
        // Each is found only when the one before it is gone.
        let chain = format!("{token}-").repeat(3 * LOOKS);
        assert_eq!(text(&text(&chain)), text(&chain));
        assert!(!text(&chain).contains("ghp_"));
    }

    #[test]
    fn environments_lose_values_and_keep_names() {
        let env: Environment = [
            ("GITHUB_TOKEN", "x"),
            ("URL", "https://a:b@c/"),
            ("PATH", "/usr/bin"),
        ]
        .map(|(name, value)| (name.into(), value.into()))
        .into();
        let clean = environment(&env);
        assert_eq!(clean["GITHUB_TOKEN"], MASK);
        assert_eq!(clean["URL"], "https://a:[redacted]@c/");
        assert_eq!(clean["PATH"], "/usr/bin");
    }

    #[test]
    #[cfg(unix)]
    fn a_hostile_command_costs_little() {
        let started = std::time::Instant::now();
        let long = [
            "sk-",
            "eyJ-",
            "://a:",
            "'a ",
            "password",
            "-----BEGIN PRIVATE KEY",
        ]
        .map(|part| OsString::from(part.repeat(128 * 1024 / part.len())));
        let many = vec![OsString::from("mysql"); 50_000];
        assert_eq!(argv(&long).len(), long.len());
        assert_eq!(argv(&many).len(), many.len());
        assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    }

    #[test]
    fn long_commands_are_cut_and_say_so() {
        let words = bounded(vec!["é".repeat(4000), "b".repeat(10)]);
        assert_eq!(words[0].chars().filter(|c| *c == 'é').count(), 2048);
        assert!(words[0].ends_with("[3904 more bytes]"));
        let many = bounded(vec!["x".repeat(4096); 20]);
        assert_eq!(many.len(), 17);
        assert_eq!(many[16], "[4 more arguments]");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_redacted_without_harm(line in "[ -~é\"'=:/@]{0,80}") {
            let clean = text(&line);
            proptest::prop_assert!(clean == line || clean.contains(MASK));
        }
    }
}
