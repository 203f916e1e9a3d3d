//! See `palisade_fuzz::policy_json`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| palisade_fuzz::policy_json::run(data));
