//! Which names may come back: refs, objects, packs and paths of the index.

use std::fmt;

/// How many hexadecimal digits an object id of the repository has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HashKind {
    /// 40 digits.
    Sha1,
    /// 64 digits.
    Sha256,
}

impl HashKind {
    /// The number of digits.
    pub(super) const fn digits(self) -> usize {
        match self {
            Self::Sha1 => 40,
            Self::Sha256 => 64,
        }
    }

    /// The number of bytes.
    pub(super) const fn bytes(self) -> usize {
        self.digits() / 2
    }
}

/// An object id: lower-case hexadecimal digits of the right number, and never the null id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Oid(String);

impl Oid {
    /// Reads one.
    pub(super) fn parse(text: &[u8], kind: HashKind) -> Option<Self> {
        if text.len() != kind.digits() || !is_hex(text) || text.iter().all(|b| *b == b'0') {
            return None;
        }
        Some(Self(std::str::from_utf8(text).ok()?.to_owned()))
    }

    /// From the bytes that an index holds.
    pub(super) fn from_bytes(bytes: &[u8], kind: HashKind) -> Option<Self> {
        use fmt::Write as _;
        let mut text = String::with_capacity(kind.digits());
        for byte in bytes {
            write!(text, "{byte:02x}").ok()?;
        }
        Self::parse(text.as_bytes(), kind)
    }

    /// Its digits.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether these are lower-case hexadecimal digits.
pub(super) fn is_hex(text: &[u8]) -> bool {
    text.iter()
        .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(b))
}

/// The digits of a pack's name, if this is the name of one.
pub(super) fn pack_stem(name: &[u8], kind: HashKind) -> Option<&[u8]> {
    let stem = name.strip_suffix(b".pack")?.strip_prefix(b"pack-")?;
    (stem.len() == kind.digits() && is_hex(stem)).then_some(stem)
}

/// Whether refs of this name are among those that come back.
///
/// `refs/remotes` is not: what a remote has is what the host has seen there, and a session cannot say so.
/// `refs/replace` is not: it changes what objects mean.
pub(super) fn is_managed_ref(name: &str) -> bool {
    name == STASH
        || ["refs/heads/", "refs/tags/", "refs/notes/"]
            .iter()
            .any(|prefix| name.len() > prefix.len() && name.starts_with(prefix))
}

/// The ref of the stash, whose log is its content.
pub(super) const STASH: &str = "refs/stash";

/// The longest name of a ref.
const MAX_REF_NAME: usize = 512;

/// Whether a session may make a ref of this name.
///
/// Narrower than git's own rules: branch names end up in prompts and scripts, so nothing that a shell expands, and
/// nothing that can be taken for an option, an object id or a pseudo-ref.
pub(super) fn is_safe_ref_name(name: &str) -> bool {
    if !is_managed_ref(name) || name.len() > MAX_REF_NAME || name.contains("..") {
        return false;
    }
    if name == STASH {
        return true;
    }
    let mut parts = name.split('/').skip(2).peekable();
    let mut depth = 0_usize;
    while let Some(part) = parts.next() {
        depth += 1;
        let last = parts.peek().is_none();
        let shape = !part.is_empty()
            && part.len() <= 200
            && !part.starts_with(['.', '-'])
            && !part.ends_with('.')
            && !part.to_ascii_lowercase().ends_with(".lock")
            && part != "@"
            && part
                .chars()
                .all(|c| c.is_alphanumeric() || "-_.+@#=,".contains(c));
        let pseudo = part == "HEAD" || part.ends_with("_HEAD");
        let like_id = last && depth == 1 && part.len() >= 40 && is_hex(part.as_bytes());
        if !shape || pseudo || like_id || depth > 16 {
            return false;
        }
    }
    depth > 0
}

/// Whether an index may name this path: relative, without `.git` in any spelling that some file system takes for it.
pub(super) fn is_safe_index_path(path: &[u8]) -> bool {
    !path.is_empty()
        && path.len() <= 4096
        && !path.contains(&0)
        && path.split(|b| *b == b'/').all(is_safe_component)
}

fn is_safe_component(part: &[u8]) -> bool {
    if part.is_empty() || part == b"." || part == b".." {
        return false;
    }
    let lower: Vec<u8> = part
        .iter()
        .filter(|b| b.is_ascii())
        .map(u8::to_ascii_lowercase)
        .collect();
    let trimmed = lower
        .iter()
        .rposition(|b| *b != b'.' && *b != b' ')
        .and_then(|end| lower.get(..=end))
        .unwrap_or_default();
    !(trimmed == b".git" || trimmed == b"git~1" || trimmed.starts_with(b".git:"))
}

/// Bytes for people: printable ASCII and letters as they are, everything else escaped.
pub(super) fn escaped(bytes: &[u8]) -> String {
    let mut out = String::new();
    for c in String::from_utf8_lossy(bytes).chars().take(400) {
        if c.is_alphanumeric() || (c.is_ascii() && !c.is_ascii_control() && c != '\\') {
            out.push(c);
        } else {
            out.extend(c.escape_unicode());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ref_names_that_come_back() {
        for good in [
            "refs/heads/main",
            "refs/heads/feature/x-1_2.3",
            "refs/heads/fix/#12",
            "refs/tags/v1.0",
            "refs/stash",
            "refs/notes/commits",
            "refs/heads/größe",
        ] {
            assert!(is_safe_ref_name(good), "{good}");
        }
    }

    #[test]
    fn ref_names_that_do_not() {
        for bad in [
            "HEAD",
            "refs/heads/",
            "refs/heads",
            "refs/heads//x",
            "refs/heads/x/",
            "refs/heads/../../config",
            "refs/heads/a..b",
            "refs/heads/.x",
            "refs/heads/a/.x",
            "refs/heads/-x",
            "refs/heads/x.lock",
            "refs/heads/x.LOCK",
            "refs/heads/x.lock/y",
            "refs/heads/x.",
            "refs/heads/@",
            "refs/heads/x@{1}",
            "refs/heads/a b",
            "refs/heads/a\nb",
            "refs/heads/a\u{7f}",
            "refs/heads/a\u{202e}b",
            "refs/heads/$(touch x)",
            "refs/heads/`id`",
            "refs/heads/a;b",
            "refs/heads/%x",
            "refs/heads/HEAD",
            "refs/tags/MERGE_HEAD",
            "refs/heads/0123456789012345678901234567890123456789",
            "refs/remotes/origin/main",
            "refs/replace/0123456789012345678901234567890123456789",
            "refs/bisect/bad",
            "refs/stash/x",
            "refs/worktree/x",
        ] {
            assert!(!is_safe_ref_name(bad), "{bad}");
        }
    }

    #[test]
    fn index_paths() {
        for good in [
            &b"a"[..],
            b"a/b",
            b".gitignore",
            b"x/.gitattributes",
            b"git",
        ] {
            assert!(is_safe_index_path(good), "{}", escaped(good));
        }
        for bad in [
            &b""[..],
            b"/a",
            b"a/",
            b"a//b",
            b"../a",
            b"a/./b",
            b".git/hooks/x",
            b"a/.GIT/config",
            b".git. /x",
            b".git::$INDEX_ALLOCATION/x",
            b"GIT~1/x",
            b".g\xe2\x80\x8cit/x",
        ] {
            assert!(!is_safe_index_path(bad), "{}", escaped(bad));
        }
    }

    #[test]
    fn ids_and_packs() {
        let id = [b'a'; 40];
        assert!(Oid::parse(&id, HashKind::Sha1).is_some());
        assert!(Oid::parse(&id, HashKind::Sha256).is_none());
        assert!(Oid::parse(&[b'A'; 40], HashKind::Sha1).is_none());
        assert!(Oid::parse(&[b'0'; 40], HashKind::Sha1).is_none());
        let name = [&b"pack-"[..], &id, b".pack"].concat();
        assert_eq!(pack_stem(&name, HashKind::Sha1), Some(&id[..]));
        assert_eq!(pack_stem(b"pack-../x.pack", HashKind::Sha1), None);
    }
}
