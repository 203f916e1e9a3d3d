//! Deserialising a policy: any bytes are a policy or an error, and a policy survives the way back.

use palisade_policy::{CanonicalSandboxPolicy, ResourceLimits, SandboxPolicy, SeccompProfile};
use serde::{Deserialize, Serialize};

/// Reads the bytes as everything that arrives as JSON.
pub fn run(data: &[u8]) {
    survives::<SandboxPolicy>(data);
    survives::<CanonicalSandboxPolicy>(data);
    survives::<ResourceLimits>(data);
    survives::<SeccompProfile>(data);
}

fn survives<T>(data: &[u8])
where
    T: for<'de> Deserialize<'de> + Serialize + PartialEq + std::fmt::Debug,
{
    let Ok(value) = serde_json::from_slice::<T>(data) else {
        return;
    };
    let json = serde_json::to_vec(&value).expect("it can be written");
    let back: T = serde_json::from_slice(&json).expect("and read back");
    assert_eq!(value, back);
    let again = serde_json::to_vec(&back).expect("and written again");
    assert_eq!(json, again, "in the same words");
}
