//! The names of files in the headers of a patch.

use palisade_policy::RelativePath;

use super::error::ParseProblem;

/// A name as it stands in a header, unquoted; `None` is `/dev/null`, no file.
pub(super) type RawName = Option<Vec<u8>>;

/// An old and a new name.
pub(super) type NamePair = (Vec<u8>, Vec<u8>);

/// The name in a `---` or `+++` line, which may be followed by a tab and a time.
pub(super) fn in_file_line(rest: &[u8]) -> Result<RawName, ParseProblem> {
    let name = match rest {
        [b'"', ..] => unquote(rest)?.0,
        _ => rest
            .split(|byte| *byte == b'\t')
            .next()
            .unwrap_or_default()
            .to_vec(),
    };
    Ok((name != b"/dev/null").then_some(name))
}

/// The name in a header that holds nothing else.
pub(super) fn alone(rest: &[u8]) -> Result<Vec<u8>, ParseProblem> {
    match rest {
        [b'"', ..] => match unquote(rest)? {
            (name, []) => Ok(name),
            _ => Err(ParseProblem::BadHeader {
                what: "something follows a quoted name",
            }),
        },
        _ => Ok(rest.to_vec()),
    }
}

/// The two names of a `diff --git` line, where they tell: names with spaces are told apart only if they are the same.
pub(super) fn in_git_line(rest: &[u8]) -> Result<Option<NamePair>, ParseProblem> {
    if let [b'"', ..] = rest {
        let (old, rest) = unquote(rest)?;
        return match rest {
            [b' ', new @ ..] => Ok(Some((old, alone(new)?))),
            _ => Ok(None),
        };
    }
    if rest.ends_with(b"\"")
        && let Some(at) = rest.windows(2).position(|two| two == b" \"")
        && let Some((old, new)) = rest.split_at_checked(at)
    {
        return Ok(Some((
            old.to_vec(),
            alone(new.get(1..).unwrap_or_default())?,
        )));
    }
    // `a/NAME b/NAME`: the space is in the middle.
    let Some((old, [b' ', new @ ..])) = rest.split_at_checked(rest.len() / 2) else {
        return Ok(None);
    };
    let bare = |name: &[u8]| name.get(2..).map(<[u8]>::to_vec);
    let same =
        old == new || (old.starts_with(b"a/") && new.starts_with(b"b/") && bare(old) == bare(new));
    Ok(same.then(|| (old.to_vec(), new.to_vec())))
}

/// Takes a quoted name off the front.
fn unquote(quoted: &[u8]) -> Result<(Vec<u8>, &[u8]), ParseProblem> {
    let bad = ParseProblem::BadHeader {
        what: "a quoted name that is not quoted as in C",
    };
    let Some((b'"', mut rest)) = quoted.split_first() else {
        return Err(bad);
    };
    let mut name = Vec::new();
    loop {
        match rest {
            [b'"', after @ ..] => return Ok((name, after)),
            [
                b'\\',
                high @ b'0'..=b'3',
                middle @ b'0'..=b'7',
                low @ b'0'..=b'7',
                after @ ..,
            ] => {
                name.push((high - b'0') * 64 + (middle - b'0') * 8 + (low - b'0'));
                rest = after;
            }
            [b'\\', sign, after @ ..] => {
                name.push(match sign {
                    b'a' => 0x07,
                    b'b' => 0x08,
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'v' => 0x0b,
                    b'f' => 0x0c,
                    b'r' => b'\r',
                    b'"' | b'\\' => *sign,
                    _ => return Err(bad),
                });
                rest = after;
            }
            [byte, after @ ..] => {
                name.push(*byte);
                rest = after;
            }
            [] => return Err(bad),
        }
    }
}

/// Drops `a/` and `b/` where both sides that name a file have theirs.
pub(super) fn without_prefixes(old: RawName, new: RawName) -> (RawName, RawName) {
    let has = |name: &RawName, prefix: &[u8]| {
        name.as_ref()
            .is_none_or(|name| name.starts_with(prefix) && name.len() > prefix.len())
    };
    if !has(&old, b"a/") || !has(&new, b"b/") {
        return (old, new);
    }
    let strip = |name: Vec<u8>| name.get(2..).unwrap_or_default().to_vec();
    (old.map(strip), new.map(strip))
}

/// A name as a path below the base.
pub(super) fn path(name: &[u8]) -> Result<RelativePath, ParseProblem> {
    let bad = |why: String| ParseProblem::BadName {
        name: String::from_utf8_lossy(name).into_owned(),
        why,
    };
    #[cfg(unix)]
    let written = {
        use std::os::unix::ffi::OsStrExt as _;
        std::ffi::OsStr::from_bytes(name)
    };
    #[cfg(not(unix))]
    let written = std::str::from_utf8(name).map_err(|error| bad(error.to_string()))?;
    RelativePath::new(written).map_err(|error| bad(error.to_string()))
}
