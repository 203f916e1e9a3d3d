//! Both streams, and the two together in the order of arrival.

use super::{Caps, Output, Stream, Tape};

/// Keeps what a command writes on both streams.
#[derive(Clone, Debug)]
pub struct Recorder {
    stdout: Tape,
    stderr: Tape,
    both: Both,
}

/// The two streams together. While only one of them has written, they are that one: most commands write on one only, and
/// need not be copied twice.
#[derive(Clone, Debug)]
enum Both {
    Neither,
    Only(Stream),
    Mixed(Tape),
}

impl Recorder {
    /// An empty one, with these caps for each stream and for the two together.
    #[must_use]
    pub const fn new(caps: Caps) -> Self {
        Self {
            stdout: Tape::new(caps),
            stderr: Tape::new(caps),
            both: Both::Neither,
        }
    }

    /// Adds bytes to the end of a stream.
    pub fn push(&mut self, stream: Stream, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        match &mut self.both {
            Both::Mixed(tape) => tape.push(bytes),
            Both::Neither => self.both = Both::Only(stream),
            Both::Only(first) if *first == stream => {}
            Both::Only(first) => {
                let mut tape = match first {
                    Stream::Stdout => self.stdout.clone(),
                    Stream::Stderr => self.stderr.clone(),
                };
                tape.push(bytes);
                self.both = Both::Mixed(tape);
            }
        }
        match stream {
            Stream::Stdout => self.stdout.push(bytes),
            Stream::Stderr => self.stderr.push(bytes),
        }
    }

    /// What was kept.
    #[must_use]
    pub fn finish(self) -> Output {
        let stdout = self.stdout.finish();
        let stderr = self.stderr.finish();
        let aggregated = match self.both {
            Both::Neither => super::Captured::default(),
            Both::Only(Stream::Stdout) => stdout.clone(),
            Both::Only(Stream::Stderr) => stderr.clone(),
            Both::Mixed(tape) => tape.finish(),
        };
        Output {
            stdout,
            stderr,
            aggregated,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_three_tapes(
            head in 0_usize..20,
            tail in 0_usize..20,
            pieces in proptest::collection::vec((any::<bool>(), "[a-z]{0,9}"), 0..30),
        ) {
            let caps = Caps::new(head, tail);
            let mut recorder = Recorder::new(caps);
            let mut tapes = [Tape::new(caps), Tape::new(caps), Tape::new(caps)];
            for (error, text) in &pieces {
                let stream = if *error { Stream::Stderr } else { Stream::Stdout };
                recorder.push(stream, text.as_bytes());
                tapes[usize::from(*error)].push(text.as_bytes());
                tapes[2].push(text.as_bytes());
            }
            let [stdout, stderr, aggregated] = tapes.map(Tape::finish);
            prop_assert_eq!(recorder.finish(), Output { stdout, stderr, aggregated });
        }
    }
}
