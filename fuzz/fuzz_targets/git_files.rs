//! See `palisade_fuzz::git_files`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| palisade_fuzz::git_files::run(data));
