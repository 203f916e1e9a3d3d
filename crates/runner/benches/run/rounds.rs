//! Rounds of subjects, and their medians.

use std::time::{Duration, Instant};

/// Something that is measured.
pub(crate) struct Subject<'a> {
    pub(crate) name: &'static str,
    pub(crate) run: Box<dyn FnMut() + 'a>,
}

impl<'a> Subject<'a> {
    pub(crate) fn new(name: &'static str, run: impl FnMut() + 'a) -> Self {
        Self {
            name,
            run: Box::new(run),
        }
    }
}

/// How many rounds, unless somebody says otherwise.
pub(crate) fn rounds(otherwise: usize) -> usize {
    std::env::var("PALISADE_BENCH_ROUNDS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(otherwise)
}

/// The median time of each subject. Every round runs each once, and begins with another one; the first is not counted.
pub(crate) fn medians(subjects: &mut [Subject<'_>], rounds: usize) -> Vec<Duration> {
    let many = subjects.len();
    let mut times = vec![Vec::with_capacity(rounds); many];
    for round in 0..=rounds {
        for at in 0..many {
            let at = (at + round) % many;
            let (Some(subject), Some(times)) = (subjects.get_mut(at), times.get_mut(at)) else {
                continue;
            };
            let started = Instant::now();
            (subject.run)();
            if round > 0 {
                times.push(started.elapsed());
            }
        }
    }
    times
        .into_iter()
        .map(|mut times| {
            times.sort();
            times.get(times.len() / 2).copied().unwrap_or_default()
        })
        .collect()
}
