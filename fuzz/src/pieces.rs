//! Laws of everything that reads a stream: it arrives in pieces, and in lines.

use std::fmt::Debug;

/// What is found in a beginning is found in the whole, and what is wrong with a beginning is never right again.
pub(crate) fn check<T: PartialEq + Debug, P: PartialEq + Debug>(
    bytes: &[u8],
    read: impl Fn(&[u8]) -> Result<Option<T>, P>,
) {
    let whole = read(bytes);
    // Every end of a short one, some ends of a long one: reading is quick, but not for nothing.
    let step = bytes.len() / 64 + 1;
    for end in (0..bytes.len()).step_by(step) {
        match read(&bytes[..end]) {
            Ok(None) => {}
            Err(problem) => assert!(
                whole.is_err(),
                "{problem:?} after {end} bytes, then {whole:?}"
            ),
            found => assert_eq!(found, whole, "after {end} bytes"),
        }
    }
}

/// Lines that everybody splits in the same places, and an empty one at their end alone.
pub(crate) fn plain_lines(head: &[u8]) {
    let text = head
        .strip_suffix(b"\r\n\r\n")
        .expect("an empty line at the end");
    assert!(!text.contains(&0), "a NUL");
    assert!(
        !text.windows(4).any(|it| it == b"\r\n\r\n"),
        "it ends twice"
    );
    let lines = text.split(|byte| *byte == b'\n').collect::<Vec<_>>();
    for (at, line) in lines.iter().enumerate() {
        let is_last = at + 1 == lines.len();
        let line = if is_last {
            line
        } else {
            line.strip_suffix(b"\r").expect("a CR before each LF")
        };
        assert!(!line.contains(&b'\r'), "a CR within a line");
        assert!(
            !matches!(line.first(), None | Some(b' ' | b'\t')),
            "a folded or an empty line"
        );
    }
}
