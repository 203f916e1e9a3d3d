//! Rounds: every subject of a table runs once in each, so that noise falls on all of them alike.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::result::Whose;

/// What one run measured, in nanoseconds; one figure for each case that a run measures.
pub(super) type Sample = Vec<f64>;

/// Something that is measured.
pub(super) struct Contestant<'a> {
    pub(super) name: String,
    pub(super) whose: Whose,
    /// One run, or why there can be none.
    run: Result<Box<dyn FnMut() -> Result<Sample> + 'a>, String>,
}

impl<'a> Contestant<'a> {
    /// Measured by what it returns.
    pub(super) fn sampled(
        name: impl Into<String>,
        whose: Whose,
        run: impl FnMut() -> Result<Sample> + 'a,
    ) -> Self {
        Self {
            name: name.into(),
            whose,
            run: Ok(Box::new(run)),
        }
    }

    /// Measured by how long it takes.
    pub(super) fn timed(
        name: impl Into<String>,
        whose: Whose,
        mut run: impl FnMut() -> Result<()> + 'a,
    ) -> Self {
        Self::sampled(name, whose, move || {
            let begun = Instant::now();
            run()?;
            Ok(vec![nanoseconds(begun.elapsed())])
        })
    }

    /// Not measured, and why.
    pub(super) fn failed(name: impl Into<String>, whose: Whose, why: impl ToString) -> Self {
        Self {
            name: name.into(),
            whose,
            run: Err(why.to_string()),
        }
    }

    /// A contestant that may not have come about.
    pub(super) fn of(name: &str, whose: Whose, made: Result<Self>) -> Self {
        made.unwrap_or_else(|error| Self::failed(name, whose, format!("{error:#}")))
    }
}

/// How many rounds, and how long at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// Counted rounds.
    pub(super) rounds: usize,
    /// How long all of it may take. Who is slow takes part in fewer rounds; whoever is left when time is up has run
    /// often enough.
    pub(super) budget: Duration,
    /// The fewest counted runs of somebody slow.
    pub(super) fewest: usize,
}

impl Pace {
    /// With at least so many runs of somebody slow.
    pub(super) fn fewest(self, fewest: usize) -> Self {
        Self {
            fewest: fewest.min(self.rounds),
            ..self
        }
    }
}

/// What came of a contestant.
pub(super) struct Raced {
    pub(super) name: String,
    pub(super) whose: Whose,
    pub(super) samples: Result<Vec<Sample>, String>,
    /// How many runs failed all the same, and why the last one did.
    pub(super) failures: Option<(usize, String)>,
}

impl Raced {
    /// The figures of one case, or why there are none.
    pub(super) fn case(&self, at: usize) -> Result<Vec<f64>, String> {
        let samples = self.samples.as_ref().map_err(Clone::clone)?;
        Ok(samples
            .iter()
            .filter_map(|sample| sample.get(at).copied())
            .collect())
    }
}

/// Who fails more often than that, and not in the first run of all, is out.
const FAILURES_BORNE: usize = 2;

/// Runs them all. Each round begins with another one; the first tenth of the rounds is not counted. One that cannot be
/// started, or fails again and again, is out, and the others go on.
pub(super) fn race(contestants: Vec<Contestant<'_>>, pace: Pace) -> Vec<Raced> {
    let begun = Instant::now();
    let many = contestants.len();
    let mut all: Vec<Entrant<'_>> = contestants.into_iter().map(Entrant::first_run).collect();
    let share = nanoseconds(pace.budget) / many.max(1) as f64;
    for entrant in &mut all {
        entrant.settle_stride(&pace, share);
    }
    let warm_up = pace.rounds.div_ceil(10);
    for round in 0..warm_up + pace.rounds {
        // Half as much again: the shares are guesses from one run each.
        let late = begun.elapsed() > pace.budget.mul_f64(1.5);
        if late && all.iter().all(Entrant::has_something) {
            break;
        }
        for at in 0..many {
            if let Some(entrant) = all.get_mut((at + round) % many) {
                entrant.take_part(round, round >= warm_up);
            }
        }
    }
    all.into_iter().map(Entrant::end).collect()
}

/// A contestant in a race.
struct Entrant<'a> {
    contestant: Contestant<'a>,
    /// Takes part in every so many rounds.
    stride: usize,
    first: f64,
    samples: Vec<Sample>,
    failures: Option<(usize, String)>,
}

impl<'a> Entrant<'a> {
    fn first_run(contestant: Contestant<'a>) -> Self {
        let mut entrant = Self {
            contestant,
            stride: 1,
            first: 0.0,
            samples: Vec::new(),
            failures: None,
        };
        let begun = Instant::now();
        entrant.take_part(0, false);
        entrant.first = nanoseconds(begun.elapsed());
        if let Some((_, why)) = entrant.failures.take() {
            entrant.contestant.run = Err(why);
        }
        entrant
    }

    /// Whoever would need more than its share of the time takes part in fewer rounds.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a small number above 0"
    )]
    fn settle_stride(&mut self, pace: &Pace, share: f64) {
        let wanted = (share / self.first.max(1.0)).max(pace.fewest as f64);
        self.stride = (pace.rounds as f64 / wanted).ceil().max(1.0) as usize;
    }

    fn has_something(&self) -> bool {
        self.contestant.run.is_err() || !self.samples.is_empty()
    }

    fn take_part(&mut self, round: usize, counted: bool) {
        // Those that are slow are warm by their first run: of the rounds that are not counted they see none.
        let sits_out = self.stride > 1 && (!counted || !round.is_multiple_of(self.stride));
        let Ok(run) = &mut self.contestant.run else {
            return;
        };
        if sits_out {
            return;
        }
        match run() {
            Ok(sample) if counted => self.samples.push(sample),
            Ok(_) => {}
            Err(error) => {
                let many = self.failures.as_ref().map_or(0, |(many, _)| *many) + 1;
                let why = format!("{error:#}");
                if many > FAILURES_BORNE {
                    self.contestant.run = Err(why.clone());
                }
                self.failures = Some((many, why));
            }
        }
    }

    fn end(self) -> Raced {
        let samples = self.contestant.run.map(|_| self.samples);
        Raced {
            name: self.contestant.name,
            whose: self.contestant.whose,
            samples,
            failures: self.failures,
        }
    }
}

/// As a figure.
pub(super) fn nanoseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e9
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use super::*;

    fn pace(rounds: usize) -> Pace {
        Pace {
            rounds,
            budget: Duration::from_secs(60),
            fewest: 1,
        }
    }

    #[test]
    fn every_round_begins_with_another_one() {
        let order = RefCell::new(String::new());
        let contestant = |name: &'static str| {
            let order = &order;
            Contestant::sampled(name, Whose::Ours, move || {
                order.borrow_mut().push_str(name);
                Ok(vec![1.0])
            })
        };
        let raced = race(
            vec![contestant("a"), contestant("b"), contestant("c")],
            pace(3),
        );
        // The first run of each, a round that warms up, three that count.
        assert_eq!(*order.borrow(), "abcabcbcacababc");
        assert_eq!(raced.len(), 3);
        assert!(raced.iter().all(|one| one.case(0).unwrap().len() == 3));
    }

    #[test]
    fn one_that_fails_is_out_and_the_others_go_on() {
        let runs = Cell::new(0);
        let failing_after = |good: usize, bad: usize| {
            let runs = &runs;
            Contestant::timed("failing", Whose::Peer, move || {
                runs.set(runs.get() + 1);
                anyhow::ensure!(runs.get() <= good || runs.get() > good + bad, "no more");
                Ok(())
            })
        };
        let never = Contestant::failed("never", Whose::Peer, "not made");
        let good = Contestant::timed("good", Whose::Bare, || Ok(()));
        let raced = race(vec![failing_after(4, 9), never, good], pace(10));
        let said: Vec<_> = raced.iter().map(|one| one.case(0)).collect();
        assert_eq!(said[0].as_ref().unwrap_err(), "no more");
        assert_eq!(said[1].as_ref().unwrap_err(), "not made");
        assert_eq!(said[2].as_ref().unwrap().len(), 10);

        // The very first run decides whether it works at all; later, two may fail, and it is said.
        runs.set(0);
        let raced = race(vec![failing_after(0, 1)], pace(10));
        assert_eq!(raced[0].case(0).unwrap_err(), "no more");
        runs.set(0);
        let raced = race(vec![failing_after(4, 2)], pace(10));
        assert_eq!(raced[0].case(0).unwrap().len(), 8);
        assert_eq!(raced[0].failures, Some((2, "no more".to_owned())));
    }

    #[test]
    fn somebody_slow_takes_part_in_fewer_rounds() {
        let slow = Contestant::timed("slow", Whose::Peer, || {
            std::thread::sleep(Duration::from_millis(20));
            Ok(())
        });
        let quick = Contestant::timed("quick", Whose::Bare, || Ok(()));
        let budget = Duration::from_millis(400);
        let raced = race(
            vec![slow, quick],
            Pace {
                rounds: 100,
                budget,
                fewest: 1,
            },
        );
        let [slow, quick] = [0, 1].map(|at| raced[at].case(0).unwrap().len());
        assert!((1..=12).contains(&slow), "{slow}");
        assert!(quick > 50, "{quick}");
    }
}
