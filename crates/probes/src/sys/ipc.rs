//! Message queues, shared memory and keys.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::ptr;

use super::files::owned;
use super::{check, text};

/// Makes a message queue and leaves it.
pub(crate) fn make_queue(name: &str) -> io::Result<()> {
    let name = text(name)?;
    // SAFETY: a terminated string, a mode, and no attributes.
    let queue = check(unsafe {
        libc::mq_open(
            name.as_ptr(),
            libc::O_CREAT | libc::O_RDWR,
            0o600,
            ptr::null::<libc::mq_attr>(),
        )
    })?;
    // SAFETY: the queue was opened above.
    unsafe { libc::mq_close(queue) };
    Ok(())
}

/// Makes a message queue of the stage, for this user.
pub(crate) fn own_queue(name: &str, owner: Option<(u32, u32)>) -> io::Result<OwnedFd> {
    let name = text(name)?;
    // SAFETY: all zeros is a valid description.
    let mut small: libc::mq_attr = unsafe { std::mem::zeroed() };
    // A user may have few queues of the usual size, and who is killed leaves one behind.
    small.mq_maxmsg = 2;
    small.mq_msgsize = 64;
    // SAFETY: a terminated string, a mode, and attributes that live until the call returns; a queue is a descriptor here.
    let queue = check(unsafe {
        libc::mq_open(
            name.as_ptr(),
            libc::O_CREAT | libc::O_EXCL | libc::O_RDWR | libc::O_NONBLOCK | libc::O_CLOEXEC,
            0o600,
            &raw const small,
        )
    })?;
    let queue = owned(queue.into())?;
    if let Some((user, group)) = owner {
        // SAFETY: no memory is passed.
        check(unsafe { libc::fchown(queue.as_raw_fd(), user, group) })?;
    }
    Ok(queue)
}

/// How many messages are in a queue.
pub(crate) fn waiting(queue: &OwnedFd) -> i64 {
    // SAFETY: all zeros is a valid description, which the kernel fills in.
    unsafe {
        let mut about: libc::mq_attr = std::mem::zeroed();
        libc::mq_getattr(queue.as_raw_fd(), &raw mut about);
        about.mq_curmsgs
    }
}

/// Sends to a queue that is already there.
pub(crate) fn send_to_queue(name: &str, data: &[u8]) -> io::Result<()> {
    let name = text(name)?;
    // SAFETY: a terminated string that outlives the call.
    let queue = check(unsafe { libc::mq_open(name.as_ptr(), libc::O_WRONLY | libc::O_NONBLOCK) })?;
    // SAFETY: the data is as long as is said; the queue was opened above.
    unsafe {
        let sent = libc::mq_send(queue, data.as_ptr().cast(), data.len(), 0);
        let result = check(sent);
        libc::mq_close(queue);
        result?;
    }
    Ok(())
}

/// A System V message queue, for this user.
pub(crate) fn make_messages(owner: Option<u32>) -> io::Result<i32> {
    // SAFETY: no memory is passed.
    let id = check(unsafe { libc::msgget(libc::IPC_PRIVATE, libc::IPC_CREAT | 0o600) })?;
    if let Some(owner) = owner {
        let mut about = messages(id);
        about.msg_perm.uid = owner;
        // SAFETY: the description was filled in by the kernel, and outlives the call.
        if let Err(error) = check(unsafe { libc::msgctl(id, libc::IPC_SET, &raw mut about) }) {
            remove_messages(id);
            return Err(error);
        }
    }
    Ok(id)
}

fn messages(id: i32) -> libc::msqid_ds {
    // SAFETY: all zeros is a valid description, which the kernel fills in.
    unsafe {
        let mut about: libc::msqid_ds = std::mem::zeroed();
        libc::msgctl(id, libc::IPC_STAT, &raw mut about);
        about
    }
}

/// How many messages are in a System V queue.
pub(crate) fn count_messages(id: i32) -> u64 {
    messages(id).msg_qnum
}

pub(crate) fn remove_messages(id: i32) {
    // SAFETY: this command takes no memory.
    unsafe { libc::msgctl(id, libc::IPC_RMID, ptr::null_mut()) };
}

/// Sends one word to a System V queue.
pub(crate) fn send_message(id: i32) -> io::Result<()> {
    // A kind, then the text.
    let message: [libc::c_long; 2] = [1, 1];
    // SAFETY: the message has a kind and as many bytes of text as is said.
    check(unsafe {
        libc::msgsnd(
            id,
            message.as_ptr().cast(),
            size_of::<libc::c_long>(),
            libc::IPC_NOWAIT,
        )
    })?;
    Ok(())
}

/// Removes a message queue, and says whether there was one.
pub(crate) fn remove_queue(name: &str) -> bool {
    // SAFETY: a terminated string that outlives the call.
    text(name).is_ok_and(|name| unsafe { libc::mq_unlink(name.as_ptr()) } == 0)
}

const SEGMENT: usize = 4096;

/// A segment of shared memory with a text, for this user.
pub(crate) fn make_segment(content: &str, owner: Option<u32>) -> io::Result<i32> {
    // SAFETY: no memory is passed.
    let id = check(unsafe { libc::shmget(libc::IPC_PRIVATE, SEGMENT, libc::IPC_CREAT | 0o600) })?;
    // SAFETY: a new mapping at an address of the kernel's choice.
    let at = unsafe { libc::shmat(id, ptr::null(), 0) };
    if at as isize == -1 {
        let error = io::Error::last_os_error();
        remove_segment(id);
        return Err(error);
    }
    let length = content.len().min(SEGMENT);
    // SAFETY: the mapping has room for the bytes, and nobody else knows it yet.
    unsafe {
        ptr::copy_nonoverlapping(content.as_ptr(), at.cast::<u8>(), length);
        libc::shmdt(at);
    }
    if let Some(owner) = owner {
        // SAFETY: all zeros is a valid description, which the kernel then fills in and reads back.
        let changed = unsafe {
            let mut about: libc::shmid_ds = std::mem::zeroed();
            libc::shmctl(id, libc::IPC_STAT, &raw mut about);
            about.shm_perm.uid = owner;
            libc::shmctl(id, libc::IPC_SET, &raw mut about)
        };
        if let Err(error) = check(changed) {
            remove_segment(id);
            return Err(error);
        }
    }
    Ok(id)
}

/// What the segment starts with.
pub(crate) fn read_segment(id: i32, most: usize) -> io::Result<Vec<u8>> {
    // SAFETY: a new mapping at an address of the kernel's choice.
    let at = unsafe { libc::shmat(id, ptr::null(), libc::SHM_RDONLY) };
    if at as isize == -1 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: segments are whole pages, and the text is shorter than one; unmapped right after.
    let bytes = unsafe {
        let bytes = std::slice::from_raw_parts(at.cast::<u8>(), most.min(SEGMENT)).to_vec();
        libc::shmdt(at);
        bytes
    };
    Ok(bytes)
}

pub(crate) fn remove_segment(id: i32) {
    // SAFETY: this command takes no memory.
    unsafe { libc::shmctl(id, libc::IPC_RMID, ptr::null_mut()) };
}

const USER_KEYRING: i64 = -4;

/// Adds a key to the user's keyring that anybody of this user may read for a minute, and gives its number.
pub(crate) fn add_key(name: &str, content: &str) -> io::Result<i64> {
    const SET_PERMISSIONS: i32 = 5;
    const SET_TIMEOUT: i32 = 15;
    const OWNER_AND_USER: i64 = 0x3f3f_0000;
    let name = text(name)?;
    // SAFETY: terminated strings, and a payload of the length that is said; all outlive the call.
    let key = check(unsafe {
        libc::syscall(
            libc::SYS_add_key,
            c"user".as_ptr(),
            name.as_ptr(),
            content.as_ptr(),
            content.len(),
            USER_KEYRING,
        )
    })?;
    // SAFETY: these commands take numbers only.
    unsafe {
        libc::syscall(libc::SYS_keyctl, SET_PERMISSIONS, key, OWNER_AND_USER);
        libc::syscall(libc::SYS_keyctl, SET_TIMEOUT, key, 60_i64);
    }
    Ok(key)
}

/// Takes a key away at once: keys that only run out count against the user for minutes.
pub(crate) fn remove_key(key: i64) {
    const INVALIDATE: i32 = 21;
    // SAFETY: this command takes a number only.
    unsafe { libc::syscall(libc::SYS_keyctl, INVALIDATE, key) };
}

/// Reads a key of the user's keyring.
pub(crate) fn read_key(name: &str) -> io::Result<Vec<u8>> {
    const SEARCH: i32 = 10;
    const READ: i32 = 11;
    let name = text(name)?;
    // SAFETY: terminated strings that outlive the call.
    let key = check(unsafe {
        libc::syscall(
            libc::SYS_keyctl,
            SEARCH,
            USER_KEYRING,
            c"user".as_ptr(),
            name.as_ptr(),
            0_i64,
        )
    })?;
    let mut content = vec![0_u8; 256];
    // SAFETY: the buffer has the length that is said.
    let length = check(unsafe {
        libc::syscall(
            libc::SYS_keyctl,
            READ,
            key,
            content.as_mut_ptr(),
            content.len(),
        )
    })?;
    content.truncate(usize::try_from(length).unwrap_or_default());
    Ok(content)
}
