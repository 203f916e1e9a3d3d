//! See `palisade_fuzz::seatbelt_profile`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| palisade_fuzz::seatbelt_profile::run(data));
