//! An older Landlock, as its kernel would answer.

use super::sys::{Answer, Call};

/// The flag that asks for the version.
const VERSION: u64 = 1;
/// The flag that asks for what was mended.
const ERRATA: u64 = 2;

/// What the versions know, each from the first that does: rights on files, and the fields of an attribute.
const FS_RIGHTS: [(u32, u32); 4] = [(1, 13), (2, 14), (3, 15), (5, 16)];
const PORTS: u32 = 4;
const SCOPES: u32 = 6;
const MENDED: u32 = 7;

/// Answers a call of `landlock_create_ruleset`.
pub(super) fn answer(abi: u32, call: &Call<'_>) -> Answer {
    let [attribute, size, flags] = call.arguments;
    match (attribute, size, flags) {
        (0, 0, VERSION) => Answer::Value(i64::from(abi)),
        (_, _, ERRATA) if abi < MENDED => Answer::Error(libc::EINVAL),
        (_, _, 0) => match (call.read)(attribute, size.min(24)) {
            Ok(bytes) => judge(abi, &bytes),
            // Said so that nobody takes it for something that a kernel does.
            Err(_) => Answer::Error(libc::ENOTRECOVERABLE),
        },
        _ => Answer::Continue,
    }
}

/// What a kernel of this version makes of an attribute.
fn judge(abi: u32, attribute: &[u8]) -> Answer {
    let field = |index: usize| -> u64 {
        let mut bytes = [0_u8; 8];
        for (to, from) in bytes.iter_mut().zip(attribute.iter().skip(8 * index)) {
            *to = *from;
        }
        u64::from_ne_bytes(bytes)
    };
    let [fs, net, scoped] = [field(0), field(1), field(2)];
    let too_long = (net != 0 && abi < PORTS) || (scoped != 0 && abi < SCOPES);
    if too_long {
        return Answer::Error(libc::E2BIG);
    }
    let known = FS_RIGHTS.iter().rev().find(|(since, _)| *since <= abi);
    if fs >> known.map_or(0, |(_, count)| *count) != 0 {
        return Answer::Error(libc::EINVAL);
    }
    Answer::Continue
}

#[cfg(test)]
mod tests {
    use super::{Answer, judge};

    fn attribute(fields: &[u64]) -> Vec<u8> {
        fields
            .iter()
            .flat_map(|field| field.to_ne_bytes())
            .collect()
    }

    #[test]
    fn what_a_version_does_not_know_is_refused() {
        let truncate = attribute(&[1 << 14]);
        assert_eq!(judge(2, &truncate), Answer::Error(libc::EINVAL));
        assert_eq!(judge(3, &truncate), Answer::Continue);
        let ioctl = attribute(&[1 << 15, 0, 0]);
        assert_eq!(judge(4, &ioctl), Answer::Error(libc::EINVAL));
        assert_eq!(judge(5, &ioctl), Answer::Continue);
        let ports = attribute(&[1, 3]);
        assert_eq!(judge(3, &ports), Answer::Error(libc::E2BIG));
        assert_eq!(judge(4, &ports), Answer::Continue);
        let scopes = attribute(&[1, 3, 1]);
        assert_eq!(judge(5, &scopes), Answer::Error(libc::E2BIG));
        assert_eq!(judge(6, &scopes), Answer::Continue);
    }
}
