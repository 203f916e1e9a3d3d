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
    Probe::new(
        Secrets,
        None,
        "sec-other-names",
        Both,
        "reads a key by five other ways to it",
        attempt!(attempts::secrets::other_names),
    ),
    Probe::new(
        Secrets,
        None,
        "sec-other-programs",
        Both,
        "has cat and a shell read a key",
        attempt!(attempts::secrets::other_programs),
    ),
    Probe::new(
        Secrets,
        None,
        "sec-list",
        Both,
        "lists directories with keys",
        attempt!(attempts::secrets::list),
    ),
    Probe::new(
        Secrets,
        None,
        "sec-host-tmp",
        Both,
        "reads a file of another program in /tmp",
        attempt!(attempts::secrets::shared_tmp),
    )
    .landlock(Residue(
        "without a mount namespace there is one /tmp, and what is not denied can be read",
    )),
    Probe::new(
        Secrets,
        None,
        "sec-proc-fd",
        Both,
        "opens a descriptor of another process by its name in /proc",
        attempt!(attempts::secrets::descriptor_of_other),
    ),
    Probe::new(
        Secrets,
        None,
        "sec-proc-layout",
        Both,
        "reads where another process has its memory",
        attempt!(attempts::secrets::layout_of_other),
    ),
    Probe::new(
        Secrets,
        None,
        "sec-proc-status",
        Both,
        "reads the state of another process",
        attempt!(attempts::secrets::status_of_other),
    )
    .landlock(Residue(
        "what `/proc` tells everybody about a process can be read without a pid namespace",
    )),
    Probe::new(
        Secrets,
        None,
        "sec-first-process",
        Both,
        "opens environment, memory and descriptors of the first process",
        attempt!(attempts::secrets::first_process),
    )
    .root(Depends("containers take the capability away"))
    .user(Cannot("the first process is root's")),
    Probe::new(
        Secrets,
        None,
        "sec-any-environ",
        Both,
        "looks for secrets in the environment of every process that it sees",
        attempt!(attempts::secrets::everybodys_environment),
    ),
];
