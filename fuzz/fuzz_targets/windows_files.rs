//! See `palisade_fuzz::windows_files`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| palisade_fuzz::windows_files::run(data));
