//! Brings objects over, as a fetch does.
//!
//! New object files of the session are copied, by names that were checked, into a directory of our own. From there
//! git makes one pack of what the wanted tips need and the host lacks, and git takes that pack in on the host: every
//! object is named anew by its content and checked, nothing that exists is overwritten, and what no tip needs stays
//! behind. That the copied files may lie about their names therefore does not matter: the host's own store is what
//! the last check looks at.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::ImportError;
use super::git::{Git, Run};
use super::names::{HashKind, Oid, is_hex, pack_stem};
use super::refs_read::reason;
use super::report::{DropReason, ImportReport};
use super::session::{Tree, Unread, path};

/// A private object directory beside the host's, with the host's as its alternate. Removed when it goes; git's own
/// clean-up removes it by its name if we are killed.
#[derive(Debug)]
pub(super) struct Staging {
    dir: PathBuf,
}

impl Drop for Staging {
    fn drop(&mut self) {
        // There is nobody to tell.
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

impl Staging {
    /// Makes one in the host's object directory.
    pub(super) fn new(objects: &Path) -> Result<Self, ImportError> {
        let nanos = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_nanos());
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for round in 0..32_u32 {
            let name = format!("tmp_objdir-palisade-{}-{nanos}-{round}", std::process::id());
            let dir = objects.join(name);
            match std::fs::DirBuilder::new().mode(0o700).create(&dir) {
                Ok(()) => {
                    let staging = Self { dir };
                    staging.fill(objects)?;
                    return Ok(staging);
                }
                Err(source) if source.kind() == io::ErrorKind::AlreadyExists => last = source,
                Err(source) => return Err(ImportError::host(dir, source)),
            }
        }
        Err(ImportError::host(objects, last))
    }

    fn fill(&self, objects: &Path) -> Result<(), ImportError> {
        let info = self.dir.join("info");
        let mut line = objects.as_os_str().as_encoded_bytes().to_vec();
        line.push(b'\n');
        std::fs::create_dir(&info)
            .and_then(|()| std::fs::create_dir(self.dir.join("pack")))
            .and_then(|()| std::fs::write(info.join("alternates"), line))
            .map_err(|source| ImportError::host(info, source))
    }

    /// Where it is.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }
}

/// Copies what is new in the session's object directory.
pub(super) fn stage(
    session: &Tree,
    git: &Git<'_>,
    kind: HashKind,
    report: &mut ImportReport,
) -> Result<Staging, ImportError> {
    let objects = git.layout().common_dir().join("objects");
    let host = Tree::at(&objects).map_err(|why| unread(&objects, why))?;
    let staging = Staging::new(&objects)?;
    let mut budget = Budget {
        bytes: git.options().max_bytes,
        files: git.options().max_objects,
    };
    let theirs = match session.dir(path(b"objects")) {
        Ok(theirs) => theirs,
        Err(why) => {
            report.drop(b"objects", reason(&why));
            return Ok(staging);
        }
    };
    for fan in 0..=255_u8 {
        git.in_time()?;
        let fan = format!("{fan:02x}");
        match theirs.dir(Path::new(&fan)) {
            Ok(dir) => stage_loose(&dir, &fan, &host, &staging, kind, &mut budget, report)?,
            Err(Unread::Missing) => {}
            Err(why) => report.drop(format!("objects/{fan}").as_bytes(), reason(&why)),
        }
    }
    match theirs.dir(path(b"pack")) {
        Ok(dir) => stage_packs(&dir, &host, &staging, git, kind, &mut budget, report)?,
        Err(Unread::Missing) => {}
        Err(why) => report.drop(b"objects/pack", reason(&why)),
    }
    Ok(staging)
}

struct Budget {
    bytes: u64,
    files: usize,
}

impl Budget {
    /// Takes a file of this size from what is left.
    fn spend(&mut self, size: u64) -> bool {
        match (self.bytes.checked_sub(size), self.files.checked_sub(1)) {
            (Some(bytes), Some(files)) => {
                (self.bytes, self.files) = (bytes, files);
                true
            }
            _ => false,
        }
    }
}

fn stage_loose(
    dir: &Tree,
    fan: &str,
    host: &Tree,
    staging: &Staging,
    kind: HashKind,
    budget: &mut Budget,
    report: &mut ImportReport,
) -> Result<(), ImportError> {
    let shown = |name: &[u8]| [b"objects/", fan.as_bytes(), b"/", name].concat();
    let (entries, all) = match dir.list(budget.files.saturating_add(100_000)) {
        Ok(listed) => listed,
        Err(why) => {
            report.drop(&shown(b""), reason(&why));
            return Ok(());
        }
    };
    if !all {
        report.drop(&shown(b""), DropReason::TooLarge);
    }
    for entry in entries {
        let name = entry.name;
        if name.len() != kind.digits() - 2 || !is_hex(&name) {
            let scratch = name.starts_with(b"tmp_obj_");
            let why = if scratch {
                DropReason::Scratch
            } else {
                DropReason::Name
            };
            report.drop(&shown(&name), why);
            continue;
        }
        let below = Path::new(fan).join(path(&name));
        if host.kind(&below).is_some() {
            continue;
        }
        match dir.file(path(&name)) {
            Ok((file, size)) if budget.spend(size) => {
                let to = staging.dir.join(&below);
                if !copy(file, size, &to).map_err(|source| ImportError::host(&to, source))? {
                    report.drop(&shown(&name), DropReason::Malformed);
                }
            }
            Ok(_) => report.drop(&shown(&name), DropReason::TooLarge),
            Err(Unread::Missing) => {}
            Err(why) => report.drop(&shown(&name), reason(&why)),
        }
    }
    Ok(())
}

/// Copies a file that may change meanwhile; whether it stayed within its size.
fn copy(file: File, size: u64, to: &Path) -> io::Result<bool> {
    if let Some(parent) = to.parent() {
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(parent)?;
    }
    let mut out = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(to)?;
    let copied = io::copy(&mut file.take(size.saturating_add(1)), &mut out)?;
    if copied > size {
        std::fs::remove_file(to)?;
    }
    Ok(copied <= size)
}

/// Lets git read the packs and write its own copies and its own lists of what is in them.
fn stage_packs(
    dir: &Tree,
    host: &Tree,
    staging: &Staging,
    git: &Git<'_>,
    kind: HashKind,
    budget: &mut Budget,
    report: &mut ImportReport,
) -> Result<(), ImportError> {
    let (entries, all) = match dir.list(100_000) {
        Ok(listed) => listed,
        Err(why) => {
            report.drop(b"objects/pack", reason(&why));
            return Ok(());
        }
    };
    if !all {
        report.drop(b"objects/pack", DropReason::TooLarge);
    }
    for entry in entries {
        let name = entry.name;
        let below = Path::new("pack").join(path(&name));
        if pack_stem(&name, kind).is_none() || host.kind(&below).is_some() {
            continue;
        }
        let shown = [b"objects/pack/", &name[..]].concat();
        match dir.file(path(&name)) {
            Ok((file, size)) if budget.spend(size) => {
                // 0 would stand for no limit.
                let limit = format!("--max-input-size={}", size.max(1));
                let run = Run::new("index-pack")
                    .args(["--stdin", limit.as_str()])
                    .objects(Some(staging.dir()))
                    .input_file(file);
                let answer = git.run(run)?;
                if !answer.ok {
                    report.drop(&shown, DropReason::Refused(answer.message));
                }
            }
            Ok(_) => report.drop(&shown, DropReason::TooLarge),
            Err(Unread::Missing) => {}
            Err(why) => report.drop(&shown, reason(&why)),
        }
    }
    Ok(())
}

/// The types of those objects that exist: on the host, or in the staging and on the host.
pub(super) fn types<'i>(
    git: &Git<'_>,
    staging: Option<&Staging>,
    kind: HashKind,
    ids: impl IntoIterator<Item = &'i Oid>,
) -> Result<BTreeMap<Oid, String>, ImportError> {
    let input = lines(ids);
    if input.is_empty() {
        return Ok(BTreeMap::new());
    }
    let run = Run::new("cat-file")
        .args(["--batch-check=%(objectname) %(objecttype)"])
        .objects(staging.map(Staging::dir))
        .input(input);
    // A broken object may end git early: what it did not name counts as missing.
    let out = git.run(run)?.stdout;
    let mut found = BTreeMap::new();
    for line in out.split(|b| *b == b'\n') {
        let Some((id, rest)) = line.split_at_checked(kind.digits()) else {
            continue;
        };
        let known = [&b" commit"[..], b" tree", b" blob", b" tag"].contains(&rest);
        if let (Some(id), true) = (Oid::parse(id, kind), known) {
            found.insert(id, String::from_utf8_lossy(rest).trim().to_owned());
        }
    }
    Ok(found)
}

/// Objects in a pack from which they become loose files, as after a small fetch.
const UNPACK_LIMIT: u32 = 100;

/// Brings over what these tips need; how many objects, or git's complaint.
pub(super) fn transfer(
    git: &Git<'_>,
    staging: &Staging,
    tips: &BTreeSet<Oid>,
    have: &BTreeSet<Oid>,
) -> Result<Result<u64, String>, ImportError> {
    if tips.is_empty() {
        return Ok(Ok(0));
    }
    let at = staging.dir.join("transfer.pack");
    let mut pack = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&at)
        .map_err(|source| ImportError::host(&at, source))?;
    let dup = |file: &File| {
        file.try_clone()
            .map_err(|source| ImportError::host(&at, source))
    };
    let mut input = lines(tips);
    input.extend(b"--not\n");
    input.extend(lines(have));
    let run = Run::new("pack-objects")
        .args(["--revs", "--stdout", "-q"])
        .objects(Some(staging.dir()))
        .input(input)
        .output_file(dup(&pack)?);
    let answer = git.run(run)?;
    if !answer.ok {
        return Ok(Err(answer.message));
    }
    let mut header = [0_u8; 12];
    let count = pack
        .seek(SeekFrom::Start(0))
        .and_then(|_| pack.read_exact(&mut header))
        .and_then(|()| pack.seek(SeekFrom::Start(0)))
        .map_err(|source| ImportError::host(&at, source))
        .map(|_| {
            header
                .last_chunk::<4>()
                .map_or(0, |n| u32::from_be_bytes(*n))
        })?;
    if count == 0 {
        return Ok(Ok(0));
    }
    // A refusal may come after objects were written. So the pack is first taken in beside the host's objects, where
    // nothing is seen but these, and only if that went well on the host.
    let apart = Staging::new(&git.layout().common_dir().join("objects"))?;
    let check = Run::new("index-pack")
        .args(["--stdin", "--strict"])
        .objects(Some(apart.dir()))
        .input_file(dup(&pack)?);
    let answer = git.run(check)?;
    if !answer.ok {
        return Ok(Err(answer.message));
    }
    pack.seek(SeekFrom::Start(0))
        .map_err(|source| ImportError::host(&at, source))?;
    let run = if count < UNPACK_LIMIT {
        Run::new("unpack-objects").args(["-q", "--strict"])
    } else {
        Run::new("index-pack").args(["--stdin", "--strict"])
    };
    let answer = git.run(run.input_file(dup(&pack)?))?;
    Ok(if answer.ok {
        Ok(u64::from(count))
    } else {
        Err(answer.message)
    })
}

/// Whether the host has everything that these tips need.
pub(super) fn connected<'i>(
    git: &Git<'_>,
    tips: impl IntoIterator<Item = &'i Oid>,
) -> Result<bool, ImportError> {
    let input = lines(tips);
    if input.is_empty() {
        return Ok(true);
    }
    let run = Run::new("rev-list")
        .args(["--objects", "--stdin", "--not", "--all", "--quiet"])
        .input(input);
    Ok(git.run(run)?.ok)
}

fn lines<'i>(ids: impl IntoIterator<Item = &'i Oid>) -> Vec<u8> {
    let mut out = Vec::new();
    for id in ids {
        out.extend(id.as_str().as_bytes());
        out.push(b'\n');
    }
    out
}

fn unread(at: &Path, why: Unread) -> ImportError {
    let source = match why {
        Unread::Missing => io::Error::from(io::ErrorKind::NotFound),
        Unread::NotRegular => io::Error::from(io::ErrorKind::NotADirectory),
        Unread::TooLarge => io::Error::from(io::ErrorKind::FileTooLarge),
        Unread::Failed(source) => source,
    };
    ImportError::host(at, source)
}
