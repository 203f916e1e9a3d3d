//! Every row of the corpus is a probe, once, with the same number and mode.

use std::collections::BTreeSet;

use palisade_probes::{Expected, Mode, Tier, all, find};

/// Number, name and mode of every row: W workspace-write, R read-only, B both.
const CORPUS: &[(u16, &str, char)] = &[
    (1, "fs-open-write", 'B'),
    (2, "fs-create", 'B'),
    (3, "fs-mkdir-symlink-fifo-sock", 'B'),
    (4, "fs-truncate-path", 'B'),
    (6, "fs-unlink", 'B'),
    (7, "fs-rename-in", 'B'),
    (8, "fs-rename-out", 'B'),
    (10, "fs-link-in", 'B'),
    (11, "fs-link-out", 'B'),
    (13, "fs-hardlink-preexisting", 'W'),
    (14, "fs-symlink-file", 'B'),
    (15, "fs-symlink-swap-race", 'W'),
    (18, "fs-proc-self-root", 'B'),
    (19, "fs-proc-cwd-dotdot", 'B'),
    (20, "fs-inherited-write-fd", 'B'),
    (22, "fs-scm-rights", 'B'),
    (23, "fs-handle-open", 'B'),
    (25, "fs-shared-tmp", 'B'),
    (26, "fs-dev-shm", 'B'),
    (27, "fs-shell-rc", 'B'),
    (28, "fs-user-unit-cron", 'B'),
    (29, "fs-cache-poison", 'W'),
    (30, "fs-path-shadow", 'W'),
    (31, "fs-readonly-any-write", 'R'),
    (32, "fs-workspace-too-wide", 'W'),
    (33, "fs-bind-over", 'B'),
    (35, "fs-remount-rw", 'W'),
    (36, "fs-mount-setattr-rw", 'W'),
    (38, "fs-nested-userns-remount", 'W'),
    (39, "fs-detached-tmpfs", 'B'),
    (40, "fs-chroot", 'B'),
    (41, "fs-pivot-root", 'B'),
    (43, "fs-fuse-setuid-helper", 'B'),
    (44, "fs-loop-device", 'B'),
    (45, "git-hooks-write", 'W'),
    (46, "git-config-append", 'W'),
    (47, "git-rename-away", 'W'),
    (50, "git-index-lock-dos", 'W'),
    (51, "git-parent-rename", 'W'),
    (52, "git-missing-root", 'W'),
    (53, "git-missing-nested", 'W'),
    (54, "git-other-gitdir", 'W'),
    (56, "git-file-pointer", 'W'),
    (58, "git-hookspath-in-tree", 'W'),
    (59, "git-attributes-filter", 'W'),
    (61, "git-concurrent-weaker-sandbox", 'W'),
    (63, "cfg-agent-dirs", 'W'),
    (64, "cfg-editor-tasks", 'W'),
    (65, "cfg-direnv-toolchain", 'W'),
    (66, "meta-chmod-outside", 'B'),
    (67, "meta-chown-outside", 'B'),
    (68, "meta-utime-outside", 'B'),
    (72, "meta-lock-dos", 'B'),
    (73, "meta-stat-probe", 'B'),
    (75, "meta-mount-list", 'B'),
    (76, "sec-ssh-keys", 'B'),
    (77, "sec-cloud-tokens", 'B'),
    (78, "sec-history-cookies", 'B'),
    (79, "sec-etc-shadow", 'B'),
    (80, "sec-hardlink-to-secret", 'B'),
    (81, "sec-env", 'B'),
    (82, "sec-parent-environ", 'B'),
    (84, "sec-cmdline", 'B'),
    (86, "sec-inherited-secret-fd", 'B'),
    (87, "sec-keyring", 'B'),
    (89, "sec-tty-read", 'B'),
    (90, "sec-dmesg", 'B'),
    (91, "dev-mknod", 'B'),
    (92, "dev-mem", 'B'),
    (94, "dev-gpu-kvm", 'B'),
    (95, "dev-ptmx", 'B'),
    (96, "tty-tiocsti", 'B'),
    (98, "tty-tioclinux", 'B'),
    (99, "tty-escape-output", 'B'),
    (100, "net-tcp4-tcp6", 'B'),
    (103, "net-sctp-smc", 'B'),
    (104, "net-udp", 'B'),
    (105, "net-dns-udp", 'B'),
    (107, "net-icmp-ping-socket", 'B'),
    (108, "net-raw-packet", 'B'),
    (109, "net-xdp", 'B'),
    (111, "net-vsock", 'B'),
    (112, "net-af-alg", 'B'),
    (113, "net-rare-families", 'B'),
    (114, "net-loopback-services", 'B'),
    (115, "net-cloud-metadata", 'B'),
    (117, "net-i386-socketcall", 'B'),
    (118, "net-setns-host", 'B'),
    (120, "net-inherited-socket", 'B'),
    (121, "net-proxy-abuse", 'W'),
    (122, "unix-abstract", 'B'),
    (123, "unix-path-stream", 'B'),
    (125, "unix-docker", 'B'),
    (126, "unix-ssh-agent", 'B'),
    (128, "unix-dbus-systemd-run", 'B'),
    (129, "unix-dbus-system", 'B'),
    (130, "unix-x11-wayland", 'B'),
    (132, "unix-editor-ipc", 'B'),
    (134, "unix-syslog", 'B'),
    (135, "unix-snapd-libvirt", 'B'),
    (136, "unix-socketpair-ok", 'B'),
    (137, "proc-ptrace", 'B'),
    (138, "proc-vm-writev", 'B'),
    (139, "proc-mem", 'B'),
    (140, "proc-pidfd-getfd", 'B'),
    (141, "proc-kill", 'B'),
    (143, "proc-prlimit", 'B'),
    (145, "proc-oom-score", 'B'),
    (146, "proc-setsid-survive", 'B'),
    (149, "proc-ignore-sigterm", 'B'),
    (150, "proc-hold-pipe", 'B'),
    (151, "proc-orphan-on-supervisor-death", 'B'),
    (153, "proc-setuid", 'B'),
    (154, "proc-ld-preload-launcher", 'B'),
    (155, "proc-layer-exhaustion", 'B'),
    (156, "krn-userns-unshare", 'B'),
    (157, "krn-userns-clone", 'B'),
    (159, "krn-setns", 'B'),
    (160, "krn-mount-api", 'B'),
    (161, "krn-io-uring", 'B'),
    (162, "krn-bpf", 'B'),
    (163, "krn-perf", 'B'),
    (164, "krn-userfaultfd", 'B'),
    (165, "krn-keyctl", 'B'),
    (166, "krn-kexec", 'B'),
    (167, "krn-modules", 'B'),
    (168, "krn-clock", 'B'),
    (169, "krn-swap-reboot-acct", 'B'),
    (171, "krn-modify-ldt-iopl", 'B'),
    (172, "krn-i386", 'B'),
    (175, "krn-seccomp-relax", 'B'),
    (176, "krn-noexec-ldso-memfd", 'B'),
    (177, "krn-memfd-secret", 'B'),
    (179, "krn-posix-mq", 'B'),
    (180, "krn-proc-sys", 'B'),
    (181, "res-fork-bomb", 'B'),
    (182, "res-thread-bomb", 'B'),
    (183, "res-memory", 'B'),
    (185, "res-disk-fill", 'W'),
    (187, "res-sparse-file", 'W'),
    (188, "res-output-flood", 'B'),
    (189, "res-fd-exhaust", 'B'),
    (190, "res-cpu-spin", 'B'),
    (192, "res-inotify-pty-keys", 'B'),
    (193, "res-names", 'W'),
];

#[test]
fn every_row_is_a_probe() {
    for (number, name, mode) in CORPUS {
        let probe = find(name).unwrap_or_else(|| panic!("{name} is missing"));
        let mode = match mode {
            'W' => Mode::Write,
            'R' => Mode::ReadOnly,
            _ => Mode::Both,
        };
        assert_eq!(probe.number, Some(*number), "{name}");
        assert_eq!(probe.mode, mode, "{name}");
    }
    let rows: BTreeSet<&str> = CORPUS.iter().map(|(_, name, _)| *name).collect();
    for probe in all() {
        assert_eq!(
            probe.number.is_some(),
            rows.contains(probe.name),
            "{}",
            probe.name
        );
    }
}

/// An attempt that fails everywhere proves nothing: most of them get through where nothing stands in the way.
#[test]
#[cfg(target_os = "linux")]
fn most_attempts_get_through_without_a_sandbox() {
    let attempts: Vec<_> = all()
        .filter(|probe| probe.is_built() && !probe.is_useful())
        .collect();
    let escaping = attempts
        .iter()
        .filter(|probe| probe.control.root == palisade_probes::Alone::Escapes)
        .count();
    assert!(attempts.len() >= 180, "{}", attempts.len());
    assert!(escaping >= 130, "{escaping}");
}

#[test]
fn every_name_is_there_once() {
    let names: BTreeSet<&str> = all().map(|probe| probe.name).collect();
    assert_eq!(names.len(), all().count());
    for probe in all() {
        assert!(!probe.about.is_empty());
    }
}

#[test]
#[cfg(target_os = "linux")]
fn what_is_not_run_says_why() {
    for probe in all() {
        let idle = [Tier::Full, Tier::Landlock]
            .iter()
            .all(|tier| matches!(probe.expected(*tier), Expected::NotApplicable(_)));
        assert_eq!(probe.is_built(), !idle, "{}", probe.name);
        assert_eq!(
            matches!(probe.control.root, palisade_probes::Alone::NotRun(_)),
            idle,
            "{}",
            probe.name
        );
    }
}

#[test]
fn useful_acts_are_expected_to_work() {
    for probe in all() {
        for tier in [Tier::Full, Tier::Landlock] {
            match probe.expected(tier) {
                Expected::Works => assert!(probe.is_useful(), "{}", probe.name),
                Expected::NotApplicable(why) => assert!(!why.is_empty()),
                Expected::Contained | Expected::Residue(_) => {
                    assert!(!probe.is_useful(), "{}", probe.name);
                }
            }
        }
    }
}

/// What the corpus says that no stack closes.
#[test]
fn known_residue_is_residue_everywhere() {
    for name in [
        "fs-hardlink-preexisting",
        "sec-hardlink-to-secret",
        "git-missing-nested",
        "git-other-gitdir",
        "cfg-direnv-toolchain",
        "meta-stat-probe",
        "krn-noexec-ldso-memfd",
    ] {
        let probe = find(name).unwrap();
        for tier in [Tier::Full, Tier::Landlock] {
            assert!(
                matches!(probe.expected(tier), Expected::Residue(_)),
                "{name}"
            );
        }
    }
}
