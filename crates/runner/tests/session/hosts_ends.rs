//! When what was agreed to about a host ends, and with it what lives on that.

use std::io::Read as _;
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use palisade_exec_policy::{GrantScope, ReviewDecision};
use palisade_policy::{AbsolutePath, Grant};
use palisade_runner::config::State;
use palisade_runner::session::SessionOptions;

use crate::hosts::{Online, asks_nothing, no, stdout};
use crate::made_up_net::{MadeUp, host, server};
use crate::support::Stage;

const PATIENCE: Duration = Duration::from_secs(30);

/// A server that says nothing, and tells when the other side is gone.
fn silent() -> (SocketAddr, Receiver<()>) {
    let (tell, told) = channel();
    let tell = Mutex::new(tell);
    let address = server(move |mut stream| {
        drop(stream.read_to_end(&mut Vec::new()));
        let _ = tell.lock().unwrap().send(());
    });
    (address, told)
}

/// Writes a script that speaks to the proxy byte by byte, and says how it is run.
fn script(stage: &Stage, text: &str) -> &'static str {
    std::fs::write(stage.path("workspace/speak.sh"), text).unwrap();
    "bash speak.sh"
}

/// Opens a tunnel to a host in a session, and leaves it open in the background for as long as it lasts.
#[track_caller]
fn leave_a_tunnel(stage: &Stage, online: &Online) {
    let speak = script(
        stage,
        "exec 3<>/dev/tcp/127.0.0.1/3128\n\
         printf 'CONNECT slow.test:80 HTTP/1.1\\r\\nHost: slow.test:80\\r\\n\\r\\n' >&3\n\
         cat <&3 >tunnel\n\
         echo over >>tunnel\n\
         sleep 300\n",
    );
    let run = online.run(&format!(
        "rm -f tunnel; setsid -f {speak} >/dev/null 2>&1; \
         for i in $(seq 300); do grep -q 200 tunnel 2>/dev/null && echo open && break; sleep 0.1; done"
    ));
    assert_eq!(stdout(&run), "open\n", "{run}");
}

fn endings(online: &Online) -> Vec<String> {
    let records = online.records.connections();
    records.into_iter().filter_map(|one| one.outcome).collect()
}

/// Waits until the tunnel is closed on both sides, and looks at what is recorded of it.
#[track_caller]
fn is_closed(stage: &Stage, online: &Online, told: &Receiver<()>) {
    told.recv_timeout(PATIENCE).unwrap();
    let over = || {
        let said = std::fs::read_to_string(stage.path("workspace/tunnel"));
        said.is_ok_and(|said| said.ends_with("over\n"))
    };
    let started = std::time::Instant::now();
    while !over() && started.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(over());
    assert_eq!(endings(online), ["approval-over"]);
    let record = online.records.connections().remove(0);
    let connection = record.connection.unwrap();
    assert_eq!(connection.host.as_deref(), Some("slow.test"));
}

#[test]
fn a_tunnel_that_was_agreed_to_for_a_run_ends_with_the_run() {
    let stage = Stage::new();
    let (address, told) = silent();
    let net = Arc::new(MadeUp::default().with("slow.test", 80, address));
    let policy = stage.policy().grant(host("docs.test", 443));
    let online = Online::new(&stage, &net, policy, |_| ReviewDecision::Approved);
    leave_a_tunnel(&stage, &online);
    is_closed(&stage, &online, &told);

    // What is listed, or agreed to for the session, goes on.
    for (listed, answer) in [
        ("slow.test", no as fn(&Grant) -> ReviewDecision),
        ("docs.test", |_| ReviewDecision::ApprovedForSession),
    ] {
        let (address, told) = silent();
        let net = Arc::new(MadeUp::default().with("slow.test", 80, address));
        let policy = stage.policy().grant(host(listed, 80));
        let online = Online::new(&stage, &net, policy, answer);
        leave_a_tunnel(&stage, &online);
        assert!(told.recv_timeout(Duration::from_millis(300)).is_err());
        assert!(endings(&online).is_empty());
        drop(online);
        told.recv_timeout(PATIENCE).unwrap();
    }
}

#[test]
fn a_tunnel_ends_when_its_time_is_up() {
    let stage = Stage::new();
    let (address, told) = silent();
    let net = Arc::new(MadeUp::default().with("slow.test", 80, address));
    let policy = stage.policy().grant(host("docs.test", 443));
    let online = Online::new(&stage, &net, policy, |grant| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        ReviewDecision::ApprovedWithGrant {
            grant: grant.clone(),
            scope: GrantScope::Session,
            expires: Some(now.as_secs() + 3),
        }
    });
    leave_a_tunnel(&stage, &online);
    is_closed(&stage, &online, &told);
    assert_eq!(online.asked(), 1);
}

#[test]
fn what_is_taken_back_is_closed_and_asked_for_again() {
    let stage = Stage::new();
    let (address, told) = silent();
    let net = Arc::new(MadeUp::default().with("slow.test", 80, address));
    let state = State::new(stage.path("state"));
    let options = SessionOptions::default().with_state(state.clone());
    let policy = stage.policy().grant(host("docs.test", 443));
    let online = Online::with(&stage, &net, policy, options, |grant| {
        ReviewDecision::ApprovedWithGrant {
            grant: grant.clone(),
            scope: GrantScope::Project,
            expires: None,
        }
    });
    leave_a_tunnel(&stage, &online);
    assert_eq!(online.asked(), 1);
    assert!(told.recv_timeout(Duration::from_millis(300)).is_err());
    let project = AbsolutePath::new(stage.workspace()).unwrap();
    let grant = host("slow.test", 80);
    assert!(state.grants().remove(&project, &grant).unwrap());
    online.session.reload().unwrap();
    is_closed(&stage, &online, &told);
    assert!(!online.session.granted().contains(&grant));
    // The next one asks anew.
    let again = online.run("timeout 5 curl -sS http://slow.test/");
    assert!(!again.outcome.success(), "{again}");
    assert_eq!(online.asked(), 2);
}

#[test]
fn a_command_can_cause_so_many_questions_and_no_more() {
    let stage = Stage::new();
    let net = Arc::new(MadeUp::default());
    let policy = || stage.policy().grant(host("docs.test", 443));
    let online = Online::new(&stage, &net, policy(), no);
    let many =
        "for i in $(seq 40); do curl -s -o /dev/null -w '%{http_code}\n' http://h$i.test/; done";
    let run = online.run(many);
    assert_eq!(stdout(&run), "403\n".repeat(40), "{run}");
    assert_eq!(online.asked(), 32);
    assert_eq!(online.records.connections().len(), 40);
    // The next command may cause some again, but not about what was denied.
    let _ = online.run("curl -s http://h1.test/ http://h41.test/");
    assert_eq!(online.asked(), 33);
}

#[test]
fn no_command_pushes_older_records_out() {
    let stage = Stage::new();
    let net = Arc::new(MadeUp::default());
    let policy = stage
        .policy()
        .approval(asks_nothing())
        .grant(host("docs.test", 443));
    let online = Online::new(&stage, &net, policy, no);
    let flood = script(
        &stage,
        "for i in $(seq 1100); do\n\
         exec 3<>/dev/tcp/127.0.0.1/3128; printf '?' >&3; read -r -u 3; exec 3<&-\n\
         done\ntrue\n",
    );
    let run = online.run(flood);
    assert!(run.outcome.success(), "{run}");
    let about_network = || {
        let records = online.records.0.lock().unwrap();
        records.iter().filter(|one| one.tool == "network").count()
    };
    assert_eq!(about_network(), 1000);
    assert_eq!(online.records.connections().len(), 999);
    let last = {
        let records = online.records.0.lock().unwrap();
        let last = records.iter().rfind(|one| one.tool == "network");
        last.unwrap().clone()
    };
    assert!(
        last.refusal
            .unwrap()
            .contains("no more connections are recorded")
    );
    // The next one counts from the beginning.
    let _ = online.curl("http://evil.test/");
    assert_eq!(online.records.connections().len(), 1000);
}
