//! From the files of all layers to one policy.

mod apply;
mod floor;
mod rules;
mod tighten;

use std::collections::{BTreeMap, HashMap, HashSet};

use palisade_policy::PathSpec;

use self::floor::FloorInForce;
use super::error::{PolicyErrors, PolicyFileError, Problem, RuleContradiction};
use super::include::{self, IncludeRequest};
use super::loaded::LoadedPolicy;
use super::model::{Case, Layer, OptionTable, Origin, PolicyFile, Preset, ProgramPins, Rule};
use super::notice::{Notice, NoticeKind};
use super::parse::{MAX_RULES, parse};
use super::settings::{Setting, Settings};
use super::source::Source;

/// What [`load`] has to know besides the files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadContext {
    includes: BTreeMap<(String, Origin), Vec<String>>,
}

impl LoadContext {
    /// Nothing is included.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// With the names of the sources that a request stands for. Each of them must be handed in, once.
    #[must_use]
    pub fn with_include(
        mut self,
        request: &IncludeRequest,
        names: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let key = (request.pattern.clone(), request.from.clone());
        let names = names.into_iter().map(Into::into).collect();
        self.includes.insert(key, names);
        self
    }

    pub(super) fn targets(&self, pattern: &str, from: &Origin) -> Option<&[String]> {
        let key = (pattern.to_owned(), from.clone());
        self.includes.get(&key).map(Vec::as_slice)
    }
}

/// Combines the files of all layers.
///
/// - Rules of all layers add up. Denied and read-only paths do, too.
/// - A setting of a later layer replaces that of an earlier one. A preset sets everything that it speaks about, before
///   the other settings of its file.
/// - Nothing goes below the system layer's `[floor]`: what would is cut down, and a [`Notice`] names both places.
/// - A project's file that is not trusted only tightens: what would loosen something is left out, with a notice.
///
/// Examples and cases are not looked at here: a matcher verifies them.
///
/// # Errors
/// An include that leads nowhere, too far or in a circle; an id that two rules of a layer have; too many rules.
pub fn load(
    files: impl IntoIterator<Item = PolicyFile>,
    context: &LoadContext,
) -> Result<LoadedPolicy, PolicyErrors> {
    let files: Vec<_> = files.into_iter().collect();
    let order = include::order(&files, context)?;
    check_rules(&files)?;
    let floor = FloorInForce::of(&files);
    let mut loader = Loader::new(floor, order.notices);
    let mut files: Vec<_> = files.into_iter().map(Some).collect();
    let mut rules = Vec::new();
    for index in order.files {
        let Some(mut file) = files.get_mut(index).and_then(Option::take) else {
            continue;
        };
        let own = std::mem::take(&mut file.rules);
        loader.sources.push((file.layer, file.source.clone()));
        if file.only_tightens() {
            loader.tighten(&file);
            rules.push((true, own));
        } else {
            loader.apply(file);
            rules.push((false, own));
        }
    }
    Ok(loader.finish(rules))
}

/// Reads and combines sources that include nothing.
///
/// # Errors
/// Everything that is wrong with any of them.
pub fn load_sources<'t>(
    sources: impl IntoIterator<Item = Source<'t>>,
) -> Result<LoadedPolicy, PolicyErrors> {
    let (mut files, mut errors) = (Vec::new(), Vec::new());
    for source in sources {
        match parse(&source) {
            Ok(file) => files.push(file),
            Err(error) => errors.push(error),
        }
    }
    match PolicyErrors::merged(errors) {
        Some(errors) => Err(errors),
        None => load(files, &LoadContext::new()),
    }
}

/// Refuses an id that two rules of a layer have, and more rules than anybody needs.
fn check_rules(files: &[PolicyFile]) -> Result<(), PolicyErrors> {
    let count = files.iter().map(|file| file.rules.len()).sum();
    if let (true, Some(file)) = (count > MAX_RULES, files.first()) {
        let place = Origin::new(file.layer, file.source.clone(), 1, 1);
        let problem = Problem::TooMany {
            what: "rules in all files",
            count,
            max: MAX_RULES,
        };
        return Err(PolicyFileError::new(place, "rule", problem).into());
    }
    let mut ids: HashMap<(Layer, &str), &Origin> = HashMap::with_capacity(count);
    let mut errors = Vec::new();
    for file in files {
        for rule in &file.rules {
            if let Some(first) = ids.insert((file.layer, &rule.id), &rule.origin) {
                let first = first.clone();
                let problem = RuleContradiction::DuplicateId { first };
                let error = PolicyFileError::new(rule.origin.clone(), "rule.id", problem.into());
                errors.push(error.with_value(Some(rule.id.escape_debug().to_string())));
            }
        }
    }
    match errors.is_empty() {
        true => Ok(()),
        false => Err(PolicyErrors::new(errors)),
    }
}

/// A policy in the making.
struct Loader {
    settings: Settings,
    programs: BTreeMap<String, Setting<ProgramPins>>,
    options: BTreeMap<String, OptionTable>,
    cases: Vec<Case>,
    floor: FloorInForce,
    notices: Vec<Notice>,
    sources: Vec<(Layer, String)>,
    denied: HashSet<PathSpec>,
    guarded: HashSet<PathSpec>,
}

impl Loader {
    fn new(floor: FloorInForce, notices: Vec<Notice>) -> Self {
        let (preset, floored) = floor.clamp(Preset::default());
        let mut settings = Settings::of(preset);
        settings.preset.origin = floored.cloned();
        Self {
            settings,
            programs: BTreeMap::new(),
            options: BTreeMap::new(),
            cases: Vec::new(),
            floor,
            notices,
            sources: Vec::new(),
            denied: HashSet::new(),
            guarded: HashSet::new(),
        }
    }

    fn notice(&mut self, origin: &Origin, key: impl Into<String>, kind: NoticeKind) {
        self.notices.push(Notice::new(origin, key, kind));
    }

    fn notice_about(&mut self, origin: &Origin, key: &str, kind: NoticeKind, detail: String) {
        self.notices
            .push(Notice::new(origin, key, kind).about(detail));
    }

    /// Paths that a file guards join those of the layers before it.
    fn add_guards(&mut self, file: &PolicyFile) {
        let place = file.places.get("filesystem.deny");
        for spec in &file.filesystem.deny {
            if self.denied.insert(spec.clone()) {
                let mut setting = Setting::unwritten(spec.clone());
                setting.origin = place.cloned();
                self.settings.deny.push(setting);
            }
        }
        let place = file.places.get("filesystem.read_only");
        for spec in &file.filesystem.read_only {
            if self.guarded.insert(spec.clone()) {
                let mut setting = Setting::unwritten(spec.clone());
                setting.origin = place.cloned();
                self.settings.read_only.push(setting);
            }
        }
    }

    fn finish(mut self, files: Vec<(bool, Vec<Rule>)>) -> LoadedPolicy {
        let mut rules = Vec::new();
        for (untrusted, own) in files {
            if untrusted || !self.floor.is_empty() {
                let judged = own
                    .into_iter()
                    .filter_map(|rule| self.rule(rule, untrusted));
                rules.extend(judged);
            } else if rules.is_empty() {
                rules = own;
            } else {
                rules.extend(own);
            }
        }
        self.tell_ids_apart(&mut rules);
        if !self.settings.confined() {
            self.say_what_has_no_effect();
        }
        let parts = super::loaded::Parts {
            cases: self.cases,
            programs: self.programs,
            options: self.options,
            settings: self.settings,
            floor: self.floor.floor,
            floor_places: self.floor.places,
            notices: self.notices,
            sources: self.sources,
        };
        LoadedPolicy::new(rules, parts)
    }

    /// An id that an earlier layer has gets the name of its own layer in front: a stored approval names one rule, and a
    /// later layer must not be able to answer for an earlier one.
    fn tell_ids_apart(&mut self, rules: &mut [Rule]) {
        let mut first: HashMap<&str, Layer> = HashMap::with_capacity(rules.len());
        let mut taken = Vec::new();
        for (index, rule) in rules.iter().enumerate() {
            let layer = *first.entry(&rule.id).or_insert(rule.origin.layer);
            if layer != rule.origin.layer {
                taken.push(index);
            }
        }
        for index in taken {
            if let Some(rule) = rules.get_mut(index) {
                let id = format!("{}/{}", rule.origin.layer.name(), rule.id);
                let key = format!("rule `{}`", rule.id);
                let kind = NoticeKind::Renamed { id: id.clone() };
                self.notice(&rule.origin, key, kind);
                rule.id = id;
            }
        }
    }

    fn say_what_has_no_effect(&mut self) {
        let settings = &self.settings;
        let limits = &settings.limits;
        let written = [
            ("filesystem.write", settings.write.origin.as_ref()),
            ("filesystem.git", settings.git.origin.as_ref()),
            ("filesystem.protected", settings.protected.origin.as_ref()),
            ("network", settings.network.origin.as_ref()),
            ("limits.wall", limits.wall_secs.origin.as_ref()),
            ("limits.cpu", limits.cpu_secs.origin.as_ref()),
            ("limits.memory", limits.memory_mb.origin.as_ref()),
            ("limits.disk", limits.disk_mb.origin.as_ref()),
            ("limits.procs", limits.procs.origin.as_ref()),
        ];
        let guards = [
            ("filesystem.deny", settings.deny.first()),
            ("filesystem.read_only", settings.read_only.first()),
        ];
        let guards = guards
            .into_iter()
            .map(|(key, guard)| (key, guard.and_then(|guard| guard.origin.as_ref())));
        let notices: Vec<_> = written
            .into_iter()
            .chain(guards)
            .filter_map(|(key, origin)| Some((key, origin?)))
            .filter(|(_, origin)| Some(*origin) != settings.preset.origin.as_ref())
            .map(|(key, origin)| Notice::new(origin, key, NoticeKind::NothingConfined))
            .collect();
        self.notices.extend(notices);
    }
}
