//! What the proxy costs: bytes through a tunnel and one request, each beside the same without it, in one run.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a benchmark prints, and ends where its assumption fails"
)]

use std::io::{Read, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use palisade_egress_proxy::{Proxy, Settings};
use palisade_policy::NetworkAllowlistEntry;

const ROUNDS: usize = 15;
const BYTES: usize = 256 << 20;
const REQUESTS: usize = 1_000;

fn main() {
    // `cargo test` builds benchmarks too, and only wants to know that they start.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let (sink, web) = (sink(), web());
    let entries = [sink, web].map(|address| {
        NetworkAllowlistEntry::with_port(&address.ip().to_string(), address.port()).unwrap()
    });
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = Proxy::start(listener, Settings::new(entries)).unwrap();
    let via = proxy.address();

    println!("{} MiB through a tunnel, medians of {ROUNDS}:", BYTES >> 20);
    bytes(sink, via, "as this system paces its streams", |_| {});
    bytes(sink, via, "the client at full speed", unpaced);
    requests(web, via);
}

/// Side by side, so that noise falls on both alike; the first round warms up.
fn bytes(sink: SocketAddr, via: SocketAddr, how: &str, prepare: fn(&TcpStream)) {
    let (mut times, mut ratios) = ([Vec::new(), Vec::new()], Vec::new());
    for round in 0..=ROUNDS {
        let took = [connect(sink), tunnel(via, sink)].map(|stream| {
            prepare(&stream);
            send(stream)
        });
        if round > 0 {
            times[0].push(took[0]);
            times[1].push(took[1]);
            ratios.push(took[0].as_secs_f64() / took[1].as_secs_f64());
        }
    }
    let [direct, proxied] = times.map(median);
    ratios.sort_by(f64::total_cmp);
    let rate = |time: Duration| (BYTES >> 20) as f64 / time.as_secs_f64();
    println!(" {how}:");
    println!("  direct   {:8.0} MiB/s", rate(direct));
    println!("  proxied  {:8.0} MiB/s", rate(proxied));
    println!(
        "  ratio    {:8.2} ({:.2} to {:.2} of one round; goal: at least 0.5)",
        ratios[ROUNDS / 2],
        ratios[0],
        ratios[ROUNDS - 1]
    );
}

/// What paces a stream by what it measures, such as BBR, makes of loopback what it likes, and of two in a row something else.
fn unpaced(stream: &TcpStream) {
    #[cfg(target_os = "linux")]
    rustix::net::sockopt::set_tcp_congestion(stream, "reno").unwrap();
    #[cfg(not(target_os = "linux"))]
    let _ = stream;
}

fn requests(web: SocketAddr, via: SocketAddr) {
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..REQUESTS {
        times[0].push(timed(|| request(connect(web), "/", web)));
        times[1].push(timed(|| {
            request(connect(via), &format!("http://{web}/"), web)
        }));
        times[2].push(timed(|| request(tunnel(via, web), "/", web)));
    }
    let [direct, plain, tunnelled] = times.map(median);
    println!("one request on a connection of its own, median of {REQUESTS}:");
    println!("  direct   {direct:8.1?}");
    println!(
        "  plain    {plain:8.1?} (adds {:.1?})",
        plain.saturating_sub(direct)
    );
    println!(
        "  tunnel   {tunnelled:8.1?} (adds {:.1?})",
        tunnelled.saturating_sub(direct)
    );
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

fn tunnel(proxy: SocketAddr, to: SocketAddr) -> TcpStream {
    let mut stream = connect(proxy);
    write!(stream, "CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n\r\n").unwrap();
    let mut head = Vec::new();
    let mut piece = [0; 256];
    while !head.ends_with(b"\r\n\r\n") {
        let count = stream.read(&mut piece).unwrap();
        head.extend_from_slice(&piece[..count]);
    }
    assert!(head.starts_with(b"HTTP/1.1 200 "));
    stream
}

/// How long it takes until everything has arrived.
fn send(mut stream: TcpStream) -> Duration {
    let block = vec![0; 1 << 20];
    timed(|| {
        for _ in 0..BYTES >> 20 {
            stream.write_all(&block).unwrap();
        }
        stream.read_exact(&mut [0]).unwrap();
    })
}

fn request(mut stream: TcpStream, target: &str, host: SocketAddr) {
    write!(
        stream,
        "GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    assert!(answer.ends_with(b"fine"));
}

fn timed(act: impl FnOnce()) -> Duration {
    let started = Instant::now();
    act();
    started.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// Reads so many bytes, and says one.
fn sink() -> SocketAddr {
    server(|mut stream| {
        let mut buffer = vec![0; 1 << 18];
        let mut left = BYTES;
        while left > 0 {
            match stream.read(&mut buffer) {
                Ok(count @ 1..) => left -= count,
                _ => return,
            }
        }
        stream.write_all(&[1]).unwrap();
    })
}

fn web() -> SocketAddr {
    server(|mut stream| {
        let mut head = Vec::new();
        let mut piece = [0; 1024];
        while !head.ends_with(b"\r\n\r\n") {
            match stream.read(&mut piece) {
                Ok(count @ 1..) => head.extend_from_slice(&piece[..count]),
                _ => return,
            }
        }
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nfine";
        stream.write_all(answer).unwrap();
    })
}

fn server(serve: impl Fn(TcpStream) + Send + Copy + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || serve(stream));
        }
    });
    address
}
