//! From the two choices of a person to the canonical policy: every cell of the table.

use palisade_policy::{
    CanonicalSandboxPolicy, NetworkAccess, ResourceLimits, SandboxMode, SandboxPolicy,
    SeccompProfile,
};

use crate::support::root;

fn map(mode: SandboxMode, network: NetworkAccess) -> CanonicalSandboxPolicy {
    SandboxPolicy::new(mode, network).to_canonical_policy(&root("/srv/app"))
}

#[test]
fn the_default_is_read_only_and_restricted() {
    let default = SandboxPolicy::default();
    assert_eq!(default.mode, SandboxMode::ReadOnly);
    assert_eq!(default.network_access, NetworkAccess::Restricted);
}

#[test]
fn only_the_unconfined_modes_need_no_prompt_and_no_sandbox() {
    for mode in SandboxMode::ALL {
        for network in NetworkAccess::ALL {
            let policy = SandboxPolicy::new(mode, network);
            let confined = matches!(mode, SandboxMode::ReadOnly | SandboxMode::WorkspaceWrite);
            assert_eq!(policy.requires_approval_prompt(), confined, "{mode:?}");
            assert_eq!(policy.uses_runtime_sandbox(), confined, "{mode:?}");
        }
    }
}

#[test]
fn read_only_restricted_and_limited_map_to_read_only() {
    let expected = CanonicalSandboxPolicy::read_only();
    assert_eq!(
        map(SandboxMode::ReadOnly, NetworkAccess::Restricted),
        expected
    );
    assert_eq!(map(SandboxMode::ReadOnly, NetworkAccess::Limited), expected);
}

#[test]
fn read_only_full_maps_to_full_network() {
    assert_eq!(
        map(SandboxMode::ReadOnly, NetworkAccess::Full),
        CanonicalSandboxPolicy::read_only_with_full_network()
    );
}

#[test]
fn workspace_write_restricted_maps_to_the_workspace() {
    assert_eq!(
        map(SandboxMode::WorkspaceWrite, NetworkAccess::Restricted),
        CanonicalSandboxPolicy::workspace_write([root("/srv/app")])
    );
}

#[test]
fn workspace_write_limited_without_a_list_maps_like_restricted() {
    assert_eq!(
        map(SandboxMode::WorkspaceWrite, NetworkAccess::Limited),
        CanonicalSandboxPolicy::workspace_write([root("/srv/app")])
    );
}

#[test]
fn workspace_write_full_maps_to_sockets_without_a_list() {
    assert_eq!(
        map(SandboxMode::WorkspaceWrite, NetworkAccess::Full),
        CanonicalSandboxPolicy::workspace_write_full(
            [root("/srv/app")],
            [],
            None,
            ResourceLimits::default(),
            SeccompProfile::strict().with_network(),
        )
    );
}

#[test]
fn danger_maps_to_full_access_whatever_the_network() {
    for network in NetworkAccess::ALL {
        assert_eq!(
            map(SandboxMode::DangerFullAccess, network),
            CanonicalSandboxPolicy::full_access()
        );
    }
}

#[test]
fn external_maps_to_its_description_whatever_the_network() {
    for network in NetworkAccess::ALL {
        let CanonicalSandboxPolicy::ExternalSandbox { description } =
            map(SandboxMode::ExternalSandbox, network)
        else {
            panic!("not external");
        };
        assert_eq!(description, "legacy handler external sandbox");
    }
}
