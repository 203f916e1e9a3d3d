//! Includes: what a file asks for, and whether what the caller found for it can be used.
//!
//! The caller reads: it expands each [`IncludeRequest`] to the sources it stands for, hands every source in once, and
//! tells [`LoadContext`](super::LoadContext) which request stands for which. Nothing here looks for files.

use std::collections::{HashMap, HashSet};

use super::error::{IncludeProblem, PolicyErrors, PolicyFileError, Problem};
use super::load::LoadContext;
use super::model::{Layer, Origin, PolicyFile};
use super::notice::{Notice, NoticeKind};

/// How many files may stand between a command and a rule.
pub const MAX_INCLUDE_DEPTH: usize = 8;

/// One entry of `include`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct IncludeRequest {
    /// As written: a path or pattern, relative to the file that it stands in.
    pub pattern: String,
    /// Where it stands.
    pub from: Origin,
}

impl IncludeRequest {
    /// Whether it can stand for any number of files.
    #[must_use]
    pub fn is_pattern(&self) -> bool {
        self.pattern.contains(['*', '?', '['])
    }
}

/// What a file asks for.
#[must_use]
pub fn includes(file: &PolicyFile) -> Vec<IncludeRequest> {
    let request = |(pattern, from): &(String, Origin)| IncludeRequest {
        pattern: pattern.clone(),
        from: from.clone(),
    };
    file.include.iter().map(request).collect()
}

/// The files in the order in which they apply: by layer, and what is included before what includes it.
pub(super) struct Order {
    /// Which files, by their index.
    pub(super) files: Vec<usize>,
    pub(super) notices: Vec<Notice>,
}

pub(super) fn order(files: &[PolicyFile], context: &LoadContext) -> Result<Order, PolicyErrors> {
    let mut graph = Graph {
        files,
        targets: vec![Vec::new(); files.len()],
        ignored: HashSet::new(),
        errors: Vec::new(),
        notices: Vec::new(),
    };
    graph.connect(context);
    let mut walk = Walk {
        graph: &graph,
        state: vec![State::New; files.len()],
        order: Vec::with_capacity(files.len()),
        path: Vec::new(),
        error: None,
    };
    let mut by_layer: Vec<usize> = (0..files.len()).collect();
    by_layer.sort_by_key(|index| files.get(*index).map(|file| file.layer));
    for index in by_layer {
        walk.visit(index, None);
    }
    let (order, error) = (walk.order, walk.error);
    let mut errors = graph.errors;
    errors.extend(error);
    if !errors.is_empty() {
        return Err(PolicyErrors::new(errors));
    }
    let mut order: Vec<_> = order
        .into_iter()
        .filter(|index| !graph.ignored.contains(index))
        .collect();
    order.sort_by_key(|index| files.get(*index).map(|file| file.layer));
    Ok(Order {
        files: order,
        notices: graph.notices,
    })
}

struct Graph<'f> {
    files: &'f [PolicyFile],
    /// What each file includes, with the place of the include.
    targets: Vec<Vec<(usize, &'f Origin)>>,
    /// What only an untrusted project asked for.
    ignored: HashSet<usize>,
    errors: Vec<PolicyFileError>,
    notices: Vec<Notice>,
}

impl<'f> Graph<'f> {
    fn connect(&mut self, context: &LoadContext) {
        let mut by_name: HashMap<(Layer, &str), usize> = HashMap::new();
        for (index, file) in self.files.iter().enumerate() {
            if by_name.insert((file.layer, &file.source), index).is_some() {
                let place = Origin::new(file.layer, file.source.clone(), 1, 1);
                let problem = Problem::Repeated(file.source.clone());
                self.errors.push(PolicyFileError::new(place, "", problem));
            }
        }
        let files = self.files;
        let mut wanted = HashSet::new();
        for (index, file) in files.iter().enumerate() {
            for (pattern, from) in &file.include {
                let found = context.targets(pattern, from);
                if file.only_tightens() {
                    let named = found.into_iter().flatten();
                    let named = named.filter_map(|name| by_name.get(&(file.layer, name.as_str())));
                    self.ignored.extend(named);
                    let notice = Notice::new(from, "include", NoticeKind::Untrusted);
                    self.notices.push(notice.about(format!("`{pattern}`")));
                    continue;
                }
                let targets = self.resolve(file, pattern, from, found, &by_name);
                wanted.extend(targets.iter().copied());
                if let Some(list) = self.targets.get_mut(index) {
                    list.extend(targets.into_iter().map(|target| (target, from)));
                }
            }
        }
        self.ignored.retain(|index| !wanted.contains(index));
    }

    fn resolve(
        &mut self,
        file: &PolicyFile,
        pattern: &str,
        from: &Origin,
        found: Option<&[String]>,
        by_name: &HashMap<(Layer, &str), usize>,
    ) -> Vec<usize> {
        let glob = pattern.contains(['*', '?', '[']);
        let names = match found {
            Some([]) if glob => {
                let notice = Notice::new(from, "include", NoticeKind::NothingFound);
                self.notices.push(notice.about(format!("`{pattern}`")));
                return Vec::new();
            }
            None | Some([]) => {
                self.fail(from, pattern, IncludeProblem::Missing);
                return Vec::new();
            }
            Some(names) => names,
        };
        let mut targets = Vec::new();
        for name in names {
            if let Some(target) = by_name.get(&(file.layer, name.as_str())) {
                targets.push(*target);
            } else if self.files.iter().any(|other| other.source == *name) {
                self.fail(from, pattern, IncludeProblem::OtherLayer(name.clone()));
            } else {
                self.fail(from, pattern, IncludeProblem::NotHandedIn(name.clone()));
            }
        }
        targets
    }

    fn fail(&mut self, from: &Origin, pattern: &str, problem: IncludeProblem) {
        let error = PolicyFileError::new(from.clone(), "include", problem.into());
        let shown = pattern.escape_debug().to_string();
        self.errors.push(error.with_value(Some(shown)));
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Open,
    Done,
}

struct Walk<'g, 'f> {
    graph: &'g Graph<'f>,
    state: Vec<State>,
    order: Vec<usize>,
    path: Vec<usize>,
    error: Option<PolicyFileError>,
}

impl Walk<'_, '_> {
    fn visit(&mut self, index: usize, from: Option<&Origin>) {
        let state = self.state.get(index).copied().unwrap_or(State::Done);
        if self.error.is_some() || state == State::Done {
            return;
        }
        let problem = if state == State::Open {
            Some(self.cycle(index))
        } else if self.path.len() > MAX_INCLUDE_DEPTH {
            Some(IncludeProblem::TooDeep(MAX_INCLUDE_DEPTH))
        } else {
            None
        };
        if let (Some(problem), Some(from)) = (problem, from) {
            let error = PolicyFileError::new(from.clone(), "include", problem.into());
            self.error = Some(error);
            return;
        }
        self.mark(index, State::Open);
        self.path.push(index);
        let graph = self.graph;
        for (target, from) in graph.targets.get(index).into_iter().flatten() {
            self.visit(*target, Some(from));
        }
        self.path.pop();
        self.mark(index, State::Done);
        self.order.push(index);
    }

    fn mark(&mut self, index: usize, state: State) {
        if let Some(slot) = self.state.get_mut(index) {
            *slot = state;
        }
    }

    fn cycle(&self, index: usize) -> IncludeProblem {
        let circle = self.path.iter().skip_while(|open| **open != index);
        let names = circle
            .chain([&index])
            .filter_map(|at| self.graph.files.get(*at));
        IncludeProblem::Cycle(names.map(|file| file.source.clone()).collect())
    }
}
