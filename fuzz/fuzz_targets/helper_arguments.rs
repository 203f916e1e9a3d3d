//! See `palisade_fuzz::helper_arguments`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| palisade_fuzz::helper_arguments::run(data));
