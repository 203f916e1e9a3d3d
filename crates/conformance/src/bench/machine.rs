//! What else tells how much a figure is worth: the processor, what else was going on, how ours was built.

use std::fs;
use std::path::Path;

/// The processor, if the kernel names it.
pub(super) fn processor() -> Option<String> {
    value("/proc/cpuinfo", "model name")
}

/// Processes that wanted to run in the last minute, on average.
pub(super) fn load() -> Option<String> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    Some(text.split_whitespace().next()?.to_owned())
}

/// How much memory can be used without pushing anybody out, in MiB.
pub(super) fn available_memory() -> Option<u64> {
    let value = value("/proc/meminfo", "MemAvailable")?;
    let kibibytes: u64 = value.trim_end_matches("kB").trim().parse().ok()?;
    Some(kibibytes >> 10)
}

/// How this program was built, and ours with it.
pub(super) fn build(command: &Path, helper: &Path) -> String {
    let build = if cfg!(debug_assertions) {
        "debug (its figures mean nothing)"
    } else {
        "release"
    };
    let linked = |program| match is_static(program) {
        Some(true) => "statically",
        Some(false) => "dynamically",
        None => "somehow",
    };
    let (command, helper) = (linked(command), linked(helper));
    format!("{build}, the command linked {command}, the helper {helper}")
}

/// Whether a program needs nobody to load its libraries: no part of it names an interpreter.
fn is_static(program: &Path) -> Option<bool> {
    const INTERPRETER: [u8; 4] = 3_u32.to_le_bytes();
    let image = fs::read(program).ok()?;
    image.starts_with(b"\x7fELF").then_some(())?;
    let half = |at: usize| Some(u16::from_le_bytes(image.get(at..at + 2)?.try_into().ok()?));
    let start = u64::from_le_bytes(image.get(32..40)?.try_into().ok()?);
    let (start, size, count) = (usize::try_from(start).ok()?, half(54)?, half(56)?);
    let mut kinds = (0..usize::from(count)).map(|part| {
        let at = start.checked_add(part * usize::from(size))?;
        image.get(at..at.checked_add(4)?)
    });
    Some(kinds.all(|kind| kind != Some(INTERPRETER.as_slice())))
}

/// The value of the first line `name : value` of a file.
fn value(file: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_program_that_needs_a_loader_is_not_static() {
        let directory = tempfile::tempdir().unwrap();
        let noop = directory.path().join("no-op");
        crate::bench::noop::write(&noop).unwrap();
        assert_eq!(super::is_static(&noop), Some(true));
        assert_eq!(super::is_static("/bin/true".as_ref()), Some(false));
        assert_eq!(super::is_static("/etc/passwd".as_ref()), None);
    }
}
