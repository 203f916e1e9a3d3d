//! Secrets.

use crate::probe::Alone::{Cannot, Depends};
use crate::probe::Class::Secrets;
use crate::probe::Expected::Residue;
use crate::probe::Mode::Both;
use crate::probe::Probe;

pub(super) const PROBES: &[Probe] = &[
    Probe::new(
        Secrets,
        Some(76),
        "sec-ssh-keys",
        Both,
        "reads keys of ssh and gpg",
        attempt!(attempts::secrets::keys),
    ),
    Probe::new(
        Secrets,
        Some(77),
        "sec-cloud-tokens",
        Both,
        "reads credentials of clouds and registries",
        attempt!(attempts::secrets::tokens),
    ),
    Probe::new(
        Secrets,
        Some(78),
        "sec-history-cookies",
        Both,
        "reads the history of a shell and the profile of a browser",
        attempt!(attempts::secrets::history),
    ),
    Probe::new(
        Secrets,
        Some(79),
        "sec-etc-shadow",
        Both,
        "reads files for root alone",
        attempt!(attempts::secrets::shadow),
    )
    .user(Cannot("the files are for root alone")),
    Probe::new(
        Secrets,
        Some(80),
        "sec-hardlink-to-secret",
        Both,
        "reads a secret by its second name in the workspace",
        attempt!(attempts::secrets::alias),
    )
    .residue("a file has no path: both names are the same file"),
    Probe::new(
        Secrets,
        Some(81),
        "sec-env",
        Both,
        "reads its environment",
        attempt!(attempts::secrets::environment),
    ),
    Probe::new(
        Secrets,
        Some(82),
        "sec-parent-environ",
        Both,
        "reads the environment of another process",
        attempt!(attempts::secrets::other_environment),
    ),
    Probe::new(
        Secrets,
        Some(84),
        "sec-cmdline",
        Both,
        "reads the command line of another process",
        attempt!(attempts::secrets::command_line),
    )
    .landlock(Residue("command lines are public without a pid namespace")),
    Probe::new(
        Secrets,
        Some(86),
        "sec-inherited-secret-fd",
        Both,
        "reads a leaked descriptor",
        attempt!(attempts::secrets::leaked),
    ),
    Probe::new(
        Secrets,
        Some(87),
        "sec-keyring",
        Both,
        "reads a key of the user's keyring",
        attempt!(attempts::secrets::keyring),
    )
    .alone(Depends("some hosts have no keyrings, or forbid them")),
    Probe::new(
        Secrets,
        Some(89),
        "sec-tty-read",
        Both,
        "opens the controlling terminal",
        attempt!(attempts::secrets::terminal),
    )
    .alone(Depends("there may be no terminal")),
    Probe::new(
        Secrets,
        Some(90),
        "sec-dmesg",
        Both,
        "reads the log of the kernel",
        attempt!(attempts::secrets::kernel_log),
    )
    .root(Depends("containers hide it"))
    .user(Depends("dmesg_restrict decides")),
];
