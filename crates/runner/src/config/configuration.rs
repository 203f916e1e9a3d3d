//! From the files of all layers to what a project runs under.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use palisade_exec_policy::approvals::{Moment, StoredApprovals};
use palisade_exec_policy::language::model::{Floor, Injection, Preset};
use palisade_exec_policy::language::{
    Anchors, Layer, LoadContext, Notice, PolicyErrors, PolicyFile, Source, Trust, parse,
};
use palisade_exec_policy::matching::PlaceFacts;
use palisade_exec_policy::{AskForApproval, Rules, RulesError};
use palisade_policy::{AbsolutePath, CanonicalSandboxPolicy, GitAccess, Grant, WorkspaceRoot};

use super::disk::own_uid;
use super::error::ConfigError;
use super::hash::ContentHash;
use super::layer::{Access, LayerFiles, collect};
use super::own::Own;
use super::paths::ConfigPaths;
use super::reach::Reach;
use super::trust::{canonical, collect_project};
use super::ways::Look;
use crate::host::Host;
use crate::judge::RuleBook;

/// What the text of the session is called.
const SESSION: &str = "session";

/// What a project runs under.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Configuration {
    /// The project, links resolved.
    pub project: WorkspaceRoot,
    /// The policy files of all layers, for sessions, which add what people agree to.
    pub book: RuleBook,
    /// The rules of all layers and of what people agreed to keep, and their settings.
    pub rules: Arc<Rules>,
    /// Where the rules are asked about commands: the project, what is protected in it and what else can be written.
    pub place: PlaceFacts,
    /// What the sandbox enforces, with the grants that are kept for the project, and with both homes guarded.
    pub policy: CanonicalSandboxPolicy,
    /// When a person is asked.
    pub approval: AskForApproval,
    /// What no layer may loosen.
    pub floor: Floor,
    /// What authors wrote that is not in force, and why.
    pub notices: Vec<Notice>,
    /// Variables that a command inherits; `None`: nobody wrote a list.
    pub env_keep: Option<Vec<String>>,
    /// Secrets that are added to requests outside of every sandbox.
    pub inject: Vec<Injection>,
    /// Answers that people agreed to keep.
    pub approvals: StoredApprovals,
    /// Grants that are kept for the project and are part of the policy.
    pub grants: Vec<Grant>,
    /// Grants that are kept for the project, but go below the floor.
    pub ignored_grants: Vec<Grant>,
    /// Whether the project has policy files, and whether the user agreed to them.
    pub project_trust: ProjectTrust,
    /// Every file that was read, in the order in which they were.
    pub sources: Vec<UsedSource>,
}

/// What is known about the policy files of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "there are none, or they are trusted, or not"
)]
pub enum ProjectTrust {
    /// It has none.
    Absent,
    /// Nobody agreed to this content, so they only tighten.
    Untrusted(ContentHash),
    /// The user agreed to exactly this content.
    Trusted(ContentHash),
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UsedSource {
    /// Who owns it.
    pub layer: Layer,
    /// Where it is.
    pub path: PathBuf,
    /// What was in it.
    pub hash: ContentHash,
}

/// Reads everything that a project runs under, now.
///
/// # Errors
/// A file that cannot be read, is not understood, could be changed by others, or is within reach of the commands that it
/// decides about. Nothing runs until it is mended: a policy that half-loads is one that nobody wrote.
pub fn load(
    paths: &ConfigPaths,
    host: &Host,
    project: &Path,
    session: Option<&str>,
    now: Moment,
) -> Result<Configuration, ConfigError> {
    let session = session.unwrap_or_default();
    load_with(paths, host, project, |_| session.to_owned(), now)
}

/// The same with a text for the session that depends on what the files of the other layers say.
///
/// # Errors
/// As [`load`].
pub fn load_with(
    paths: &ConfigPaths,
    host: &Host,
    project: &Path,
    session: impl FnOnce(&[PolicyFile]) -> String,
    now: Moment,
) -> Result<Configuration, ConfigError> {
    let root = canonical(project)?;
    let state = paths.state.as_ref();
    let approvals = match state {
        Some(state) => state.approvals().read()?,
        None => StoredApprovals::default(),
    };
    let (mut reading, project_trust) = Reading::layers(paths, &root)?;
    let session = session(&reading.files);
    reading.add_text(Layer::Session, SESSION, &session)?;

    let project = WorkspaceRoot::from_absolute(root)?;
    let place = PlaceFacts::new(project.path(), &host.facts);
    let book = RuleBook::with_builtin(reading.files, reading.context)?;
    let rules = book.rules(&[approvals.allow_rules(project.path(), now)])?;
    let loaded = rules.policy();
    let anchors = Anchors {
        project: &project,
        home: host.facts.home.as_ref(),
    };
    let policy = loaded.canonical(&anchors)?;
    let kept = match state {
        Some(state) => state.grants().grants_for(project.path(), now)?,
        None => Vec::new(),
    };
    let confined = policy.uses_runtime_sandbox();
    let floor = loaded.floor().clone();
    let (grants, ignored_grants): (Vec<Grant>, Vec<Grant>) = kept
        .into_iter()
        .partition(|grant| confined && above_floor(grant, &floor));
    let policy = with_grants(policy, &grants)?;
    let policy = host.guard_other_home(policy);

    let mut guarded = reading.guarded;
    guarded.extend(state.iter().flat_map(|state| state.files()));
    // Every sandbox on this host guards what is the host's own. What lies elsewhere must be out of reach by itself.
    let mut look = Look::default();
    let enforced = Own::seen(host, &mut look).guarded(&policy, &project);
    Reach::of(&enforced, &project, &host.facts)?.check(guarded, &mut look)?;

    let writable = policy.writable_roots(&project, &host.facts);
    let protected = loaded.settings().protected.value.iter();
    let place = place
        .with_protected(protected.map(Path::new))
        .with_writable(writable.iter().filter(|root| *root != project.path()));
    Ok(Configuration {
        approval: loaded.approval(),
        notices: loaded.notices().to_vec(),
        env_keep: loaded.env().keep.clone(),
        inject: loaded
            .settings()
            .inject
            .iter()
            .map(|secret| secret.value.clone())
            .collect(),
        floor,
        project,
        place,
        policy,
        approvals,
        grants,
        ignored_grants,
        project_trust,
        sources: reading.sources,
        book,
        rules,
    })
}

fn with_grants(
    policy: CanonicalSandboxPolicy,
    grants: &[Grant],
) -> Result<CanonicalSandboxPolicy, ConfigError> {
    grants.iter().try_fold(policy, |policy, grant| {
        policy
            .with_grant(grant)
            .map_err(|source| ConfigError::Grant {
                grant: grant.to_string(),
                source: Box::new(source),
            })
    })
}

/// Whether a grant opens nothing that the administrator keeps closed for everybody.
pub(crate) fn above_floor(grant: &Grant, floor: &Floor) -> bool {
    let writes = floor.preset != Some(Preset::ReadOnly);
    match grant {
        Grant::Host(_) | Grant::HostLoopback => !floor.no_network,
        Grant::Write(_) => writes,
        Grant::Git(access) => writes || *access == GitAccess::ReadOnly,
        Grant::Read(_) | Grant::UnixSocket(_) => true,
        // One that is not known yet.
        _ => *floor == Floor::default(),
    }
}

/// What was read so far.
#[derive(Default)]
pub(super) struct Reading {
    pub(super) files: Vec<PolicyFile>,
    pub(super) context: LoadContext,
    pub(super) sources: Vec<UsedSource>,
    /// What commands must not be able to write.
    guarded: Vec<PathBuf>,
}

impl Reading {
    /// The files of every layer but the session's and the built-in ones, and what is known about those of the project.
    pub(super) fn layers(
        paths: &ConfigPaths,
        root: &AbsolutePath,
    ) -> Result<(Self, ProjectTrust), ConfigError> {
        let mut reading = Self::default();
        let administrator = Access::OwnedBy(vec![paths.system_owner]);
        reading.add_file(Layer::System, paths.system.as_deref(), &administrator)?;
        let mut owners = vec![0, own_uid()];
        owners.dedup();
        reading.add_file(Layer::User, paths.user.as_deref(), &Access::OwnedBy(owners))?;
        let Some(layer) = collect_project(root)? else {
            return Ok((reading, ProjectTrust::Absent));
        };
        let agreed = match &paths.state {
            Some(state) => state.trust().trusted(root)?,
            None => None,
        };
        let hash = layer.hash;
        let (trust, project_trust) = match agreed == Some(hash) {
            true => (Trust::Trusted, ProjectTrust::Trusted(hash)),
            false => (Trust::Untrusted, ProjectTrust::Untrusted(hash)),
        };
        reading.add_layer(Layer::Project, layer, trust);
        Ok((reading, project_trust))
    }

    /// A text of no file. It cannot include any.
    fn add_text(&mut self, layer: Layer, name: &str, text: &str) -> Result<(), ConfigError> {
        if !text.is_empty() {
            let file = parse(&Source::new(layer, name, text)).map_err(load_error)?;
            self.files.push(file);
        }
        Ok(())
    }

    fn add_file(
        &mut self,
        layer: Layer,
        file: Option<&Path>,
        access: &Access,
    ) -> Result<(), ConfigError> {
        let Some(file) = file else {
            return Ok(());
        };
        // Also while it is not there: a command that could write it could make it.
        self.guarded.push(file.to_owned());
        if let Some(files) = collect(layer, file, access)? {
            // So could one that could add a file where a pattern looks for files.
            let added = files.listed.iter().map(|directory| directory.join("new"));
            self.guarded.extend(added);
            self.guarded
                .extend(files.files.iter().map(|file| file.path.clone()));
            self.add_layer(layer, files, Trust::Trusted);
        }
        Ok(())
    }

    pub(super) fn add_layer(&mut self, layer: Layer, files: LayerFiles, trust: Trust) {
        for (request, names) in &files.includes {
            // A literal name that leads nowhere stays unanswered, and the loader refuses it.
            if request.is_pattern() || !names.is_empty() {
                self.context = std::mem::take(&mut self.context).with_include(request, names);
            }
        }
        for file in files.files {
            self.sources.push(UsedSource {
                layer,
                path: file.path,
                hash: file.hash,
            });
            let mut parsed = file.parsed;
            parsed.trust = trust;
            self.files.push(parsed);
        }
    }
}

fn load_error(errors: PolicyErrors) -> ConfigError {
    RulesError::Load(errors).into()
}
