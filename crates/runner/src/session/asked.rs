//! A command as a person is asked about it, and what an approval of it is for.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::PathBuf;

use palisade_exec_policy::ApprovalPurpose;
use palisade_policy::{CanonicalSandboxPolicy, CommandSpec, Grant, SandboxPermissions};
use sha2::{Digest as _, Sha256};

use super::command::Command;
use crate::approve::ApprovalKey;
use crate::judge::with_env;
use crate::program::Seen;

/// A command as a person is asked about it: with the variables that it asked for, what it reads, and what its name meant
/// then.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    words: Vec<OsString>,
    cwd: PathBuf,
    input: String,
    permissions: Vec<Grant>,
    seen: Seen,
}

impl Asked {
    /// Looks at what a command leads to now.
    pub(super) fn look(command: &Command, spec: &CommandSpec) -> Self {
        let argv: Vec<OsString> = [spec.program.clone()]
            .into_iter()
            .chain(spec.args.iter().cloned())
            .collect();
        Self {
            words: with_env(&command.env, &argv),
            cwd: spec.cwd.clone(),
            input: command.stdin.as_deref().map(digest).unwrap_or_default(),
            permissions: requested(&spec.sandbox_permissions),
            seen: Seen::look(spec),
        }
    }

    /// What it asks for beyond the policy, one by one.
    pub(super) fn permissions(&self) -> &[Grant] {
        &self.permissions
    }

    /// What it led to.
    pub(super) const fn seen(&self) -> &Seen {
        &self.seen
    }

    /// What an approval of it is for. Without the sandbox, the file of the program counts, too: what runs inside can
    /// write a new one.
    pub(super) fn key(
        &self,
        purpose: ApprovalPurpose,
        policy: &CanonicalSandboxPolicy,
    ) -> ApprovalKey {
        let program = match purpose {
            ApprovalPurpose::RunUnsandboxed => self.seen.program_identity(),
            ApprovalPurpose::Run => String::new(),
        };
        let permissions = match self.permissions.is_empty() {
            true => String::new(),
            false => format!("{:?}", self.permissions),
        };
        let parts = [&self.input, &program, &permissions];
        let details = match parts.iter().all(|part| part.is_empty()) {
            true => String::new(),
            false => format!("{parts:?}"),
        };
        ApprovalKey::new(purpose, self.words.iter().cloned(), &self.cwd, policy)
            .with_details(details)
    }
}

/// The grants that a command asks for.
pub(super) fn requested(permissions: &SandboxPermissions) -> Vec<Grant> {
    match permissions {
        SandboxPermissions::WithAdditionalPermissions {
            fs_read,
            fs_write,
            network,
        } => {
            let read = fs_read.iter().cloned().map(Grant::Read);
            let write = fs_write.iter().cloned().map(Grant::Write);
            let hosts = network.iter().cloned().map(Grant::Host);
            read.chain(write).chain(hosts).collect()
        }
        _ => Vec::new(),
    }
}

/// A short name for what a command reads.
fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .fold(String::new(), |mut hex, byte| {
            // Writing to a string cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        })
}
