//! A file that somebody with a say wrote: what it sets replaces what was set before it.

use palisade_policy::GitAccess;

use super::super::model::{DefaultDecision, LimitsSpec, Origin, PolicyFile, Preset};
use super::super::notice::NoticeKind;
use super::super::settings::{NetworkSetting, Setting, preset_network, preset_roots};
use super::Loader;

impl Loader {
    pub(super) fn apply(&mut self, mut file: PolicyFile) {
        if let Some(preset) = file.preset {
            self.apply_preset(preset, &file.place("preset"));
        }
        self.apply_filesystem(&file);
        self.apply_network(&file);
        for secret in &file.network.inject {
            let mut setting = Setting::unwritten(secret.clone());
            setting.origin = file.places.get("network.inject").cloned();
            self.settings.inject.push(setting);
        }
        if let Some(limits) = &file.limits {
            self.apply_limits(limits, &file);
        }
        self.apply_defaults(&file);
        if let Some(keep) = file.env.keep.take() {
            let place = file.places.get("env.keep");
            self.settings.env_keep.set(Some(keep), place);
        }
        for (name, decision) in &file.env.prefix {
            let mut setting = Setting::unwritten(*decision);
            setting.origin = file.places.get(&format!("env.prefix.{name}")).cloned();
            self.settings.env_prefix.insert(name.clone(), setting);
        }
        for (name, pins) in std::mem::take(&mut file.programs) {
            let mut setting = Setting::unwritten(pins);
            setting.origin = file.places.get(&format!("programs.{name}")).cloned();
            self.programs.insert(name, setting);
        }
        self.options.extend(std::mem::take(&mut file.options));
        self.cases.append(&mut file.cases);
    }

    fn apply_preset(&mut self, written: Preset, place: &Origin) {
        let (preset, floor) = self.floor.clamp(written);
        let floor = floor.cloned();
        let data = preset.settings();
        let origin = Some(floor.as_ref().unwrap_or(place));
        self.settings.preset.set(preset, origin);
        self.settings.write.set(preset_roots(preset), origin);
        self.settings.git.set(data.git, origin);
        self.settings.network.set(preset_network(preset), origin);
        let limits = &mut self.settings.limits;
        limits.wall_secs.set(data.limits.timeout_secs, origin);
        limits.cpu_secs.set(data.limits.cpu_time_secs, origin);
        limits.memory_mb.set(data.limits.max_memory_mb, origin);
        limits.disk_mb.set(data.limits.max_disk_mb, origin);
        limits.procs.set(data.limits.max_pids, origin);
        self.settings.ask.set(data.ask, origin);
        if let Some(floor) = floor {
            let detail = format!("`{}`", written.name());
            self.notice_about(place, "preset", NoticeKind::BelowFloor { floor }, detail);
        }
    }

    fn apply_filesystem(&mut self, file: &PolicyFile) {
        let read_only = self.floor.read_only().cloned();
        if let Some(roots) = &file.filesystem.write {
            let place = file.place("filesystem.write");
            match &read_only {
                Some(floor) if !roots.is_empty() => {
                    let floor = floor.clone();
                    self.notice(&place, "filesystem.write", NoticeKind::BelowFloor { floor });
                }
                _ => self.settings.write.set(roots.clone(), Some(&place)),
            }
        }
        if let Some(git) = file.filesystem.git {
            let place = file.place("filesystem.git");
            match read_only {
                Some(floor) if git != GitAccess::ReadOnly => {
                    self.notice(&place, "filesystem.git", NoticeKind::BelowFloor { floor });
                }
                _ => self.settings.git.set(git, Some(&place)),
            }
        }
        if let Some(protected) = &file.filesystem.protected {
            let place = file.place("filesystem.protected");
            self.settings.protected.set(protected.clone(), Some(&place));
        }
        self.add_guards(file);
    }

    fn apply_network(&mut self, file: &PolicyFile) {
        let Some((network, key)) = written_network(file) else {
            return;
        };
        let place = file.place(key);
        let (cut, floor) = self.floor.cut(file.layer, &network);
        let floor = floor.cloned();
        if let Some(floor) = floor {
            let kind = NoticeKind::BelowFloor { floor };
            self.notice_about(&place, key, kind, network.beyond(&cut));
        }
        self.settings.network.set(cut, Some(&place));
    }

    fn apply_limits(&mut self, written: &LimitsSpec, file: &PolicyFile) {
        let limits = &mut self.settings.limits;
        let place = |key: &str| file.places.get(&format!("limits.{key}"));
        if let Some(wall) = written.wall_secs {
            limits.wall_secs.set(wall, place("wall"));
        }
        if let Some(cpu) = written.cpu_secs {
            limits.cpu_secs.set(cpu, place("cpu"));
        }
        if let Some(memory) = written.memory_mb {
            limits.memory_mb.set(memory, place("memory"));
        }
        if let Some(disk) = written.disk_mb {
            limits.disk_mb.set(disk, place("disk"));
        }
        if let Some(procs) = written.procs {
            limits.procs.set(procs, place("procs"));
        }
    }

    fn apply_defaults(&mut self, file: &PolicyFile) {
        let set = |setting: &mut Setting<Option<DefaultDecision>>, value, key| {
            if let Some(value) = value {
                setting.set(Some(value), file.places.get(key));
            }
        };
        let defaults = &file.defaults;
        let settings = &mut self.settings;
        set(
            &mut settings.unmatched,
            defaults.unmatched,
            "defaults.unmatched",
        );
        set(&mut settings.opaque, defaults.opaque, "defaults.opaque");
        set(&mut settings.danger, defaults.danger, "defaults.danger");
        if let Some(ask) = defaults.ask {
            settings.ask.set(ask, file.places.get("defaults.ask"));
        }
    }
}

/// The network that a file asks for, and the key that says so.
pub(super) fn written_network(file: &PolicyFile) -> Option<(NetworkSetting, &'static str)> {
    match (&file.network.allow, file.network.full) {
        (_, Some(true)) => Some((NetworkSetting::Full, "network.access")),
        (Some(hosts), _) => Some((NetworkSetting::only(hosts.clone()), "network.allow")),
        (None, Some(false)) => Some((NetworkSetting::Off, "network.access")),
        (None, None) => None,
    }
}
