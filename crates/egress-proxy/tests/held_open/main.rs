//! Connections that are held open, slow or cut: bounded memory, clean errors, and nothing left. Descriptors are counted, so
//! these tests have the process to themselves, and take turns.
#![cfg(unix)]
#![cfg_attr(
    unix,
    expect(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::print_stdout,
        reason = "a test ends where its assumption fails, and says what it skips"
    )
)]

#[path = "../it/stage.rs"]
#[expect(dead_code, reason = "the other tests use more of it")]
mod stage;

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use palisade_egress_proxy::{ConnectionRecord, Decision, Ending, Proxy, Refusal, Settings};
use rustix::process::{Resource, getrlimit, setrlimit};

use stage::{FINE, Web, get, plan, read_head, server, wait_until};

static TURN: Mutex<()> = Mutex::new(());

/// Waits for the other tests, and lifts the limit of descriptors as far as it goes.
fn turn() -> MutexGuard<'static, ()> {
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).unwrap();
    turn
}

fn can_open(descriptors: u64) -> bool {
    let most = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let can = most > descriptors;
    if !can {
        println!("skipped: at most {most} descriptors may be open");
    }
    can
}

/// Open descriptors of this process. Only Linux says.
fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

/// Memory of this process that is in use, in bytes. Only Linux says.
fn memory() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or(0) * 4096
}

#[track_caller]
fn nothing_is_left(before: usize) {
    wait_until(|| descriptors() <= before);
}

#[test]
fn a_thousand_idle_connections() {
    let _turn = turn();
    if !can_open(2_500) {
        return;
    }
    let web = Web::new(FINE);
    let before = descriptors();
    let stage = plan()
        .open("docs.test", 80, web.address)
        .limits(|limits| {
            limits.connections = 1_001;
            limits.head_time = Duration::from_secs(60);
        })
        .start();
    let used = memory();
    let idle: Vec<_> = (0..1_000).map(|_| stage.connect()).collect();
    wait_until(|| stage.proxy.open_connections() == 1_000);
    let grown = memory().saturating_sub(used);
    assert!(
        grown < 24 << 20,
        "{grown} bytes for a thousand idle connections"
    );
    assert!(
        stage.ask_text(&get("docs.test")).ends_with("fine\n"),
        "others are served"
    );
    drop(idle);
    wait_until(|| stage.proxy.open_connections() == 0);
    assert_eq!(stage.records(1_001).len(), 1_001);
    drop(stage);
    nothing_is_left(before);
}

#[test]
fn a_thousand_idle_tunnels() {
    let _turn = turn();
    if !can_open(5_000) {
        return;
    }
    let server = server(|mut stream| {
        let mut buffer = [0; 64];
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            stream.write_all(&buffer[..count]).unwrap();
        }
    });
    let before = descriptors();
    let stage = plan()
        .open("docs.test", 7, server)
        .limits(|limits| limits.connections = 1_000)
        .start();
    let used = memory();
    let mut tunnels: Vec<_> = (0..1_000).map(|_| stage.tunnel("docs.test", 7)).collect();
    for tunnel in &mut tunnels {
        tunnel.write_all(b"\0ping").unwrap();
        let mut back = [0; 5];
        tunnel.read_exact(&mut back).unwrap();
    }
    // The servers' threads among them.
    let grown = memory().saturating_sub(used);
    assert!(
        grown < 64 << 20,
        "{grown} bytes for a thousand idle tunnels"
    );
    drop(tunnels);
    wait_until(|| stage.proxy.open_connections() == 0);
    drop(stage);
    nothing_is_left(before);
}

#[test]
fn one_too_many_is_told_so() {
    let _turn = turn();
    let web = Web::new(FINE);
    let before = descriptors();
    let stage = plan()
        .open("docs.test", 80, web.address)
        .limits(|limits| limits.connections = 20)
        .start();
    let idle: Vec<_> = (0..20).map(|_| stage.connect()).collect();
    wait_until(|| stage.proxy.open_connections() == 20);
    let answer = stage.ask_text(&get("docs.test"));
    assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
    assert_eq!(stage.ask(b"\x05\x01\x00"), b"\x05\xff");
    assert_eq!(stage.refusal_of_all(2), Refusal::TooManyConnections);
    // A crowd is turned away as well, and nobody waits for room.
    let crowd: Vec<_> = (0..200).map(|_| stage.connect()).collect();
    wait_until(|| stage.records.lock().unwrap().len() >= 202);
    assert_eq!(stage.proxy.open_connections(), 20);
    drop((crowd, idle));
    wait_until(|| stage.proxy.open_connections() == 0);
    assert!(stage.ask_text(&get("docs.test")).ends_with("fine\n"));
    drop(stage);
    nothing_is_left(before);
}

impl stage::Stage {
    fn refusal_of_all(&self, count: usize) -> Refusal {
        let records = self.records(count);
        let mut refusals = records.iter().map(|record| match &record.decision {
            Decision::Refused { why } => why.clone(),
            other => panic!("not refused: {other:?}"),
        });
        let first = refusals.next().expect("a record");
        assert!(refusals.all(|why| why == first));
        first
    }
}

#[test]
fn a_connection_that_says_nothing_is_closed() {
    let _turn = turn();
    let before = descriptors();
    let stage = plan()
        .limits(|limits| limits.head_time = Duration::from_millis(200))
        .start();
    let mut stream = stage.connect();
    assert_eq!(stream.read(&mut [0; 8]).unwrap(), 0);
    assert_eq!(stage.refusal(), Refusal::TooSlow);
    drop((stage, stream));
    nothing_is_left(before);
}

#[test]
fn a_slow_client_slows_the_server_down() {
    let _turn = turn();
    const TOTAL: u64 = 96 << 20;
    let written = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&written);
    let source = server(move |mut stream| {
        let block = vec![7; 1 << 20];
        for _ in 0..TOTAL >> 20 {
            if stream.write_all(&block).is_err() {
                return;
            }
            counter.fetch_add(1 << 20, Ordering::SeqCst);
        }
    });
    let before = descriptors();
    let stage = plan().open("docs.test", 7, source).start();
    let mut tunnel = stage.tunnel("docs.test", 7);
    // Until nothing moves any more.
    let mut last = u64::MAX;
    wait_until(|| {
        thread::sleep(Duration::from_millis(200));
        let now = written.load(Ordering::SeqCst);
        std::mem::replace(&mut last, now) == now && now > 0
    });
    assert!(last < TOTAL / 2, "{last} bytes were taken from the server");
    let mut total = 0;
    let mut buffer = vec![0; 1 << 20];
    while let Ok(count @ 1..) = tunnel.read(&mut buffer) {
        total += u64::try_from(count).unwrap();
    }
    assert_eq!(total, TOTAL);
    drop(tunnel);
    assert_eq!(stage.records(1)[0].ending, Ending::Complete);
    drop(stage);
    nothing_is_left(before);
}

#[test]
fn a_server_that_never_answers() {
    let _turn = turn();
    let silent = server(|mut stream| {
        let mut buffer = [0; 64];
        while let Ok(1..) = stream.read(&mut buffer) {}
    });
    let before = descriptors();
    let stage = plan()
        .open("docs.test", 80, silent)
        .limits(|limits| limits.idle_time = Duration::from_millis(400))
        .start();
    let answer = stage.ask_text(&get("docs.test"));
    assert!(answer.starts_with("HTTP/1.1 504 "), "{answer}");
    let mut tunnel = stage.tunnel("docs.test", 80);
    assert_eq!(tunnel.read(&mut [0; 8]).unwrap_or(0), 0);
    let endings: Vec<_> = stage
        .records(2)
        .iter()
        .map(|record| record.ending)
        .collect();
    assert_eq!(endings, [Ending::Idle, Ending::Idle]);
    drop((stage, tunnel));
    nothing_is_left(before);
}

#[test]
fn a_proxy_that_is_dropped_leaves_nothing() {
    let _turn = turn();
    let endless = server(|mut stream| {
        let block = [7; 64 * 1024];
        while stream.write_all(&block).is_ok() {}
    });
    let web = Web::new(FINE);
    let before = descriptors();
    // It takes what comes and never answers.
    let silent = server(|mut stream| {
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    });
    let stage = plan()
        .open("docs.test", 7, endless)
        .allow("web.test", 80)
        .name("web.test", &[stage::PUBLIC])
        .road(stage::PUBLIC, 80, silent)
        .start();
    let mut tunnels: Vec<_> = (0..8).map(|_| stage.tunnel("docs.test", 7)).collect();
    let mut block = [0; 4096];
    for tunnel in &mut tunnels {
        tunnel.read_exact(&mut block).unwrap();
    }
    // One in the middle of a head, one in the middle of a body, one that says nothing.
    let mut others: Vec<TcpStream> = (0..3).map(|_| stage.connect()).collect();
    others[0].write_all(b"GET http://do").unwrap();
    others[1]
        .write_all(
            b"POST http://web.test/ HTTP/1.1\r\nHost: web.test\r\nContent-Length: 99\r\n\r\nhalf",
        )
        .unwrap();
    wait_until(|| stage.tried().len() == 9 && stage.proxy.open_connections() == 11);
    let stage::Stage { proxy, records, .. } = stage;
    let started = Instant::now();
    drop(proxy);
    assert!(
        started.elapsed() < Duration::from_secs(2),
        "{:?}",
        started.elapsed()
    );
    for tunnel in tunnels.iter_mut().chain(&mut others) {
        // What was on its way, then the end or a reset.
        let mut rest = Vec::new();
        drop(tunnel.read_to_end(&mut rest));
        assert_eq!(tunnel.read(&mut block).unwrap_or(0), 0);
    }
    let records = records.lock().unwrap().clone();
    let stopped = records
        .iter()
        .filter(|record| record.ending == Ending::Stopped);
    assert_eq!(stopped.count(), 9, "{records:?}");
    assert!(records.iter().filter(|it| it.received > 0).count() == 8);
    drop((tunnels, others, web));
    // Of the servers' own threads, those of the streams that are over.
    nothing_is_left(before + 1);
}

#[test]
fn whoever_is_told_may_be_the_last_to_hold_it() {
    let _turn = turn();
    let before = descriptors();
    let held: Arc<Mutex<Option<Proxy>>> = Arc::default();
    let (tell, told) = std::sync::mpsc::channel();
    let (last, tell) = (Arc::clone(&held), Mutex::new(tell));
    let observer = move |_: &ConnectionRecord| {
        // On the proxy's own thread, which must not wait for itself.
        drop(last.lock().unwrap().take());
        tell.lock().unwrap().send(()).unwrap();
    };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let settings = Settings::new([]).with_observer(Arc::new(observer));
    let proxy = Proxy::start(listener, settings).unwrap();
    let address = proxy.address();
    *held.lock().unwrap() = Some(proxy);
    let mut client = TcpStream::connect(address).unwrap();
    client.write_all(b"?").unwrap();
    told.recv_timeout(Duration::from_secs(10)).unwrap();
    // And it is gone: nobody listens any more.
    wait_until(|| TcpStream::connect(address).is_err());
    drop(client);
    nothing_is_left(before);
}

#[test]
fn an_answer_that_is_cut_is_not_taken_for_whole() {
    let _turn = turn();
    let cut = server(|mut stream| {
        read_head(&mut stream);
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
            .unwrap();
        stream.shutdown(Shutdown::Both).unwrap();
    });
    let stage = plan().open("docs.test", 80, cut).start();
    let answer = stage.ask_text(&get("docs.test"));
    assert!(answer.ends_with("\r\n\r\nhalf"), "{answer}");
    assert_eq!(stage.records(1)[0].ending, Ending::BadAnswer);
}
