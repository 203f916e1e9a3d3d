//! One layer: its file and everything that it includes, each read once.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Component, Path, PathBuf};

use palisade_exec_policy::language::{
    IncludeRequest, Layer, MAX_BYTES, PolicyErrors, PolicyFile, Source, includes, parse,
};

use super::disk::Directory;
use super::error::{ConfigError, FileProblem};
use super::hash::{ContentHash, Hasher};
use super::pattern::NamePattern;

/// The most files of a layer.
pub const MAX_FILES: usize = 256;
/// The most text of a layer.
pub const MAX_LAYER_BYTES: usize = 16 << 20;

/// How the files of a layer are read.
pub(super) enum Access {
    /// They must belong to one of these users, and nobody else may write them.
    OwnedBy(Vec<u32>),
    /// They must lie in this directory; whose they are does not matter, because only content is trusted.
    Beneath(Directory),
    /// Whose they are does not matter, because nothing is decided by them.
    Anywhere,
}

/// A file that was read and understood.
pub(super) struct LayerFile {
    pub(super) path: PathBuf,
    pub(super) hash: ContentHash,
    pub(super) parsed: PolicyFile,
}

/// The files of a layer, the first of them the one that includes the others.
pub(super) struct LayerFiles {
    pub(super) files: Vec<LayerFile>,
    /// What each include stands for.
    pub(super) includes: Vec<(IncludeRequest, Vec<String>)>,
    /// Directories in which patterns were looked for.
    pub(super) listed: Vec<PathBuf>,
    /// Of names and contents together.
    pub(super) hash: ContentHash,
}

/// Reads a layer; `None` if its file is not there.
pub(super) fn collect(
    layer: Layer,
    file: &Path,
    access: &Access,
) -> Result<Option<LayerFiles>, ConfigError> {
    let mut collector = Collector {
        layer,
        access,
        texts: BTreeMap::new(),
        order: Vec::new(),
        includes: Vec::new(),
        listed: Vec::new(),
        errors: Vec::new(),
        bytes: 0,
    };
    if !collector.read(file)? {
        return Ok(None);
    }
    let mut queue = VecDeque::from([file.to_owned()]);
    while let Some(next) = queue.pop_front() {
        queue.extend(collector.follow(&next)?);
    }
    collector.finish().map(Some)
}

struct Collector<'a> {
    layer: Layer,
    access: &'a Access,
    texts: BTreeMap<PathBuf, (Vec<u8>, Option<PolicyFile>)>,
    order: Vec<PathBuf>,
    includes: Vec<(IncludeRequest, Vec<String>)>,
    listed: Vec<PathBuf>,
    errors: Vec<PolicyErrors>,
    bytes: usize,
}

impl Collector<'_> {
    /// Reads a file that was not read yet. Says whether it is there.
    fn read(&mut self, path: &Path) -> Result<bool, ConfigError> {
        if self.texts.contains_key(path) {
            return Ok(true);
        }
        let Some(text) = self.access.read(path)? else {
            return Ok(false);
        };
        self.bytes = self.bytes.saturating_add(text.len());
        let too_much = |what, max| ConfigError::file(path, FileProblem::TooMuch { what, max });
        if self.texts.len() >= MAX_FILES {
            return Err(too_much("files", MAX_FILES));
        }
        if self.bytes > MAX_LAYER_BYTES {
            return Err(too_much("bytes", MAX_LAYER_BYTES));
        }
        let parsed = match parse(&Source::new(self.layer, name(path)?, &text)) {
            Ok(parsed) => Some(parsed),
            Err(errors) => {
                self.errors.push(errors);
                None
            }
        };
        self.texts.insert(path.to_owned(), (text, parsed));
        self.order.push(path.to_owned());
        Ok(true)
    }

    /// Reads what a file includes. Returns what is new.
    fn follow(&mut self, path: &Path) -> Result<Vec<PathBuf>, ConfigError> {
        let parsed = self.texts.get(path).and_then(|(_, parsed)| parsed.as_ref());
        let requests = parsed.map(includes).unwrap_or_default();
        let mut new = Vec::new();
        for request in requests {
            let mut names = Vec::new();
            for target in self.expand(path, &request)? {
                let known = self.texts.contains_key(&target);
                // What is not there is left out: the loader says what that means for whom.
                if self.read(&target)? {
                    names.push(name(&target)?);
                    if !known {
                        new.push(target);
                    }
                }
            }
            self.includes.push((request, names));
        }
        Ok(new)
    }

    /// The files that an include names, sorted.
    fn expand(
        &mut self,
        from: &Path,
        request: &IncludeRequest,
    ) -> Result<Vec<PathBuf>, ConfigError> {
        let directory = from.parent().unwrap_or(Path::new("/"));
        let whole = normal(&directory.join(&request.pattern));
        if let Access::Beneath(layer) = self.access
            && !whole.starts_with(&layer.path)
        {
            let directory = layer.path.clone();
            return Err(ConfigError::file(
                whole,
                FileProblem::LeadsOutside { directory },
            ));
        }
        // Only what the author wrote is a pattern: the directory of the layer may have any name.
        let base = match self.access {
            Access::Beneath(layer) => layer.path.as_path(),
            _ if Path::new(&request.pattern).has_root() => Path::new("/"),
            Access::OwnedBy(_) | Access::Anywhere => common(&whole, directory),
        };
        let mut found = vec![base.to_owned()];
        let below = whole.strip_prefix(base).unwrap_or(&whole);
        let mut names = below.components().peekable();
        while let Some(component) = names.next() {
            let Component::Normal(part) = component else {
                continue;
            };
            let part = part.to_str().unwrap_or_default();
            let pattern = NamePattern::parse(part).map_err(|why| {
                let pattern = request.pattern.clone();
                ConfigError::file(from, FileProblem::Pattern { pattern, why })
            })?;
            let last = names.peek().is_none();
            let mut next = Vec::new();
            for directory in found {
                match pattern.literal() {
                    Some(name) => next.push(directory.join(name)),
                    None => {
                        next.extend(matching(&directory, &pattern, last)?);
                        self.listed.push(directory);
                    }
                }
            }
            found = next;
        }
        Ok(found)
    }

    fn finish(self) -> Result<LayerFiles, ConfigError> {
        if let Some(errors) = PolicyErrors::merged(self.errors) {
            return Err(palisade_exec_policy::RulesError::Load(errors).into());
        }
        let base = self.order.first().and_then(|first| first.parent());
        let base = base.unwrap_or(Path::new("/")).to_owned();
        let mut hasher = Hasher::new();
        // In the order of their names, so that the order of includes alone, which is in the text, counts.
        for (path, (text, _)) in &self.texts {
            hasher.add(path.strip_prefix(&base).unwrap_or(path), text);
        }
        let hash = hasher.finish();
        let mut texts = self.texts;
        let mut files = Vec::with_capacity(self.order.len());
        for path in self.order {
            if let Some((text, Some(parsed))) = texts.remove(&path) {
                let hash = ContentHash::of(&text);
                files.push(LayerFile { path, hash, parsed });
            }
        }
        Ok(LayerFiles {
            files,
            includes: self.includes,
            listed: self.listed,
            hash,
        })
    }
}

impl Access {
    fn read(&self, path: &Path) -> Result<Option<Vec<u8>>, ConfigError> {
        match self {
            Self::Beneath(layer) => {
                let below = path.strip_prefix(&layer.path).unwrap_or(path);
                layer.read_beneath(below, MAX_BYTES)
            }
            Self::Anywhere => {
                let Some((directory, name)) = beside(path)? else {
                    return Ok(None);
                };
                directory.read_whosever(name, MAX_BYTES)
            }
            Self::OwnedBy(owners) => {
                let Some((directory, name)) = beside(path)? else {
                    return Ok(None);
                };
                let text = directory.read(name, owners, MAX_BYTES)?;
                if text.is_some() {
                    directory.check(owners)?;
                }
                Ok(text)
            }
        }
    }
}

/// The directory of a file, and its name there; `None` if there is no such directory.
fn beside(path: &Path) -> Result<Option<(Directory, &std::ffi::OsStr)>, ConfigError> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(ConfigError::file(path, FileProblem::NotRegular));
    };
    Ok(Directory::open(parent)?.map(|directory| (directory, name)))
}

/// The names of a directory that match a pattern, sorted. Directories match where a directory is meant, else files do.
fn matching(
    directory: &Path,
    pattern: &NamePattern,
    last: bool,
) -> Result<Vec<PathBuf>, ConfigError> {
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(ConfigError::file(directory, error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| ConfigError::file(directory, error))?;
        let path = entry.path();
        let name = entry.file_name();
        let Some(name) = name.to_str() else {
            // Whether it was meant cannot be told, and a file that was meant must not get lost.
            return Err(ConfigError::file(path, FileProblem::NotUnicode));
        };
        if pattern.matches(name) && path.is_dir() != last {
            found.push(path);
        }
        if found.len() > MAX_FILES {
            let (what, max) = ("files", MAX_FILES);
            return Err(ConfigError::file(
                directory,
                FileProblem::TooMuch { what, max },
            ));
        }
    }
    found.sort();
    Ok(found)
}

/// A path without `.` and `..`, by its text.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => {
                normal.push(component);
            }
        }
    }
    normal
}

/// The deepest directory that is above a path and is, or is above, another.
fn common<'p>(path: &Path, directory: &'p Path) -> &'p Path {
    let above = directory.ancestors().find(|above| path.starts_with(above));
    above.unwrap_or(Path::new("/"))
}

/// What errors and explanations call a file.
fn name(path: &Path) -> Result<String, ConfigError> {
    match path.to_str() {
        Some(name) => Ok(name.to_owned()),
        None => Err(ConfigError::file(path, FileProblem::NotUnicode)),
    }
}
