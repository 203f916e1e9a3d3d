//! Rules, their parts, and cases.

use super::settings::LIMITS;
use super::shapes::{DECISIONS, FLAGS, GIT, HOSTS, PATHS, PREDICATES, PREFIX, TEXTS};
use super::{Section, Shape, key, required};

pub(crate) static RULE: Section = Section {
    doc: "What the commands that begin like this may do.",
    keys: &[
        required("id", Shape::Text, "Names the rule; unique in its layer."),
        required(
            "prefix",
            PREFIX,
            "The words that a command begins with, each one word or a list of alternatives; the first is the program.",
        ),
        key(
            "globals",
            Shape::Table(&OPTIONS),
            "Options that may stand between the program and the next word.",
        ),
        key(
            "when",
            Shape::Table(&WHEN),
            "The rule speaks only where this holds.",
        ),
        key(
            "flags",
            Shape::Table(&RULE_FLAGS),
            "Flags that change the decision.",
        ),
        key(
            "except",
            Shape::List(&PREFIX),
            "Longer prefixes that the rule does not speak about, in full.",
        ),
        key(
            "args",
            Shape::Word(PREDICATES),
            "A built-in check that the arguments must pass.",
        ),
        required(
            "decision",
            Shape::Word(DECISIONS),
            "`allow` runs in the sandbox, `prompt` asks, `forbid` refuses. The strictest rule wins.",
        ),
        key(
            "unsandboxed",
            Shape::Switch,
            "Whether what the rule matches leaves the sandbox.",
        ),
        key(
            "sandbox",
            Shape::Table(&SANDBOX),
            "What the sandbox grants, or takes away, for what the rule matches.",
        ),
        key(
            "why",
            Shape::Text,
            "Why the rule exists; a refused command is told.",
        ),
        key("match", TEXTS, "Commands that the rule must match."),
        key("not_match", TEXTS, "Commands that the rule must not match."),
    ],
};

pub(crate) static WHEN: Section = Section {
    doc: "Where a rule speaks.",
    keys: &[required(
        "flags",
        FLAGS,
        "Where one of these flags is present, in any spelling.",
    )],
};

pub(crate) static RULE_FLAGS: Section = Section {
    doc: "Flags that change a rule's decision.",
    keys: &[
        key("allow", FLAGS, "Any other flag leads to `else`."),
        key("forbid", FLAGS, "Any of these leads to `else`."),
        key(
            "else",
            Shape::Word(DECISIONS),
            "The decision then; never looser than the rule's own. `prompt` if left out, or the rule's own if that is stricter.",
        ),
    ],
};

pub(crate) static SANDBOX: Section = Section {
    doc: "What the sandbox grants, or takes away, for one rule.",
    keys: &[
        key("network", HOSTS, "Hosts to reach."),
        key("write", PATHS, "Paths to write; no patterns."),
        key(
            "read",
            PATHS,
            "Paths to read although they are guarded; no patterns.",
        ),
        key("git", Shape::Word(GIT), "What may happen to `.git`."),
        key(
            "limits",
            Shape::Table(&LIMITS),
            "Limits in place of those of the policy.",
        ),
    ],
};

pub(crate) static CASE: Section = Section {
    doc: "What the whole policy must say about a command.",
    keys: &[
        required("run", Shape::Text, "The command, as a shell would read it."),
        required("expect", Shape::Word(DECISIONS), "The verdict."),
    ],
};

pub(crate) static OPTIONS: Section = Section {
    doc: "Options of a program, with their dashes.",
    keys: &[
        key("value", FLAGS, "Take a value."),
        key("flag", FLAGS, "Take none."),
        key("optional", FLAGS, "Take a value only if it is joined."),
    ],
};
