//! Hosts that are asked for: the connection waits, one question for all of them, and what was said is remembered.

use std::future;
use std::io::{Read, Write as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use palisade_egress_proxy::{Answer, Approval, Approver, Decision, Ending, Hold, Later, Refusal};
use palisade_policy::HostName;

use crate::stage::{FINE, PUBLIC, Plan, Web, get, plan, read_head, server, wait_until};

/// Counts questions, and answers when told to.
#[derive(Default)]
struct Person {
    asked: AtomicUsize,
    answer: Mutex<(Option<Answer>, Vec<Waker>)>,
}

impl Person {
    fn says(answer: Answer) -> Arc<Self> {
        let person = Self::default();
        person.answer.lock().unwrap().0 = Some(answer);
        Arc::new(person)
    }

    fn answer(&self, answer: Answer) {
        let mut state = self.answer.lock().unwrap();
        state.0 = Some(answer);
        state.1.drain(..).for_each(Waker::wake);
    }

    fn questions(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Approver for Person {
    fn ask<'a>(&'a self, _: &'a HostName, _: u16) -> Later<'a, Answer> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        Box::pin(future::poll_fn(move |context| {
            let mut state = self.answer.lock().unwrap();
            match state.0.clone() {
                Some(answer) => Poll::Ready(answer),
                None => {
                    state.1.push(context.waker().clone());
                    Poll::Pending
                }
            }
        }))
    }
}

fn asking(person: &Arc<Person>, web: &Web) -> Plan {
    plan()
        .name("new.test", &[PUBLIC])
        .road(PUBLIC, 80, web.address)
        .approver(person.clone())
}

#[test]
fn once_is_once_and_a_session_is_a_session() {
    let web = Web::new(FINE);
    for (approval, questions) in [
        (Approval::Once, 3),
        (Approval::Session, 1),
        (Approval::Project, 1),
    ] {
        let person = Person::says(Answer::Granted(approval));
        let stage = asking(&person, &web).start();
        for _ in 0..3 {
            assert!(stage.ask_text(&get("new.test")).ends_with("fine\n"));
        }
        assert_eq!(person.questions(), questions, "{approval:?}");
        assert_eq!(
            stage.records(3)[2].decision,
            Decision::Approved { approval }
        );
        // Another port is another question.
        stage.ask_text(&get("new.test:8080"));
        assert_eq!(person.questions(), questions + 1, "{approval:?}");
    }
}

#[test]
fn no_is_remembered_and_nothing_is_resolved() {
    let web = Web::new(FINE);
    let person = Person::says(Answer::Denied);
    let stage = asking(&person, &web).start();
    for _ in 0..3 {
        let answer = stage.ask_text(&get("new.test"));
        assert!(answer.contains("asked for and denied"), "{answer}");
    }
    assert_eq!(person.questions(), 1);
    assert!(stage.names.asked.lock().unwrap().is_empty());
    assert_eq!(
        stage.records(3)[2].decision,
        Decision::Refused {
            why: Refusal::Denied
        }
    );
}

#[test]
fn connections_wait_and_ten_of_them_ask_once() {
    let web = Web::new(FINE);
    let person = Arc::new(Person::default());
    let stage = asking(&person, &web).start();
    thread::scope(|scope| {
        let waiting: Vec<_> = (0..10)
            .map(|_| scope.spawn(|| stage.ask_text(&get("new.test"))))
            .collect();
        wait_until(|| stage.proxy.open_connections() == 10);
        thread::sleep(Duration::from_millis(100));
        assert!(waiting.iter().all(|thread| !thread.is_finished()));
        person.answer(Answer::Granted(Approval::Once));
        for thread in waiting {
            assert!(thread.join().unwrap().ends_with("fine\n"));
        }
    });
    assert_eq!(person.questions(), 1);
}

#[test]
fn nobody_waits_for_ever() {
    let web = Web::new(FINE);
    let person = Arc::new(Person::default());
    let stage = asking(&person, &web)
        .limits(|limits| limits.approval_time = Duration::from_millis(200))
        .start();
    assert!(
        stage
            .ask_text(&get("new.test"))
            .starts_with("HTTP/1.1 403 ")
    );
    assert_eq!(stage.refusal(), Refusal::Unanswered);
    // Silence is not a no: the next one asks again.
    person.answer(Answer::Granted(Approval::Session));
    assert!(stage.ask_text(&get("new.test")).ends_with("fine\n"));
    assert_eq!(person.questions(), 2);
}

#[test]
fn questions_are_bounded() {
    let web = Web::new(FINE);
    let person = Arc::new(Person::default());
    let stage = asking(&person, &web)
        .limits(|limits| limits.questions = 2)
        .start();
    thread::scope(|scope| {
        let hosts = ["a.test", "b.test"];
        let waiting = hosts.map(|host| scope.spawn(|| stage.ask_text(&get(host))));
        wait_until(|| person.questions() == 2);
        stage.ask_text(&get("c.test"));
        assert_eq!(stage.refusal(), Refusal::TooManyQuestions);
        person.answer(Answer::Denied);
        for thread in waiting {
            thread.join().unwrap();
        }
    });
}

#[test]
fn a_grant_does_not_open_inner_addresses() {
    let person = Person::says(Answer::Granted(Approval::Project));
    let stage = plan()
        .name("new.test", &["169.254.169.254"])
        .approver(person.clone())
        .start();
    stage.ask_text(&get("new.test"));
    assert_eq!(stage.records(1)[0].ending, Ending::Refused);
    // Nobody is even asked about these.
    for host in ["127.0.0.1", "169.254.169.254", "localhost"] {
        assert!(
            stage.ask_text(&get(host)).starts_with("HTTP/1.1 403 "),
            "{host}"
        );
    }
    assert_eq!(person.questions(), 1);
    assert!(stage.tried().is_empty());
}

#[test]
fn a_listed_host_is_not_asked_for() {
    let web = Web::new(FINE);
    let person = Person::says(Answer::Denied);
    let stage = asking(&person, &web).allow("new.test", 80).start();
    assert!(stage.ask_text(&get("new.test")).ends_with("fine\n"));
    assert_eq!(person.questions(), 0);
}

/// Reads until the other side ends, and says how long that took.
fn time_to_end(mut stream: impl Read) -> Duration {
    let started = Instant::now();
    // Closed or reset: over either way.
    drop(stream.read_to_end(&mut Vec::new()));
    started.elapsed()
}

#[test]
fn what_lives_on_an_approval_ends_with_it() {
    let web = Web::new(FINE);
    let hold = Hold::new();
    let person = Person::says(Answer::Leased(Approval::Once, hold.lease()));
    let stage = asking(&person, &web).start();
    // One of them in use, the others idle.
    let tunnels = [(); 3].map(|()| stage.tunnel("new.test", 80));
    assert_eq!(person.questions(), 3);
    let mut busy = &tunnels[0];
    busy.write_all(b"GET / HTTP/1.1\r\nHost: new.test\r\n\r\n")
        .unwrap();
    assert!(read_head(&mut busy).starts_with("HTTP/1.1 200 "));
    assert!(stage.records.lock().unwrap().is_empty());
    drop(hold);
    for tunnel in tunnels {
        assert!(time_to_end(tunnel) < Duration::from_secs(10));
    }
    for record in stage.records(3) {
        assert_eq!(record.ending, Ending::ApprovalOver);
        let approval = Approval::Once;
        assert_eq!(record.decision, Decision::Approved { approval });
    }
    // What is over opens nothing any more, and is not remembered.
    assert_eq!(person.questions(), 3);
    let late = stage.ask_text(&get("new.test"));
    assert!(
        late.starts_with("HTTP/1.1 403 ") && late.contains("is over"),
        "{late}"
    );
    assert_eq!(person.questions(), 4);
    assert_eq!(stage.records(4)[3].ending, Ending::ApprovalOver);
    wait_until(|| stage.proxy.open_connections() == 0);
}

#[test]
fn an_approval_with_an_end_ends_by_itself() {
    let (silent, web) = (
        server(|stream| {
            time_to_end(stream);
        }),
        Web::new(FINE),
    );
    let hold = Hold::new();
    let end = Instant::now() + Duration::from_millis(600);
    let person = Person::says(Answer::Leased(Approval::Session, hold.lease_until(end)));
    let stage = asking(&person, &web)
        .name("slow.test", &["93.184.216.99"])
        .road("93.184.216.99", 80, silent)
        .start();
    // An answer that never comes is not waited for longer than that.
    let answer = stage.ask_text(&get("slow.test"));
    assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
    assert!(Instant::now() >= end);
    assert_eq!(stage.records(1)[0].ending, Ending::ApprovalOver);
    // Without an end nothing ends: the hold is still there.
    let person = Person::says(Answer::Leased(Approval::Session, hold.lease()));
    let stage = asking(&person, &web).start();
    assert!(stage.ask_text(&get("new.test")).ends_with("fine\n"));
    assert_eq!(stage.records(1)[0].ending, Ending::Complete);
}
