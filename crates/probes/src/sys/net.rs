//! Sockets that the standard library does not make, and descriptors over sockets.

use std::ffi::c_int;
use std::io;
use std::mem;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::ptr;

use super::check;
use super::files::owned;

pub(crate) fn socket(family: c_int, kind: c_int, protocol: c_int) -> io::Result<OwnedFd> {
    // SAFETY: no memory is passed.
    let fd = check(unsafe { libc::socket(family, kind | libc::SOCK_CLOEXEC, protocol) })?;
    owned(fd.into())
}

pub(super) fn address_of(ip: Ipv4Addr, port: u16) -> libc::sockaddr_in {
    // SAFETY: all zeros is an address without a value.
    let mut address: libc::sockaddr_in = unsafe { mem::zeroed() };
    address.sin_family = libc::sa_family_t::try_from(libc::AF_INET).unwrap_or_default();
    address.sin_port = port.to_be();
    address.sin_addr.s_addr = u32::from(ip).to_be();
    address
}

/// Connects to 127.0.0.1; every family that is tried takes an IPv4 address.
pub(crate) fn connect_ipv4(socket: &OwnedFd, port: u16) -> io::Result<()> {
    let address = address_of(Ipv4Addr::LOCALHOST, port);
    let length = libc::socklen_t::try_from(size_of_val(&address)).unwrap_or_default();
    // SAFETY: the address is as long as is said, and outlives the call.
    check(unsafe { libc::connect(socket.as_raw_fd(), ptr::from_ref(&address).cast(), length) })?;
    Ok(())
}

/// Room for one descriptor beside the data.
#[repr(C, align(8))]
struct Control([u8; ROOM as usize]);

const ROOM: u32 = 64;

fn message(data: &mut libc::iovec, control: &mut Control, room: u32) -> libc::msghdr {
    // SAFETY: all zeros is a message with nothing in it.
    let mut message: libc::msghdr = unsafe { mem::zeroed() };
    message.msg_iov = data;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    // The type differs between C libraries.
    message.msg_controllen = room as _;
    message
}

/// The size of a descriptor.
const FD_BYTES: u32 = 4;
const _: () = assert!(size_of::<c_int>() == 4);

/// Sends one byte and a descriptor.
pub(crate) fn send_fd(socket: &UnixStream, fd: BorrowedFd<'_>) -> io::Result<()> {
    let mut byte = *b"d";
    let mut control = Control([0; ROOM as usize]);
    let mut data = libc::iovec {
        iov_base: byte.as_mut_ptr().cast(),
        iov_len: byte.len(),
    };
    // SAFETY: computes a length, nothing else.
    let room = unsafe { libc::CMSG_SPACE(FD_BYTES) };
    let message = message(&mut data, &mut control, room);
    // SAFETY: the message points to live data and to a control buffer that has room for one descriptor.
    unsafe {
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        if header.is_null() {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(FD_BYTES) as _;
        libc::CMSG_DATA(header)
            .cast::<c_int>()
            .write_unaligned(fd.as_raw_fd());
        check(libc::sendmsg(socket.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL) as i64)?;
    }
    Ok(())
}

/// Receives a descriptor.
pub(crate) fn receive_fd(socket: &UnixStream) -> io::Result<OwnedFd> {
    let mut byte = [0_u8; 1];
    let mut control = Control([0; ROOM as usize]);
    let mut data = libc::iovec {
        iov_base: byte.as_mut_ptr().cast(),
        iov_len: byte.len(),
    };
    let mut message = message(&mut data, &mut control, ROOM);
    // SAFETY: the message points to live buffers of the lengths that it says; the header is read only if the kernel
    // filled one in, and a descriptor in it is new and ours.
    unsafe {
        check(libc::recvmsg(socket.as_raw_fd(), &raw mut message, libc::MSG_CMSG_CLOEXEC) as i64)?;
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        if header.is_null() || (*header).cmsg_type != libc::SCM_RIGHTS {
            return Err(io::Error::from_raw_os_error(libc::ECONNRESET));
        }
        let fd = libc::CMSG_DATA(header).cast::<c_int>().read_unaligned();
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// The address of the metadata service of clouds.
pub(crate) const METADATA: Ipv4Addr = Ipv4Addr::new(169, 254, 169, 254);

/// Moves this thread, and what it starts, into a network namespace of its own: loopback is up there, and has the
/// address of the metadata service of clouds.
pub(crate) fn own_network() -> io::Result<()> {
    // SAFETY: moves the calling thread into a new network namespace; no memory is passed.
    check(unsafe { libc::unshare(libc::CLONE_NEWNET) })?;
    let any = socket(libc::AF_INET, libc::SOCK_DGRAM, 0)?;
    // SAFETY: all zeros is a request without a value.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    name(&mut request, b"lo");
    request.ifr_ifru.ifru_flags = libc::c_short::try_from(libc::IFF_UP).unwrap_or_default();
    // SAFETY: the request names an interface and has the flags that this call reads; it outlives the call.
    check(unsafe { libc::ioctl(any.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) })?;
    // SAFETY: all zeros is a request without a value.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    name(&mut request, b"lo:1");
    let address = address_of(METADATA, 0);
    // SAFETY: both kinds of address are as long, and this one says its kind.
    request.ifr_ifru.ifru_addr =
        unsafe { mem::transmute::<libc::sockaddr_in, libc::sockaddr>(address) };
    // SAFETY: the request names an interface and has the address that this call reads; it outlives the call.
    check(unsafe { libc::ioctl(any.as_raw_fd(), libc::SIOCSIFADDR, &raw const request) })?;
    Ok(())
}

fn name(request: &mut libc::ifreq, name: &[u8]) {
    for (to, from) in request.ifr_name.iter_mut().zip(name) {
        *to = libc::c_char::from_ne_bytes([*from]);
    }
}
