//! A proxy between made-up names and servers on loopback.

use std::collections::{HashMap, VecDeque};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use palisade_egress_proxy::{
    Approver, ConnectionRecord, Connector, Credential, Decision, Later, Limits, Proxy, Refusal,
    Resolver, Settings,
};
use palisade_policy::{HostName, NetworkAllowlistEntry};

/// An address that looks public. Nothing is ever sent there.
pub(crate) const PUBLIC: &str = "93.184.216.34";
const PATIENCE: Duration = Duration::from_secs(20);

/// Answers with what it was told, one list after another, the last one again and again.
#[derive(Default)]
pub(crate) struct Names {
    answers: Mutex<HashMap<String, VecDeque<Vec<IpAddr>>>>,
    pub(crate) asked: Mutex<Vec<String>>,
}

impl Resolver for Names {
    fn resolve<'a>(&'a self, host: &'a HostName) -> Later<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            self.asked.lock().unwrap().push(host.to_string());
            let mut answers = self.answers.lock().unwrap();
            let list = answers
                .get_mut(&host.to_string())
                .ok_or_else(|| io::Error::other("no such name"))?;
            let next = list.pop_front().expect("an answer");
            if list.is_empty() {
                list.push_back(next.clone());
            }
            Ok(next)
        })
    }
}

/// Writes down where a connection would go, and goes to a server of the test instead, if there is one.
#[derive(Default)]
pub(crate) struct Roads {
    servers: Mutex<HashMap<SocketAddr, SocketAddr>>,
    pub(crate) tried: Mutex<Vec<SocketAddr>>,
}

impl Connector for Roads {
    fn connect(&self, address: SocketAddr) -> Later<'_, io::Result<TcpStream>> {
        self.tried.lock().unwrap().push(address);
        let server = self.servers.lock().unwrap().get(&address).copied();
        Box::pin(async move {
            let server = server.ok_or(io::ErrorKind::ConnectionRefused)?;
            TcpStream::connect(server)
        })
    }
}

/// What the proxy is to be.
pub(crate) struct Plan {
    entries: Vec<NetworkAllowlistEntry>,
    credentials: Vec<Credential>,
    names: Names,
    roads: Roads,
    approver: Option<Arc<dyn Approver>>,
    limits: Limits,
    #[cfg(all(feature = "intercept", target_os = "linux"))]
    opener: Option<Arc<palisade_egress_proxy::Opener>>,
}

pub(crate) fn plan() -> Plan {
    Plan {
        entries: Vec::new(),
        credentials: Vec::new(),
        names: Names::default(),
        roads: Roads::default(),
        approver: None,
        limits: Limits::default(),
        #[cfg(all(feature = "intercept", target_os = "linux"))]
        opener: None,
    }
}

impl Plan {
    pub(crate) fn allow(mut self, host: &str, port: u16) -> Self {
        let entry = NetworkAllowlistEntry::with_port(host, port).unwrap();
        self.entries.push(entry);
        self
    }

    /// The name has these addresses, next time those.
    pub(crate) fn name(self, name: &str, addresses: &[&str]) -> Self {
        let addresses = addresses.iter().map(|text| text.parse().unwrap()).collect();
        let mut answers = self.names.answers.lock().unwrap();
        let list = answers.entry(name.to_owned()).or_default();
        list.push_back(addresses);
        drop(answers);
        self
    }

    /// Whoever goes to this address gets to that server.
    pub(crate) fn road(self, address: &str, port: u16, server: SocketAddr) -> Self {
        let address = SocketAddr::new(address.parse().unwrap(), port);
        self.roads.servers.lock().unwrap().insert(address, server);
        self
    }

    /// A name that may be reached, and is.
    pub(crate) fn open(self, name: &str, port: u16, server: SocketAddr) -> Self {
        self.allow(name, port)
            .name(name, &[PUBLIC])
            .road(PUBLIC, port, server)
    }

    pub(crate) fn credential(mut self, credential: Credential) -> Self {
        self.credentials.push(credential);
        self
    }

    #[cfg(all(feature = "intercept", target_os = "linux"))]
    pub(crate) fn interception(
        mut self,
        interception: &palisade_egress_proxy::Interception,
    ) -> Self {
        let opener = palisade_egress_proxy::Opener::new(interception).unwrap();
        self.opener = Some(Arc::new(opener));
        self
    }

    pub(crate) fn approver(mut self, approver: Arc<dyn Approver>) -> Self {
        self.approver = Some(approver);
        self
    }

    pub(crate) fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.limits);
        self
    }

    pub(crate) fn start(self) -> Stage {
        let (names, roads) = (Arc::new(self.names), Arc::new(self.roads));
        let records = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&records);
        let mut settings = Settings::new(self.entries)
            .with_limits(self.limits)
            .with_resolver(names.clone())
            .with_connector(roads.clone())
            .with_observer(Arc::new(move |record: &ConnectionRecord| {
                kept.lock().unwrap().push(record.clone());
            }));
        for credential in self.credentials {
            settings = settings.with_credential(credential);
        }
        if let Some(approver) = self.approver {
            settings = settings.with_approver(approver);
        }
        #[cfg(all(feature = "intercept", target_os = "linux"))]
        if let Some(opener) = &self.opener {
            settings = settings.with_opener(Arc::clone(opener));
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        Stage {
            names,
            roads,
            records,
            proxy: Proxy::start(listener, settings).unwrap(),
            #[cfg(all(feature = "intercept", target_os = "linux"))]
            opener: self.opener,
        }
    }
}

/// A running proxy and what is known about it.
pub(crate) struct Stage {
    pub(crate) proxy: Proxy,
    pub(crate) names: Arc<Names>,
    pub(crate) roads: Arc<Roads>,
    pub(crate) records: Arc<Mutex<Vec<ConnectionRecord>>>,
    #[cfg(all(feature = "intercept", target_os = "linux"))]
    pub(crate) opener: Option<Arc<palisade_egress_proxy::Opener>>,
}

impl Stage {
    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.proxy.address()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends these bytes and nothing after them, and reads everything.
    pub(crate) fn ask(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = self.connect();
        stream.write_all(bytes).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        // A connection that is reset has said all that it will.
        drop(stream.read_to_end(&mut answer));
        answer
    }

    pub(crate) fn ask_text(&self, text: &str) -> String {
        String::from_utf8_lossy(&self.ask(text.as_bytes())).into_owned()
    }

    /// A tunnel by CONNECT, ready to be used.
    pub(crate) fn tunnel(&self, host: &str, port: u16) -> TcpStream {
        let mut stream = self.connect();
        write!(
            stream,
            "CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n"
        )
        .unwrap();
        let head = read_head(&mut stream);
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        stream
    }

    /// Waits for so many records.
    pub(crate) fn records(&self, count: usize) -> Vec<ConnectionRecord> {
        wait_until(|| self.records.lock().unwrap().len() >= count);
        self.records.lock().unwrap().clone()
    }

    /// The one record, which must be a refusal.
    pub(crate) fn refusal(&self) -> Refusal {
        let records = self.records(1);
        assert_eq!(records.len(), 1, "{records:?}");
        match &records[0].decision {
            Decision::Refused { why } => why.clone(),
            other => panic!("not refused: {other:?}"),
        }
    }

    /// Where connections would have gone.
    pub(crate) fn tried(&self) -> Vec<SocketAddr> {
        self.roads.tried.lock().unwrap().clone()
    }
}

#[track_caller]
pub(crate) fn wait_until(mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < end, "it did not happen in time");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Reads to the empty line that ends a head.
pub(crate) fn read_head(stream: &mut impl Read) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
        head.push(byte[0]);
    }
    String::from_utf8_lossy(&head).into_owned()
}

/// A server that does this with each connection, until the test ends.
pub(crate) fn server(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serve = Arc::new(serve);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = Arc::clone(&serve);
            thread::spawn(move || serve(stream));
        }
    });
    address
}

/// A server that says back what it is told.
pub(crate) fn echo() -> SocketAddr {
    server(|mut stream| {
        let mut buffer = [0; 16 * 1024];
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            if stream.write_all(&buffer[..count]).is_err() {
                return;
            }
        }
    })
}

/// A server of HTTP that keeps what it was asked, body and all, and answers with this.
pub(crate) struct Web {
    pub(crate) address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Web {
    pub(crate) fn new(answer: &'static str) -> Self {
        Self::over(|stream| stream, answer)
    }

    /// Over what this makes of each connection, such as TLS.
    pub(crate) fn over<S: Read + Write>(
        wrap: impl Fn(TcpStream) -> S + Send + Sync + 'static,
        answer: &'static str,
    ) -> Self {
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        let address = server(move |stream| {
            let mut stream = wrap(stream);
            let request = read_whole(&mut stream);
            if !request.is_empty() {
                kept.lock().unwrap().push(request);
                drop(stream.write_all(answer.as_bytes()));
            }
        });
        Self { address, requests }
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// A request with its body; nothing if there is none.
fn read_whole(stream: &mut (impl Read + Write)) -> String {
    let mut request = read_head(stream);
    let lower = request.to_ascii_lowercase();
    if lower.contains("expect: 100-continue") {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").unwrap();
    }
    if lower.contains("transfer-encoding: chunked") {
        let mut byte = [0];
        while !request.ends_with("0\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
            request.push(char::from(byte[0]));
        }
    } else if let Some(rest) = lower.split("content-length: ").nth(1) {
        let length = rest.split("\r\n").next().unwrap().parse().unwrap();
        let mut body = vec![0; length];
        stream.read_exact(&mut body).unwrap();
        request.push_str(&String::from_utf8_lossy(&body));
    }
    request
}

/// An answer that everybody understands.
pub(crate) const FINE: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfine\n";

pub(crate) fn get(host: &str) -> String {
    format!("GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\n\r\n")
}
