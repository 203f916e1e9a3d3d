//! See `palisade_fuzz::proxy_requests`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| palisade_fuzz::proxy_requests::run(data));
