//! Unix sockets. The stage has stand-ins for the services that people run; real ones are left alone.

use std::io::{self, Read as _, Write as _};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixStream};
use std::path::Path;
use std::time::Duration;

use super::Tries;
use super::secrets::text;
use crate::report::Report;
use crate::site::Site;

fn answer(mut stream: UnixStream) -> io::Result<String> {
    stream.set_read_timeout(Some(Duration::from_millis(700)))?;
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
