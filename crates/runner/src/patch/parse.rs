//! From bytes to a patch, in one pass: no line is looked at more than a few times, whatever it holds.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::error::{ParseError, ParseProblem};
use super::model::{FileChange, FilePatch, Hunk, Line, Patch, Side};
use super::name::{self, NamePair, RawName};

type Parsed<T> = Result<T, ParseProblem>;

pub(super) fn parse(patch: &[u8]) -> Result<Patch, ParseError> {
    let too_large = |limit, of| ParseError {
        line: 1,
        problem: ParseProblem::TooLarge { limit, of },
    };
    if patch.len() > Patch::MAX_BYTES {
        return Err(too_large(Patch::MAX_BYTES, "bytes"));
    }
    let mut source = patch.to_vec();
    // A patch that was cut off before its last end of line means the same.
    if source.last().is_some_and(|last| *last != b'\n') {
        source.push(b'\n');
    }
    let source: Arc<[u8]> = source.into();
    let mut reader = Reader {
        source: &source,
        at: 0,
        line: 1,
    };
    let files = reader.files().map_err(|problem| ParseError {
        line: reader.line,
        problem,
    })?;
    Ok(Patch { files, source })
}

struct Reader<'a> {
    source: &'a [u8],
    at: usize,
    /// The line that is next, counted from one.
    line: usize,
}

/// What git says about a file before its hunks.
#[derive(Default)]
struct GitHeader {
    names: Option<NamePair>,
    created: bool,
    deleted: bool,
    /// Whether the executable bit is named at all.
    mode_changed: bool,
    executable: Option<bool>,
    rename: (Option<Vec<u8>>, Option<Vec<u8>>),
    copy: (Option<Vec<u8>>, Option<Vec<u8>>),
}

impl<'a> Reader<'a> {
    fn files(&mut self) -> Parsed<Vec<FilePatch>> {
        let mut files = Vec::new();
        let mut results = BTreeSet::new();
        let mut removals = BTreeSet::new();
        while let Some(line) = self.peek() {
            let file = if let Some(names) = line.strip_prefix(b"diff --git ") {
                self.next();
                self.git_file(trimmed(names))?
            } else if self.at_file_lines() {
                self.plain_file()?
            } else if is_hunk_header(line) {
                return Err(ParseProblem::StrayHunk);
            } else if line.starts_with(b"diff --cc ") || line.starts_with(b"diff --combined ") {
                return Err(unsupported("merges"));
            } else if is_binary(line) {
                return Err(ParseProblem::Binary);
            } else {
                self.next();
                continue;
            };
            for (seen, path) in [
                (&mut results, file.change.result()),
                (&mut removals, file.change.removed()),
            ] {
                if let Some(path) = path
                    && !seen.insert(path.clone())
                {
                    return Err(ParseProblem::Twice(path.clone()));
                }
            }
            if files.len() == Patch::MAX_FILES {
                return Err(ParseProblem::TooLarge {
                    limit: Patch::MAX_FILES,
                    of: "files",
                });
            }
            files.push(file);
        }
        // A file that is removed cannot also be left there, but one that is renamed away can be replaced.
        let deleted = files.iter().filter_map(|file| match &file.change {
            FileChange::Delete(path) => Some(path),
            _ => None,
        });
        if let Some(path) = deleted.into_iter().find(|path| results.contains(*path)) {
            return Err(ParseProblem::Twice(path.clone()));
        }
        let modified = files.iter().filter_map(|file| match &file.change {
            FileChange::Modify(path) => Some(path),
            _ => None,
        });
        if let Some(path) = modified.into_iter().find(|path| removals.contains(*path)) {
            return Err(ParseProblem::Twice(path.clone()));
        }
        match files.is_empty() {
            true => Err(ParseProblem::Empty),
            false => Ok(files),
        }
    }

    fn plain_file(&mut self) -> Parsed<FilePatch> {
        let (old, new) = self.file_lines()?;
        let change = match (old, new) {
            (None, None) => return Err(header("both sides are /dev/null")),
            (None, Some(new)) => FileChange::Create(name::path(&new)?),
            (Some(old), None) => FileChange::Delete(name::path(&old)?),
            // Where the sides differ (`x.orig` and `x`), the new one is meant.
            (Some(_), Some(new)) => FileChange::Modify(name::path(&new)?),
        };
        let hunks = self.hunks()?;
        if hunks.is_empty() {
            return Err(header("no hunk follows"));
        }
        check_whole_file(&change, &hunks)?;
        Ok(FilePatch {
            change,
            executable: None,
            hunks,
        })
    }

    fn git_file(&mut self, names: &[u8]) -> Parsed<FilePatch> {
        let git = self.git_header(names)?;
        let sides = match self.at_file_lines() {
            true => Some(self.file_lines()?),
            false => None,
        };
        let hunks = self.hunks()?;
        if sides.is_none() && !hunks.is_empty() {
            return Err(header("a hunk without --- and +++ lines"));
        }
        if sides.is_some() && hunks.is_empty() {
            return Err(header("no hunk follows"));
        }
        let change = git.change(sides)?;
        let quiet = hunks.is_empty() && !git.mode_changed;
        if quiet && matches!(change, FileChange::Modify(_)) {
            return Err(header("nothing changes in this file"));
        }
        check_whole_file(&change, &hunks)?;
        Ok(FilePatch {
            change,
            executable: git.executable,
            hunks,
        })
    }

    fn git_header(&mut self, names: &[u8]) -> Parsed<GitHeader> {
        let mut git = GitHeader {
            names: name::in_git_line(names)?,
            ..GitHeader::default()
        };
        while let Some(line) = self.peek() {
            let line = trimmed(line);
            let field = |name: &str| line.strip_prefix(name.as_bytes());
            if is_binary(line) {
                return Err(ParseProblem::Binary);
            } else if let Some(mode) = field("old mode ") {
                executable(mode)?;
                git.mode_changed = true;
            } else if let Some(mode) = field("new mode ") {
                git.executable = Some(executable(mode)?);
                git.mode_changed = true;
            } else if let Some(mode) = field("new file mode ") {
                git.executable = Some(executable(mode)?);
                git.created = true;
            } else if let Some(mode) = field("deleted file mode ") {
                executable(mode)?;
                git.deleted = true;
            } else if let Some(name) = field("rename from ") {
                git.rename.0 = Some(name::alone(name)?);
            } else if let Some(name) = field("rename to ") {
                git.rename.1 = Some(name::alone(name)?);
            } else if let Some(name) = field("copy from ") {
                git.copy.0 = Some(name::alone(name)?);
            } else if let Some(name) = field("copy to ") {
                git.copy.1 = Some(name::alone(name)?);
            } else if let Some(index) = field("index ") {
                if let Some(mode) = index.split(|byte| *byte == b' ').nth(1) {
                    executable(mode)?;
                }
            } else if field("similarity index ").is_none()
                && field("dissimilarity index ").is_none()
            {
                break;
            }
            self.next();
        }
        Ok(git)
    }

    /// Whether a `---` line with its `+++` line is next.
    fn at_file_lines(&self) -> bool {
        let mut ahead = Reader { ..*self };
        let starts =
            |line: Option<&[u8]>, sign: &[u8]| line.is_some_and(|line| line.starts_with(sign));
        starts(ahead.next(), b"--- ") && starts(ahead.next(), b"+++ ")
    }

    fn file_lines(&mut self) -> Parsed<(RawName, RawName)> {
        let mut side = |sign: &[u8]| {
            let line = self.peek().and_then(|line| line.strip_prefix(sign));
            let name = name::in_file_line(trimmed(line.unwrap_or_default()))?;
            self.next();
            Ok(name)
        };
        let (old, new) = (side(b"--- ")?, side(b"+++ ")?);
        Ok(name::without_prefixes(old, new))
    }

    fn hunks(&mut self) -> Parsed<Vec<Hunk>> {
        let mut hunks: Vec<Hunk> = Vec::new();
        while let Some(line) = self.peek() {
            if !is_hunk_header(line) {
                break;
            }
            let hunk = self.hunk()?;
            if let Some(before) = hunks.last()
                && end_of(before) > start_of(&hunk)
            {
                self.line = hunk.patch_line;
                return Err(ParseProblem::Order);
            }
            hunks.push(hunk);
        }
        if !hunks.is_empty() && self.at_more_lines() {
            return Err(ParseProblem::Counts("more"));
        }
        Ok(hunks)
    }

    fn hunk(&mut self) -> Parsed<Hunk> {
        let patch_line = self.line;
        let (old, new) = ranges(self.peek().unwrap_or_default())
            .ok_or_else(|| header("an @@ line must read @@ -line,count +line,count @@"))?;
        self.next();
        let mut hunk = Hunk {
            patch_line,
            old_start: old.0,
            old_count: old.1,
            new_count: new.1,
            lines: Vec::new(),
        };
        let (mut old_left, mut new_left) = (old.1, new.1);
        while old_left > 0 || new_left > 0 || self.at_marker() {
            let Some(line) = self.peek() else {
                return Err(ParseProblem::Counts("fewer"));
            };
            if self.at_marker() {
                drop_end(&mut hunk)?;
                self.next();
                continue;
            }
            let (side, sign) = match line {
                [b' ', ..] => (Side::Both, 1),
                [b'-', ..] => (Side::Old, 1),
                [b'+', ..] => (Side::New, 1),
                // Some editors drop the space of an empty line of context.
                b"\n" => (Side::Both, 0),
                _ if is_hunk_header(line) || line.starts_with(b"diff --git ") => {
                    return Err(ParseProblem::Counts("fewer"));
                }
                _ => return Err(ParseProblem::BadLine),
            };
            let take = |left: &mut usize, takes: bool| {
                *left = match takes {
                    true => left.checked_sub(1).ok_or(ParseProblem::Counts("more"))?,
                    false => *left,
                };
                Ok(())
            };
            take(&mut old_left, side != Side::New)?;
            take(&mut new_left, side != Side::Old)?;
            let bound = |at: usize| {
                u32::try_from(at).map_err(|_| ParseProblem::TooLarge {
                    limit: Patch::MAX_BYTES,
                    of: "bytes",
                })
            };
            let text = bound(self.at + sign)?..bound(self.at + line.len())?;
            hunk.lines.push(Line { side, text });
            self.next();
        }
        check_ends(&hunk, self.source)?;
        Ok(hunk)
    }

    fn at_marker(&self) -> bool {
        self.peek().is_some_and(|line| line.starts_with(b"\\ "))
    }

    /// Whether what follows a complete hunk looks like more of it. The signature of a mail does not.
    fn at_more_lines(&self) -> bool {
        let hunk_like = |line: &[u8]| matches!(line, [b' ' | b'+' | b'-', ..]);
        let mut ahead = Reader { ..*self };
        // An empty line may be one of the hunk that lost its space.
        while ahead.peek() == Some(b"\n") {
            ahead.next();
        }
        if ahead.at_file_lines() {
            return false;
        }
        match ahead.next() {
            Some(b"-- \n" | b"-- \r\n" | b"--\n") => ahead.peek().is_some_and(hunk_like),
            Some(line) => hunk_like(line),
            None => false,
        }
    }

    fn peek(&self) -> Option<&'a [u8]> {
        let rest = self.source.get(self.at..).filter(|rest| !rest.is_empty())?;
        rest.split_inclusive(|byte| *byte == b'\n').next()
    }

    fn next(&mut self) -> Option<&'a [u8]> {
        let line = self.peek()?;
        self.at += line.len();
        self.line += 1;
        Some(line)
    }
}

impl GitHeader {
    fn change(&self, sides: Option<(RawName, RawName)>) -> Parsed<FileChange> {
        let contradiction = || header("the lines about this file contradict each other");
        let kinds = [
            self.created,
            self.deleted,
            self.rename.0.is_some() || self.rename.1.is_some(),
            self.copy.0.is_some() || self.copy.1.is_some(),
        ];
        if kinds.iter().filter(|kind| **kind).count() > 1 {
            return Err(contradiction());
        }
        let pair = |from: &Option<Vec<u8>>, to: &Option<Vec<u8>>| match (from, to) {
            (Some(from), Some(to)) => {
                let agrees = sides.as_ref().is_none_or(|(old, new)| {
                    old.as_ref() == Some(from) && new.as_ref() == Some(to)
                });
                if !agrees || from == to {
                    return Err(contradiction());
                }
                Ok((name::path(from)?, name::path(to)?))
            }
            _ => Err(header("a rename or copy needs both names")),
        };
        if kinds[2] {
            let (from, to) = pair(&self.rename.0, &self.rename.1)?;
            return Ok(FileChange::Rename { from, to });
        }
        if kinds[3] {
            let (from, to) = pair(&self.copy.0, &self.copy.1)?;
            return Ok(FileChange::Copy { from, to });
        }
        let (old, new) = match (sides, &self.names) {
            (Some(sides), _) => sides,
            (None, Some((old, new))) => {
                name::without_prefixes(Some(old.clone()), Some(new.clone()))
            }
            (None, None) => return Err(header("the names of a git header cannot be told apart")),
        };
        let named = sides_agree(&old, &new);
        match (self.created, self.deleted, &old, &new) {
            (true, _, _, Some(new)) if named => Ok(FileChange::Create(name::path(new)?)),
            (_, true, Some(old), _) if named => Ok(FileChange::Delete(name::path(old)?)),
            (false, false, Some(old), Some(_)) if named => Ok(FileChange::Modify(name::path(old)?)),
            // Some tools leave the line about the mode out.
            (false, false, None, Some(new)) => Ok(FileChange::Create(name::path(new)?)),
            (false, false, Some(old), None) => Ok(FileChange::Delete(name::path(old)?)),
            _ => Err(contradiction()),
        }
    }
}

fn sides_agree(old: &RawName, new: &RawName) -> bool {
    match (old, new) {
        (Some(old), Some(new)) => old == new,
        (None, None) => false,
        _ => true,
    }
}

/// Hunks of a file that is made or removed leave nothing of one side.
fn check_whole_file(change: &FileChange, hunks: &[Hunk]) -> Parsed<()> {
    let fits = |hunk: &Hunk| match change {
        FileChange::Create(_) => hunk.old_count == 0 && hunk.old_start == 0,
        FileChange::Delete(_) => hunk.new_count == 0,
        _ => true,
    };
    match hunks.iter().all(fits) {
        true => Ok(()),
        false => Err(header(
            "a file that is made has no lines before, one that is removed none after",
        )),
    }
}

/// A line without its end is the last of its side.
fn check_ends(hunk: &Hunk, source: &[u8]) -> Parsed<()> {
    for side in [Side::Old, Side::New] {
        let lines = hunk.lines.iter();
        let mut lines = lines.filter(|line| line.side == side || line.side == Side::Both);
        let open = |line: &Line| !line.text(source).ends_with(b"\n");
        if lines.any(open) && lines.next().is_some() {
            return Err(ParseProblem::MisplacedMarker);
        }
    }
    Ok(())
}

/// `\ No newline at end of file`: the line before it has no end.
fn drop_end(hunk: &mut Hunk) -> Parsed<()> {
    let last = hunk.lines.last_mut().ok_or(ParseProblem::MisplacedMarker)?;
    last.text.end = last.text.end.saturating_sub(1).max(last.text.start);
    Ok(())
}

/// The index of the first line before, counted from zero.
pub(super) const fn start_of(hunk: &Hunk) -> usize {
    match hunk.old_count {
        0 => hunk.old_start,
        _ => hunk.old_start.saturating_sub(1),
    }
}

const fn end_of(hunk: &Hunk) -> usize {
    start_of(hunk).saturating_add(hunk.old_count)
}

fn is_hunk_header(line: &[u8]) -> bool {
    line.starts_with(b"@@ -")
}

fn is_binary(line: &[u8]) -> bool {
    line.starts_with(b"GIT binary patch")
        || (line.starts_with(b"Binary files ") && trimmed(line).ends_with(b" differ"))
}

/// `@@ -1,2 +3,4 @@`, and whatever follows it.
fn ranges(line: &[u8]) -> Option<((usize, usize), (usize, usize))> {
    let rest = line.strip_prefix(b"@@ -")?;
    let end = rest.windows(3).take(64).position(|three| three == b" @@")?;
    let mut sides = rest.get(..end)?.split(|byte| *byte == b' ');
    let old = range(sides.next()?)?;
    let new = range(sides.next()?.strip_prefix(b"+")?)?;
    sides.next().is_none().then_some((old, new))
}

fn range(text: &[u8]) -> Option<(usize, usize)> {
    let mut numbers = text.split(|byte| *byte == b',');
    let start = number(numbers.next()?)?;
    let count = numbers.next().map_or(Some(1), number)?;
    // Lines are counted from one.
    let fits = numbers.next().is_none() && (start > 0 || count == 0);
    fits.then_some((start, count))
}

fn number(digits: &[u8]) -> Option<usize> {
    let fits = (1..=9).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    fits.then(|| std::str::from_utf8(digits).ok()?.parse().ok())?
}

/// Whether a mode of git's is that of an executable file.
fn executable(mode: &[u8]) -> Parsed<bool> {
    match mode {
        b"100644" | b"100664" | b"100600" => Ok(false),
        b"100755" | b"100775" | b"100700" => Ok(true),
        b"120000" => Err(unsupported("symbolic links")),
        b"160000" => Err(unsupported("submodules")),
        _ => Err(header("a mode that is neither 100644 nor 100755")),
    }
}

/// A header line without its end.
fn trimmed(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

const fn header(what: &'static str) -> ParseProblem {
    ParseProblem::BadHeader { what }
}

const fn unsupported(what: &'static str) -> ParseProblem {
    ParseProblem::Unsupported { what }
}
