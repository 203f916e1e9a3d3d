//! Applying a patch in a process of its own: the caller's side, which writes the request, and the process's side, which
//! reads it from its standard input.
//!
//! The process is the caller's own executable, run under the policy with an empty environment, so everything that it
//! needs is in the request: one line of JSON, and then the patch as it is.
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! fn main() -> ExitCode {
//!     if let Some(code) = palisade_runner::patch::command::dispatch(std::env::args_os()) {
//!         return code;
//!     }
//!     // the program itself
//!     ExitCode::SUCCESS
//! }
//! ```

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::process::ExitCode;

use palisade_policy::{
    AbsolutePath, CanonicalSandboxPolicy, HomeRoot, HostFacts, Os, PathCase, PolicyContext,
    PrivatePlaces, WorkspaceRoot,
};
use serde::{Deserialize, Serialize};

use super::apply::apply;
use super::error::PatchError;
use super::model::Patch;
use crate::files::GuardedFiles;

/// The argument that makes a program apply a patch.
pub const ARGUMENT: &str = "--palisade-apply-patch";

/// The patch is applied.
pub const APPLIED: u8 = 0;
/// The patch is damaged or does not fit, or the system refused; nothing was changed.
pub const NOT_APPLIED: u8 = 1;
/// The policy does not permit it; nothing was changed.
pub const REFUSED: u8 = 3;
/// Something failed in the middle and could not be put back; standard error says what.
pub const NOT_UNDONE: u8 = 4;
/// The request is damaged; nothing was changed.
pub const BAD_REQUEST: u8 = 64;

/// The longest first line.
const MAX_HEADER: u64 = 4 << 20;
const VERSION: u32 = 1;

/// A patch to apply, with everything that is needed to judge it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ApplyRequest {
    /// What is permitted.
    pub policy: CanonicalSandboxPolicy,
    /// What gives the policy its meaning.
    pub context: PolicyContext,
    /// The directory that the paths of the patch are relative to.
    pub base: AbsolutePath,
    /// The patch.
    pub patch: Vec<u8>,
}

impl ApplyRequest {
    /// A request.
    #[must_use]
    pub const fn new(
        policy: CanonicalSandboxPolicy,
        context: PolicyContext,
        base: AbsolutePath,
        patch: Vec<u8>,
    ) -> Self {
        Self {
            policy,
            context,
            base,
            patch,
        }
    }

    /// What the process reads from its standard input.
    ///
    /// # Errors
    /// A path in it cannot be written down on this system.
    pub fn to_bytes(&self) -> Result<Vec<u8>, RequestError> {
        let PolicyContext {
            facts,
            cwd,
            private,
            home_root,
            ..
        } = &self.context;
        let header = Header {
            palisade_apply_patch: VERSION,
            policy: self.policy.clone(),
            cwd: cwd.clone(),
            facts: Facts {
                os: facts.os,
                case: facts.case,
                uid: facts.uid,
                home: facts.home.clone(),
                tmpdir: facts.tmpdir.clone(),
            },
            private: Private {
                tmp: private.tmp,
                shm: private.shm,
                loopback: private.loopback,
                git: private.git,
                overlays: private.overlays.clone(),
            },
            home_may_be_root: *home_root == HomeRoot::Allow,
            base: self.base.clone(),
            patch_bytes: self.patch.len(),
        };
        let mut bytes = serde_json::to_vec(&header).map_err(|error| bad(error.to_string()))?;
        bytes.push(b'\n');
        bytes.extend_from_slice(&self.patch);
        Ok(bytes)
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote, to the end.
    ///
    /// # Errors
    /// It is something else, or too long, or cut off.
    pub fn from_reader(input: impl Read) -> Result<Self, RequestError> {
        let mut input = io::BufReader::new(input);
        let mut line = Vec::new();
        let read = |error: io::Error| bad(format!("cannot read it: {error}"));
        io::BufRead::read_until(&mut (&mut input).take(MAX_HEADER), b'\n', &mut line)
            .map_err(read)?;
        if line.last() != Some(&b'\n') {
            return Err(bad("the first line has no end"));
        }
        let header: Header =
            serde_json::from_slice(&line).map_err(|error| bad(error.to_string()))?;
        if header.palisade_apply_patch != VERSION {
            return Err(bad("it is of another version"));
        }
        if header.patch_bytes > Patch::MAX_BYTES {
            return Err(bad("the patch is too long"));
        }
        let mut patch = Vec::new();
        let most = u64::try_from(header.patch_bytes)
            .unwrap_or(u64::MAX)
            .saturating_add(1);
        input.take(most).read_to_end(&mut patch).map_err(read)?;
        if patch.len() != header.patch_bytes {
            return Err(bad("the patch has another length than it says"));
        }
        let mut facts = HostFacts::new(header.facts.os).with_case(header.facts.case);
        facts.uid = header.facts.uid;
        facts.home = header.facts.home;
        facts.tmpdir = header.facts.tmpdir;
        let mut private = PrivatePlaces::default().with_overlays(header.private.overlays);
        private.tmp = header.private.tmp;
        private.shm = header.private.shm;
        private.loopback = header.private.loopback;
        private.git = header.private.git;
        let home_root = match header.home_may_be_root {
            true => HomeRoot::Allow,
            false => HomeRoot::Refuse,
        };
        Ok(Self {
            policy: header.policy,
            context: PolicyContext::new(facts, header.cwd)
                .with_private(private)
                .with_home_root(home_root),
            base: header.base,
            patch,
        })
    }
}

/// Why a request is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a damaged request to apply a patch: {why}")]
#[non_exhaustive]
pub struct RequestError {
    /// What is wrong with it.
    pub why: String,
}

fn bad(why: impl Into<String>) -> RequestError {
    RequestError { why: why.into() }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    palisade_apply_patch: u32,
    policy: CanonicalSandboxPolicy,
    cwd: WorkspaceRoot,
    facts: Facts,
    private: Private,
    home_may_be_root: bool,
    base: AbsolutePath,
    patch_bytes: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Facts {
    os: Os,
    case: PathCase,
    uid: Option<u32>,
    home: Option<AbsolutePath>,
    tmpdir: Option<AbsolutePath>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Private {
    tmp: bool,
    shm: bool,
    loopback: bool,
    git: bool,
    overlays: Vec<AbsolutePath>,
}

/// Applies the patch of the request on standard input if these arguments ask for it, and returns what to exit with;
/// otherwise `None` at once.
///
/// The summary goes to standard output, an error to standard error. Nothing else of the process is used: no
/// environment, no current directory.
pub fn dispatch(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let asked = arguments.into_iter().nth(1)?;
    if asked != OsStr::new(ARGUMENT) {
        return None;
    }
    let code = run(io::stdin().lock(), io::stdout().lock(), io::stderr().lock());
    Some(ExitCode::from(code))
}

/// The same over any streams; returns the exit code, one of the constants of this module.
pub fn run(input: impl Read, mut output: impl Write, mut errors: impl Write) -> u8 {
    let mut failed = |code: u8, error: &dyn std::fmt::Display| {
        // Whoever does not read the message still gets the code.
        let _ = writeln!(errors, "{error}");
        code
    };
    let request = match ApplyRequest::from_reader(input) {
        Ok(request) => request,
        Err(error) => return failed(BAD_REQUEST, &error),
    };
    let policy = match request.policy.resolve(&request.context) {
        Ok(policy) => policy,
        Err(error) => return failed(BAD_REQUEST, &error),
    };
    let files = GuardedFiles::new(policy);
    let applied = Patch::parse(&request.patch)
        .map_err(PatchError::from)
        .and_then(|patch| apply(&patch, &files, &request.base));
    match applied {
        Ok(applied) => {
            // The files are changed: a closed output does not make that a failure.
            let _ = write!(output, "{applied}").and_then(|()| output.flush());
            APPLIED
        }
        Err(error) => {
            let code = match &error {
                PatchError::File(file) if file.refusal().is_some() => REFUSED,
                PatchError::NotUndone { .. } => NOT_UNDONE,
                _ => NOT_APPLIED,
            };
            failed(code, &error)
        }
    }
}
