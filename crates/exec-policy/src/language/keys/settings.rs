//! The file itself, and the tables that are no rules.

use super::rule::{CASE, OPTIONS, RULE};
use super::shapes::{
    ACCESS, APPROVALS, DECISIONS, DEFAULTS_WORDS, DURATION, GIT, HOSTS, PATHS, PRESETS, PROTOCOLS,
    SIZE, TEXTS, UNLIMITED,
};
use super::{Section, Shape, key, required};

/// The whole file.
pub(crate) static FILE: Section = Section {
    doc: "A Palisade policy file: rules about commands, and the sandbox that they run in.",
    keys: &[
        required("version", Shape::Version, "The version of the format."),
        key(
            "preset",
            Shape::Word(PRESETS),
            "Settings to start from: `read-only` writes nothing, `workspace` writes the project, `ci` is `workspace` with nobody to ask, `open` has no sandbox.",
        ),
        key(
            "include",
            TEXTS,
            "Other files of the same layer, as paths or patterns relative to this one.",
        ),
        key(
            "defaults",
            Shape::Table(&DEFAULTS),
            "What happens where no rule speaks, and when a person is asked.",
        ),
        key(
            "floor",
            Shape::Table(&FLOOR),
            "What no other layer may loosen; in the system layer only.",
        ),
        key(
            "filesystem",
            Shape::Table(&FILESYSTEM),
            "What a command may read and write.",
        ),
        key(
            "network",
            Shape::Table(&NETWORK),
            "What a command may reach.",
        ),
        key(
            "limits",
            Shape::Table(&LIMITS),
            "How much a command may use.",
        ),
        key("env", Shape::Table(&ENV), "Variables of the environment."),
        key(
            "programs",
            Shape::Map(&Shape::Table(&PROGRAM)),
            "What the bare name of a program may resolve to.",
        ),
        key(
            "options",
            Shape::Map(&Shape::Table(&OPTIONS)),
            "Options of programs that the built-in tables do not know, by program and subcommand.",
        ),
        key("rule", Shape::Tables(&RULE), "What a command may do."),
        key(
            "case",
            Shape::Tables(&CASE),
            "What the whole policy must say about a command; checked when the policy is loaded.",
        ),
    ],
};

pub(crate) static DEFAULTS: Section = Section {
    doc: "What happens where no rule speaks. What is left out asks nothing and forbids nothing.",
    keys: &[
        key(
            "unmatched",
            Shape::Word(DEFAULTS_WORDS),
            "Commands that no rule matches.",
        ),
        key(
            "opaque",
            Shape::Word(DEFAULTS_WORDS),
            "Scripts that cannot be read with certainty.",
        ),
        key(
            "danger",
            Shape::Word(DEFAULTS_WORDS),
            "Commands that destroy something if they go wrong.",
        ),
        key(
            "ask",
            Shape::Either(&[Shape::Word(APPROVALS), Shape::Table(&ASK)]),
            "When a person is asked.",
        ),
    ],
};

pub(crate) static ASK: Section = Section {
    doc: "An approval policy with parts.",
    keys: &[required(
        "reject",
        Shape::Table(&REJECT),
        "Asks as `on-request` does, but refuses these kinds of question.",
    )],
};

pub(crate) static REJECT: Section = Section {
    doc: "The kinds of question that are refused instead of asked.",
    keys: &[
        key(
            "sandbox_approval",
            Shape::Switch,
            "About leaving or doing without the sandbox, about danger and about trust.",
        ),
        key("rules", Shape::Switch, "That a rule asks."),
        key(
            "request_permissions",
            Shape::Switch,
            "About more permissions.",
        ),
        key(
            "mcp_elicitations",
            Shape::Switch,
            "Of the host's own servers.",
        ),
    ],
};

pub(crate) static FLOOR: Section = Section {
    doc: "What no other layer may loosen.",
    keys: &[
        key(
            "preset",
            Shape::Word(PRESETS),
            "The weakest preset that may be in force.",
        ),
        key(
            "no-unsandboxed",
            Shape::Switch,
            "Nothing leaves the sandbox.",
        ),
        key(
            "no-accepted-losses",
            Shape::Switch,
            "No loss of a guarantee may be accepted.",
        ),
        key(
            "no-network",
            Shape::Switch,
            "No network beyond what the system layer lists.",
        ),
    ],
};

pub(crate) static FILESYSTEM: Section = Section {
    doc: "What a command may read and write.",
    keys: &[
        key(
            "write",
            PATHS,
            "Directories that may be written; `.` is the project. An empty list writes nothing.",
        ),
        key(
            "deny",
            PATHS,
            "Neither read nor written; patterns are allowed.",
        ),
        key(
            "read_only",
            PATHS,
            "Read, not written; patterns are allowed.",
        ),
        key(
            "protected",
            PATHS,
            "Below each writable directory, written by nobody; in place of the built-in list.",
        ),
        key("git", Shape::Word(GIT), "What may happen to `.git`."),
    ],
};

pub(crate) static NETWORK: Section = Section {
    doc: "What a command may reach.",
    keys: &[
        key(
            "allow",
            HOSTS,
            "Exactly these hosts; an empty list is no network.",
        ),
        key(
            "access",
            Shape::Word(ACCESS),
            "`full` is everything, `restricted` is nothing; neither has a list.",
        ),
        key(
            "inject",
            Shape::Tables(&INJECT),
            "Secrets that are added to requests outside of every sandbox; in the user's own file only.",
        ),
    ],
};

pub(crate) static INJECT: Section = Section {
    doc: "A secret for a host, which no command gets to know. It goes into plain HTTP alone, or into TLS alone.",
    keys: &[
        required(
            "host",
            Shape::Form {
                pattern: "^[^\\s/]+$",
                example: "api.example:80",
            },
            "The host and its port; 443 if left out.",
        ),
        required("header", Shape::Text, "The header that carries it."),
        required(
            "from-env",
            Shape::Text,
            "The variable of your environment that holds it; commands never inherit it.",
        ),
        key(
            "prefix",
            Shape::Text,
            "What stands before it, such as `Bearer `.",
        ),
        key(
            "intercept",
            Shape::Switch,
            "Opens the TLS of this host to add it there: the proxy reads all that is exchanged with the host. False if \
             left out.",
        ),
    ],
};

pub(crate) static HOST: Section = Section {
    doc: "A host and its port.",
    keys: &[
        required(
            "domain",
            Shape::Form {
                pattern: "^[^\\s/]+$",
                example: "*.registry.example",
            },
            "A name, an address, or `*.name` for the subdomains of a name.",
        ),
        key("port", Shape::Count, "The port; 443 if left out."),
        key(
            "protocol",
            Shape::Word(PROTOCOLS),
            "The transport; TCP if left out.",
        ),
    ],
};

pub(crate) static LIMITS: Section = Section {
    doc: "How much a command may use. What is left out keeps what it was.",
    keys: &[
        key("wall", DURATION, "Time by the clock."),
        key("cpu", DURATION, "Time of processors."),
        key("memory", SIZE, "Memory of all its processes."),
        key("disk", SIZE, "Bytes written."),
        key(
            "procs",
            Shape::Either(&[Shape::Count, Shape::Word(UNLIMITED)]),
            "Processes alive at once.",
        ),
    ],
};

pub(crate) static ENV: Section = Section {
    doc: "Variables of the environment.",
    keys: &[
        key(
            "keep",
            Shape::List(&Shape::Form {
                pattern: "^([A-Za-z_][A-Za-z0-9_]*\\*?|\\*)$",
                example: "RUST_*",
            }),
            "Variables that a command inherits; a star at the end stands for any rest.",
        ),
        key(
            "prefix",
            Shape::Map(&Shape::Word(DECISIONS)),
            "What `NAME=value command` means, by name; a star at the end stands for any rest.",
        ),
    ],
};

pub(crate) static PROGRAM: Section = Section {
    doc: "What the bare name of a program may resolve to.",
    keys: &[required(
        "paths",
        Shape::List(&Shape::Form {
            pattern: "^(/|[A-Za-z]:[\\\\/]).*$",
            example: "/usr/bin/git",
        }),
        "Absolute paths.",
    )],
};
