//! See `palisade_fuzz::approvals`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| palisade_fuzz::approvals::run(data));
