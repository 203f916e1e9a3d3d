//! See `palisade_fuzz::proxy_hellos`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| palisade_fuzz::proxy_hellos::run(data));
