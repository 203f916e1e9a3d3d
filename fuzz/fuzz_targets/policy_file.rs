//! Any bytes are a policy file or are refused; what is one can be loaded, shown and formatted without changing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use palisade_exec_policy::language::{Layer, LoadContext, Source, fmt, load, parse, show_resolved};

fuzz_target!(|bytes: &[u8]| {
    for layer in [Layer::System, Layer::Project] {
        let source = Source::new(layer, "policy.toml", bytes);
        let Ok(file) = parse(&source) else {
            continue;
        };
        let once = fmt(&source).expect("a policy file can be formatted");
        let again = Source::new(layer, "policy.toml", &once);
        assert_eq!(
            fmt(&again).expect("what was formatted is a policy file"),
            once
        );
        if let Ok(policy) = load([file], &LoadContext::new()) {
            assert!(!show_resolved(&policy).is_empty());
        }
    }
});
