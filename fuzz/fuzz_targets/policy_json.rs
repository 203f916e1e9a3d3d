//! Deserialising a policy: any bytes are a policy or an error, and a policy survives the way back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use palisade_policy::{CanonicalSandboxPolicy, SandboxPolicy};

fuzz_target!(|data: &[u8]| {
    let _ = serde_json::from_slice::<SandboxPolicy>(data);
    if let Ok(policy) = serde_json::from_slice::<CanonicalSandboxPolicy>(data) {
        let json = serde_json::to_vec(&policy).expect("a policy can be written");
        let back: CanonicalSandboxPolicy = serde_json::from_slice(&json).expect("and read back");
        assert_eq!(policy, back);
    }
});
