//! The policy in force, with the origin of everything in it.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use palisade_policy::{NetworkAccess, SandboxMode, SandboxPolicy};

use super::model::{
    Case, Defaults, EnvRules, Floor, Layer, OptionTable, Origin, ProgramPins, Rule,
};
use super::notice::Notice;
use super::settings::{NetworkSetting, Setting, Settings};
use crate::decision::AskForApproval;
use crate::matching::builtin;

/// What all layers say together. [`load`](super::load()) makes it; nothing changes it afterwards.
#[derive(Clone, Debug)]
pub struct LoadedPolicy {
    /// Empty as long as they are the built-in ones and nobody has asked for them.
    rules: OnceLock<Vec<Rule>>,
    parts: Parts,
    pins: BTreeMap<String, ProgramPins>,
    env: EnvRules,
    defaults: Defaults,
}

impl PartialEq for LoadedPolicy {
    fn eq(&self, other: &Self) -> bool {
        // Everything else is made of these.
        self.parts == other.parts && self.rules() == other.rules()
    }
}

impl Eq for LoadedPolicy {}

/// What a policy is made of, but for its rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    pub(super) cases: Vec<Case>,
    pub(super) programs: BTreeMap<String, Setting<ProgramPins>>,
    pub(super) options: BTreeMap<String, OptionTable>,
    pub(super) settings: Settings,
    pub(super) floor: Floor,
    pub(super) floor_places: BTreeMap<String, Origin>,
    pub(super) notices: Vec<Notice>,
    pub(super) sources: Vec<(Layer, String)>,
}

impl LoadedPolicy {
    pub(super) fn new(rules: Vec<Rule>, parts: Parts) -> Self {
        let settings = &parts.settings;
        let value = |(name, setting): (&String, &Setting<ProgramPins>)| {
            (name.clone(), setting.value.clone())
        };
        Self {
            rules: OnceLock::from(rules),
            pins: parts.programs.iter().map(value).collect(),
            env: EnvRules {
                keep: settings.env_keep.value.clone(),
                prefix: settings
                    .env_prefix
                    .iter()
                    .map(|(name, setting)| (name.clone(), setting.value))
                    .collect(),
            },
            defaults: Defaults {
                unmatched: settings.unmatched.value,
                opaque: settings.opaque.value,
                danger: settings.danger.value,
                ask: Some(settings.ask.value),
            },
            parts,
        }
    }

    /// The rules of all layers, earlier layers first. All that match apply, and the strictest wins.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        self.rules.get_or_init(builtin::rules)
    }

    /// The same policy, which has no rules, with the built-in ones. They are read when somebody asks for them.
    pub(crate) fn with_builtin_rules(self) -> Self {
        Self {
            rules: OnceLock::new(),
            ..self
        }
    }

    /// The rules of all layers but the built-in one.
    pub(crate) fn authored_rules(&self) -> &[Rule] {
        let mut rules = self.rules.get().map_or(&[][..], Vec::as_slice);
        while let [first, rest @ ..] = rules
            && first.origin.layer == Layer::BuiltIn
        {
            rules = rest;
        }
        rules
    }

    /// The rules themselves, for whoever needs nothing else.
    #[must_use]
    pub fn into_rules(self) -> Vec<Rule> {
        self.rules.into_inner().unwrap_or_else(builtin::rules)
    }

    /// The cases of all layers.
    #[must_use]
    pub fn cases(&self) -> &[Case] {
        &self.parts.cases
    }

    /// What bare names may resolve to.
    #[must_use]
    pub fn programs(&self) -> &BTreeMap<String, ProgramPins> {
        &self.pins
    }

    /// Where the pins of a program stand.
    #[must_use]
    pub fn program_origin(&self, name: &str) -> Option<&Origin> {
        self.parts.programs.get(name)?.origin.as_ref()
    }

    /// Options of programs that the built-in tables do not know, by program and subcommand.
    #[must_use]
    pub fn options(&self) -> &BTreeMap<String, OptionTable> {
        &self.parts.options
    }

    /// What holds for variables.
    #[must_use]
    pub fn env(&self) -> &EnvRules {
        &self.env
    }

    /// What happens where no rule speaks. `ask` is always there.
    #[must_use]
    pub fn defaults(&self) -> &Defaults {
        &self.defaults
    }

    /// When a person is asked.
    #[must_use]
    pub fn approval(&self) -> AskForApproval {
        self.parts.settings.ask.value
    }

    /// Every setting, with the place that set it.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.parts.settings
    }

    /// What no layer may loosen.
    #[must_use]
    pub fn floor(&self) -> &Floor {
        &self.parts.floor
    }

    /// Where a part of the floor stands, by its key.
    #[must_use]
    pub fn floor_origin(&self, key: &str) -> Option<&Origin> {
        self.parts.floor_places.get(key)
    }

    /// What authors wrote that is not in force, and why.
    #[must_use]
    pub fn notices(&self) -> &[Notice] {
        &self.parts.notices
    }

    /// The sources that the policy comes from, in the order in which they apply.
    pub fn sources(&self) -> impl Iterator<Item = (Layer, &str)> {
        self.parts
            .sources
            .iter()
            .map(|(layer, name)| (*layer, name.as_str()))
    }

    /// The policy as the two choices that a decision asks about.
    #[must_use]
    pub fn sandbox_policy(&self) -> SandboxPolicy {
        let settings = &self.parts.settings;
        let mode = match (settings.confined(), settings.write.value.is_empty()) {
            (false, _) => SandboxMode::DangerFullAccess,
            (true, true) => SandboxMode::ReadOnly,
            (true, false) => SandboxMode::WorkspaceWrite,
        };
        let network = match settings.network.value {
            _ if !settings.confined() => NetworkAccess::Full,
            NetworkSetting::Off => NetworkAccess::Restricted,
            NetworkSetting::Only(_) => NetworkAccess::Limited,
            NetworkSetting::Full => NetworkAccess::Full,
        };
        SandboxPolicy::new(mode, network)
    }
}
