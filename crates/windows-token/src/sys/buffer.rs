//! Memory for structures of Windows: aligned for all of them, and with a length in bytes.

use std::ffi::c_void;

/// Bytes at an address that is aligned for whatever Windows keeps in memory.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    words: Vec<u64>,
    length: usize,
}

impl Buffer {
    /// So many bytes, all of them zero.
    pub(super) fn zeroed(length: usize) -> Self {
        Self {
            words: vec![0; length.div_ceil(size_of::<u64>()).max(1)],
            length,
        }
    }

    /// A copy of these bytes.
    pub(super) fn copy_of(bytes: &[u8]) -> Self {
        let mut buffer = Self::zeroed(bytes.len());
        for (word, chunk) in buffer.words.iter_mut().zip(bytes.chunks(size_of::<u64>())) {
            let mut whole = [0; size_of::<u64>()];
            for (to, from) in whole.iter_mut().zip(chunk) {
                *to = *from;
            }
            *word = u64::from_ne_bytes(whole);
        }
        buffer
    }

    pub(super) fn length(&self) -> usize {
        self.length
    }

    pub(super) fn as_ptr(&self) -> *const c_void {
        self.words.as_ptr().cast()
    }

    pub(super) fn as_mut_ptr(&mut self) -> *mut c_void {
        self.words.as_mut_ptr().cast()
    }

    /// A structure at the start, if there are bytes enough for one.
    ///
    /// # Safety
    /// Any bytes are a valid `T`.
    pub(super) unsafe fn read<T>(&self) -> Option<T> {
        self.length.checked_sub(size_of::<T>())?;
        // SAFETY: there are bytes enough, and any bytes are a `T`, as the caller says. The alignment is that of `u64`,
        // the largest of all structures that are read here; `read_unaligned` does not even need it.
        Some(unsafe { self.words.as_ptr().cast::<T>().read_unaligned() })
    }

    /// An entry of an array of `T` that starts `offset` bytes into the buffer, if it lies within it.
    ///
    /// # Safety
    /// Any bytes are a valid `T`.
    pub(super) unsafe fn entry<T>(&self, offset: usize, index: usize) -> Option<T> {
        let start = index.checked_mul(size_of::<T>())?.checked_add(offset)?;
        let end = start.checked_add(size_of::<T>())?;
        if end > self.length {
            return None;
        }
        // SAFETY: the entry lies within the buffer, and any bytes are a `T`, as the caller says.
        Some(unsafe {
            self.words
                .as_ptr()
                .cast::<u8>()
                .add(start)
                .cast::<T>()
                .read_unaligned()
        })
    }
}
