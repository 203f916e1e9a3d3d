//! Where the hunks of a file go, and what comes out. Context matches exactly or not at all; only line numbers may differ.

use super::apply::HunkPlace;
use super::error::ConflictProblem;
use super::model::{Hunk, Line, Side};
use super::parse::start_of;

/// How many bytes are compared while hunks of one file are looked for. Line numbers that are right cost nothing.
const SEARCH_BYTES: usize = 512 << 20;

/// What does not fit: which hunk, and why.
pub(super) type Misfit = (usize, ConflictProblem);

/// The new content, and where each hunk went.
pub(super) fn apply_hunks(
    content: &[u8],
    hunks: &[Hunk],
    source: &[u8],
) -> Result<(Vec<u8>, Vec<HunkPlace>), Misfit> {
    let lines: Vec<&[u8]> = content.split_inclusive(|byte| *byte == b'\n').collect();
    let mut result = Vec::with_capacity(content.len());
    let mut places = Vec::new();
    let mut budget = SEARCH_BYTES;
    // The lines before this one are in the result already.
    let mut taken = 0;
    let mut offset = 0_isize;
    for (index, hunk) in hunks.iter().enumerate() {
        let misfit = |problem| (index, problem);
        let old: Vec<&[u8]> = side(hunk, source, Side::Old).collect();
        let said = start_of(hunk);
        let expected = said.saturating_add_signed(offset);
        let at = find(&lines, taken, &old, expected, &mut budget).map_err(misfit)?;
        for line in lines.get(taken..at).unwrap_or_default() {
            push(&mut result, line).map_err(misfit)?;
        }
        for line in side(hunk, source, Side::New) {
            push(&mut result, line).map_err(misfit)?;
        }
        taken = at + old.len();
        offset = at.cast_signed().wrapping_sub(said.cast_signed());
        places.push(HunkPlace {
            line: at + 1,
            offset,
        });
    }
    for line in lines.get(taken..).unwrap_or_default() {
        push(&mut result, line).map_err(|problem| (hunks.len().saturating_sub(1), problem))?;
    }
    Ok((result, places))
}

fn side<'a>(hunk: &'a Hunk, source: &'a [u8], side: Side) -> impl Iterator<Item = &'a [u8]> {
    let wanted = move |line: &&Line| line.side == side || line.side == Side::Both;
    hunk.lines
        .iter()
        .filter(wanted)
        .map(|line| line.text(source))
}

fn push(result: &mut Vec<u8>, line: &[u8]) -> Result<(), ConflictProblem> {
    if result.last().is_some_and(|last| *last != b'\n') {
        return Err(ConflictProblem::JoinsLines);
    }
    result.extend_from_slice(line);
    Ok(())
}

/// The place of some lines that is nearest to where they should be, not before `from`.
fn find(
    lines: &[&[u8]],
    from: usize,
    wanted: &[&[u8]],
    expected: usize,
    budget: &mut usize,
) -> Result<usize, ConflictProblem> {
    if wanted.is_empty() {
        return match (from..=lines.len()).contains(&expected) {
            true => Ok(expected),
            false => Err(ConflictProblem::PastEnd),
        };
    }
    let end = expected.saturating_add(wanted.len());
    if expected >= from && lines.get(expected..end) == Some(wanted) {
        return Ok(expected);
    }
    let mut nearest: Option<(usize, usize)> = None;
    let mut tie = None;
    for at in occurrences(lines, from, wanted, budget)? {
        let distance = at.abs_diff(expected);
        match nearest {
            Some((_, best)) if distance > best => {}
            Some((_, best)) if distance == best => tie = Some(at),
            _ => (nearest, tie) = (Some((at, distance)), None),
        }
    }
    match (nearest, tie) {
        (None, _) => Err(ConflictProblem::NotFound),
        (Some((at, _)), None) => Ok(at),
        (Some((first, _)), Some(second)) => Err(ConflictProblem::Ambiguous {
            first: first + 1,
            second: second + 1,
        }),
    }
}

/// Every place of some lines, in time that grows with both lengths and not with their product (Knuth, Morris, Pratt).
fn occurrences(
    lines: &[&[u8]],
    from: usize,
    wanted: &[&[u8]],
    budget: &mut usize,
) -> Result<Vec<usize>, ConflictProblem> {
    let mut spend = |line: &[u8]| {
        *budget = budget
            .checked_sub(line.len() + 1)
            .ok_or(ConflictProblem::TooCostly)?;
        Ok(())
    };
    let same = |matched: usize, line: &[u8]| wanted.get(matched) == Some(&line);
    // For each number of matched lines, how many are still matched if the next one differs.
    let mut shorter = vec![0_usize];
    let fall_back = |shorter: &[usize], matched: usize| match matched.checked_sub(1) {
        Some(before) => shorter.get(before).copied().unwrap_or(0),
        None => 0,
    };
    let mut matched = 0;
    for line in wanted.iter().skip(1) {
        spend(line)?;
        while matched > 0 && !same(matched, line) {
            spend(line)?;
            matched = fall_back(&shorter, matched);
        }
        matched += usize::from(same(matched, line));
        shorter.push(matched);
    }
    let mut found = Vec::new();
    matched = 0;
    for (at, line) in lines.iter().enumerate().skip(from) {
        spend(line)?;
        while matched > 0 && !same(matched, line) {
            spend(line)?;
            matched = fall_back(&shorter, matched);
        }
        matched += usize::from(same(matched, line));
        if matched == wanted.len() {
            found.push(at + 1 - matched);
            matched = fall_back(&shorter, matched);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn slow(lines: &[&[u8]], from: usize, wanted: &[&[u8]]) -> Vec<usize> {
        (from..lines.len())
            .filter(|at| lines.get(*at..at + wanted.len()) == Some(wanted))
            .collect()
    }

    proptest! {
        #[test]
        fn every_place_is_found(
            text in proptest::collection::vec(0..2_usize, 0..40),
            wanted in proptest::collection::vec(0..2_usize, 1..6),
            from in 0..10_usize,
        ) {
            let names: [&[u8]; 2] = [b"a\n", b"bb\n"];
            let text: Vec<&[u8]> = text.iter().map(|i| names[*i]).collect();
            let wanted: Vec<&[u8]> = wanted.iter().map(|i| names[*i]).collect();
            let mut budget = SEARCH_BYTES;
            let found = occurrences(&text, from, &wanted, &mut budget).unwrap();
            prop_assert_eq!(found, slow(&text, from, &wanted));
        }
    }

    #[test]
    fn the_nearest_place_is_taken_and_two_equally_near_are_refused() {
        let lines: Vec<&[u8]> = vec![b"x\n", b"a\n", b"x\n", b"b\n", b"x\n"];
        let mut budget = SEARCH_BYTES;
        let mut find_x = |from, expected| find(&lines, from, &[b"x\n"], expected, &mut budget);
        assert_eq!(find_x(0, 2), Ok(2));
        assert_eq!(find_x(0, 9), Ok(4));
        let tie = ConflictProblem::Ambiguous {
            first: 1,
            second: 3,
        };
        assert_eq!(find_x(0, 1), Err(tie));
        assert_eq!(find_x(1, 1), Ok(2));
        assert_eq!(
            find(&lines, 0, &[b"c\n"], 0, &mut budget),
            Err(ConflictProblem::NotFound)
        );
        assert_eq!(
            find(&lines, 0, &[], 6, &mut budget),
            Err(ConflictProblem::PastEnd)
        );
    }

    #[test]
    fn looking_for_lines_that_nearly_match_everywhere_is_not_quadratic() {
        let same: &[u8] = b"same\n";
        let lines = vec![same; 300_000];
        let mut wanted = vec![same; 100_000];
        wanted.push(b"other\n");
        let mut budget = SEARCH_BYTES;
        assert_eq!(
            find(&lines, 0, &wanted, 7, &mut budget),
            Err(ConflictProblem::NotFound)
        );
        assert!(SEARCH_BYTES - budget < 10 * 5 * 400_000, "{budget}");
        let mut little = 1000;
        assert_eq!(
            find(&lines, 0, &wanted, 7, &mut little),
            Err(ConflictProblem::TooCostly)
        );
    }
}
