//! See `palisade_fuzz::shell_analysis`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| palisade_fuzz::shell_analysis::run(data));
