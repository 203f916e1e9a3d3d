//! See `palisade_fuzz::proxy_socks`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| palisade_fuzz::proxy_socks::run(data));
