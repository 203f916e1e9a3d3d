//! The rules, told without waiting.

use proptest::prelude::*;

use super::*;

const GRACE: Duration = Duration::from_millis(500);
const DRAIN: Duration = Duration::from_millis(250);
const BOTH: Open = Open {
    stdout: true,
    stderr: true,
};
const NONE: Open = Open {
    stdout: false,
    stderr: false,
};

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn machine(wall: Option<u64>, open: Open) -> Machine {
    let timing = Timing::default().with_grace(GRACE).with_drain(DRAIN);
    Machine::new(wall.map(ms), timing, open)
}

fn finish(why: Why, end_seen: bool, streams_closed: bool) -> Action {
    Action::Finish(Verdict {
        why,
        end_seen,
        streams_closed,
    })
}

fn closed(machine: &mut Machine, at: u64) -> Vec<Action> {
    let mut actions = machine.on(ms(at), Event::StreamClosed(Stream::Stdout));
    actions.extend(machine.on(ms(at), Event::StreamClosed(Stream::Stderr)));
    actions
}

#[test]
fn a_command_that_ends_and_closes_is_done_at_once() {
    let mut run = machine(Some(1000), BOTH);
    assert_eq!(closed(&mut run, 10), []);
    assert_eq!(run.deadline(), Some(ms(1000)));
    assert_eq!(
        run.on(ms(11), Event::Ended),
        [finish(Why::Ended, true, true)]
    );
    assert_eq!(run.deadline(), None);
}

#[test]
fn a_command_that_closes_its_streams_still_runs() {
    let mut run = machine(Some(1000), BOTH);
    closed(&mut run, 10);
    assert_eq!(run.on(ms(999), Event::Tick), []);
    assert_eq!(
        run.on(ms(1000), Event::Tick),
        [Action::Terminate, Action::Continue]
    );
}

#[test]
fn who_holds_a_stream_costs_the_drain_time() {
    let mut run = machine(None, BOTH);
    assert_eq!(run.on(ms(100), Event::Ended), []);
    assert_eq!(run.deadline(), Some(ms(350)));
    assert_eq!(run.on(ms(349), Event::StreamClosed(Stream::Stderr)), []);
    assert_eq!(
        run.on(ms(350), Event::Tick),
        [finish(Why::Ended, true, false)]
    );
}

#[test]
fn a_leader_that_obeys_leaves_nobody_behind() {
    let mut run = machine(None, NONE);
    assert_eq!(
        run.on(ms(5), Event::CancelRequested),
        [Action::Terminate, Action::Continue]
    );
    assert_eq!(
        run.on(ms(6), Event::Ended),
        [Action::KillTree, finish(Why::Cancelled, true, true)]
    );
}

#[test]
fn who_ignores_the_polite_signal_is_killed() {
    let mut run = machine(Some(10), NONE);
    run.on(ms(10), Event::Tick);
    assert_eq!(run.deadline(), Some(ms(510)));
    assert_eq!(run.on(ms(510), Event::Tick), [Action::KillTree]);
    assert_eq!(
        run.on(ms(520), Event::Ended),
        [finish(Why::TimedOut, true, true)]
    );
}

#[test]
fn an_end_that_is_never_reported_is_waited_for_no_longer_than_the_bound() {
    let mut run = machine(Some(10), BOTH);
    run.on(ms(10), Event::Tick);
    run.on(ms(510), Event::Tick);
    assert_eq!(run.deadline(), Some(ms(510) + KILL_BOUND));
    assert_eq!(
        run.on(ms(510) + KILL_BOUND, Event::Tick),
        [finish(Why::TimedOut, false, false)]
    );
}

#[test]
fn without_grace_the_tree_is_killed_at_once() {
    let timing = Timing::default().with_grace(Duration::ZERO);
    let mut run = Machine::new(Some(ms(10)), timing, NONE);
    assert_eq!(run.on(ms(10), Event::Tick), [Action::KillTree]);
}

#[test]
fn an_end_that_is_seen_too_late_is_a_timeout() {
    let mut run = machine(Some(10), NONE);
    assert_eq!(
        run.on(ms(10), Event::Ended),
        [
            Action::Terminate,
            Action::Continue,
            Action::KillTree,
            finish(Why::TimedOut, true, true)
        ]
    );
    let mut run = machine(Some(10), NONE);
    assert_eq!(
        run.on(ms(9), Event::Ended),
        [finish(Why::Ended, true, true)]
    );
}

#[test]
fn a_timeout_that_came_before_a_cancel_stays_a_timeout() {
    let mut run = machine(Some(10), NONE);
    assert_eq!(
        run.on(ms(11), Event::CancelRequested),
        [Action::Terminate, Action::Continue]
    );
    assert_eq!(
        run.on(ms(12), Event::Ended),
        [Action::KillTree, finish(Why::TimedOut, true, true)]
    );
}

#[test]
fn a_cancel_after_the_end_changes_nothing() {
    let mut run = machine(None, BOTH);
    run.on(ms(1), Event::Ended);
    assert_eq!(run.on(ms(2), Event::CancelRequested), []);
    assert_eq!(closed(&mut run, 3), [finish(Why::Ended, true, true)]);
}

#[test]
fn a_process_that_cannot_be_watched_is_killed() {
    let mut run = machine(None, NONE);
    assert_eq!(
        run.on(ms(1), Event::Lost),
        [Action::KillTree, finish(Why::Lost, false, true)]
    );
    let mut run = machine(Some(10), NONE);
    run.on(ms(10), Event::Tick);
    assert_eq!(
        run.on(ms(11), Event::Lost),
        [Action::KillTree, finish(Why::TimedOut, false, true)]
    );
}

fn any_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => Just(Event::Tick),
        1 => Just(Event::StreamClosed(Stream::Stdout)),
        1 => Just(Event::StreamClosed(Stream::Stderr)),
        1 => Just(Event::Ended),
        1 => Just(Event::CancelRequested),
    ]
}

/// Events at times that never go back, among ticks at every deadline.
fn play(run: &mut Machine, events: &[(u64, Event)]) -> Vec<(Duration, Event, Vec<Action>)> {
    let mut seen = Vec::new();
    let mut now = Duration::ZERO;
    for (later, event) in events {
        let at = now + ms(*later);
        while let Some(deadline) = run.deadline().filter(|deadline| *deadline < at) {
            let when = deadline.max(now);
            seen.push((when, Event::Tick, run.on(when, Event::Tick)));
        }
        now = at;
        seen.push((now, *event, run.on(now, *event)));
    }
    while let Some(deadline) = run.deadline() {
        now = now.max(deadline);
        seen.push((now, Event::Tick, run.on(now, Event::Tick)));
    }
    seen
}

proptest! {
    #[test]
    fn every_run_with_a_wall_time_ends_within_its_bounds(
        wall in 0_u64..2000,
        stdout in any::<bool>(),
        stderr in any::<bool>(),
        events in proptest::collection::vec((0_u64..700, any_event()), 0..12),
    ) {
        let mut run = machine(Some(wall), Open { stdout, stderr });
        let seen = play(&mut run, &events);

        let finishes: Vec<_> = seen
            .iter()
            .flat_map(|(at, _, actions)| actions.iter().map(move |action| (*at, *action)))
            .filter_map(|(at, action)| match action {
                Action::Finish(verdict) => Some((at, verdict)),
                _ => None,
            })
            .collect();
        prop_assert_eq!(finishes.len(), 1, "once and only once");
        let (at, verdict) = finishes[0];
        prop_assert!(at <= ms(wall) + GRACE + KILL_BOUND + DRAIN);

        let all: Vec<Action> = seen.iter().flat_map(|(_, _, actions)| actions.clone()).collect();
        prop_assert!(matches!(all.last(), Some(Action::Finish(_))), "nothing comes after the end");
        let kills = all.iter().filter(|action| **action == Action::KillTree).count();
        let ended_at = seen.iter().find(|(_, event, _)| *event == Event::Ended).map(|(at, ..)| *at);
        let cancelled_at = seen
            .iter()
            .find(|(_, event, _)| *event == Event::CancelRequested)
            .map(|(at, ..)| *at);
        match verdict.why {
            Why::Ended => {
                prop_assert_eq!(kills, 0);
                prop_assert!(ended_at.unwrap() < ms(wall));
                prop_assert!(verdict.end_seen);
                prop_assert!(verdict.streams_closed || at >= ended_at.unwrap() + DRAIN);
            }
            Why::TimedOut | Why::Cancelled => {
                prop_assert_eq!(kills, 1);
                let since = if verdict.why == Why::TimedOut { ms(wall) } else { cancelled_at.unwrap() };
                prop_assert!(at >= since);
                // Not before the end, but where the bound says so.
                let over = ended_at.is_some_and(|ended| ended <= at) || at >= since + GRACE + KILL_BOUND;
                prop_assert!(over);
                prop_assert_eq!(verdict.end_seen, ended_at.is_some_and(|ended| ended <= at) && verdict.end_seen);
            }
            Why::Lost => prop_assert!(false, "nothing was lost"),
        }
    }

    #[test]
    fn without_a_wall_time_only_an_end_or_a_cancel_ends_it(
        times in proptest::collection::vec(0_u64..100_000, 0..20),
    ) {
        let mut run = machine(None, BOTH);
        let mut now = 0;
        closed(&mut run, 0);
        for later in times {
            now += later;
            prop_assert_eq!(run.on(ms(now), Event::Tick), []);
            prop_assert_eq!(run.deadline(), None);
        }
    }
}
