//! Mapping a policy allocates what the returned value holds, and nothing else.
#![cfg(unix)]

use palisade_policy::{NetworkAccess, SandboxMode, SandboxPolicy, WorkspaceRoot};

#[test]
fn mapping_allocates_only_what_it_returns() {
    let root = WorkspaceRoot::new("/srv/app").unwrap();
    for mode in SandboxMode::ALL {
        for network in NetworkAccess::ALL {
            let policy = SandboxPolicy::new(mode, network);
            let made = allocation_counter::measure(|| {
                std::hint::black_box(policy.to_canonical_policy(&root));
            });
            let canonical = policy.to_canonical_policy(&root);
            let cloned = allocation_counter::measure(|| {
                std::hint::black_box(canonical.clone());
            });
            // A clone allocates exactly what the value holds.
            assert_eq!(made.count_total, cloned.count_total, "{policy:?}");
        }
    }
}
