//! Ways to open and use a socket that the standard library has not.

use std::ffi::c_int;
use std::io;
use std::mem;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::ptr;

use super::check;
use super::files::owned;
use super::net::{address_of, socket};

/// A bit that no filter sees that looks at 32 of them, and that the kernel drops.
const HIGH: i64 = 1 << 32;

/// A socket whose family has a bit set that the kernel ignores.
pub(crate) fn wide(family: c_int, kind: c_int) -> io::Result<OwnedFd> {
    // SAFETY: no memory is passed.
    owned(check(unsafe {
        libc::syscall(
            libc::SYS_socket,
            i64::from(family) | HIGH,
            i64::from(kind | libc::SOCK_CLOEXEC) | HIGH,
            HIGH,
        )
    })?)
}

/// Connects to 127.0.0.1 by the first data that is sent.
pub(crate) fn fast_open(port: u16, data: &[u8]) -> io::Result<OwnedFd> {
    let socket = socket(libc::AF_INET, libc::SOCK_STREAM, 0)?;
    let address = address_of(std::net::Ipv4Addr::LOCALHOST, port);
    let length = libc::socklen_t::try_from(size_of_val(&address)).unwrap_or_default();
    // SAFETY: data and address are as long as is said, and outlive the call.
    check(unsafe {
        libc::sendto(
            socket.as_raw_fd(),
            data.as_ptr().cast(),
            data.len(),
            libc::MSG_FASTOPEN | libc::MSG_NOSIGNAL,
            ptr::from_ref(&address).cast(),
            length,
        ) as i64
    })?;
    Ok(socket)
}

/// Binds a socket to the loopback device.
pub(crate) fn bind_to_loopback(socket: &OwnedFd) -> io::Result<()> {
    let name = c"lo";
    let length = libc::socklen_t::try_from(name.to_bytes_with_nul().len()).unwrap_or_default();
    // SAFETY: a terminated string of the length that is said, which outlives the call.
    check(unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_BINDTODEVICE,
            name.as_ptr().cast(),
            length,
        )
    })?;
    Ok(())
}

/// The address of a socket file.
fn path_address(path: &Path) -> io::Result<(libc::sockaddr_un, libc::socklen_t)> {
    // SAFETY: all zeros is an address without a value.
    let mut address: libc::sockaddr_un = unsafe { mem::zeroed() };
    address.sun_family = libc::sa_family_t::try_from(libc::AF_UNIX).unwrap_or_default();
    let bytes = path.as_os_str().as_bytes();
    if bytes.len() >= address.sun_path.len() {
        return Err(io::Error::from_raw_os_error(libc::ENAMETOOLONG));
    }
    for (to, from) in address.sun_path.iter_mut().zip(bytes) {
        *to = libc::c_char::from_ne_bytes([*from]);
    }
    let length = libc::socklen_t::try_from(size_of_val(&address)).unwrap_or_default();
    Ok((address, length))
}

/// A listening socket of packets at a path.
pub(crate) fn listen_for_packets(path: &Path) -> io::Result<OwnedFd> {
    let socket = socket(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_NONBLOCK, 0)?;
    let (address, length) = path_address(path)?;
    // SAFETY: the address is as long as is said, and outlives the call.
    unsafe {
        check(libc::bind(
            socket.as_raw_fd(),
            ptr::from_ref(&address).cast(),
            length,
        ))?;
        check(libc::listen(socket.as_raw_fd(), 8))?;
    }
    Ok(socket)
}

/// Whoever came, without waiting.
pub(crate) fn accept(socket: &OwnedFd) -> io::Result<OwnedFd> {
    // SAFETY: no address is asked for.
    let fd = check(unsafe {
        libc::accept4(
            socket.as_raw_fd(),
            ptr::null_mut(),
            ptr::null_mut(),
            libc::SOCK_CLOEXEC,
        )
    })?;
    owned(fd.into())
}

/// Connects to a socket file for packets.
pub(crate) fn connect_for_packets(path: &Path) -> io::Result<OwnedFd> {
    let socket = socket(libc::AF_UNIX, libc::SOCK_SEQPACKET, 0)?;
    let (address, length) = path_address(path)?;
    // SAFETY: the address is as long as is said, and outlives the call.
    check(unsafe { libc::connect(socket.as_raw_fd(), ptr::from_ref(&address).cast(), length) })?;
    Ok(socket)
}

/// Makes a pair of sockets of this kind, and sends from one of them to a socket file instead of to the other.
pub(crate) fn send_from_pair(kind: c_int, path: &Path, data: &[u8]) -> io::Result<()> {
    let mut pair: [c_int; 2] = [-1, -1];
    // SAFETY: there is room for two numbers.
    check(unsafe {
        libc::socketpair(
            libc::AF_UNIX,
            kind | libc::SOCK_CLOEXEC,
            0,
            pair.as_mut_ptr(),
        )
    })?;
    let [one, other] = pair;
    let (one, _other) = (owned(one.into())?, owned(other.into())?);
    let (address, length) = path_address(path)?;
    // SAFETY: data and address are as long as is said, and outlive the call.
    check(unsafe {
        libc::sendto(
            one.as_raw_fd(),
            data.as_ptr().cast(),
            data.len(),
            libc::MSG_NOSIGNAL,
            ptr::from_ref(&address).cast(),
            length,
        ) as i64
    })?;
    Ok(())
}
