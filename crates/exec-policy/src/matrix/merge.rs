//! Merging cases into rows: sets of values for each input that lead to the same outcome.

use std::collections::BTreeMap;

use palisade_policy::{NetworkAccess, SandboxMode};

use super::cases::{Case, Outcome, Request, VerdictKind, approvals, cases};
use crate::approval::AskForApproval;
use crate::containment::SandboxablePreference;
use crate::risk::Risk;

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

    /// Whether this case belongs to the row.
    #[must_use]
    pub fn covers(&self, case: &Case) -> bool {
        let mut pairs = self.sets.iter().zip(sets_of(case));
        pairs.all(|(set, value)| set & value != 0)
    }

    /// How many cases belong to the row.
    #[must_use]
    pub fn cases(&self) -> u32 {
        self.sets.iter().map(|set| set.count_ones()).product()
    }

    pub(super) fn verdicts(&self) -> Vec<VerdictKind> {
        let [set, ..] = self.sets;
        members(VerdictKind::ALL, set)
    }

    pub(super) fn preferences(&self) -> Vec<SandboxablePreference> {
        let [_, set, ..] = self.sets;
        members(SandboxablePreference::ALL, set)
    }

    pub(super) fn backends(&self) -> Vec<bool> {
        let [_, _, set, ..] = self.sets;
        members([true, false], set)
    }

    pub(super) fn modes(&self) -> Vec<SandboxMode> {
        let [_, _, _, set, ..] = self.sets;
        members(SandboxMode::ALL, set)
    }

    pub(super) fn requests(&self) -> Vec<Request> {
        let [.., set, _, _, _] = self.sets;
        members(Request::ALL, set)
    }

    pub(super) fn risks(&self) -> Vec<Risk> {
        let [.., set, _, _] = self.sets;
        members(Risk::ALL, set)
    }

    pub(super) fn approvals(&self) -> Vec<AskForApproval> {
        let [.., set, _] = self.sets;
        members(approvals(), set)
    }

    pub(super) fn networks(&self) -> Vec<NetworkAccess> {
        let [.., set] = self.sets;
        members(NetworkAccess::ALL, set)
    }
}
