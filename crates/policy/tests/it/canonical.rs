//! Constructors and queries of the canonical policy.

use palisade_policy::{
    CanonicalSandboxPolicy, HostFacts, NetworkAllowlistEntry, NetworkScope, Os, ResourceLimits,
    SeccompProfile, SensitivePath,
};

use crate::support::{abs, context, facts, root, workspace};

fn entry() -> NetworkAllowlistEntry {
    NetworkAllowlistEntry::https("docs.example").unwrap()
}

#[test]
fn the_default_is_read_only() {
    assert_eq!(
        CanonicalSandboxPolicy::default(),
        CanonicalSandboxPolicy::read_only()
    );
}

#[test]
fn an_empty_allowlist_is_never_open() {
    for policy in [
        CanonicalSandboxPolicy::read_only_with_network([]),
        CanonicalSandboxPolicy::workspace_write_with_network([root("/srv/app")], []),
        CanonicalSandboxPolicy::workspace_write_full(
            [root("/srv/app")],
            [],
            None,
            ResourceLimits::default(),
            SeccompProfile::strict(),
        ),
    ] {
        assert_eq!(policy.network(), NetworkScope::Off, "{policy:?}");
        assert!(!policy.has_full_network());
    }
}

#[test]
fn full_network_comes_only_from_the_full_network_constructors() {
    let sockets = SeccompProfile::strict().with_network();
    let limits = ResourceLimits::default();
    let full = |list: Vec<NetworkAllowlistEntry>| {
        CanonicalSandboxPolicy::workspace_write_full(
            [root("/srv/app")],
            list,
            None,
            limits,
            sockets.clone(),
        )
    };
    assert!(CanonicalSandboxPolicy::read_only_with_full_network().has_full_network());
    assert!(full(vec![]).has_full_network());
    // A list narrows, sockets or not.
    assert_eq!(
        full(vec![entry()]).network(),
        NetworkScope::Only(&[entry()])
    );
}

#[test]
fn workspace_write_has_the_documented_defaults() {
    let CanonicalSandboxPolicy::WorkspaceWrite {
        network_access,
        network_allowlist,
        sensitive_paths,
        resource_limits,
        seccomp_profile,
        exclude_tmpdir_env_var,
        exclude_slash_tmp,
        ..
    } = workspace()
    else {
        panic!("not workspace-write");
    };
    assert!(!network_access);
    assert_eq!(network_allowlist, []);
    assert_eq!(sensitive_paths, None);
    assert_eq!(resource_limits, ResourceLimits::default());
    assert_eq!(seccomp_profile, SeccompProfile::strict());
    assert!(exclude_tmpdir_env_var && exclude_slash_tmp);
}

#[test]
fn the_other_constructors_change_one_thing() {
    let roots = || [root("/srv/app")];
    let secrets = SensitivePath::new("~/.secret").unwrap();
    let with =
        CanonicalSandboxPolicy::workspace_write_with_sensitive_paths(roots(), [secrets.clone()]);
    assert_eq!(*with.sensitive_paths(&facts()), [secrets]);
    let none = CanonicalSandboxPolicy::workspace_write_no_sensitive_blocking(roots());
    assert!(none.sensitive_paths(&facts()).is_empty());
    let limits = ResourceLimits::conservative();
    let limited = CanonicalSandboxPolicy::workspace_write_with_limits(roots(), limits);
    assert_eq!(limited.resource_limits(), limits);
}

#[test]
fn limits_depend_on_the_mode_and_can_be_overridden() {
    let generous = ResourceLimits::generous();
    let read_only = CanonicalSandboxPolicy::read_only();
    assert_eq!(read_only.resource_limits(), ResourceLimits::moderate());
    assert_eq!(workspace().resource_limits(), ResourceLimits::default());
    for unconfined in [
        CanonicalSandboxPolicy::full_access(),
        CanonicalSandboxPolicy::external("x"),
    ] {
        assert_eq!(unconfined.resource_limits(), ResourceLimits::unlimited());
    }
    for policy in [read_only, workspace()] {
        let policy = policy.with_limits_override(Some(generous));
        assert_eq!(policy.resource_limits(), generous);
    }
}

#[test]
fn system_calls_depend_on_the_mode() {
    let strict = SeccompProfile::strict();
    assert_eq!(
        CanonicalSandboxPolicy::read_only().seccomp_profile(),
        strict
    );
    for network in [
        CanonicalSandboxPolicy::read_only_with_full_network(),
        CanonicalSandboxPolicy::read_only_with_network([entry()]),
    ] {
        assert_eq!(network.seccomp_profile(), strict.clone().with_network());
    }
    assert_eq!(workspace().seccomp_profile(), strict);
    assert_eq!(
        CanonicalSandboxPolicy::full_access().seccomp_profile(),
        SeccompProfile::permissive()
    );
}

#[test]
fn secrets_are_the_defaults_unless_said_otherwise() {
    let defaults = SensitivePath::defaults(&facts());
    assert_eq!(
        *CanonicalSandboxPolicy::read_only().sensitive_paths(&facts()),
        defaults
    );
    assert_eq!(*workspace().sensitive_paths(&facts()), defaults);
    assert!(
        CanonicalSandboxPolicy::full_access()
            .sensitive_paths(&facts())
            .is_empty()
    );
    assert!(
        CanonicalSandboxPolicy::external("x")
            .sensitive_paths(&facts())
            .is_empty()
    );
}

#[test]
fn writable_roots_are_the_configured_ones_the_cwd_and_host_tmp_if_asked() {
    let facts = facts().with_tmpdir(abs("/var/tmp/dev"));
    let cwd = root("/srv/app");
    let policy = CanonicalSandboxPolicy::workspace_write([root("/data")]);
    assert_eq!(
        policy.writable_roots(&cwd, &facts),
        [abs("/data"), abs("/srv/app")]
    );
    let tmp = policy.with_host_tmp(true, true);
    assert_eq!(
        tmp.writable_roots(&cwd, &facts),
        [
            abs("/data"),
            abs("/srv/app"),
            abs("/var/tmp/dev"),
            abs("/tmp")
        ]
    );
    assert_eq!(
        CanonicalSandboxPolicy::read_only().writable_roots(&cwd, &facts),
        []
    );
    let macos = HostFacts::new(Os::Macos);
    let roots = workspace()
        .with_host_tmp(false, true)
        .writable_roots(&cwd, &macos);
    assert_eq!(roots, [abs("/srv/app"), abs("/private/tmp")]);
}

#[test]
fn equal_and_nested_roots_are_merged_and_keep_their_protection() {
    let policy = CanonicalSandboxPolicy::workspace_write([
        root("/srv/app"),
        root("/srv/app/"),
        root("/srv/app/sub"),
    ]);
    let resolved = policy.resolve(&context()).unwrap();
    let [only] = resolved.roots() else {
        panic!("{:?}", resolved.roots());
    };
    assert_eq!(only.root, abs("/srv/app"));
    assert!(only.protected.contains(&abs("/srv/app/.git")));
    assert!(only.protected.contains(&abs("/srv/app/sub/.git")));
}

#[test]
fn limit_presets_are_the_documented_ones() {
    let row = |limits: ResourceLimits| {
        (
            limits.max_memory_mb,
            limits.max_pids,
            limits.max_disk_mb,
            limits.cpu_time_secs,
            limits.timeout_secs,
        )
    };
    assert_eq!(row(ResourceLimits::default()), (0, 0, 0, 0, 300));
    assert_eq!(row(ResourceLimits::unlimited()), (0, 0, 0, 0, 0));
    assert_eq!(
        row(ResourceLimits::conservative()),
        (512, 64, 1024, 60, 120)
    );
    assert_eq!(row(ResourceLimits::moderate()), (2048, 256, 4096, 300, 600));
    assert_eq!(
        row(ResourceLimits::generous()),
        (8192, 1024, 16384, 0, 3600)
    );
}

#[test]
fn seccomp_presets_are_the_documented_ones() {
    let strict = SeccompProfile::strict();
    let required = "ptrace mount umount umount2 init_module finit_module delete_module kexec_load kexec_file_load bpf \
        perf_event_open userfaultfd process_vm_readv process_vm_writev reboot swapon swapoff settimeofday \
        clock_settime adjtimex add_key request_key keyctl ioperm iopl acct quotactl unshare setns personality \
        io_uring_setup io_uring_enter io_uring_register open_tree move_mount fsopen fsconfig fsmount fspick \
        mount_setattr pivot_root chroot open_by_handle_at name_to_handle_at pidfd_getfd kcmp process_madvise syslog \
        vhangup lookup_dcookie clock_adjtime modify_ldt memfd_secret open_tree_attr listmount statmount sethostname \
        setdomainname";
    for name in required.split_whitespace() {
        assert!(strict.blocks(name), "{name}");
    }
    assert!(!strict.blocks("read") && !strict.allow_namespaces && !strict.allow_network_sockets);
    assert!(strict.blocked_syscalls.is_sorted(), "`blocks` searches it");
    assert_eq!(SeccompProfile::default(), strict);

    let permissive = SeccompProfile::permissive();
    let blocked: Vec<&str> = permissive
        .blocked_syscalls
        .iter()
        .map(|name| name.as_str())
        .collect();
    assert_eq!(
        blocked,
        ["kexec_file_load", "kexec_load", "ptrace", "reboot"]
    );
    assert!(permissive.allow_network_sockets);

    let logging = SeccompProfile::logging();
    assert!(logging.log_only);
    assert_eq!(logging.blocked_syscalls, strict.blocked_syscalls);
    assert!(strict.with_network().allow_network_sockets);
}
