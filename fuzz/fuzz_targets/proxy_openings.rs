//! See `palisade_fuzz::proxy_openings`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| palisade_fuzz::proxy_openings::run(data));
