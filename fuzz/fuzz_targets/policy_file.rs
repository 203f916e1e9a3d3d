//! See `palisade_fuzz::policy_file`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| palisade_fuzz::policy_file::run(data));
