//! See `palisade_fuzz::proxy_answers`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| palisade_fuzz::proxy_answers::run(data));
