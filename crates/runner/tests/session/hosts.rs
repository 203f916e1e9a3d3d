//! The network by host: what is listed is reached, what is not is asked for or refused, and everything is recorded.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use palisade_exec_policy::{AskForApproval, GrantScope, RejectConfig, ReviewDecision};
use palisade_policy::{Grant, Guarantee, Level};
use palisade_runner::approve::Prompt;
use palisade_runner::audit::{AuditRecord, AuditSink, DecisionWord};
use palisade_runner::config::State;
use palisade_runner::egress::Credential;
use palisade_runner::judge::RuleBook;
use palisade_runner::outcome::{Evidence, Finished, Outcome};
use palisade_runner::session::{Policy, Sandbox, Session, SessionOptions};

use crate::made_up_net::{MadeUp, files, host};
use crate::support::Stage;

/// A page on a server of the test's.
pub(crate) fn page(stage: &Stage) -> SocketAddr {
    let root = stage.path("outside");
    std::fs::write(root.join("page"), "a page\n").unwrap();
    files(root).0
}

#[derive(Default)]
pub(crate) struct Records(pub(crate) Mutex<Vec<AuditRecord>>);

impl AuditSink for Records {
    fn record(&self, record: &AuditRecord) {
        self.0.lock().unwrap().push(record.clone());
    }
}

impl Records {
    /// Those about connections.
    pub(crate) fn connections(&self) -> Vec<AuditRecord> {
        let records = self.0.lock().unwrap();
        records
            .iter()
            .filter(|record| record.connection.is_some())
            .cloned()
            .collect()
    }
}

/// A session on a made-up network, whose person answers questions about hosts like this and agrees to everything else.
pub(crate) struct Online {
    pub(crate) session: Session,
    pub(crate) questions: Arc<Mutex<Vec<Prompt>>>,
    pub(crate) records: Arc<Records>,
}

impl Online {
    pub(crate) fn new(
        stage: &Stage,
        net: &Arc<MadeUp>,
        policy: Policy,
        answer: impl Fn(&Grant) -> ReviewDecision + Send + Sync + 'static,
    ) -> Self {
        Self::with(stage, net, policy, SessionOptions::default(), answer)
    }

    pub(crate) fn with(
        stage: &Stage,
        net: &Arc<MadeUp>,
        policy: Policy,
        options: SessionOptions,
        answer: impl Fn(&Grant) -> ReviewDecision + Send + Sync + 'static,
    ) -> Self {
        let questions: Arc<Mutex<Vec<Prompt>>> = Arc::default();
        let records: Arc<Records> = Arc::default();
        let asked = Arc::clone(&questions);
        let prompter = move |prompt: &Prompt| match &prompt.proposed_grant {
            Some(grant @ Grant::Host(_)) => {
                asked.lock().unwrap().push(prompt.clone());
                answer(grant)
            }
            _ => ReviewDecision::Approved,
        };
        let options = options.with_audit(Arc::clone(&records) as _);
        let session = Sandbox::on(stage.host().with_egress(net.egress()), policy)
            .unwrap()
            .session_with(RuleBook::builtin().unwrap(), prompter, options)
            .unwrap();
        Self {
            session,
            questions,
            records,
        }
    }

    pub(crate) fn run(&self, script: &str) -> Finished {
        self.session.script(script).output_blocking().unwrap()
    }

    /// Gets an address with the system's curl.
    pub(crate) fn curl(&self, arguments: &str) -> Finished {
        self.run(&format!(
            "curl --silent --show-error --max-time 30 --fail {arguments}"
        ))
    }

    pub(crate) fn asked(&self) -> usize {
        self.questions.lock().unwrap().len()
    }
}

/// Asks what rules ask, and never for more than the policy gives.
pub(crate) fn asks_nothing() -> AskForApproval {
    AskForApproval::Reject(RejectConfig {
        request_permissions: true,
        sandbox_approval: true,
        ..RejectConfig::default()
    })
}

pub(crate) fn no(_: &Grant) -> ReviewDecision {
    ReviewDecision::Denied
}

pub(crate) fn stdout(finished: &Finished) -> String {
    finished.output.stdout.text().into_owned()
}

#[test]
fn a_listed_host_is_reached_and_nothing_else_is() {
    let stage = Stage::new();
    let net = Arc::new(
        MadeUp::default()
            .with("docs.test", 80, page(&stage))
            .named("evil.test", "93.184.216.35"),
    );
    let policy = stage
        .policy()
        .approval(asks_nothing())
        .grant(host("docs.test", 80));
    let online = Online::new(&stage, &net, policy, no);
    let report = online.session.enforcement();
    assert_eq!(report.level(Guarantee::NetworkHosts), Level::Enforced);
    assert_eq!(report.level(Guarantee::Network), Level::Enforced);
    for how in ["", "--proxytunnel", "--proxy socks5h://127.0.0.1:3128"] {
        let fine = online.curl(&format!("{how} http://docs.test/page"));
        assert_eq!(stdout(&fine), "a page\n", "{how}: {fine}");
    }
    // Another host, another port, an address, the same address spelt oddly, a name of this machine.
    for url in [
        "http://evil.test/page",
        "http://docs.test:81/page",
        "http://93.184.216.34/page",
        "http://0x5d.184.216.34/page",
        "http://1572395042/page",
        "http://[::ffff:93.184.216.34]/page",
        "http://169.254.169.254/latest/meta-data",
    ] {
        let refused = online.curl(&format!("--noproxy '' '{url}'"));
        assert!(!refused.outcome.success(), "{url}: {refused}");
        assert_eq!(stdout(&refused), "", "{url}");
    }
    // Without the proxy there is nothing: no route, and no names.
    for direct in [
        "curl --silent --noproxy '*' --max-time 5 http://93.184.216.34/page",
        "curl --silent --noproxy '*' --max-time 5 http://docs.test/page",
        "getent hosts docs.test",
    ] {
        assert!(!online.run(direct).outcome.success(), "{direct}");
    }
    assert_eq!(*net.resolved.lock().unwrap(), ["docs.test"; 3]);
    assert_eq!(net.connected.lock().unwrap().len(), 3);
    assert_eq!(online.asked(), 0);
}

#[test]
fn a_refused_host_is_named_with_the_grant_that_would_open_it() {
    let stage = Stage::new();
    let net = Arc::new(MadeUp::default());
    let policy = stage
        .policy()
        .approval(asks_nothing())
        .grant(host("docs.test", 443));
    let online = Online::new(&stage, &net, policy, no);
    let refused = online.curl("https://other.test/");
    let Outcome::Denied { evidence, .. } = &refused.outcome else {
        panic!("{refused}")
    };
    let Evidence::Likely {
        smallest_grant,
        resource,
        ..
    } = &evidence[0]
    else {
        panic!("{evidence:?}")
    };
    assert!(resource.contains("other.test"), "{resource}");
    assert_eq!(*smallest_grant, Some(host("other.test", 443)));
    // What no grant would mend is told all the same.
    let listed = stage
        .policy()
        .approval(asks_nothing())
        .grant(host("inner.test", 80));
    let net = Arc::new(MadeUp::default().named("inner.test", "127.0.0.1"));
    let inner = Online::new(&stage, &net, listed, no).curl("http://inner.test/");
    assert!(
        inner
            .notes
            .iter()
            .any(|note| note.contains("inner.test:80 was refused")),
        "{inner}"
    );
    assert!(net.connected.lock().unwrap().is_empty());
}

#[test]
fn a_host_can_be_asked_for_while_the_command_waits() {
    let stage = Stage::new();
    let net = || Arc::new(MadeUp::default().with("new.test", 80, page(&stage)));
    let policy = || stage.policy().grant(host("docs.test", 443));
    let twice = "curl -sS --fail http://new.test/page && curl -sS --fail http://new.test/page";

    // For this run: not asked again in it, asked again in the next one.
    let net_once = net();
    let online = Online::new(&stage, &net_once, policy(), |_| ReviewDecision::Approved);
    let run = online.run(twice);
    assert_eq!(stdout(&run), "a page\na page\n", "{run}");
    assert_eq!(online.asked(), 1);
    let question = online.questions.lock().unwrap()[0].clone();
    assert_eq!(question.proposed_grant, Some(host("new.test", 80)));
    assert!(
        question.to_string().contains("asks to reach new.test:80"),
        "{question}"
    );
    assert!(question.display_line().contains("curl -sS"), "{question}");
    assert_eq!(stdout(&online.run(twice)), "a page\na page\n");
    assert_eq!(online.asked(), 2);

    // For the session.
    let online = Online::new(&stage, &net(), policy(), |_| {
        ReviewDecision::ApprovedForSession
    });
    assert_eq!(stdout(&online.run(twice)), "a page\na page\n");
    assert_eq!(stdout(&online.run(twice)), "a page\na page\n");
    assert_eq!(online.asked(), 1);
    assert!(online.session.granted().contains(&host("new.test", 80)));

    // For the project: the next session knows it.
    let state = State::new(stage.path("state"));
    let options = || SessionOptions::default().with_state(state.clone());
    let for_project = |grant: &Grant| ReviewDecision::ApprovedWithGrant {
        grant: grant.clone(),
        scope: GrantScope::Project,
        expires: None,
    };
    let online = Online::with(&stage, &net(), policy(), options(), for_project);
    assert_eq!(stdout(&online.run(twice)), "a page\na page\n");
    assert_eq!(online.asked(), 1);
    drop(online);
    let online = Online::with(&stage, &net(), policy(), options(), no);
    assert_eq!(stdout(&online.run(twice)), "a page\na page\n");
    assert_eq!(online.asked(), 0);

    // No is remembered, and nothing was resolved or connected for it.
    let net_no = net();
    let online = Online::new(&stage, &net_no, policy(), no);
    for _ in 0..2 {
        assert!(!online.curl("http://new.test/page").outcome.success());
    }
    assert_eq!(online.asked(), 1);
    assert!(net_no.resolved.lock().unwrap().is_empty());

    // A grant for something else is none for this.
    let online = Online::new(&stage, &net(), policy(), |_| {
        ReviewDecision::ApprovedWithGrant {
            grant: host("else.test", 80),
            scope: GrantScope::Session,
            expires: None,
        }
    });
    assert!(!online.curl("http://new.test/page").outcome.success());
    assert!(!online.session.granted().contains(&host("else.test", 80)));
}

#[test]
fn every_connection_is_a_record() {
    let stage = Stage::new();
    let net = Arc::new(MadeUp::default().with("docs.test", 80, page(&stage)));
    let policy = stage
        .policy()
        .approval(asks_nothing())
        .grant(host("docs.test", 80));
    let online = Online::new(&stage, &net, policy, no);
    let _ = online.curl("http://docs.test/page");
    let _ = online.curl("http://evil.test/");
    let records = online.records.connections();
    let [fine, refused] = records.as_slice() else {
        panic!("{records:?}")
    };
    let connection = fine.connection.as_ref().unwrap();
    assert_eq!(
        (connection.host.as_deref(), connection.port),
        (Some("docs.test"), Some(80))
    );
    assert_eq!(
        (fine.decision, fine.rule.as_deref()),
        (Some(DecisionWord::Allow), Some("docs.test:80"))
    );
    assert!(
        connection.sent > 0 && connection.received > 7,
        "{connection:?}"
    );
    assert_eq!(fine.outcome.as_deref(), Some("complete"));
    assert_eq!(fine.tool, "network");
    assert!(!fine.call_id.is_empty());
    assert_eq!(refused.decision, Some(DecisionWord::Forbid));
    assert_eq!(refused.outcome.as_deref(), Some("refused"));
    assert!(refused.refusal.as_ref().unwrap().contains("does not list"));
    assert_eq!(
        refused.connection.as_ref().unwrap().host.as_deref(),
        Some("evil.test")
    );
    // They are kept as they are written.
    let text = serde_json::to_string(fine).unwrap();
    assert_eq!(serde_json::from_str::<AuditRecord>(&text).unwrap(), *fine);
}

#[test]
fn a_secret_is_added_outside_and_never_seen_inside() {
    let stage = Stage::new();
    let root = stage.path("outside");
    std::fs::write(root.join("page"), "a page\n").unwrap();
    let (server, heads) = files(root);
    let net = Arc::new(MadeUp::default().with("api.test", 80, server));
    let Grant::Host(entry) = host("api.test", 80) else {
        panic!("a host")
    };
    let secret = Credential::new(entry, "Authorization", "Bearer hunter2").unwrap();
    let policy = stage.policy().grant(host("api.test", 80));
    let session = Sandbox::on(
        stage
            .host()
            .with_egress(net.egress().with_credential(secret)),
        policy,
    )
    .unwrap()
    .session(RuleBook::builtin().unwrap(), |_: &Prompt| {
        ReviewDecision::Approved
    })
    .unwrap();
    let run = session
        .script(
            "curl -sS -v -H 'Authorization: mine' http://api.test/page; env; cat /proc/*/environ",
        )
        .output_blocking()
        .unwrap();
    let heads = heads.lock().unwrap();
    assert_eq!(heads.len(), 1, "{run}");
    assert!(
        heads[0]
            .to_ascii_lowercase()
            .contains("authorization: bearer hunter2"),
        "{heads:?}"
    );
    assert!(!heads[0].contains("mine"), "{heads:?}");
    assert!(!run.output.aggregated.text().contains("hunter2"), "{run}");
}

#[test]
fn the_proxy_and_everything_that_goes_through_it_end_with_the_session() {
    let stage = Stage::new();
    let (tell, told) = std::sync::mpsc::channel();
    let tell = Mutex::new(tell);
    // Says nothing and waits until the other side is gone.
    let silent = crate::made_up_net::server(move |mut stream| {
        let mut rest = Vec::new();
        drop(std::io::Read::read_to_end(&mut stream, &mut rest));
        let _ = tell.lock().unwrap().send(());
    });
    let net = Arc::new(MadeUp::default().with("slow.test", 80, silent));
    let policy = stage.policy().grant(host("slow.test", 80));
    let online = Online::new(&stage, &net, policy, no);
    let run = online.run("timeout 1 curl -sS http://slow.test/; echo $?");
    assert!(stdout(&run).ends_with("124\n"), "{run}");
    let records = Arc::clone(&online.records);
    drop(online);
    told.recv_timeout(std::time::Duration::from_secs(20))
        .unwrap();
    assert_eq!(records.connections().len(), 1);
}

#[test]
fn a_question_that_nobody_answers_keeps_no_session_alive() {
    let stage = Stage::new();
    let net = Arc::new(MadeUp::default());
    let (release, released) = std::sync::mpsc::channel::<()>();
    let released = Mutex::new(released);
    let policy = stage.policy().grant(host("docs.test", 443));
    let online = Online::new(&stage, &net, policy, move |_| {
        // Until the test lets go.
        let _ = released.lock().unwrap().recv();
        ReviewDecision::Approved
    });
    let word = format!("word-of-{}", stage.workspace().display());
    let script = format!(
        "setsid -f bash -c 'exec -a \"{word}\" sleep 300' >/dev/null 2>&1; timeout 2 curl -sS http://new.test/"
    );
    let run = online.run(&script);
    assert!(!run.outcome.success(), "{run}");
    assert_eq!(online.asked(), 1);
    let alive = || {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let mut lines = processes.filter_map(|one| std::fs::read(one.path().join("cmdline")).ok());
        lines.any(|line| line.starts_with(word.as_bytes()))
    };
    assert!(alive());
    drop(online);
    assert!(!alive());
    drop(release);
}

#[test]
fn a_yes_for_a_run_is_for_no_other_run() {
    let stage = Stage::new();
    let net = Arc::new(MadeUp::default().with("new.test", 80, page(&stage)));
    let (release, released) = std::sync::mpsc::channel::<()>();
    let released = Mutex::new(released);
    let policy = stage.policy().grant(host("docs.test", 443));
    let online = Online::new(&stage, &net, policy, move |_| {
        // The first waits until the test lets go, the second does not.
        let _ = released.lock().unwrap().recv();
        ReviewDecision::Approved
    });
    let first = online.run("timeout 1 curl -sS http://new.test/page");
    assert!(!first.outcome.success(), "{first}");
    std::thread::scope(|scope| {
        let script = "touch started; while [ ! -e go ]; do sleep 0.05; done; curl -sS --fail http://new.test/page";
        let second = scope.spawn(|| online.run(script));
        while !stage.path("workspace/started").exists() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        // The answer about the first comes while the second runs.
        drop(release);
        std::thread::sleep(std::time::Duration::from_millis(500));
        std::fs::write(stage.path("workspace/go"), "").unwrap();
        assert_eq!(stdout(&second.join().unwrap()), "a page\n");
    });
    assert_eq!(online.asked(), 2);
}
