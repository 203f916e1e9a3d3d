//! What a stream of a process is to the system that it runs on.

/// An open file of this program, such as one end of a pipe: a descriptor.
#[cfg(unix)]
pub type Descriptor = std::os::fd::OwnedFd;

/// An open file of this program, such as one end of a pipe: a handle. It must not be opened for overlapped use.
#[cfg(windows)]
pub type Descriptor = std::os::windows::io::OwnedHandle;

/// One that is somebody else's.
#[cfg(unix)]
pub(crate) type BorrowedDescriptor<'a> = std::os::fd::BorrowedFd<'a>;

/// One that is somebody else's.
#[cfg(windows)]
pub(crate) type BorrowedDescriptor<'a> = std::os::windows::io::BorrowedHandle<'a>;

/// Lends one.
#[cfg(unix)]
pub(crate) fn borrow(descriptor: &Descriptor) -> BorrowedDescriptor<'_> {
    std::os::fd::AsFd::as_fd(descriptor)
}

/// Lends one.
#[cfg(windows)]
pub(crate) fn borrow(descriptor: &Descriptor) -> BorrowedDescriptor<'_> {
    std::os::windows::io::AsHandle::as_handle(descriptor)
}
