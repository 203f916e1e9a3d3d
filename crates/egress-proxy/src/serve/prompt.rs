//! Sockets that send at once what they have to send.

use tokio::net::TcpStream;

/// Sends small pieces without waiting for others and, to this machine itself, without a pace: there is no network in
/// between that could be congested, and what paces a stream by what it measures there only slows it down. That either is
/// refused changes nothing else.
pub(super) fn make_prompt(stream: &TcpStream) {
    drop(stream.set_nodelay(true));
    #[cfg(target_os = "linux")]
    if stream.peer_addr().is_ok_and(|peer| peer.ip().is_loopback()) {
        // The oldest one: every kernel has it, and everybody may choose it.
        let _ = rustix::net::sockopt::set_tcp_congestion(stream, "reno");
    }
}
