//! Lines of a reflog: read with suspicion, written anew.

use super::names::{HashKind, Oid};

/// One line of a reflog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LogEntry {
    /// The value before; `None` for nothing.
    pub(super) old: Option<Oid>,
    /// The value after; `None` for nothing.
    pub(super) new: Option<Oid>,
    /// Who.
    pub(super) name: String,
    /// Their address.
    pub(super) email: String,
    /// Seconds since 1970, and the time zone.
    pub(super) date: (u64, String),
    /// Why.
    pub(super) message: String,
}

/// The longest message that is kept.
const MAX_MESSAGE: usize = 1000;

/// The entries of a log; `None` if a line is not one.
pub(super) fn parse(bytes: &[u8], kind: HashKind) -> Option<Vec<LogEntry>> {
    let body = match bytes.strip_suffix(b"\n") {
        Some(body) => body,
        None if bytes.is_empty() => return Some(Vec::new()),
        None => bytes,
    };
    body.split(|b| *b == b'\n')
        .map(|line| entry(line, kind))
        .collect()
}

fn entry(line: &[u8], kind: HashKind) -> Option<LogEntry> {
    let digits = kind.digits();
    let old = value(line.get(..digits)?, kind)?;
    let rest = line.get(digits..)?.strip_prefix(b" ")?;
    let new = value(rest.get(..digits)?, kind)?;
    let rest = rest.get(digits..)?.strip_prefix(b" ")?;
    let tab = rest.iter().position(|b| *b == b'\t');
    let (who, message) = match tab {
        Some(at) => (rest.get(..at)?, rest.get(at + 1..)?),
        None => (rest, &b""[..]),
    };
    let open = who.iter().position(|b| *b == b'<')?;
    let close = who.iter().rposition(|b| *b == b'>')?;
    let name = who.get(..open)?;
    let email = who.get(open + 1..close)?;
    let when = std::str::from_utf8(who.get(close + 1..)?).ok()?.trim();
    let (seconds, zone) = when.split_once(' ')?;
    let seconds: u64 = seconds.parse().ok().filter(|s| *s < 1 << 40)?;
    let (sign, zone_digits) = zone.split_at_checked(1)?;
    let zone_ok = (sign == "+" || sign == "-")
        && zone_digits.len() == 4
        && zone_digits.bytes().all(|b| b.is_ascii_digit());
    zone_ok.then(|| LogEntry {
        old,
        new,
        name: clean(name, "<>"),
        email: clean(email, "<> "),
        date: (seconds, zone.to_owned()),
        message: clean(message, ""),
    })
}

fn value(text: &[u8], kind: HashKind) -> Option<Option<Oid>> {
    if text.iter().all(|b| *b == b'0') {
        return Some(None);
    }
    Oid::parse(text, kind).map(Some)
}

/// Text without control characters, without what would steer a terminal, and not too long.
fn clean(bytes: &[u8], without: &str) -> String {
    String::from_utf8_lossy(bytes)
        .chars()
        .filter(|c| !c.is_control() && !without.contains(*c) && !is_invisible(*c))
        .take(MAX_MESSAGE)
        .collect::<String>()
        .trim()
        .to_owned()
}

const fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

impl LogEntry {
    /// The line as git writes it.
    pub(super) fn line(&self, kind: HashKind) -> String {
        let null = "0".repeat(kind.digits());
        let id = |value: &Option<Oid>| {
            value
                .as_ref()
                .map_or_else(|| null.clone(), |id| id.as_str().to_owned())
        };
        format!(
            "{} {} {} <{}> {} {}\t{}\n",
            id(&self.old),
            id(&self.new),
            self.name,
            self.email,
            self.date.0,
            self.date.1,
            self.message
        )
    }
}

/// The last entries that lead from one value to another, without a gap.
///
/// The shortest such run, unless `longest`. Empty if there is none, or if it has more than `limit` entries.
pub(super) fn chain<'e>(
    entries: &'e [LogEntry],
    from: Option<&Oid>,
    to: &Oid,
    limit: usize,
    longest: bool,
) -> &'e [LogEntry] {
    let mut wanted = Some(to);
    let mut best: &[LogEntry] = &[];
    for (at, entry) in entries.iter().enumerate().rev().take(limit) {
        if wanted.is_none() || entry.new.as_ref() != wanted {
            break;
        }
        if entry.old.as_ref() == from {
            best = entries.get(at..).unwrap_or_default();
            if !longest {
                break;
            }
        }
        wanted = entry.old.as_ref();
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    const B: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
    const NULL: &str = "0000000000000000000000000000000000000000";

    fn oid(text: &str) -> Oid {
        Oid::parse(text.as_bytes(), HashKind::Sha1).unwrap()
    }

    #[test]
    fn lines_survive_the_round_trip() {
        let text =
            format!("{NULL} {A} Dev <d@example.org> 1700000000 +0100\tcommit (initial): x\n");
        let entries = parse(text.as_bytes(), HashKind::Sha1).unwrap();
        assert_eq!(entries.len(), 1);
        assert_eq!(entries[0].line(HashKind::Sha1), text);
    }

    #[test]
    fn hostile_lines_are_refused_or_made_harmless() {
        for bad in [
            "x",
            &format!("{A} {B}"),
            &format!("{A} {B} a <b> 1 0100\tx"),
            &format!("{A} {B} a <b> -1 +0100\tx"),
            &format!("{A} {B} a b> 1 +0100\tx"),
            &format!("{A}{B} a <b> 1 +0100\tx"),
        ] {
            assert_eq!(parse(bad.as_bytes(), HashKind::Sha1), None, "{bad}");
        }
        let text = format!("{A} {B} a\u{1b}[31m <b\0> 1 +0100\tx\u{202e}y\r\n");
        let entries = parse(text.as_bytes(), HashKind::Sha1).unwrap();
        assert_eq!(entries[0].name, "a[31m");
        assert_eq!(entries[0].email, "b");
        assert_eq!(entries[0].message, "xy");
    }

    #[test]
    fn a_chain_has_no_gap() {
        let text = format!(
            "{NULL} {A} a <b> 1 +0000\t1\n{A} {B} a <b> 2 +0000\t2\n{B} {A} a <b> 3 +0000\t3\n{A} {B} a <b> 4 +0000\t4\n"
        );
        let log = parse(text.as_bytes(), HashKind::Sha1).unwrap();
        let (a, b) = (oid(A), oid(B));
        assert_eq!(chain(&log, Some(&a), &b, 9, false).len(), 1);
        assert_eq!(chain(&log, Some(&a), &b, 9, true).len(), 3);
        assert_eq!(chain(&log, None, &b, 9, false).len(), 4);
        assert_eq!(chain(&log, None, &b, 3, false).len(), 0);
        assert_eq!(chain(&log, Some(&b), &a, 9, false).len(), 0);
    }
}
