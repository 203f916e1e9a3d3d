//! TLS that is opened on the way to a host, so that a secret is added there: real clients in a sandbox, which trust the
//! session and never see the secret; and all the TLS that stays closed.

use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use palisade_exec_policy::ReviewDecision;
use palisade_exec_policy::language::model::Injection;
use palisade_exec_policy::language::{Layer, Source, load_sources};
use palisade_policy::{Environment, NetworkAllowlistEntry};
use palisade_runner::approve::Prompt;
use palisade_runner::egress::{Credential, Egress, InjectProblem};
use palisade_runner::judge::RuleBook;
use palisade_runner::outcome::Finished;
use palisade_runner::session::{Sandbox, Session};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::hosts_tools::{have, make};
use crate::made_up_net::{MadeUp, files_over, host};
use crate::support::Stage;

const SECRET: &str = "hunter2";
const DAY: Duration = Duration::from_secs(24 * 3600);

type Heads = Arc<Mutex<Vec<String>>>;

/// An authority of the test, which vouches for its servers.
struct Pki {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Pki {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let name = "Authority of the test";
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().unwrap();
        Self {
            pem: params.self_signed(&key).unwrap().pem(),
            issuer: Issuer::new(params, key),
        }
    }

    /// A server of the files below a directory, under this name and in TLS.
    fn server(&self, name: &str, root: PathBuf) -> (SocketAddr, Heads) {
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        params.not_before = (SystemTime::now() - DAY).into();
        params.not_after = (SystemTime::now() + DAY).into();
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        let config = Arc::new(config);
        files_over(root, move |stream: TcpStream| {
            StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), stream)
        })
    }
}

fn entry(name: &str, port: u16) -> NetworkAllowlistEntry {
    NetworkAllowlistEntry::with_port(name, port).unwrap()
}

fn secret(name: &str, port: u16) -> Credential {
    let value = format!("Bearer {SECRET}");
    Credential::new(entry(name, port), "Authorization", value).unwrap()
}

/// A session whose TLS to `api.test` is opened, and that to `shut.test:8443` is not; with what both servers were sent.
struct Opened {
    session: Session,
    api: Heads,
    shut: Heads,
}

impl Opened {
    fn new(stage: &Stage) -> Self {
        Self::with(stage, |egress, pki| {
            let hosts = [entry("api.test", 443)];
            egress
                .with_opened_tls(hosts, Some(pki.pem.as_bytes()))
                .unwrap()
        })
    }

    fn with(stage: &Stage, open: impl Fn(Egress, &Pki) -> Egress) -> Self {
        let pki = Pki::new();
        let root = stage.path("outside");
        fs::write(root.join("page"), "a page\n").unwrap();
        let (api_server, api) = pki.server("api.test", root.clone());
        let (shut_server, shut) = pki.server("shut.test", root);
        let net = MadeUp::default().with("api.test", 443, api_server).with(
            "shut.test",
            8443,
            shut_server,
        );
        // Both have a secret; only one is to be opened for it.
        let egress = Arc::new(net)
            .egress()
            .with_credential(secret("api.test", 443))
            .with_credential(secret("shut.test", 8443));
        let policy = stage
            .policy()
            .grant(host("api.test", 443))
            .grant(host("shut.test", 8443));
        // For clients that are to trust the servers themselves.
        fs::write(stage.path("workspace/servers.pem"), &pki.pem).unwrap();
        let session = Sandbox::on(stage.host().with_egress(open(egress, &pki)), policy)
            .unwrap()
            .session(RuleBook::builtin().unwrap(), |_: &Prompt| {
                ReviewDecision::Approved
            })
            .unwrap();
        Self { session, api, shut }
    }

    fn run(&self, script: &str) -> Finished {
        self.session.script(script).output_blocking().unwrap()
    }

    #[track_caller]
    fn prints(&self, script: &str, expected: &str) {
        let run = self.run(script);
        assert_eq!(run.output.stdout.text(), expected, "{run}");
        assert!(!run.output.aggregated.text().contains(SECRET), "{run}");
    }
}

fn all_have_the_secret(heads: &Heads) {
    let heads = heads.lock().unwrap();
    assert!(!heads.is_empty());
    for head in heads.iter() {
        let head = head.to_ascii_lowercase();
        assert!(
            head.contains("\r\nauthorization: bearer hunter2\r\n"),
            "{head}"
        );
        assert!(!head.contains("mine"), "{head}");
    }
}

#[test]
fn curl_python_and_git_reach_an_opened_host_and_see_no_secret() {
    let stage = Stage::new();
    make(
        &stage.path("outside"),
        "git init -q work && cd work && git config user.email a@b.test && git config user.name a \
         && echo one > file && git add file && git commit -qm one && cd .. \
         && git clone -q --bare work repo.git && cd repo.git && git update-server-info",
    );
    let opened = Opened::new(&stage);
    opened.prints(
        "curl -sS -H 'Authorization: mine' https://api.test/page",
        "a page\n",
    );
    opened.prints(
        "curl -sS --proxy socks5h://127.0.0.1:3128 https://api.test/page",
        "a page\n",
    );
    all_have_the_secret(&opened.api);
    for (program, script, expected) in [
        (
            "/usr/bin/python3",
            "python3 -c 'import urllib.request as r; print(r.urlopen(\"https://api.test/page\").read())'",
            "b'a page\\n'\n",
        ),
        (
            "/usr/bin/git",
            "git clone -q https://api.test/repo.git cloned && cat cloned/file",
            "one\n",
        ),
    ] {
        if have(&[program]) {
            opened.prints(script, expected);
        }
    }
    all_have_the_secret(&opened.api);
}

#[test]
fn nothing_inside_holds_the_secret_or_a_key_and_nobody_replaces_whom_to_trust() {
    let stage = Stage::new();
    let opened = Opened::new(&stage);
    let everything = opened.run(
        "curl -sS -v https://api.test/page; env; cat /proc/*/environ /proc/*/cmdline /proc/*/mountinfo; \
         cat \"${SSL_CERT_FILE%/*}\"/*; ls -la \"${SSL_CERT_FILE%/*}\"; \
         grep -rlE 'hunter[2]|PRIVAT[E] KEY' /tmp /dev/shm . 2>/dev/null; ls -l /proc/self/fd",
    );
    let text = everything.output.aggregated.text();
    assert!(
        text.contains("a page") && text.contains("BEGIN CERTIFICATE"),
        "{everything}"
    );
    assert!(
        !text.contains(SECRET) && !text.contains("PRIVATE"),
        "{everything}"
    );
    all_have_the_secret(&opened.api);

    // Both files can be read, and neither they nor where they are can be written, moved or covered.
    let script = r#"
        d=${SSL_CERT_FILE%/*}
        for file in "$SSL_CERT_FILE" "$NODE_EXTRA_CA_CERTS"; do
            test -s "$file" || echo "no $file"
            test "${file%/*}" = "$d" || echo "elsewhere $file"
            (echo mine > "$file") 2>/dev/null && echo "written"
            rm -f "$file" 2>/dev/null && echo "removed"
            chmod 600 "$file" 2>/dev/null && echo "changed"
        done
        mv "$d" /tmp/elsewhere 2>/dev/null && echo "moved"
        mkdir /tmp/mine && mv -T /tmp/mine "$d" 2>/dev/null && echo "replaced"
        touch "$d/more" 2>/dev/null && echo "added"
        for name in CURL_CA_BUNDLE GIT_SSL_CAINFO REQUESTS_CA_BUNDLE PIP_CERT CARGO_HTTP_CAINFO npm_config_cafile; do
            test "${!name}" = "$SSL_CERT_FILE" || echo "$name"
        done
        curl -sS https://api.test/page"#;
    opened.prints(script, "a page\n");

    // Nothing of it is left when the session is over.
    let left = opened
        .run("echo -n ${SSL_CERT_FILE%/*}")
        .output
        .stdout
        .text()
        .into_owned();
    assert!(fs::metadata(&left).unwrap().is_dir(), "{left}");
    drop(opened);
    assert!(!fs::exists(&left).unwrap(), "{left}");
}

#[test]
fn a_host_that_is_not_named_stays_closed() {
    let stage = Stage::new();
    let opened = Opened::new(&stage);
    // The server's own certificate and no other: the client trusts the server's authority alone.
    opened.prints(
        "curl -sS --cacert servers.pem -H 'Authorization: mine' https://shut.test:8443/page",
        "a page\n",
    );
    let heads = opened.shut.lock().unwrap().clone();
    assert!(heads[0].contains("Authorization: mine"), "{heads:?}");
    assert!(!heads[0].contains(SECRET), "{heads:?}");
    // With what the session is told to trust, it works as well.
    opened.prints("curl -sS https://shut.test:8443/page", "a page\n");
    // And the opened one shows the session's certificate, which the server's authority has nothing to do with.
    let other = opened.run("curl -sS --cacert servers.pem https://api.test/page");
    assert!(!other.outcome.success(), "{other}");
    assert!(opened.api.lock().unwrap().is_empty());
}

#[test]
fn nothing_is_opened_unless_it_is_asked_for() {
    let stage = Stage::new();
    let opened = Opened::with(&stage, |egress, _| egress);
    opened.prints(
        "curl -sS --cacert servers.pem https://api.test/page; echo \"${SSL_CERT_FILE-unset}\"",
        "a page\nunset\n",
    );
    let heads = opened.api.lock().unwrap();
    assert!(!heads[0].contains(SECRET), "{heads:?}");
}

fn injections(more: &str) -> Vec<Injection> {
    let text = format!(
        "version = 1\n[[network.inject]]\nhost = \"api.test\"\nheader = \"Authorization\"\nprefix = \"Bearer \"\n\
         from-env = \"WORD\"\n{more}\n"
    );
    let loaded = load_sources([Source::new(Layer::User, "user.toml", &text)]).unwrap();
    let settings = loaded.settings().inject.iter();
    settings.map(|setting| setting.value.clone()).collect()
}

#[test]
fn the_users_policy_opens_a_host_and_says_who_vouches_for_servers() {
    let stage = Stage::new();
    let roots = stage.path("roots.pem");
    let environment = |roots: &std::path::Path| {
        Environment::from([
            ("WORD".into(), SECRET.into()),
            ("SSL_CERT_FILE".into(), roots.into()),
        ])
    };
    let opened = Opened::with(&stage, |_, pki| {
        fs::write(&roots, &pki.pem).unwrap();
        Egress::new()
            .with_injections(&injections("intercept = true"), &environment(&roots))
            .unwrap()
    });
    // What it trusts is on offer inside, and nothing else: these are the authority of the test and the session's.
    opened.prints("grep -c BEGIN $SSL_CERT_FILE", "2\n");
    drop(opened);

    let refused = |environment: &Environment| {
        let egress = Egress::new().with_injections(&injections("intercept = true"), environment);
        egress.unwrap_err()
    };
    let gone = refused(&environment(&stage.path("gone.pem")));
    assert!(matches!(gone.problem, InjectProblem::Roots(_)), "{gone}");
    let none = refused(&environment(&stage.path("workspace/notes.txt")));
    assert!(matches!(none.problem, InjectProblem::Tls(_)), "{none}");
    for error in [gone, none] {
        assert!(
            error.to_string().contains("in TLS that is opened"),
            "{error}"
        );
        assert!(!format!("{error:?}").contains(SECRET), "{error}");
    }
    let egress = Egress::new().with_injections(&injections(""), &environment(&roots));
    assert!(format!("{:?}", egress.unwrap()).contains("to_open: None"));
}

#[test]
fn what_is_shown_of_an_egress_holds_no_secret() {
    let pki = Pki::new();
    let hosts = [entry("api.test", 443)];
    let egress = Egress::new()
        .with_credential(secret("api.test", 443))
        .with_opened_tls(hosts, Some(pki.pem.as_bytes()))
        .unwrap();
    let shown = format!("{egress:?}");
    assert!(shown.contains("api.test:443"), "{shown}");
    assert!(
        !shown.contains(SECRET) && !shown.contains("104, 117"),
        "{shown}"
    );
}
