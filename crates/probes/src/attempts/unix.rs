//! Unix sockets. The stage has stand-ins for the services that people run; real ones are left alone.

use std::io::{self, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::symlink;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixStream};
use std::path::Path;
use std::time::{Duration, Instant};

use super::secrets::text;
use super::{PATIENCE, Tries};
use crate::report::Report;
use crate::site::Site;
use crate::sys::{at, sockets};

fn answer(mut stream: UnixStream) -> io::Result<String> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut told = Vec::new();
    stream.read_to_end(&mut told)?;
    Ok(text(&told))
}

fn ask(path: &Path) -> io::Result<String> {
    answer(UnixStream::connect(path)?)
}

fn one(path: &Path) -> Report {
    Tries::default().escape("socket", ask(path)).report()
}

pub(crate) fn abstract_name(site: &Site) -> Report {
    let asked = SocketAddr::from_abstract_name(&site.abstract_name)
        .and_then(|address| UnixStream::connect_addr(&address))
        .and_then(answer);
    Tries::default().escape("socket", asked).report()
}

pub(crate) fn stream(site: &Site) -> Report {
    one(&site.outside.join("service.sock"))
}

pub(crate) fn docker(site: &Site) -> Report {
    one(&site.run.join("docker.sock"))
}

pub(crate) fn agent(site: &Site) -> Report {
    Tries::default()
        .escape("agent", ask(&site.outside.join("agent.sock")))
        .escape("master", ask(&site.home.join(".ssh/master.sock")))
        .report()
}

pub(crate) fn session_bus(site: &Site) -> Report {
    one(&site.run.join("user/bus"))
}

pub(crate) fn system_bus(site: &Site) -> Report {
    one(&site.run.join("dbus/system_bus_socket"))
}

pub(crate) fn displays(site: &Site) -> Report {
    Tries::default()
        .escape("X11", ask(&site.outside.join("X11-unix/X0")))
        .escape("Wayland", ask(&site.run.join("user/wayland-0")))
        .report()
}

pub(crate) fn editor(site: &Site) -> Report {
    one(&site.outside.join("editor.sock"))
}

pub(crate) fn syslog(site: &Site) -> Report {
    let sent = UnixDatagram::unbound()
        .and_then(|socket| socket.send_to(site.token.as_bytes(), site.outside.join("log")))
        .map(|_| "was sent");
    Tries::default().escape("line", sent).report()
}

pub(crate) fn snapd(site: &Site) -> Report {
    one(&site.run.join("snapd.socket"))
}

pub(crate) fn pair(_: &Site) -> Report {
    let talk = || {
        let (mut one, mut other) = UnixStream::pair()?;
        one.write_all(b"hello")?;
        let mut heard = [0_u8; 5];
        other.read_exact(&mut heard)?;
        Ok::<_, io::Error>(text(&heard))
    };
    match talk() {
        Ok(heard) => Report::Works(heard),
        Err(error) => Report::Broken(error.to_string()),
    }
}

pub(crate) fn by_link(site: &Site) -> Report {
    let link = site.workspace.join("service-link");
    let asked = symlink(site.outside.join("service.sock"), &link).and_then(|()| ask(&link));
    Tries::default()
        .escape("link of its own", asked)
        .escape(
            "link of the stage",
            ask(&site.workspace.join("to-outside/service.sock")),
        )
        .report()
}

pub(crate) fn by_descriptor(site: &Site) -> Report {
    let asked = at::open(&site.outside.join("service.sock"), libc::O_PATH)
        .and_then(|socket| ask(Path::new(&format!("/proc/self/fd/{}", socket.as_raw_fd()))));
    Tries::default()
        .escape("socket that is open for nothing", asked)
        .report()
}

pub(crate) fn nearby(site: &Site) -> Report {
    let asked =
        std::env::set_current_dir(&site.outside).and_then(|()| ask(Path::new("agent.sock")));
    Tries::default().escape("relative path", asked).report()
}

pub(crate) fn packets(site: &Site) -> Report {
    let told =
        sockets::connect_for_packets(&site.outside.join("packets.sock")).and_then(|socket| {
            let stream = UnixStream::from(socket);
            stream.set_read_timeout(Some(PATIENCE))?;
            let mut bytes = [0_u8; 100];
            let length = (&stream).read(&mut bytes)?;
            Ok(text(bytes.get(..length).unwrap_or_default()))
        });
    Tries::default().escape("socket", told).report()
}

pub(crate) fn from_pair(site: &Site) -> Report {
    let log = site.outside.join("log");
    let send =
        |kind| sockets::send_from_pair(kind, &log, site.token.as_bytes()).map(|()| "was sent");
    Tries::default()
        .escape("from a pair for datagrams", send(libc::SOCK_DGRAM))
        .escape("from a raw pair", send(libc::SOCK_RAW))
        .report()
}

pub(crate) fn abstract_datagram(site: &Site) -> Report {
    let name = crate::stage::servers::log_name(&site.abstract_name);
    let sent = SocketAddr::from_abstract_name(name).and_then(|address| {
        let socket = UnixDatagram::unbound()?;
        socket.send_to_addr(site.token.as_bytes(), &address)
    });
    Tries::default()
        .escape("line", sent.map(|_| "was sent"))
        .report()
}

pub(crate) fn late(site: &Site) -> Report {
    // A mask that is put there at the launch would be there at once.
    let begin = Instant::now();
    let mut asked = ask(&site.late);
    // It is bound before anybody listens on it.
    let soon = [io::ErrorKind::NotFound, io::ErrorKind::ConnectionRefused];
    while asked
        .as_ref()
        .is_err_and(|error| soon.contains(&error.kind()))
        && begin.elapsed() < PATIENCE
    {
        std::thread::sleep(Duration::from_millis(5));
        asked = ask(&site.late);
    }
    Tries::default().escape("socket", asked).report()
}

pub(crate) fn renamed(site: &Site) -> Report {
    one(&site.outside.join("renamed.sock"))
}

pub(crate) fn moved(site: &Site) -> Report {
    one(&site.late.with_file_name("moved.sock"))
}
