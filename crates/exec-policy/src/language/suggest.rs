//! "Did you mean": the nearest of the names that would have been understood.

/// Words of other tools, and what they are called here.
const SYNONYMS: &[(&str, &str)] = &[
    ("action", "decision"),
    ("ask", "prompt"),
    ("command", "prefix"),
    ("deny", "forbid"),
    ("description", "why"),
    ("host", "domain"),
    ("justification", "why"),
    ("mem", "memory"),
    ("pattern", "prefix"),
    ("reason", "why"),
    ("reject", "forbid"),
    ("timeout", "wall"),
];

/// The name that is nearest to what was written, if one is near enough to be meant.
///
/// Case, dashes and underscores do not count as differences.
pub(crate) fn nearest<'n>(
    written: &str,
    names: impl IntoIterator<Item = &'n str>,
) -> Option<&'n str> {
    // Nobody mistypes a key of this length, and the table below is quadratic.
    if written.len() > 64 {
        return None;
    }
    let names: Vec<_> = names.into_iter().collect();
    let called = SYNONYMS.iter().find(|(word, _)| *word == written);
    if let Some((_, meant)) = called
        && let Some(name) = names.iter().find(|name| *name == meant)
    {
        return Some(name);
    }
    let written = folded(written);
    names
        .into_iter()
        .map(|name| (distance(&written, &folded(name)), name))
        .filter(|(distance, name)| *distance <= tolerance(name))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// How many letters of a name may differ.
fn tolerance(name: &str) -> usize {
    match name.len() {
        0..=2 => 0,
        3..=4 => 1,
        5..=7 => 2,
        _ => 3,
    }
}

fn folded(text: &str) -> Vec<char> {
    text.chars()
        .map(|c| match c {
            '-' => '_',
            other => other.to_ascii_lowercase(),
        })
        .collect()
}

/// How many letters must be added, removed, replaced or swapped with a neighbour.
fn distance(left: &[char], right: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=right.len()).collect();
    let mut previous = None;
    for (row, from) in left.iter().enumerate() {
        let mut line = vec![row + 1];
        let mut last = None;
        for (column, to) in right.iter().enumerate() {
            let at = |line: &[usize], column: usize| line.get(column).copied().unwrap_or(0);
            let mut best = at(&above, column) + usize::from(from != to);
            best = best.min(at(&above, column + 1) + 1);
            best = best.min(at(&line, column) + 1);
            if previous == Some(to) && last == Some(from) && column > 0 {
                best = best.min(at(&before, column - 1) + 1);
            }
            line.push(best);
            last = Some(to);
        }
        previous = Some(from);
        before = std::mem::replace(&mut above, line);
    }
    above.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(written: &str, expected: Option<&str>) {
        let names = ["prefix", "decision", "why", "match", "not_match", "id"];
        assert_eq!(nearest(written, names), expected, "{written}");
    }

    #[test]
    fn a_slip_of_the_finger_is_recognised() {
        check("prefx", Some("prefix"));
        check("perfix", Some("prefix"));
        check("Decision", Some("decision"));
        check("not-match", Some("not_match"));
        check("wyh", Some("why"));
        check("macth", Some("match"));
    }

    #[test]
    fn the_words_of_other_tools_are_recognised() {
        check("command", Some("prefix"));
        check("justification", Some("why"));
        check("deny", None);
    }

    #[test]
    fn another_word_is_not() {
        check("colour", None);
        check("", None);
        check("x", None);
        check(&"prefix".repeat(100_000), None);
    }
}
