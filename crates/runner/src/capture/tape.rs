//! The beginning and the end of a stream.

use super::{Caps, Captured};

/// Keeps the beginning and the end of what is pushed, and counts what is missing between the two.
///
/// It holds no more memory than was pushed or than the caps allow, whichever is less, within a factor of two.
#[derive(Clone, Debug)]
pub struct Tape {
    caps: Caps,
    head: Vec<u8>,
    /// A ring once it is full: the oldest byte is at `oldest`.
    tail: Vec<u8>,
    oldest: usize,
    omitted: u64,
}

impl Tape {
    /// An empty one, for so many bytes.
    #[must_use]
    pub const fn new(caps: Caps) -> Self {
        Self {
            caps,
            head: Vec::new(),
            tail: Vec::new(),
            oldest: 0,
            omitted: 0,
        }
    }

    /// Adds bytes to the end.
    pub fn push(&mut self, bytes: &[u8]) {
        let rest = append(&mut self.head, self.caps.head, bytes);
        if rest.is_empty() {
            return;
        }
        let rest = if self.tail.len() < self.caps.tail {
            append(&mut self.tail, self.caps.tail, rest)
        } else {
            rest
        };
        self.overwrite(rest);
    }

    /// How many bytes were pushed.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.omitted
            .saturating_add(self.head.len() as u64)
            .saturating_add(self.tail.len() as u64)
    }

    /// What was kept.
    #[must_use]
    pub fn finish(self) -> Captured {
        let Self {
            mut head,
            mut tail,
            oldest,
            omitted,
            ..
        } = self;
        if omitted == 0 {
            head.append(&mut tail);
        } else {
            tail.rotate_left(oldest);
        }
        Captured {
            head,
            omitted,
            tail,
        }
    }

    /// Puts bytes in the place of the oldest ones. The ring is full.
    fn overwrite(&mut self, bytes: &[u8]) {
        self.omitted = self.omitted.saturating_add(bytes.len() as u64);
        let skipped = bytes.len().saturating_sub(self.tail.len());
        let Some(mut fresh) = bytes.get(skipped..) else {
            return;
        };
        while !fresh.is_empty() {
            let Some(place) = self.tail.get_mut(self.oldest..) else {
                return;
            };
            let many = place.len().min(fresh.len());
            let (now, later) = fresh.split_at(many);
            place.split_at_mut(many).0.copy_from_slice(now);
            self.oldest += many;
            if self.oldest == self.tail.len() {
                self.oldest = 0;
            }
            fresh = later;
        }
    }
}

/// Appends what fits below the cap; gives back the rest. The vector grows by doubling, but never over the cap.
fn append<'a>(to: &mut Vec<u8>, cap: usize, bytes: &'a [u8]) -> &'a [u8] {
    let room = cap.saturating_sub(to.len());
    let (fits, rest) = bytes.split_at(room.min(bytes.len()));
    let wanted = to.len().saturating_add(fits.len());
    if wanted > to.capacity() {
        let grown = to.capacity().saturating_mul(2).min(cap).max(wanted);
        to.reserve_exact(grown - to.len());
    }
    to.extend_from_slice(fits);
    rest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// All of it, cut at the end.
    fn naive(caps: Caps, all: &[u8]) -> Captured {
        let kept = caps.head.saturating_add(caps.tail);
        if all.len() <= kept {
            return Captured {
                head: all.to_vec(),
                omitted: 0,
                tail: Vec::new(),
            };
        }
        Captured {
            head: all[..caps.head].to_vec(),
            omitted: (all.len() - kept) as u64,
            tail: all[all.len() - caps.tail..].to_vec(),
        }
    }

    proptest! {
        #[test]
        fn it_keeps_what_the_naive_one_keeps(
            head in 0_usize..40,
            tail in 0_usize..40,
            pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..60), 0..20),
        ) {
            let caps = Caps::new(head, tail);
            let mut tape = Tape::new(caps);
            let mut all = Vec::new();
            for piece in &pieces {
                tape.push(piece);
                all.extend_from_slice(piece);
                prop_assert_eq!(tape.total(), all.len() as u64);
                prop_assert!(tape.head.capacity() <= head);
                prop_assert!(tape.tail.capacity() <= tail);
            }
            let captured = tape.finish();
            prop_assert_eq!(captured.total(), all.len() as u64);
            prop_assert_eq!(captured, naive(caps, &all));
        }

        #[test]
        fn without_caps_everything_is_kept(pieces in proptest::collection::vec(any::<[u8; 7]>(), 0..20)) {
            let mut tape = Tape::new(Caps::new(usize::MAX, usize::MAX));
            for piece in &pieces {
                tape.push(piece);
            }
            prop_assert_eq!(tape.finish().head, pieces.concat());
        }
    }

    #[test]
    fn a_small_output_costs_little() {
        let mut tape = Tape::new(Caps::default());
        tape.push(b"ten bytes.");
        assert!(tape.head.capacity() < 64);
        assert_eq!(tape.tail.capacity(), 0);
    }

    #[test]
    fn a_byte_at_a_time_grows_by_doubling() {
        let mut tape = Tape::new(Caps::new(1 << 20, 0));
        let mut grown = 0;
        for _ in 0..1 << 20 {
            let before = tape.head.capacity();
            tape.push(b"x");
            grown += usize::from(tape.head.capacity() != before);
        }
        assert!(grown <= 21, "{grown} times");
    }
}
