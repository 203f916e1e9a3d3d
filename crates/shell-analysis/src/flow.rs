//! Follows `cd` and shell state through a list of commands.

use crate::plain::{Cwd, Join};

/// More possible directories than this are as good as unknown.
const MAX_STATES: usize = 8;

/// The shell as the next command would find it.
#[derive(Clone, Debug)]
pub(crate) enum Flow {
    /// No `cd` yet.
    Start,
    /// Each directory that may be current, and whether the last command may have succeeded there.
    States(Vec<(Vec<u8>, bool)>),
    Unknown,
}

/// What a pipeline does to the directory.
pub(crate) enum Move {
    Stays,
    To(Vec<u8>),
    Anywhere,
}

impl Flow {
    /// The flow of a nested script that starts where the command with this directory runs.
    pub(crate) fn starting_in(cwd: &Cwd) -> Self {
        match cwd {
            Cwd::Start => Self::Start,
            Cwd::OneOf(paths) => Self::States(
                paths
                    .iter()
                    .flat_map(|path| [(path.clone(), true), (path.clone(), false)])
                    .collect(),
            ),
            Cwd::Unknown => Self::Unknown,
        }
    }

    /// The directories in which a command joined by `join` runs.
    pub(crate) fn cwd(&self, join: Join) -> Cwd {
        match self {
            Self::Start => Cwd::Start,
            Self::Unknown => Cwd::Unknown,
            Self::States(states) => {
                let mut paths: Vec<Vec<u8>> = Vec::new();
                for (path, _) in states.iter().filter(|(_, ok)| reaches(join, *ok)) {
                    if !paths.contains(path) {
                        paths.push(path.clone());
                    }
                }
                match paths.as_slice() {
                    [] => Cwd::Unknown,
                    [only] if only.is_empty() => Cwd::Start,
                    _ => Cwd::OneOf(paths),
                }
            }
        }
    }

    /// Runs one pipeline.
    pub(crate) fn step(&mut self, join: Join, movement: &Move) {
        if matches!(movement, Move::Anywhere) {
            *self = Self::Unknown;
        }
        if matches!(movement, Move::To(_)) && matches!(self, Self::Start) {
            *self = Self::States(vec![(Vec::new(), true), (Vec::new(), false)]);
        }
        let Self::States(states) = self else { return };
        let mut after: Vec<(Vec<u8>, bool)> = Vec::new();
        let mut add = |state: (Vec<u8>, bool)| {
            if !after.contains(&state) {
                after.push(state);
            }
        };
        for (path, ok) in states.drain(..) {
            if !reaches(join, ok) {
                add((path, ok));
                continue;
            }
            match movement {
                Move::To(target) => add((joined(&path, target), true)),
                Move::Stays | Move::Anywhere => add((path.clone(), true)),
            }
            add((path, false));
        }
        *self = if after.len() > MAX_STATES {
            Self::Unknown
        } else {
            Self::States(after)
        };
    }
}

fn reaches(join: Join, ok: bool) -> bool {
    match join {
        Join::And => ok,
        Join::Or => !ok,
        Join::Start | Join::Seq | Join::Pipe | Join::PipeBoth => true,
    }
}

fn joined(base: &[u8], path: &[u8]) -> Vec<u8> {
    if base.is_empty() || path.first() == Some(&b'/') {
        return path.to_vec();
    }
    let mut joined = base.to_vec();
    if base.last() != Some(&b'/') {
        joined.push(b'/');
    }
    joined.extend_from_slice(path);
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_cd_stays() {
        let mut flow = Flow::Start;
        flow.step(Join::Start, &Move::To(b"a".to_vec()));
        assert_eq!(flow.cwd(Join::And), Cwd::OneOf(vec![b"a".to_vec()]));
        assert_eq!(flow.cwd(Join::Or), Cwd::Start);
        assert_eq!(
            flow.cwd(Join::Seq),
            Cwd::OneOf(vec![b"a".to_vec(), b"".to_vec()])
        );
        flow.step(Join::And, &Move::To(b"b".to_vec()));
        assert_eq!(flow.cwd(Join::And), Cwd::OneOf(vec![b"a/b".to_vec()]));
        flow.step(Join::And, &Move::To(b"/x".to_vec()));
        assert_eq!(flow.cwd(Join::And), Cwd::OneOf(vec![b"/x".to_vec()]));
    }

    #[test]
    fn many_directories_are_unknown() {
        let mut flow = Flow::Start;
        for name in [b"a", b"b", b"c", b"d", b"e"] {
            flow.step(Join::Seq, &Move::To(name.to_vec()));
        }
        assert_eq!(flow.cwd(Join::Seq), Cwd::Unknown);
    }
}
