//! Shapes of values: tokens that say what they are, keys, and passwords in addresses.

use std::ops::Range;

/// A token that begins with `prefix` and goes on for at least `rest` characters.
struct Token {
    prefix: &'static str,
    rest: usize,
    also: &'static [u8],
    /// Whether words of a language could have this shape, so that it must hold a digit.
    digit: bool,
}

const fn token(prefix: &'static str, rest: usize, also: &'static [u8], digit: bool) -> Token {
    Token {
        prefix,
        rest,
        also,
        digit,
    }
}

const TOKENS: &[Token] = &[
    token("ghp_", 20, b"", false),
    token("gho_", 20, b"", false),
    token("ghu_", 20, b"", false),
    token("ghs_", 20, b"", false),
    token("ghr_", 20, b"", false),
    token("github_pat_", 20, b"_", false),
    token("glpat-", 15, b"_-", false),
    token("sk-", 20, b"_-", true),
    token("sk_live_", 16, b"", false),
    token("sk_test_", 16, b"", false),
    token("rk_live_", 16, b"", false),
    token("AKIA", 16, b"", true),
    token("ASIA", 16, b"", true),
    token("xoxb-", 10, b"-", true),
    token("xoxp-", 10, b"-", true),
    token("xoxa-", 10, b"-", true),
    token("xoxr-", 10, b"-", true),
    token("xoxs-", 10, b"-", true),
    token("xapp-", 10, b"-", true),
    token("AIza", 30, b"_-", false),
    token("ya29.", 20, b"_-", false),
    token("npm_", 30, b"", true),
    token("pypi-", 32, b"_-", true),
    token("hf_", 30, b"", false),
    token("dop_v1_", 32, b"", false),
    token("SG.", 32, b"_-.", true),
    token("AGE-SECRET-KEY-", 20, b"", false),
];

/// Whether something in the text has the shape of a secret.
pub(crate) fn holds_secret(text: &[u8]) -> bool {
    !secret_ranges(text).is_empty()
}

/// The parts of a text that have the shape of a secret: in order, apart from each other.
pub(crate) fn secret_ranges(text: &[u8]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    // Up to here no web token can begin: one that began earlier had the same end and failed.
    let mut no_web_token = 0;
    while at < text.len() {
        let found = text.get(at..).and_then(|rest| {
            let starts = at == 0 || !text.get(at - 1).copied().is_some_and(is_word);
            let range = match rest {
                [b':', b'/', b'/', ..] => password_in_address(rest),
                [b'-', b'-', b'-', b'-', b'-', ..] => private_key(rest),
                _ if starts => known_token(rest).or_else(|| {
                    let found = (at >= no_web_token).then(|| web_token(rest)).flatten();
                    if found.is_none() && at >= no_web_token && rest.starts_with(b"eyJ") {
                        no_web_token = at + run(rest, b"_-");
                    }
                    found
                }),
                _ => None,
            }?;
            Some(at + range.start..at + range.end)
        });
        at = match found {
            Some(range) => {
                let end = range.end;
                ranges.push(range);
                end
            }
            None => at + 1,
        };
    }
    ranges
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// How far a token is looked at before it is known to be one, so that no text costs more than a multiple of its length.
const PROBE: usize = 128;

fn run(text: &[u8], also: &[u8]) -> usize {
    text.iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || also.contains(byte))
        .count()
}

fn known_token(text: &[u8]) -> Option<Range<usize>> {
    TOKENS.iter().find_map(|token| {
        let rest = text.strip_prefix(token.prefix.as_bytes())?;
        let length = run(rest.get(..rest.len().min(PROBE))?, token.also);
        let body = rest.get(..length)?;
        let letters = body.iter().any(u8::is_ascii_alphabetic);
        let digits = body.iter().any(u8::is_ascii_digit);
        // Amazon's have a fixed length and no lower case.
        let fits = match token.prefix {
            "AKIA" | "ASIA" => length == token.rest && !body.iter().any(u8::is_ascii_lowercase),
            _ => length >= token.rest,
        };
        let real = fits && (!token.digit || (letters && digits));
        real.then(|| 0..token.prefix.len() + run(rest, token.also))
    })
}

/// `eyJ….….…`: three parts, of which the first is a JSON object in base64.
fn web_token(text: &[u8]) -> Option<Range<usize>> {
    if !text.starts_with(b"eyJ") {
        return None;
    }
    let head = run(text, b"_-");
    let rest = text.get(head..)?.strip_prefix(b".")?;
    let body = run(rest, b"_-");
    let tail = rest.get(body..)?.strip_prefix(b".")?;
    (head >= 10 && body >= 10).then(|| 0..head + 1 + body + 1 + run(tail, b"_-"))
}

/// From `-----BEGIN … PRIVATE KEY-----` to its end, or to the end of the text.
fn private_key(text: &[u8]) -> Option<Range<usize>> {
    let rest = text.strip_prefix(b"-----BEGIN ")?;
    let label = rest.get(..rest.len().min(64))?;
    find(label, b"PRIVATE KEY")?;
    let end = find(rest, b"-----END ").map_or(text.len(), |end| {
        let end = end + b"-----BEGIN ".len() + b"-----END ".len();
        let closing = text.get(end..).and_then(|rest| find(rest, b"-----"));
        closing.map_or(text.len(), |closing| end + closing + 5)
    });
    Some(0..end)
}

/// The password of `://user:password@host`, or a long token that stands for the user.
fn password_in_address(text: &[u8]) -> Option<Range<usize>> {
    let start = 3;
    let authority = text.get(start..)?;
    let length = authority
        .iter()
        .take_while(|byte| !b"/?#\"'`<>\\".contains(byte) && !byte.is_ascii_whitespace())
        .count();
    let authority = authority.get(..length)?;
    let at = authority.iter().rposition(|byte| *byte == b'@')?;
    let user = authority.get(..at)?;
    if let Some(colon) = user.iter().position(|byte| *byte == b':') {
        let password = user.get(colon + 1..)?;
        // A variable that the shell fills in is no secret.
        return (!password.is_empty() && !password.starts_with(b"$"))
            .then(|| start + colon + 1..start + at);
    }
    let long = user.len() >= 20
        && user.iter().any(u8::is_ascii_digit)
        && user.iter().any(u8::is_ascii_alphabetic);
    long.then(|| start..start + at)
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        secret_ranges(text.as_bytes())
            .into_iter()
            .map(|range| &text[range])
            .collect()
    }

    #[test]
    fn tokens_that_say_what_they_are() {
        for token in [
            "ghp_0123456789abcdefghijABCDEFGHIJ012345",
            "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz",
            "glpat-abcdefghij0123456789",
            "sk-ant-api03-abcdefghijklmnop-0123456789",
            "sk-proj-abc123def456ghi789jkl",
            "AKIAIOSFODNN7EXAMPLE",
            "xoxb-123456789012-abcdefghij",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N",
            "npm_abcdefghijklmnopqrstuvwxyz0123456789",
            "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
            "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blb",
        ] {
            assert_eq!(found(token), [token]);
            let inside = format!("a={token}\n");
            assert_eq!(found(&inside).len(), 1, "{inside}");
        }
    }

    #[test]
    fn passwords_in_addresses() {
        assert_eq!(found("postgres://app:hunter2@db:5432/app"), ["hunter2"]);
        assert_eq!(
            found("a https://u:p%40w@h/x https://v:q@i b"),
            ["p%40w", "q"]
        );
        assert_eq!(
            found("https://0123456789abcdef0123x@git.example.com/x"),
            ["0123456789abcdef0123x"]
        );
    }

    #[test]
    fn what_only_looks_so() {
        for text in [
            "sk-learn-contrib-extra-packages",
            "task-0123456789012345678901234",
            "ghp_short",
            "AKIA",
            "AKIAIOSFODNN7EXAMPLElonger",
            "ASIATICBLACKBEARLIVES",
            "eyJ is how it begins",
            "https://example.com/user:name@home",
            "ssh://git@github.com/x/y",
            "http://[::1]:8080/a@b",
            "postgres://app:$PASSWORD@db/app",
            "git@github.com:x/y.git",
            "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
            "/usr/bin:/bin",
            "",
        ] {
            assert!(found(text).is_empty(), "{text}: {:?}", found(text));
        }
    }
}
