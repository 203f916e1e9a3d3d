//! The smallest program there is: one page, no libraries, one system call. It is written here byte by byte, so that no
//! machine needs a compiler or a static C library for it.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Where the page is loaded.
const ADDRESS: u64 = 0x40_0000;
/// The sizes of the two headers of an ELF file of 64 bits.
const HEADERS: u64 = 64 + 56;

/// `exit(0)`.
#[cfg(target_arch = "x86_64")]
const CODE: &[u8] = &[
    0x31, 0xff, // xor edi, edi
    0xb8, 0x3c, 0x00, 0x00, 0x00, // mov eax, 60
    0x0f, 0x05, // syscall
];
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u16 = 62;

/// `exit(0)`.
#[cfg(target_arch = "aarch64")]
const CODE: &[u8] = &[
    0x00, 0x00, 0x80, 0xd2, // mov x0, 0
    0xa8, 0x0b, 0x80, 0xd2, // mov x8, 93
    0x01, 0x00, 0x00, 0xd4, // svc 0
];
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u16 = 183;

/// Writes it to a file that everybody can start.
pub(super) fn write(path: &Path) -> io::Result<()> {
    std::fs::write(path, image())?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
}

fn image() -> Vec<u8> {
    let size = HEADERS + CODE.len() as u64;
    let mut image = Vec::new();
    // 64 bits, little endian, version 1, System V.
    image.extend_from_slice(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    half(&mut image, 2); // executable
    half(&mut image, ARCHITECTURE);
    word(&mut image, 1);
    long(&mut image, ADDRESS + HEADERS); // where it begins
    long(&mut image, 64); // the program header follows
    long(&mut image, 0); // no sections
    word(&mut image, 0);
    for size_or_count in [64, 56, 1, 0, 0, 0] {
        half(&mut image, size_or_count);
    }
    word(&mut image, 1); // load
    word(&mut image, 5); // to read and to execute
    for value in [0, ADDRESS, ADDRESS, size, size, 0x1_0000] {
        long(&mut image, value);
    }
    image.extend_from_slice(CODE);
    image
}

fn half(image: &mut Vec<u8>, value: u16) {
    image.extend_from_slice(&value.to_le_bytes());
}

fn word(image: &mut Vec<u8>, value: u32) {
    image.extend_from_slice(&value.to_le_bytes());
}

fn long(image: &mut Vec<u8>, value: u64) {
    image.extend_from_slice(&value.to_le_bytes());
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_starts_and_ends_well() {
        let directory = tempfile::tempdir_in("/var/tmp").unwrap();
        let program = directory.path().join("no-op");
        super::write(&program).unwrap();
        let status = loop {
            // The child of another test may hold what was just written open until it executes something.
            match std::process::Command::new(&program).status() {
                Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {}
                status => break status.unwrap(),
            }
        };
        assert!(status.success(), "{status}");
    }
}
