//! A matcher for patterns that never goes back: its time is the length of the path times the length of the pattern.

use super::pattern::{ByteSet, PatternProblem, Syntax, parse};

/// One step of the matcher. Steps name the steps that follow them by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    One { set: ByteSet, next: usize },
    Start { next: usize },
    End { next: usize },
    Fork { first: usize, second: usize },
    Done,
}

/// A pattern, ready to match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Automaton {
    steps: Vec<Step>,
    begin: usize,
    /// Whether a match can only begin where the text begins.
    anchored: bool,
}

impl Automaton {
    pub(super) fn new(pattern: &str) -> Result<Self, PatternProblem> {
        let syntax = parse(pattern)?;
        // Built from the end, so that every step knows what follows it.
        let mut steps = vec![Step::Done];
        let begin = add(&mut steps, &syntax, 0);
        let anchored = is_anchored(&syntax);
        Ok(Self {
            steps,
            begin,
            anchored,
        })
    }

    /// Whether some part of the text matches.
    pub(super) fn is_match(&self, text: &[u8]) -> bool {
        let mut here = Reached::new(self.steps.len());
        let mut after = Reached::new(self.steps.len());
        for at in 0..=text.len() {
            // Without an anchor a match may begin at every place.
            let begins = at == 0 || !self.anchored;
            if begins && self.follow(self.begin, at, text.len(), &mut here) {
                return true;
            }
            let Some(byte) = text.get(at).filter(|_| !here.list.is_empty()) else {
                return false;
            };
            after.clear();
            for index in &here.list {
                if let Some(Step::One { set, next }) = self.steps.get(*index)
                    && set.contains(*byte)
                    && self.follow(*next, at + 1, text.len(), &mut after)
                {
                    return true;
                }
            }
            std::mem::swap(&mut here, &mut after);
        }
        false
    }

    /// Everything that is reached from a step without taking a byte; says whether that is the end of the pattern.
    fn follow(&self, from: usize, at: usize, end: usize, reached: &mut Reached) -> bool {
        let mut open = std::mem::take(&mut reached.open);
        open.clear();
        open.push(from);
        let mut done = false;
        while let Some(index) = open.pop() {
            if !reached.insert(index) {
                continue;
            }
            match self.steps.get(index) {
                Some(Step::Done) => done = true,
                Some(Step::Fork { first, second }) => open.extend([*first, *second]),
                Some(Step::Start { next }) if at == 0 => open.push(*next),
                Some(Step::End { next }) if at == end => open.push(*next),
                _ => {}
            }
        }
        reached.open = open;
        done
    }
}

/// Whether a pattern begins with `^`, in each of its alternatives.
fn is_anchored(syntax: &Syntax) -> bool {
    match syntax {
        Syntax::Start => true,
        Syntax::Sequence(items) => items.first().is_some_and(is_anchored),
        Syntax::Either(branches) => branches.iter().all(is_anchored),
        Syntax::One(_) | Syntax::End | Syntax::Repeat { .. } => false,
    }
}

/// Adds the steps of a syntax before the step `next`; says where it begins.
fn add(steps: &mut Vec<Step>, syntax: &Syntax, next: usize) -> usize {
    let push = |steps: &mut Vec<Step>, step| {
        steps.push(step);
        steps.len() - 1
    };
    match syntax {
        Syntax::One(set) => push(steps, Step::One { set: *set, next }),
        Syntax::Start => push(steps, Step::Start { next }),
        Syntax::End => push(steps, Step::End { next }),
        Syntax::Sequence(items) => items
            .iter()
            .rev()
            .fold(next, |next, item| add(steps, item, next)),
        Syntax::Either(branches) => {
            let mut begins = branches
                .iter()
                .map(|branch| add(steps, branch, next))
                .collect::<Vec<_>>()
                .into_iter();
            let first = begins.next().unwrap_or(next);
            begins.fold(first, |first, second| {
                push(steps, Step::Fork { first, second })
            })
        }
        Syntax::Repeat {
            inner,
            least_once,
            at_most_once,
        } => {
            if *at_most_once {
                let first = add(steps, inner, next);
                return push(
                    steps,
                    Step::Fork {
                        first,
                        second: next,
                    },
                );
            }
            // The fork comes first, because what is repeated leads back to it.
            let fork = push(
                steps,
                Step::Fork {
                    first: next,
                    second: next,
                },
            );
            let first = add(steps, inner, fork);
            if let Some(step) = steps.get_mut(fork) {
                *step = Step::Fork {
                    first,
                    second: next,
                };
            }
            if *least_once { first } else { fork }
        }
    }
}

/// Steps that are reached, each once.
struct Reached {
    list: Vec<usize>,
    /// In which round each step was reached last: starting a round forgets all of them at once.
    seen: Vec<usize>,
    round: usize,
    /// Room for steps that are still to be followed.
    open: Vec<usize>,
}

impl Reached {
    fn new(count: usize) -> Self {
        Self {
            list: Vec::new(),
            seen: vec![0; count],
            round: 1,
            open: Vec::new(),
        }
    }

    fn insert(&mut self, index: usize) -> bool {
        match self.seen.get_mut(index) {
            Some(seen) if *seen != self.round => {
                *seen = self.round;
                self.list.push(index);
                true
            }
            _ => false,
        }
    }

    fn clear(&mut self) {
        self.list.clear();
        self.round += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Automaton::new(pattern).unwrap().is_match(text.as_bytes())
    }

    fn problem(pattern: &str) -> PatternProblem {
        Automaton::new(pattern).unwrap_err()
    }

    #[test]
    fn a_pattern_matches_anywhere_unless_it_is_anchored() {
        assert!(matches("b", "abc"));
        assert!(!matches("^b", "abc"));
        assert!(!matches("b$", "abc"));
        assert!(matches("^a", "abc"));
        assert!(matches("c$", "abc"));
        assert!(matches("^abc$", "abc"));
        assert!(!matches("^abc$", "abcd"));
        assert!(matches("^$", ""));
    }

    #[test]
    fn alternatives_groups_and_repetition() {
        assert!(matches("^/dev/ttys[0-9]+$", "/dev/ttys001"));
        assert!(!matches("^/dev/ttys[0-9]+$", "/dev/ttys"));
        assert!(matches("^/a/([^/]+/)*x$", "/a/x"));
        assert!(matches("^/a/([^/]+/)*x$", "/a/b/c/x"));
        assert!(!matches("^/a/([^/]+/)*x$", "/a/bx"));
        assert!(matches("^/a(/|$)", "/a"));
        assert!(matches("^/a(/|$)", "/a/b"));
        assert!(!matches("^/a(/|$)", "/ab"));
        assert!(matches("^(ab|cd)?e$", "cde"));
        assert!(matches("^(ab|cd)?e$", "e"));
        assert!(!matches("^(ab|cd)?e$", "abcde"));
        assert!(matches("^a|b$", "ax"));
        assert!(matches("^a|b$", "xb"));
    }

    #[test]
    fn brackets_and_escapes() {
        assert!(matches("^[.]g$", ".g"));
        assert!(!matches("^[.]g$", "xg"));
        assert!(matches(r"^\.g$", ".g"));
        assert!(!matches(r"^\.g$", "xg"));
        assert!(matches("^[]a-]+$", "a]-"));
        assert!(matches("^[^]/]+$", "ab"));
        assert!(!matches("^[^]/]+$", "a]"));
        assert!(matches("^[a^]$", "^"));
        assert!(matches("^[Gg][Ii][Tt]$", "gIt"));
        assert!(matches("^é.$", "éx"));
        // A point is a byte.
        assert!(!matches("^.$", "é"));
        assert!(matches("^..$", "é"));
    }

    #[test]
    fn what_readers_differ_about_is_refused() {
        use PatternProblem::{Brackets, Empty, Escape, Group, Repetition, Unescaped};
        for (pattern, expected) in [
            ("", Empty),
            ("a||b", Empty),
            ("()", Empty),
            ("(a", Group),
            ("a)", Group),
            ("*a", Repetition),
            ("a**", Repetition),
            ("a+?", Repetition),
            ("^*", Repetition),
            ("(a*)*", Repetition),
            ("a{2}", Unescaped('{')),
            ("a]", Unescaped(']')),
            (r"\d", Escape),
            ("a\\", Escape),
            ("[", Brackets),
            ("[]", Brackets),
            ("[[:alpha:]]", Brackets),
            (r"[\.]", Brackets),
            ("[z-a]", Brackets),
            ("[é]", Brackets),
        ] {
            assert_eq!(problem(pattern), expected, "{pattern}");
        }
        assert!(matches!(
            problem(&"(".repeat(100_000)),
            PatternProblem::TooLong(_)
        ));
        assert!(matches!(
            problem(&"(".repeat(1000)),
            PatternProblem::TooDeep(_)
        ));
    }

    #[test]
    fn time_is_linear_where_others_go_back_forever() {
        let pattern = format!("^{}{}$", "(a|aa)+".repeat(20), "b");
        let text = "a".repeat(4000);
        assert!(!matches(&pattern, &text));
    }
}
