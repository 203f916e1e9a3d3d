//! Programs that people use, through the proxy, to servers that the test starts.
#![cfg(unix)]
#![expect(clippy::print_stdout, reason = "a test says what it skips")]

use std::fs;
use std::io::Write as _;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use palisade_egress_proxy::{Decision, Ending, Refusal};

use crate::stage::{FINE, Stage, Web, plan, read_head, server, wait_until};

/// Whether the program is there; says so if it is not.
pub(crate) fn have(program: &str) -> bool {
    let found = Command::new(program)
        .arg(if program == "openssl" {
            "version"
        } else {
            "--version"
        })
        .output()
        .is_ok_and(|output| output.status.success());
    if !found {
        println!("skipped: {program} is not installed");
    }
    found
}

/// Without the settings of whoever runs the test.
fn clean(program: &str) -> Command {
    let mut command = Command::new(program);
    for name in ["http_proxy", "https_proxy", "all_proxy", "no_proxy"] {
        command.env_remove(name).env_remove(name.to_uppercase());
    }
    command
}

pub(crate) fn curl(stage: &Stage, scheme: &str, arguments: &[&str]) -> Output {
    clean("curl")
        .args(["--silent", "--show-error", "--max-time", "20", "--disable"])
        .args(["--proxy", &format!("{scheme}://{}", stage.proxy.address())])
        .args(arguments)
        .output()
        .unwrap()
}

#[test]
fn curl_gets_posts_and_is_refused() {
    if !have("curl") {
        return;
    }
    for scheme in ["http", "socks5h"] {
        let web = Web::new(FINE);
        let stage = plan().open("docs.test", 80, web.address).start();
        let output = curl(&stage, scheme, &["http://docs.test/page"]);
        assert_eq!(output.stdout, b"fine\n", "{output:?}");
        let chunked = [
            "-H",
            "Transfer-Encoding: chunked",
            "-d",
            "x=1",
            "http://docs.test/",
        ];
        let output = curl(&stage, scheme, &chunked);
        assert_eq!(output.stdout, b"fine\n", "{output:?}");
        assert!(
            web.requests()[1].contains("3\r\nx=1\r\n0\r\n\r\n"),
            "{:?}",
            web.requests()
        );
        let output = curl(
            &stage,
            scheme,
            &["--proxytunnel", "http://docs.test/tunnel"],
        );
        assert_eq!(output.stdout, b"fine\n", "{output:?}");
        // Enough for `Expect: 100-continue`.
        let large = "a".repeat(2_000_000);
        let mut child = clean("curl")
            .args([
                "--silent",
                "--max-time",
                "20",
                "--disable",
                "--data-binary",
                "@-",
            ])
            .args(["--proxy", &format!("{scheme}://{}", stage.proxy.address())])
            .arg("http://docs.test/large")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(large.as_bytes())
            .unwrap();
        assert_eq!(child.wait_with_output().unwrap().stdout, b"fine\n");
        assert!(web.requests()[3].ends_with(&large));

        let output = curl(&stage, scheme, &["http://evil.test/"]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            text.contains("the policy does not list") || !output.status.success(),
            "{output:?}"
        );
        let last = stage.records(5).pop().unwrap();
        assert_eq!(
            last.decision,
            Decision::Refused {
                why: Refusal::NotListed
            }
        );
    }
}

/// Ended with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn openssl_server(directory: &Path) -> (Running, SocketAddr) {
    let made = clean("openssl")
        .current_dir(directory)
        .args([
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
        ])
        .args([
            "-subj",
            "/CN=docs.test",
            "-addext",
            "subjectAltName=DNS:docs.test",
        ])
        .args(["-keyout", "key.pem", "-out", "cert.pem"])
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let address = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let server = clean("openssl")
        .current_dir(directory)
        .args([
            "s_server",
            "-accept",
            &address.to_string(),
            "-www",
            "-quiet",
        ])
        .args(["-cert", "cert.pem", "-key", "key.pem"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let server = Running(server);
    wait_until(|| TcpStream::connect(address).is_ok());
    (server, address)
}

#[test]
fn curl_speaks_tls_with_the_host_it_named_and_no_other() {
    if !have("curl") || !have("openssl") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let (_server, address) = openssl_server(directory.path());
    let certificate = directory.path().join("cert.pem");
    let certificate = certificate.to_str().unwrap();
    for scheme in ["http", "socks5h"] {
        for version in ["--tlsv1.3", "--tls-max=1.2"] {
            let stage = plan().open("docs.test", 443, address).start();
            let version: Vec<_> = version.split('=').collect();
            let mut arguments = vec!["--cacert", certificate, "https://docs.test/"];
            arguments.extend(version);
            let output = curl(&stage, scheme, &arguments);
            assert!(output.status.success(), "{output:?}");
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(text.contains("Ciphers supported"), "{text}");
            let record = &stage.records(1)[0];
            assert_eq!(record.ending, Ending::Complete, "{record:?}");
        }
        // Connects to the listed host, and asks for another one behind it.
        let stage = plan().open("docs.test", 443, address).start();
        let arguments = [
            "--insecure",
            "--connect-to",
            "evil.test:443:docs.test:443",
            "https://evil.test/",
        ];
        let output = curl(&stage, scheme, &arguments);
        assert!(!output.status.success(), "{output:?}");
        let name = "evil.test".to_owned();
        assert_eq!(stage.refusal(), Refusal::ServerName { name });
        assert_eq!(stage.records(1)[0].sent, 0);
    }
}

/// A server of the files below a directory.
fn files(root: PathBuf) -> SocketAddr {
    server(move |mut stream| {
        let head = read_head(&mut stream);
        let path = head.split(' ').nth(1).unwrap_or("/");
        let path = path
            .split('?')
            .next()
            .unwrap_or(path)
            .trim_start_matches('/');
        let found = fs::read(root.join(path))
            .ok()
            .filter(|_| !path.contains(".."));
        let (status, body) = match found {
            Some(body) => ("200 OK", body),
            None => ("404 Not Found", Vec::new()),
        };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        drop(stream.write_all(head.as_bytes()));
        drop(stream.write_all(&body));
    })
}

fn git(directory: &Path, arguments: &[&str]) -> Output {
    clean("git")
        .current_dir(directory)
        .args([
            "-c",
            "user.name=dev",
            "-c",
            "user.email=dev@docs.test",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env("GIT_TERMINAL_PROMPT", "0")
        .output()
        .unwrap()
}

#[test]
fn git_clones_over_http() {
    if !have("git") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path();
    for arguments in [
        &["init", "--quiet", "work"][..],
        &[
            "-C",
            "work",
            "commit",
            "--quiet",
            "--allow-empty",
            "-m",
            "first",
        ],
        &["clone", "--quiet", "--bare", "work", "repo.git"],
        &["-C", "repo.git", "update-server-info"],
    ] {
        let output = git(root, arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    }
    let address = files(root.to_owned());
    for scheme in ["http", "socks5h"] {
        let stage = plan().open("git.test", 80, address).start();
        let proxy = format!("http.proxy={scheme}://{}", stage.proxy.address());
        let clone = |url: &str, to: &str| git(root, &["-c", &proxy, "clone", "--quiet", url, to]);
        let cloned = clone("http://git.test/repo.git", scheme);
        assert!(cloned.status.success(), "{cloned:?}");
        let log = git(root, &["-C", scheme, "log", "--format=%s"]);
        assert_eq!(log.stdout, b"first\n", "{log:?}");
        let refused = clone("http://evil.test/repo.git", "evil");
        assert!(!refused.status.success());
        let last = stage.records.lock().unwrap().last().cloned().unwrap();
        assert_eq!(
            last.decision,
            Decision::Refused {
                why: Refusal::NotListed
            }
        );
    }
}
