//! See `palisade_fuzz::helper_messages`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| palisade_fuzz::helper_messages::run(data));
