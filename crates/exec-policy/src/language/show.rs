//! The policy in force, as text that a person can review.

use std::fmt::Write as _;

use palisade_policy::GitAccess;

use super::loaded::LoadedPolicy;
use super::model::{DefaultDecision, LimitsSpec, OptionTable, Origin, Rule, SandboxGrants};
use super::settings::Setting;
use crate::decision::RuleDecision;

/// Everything that is in force, with the place that each thing comes from.
///
/// ```
/// use palisade_exec_policy::language::{Layer, Source, load_sources, show_resolved};
///
/// let policy = load_sources([Source::new(Layer::User, "rules.toml", "version = 1\npreset = \"ci\"\n")])?;
/// assert!(show_resolved(&policy).contains("preset     ci  [user rules.toml:2:1]"));
/// # Ok::<(), palisade_exec_policy::language::PolicyErrors>(())
/// ```
#[must_use]
pub fn show_resolved(policy: &LoadedPolicy) -> String {
    let mut page = Page::default();
    page.title("sources");
    for (layer, name) in policy.sources() {
        page.line(&format!("{:9}  {name}", layer.name()), None);
    }
    page.settings(policy);
    page.environment(policy);
    page.programs(policy);
    page.floor(policy);
    page.rules(policy);
    if !policy.notices().is_empty() {
        page.title("notices");
        for notice in policy.notices() {
            page.line(&notice.to_string(), None);
        }
    }
    page.text
}

/// What somebody's file says, or is called, begins no line of this page.
fn one_line(text: &str) -> String {
    text.replace('\n', "\\n")
}

#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn title(&mut self, title: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(title);
        self.text.push('\n');
    }

    /// A line, and where it comes from.
    fn line(&mut self, line: &str, origin: Option<&Origin>) {
        self.text.push_str("  ");
        self.text.push_str(&one_line(line));
        if let Some(origin) = origin {
            self.text.push_str(&one_line(&place(origin)));
        }
        self.text.push('\n');
    }

    /// A setting, and where it comes from.
    fn setting(&mut self, name: &str, value: &str, origin: Option<&Origin>) {
        let value = if value.is_empty() { "nothing" } else { value };
        let place = origin.map_or_else(|| "  [default]".to_owned(), place);
        self.line(&format!("{name:9}  {value}{place}"), None);
    }

    fn settings(&mut self, policy: &LoadedPolicy) {
        let settings = policy.settings();
        self.title("settings");
        let preset = &settings.preset;
        self.setting("preset", preset.value.name(), preset.origin.as_ref());
        let sandbox = policy.sandbox_policy();
        self.line(&format!("{:9}  {}", "mode", sandbox.mode.name()), None);
        let ask = &settings.ask;
        self.setting("ask", &ask.value.to_string(), ask.origin.as_ref());
        let defaults = [
            ("unmatched", &settings.unmatched),
            ("opaque", &settings.opaque),
            ("danger", &settings.danger),
        ];
        for (name, default) in defaults {
            if let Some(decision) = default.value {
                self.setting(name, default_name(decision), default.origin.as_ref());
            }
        }
        if !settings.confined() {
            return;
        }
        let roots = settings.write.value.join(", ");
        self.setting("write", &roots, settings.write.origin.as_ref());
        for deny in &settings.deny {
            self.setting("deny", &deny.value.to_string(), deny.origin.as_ref());
        }
        for guard in &settings.read_only {
            self.setting("read only", &guard.value.to_string(), guard.origin.as_ref());
        }
        let protected = settings.protected.value.join(", ");
        self.setting("protected", &protected, settings.protected.origin.as_ref());
        let git = &settings.git;
        self.setting("git", git_name(git.value), git.origin.as_ref());
        let network = &settings.network;
        self.setting(
            "network",
            &network.value.to_string(),
            network.origin.as_ref(),
        );
        for secret in &settings.inject {
            self.setting("inject", &secret.value.to_string(), secret.origin.as_ref());
        }
        let limits = &settings.limits;
        self.limit("wall", &limits.wall_secs, seconds);
        self.limit("cpu", &limits.cpu_secs, seconds);
        self.limit("memory", &limits.memory_mb, mebibytes);
        self.limit("disk", &limits.disk_mb, mebibytes);
        self.limit("procs", &limits.procs, |count| count_of(u64::from(count)));
    }

    fn limit<T: Copy>(&mut self, name: &str, limit: &Setting<T>, shown: impl Fn(T) -> String) {
        self.setting(name, &shown(limit.value), limit.origin.as_ref());
    }

    fn environment(&mut self, policy: &LoadedPolicy) {
        let settings = policy.settings();
        if settings.env_keep.value.is_none() && settings.env_prefix.is_empty() {
            return;
        }
        self.title("environment");
        if let Some(keep) = &settings.env_keep.value {
            self.setting("keep", &keep.join(", "), settings.env_keep.origin.as_ref());
        }
        for (name, decision) in &settings.env_prefix {
            let line = format!("{:9}  {name}=", decision_name(decision.value));
            self.line(&line, decision.origin.as_ref());
        }
    }

    fn programs(&mut self, policy: &LoadedPolicy) {
        if policy.programs().is_empty() && policy.options().is_empty() {
            return;
        }
        self.title("programs");
        for (name, pins) in policy.programs() {
            let paths = match pins.paths.is_empty() {
                true => "any system directory".to_owned(),
                false => pins.paths.join(", "),
            };
            self.setting(name, &paths, policy.program_origin(name));
        }
        for (name, options) in policy.options() {
            self.line(&format!("{name}: {}", options_text(options)), None);
        }
    }

    fn floor(&mut self, policy: &LoadedPolicy) {
        let floor = policy.floor();
        let preset = floor
            .preset
            .map(|preset| format!("preset {}", preset.name()));
        let parts = [
            ("preset", preset),
            (
                "no-unsandboxed",
                floor.no_unsandboxed.then(|| "no-unsandboxed".to_owned()),
            ),
            (
                "no-accepted-losses",
                floor
                    .no_accepted_losses
                    .then(|| "no-accepted-losses".to_owned()),
            ),
            (
                "no-network",
                floor.no_network.then(|| "no-network".to_owned()),
            ),
        ];
        let mut titled = false;
        for (key, part) in parts {
            let Some(part) = part else {
                continue;
            };
            if !std::mem::replace(&mut titled, true) {
                self.title("floor");
            }
            self.line(&part, policy.floor_origin(key));
        }
    }

    fn rules(&mut self, policy: &LoadedPolicy) {
        self.title(&format!("rules: {}", policy.rules().len()));
        for rule in policy.rules() {
            let decision = decision_name(rule.decision);
            let line = format!("{decision:6}  {}: {}", rule.id, prefix(&rule.prefix));
            self.line(&line, Some(&rule.origin));
            for detail in details(rule) {
                self.line(&format!("        {detail}"), None);
            }
        }
    }
}

/// What a rule says besides its prefix and its decision.
fn details(rule: &Rule) -> Vec<String> {
    let mut details = Vec::new();
    if rule.globals != OptionTable::default() {
        details.push(format!("skips {}", options_text(&rule.globals)));
    }
    if !rule.when_flags.is_empty() {
        details.push(format!("when {}", rule.when_flags.join(" or ")));
    }
    if let Some(flags) = &rule.flags {
        let otherwise = decision_name(flags.otherwise);
        if let Some(allow) = &flags.allow {
            let allowed = match allow.is_empty() {
                true => "any flag".to_owned(),
                false => format!("any flag but {}", allow.join(", ")),
            };
            details.push(format!("{otherwise} with {allowed}"));
        }
        if !flags.forbid.is_empty() {
            details.push(format!("{otherwise} with {}", flags.forbid.join(" or ")));
        }
    }
    for except in &rule.except {
        details.push(format!("except {}", prefix(except)));
    }
    if let Some(args) = rule.args {
        details.push(format!("if {}", args.name()));
    }
    if rule.unsandboxed {
        details.push("leaves the sandbox".to_owned());
    }
    details.extend(grants(&rule.sandbox));
    details.extend(
        rule.why
            .as_ref()
            .map(|why| format!("because {}", why.escape_debug())),
    );
    details
}

fn grants(sandbox: &SandboxGrants) -> Vec<String> {
    let mut grants = Vec::new();
    let list = |items: Vec<String>| items.join(", ");
    if !sandbox.network.is_empty() {
        let hosts = sandbox.network.iter().map(ToString::to_string).collect();
        grants.push(format!("may reach {}", list(hosts)));
    }
    if !sandbox.write.is_empty() {
        let paths = sandbox.write.iter().map(ToString::to_string).collect();
        grants.push(format!("may write {}", list(paths)));
    }
    if !sandbox.read.is_empty() {
        let paths = sandbox.read.iter().map(ToString::to_string).collect();
        grants.push(format!("may read {}", list(paths)));
    }
    if let Some(git) = sandbox.git {
        grants.push(format!("git {}", git_name(git)));
    }
    if let Some(limits) = &sandbox.limits {
        grants.push(limits_text(limits));
    }
    grants
}

fn limits_text(limits: &LimitsSpec) -> String {
    let parts = [
        limits
            .wall_secs
            .map(|limit| format!("wall {}", seconds(limit))),
        limits
            .cpu_secs
            .map(|limit| format!("cpu {}", seconds(limit))),
        limits
            .memory_mb
            .map(|limit| format!("memory {}", mebibytes(limit))),
        limits
            .disk_mb
            .map(|limit| format!("disk {}", mebibytes(limit))),
        limits
            .procs
            .map(|limit| format!("procs {}", count_of(u64::from(limit)))),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    format!("limits: {}", parts.join(", "))
}

/// A prefix with its alternatives, as in `git (log|diff)`.
fn prefix(prefix: &[Vec<String>]) -> String {
    let mut text = String::new();
    for position in prefix {
        if !text.is_empty() {
            text.push(' ');
        }
        let words: Vec<_> = position
            .iter()
            .map(|word| word.escape_debug().to_string())
            .collect();
        match words.as_slice() {
            [word] => text.push_str(word),
            words => {
                // Writing to a string cannot fail.
                let _ = write!(text, "({})", words.join("|"));
            }
        }
    }
    text
}

fn options_text(options: &OptionTable) -> String {
    let valued = options.value.iter().map(|option| format!("{option} VALUE"));
    let options: Vec<_> = valued.chain(options.flag.iter().cloned()).collect();
    options.join(", ")
}

fn place(origin: &Origin) -> String {
    format!("  [{} {origin}]", origin.layer.name())
}

fn seconds(limit: u64) -> String {
    match limit {
        0 => "unlimited".to_owned(),
        limit if limit.is_multiple_of(3600) => format!("{}h", limit / 3600),
        limit if limit.is_multiple_of(60) => format!("{}m", limit / 60),
        limit => format!("{limit}s"),
    }
}

fn mebibytes(limit: u64) -> String {
    match limit {
        0 => "unlimited".to_owned(),
        limit if limit.is_multiple_of(1 << 20) => format!("{}TiB", limit >> 20),
        limit if limit.is_multiple_of(1 << 10) => format!("{}GiB", limit >> 10),
        limit => format!("{limit}MiB"),
    }
}

fn count_of(limit: u64) -> String {
    match limit {
        0 => "unlimited".to_owned(),
        limit => limit.to_string(),
    }
}

const fn decision_name(decision: RuleDecision) -> &'static str {
    match decision {
        RuleDecision::Allow => "allow",
        RuleDecision::Prompt => "prompt",
        RuleDecision::Forbid => "forbid",
    }
}

const fn default_name(decision: DefaultDecision) -> &'static str {
    match decision {
        DefaultDecision::Prompt => "prompt",
        DefaultDecision::Forbid => "forbid",
    }
}

const fn git_name(git: GitAccess) -> &'static str {
    match git {
        GitAccess::ReadOnly => "read-only",
        GitAccess::Commit => "commit",
        GitAccess::Full => "full",
    }
}
