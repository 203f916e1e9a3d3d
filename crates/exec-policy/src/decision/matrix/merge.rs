//! Merging cases into rows: sets of values for each input that lead to the same outcome.

use std::collections::BTreeMap;

use palisade_policy::{NetworkAccess, SandboxMode};

use super::cases::{Case, Request, Values, VerdictKind, approvals, cases};
use super::outcome::Outcome;
use crate::decision::containment::SandboxablePreference;
use crate::decision::risk::Risk;

/// How many inputs a case has.
const INPUTS: usize = 8;

/// For each input a set of its values, one bit for each, in the order of the columns.
type Sets = [u32; INPUTS];

/// The order in which inputs are merged. Any order gives a correct table; this one gives a short one.
const ORDER: [usize; INPUTS] = [7, 5, 0, 4, 3, 1, 2, 6];

/// A row of the table: every case whose inputs are all in the row's sets has this outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    sets: Sets,
    outcome: Outcome,
}

/// The rows that all cases merge into. They cover every case, and each case once.
#[must_use]
pub fn rows() -> Vec<Row> {
    let cells = cases().map(|case| (sets_of(&case), Outcome::of(&case.decide())));
    let merged = merge(cells.collect(), ORDER).into_iter();
    merged
        .map(|(sets, outcome)| Row { sets, outcome })
        .collect()
}

/// Joins boxes that have the same outcome and differ in one input alone, until there are none left.
///
/// Boxes that were disjoint stay disjoint, and what they cover stays covered.
pub(super) fn merge<const N: usize, O: Clone + Ord>(
    mut boxes: Vec<([u32; N], O)>,
    order: [usize; N],
) -> Vec<([u32; N], O)> {
    loop {
        let before = boxes.len();
        for input in order {
            boxes = merge_input(boxes, input);
        }
        if boxes.len() == before {
            boxes.sort_unstable();
            return boxes;
        }
    }
}

fn merge_input<const N: usize, O: Clone + Ord>(
    boxes: Vec<([u32; N], O)>,
    input: usize,
) -> Vec<([u32; N], O)> {
    let mut groups: BTreeMap<([u32; N], O), u32> = BTreeMap::new();
    for (mut sets, outcome) in boxes {
        let values = sets.get_mut(input).map(std::mem::take).unwrap_or_default();
        *groups.entry((sets, outcome)).or_default() |= values;
    }
    let joined = groups.into_iter().map(|((mut sets, outcome), values)| {
        if let Some(set) = sets.get_mut(input) {
            *set = values;
        }
        (sets, outcome)
    });
    joined.collect()
}

/// The sets that hold this case alone.
fn sets_of(case: &Case) -> Sets {
    [
        bit(VerdictKind::ALL, case.verdict),
        bit(SandboxablePreference::ALL, case.preference),
        bit([true, false], case.backend_works),
        bit(SandboxMode::ALL, case.mode),
        bit(Request::ALL, case.request),
        bit(Risk::ALL, case.risk),
        bit(approvals(), case.approval),
        bit(NetworkAccess::ALL, case.network),
    ]
}

pub(super) fn bit<T: PartialEq>(values: impl IntoIterator<Item = T>, value: T) -> u32 {
    let position = values.into_iter().position(|candidate| candidate == value);
    position.map_or(0, |position| 1 << position)
}

pub(super) fn members<T>(values: impl IntoIterator<Item = T>, set: u32) -> Vec<T> {
    let numbered = values.into_iter().enumerate();
    let members = numbered.filter(|(position, _)| set & (1 << position) != 0);
    members.map(|(_, value)| value).collect()
}

impl Row {
    /// What every case of this row comes to.
    #[must_use]
    pub const fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// The cases that belong to the row.
    pub fn cases(&self) -> impl Iterator<Item = Case> {
        self.values().combinations()
    }

    /// What the row holds of each input.
    pub(super) fn values(&self) -> Values {
        let [
            verdicts,
            preferences,
            backends,
            modes,
            requests,
            risks,
            approval,
            networks,
        ] = self.sets;
        Values {
            verdicts: members(VerdictKind::ALL, verdicts),
            preferences: members(SandboxablePreference::ALL, preferences),
            backends: members([true, false], backends),
            modes: members(SandboxMode::ALL, modes),
            requests: members(Request::ALL, requests),
            risks: members(Risk::ALL, risks),
            approvals: members(approvals(), approval),
            networks: members(NetworkAccess::ALL, networks),
        }
    }
}
