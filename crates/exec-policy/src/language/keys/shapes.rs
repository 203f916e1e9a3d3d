//! Words and forms that several keys share.

use super::Shape;
use super::settings::HOST;

pub(crate) const DECISIONS: &[&str] = &["allow", "prompt", "forbid"];
pub(crate) const DEFAULTS_WORDS: &[&str] = &["prompt", "forbid"];
pub(crate) const PRESETS: &[&str] = &["read-only", "workspace", "ci", "open"];
pub(crate) const APPROVALS: &[&str] = &[
    "never",
    "on-request",
    "unless-trusted",
    "untrusted",
    "on-failure",
];
pub(crate) const GIT: &[&str] = &["read-only", "commit", "full"];
pub(crate) const ACCESS: &[&str] = &["restricted", "full"];
pub(crate) const PROTOCOLS: &[&str] = &["tcp", "udp"];
pub(crate) const PREDICATES: &[&str] = &[
    "sed-print",
    "awk-pure",
    "find-no-action",
    "paths-in-project",
    "no-secrets",
    "system-paths",
    "whole-project",
    "git-internals",
    "startup-files",
    "devices",
    "private-keys",
    "downloaded-script",
    "no-operands",
    "alone",
    "harmless-exports",
    "host-mount",
    "no-options",
    "project-script",
];

pub(super) const TEXTS: Shape = Shape::List(&Shape::Text);
pub(super) const FLAG: Shape = Shape::Form {
    pattern: "^--?[^=\\s-][^=\\s]*$",
    example: "--force",
};
pub(super) const FLAGS: Shape = Shape::List(&FLAG);
pub(super) const POSITION: Shape = Shape::Either(&[Shape::Text, TEXTS]);
pub(super) const PREFIX: Shape = Shape::List(&POSITION);
pub(super) const PATH: Shape = Shape::Form {
    pattern: "^[^\\u0000]+$",
    example: "~/.ssh",
};
pub(super) const PATHS: Shape = Shape::List(&PATH);
pub(super) const DURATION: Shape = Shape::Form {
    pattern: "^([1-9][0-9]*(s|m|h)|unlimited)$",
    example: "5m",
};
pub(super) const SIZE: Shape = Shape::Form {
    pattern: "^([1-9][0-9]*(MiB|GiB|TiB)|unlimited)$",
    example: "2GiB",
};
pub(super) const HOSTS: Shape = Shape::List(&Shape::Either(&[
    Shape::Form {
        pattern: "^[^\\s/]+(/udp)?$",
        example: "registry.example:8443",
    },
    Shape::Table(&HOST),
]));
pub(crate) const UNLIMITED: &[&str] = &["unlimited"];
