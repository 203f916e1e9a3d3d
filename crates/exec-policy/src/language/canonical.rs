//! From the settings in force to the policy that a sandbox enforces.

use palisade_policy::{
    AbsolutePath, CanonicalSandboxPolicy, Grant, PathRules, PathSpec, RelativePath, ResourceLimits,
    SeccompProfile, WorkspaceRoot,
};

use super::error::{PolicyErrors, PolicyFileError, Problem};
use super::loaded::LoadedPolicy;
use super::model::{Layer, Origin, Rule};
use super::settings::{NetworkSetting, PROJECT, with_limits};

/// What relative paths and `~` stand for.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a plain pair of facts, written as a literal by every caller"
)]
pub struct Anchors<'a> {
    /// The project: `.` in a policy file.
    pub project: &'a WorkspaceRoot,
    /// The home directory: `~` in a policy file.
    pub home: Option<&'a AbsolutePath>,
}

impl LoadedPolicy {
    /// The policy that the sandbox enforces for a project. An empty list of hosts is never open.
    ///
    /// # Errors
    /// A writable root that is below a home nobody knows, or that can be no root.
    pub fn canonical(&self, anchors: &Anchors<'_>) -> Result<CanonicalSandboxPolicy, PolicyErrors> {
        let settings = self.settings();
        if !settings.confined() {
            return Ok(CanonicalSandboxPolicy::full_access());
        }
        let limits = settings.limits.limits();
        let policy = if settings.write.value.is_empty() {
            let policy = match &settings.network.value {
                NetworkSetting::Off => CanonicalSandboxPolicy::read_only(),
                NetworkSetting::Only(hosts) => {
                    CanonicalSandboxPolicy::read_only_with_network(hosts.iter().cloned())
                }
                NetworkSetting::Full => CanonicalSandboxPolicy::read_only_with_full_network(),
            };
            let own = (limits != policy.resource_limits()).then_some(limits);
            policy.with_limits_override(own)
        } else {
            let (hosts, seccomp) = match &settings.network.value {
                NetworkSetting::Off => (Vec::new(), SeccompProfile::strict()),
                NetworkSetting::Only(hosts) => (hosts.clone(), SeccompProfile::strict()),
                NetworkSetting::Full => (Vec::new(), SeccompProfile::strict().with_network()),
            };
            let roots = self.roots(anchors)?;
            CanonicalSandboxPolicy::workspace_write_full(roots, hosts, None, limits, seccomp)
        };
        Ok(policy.with_paths(self.path_rules()?))
    }

    fn roots(&self, anchors: &Anchors<'_>) -> Result<Vec<WorkspaceRoot>, PolicyErrors> {
        let write = &self.settings().write;
        let mut roots = Vec::with_capacity(write.value.len());
        for text in &write.value {
            let path = anchors.absolute(text);
            let root = path.and_then(|path| Ok(WorkspaceRoot::from_absolute(path)?));
            let origin = write.origin.as_ref();
            roots.push(root.map_err(|problem| fail(origin, "filesystem.write", text, problem))?);
        }
        Ok(roots)
    }

    fn path_rules(&self) -> Result<PathRules, PolicyErrors> {
        let settings = self.settings();
        let mut protected = Vec::with_capacity(settings.protected.value.len());
        for text in &settings.protected.value {
            let origin = settings.protected.origin.as_ref();
            let path = RelativePath::new(text)
                .map_err(|error| fail(origin, "filesystem.protected", text, error.into()))?;
            protected.push(path);
        }
        Ok(PathRules::default()
            .with_protected(protected)
            .with_deny_read(settings.deny.iter().map(|setting| setting.value.clone()))
            .with_read_only(
                settings
                    .read_only
                    .iter()
                    .map(|setting| setting.value.clone()),
            )
            .with_git(settings.git.value))
    }

    /// What the sandbox grants to what a rule matches, on top of the policy. Nothing where nothing is confined, or
    /// where the rule leaves the sandbox.
    ///
    /// # Errors
    /// A path that is below a home nobody knows.
    pub fn grants_for(
        &self,
        rule: &Rule,
        anchors: &Anchors<'_>,
    ) -> Result<Vec<Grant>, PolicyErrors> {
        if !self.settings().confined() || rule.unsandboxed {
            return Ok(Vec::new());
        }
        let path = |spec: &PathSpec, key: &str| {
            let text = spec.to_string();
            let key = format!("rule[{}].{key}", rule.id);
            let path = anchors.absolute(&text);
            path.map_err(|problem| fail(Some(&rule.origin), &key, &text, problem))
        };
        let mut grants = Vec::new();
        for spec in &rule.sandbox.read {
            grants.push(Grant::Read(path(spec, "sandbox.read")?));
        }
        for spec in &rule.sandbox.write {
            grants.push(Grant::Write(path(spec, "sandbox.write")?));
        }
        grants.extend(rule.sandbox.git.map(Grant::Git));
        grants.extend(rule.sandbox.network.iter().cloned().map(Grant::Host));
        Ok(grants)
    }

    /// The limits of what a rule matches.
    #[must_use]
    pub fn limits_for(&self, rule: &Rule) -> ResourceLimits {
        let limits = self.settings().limits.limits();
        match &rule.sandbox.limits {
            Some(own) => with_limits(limits, own),
            None => limits,
        }
    }
}

impl Anchors<'_> {
    /// The absolute path that a literal path of a policy file stands for.
    fn absolute(&self, text: &str) -> Result<AbsolutePath, Problem> {
        let project = self.project.path();
        let home = || self.home.ok_or(Problem::NoHome);
        if text == PROJECT {
            return Ok(project.clone());
        }
        if text == "~" {
            return home().cloned();
        }
        if let Some(below) = text.strip_prefix("~/") {
            return Ok(home()?.join(&RelativePath::new(below)?));
        }
        match RelativePath::new(text) {
            Ok(below) => Ok(project.join(&below)),
            Err(_) => Ok(AbsolutePath::new(text)?),
        }
    }
}

fn fail(origin: Option<&Origin>, key: &str, value: &str, problem: Problem) -> PolicyErrors {
    let origin = match origin {
        Some(origin) => origin.clone(),
        None => Origin::new(Layer::BuiltIn, "preset", 1, 1),
    };
    PolicyFileError::new(origin, key, problem)
        .with_value(Some(value.escape_debug().to_string()))
        .into()
}
