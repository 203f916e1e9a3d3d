//! The floor: what the system layer lets nobody loosen.

use std::collections::BTreeMap;

use super::super::model::{Floor, Layer, Origin, PolicyFile, Preset};
use super::super::settings::NetworkSetting;

/// The floors of all system files together, with the place of each part.
pub(super) struct FloorInForce {
    pub(super) floor: Floor,
    pub(super) places: BTreeMap<String, Origin>,
    /// What the system layer itself opens.
    pub(super) network: NetworkSetting,
}

impl FloorInForce {
    pub(super) fn of(files: &[PolicyFile]) -> Self {
        let mut all = Self {
            floor: Floor::default(),
            places: BTreeMap::new(),
            network: NetworkSetting::Off,
        };
        for file in files.iter().filter(|file| file.layer == Layer::System) {
            match (&file.network.allow, file.network.full) {
                (_, Some(true)) => all.network = NetworkSetting::Full,
                (Some(hosts), _) => all.network = NetworkSetting::only(hosts.clone()),
                (None, Some(false)) => all.network = NetworkSetting::Off,
                (None, None) => {}
            }
            let Some(floor) = &file.floor else {
                continue;
            };
            let sooner = |preset: Preset| {
                let current = all.floor.preset.map(Preset::openness);
                current.is_none_or(|current| preset.openness() < current)
            };
            if let Some(preset) = floor.preset.filter(|preset| sooner(*preset)) {
                all.floor.preset = Some(preset);
                all.note(file, "preset");
            }
            if floor.no_unsandboxed && !all.floor.no_unsandboxed {
                all.floor.no_unsandboxed = true;
                all.note(file, "no-unsandboxed");
            }
            if floor.no_accepted_losses && !all.floor.no_accepted_losses {
                all.floor.no_accepted_losses = true;
                all.note(file, "no-accepted-losses");
            }
            if floor.no_network && !all.floor.no_network {
                all.floor.no_network = true;
                all.note(file, "no-network");
            }
        }
        all
    }

    fn note(&mut self, file: &PolicyFile, key: &str) {
        let place = file.place(&format!("floor.{key}"));
        self.places.insert(key.to_owned(), place);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.floor == Floor::default()
    }

    /// Where a part of the floor stands, if it is in force.
    pub(super) fn place(&self, key: &str) -> Option<&Origin> {
        self.places.get(key)
    }

    /// The preset itself, or the most open one that may be picked and the place that says so.
    pub(super) fn clamp(&self, preset: Preset) -> (Preset, Option<&Origin>) {
        if let (Some(most), Some(place)) = (self.floor.preset, self.place("preset"))
            && preset.openness() > most.openness()
        {
            return (most, Some(place));
        }
        // Without a sandbox nobody keeps a promise about leaving it, or about its network.
        let sandboxed = self.place("no-unsandboxed").or(self.place("no-network"));
        match sandboxed {
            Some(place) if !preset.settings().confined => (Preset::Workspace, Some(place)),
            _ => (preset, None),
        }
    }

    /// Where the floor says that nothing may be written.
    pub(super) fn read_only(&self) -> Option<&Origin> {
        match self.floor.preset {
            Some(Preset::ReadOnly) => self.place("preset"),
            _ => None,
        }
    }

    /// What is left of a network that a layer asks for, and the place that cuts it.
    pub(super) fn cut(
        &self,
        layer: Layer,
        network: &NetworkSetting,
    ) -> (NetworkSetting, Option<&Origin>) {
        let Some(place) = self.place("no-network").filter(|_| layer != Layer::System) else {
            return (network.clone(), None);
        };
        let cut = network.and(&self.network);
        let place = (cut != *network).then_some(place);
        (cut, place)
    }
}
