//! See `palisade_fuzz::patch`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| palisade_fuzz::patch::run(data));
