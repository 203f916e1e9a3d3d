//! What the sandbox grants differently under two policies.

use std::collections::BTreeSet;

use palisade_policy::GitAccess;

use super::diff::{Direction, SettingChange};
use super::words;
use crate::decision::RuleDecision;
use crate::language::model::{DefaultDecision, Layer, LimitsSpec, SandboxGrants};
use crate::language::{LimitSettings, LoadedPolicy, NetworkSetting, Setting};
use crate::matching::Evaluation;

struct Changes(Vec<SettingChange>);

impl Changes {
    fn push(&mut self, direction: Direction, what: impl Into<String>) {
        self.0.push(SettingChange {
            direction,
            what: what.into(),
        });
    }

    /// A value with an order: more is looser.
    fn ranked<T: Ord>(&mut self, what: &str, old: (T, &str), new: (T, &str)) {
        let direction = match new.0.cmp(&old.0) {
            std::cmp::Ordering::Equal => return,
            std::cmp::Ordering::Greater => Direction::Looser,
            std::cmp::Ordering::Less => Direction::Stricter,
        };
        self.push(direction, format!("{what}: {} -> {}", old.1, new.1));
    }

    /// What is no longer so, in the words that say that it is: "may" becomes "may no longer", others say so first.
    fn ended(what: &str) -> String {
        match what.rsplit_once(" may") {
            Some((who, rest)) => format!("{who} may no longer{rest}"),
            None => match what.split_once(" is ") {
                Some((who, rest)) => format!("{who} is no longer {rest}"),
                None => format!("no longer: {what}"),
            },
        }
    }

    /// A set of which every member opens something.
    fn opens(&mut self, what: &str, old: &BTreeSet<String>, new: &BTreeSet<String>) {
        for added in new.difference(old) {
            self.push(Direction::Looser, format!("{what}: {added}"));
        }
        for removed in old.difference(new) {
            self.push(
                Direction::Stricter,
                format!("{}: {removed}", Self::ended(what)),
            );
        }
    }

    /// A set of which every member closes something.
    fn closes(&mut self, what: &str, old: &BTreeSet<String>, new: &BTreeSet<String>) {
        for added in new.difference(old) {
            self.push(Direction::Stricter, format!("{what}: {added}"));
        }
        for removed in old.difference(new) {
            self.push(
                Direction::Looser,
                format!("{}: {removed}", Self::ended(what)),
            );
        }
    }
}

/// How much of `.git` may change.
const fn git_rank(git: GitAccess) -> u8 {
    match git {
        GitAccess::ReadOnly => 0,
        GitAccess::Commit => 1,
        GitAccess::Full => 2,
    }
}

fn texts<T: ToString>(items: impl IntoIterator<Item = T>) -> BTreeSet<String> {
    items.into_iter().map(|item| item.to_string()).collect()
}

/// What the settings grant differently.
pub(super) fn settings(before: &LoadedPolicy, after: &LoadedPolicy) -> Vec<SettingChange> {
    let mut changes = Changes(Vec::new());
    let (old, new) = (before.settings(), after.settings());
    let sandbox = |confined: bool| if confined { "on" } else { "off" };
    changes.ranked(
        "every command: the sandbox is",
        (!old.confined(), sandbox(old.confined())),
        (!new.confined(), sandbox(new.confined())),
    );
    changes.opens(
        "every command may write",
        &texts(&old.write.value),
        &texts(&new.write.value),
    );
    let paths = |list: &[Setting<palisade_policy::PathSpec>]| {
        texts(list.iter().map(|setting| &setting.value))
    };
    changes.closes(
        "every command is kept from reading and writing",
        &paths(&old.deny),
        &paths(&new.deny),
    );
    changes.closes(
        "every command may only read",
        &paths(&old.read_only),
        &paths(&new.read_only),
    );
    changes.closes(
        "every command is kept from changing",
        &texts(&old.protected.value),
        &texts(&new.protected.value),
    );
    let git = |git| (git_rank(git), words::git_name(git));
    changes.ranked(
        "every command: access to .git",
        git(old.git.value),
        git(new.git.value),
    );
    network(&mut changes, &old.network.value, &new.network.value);
    limits(&mut changes, before, after);
    defaults(&mut changes, before, after);
    environment(&mut changes, before, after);
    programs(&mut changes, before, after);
    floor(&mut changes, before, after);
    changes.0
}

fn network(changes: &mut Changes, old: &NetworkSetting, new: &NetworkSetting) {
    let rank = |network: &NetworkSetting| match network {
        NetworkSetting::Off => (0, "none"),
        NetworkSetting::Only(hosts) if hosts.is_empty() => (0, "none"),
        NetworkSetting::Only(_) => (1, "listed hosts"),
        NetworkSetting::Full => (2, "everything"),
    };
    changes.ranked("every command: network", rank(old), rank(new));
    let hosts = |network: &NetworkSetting| match network {
        NetworkSetting::Only(hosts) => texts(hosts),
        NetworkSetting::Off | NetworkSetting::Full => BTreeSet::new(),
    };
    let full = |network: &NetworkSetting| matches!(network, NetworkSetting::Full);
    if !full(old) && !full(new) {
        changes.opens("every command may reach", &hosts(old), &hosts(new));
    }
}

/// One thing that is counted.
struct Limit {
    what: &'static str,
    of_policy: fn(&LimitSettings) -> u64,
    of_rule: fn(&LimitsSpec) -> Option<u64>,
}

const LIMITS: [Limit; 5] = [
    Limit {
        what: "wall seconds",
        of_policy: |limits| limits.wall_secs.value,
        of_rule: |limits| limits.wall_secs,
    },
    Limit {
        what: "cpu seconds",
        of_policy: |limits| limits.cpu_secs.value,
        of_rule: |limits| limits.cpu_secs,
    },
    Limit {
        what: "memory MiB",
        of_policy: |limits| limits.memory_mb.value,
        of_rule: |limits| limits.memory_mb,
    },
    Limit {
        what: "disk MiB",
        of_policy: |limits| limits.disk_mb.value,
        of_rule: |limits| limits.disk_mb,
    },
    Limit {
        what: "processes",
        of_policy: |limits| limits.procs.value.into(),
        of_rule: |limits| limits.procs.map(u64::from),
    },
];

/// 0 is unlimited.
const fn rank(value: u64) -> u64 {
    if value == 0 { u64::MAX } else { value }
}

fn name(value: u64) -> String {
    match value {
        0 => "unlimited".to_owned(),
        value => value.to_string(),
    }
}

fn limits(changes: &mut Changes, before: &LoadedPolicy, after: &LoadedPolicy) {
    for limit in LIMITS {
        let old = (limit.of_policy)(&before.settings().limits);
        let new = (limit.of_policy)(&after.settings().limits);
        let what = format!("every command: limit of {}", limit.what);
        changes.ranked(&what, (rank(old), &name(old)), (rank(new), &name(new)));
    }
}

fn defaults(changes: &mut Changes, before: &LoadedPolicy, after: &LoadedPolicy) {
    let rank = |decision: Option<DefaultDecision>| match decision {
        None => (2, "nothing is asked"),
        Some(DefaultDecision::Prompt) => (1, "prompt"),
        Some(DefaultDecision::Forbid) => (0, "forbid"),
    };
    let (old, new) = (before.defaults(), after.defaults());
    changes.ranked(
        "commands that no rule matches",
        rank(old.unmatched),
        rank(new.unmatched),
    );
    changes.ranked(
        "scripts that cannot be read with certainty",
        rank(old.opaque),
        rank(new.opaque),
    );
    changes.ranked(
        "commands in the danger table",
        rank(old.danger),
        rank(new.danger),
    );
    let (old, new) = (before.approval(), after.approval());
    if old != new {
        // Which of two approval policies asks less depends on the command, so any change is one to look at.
        for (direction, sign) in [(Direction::Looser, "now"), (Direction::Stricter, "before")] {
            let ask = if sign == "now" { new } else { old };
            changes.push(
                direction,
                format!("every command: approval policy {sign}: {}", ask.name()),
            );
        }
    }
}

fn environment(changes: &mut Changes, before: &LoadedPolicy, after: &LoadedPolicy) {
    let keep = |policy: &LoadedPolicy| match &policy.env().keep {
        Some(names) => texts(names),
        None => BTreeSet::from(["what the caller keeps".to_owned()]),
    };
    changes.opens(
        "every command inherits the variable",
        &keep(before),
        &keep(after),
    );
    let (old, new) = (&before.env().prefix, &after.env().prefix);
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let rank = |decision: Option<&RuleDecision>| match decision {
        Some(RuleDecision::Allow) => (2, "allow"),
        Some(RuleDecision::Prompt) | None => (1, "prompt"),
        Some(RuleDecision::Forbid) => (0, "forbid"),
    };
    for name in names {
        let what = format!("commands that set the variable {name}");
        changes.ranked(&what, rank(old.get(name)), rank(new.get(name)));
    }
}

fn programs(changes: &mut Changes, before: &LoadedPolicy, after: &LoadedPolicy) {
    let (old, new) = (before.programs(), after.programs());
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for name in names {
        match (old.get(name), new.get(name)) {
            (Some(old), Some(new)) => {
                let what = format!("the program `{name}` may be");
                changes.opens(&what, &texts(&old.paths), &texts(&new.paths));
            }
            (None, Some(_)) => changes.push(
                Direction::Stricter,
                format!("the program `{name}` may only be what is listed"),
            ),
            (Some(_), None) => changes.push(
                Direction::Looser,
                format!("the program `{name}` may be any file of that name"),
            ),
            (None, None) => {}
        }
    }
}

fn floor(changes: &mut Changes, before: &LoadedPolicy, after: &LoadedPolicy) {
    let list = |policy: &LoadedPolicy| {
        let floor = policy.floor();
        let switches = [
            (floor.no_unsandboxed, "no-unsandboxed"),
            (floor.no_accepted_losses, "no-accepted-losses"),
            (floor.no_network, "no-network"),
        ];
        let mut set: BTreeSet<String> = switches
            .into_iter()
            .filter(|(on, _)| *on)
            .map(|(_, name)| name.to_owned())
            .collect();
        set.extend(
            floor
                .preset
                .map(|preset| format!("preset {}", preset.name())),
        );
        set
    };
    changes.closes(
        "every layer below is bound by the floor",
        &list(before),
        &list(after),
    );
}

/// What a command is granted differently, beyond its verdict.
pub(super) fn grants(
    prefix: &str,
    (before, old): (&LoadedPolicy, &Evaluation<'_>),
    (after, new): (&LoadedPolicy, &Evaluation<'_>),
) -> Vec<SettingChange> {
    let list = |evaluation: &Evaluation<'_>| -> BTreeSet<String> {
        granted(evaluation).flat_map(words::opened).collect()
    };
    let mut changes = Changes(Vec::new());
    changes.opens(&format!("`{prefix}` may"), &list(old), &list(new));
    for limit in LIMITS {
        let own = |evaluation: &Evaluation<'_>| {
            let specs = granted(evaluation).filter_map(|grants| grants.limits.as_ref());
            specs
                .filter_map(limit.of_rule)
                .min_by_key(|value| rank(*value))
        };
        let (old, new) = (own(old), own(new));
        if old.is_none() && new.is_none() {
            continue;
        }
        let old = old.unwrap_or_else(|| (limit.of_policy)(&before.settings().limits));
        let new = new.unwrap_or_else(|| (limit.of_policy)(&after.settings().limits));
        let what = format!("`{prefix}`: limit of {}", limit.what);
        changes.ranked(&what, (rank(old), &name(old)), (rank(new), &name(new)));
    }
    changes.0
}

fn granted<'e>(evaluation: &'e Evaluation<'_>) -> impl Iterator<Item = &'e SandboxGrants> {
    evaluation
        .segments()
        .iter()
        .flat_map(|segment| segment.grants())
}

/// Names the layers in order, for pages.
pub(super) const LAYERS: [Layer; 5] = [
    Layer::BuiltIn,
    Layer::System,
    Layer::User,
    Layer::Project,
    Layer::Session,
];
