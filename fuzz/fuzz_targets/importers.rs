//! See `palisade_fuzz::importers`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| palisade_fuzz::importers::run(data));
