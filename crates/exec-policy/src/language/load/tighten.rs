//! A project's file that nobody agreed to: it applies as far as it is stricter than what is there.

use super::super::model::{DefaultDecision, LimitsSpec, Origin, PolicyFile, Preset};
use super::super::notice::NoticeKind;
use super::super::settings::{Setting, git_rank, listed, lower, preset_network, preset_roots};
use super::Loader;
use super::apply::written_network;
use crate::decision::AskForApproval;
use crate::decision::RuleDecision;

impl Loader {
    pub(super) fn tighten(&mut self, file: &PolicyFile) {
        if let Some(preset) = file.preset {
            self.tighten_preset(preset, &file.place("preset"));
        }
        self.tighten_filesystem(file);
        if let Some((network, key)) = written_network(file) {
            let place = file.place(key);
            let both = network.and(&self.settings.network.value);
            if both != network {
                let detail = network.beyond(&both);
                self.notice_about(&place, key, NoticeKind::Untrusted, detail);
            }
            if both != self.settings.network.value {
                self.settings.network.set(both, Some(&place));
            }
        }
        if let Some(limits) = &file.limits {
            self.tighten_limits(limits, file);
        }
        self.tighten_defaults(file);
        self.tighten_env(file);
        self.tighten_programs(file);
        for name in file.options.keys() {
            // A table that calls a flag a value hides the words behind it from rules.
            let key = format!("options.{name}");
            self.notice(&file.place(&key), key, NoticeKind::Untrusted);
        }
        if let Some(case) = file.cases.first() {
            self.notice(&case.origin.clone(), "case", NoticeKind::Untrusted);
        }
    }

    fn tighten_preset(&mut self, preset: Preset, place: &Origin) {
        let data = preset.settings();
        let settings = &mut self.settings;
        let mut looser = preset.openness() > settings.preset.value.openness();
        if preset.openness() < settings.preset.value.openness() {
            settings.preset.set(preset, Some(place));
        }
        looser |= keep_common(&mut settings.write, &preset_roots(preset), place);
        let network = preset_network(preset).and(&settings.network.value);
        if network != settings.network.value {
            settings.network.set(network, Some(place));
        }
        if git_rank(data.git) < git_rank(settings.git.value) {
            settings.git.set(data.git, Some(place));
        }
        let limits = &mut settings.limits;
        let place = Some(place);
        tighten_limit(&mut limits.wall_secs, data.limits.timeout_secs, place);
        tighten_limit(&mut limits.cpu_secs, data.limits.cpu_time_secs, place);
        tighten_limit(&mut limits.memory_mb, data.limits.max_memory_mb, place);
        tighten_limit(&mut limits.disk_mb, data.limits.max_disk_mb, place);
        tighten_limit(&mut limits.procs, data.limits.max_pids, place);
        // No order of approval policies says which asks less, so a preset's own counts only if it is there already.
        let silent = data.ask == AskForApproval::Never && settings.ask.value != data.ask;
        if let (true, Some(place)) = (looser || silent, place) {
            let detail = match looser {
                true => format!("what `{}` opens", preset.name()),
                false => format!("`{}` asking nobody", preset.name()),
            };
            self.notice_about(place, "preset", NoticeKind::Untrusted, detail);
        }
    }

    fn tighten_filesystem(&mut self, file: &PolicyFile) {
        if let Some(roots) = &file.filesystem.write {
            let place = file.place("filesystem.write");
            let before = self.settings.write.value.clone();
            if keep_common(&mut self.settings.write, roots, &place) {
                let detail = listed(roots.iter().filter(|root| !before.contains(root)));
                let kind = NoticeKind::Untrusted;
                self.notice_about(&place, "filesystem.write", kind, detail);
            }
        }
        if let Some(git) = file.filesystem.git {
            let place = file.place("filesystem.git");
            let current = &mut self.settings.git;
            if git_rank(git) < git_rank(current.value) {
                current.set(git, Some(&place));
            } else if git_rank(git) > git_rank(current.value) {
                self.notice(&place, "filesystem.git", NoticeKind::Untrusted);
            }
        }
        if let Some(protected) = &file.filesystem.protected {
            let place = file.place("filesystem.protected");
            let current = &self.settings.protected.value;
            let dropped = current.iter().any(|path| !protected.contains(path));
            let mut all = current.clone();
            all.extend(
                protected
                    .iter()
                    .filter(|path| !current.contains(path))
                    .cloned(),
            );
            if all.len() > current.len() {
                self.settings.protected.set(all, Some(&place));
            }
            if dropped {
                let detail = "leaving out what is protected".to_owned();
                let kind = NoticeKind::Untrusted;
                self.notice_about(&place, "filesystem.protected", kind, detail);
            }
        }
        self.add_guards(file);
    }

    fn tighten_limits(&mut self, written: &LimitsSpec, file: &PolicyFile) {
        let limits = &mut self.settings.limits;
        let place = |key: &str| file.places.get(&format!("limits.{key}"));
        let mut looser = Vec::new();
        let wide = [
            ("wall", &mut limits.wall_secs, written.wall_secs),
            ("cpu", &mut limits.cpu_secs, written.cpu_secs),
            ("memory", &mut limits.memory_mb, written.memory_mb),
            ("disk", &mut limits.disk_mb, written.disk_mb),
        ];
        for (key, setting, value) in wide {
            if value.is_some_and(|value| tighten_limit(setting, value, place(key))) {
                looser.push(key);
            }
        }
        if let Some(procs) = written.procs
            && tighten_limit(&mut limits.procs, procs, place("procs"))
        {
            looser.push("procs");
        }
        for key in looser {
            let key = format!("limits.{key}");
            self.notice(&file.place(&key), key, NoticeKind::Untrusted);
        }
    }

    fn tighten_defaults(&mut self, file: &PolicyFile) {
        let defaults = &file.defaults;
        let settings = &mut self.settings;
        let entries = [
            (
                "defaults.unmatched",
                &mut settings.unmatched,
                defaults.unmatched,
            ),
            ("defaults.opaque", &mut settings.opaque, defaults.opaque),
            ("defaults.danger", &mut settings.danger, defaults.danger),
        ];
        let mut looser = Vec::new();
        for (key, setting, written) in entries {
            if tighten_default(setting, written, file.places.get(key)) {
                looser.push(key);
            }
        }
        if defaults
            .ask
            .is_some_and(|ask| ask != self.settings.ask.value)
        {
            looser.push("defaults.ask");
        }
        for key in looser {
            self.notice(&file.place(key), key, NoticeKind::Untrusted);
        }
    }

    fn tighten_env(&mut self, file: &PolicyFile) {
        if let Some(keep) = &file.env.keep {
            let place = file.place("env.keep");
            let held = |name: &&String| match &self.settings.env_keep.value {
                Some(current) => current.iter().any(|pattern| covers(pattern, name)),
                None => false,
            };
            let kept: Vec<_> = keep.iter().filter(held).cloned().collect();
            let dropped = listed(keep.iter().filter(|name| !held(name)));
            if self.settings.env_keep.value.is_some() {
                self.settings.env_keep.set(Some(kept), Some(&place));
            }
            if !dropped.is_empty() {
                self.notice_about(&place, "env.keep", NoticeKind::Untrusted, dropped);
            }
        }
        for (name, decision) in &file.env.prefix {
            let key = format!("env.prefix.{name}");
            let place = file.place(&key);
            let current = self.prefix_decision(name);
            if *decision == RuleDecision::Allow || current.is_some_and(|now| *decision < now) {
                self.notice(&place, key, NoticeKind::Untrusted);
            } else {
                let mut setting = Setting::unwritten(*decision);
                setting.origin = Some(place);
                self.settings.env_prefix.insert(name.clone(), setting);
            }
        }
    }

    /// What is said so far about a variable, or about the variables that a pattern stands for: the strictest.
    fn prefix_decision(&self, name: &str) -> Option<RuleDecision> {
        let speaks = |pattern: &str| covers(pattern, name) || covers(name, pattern);
        self.settings
            .env_prefix
            .iter()
            .filter(|(pattern, _)| speaks(pattern))
            .map(|(_, setting)| setting.value)
            .max()
    }

    fn tighten_programs(&mut self, file: &PolicyFile) {
        for (name, pins) in &file.programs {
            let key = format!("programs.{name}");
            let place = file.place(&key);
            let mut looser = true;
            if let Some(current) = self.programs.get_mut(name) {
                let known = |path: &&String| current.value.paths.contains(path);
                let both: Vec<_> = pins.paths.iter().filter(known).cloned().collect();
                looser = both.len() < pins.paths.len() || both.is_empty();
                // No path at all would mean any system directory.
                if !both.is_empty() && both.len() < current.value.paths.len() {
                    let mut narrowed = current.value.clone();
                    narrowed.paths = both;
                    current.set(narrowed, Some(&place));
                }
            }
            if looser {
                self.notice(&place, key, NoticeKind::Untrusted);
            }
        }
    }
}

/// Keeps of the roots what both lists have; true if the new list has more than that.
fn keep_common(current: &mut Setting<Vec<String>>, roots: &[String], place: &Origin) -> bool {
    let both: Vec<_> = current
        .value
        .iter()
        .filter(|root| roots.contains(root))
        .cloned()
        .collect();
    let looser = both.len() < roots.len();
    if both.len() < current.value.len() {
        current.set(both, Some(place));
    }
    looser
}

/// Lowers a limit; true if it would have been raised.
fn tighten_limit<T: Copy + PartialOrd + From<u8>>(
    current: &mut Setting<T>,
    value: T,
    place: Option<&Origin>,
) -> bool {
    if lower(&value, &current.value) {
        current.set(value, place);
        return false;
    }
    value != current.value
}

/// Makes a default stricter; true if it would have become looser.
fn tighten_default(
    current: &mut Setting<Option<DefaultDecision>>,
    written: Option<DefaultDecision>,
    place: Option<&Origin>,
) -> bool {
    if written > current.value {
        current.set(written, place);
    }
    written.is_some() && written < current.value
}

/// Whether a pattern stands for everything that another name or pattern stands for.
fn covers(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => pattern == name,
    }
}
