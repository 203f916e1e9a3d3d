//! Streams that block, and nobody who waits for them for ever.

use std::io::{PipeReader, PipeWriter, Read as _, Write as _};
use std::sync::mpsc;
use std::thread;

use super::*;

const SOON: Duration = Duration::from_secs(20);

fn pipe() -> (PipeReader, PipeWriter) {
    io::pipe().unwrap()
}

/// Polls until it is ready, on this thread.
fn wait<R>(mut poll: impl FnMut(&mut Context<'_>) -> Poll<R>) -> R {
    let bell = Arc::new(Bell::default());
    let waker = Waker::from(Arc::clone(&bell));
    let mut cx = Context::from_waker(&waker);
    let started = Instant::now();
    loop {
        if let Poll::Ready(ready) = poll(&mut cx) {
            return ready;
        }
        assert!(started.elapsed() < SOON, "nothing came");
        bell.wait(Some(Duration::from_secs(1)));
    }
}

fn read(reader: &Reader) -> Vec<u8> {
    let mut buffer = Vec::with_capacity(16 * 1024);
    wait(|cx| reader.poll(cx, &mut buffer)).unwrap();
    buffer
}

#[test]
fn what_is_written_is_read_to_the_end() {
    let (reader, mut writer) = pipe();
    let reader = Reader::new(reader.into()).unwrap();
    writer.write_all(b"hello").unwrap();
    assert_eq!(read(&reader), b"hello");
    let flood = thread::spawn(move || {
        for byte in 0..=255_u8 {
            writer.write_all(&[byte; 4096]).unwrap();
        }
    });
    let mut all = Vec::new();
    loop {
        match read(&reader) {
            bytes if bytes.is_empty() => break,
            bytes => all.extend(bytes),
        }
    }
    flood.join().unwrap();
    assert_eq!(all.len(), 256 * 4096);
    assert!(
        all.chunks(4096)
            .enumerate()
            .all(|(at, block)| { block.iter().all(|byte| usize::from(*byte) == at) })
    );
    assert_eq!(read(&reader), b"", "the end stays");
}

#[test]
fn whoever_writes_more_than_is_taken_waits() {
    let (reader, mut writer) = pipe();
    let reader = Reader::new(reader.into()).unwrap();
    let (told, wrote) = mpsc::channel();
    let flood = thread::spawn(move || {
        let mut total = 0;
        for _ in 0..256 {
            if writer.write_all(&[b'x'; 64 * 1024]).is_err() {
                break;
            }
            total += 64 * 1024;
            told.send(total).unwrap();
        }
    });
    // It goes on until nothing moves any more.
    let mut seen = 0;
    while let Ok(total) = wrote.recv_timeout(Duration::from_millis(500)) {
        seen = total;
    }
    assert!(seen < 2 * 1024 * 1024, "{seen} bytes were taken by nobody");
    drop(reader);
    // It learns that nobody reads.
    flood.join().unwrap();
}

#[test]
fn a_stream_that_somebody_keeps_open_holds_no_thread() {
    let (reader, writer) = pipe();
    let reader = Reader::new(reader.into()).unwrap();
    let mut buffer = Vec::with_capacity(16);
    let error = reader.now(&mut buffer).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    let shared = reader.watch();
    let started = Instant::now();
    drop(reader);
    while shared.upgrade().is_some() {
        assert!(started.elapsed() < SOON, "the thread still reads");
        thread::yield_now();
    }
    drop(writer);
}

#[test]
fn what_is_left_is_taken_when_waiting_is_over() {
    let (reader, mut writer) = pipe();
    let reader = Reader::new(reader.into()).unwrap();
    let total = 512 * 1024;
    let flood = thread::spawn(move || {
        writer.write_all(&vec![b'x'; total]).unwrap();
        writer
    });
    // Nothing is taken until all that fits is there.
    let started = Instant::now();
    while !reader.is_full() {
        assert!(started.elapsed() < SOON);
        thread::yield_now();
    }
    let mut taken = 0;
    loop {
        let mut buffer = Vec::with_capacity(64 * 1024);
        match reader.now(&mut buffer) {
            Ok(many) => taken += many,
            Err(error) => {
                assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
                break;
            }
        }
    }
    let writer = flood.join().unwrap();
    assert_eq!(taken, total);
    drop(writer);
}

#[test]
fn what_is_fed_arrives_and_a_reader_who_left_ends_it() {
    let (mut reader, writer) = pipe();
    let writer = Writer::new(writer.into()).unwrap();
    let other = thread::spawn(move || {
        let mut all = vec![0; 100_000];
        reader.read_exact(&mut all).unwrap();
        all
    });
    let bytes = vec![b'y'; 100_000];
    let mut written = 0;
    while written < bytes.len() {
        written += wait(|cx| writer.poll(cx, &bytes[written..])).unwrap();
    }
    assert!(other.join().unwrap() == bytes);
    let failed = (0..16).any(|_| wait(|cx| writer.poll(cx, &bytes)).is_err());
    assert!(failed, "nobody reads");
}

#[test]
fn a_writer_whom_nobody_reads_holds_no_thread() {
    let (reader, writer) = pipe();
    let writer = Writer::new(writer.into()).unwrap();
    let bytes = vec![b'z'; 64 * 1024];
    let cx = Context::from_waker(Waker::noop());
    // A pipe holds a few of these at the most.
    let started = Instant::now();
    while started.elapsed() < Duration::from_millis(300) {
        let _ = writer.poll(&cx, &bytes);
        thread::yield_now();
    }
    let shared = writer.watch();
    drop(writer);
    let started = Instant::now();
    while shared.upgrade().is_some() {
        assert!(started.elapsed() < SOON, "the thread still writes");
        thread::yield_now();
    }
    drop(reader);
}
