//! Whatever rules there are: printed and read back, they are the same.

use proptest::prelude::*;

use super::read;
use crate::model::known_operations;
use crate::profile::{
    Decision, Endpoint, EndpointHost, Filter, Modifier, ParameterName, PathValue, Pattern, Rule,
    Target, VnodeType,
};

/// Text of any kind, and often such as could end a string early.
fn any_text() -> impl Strategy<Value = String> {
    let scrap = prop::sample::select(vec![
        "\"",
        "\\",
        "(",
        ")",
        ";",
        "\n",
        "\t",
        "#\"",
        "a",
        "é",
        "/",
        " ",
        "\0",
        "(allow default)",
    ]);
    prop_oneof![
        any::<String>(),
        prop::collection::vec(scrap, 0..8).prop_map(|scraps| scraps.concat()),
    ]
}

fn any_path() -> impl Strategy<Value = PathValue> {
    prop_oneof![
        any_text().prop_map(PathValue::Fixed),
        "[A-Z0-9_]{1,9}".prop_map(|name| PathValue::Parameter(ParameterName(name))),
    ]
}

fn any_pattern() -> impl Strategy<Value = Pattern> {
    let patterns = vec![
        "^/dev/ttys[0-9]+$",
        r"^/[^/]+/\.[gG][iI][tT](/|$)",
        "a|b",
        "(/[^/]+)*x?",
        "é",
        ";(",
    ];
    prop::sample::select(patterns)
        .prop_filter("read at all", |pattern| {
            crate::model::automaton::Automaton::new(pattern).is_ok()
        })
        .prop_map(|pattern| Pattern(pattern.to_owned()))
}

fn any_end() -> impl Strategy<Value = (EndpointHost, Option<u16>)> {
    let host = prop::sample::select(vec![EndpointHost::Any, EndpointHost::Localhost]);
    (host, prop::option::of(1_u16..))
}

fn about_paths() -> impl Strategy<Value = Filter> {
    let leaf = prop_oneof![
        any_path().prop_map(Filter::Literal),
        any_path().prop_map(Filter::Subpath),
        any_pattern().prop_map(Filter::Regex),
    ];
    nested(leaf)
}

fn nested(leaf: impl Strategy<Value = Filter> + 'static) -> impl Strategy<Value = Filter> {
    leaf.prop_recursive(4, 24, 4, |inner| {
        let some = || prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            some().prop_map(Filter::All),
            some().prop_map(Filter::Any),
            inner
                .clone()
                .prop_map(|filter| Filter::Not(Box::new(filter))),
        ]
    })
}

fn any_endpoint() -> impl Strategy<Value = Endpoint> {
    prop_oneof![
        any_end().prop_map(|(host, port)| Endpoint::Ip { host, port }),
        any_end().prop_map(|(host, port)| Endpoint::Tcp { host, port }),
        any_end().prop_map(|(host, port)| Endpoint::Udp { host, port }),
        prop::collection::vec(about_paths(), 0..3).prop_map(Endpoint::UnixSocket),
    ]
}

fn any_filter() -> impl Strategy<Value = Filter> {
    let kinds = vec![
        VnodeType::RegularFile,
        VnodeType::Directory,
        VnodeType::Symlink,
        VnodeType::CharacterDevice,
        VnodeType::BlockDevice,
        VnodeType::Fifo,
        VnodeType::Socket,
        VnodeType::Tty,
    ];
    let targets = vec![
        Target::Itself,
        Target::SameSandbox,
        Target::Children,
        Target::ProcessGroup,
        Target::Others,
    ];
    let named = vec![
        Filter::GlobalName as fn(String) -> Filter,
        Filter::GlobalNamePrefix,
        Filter::LocalName,
        Filter::SysctlName,
        Filter::SysctlNamePrefix,
        Filter::IpcPosixName,
        Filter::IpcPosixNamePrefix,
        Filter::IokitRegistryEntryClass,
        Filter::IokitUserClientClass,
        Filter::PreferenceDomain,
        Filter::Extension,
    ];
    nested(prop_oneof![
        about_paths(),
        any_path().prop_map(Filter::PathAncestors),
        prop::sample::select(kinds).prop_map(Filter::VnodeType),
        prop::sample::select(targets).prop_map(Filter::Target),
        any_endpoint().prop_map(Filter::Remote),
        any_endpoint().prop_map(Filter::Local),
        "AF_[A-Z]{1,6}".prop_map(Filter::SocketDomain),
        (prop::sample::select(named), any_text()).prop_map(|(filter, name)| filter(name)),
    ])
}

fn any_rule() -> impl Strategy<Value = Rule> {
    let decision = prop::sample::select(vec![Decision::Allow, Decision::Deny]);
    let operation = prop::sample::select(known_operations().collect::<Vec<_>>());
    let modifier = prop_oneof![
        any_text().prop_map(Modifier::Message),
        Just(Modifier::NoLog),
        Just(Modifier::Report),
    ];
    (
        decision,
        prop::collection::vec(operation, 1..4),
        prop::collection::vec(any_filter(), 0..4),
        prop::collection::vec(modifier, 0..3),
    )
        .prop_map(|(decision, operations, filters, modifiers)| Rule {
            decision,
            operations,
            filters,
            modifiers,
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_printed_is_read_back(rules in prop::collection::vec(any_rule(), 0..4)) {
        let mut text = String::from("(version 1)\n");
        for rule in &rules {
            text.push_str(&rule.to_string());
            text.push('\n');
        }
        let read_back = read(&text);
        prop_assert_eq!(read_back, Ok(rules), "{}", text);
    }
}
