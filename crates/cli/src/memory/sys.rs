//! An allocator that hands out one piece of a room after another, and leaves everything else to the system's.
#![expect(unsafe_code, reason = "an allocator deals with memory itself")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a run needs before its command begins, and no more: a command may run for days, and what is in the room stays there.
const ROOM: usize = 2 << 20;
/// Larger pieces are few, and are worth giving back.
const LARGEST: usize = 2048;
/// What every piece is a multiple of.
const GRAIN: usize = 8;

/// The room. Only the part that is used is ever made by the kernel.
#[repr(align(4096))]
struct Room(UnsafeCell<[u8; ROOM]>);

// SAFETY: nobody reads or writes it but those to whom `Arena` handed a piece, and no two pieces overlap.
unsafe impl Sync for Room {}

static THE_ROOM: Room = Room(UnsafeCell::new([0; ROOM]));

/// Hands out small pieces of the room until it is full. Only the last one can be given back, or grow where it is.
pub(super) struct Arena {
    /// How much of the room is handed out. There is but one arena, so the room is all its own.
    used: AtomicUsize,
}

impl Arena {
    pub(super) const fn new() -> Self {
        Self {
            used: AtomicUsize::new(0),
        }
    }

    /// A piece of the room, if there is one left that is large enough.
    fn take(&self, layout: Layout) -> Option<*mut u8> {
        if layout.size() > LARGEST || layout.align() > LARGEST {
            return None;
        }
        let mut used = self.used.load(Ordering::Relaxed);
        loop {
            let start = used.next_multiple_of(layout.align());
            let end = start + whole(layout.size());
            if end > ROOM {
                return None;
            }
            // The pieces themselves are not shared by this: whoever hands one to another thread synchronises with it.
            match self
                .used
                .compare_exchange_weak(used, end, Ordering::Relaxed, Ordering::Relaxed)
            {
                Ok(_) => return Some(base().wrapping_add(start)),
                Err(now) => used = now,
            }
        }
    }

    /// Moves the end of the last piece. Says whether it was the last, and the room is large enough.
    fn resize_last(&self, start: usize, old: usize, new: usize) -> bool {
        let (old, new) = (start + whole(old), start + whole(new));
        new <= ROOM
            && self
                .used
                .compare_exchange(old, new, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }
}

/// A size of whole grains.
const fn whole(size: usize) -> usize {
    size.next_multiple_of(GRAIN)
}

fn base() -> *mut u8 {
    THE_ROOM.0.get().cast()
}

/// Where a piece begins, if it is one of the room.
fn place(piece: *mut u8) -> Option<usize> {
    let start = piece.addr().wrapping_sub(base().addr());
    (start < ROOM).then_some(start)
}

// SAFETY: a piece of the room is as large and as aligned as its layout says, and overlaps no other; all others are the
// system's, and go back there.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match self.take(layout) {
            Some(piece) => piece,
            // SAFETY: what the caller promises is what the system asks for.
            None => unsafe { System.alloc(layout) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        match self.take(layout) {
            Some(piece) => {
                // SAFETY: the piece is at least that large, and nobody else's.
                unsafe { piece.write_bytes(0, layout.size()) };
                piece
            }
            // SAFETY: what the caller promises is what the system asks for.
            None => unsafe { System.alloc_zeroed(layout) },
        }
    }

    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        match place(piece) {
            Some(start) => {
                self.resize_last(start, layout.size(), 0);
            }
            // SAFETY: it is not from the room, so it is from the system, with this layout.
            None => unsafe { System.dealloc(piece, layout) },
        }
    }

    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Some(start) = place(piece) else {
            // SAFETY: it is not from the room, so it is from the system, with this layout.
            return unsafe { System.realloc(piece, layout, size) };
        };
        if whole(size) == whole(layout.size())
            || size <= LARGEST && self.resize_last(start, layout.size(), size)
        {
            return piece;
        }
        // SAFETY: the caller promises that the size is one that a layout with this alignment can have.
        let larger = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        // SAFETY: the size is not zero, as the caller promises.
        let moved = unsafe { self.alloc(larger) };
        if !moved.is_null() {
            // SAFETY: both are at least as large as the smaller of the two sizes, and they do not overlap.
            unsafe { moved.copy_from_nonoverlapping(piece, size.min(layout.size())) };
            // SAFETY: it was the caller's, with this layout, and nobody uses it any more.
            unsafe { self.dealloc(piece, layout) };
        }
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).unwrap()
    }

    #[test]
    fn pieces_are_aligned_and_do_not_overlap() {
        let arena = &super::super::MEMORY;
        let mut pieces = Vec::with_capacity(4096);
        for i in 0..1000_usize {
            let layout = layout(1 + i % 300, 1 << (i % 8));
            // SAFETY: no size is zero.
            let piece = unsafe { arena.alloc(layout) };
            assert_eq!(piece.addr() % layout.align(), 0);
            // SAFETY: it is that large, and ours.
            unsafe { piece.write_bytes(u8::try_from(i % 251).unwrap(), layout.size()) };
            pieces.push((i, piece, layout));
        }
        for (i, piece, layout) in pieces {
            // SAFETY: it was written above, and nobody else may have written it since.
            let bytes = unsafe { std::slice::from_raw_parts(piece, layout.size()) };
            assert!(
                bytes.iter().all(|byte| usize::from(*byte) == i % 251),
                "{i}"
            );
            // SAFETY: it came from there, with this layout.
            unsafe { arena.dealloc(piece, layout) };
        }
    }

    #[test]
    fn what_grows_keeps_its_content_in_the_room_and_out_of_it() {
        let mut text: Vec<u8> = Vec::new();
        for i in 0..100_000_usize {
            text.push(u8::try_from(i % 256).unwrap());
            if i % 1000 == 0 {
                // Something behind it, so that it has to move.
                std::hint::black_box(vec![0_u8; 64]).fill(255);
            }
        }
        assert!(
            text.iter()
                .enumerate()
                .all(|(i, byte)| usize::from(*byte) == i % 256)
        );
        text.truncate(10);
        text.shrink_to_fit();
        assert_eq!(text, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn a_full_room_leaves_the_rest_to_the_system() {
        let boxes: Vec<Box<[u8; 1024]>> = (0..2 * ROOM / 1024)
            .map(|i| Box::new([u8::try_from(i % 256).unwrap(); 1024]))
            .collect();
        assert!(
            boxes
                .iter()
                .any(|one| place(one.as_ptr().cast_mut()).is_none())
        );
        for (i, one) in boxes.iter().enumerate() {
            assert!(one.iter().all(|byte| usize::from(*byte) == i % 256), "{i}");
        }
    }
}
