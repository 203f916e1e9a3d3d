//! Names that nobody has, which lead to servers on loopback.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::thread;

use palisade_policy::{Grant, HostName, NetworkAllowlistEntry};
use palisade_runner::egress::{Connector, Egress, Resolver};

type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// An address that looks public. Nothing is ever sent there.
const PUBLIC: &str = "93.184.216.34";

/// Each name has an address, and each port of it a server of the test's, or none.
#[derive(Default)]
pub(crate) struct MadeUp {
    names: Mutex<HashMap<String, IpAddr>>,
    servers: Mutex<HashMap<u16, SocketAddr>>,
    pub(crate) resolved: Mutex<Vec<String>>,
    pub(crate) connected: Mutex<Vec<SocketAddr>>,
}

impl MadeUp {
    /// Whoever asks for this name and port gets to that server.
    pub(crate) fn with(self, name: &str, port: u16, server: SocketAddr) -> Self {
        self.servers.lock().unwrap().insert(port, server);
        self.named(name, PUBLIC)
    }

    /// The name has this address.
    pub(crate) fn named(self, name: &str, address: &str) -> Self {
        let address = address.parse().unwrap();
        self.names.lock().unwrap().insert(name.to_owned(), address);
        self
    }

    pub(crate) fn egress(self: &Arc<Self>) -> Egress {
        let (names, roads) = (Arc::clone(self), Arc::clone(self));
        Egress::new().with_resolver(names).with_connector(roads)
    }
}

impl Resolver for MadeUp {
    fn resolve<'a>(&'a self, host: &'a HostName) -> Later<'a, io::Result<Vec<IpAddr>>> {
        let host = host.to_string();
        let found = self.names.lock().unwrap().get(&host).copied();
        self.resolved.lock().unwrap().push(host);
        Box::pin(async move {
            let found = found.ok_or_else(|| io::Error::other("no such name"))?;
            Ok(vec![found])
        })
    }
}

impl Connector for MadeUp {
    fn connect(&self, address: SocketAddr) -> Later<'_, io::Result<TcpStream>> {
        self.connected.lock().unwrap().push(address);
        let server = self.servers.lock().unwrap().get(&address.port()).copied();
        Box::pin(async move {
            let server = server.ok_or(io::ErrorKind::ConnectionRefused)?;
            TcpStream::connect(server)
        })
    }
}

/// The grant for a host and port.
pub(crate) fn host(name: &str, port: u16) -> Grant {
    Grant::Host(NetworkAllowlistEntry::with_port(name, port).unwrap())
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

/// A server of the files below a directory; what ends in a slash is its `index.html`. It keeps the heads of requests.
pub(crate) fn files(root: PathBuf) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    files_over(root, |stream| stream)
}

/// The same, over what this makes of each connection.
pub(crate) fn files_over<S: io::Read + io::Write>(
    root: PathBuf,
    over: impl Fn(TcpStream) -> S + Send + Sync + 'static,
) -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let heads = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&heads);
    let address = server(move |stream| {
        let mut stream = over(stream);
        let head = read_head(&mut stream);
        if head.is_empty() {
            return;
        }
        let path = head.split(' ').nth(1).unwrap_or("/");
        let path = path.split('?').next().unwrap_or(path);
        let mut file = root.join(path.trim_start_matches('/'));
        if path.ends_with('/') {
            file.push("index.html");
        }
        let kind = match file.extension().and_then(|end| end.to_str()) {
            Some("html") => "text/html",
            Some("json") | None => "application/json",
            _ => "application/octet-stream",
        };
        let (status, body) = match fs::read(&file) {
            Ok(body) if !path.contains("..") => ("200 OK", body),
            _ => ("404 Not Found", Vec::new()),
        };
        let answer = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        kept.lock().unwrap().push(head);
        drop(stream.write_all(answer.as_bytes()));
        drop(stream.write_all(&body));
        drop(stream.flush());
    });
    (address, heads)
}

fn read_head(stream: &mut impl io::Read) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
        head.push(byte[0]);
    }
    String::from_utf8_lossy(&head).into_owned()
}
