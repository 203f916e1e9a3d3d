//! Sockets of its own.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;

use super::{act, expect};
use crate::report::Report;
use crate::site::Site;
use crate::sys::{files, net};

const HELLO: &[u8] = b"hello";

pub(crate) fn own_server(_: &Site) -> Report {
    act(|| {
        let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        // The kernel finishes the connection before it is accepted.
        let mut client = TcpStream::connect(server.local_addr()?)?;
        client.write_all(HELLO)?;
        let (mut accepted, _) = server.accept()?;
        let mut heard = [0_u8; 5];
        accepted.read_exact(&mut heard)?;
        expect(heard == HELLO, "other words")?;
        Ok(format!("on {}", server.local_addr()?))
    })
}

pub(crate) fn own_datagram(_: &Site) -> Report {
    act(|| {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.set_read_timeout(Some(Duration::from_secs(1)))?;
        socket.send_to(HELLO, socket.local_addr()?)?;
        let mut heard = [0_u8; 5];
        socket.recv(&mut heard)?;
        expect(heard == HELLO, "other words")?;
        Ok("sent and received")
    })
}

pub(crate) fn own_socket_file(site: &Site) -> Report {
    act(|| {
        let path = site.workspace.join("own.sock");
        let server = UnixListener::bind(&path)?;
        let mut client = UnixStream::connect(&path)?;
        client.write_all(HELLO)?;
        let (mut accepted, _) = server.accept()?;
        let mut heard = [0_u8; 5];
        accepted.read_exact(&mut heard)?;
        fs::remove_file(path)?;
        expect(heard == HELLO, "other words")?;
        Ok("served")
    })
}

pub(crate) fn pass(_: &Site) -> Report {
    act(|| {
        let (one, other) = UnixStream::pair()?;
        let mut file = files::memory_file("passed", false)?;
        file.write_all(HELLO)?;
        net::send_fd(&one, file.as_fd())?;
        let passed = std::fs::File::from(net::receive_fd(&other)?);
        expect(passed.metadata()?.len() == 5, "another file")?;
        Ok("passed")
    })
}
