//! Sockets that the standard library does not make, and descriptors over sockets.

use std::ffi::c_int;
use std::io;
use std::mem;
use std::net::SocketAddr;
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

/// Connects to 127.0.0.1; every family that is tried takes an IPv4 address.
pub(crate) fn connect_ipv4(socket: &OwnedFd, port: u16) -> io::Result<()> {
    let SocketAddr::V4(to) = SocketAddr::from(([127, 0, 0, 1], port)) else {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    };
    // SAFETY: all zeros is an address without a value.
    let mut address: libc::sockaddr_in = unsafe { mem::zeroed() };
    address.sin_family = libc::sa_family_t::try_from(libc::AF_INET).unwrap_or_default();
    address.sin_port = to.port().to_be();
    address.sin_addr.s_addr = u32::from(*to.ip()).to_be();
    let length = libc::socklen_t::try_from(size_of_val(&address)).unwrap_or_default();
    // SAFETY: the address is as long as is said, and outlives the call.
    check(unsafe { libc::connect(socket.as_raw_fd(), ptr::from_ref(&address).cast(), length) })?;
    Ok(())
}

/// Room for one descriptor beside the data.
#[repr(C, align(8))]
struct Control([u8; 64]);

fn message(data: &mut libc::iovec, control: &mut Control, room: usize) -> libc::msghdr {
    // SAFETY: all zeros is a message with nothing in it.
    let mut message: libc::msghdr = unsafe { mem::zeroed() };
    message.msg_iov = data;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    // The type differs between C libraries.
    #[expect(clippy::useless_conversion, reason = "not with every C library")]
    {
        message.msg_controllen = room.try_into().unwrap_or_default();
    }
    message
}

/// The size of a descriptor.
const FD_BYTES: u32 = 4;
const _: () = assert!(size_of::<c_int>() == 4);

/// Sends one byte and a descriptor.
pub(crate) fn send_fd(socket: &UnixStream, fd: BorrowedFd<'_>) -> io::Result<()> {
    let mut byte = *b"d";
    let mut control = Control([0; 64]);
    let mut data = libc::iovec {
        iov_base: byte.as_mut_ptr().cast(),
        iov_len: byte.len(),
    };
    // SAFETY: computes a length, nothing else.
    let room = unsafe { libc::CMSG_SPACE(FD_BYTES) } as usize;
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
    let mut control = Control([0; 64]);
    let mut data = libc::iovec {
        iov_base: byte.as_mut_ptr().cast(),
        iov_len: byte.len(),
    };
    let room = size_of::<Control>();
    let mut message = message(&mut data, &mut control, room);
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
