//! Laws that hold for the profile of every policy, tried on random ones.

use palisade_policy::{AbsolutePath, Access, PathRules, PathSpec, SensitivePath};
use palisade_seatbelt::Profile;
use palisade_seatbelt::model::{Model, SystemCall, known_operations, read};
use palisade_seatbelt::profile::{Filter, Rule};
use proptest::prelude::*;

use crate::disk::abs;
use crate::policies::{
    Flavour, any_case, any_context, any_entries, any_path, any_policy, any_spec, context,
    near_path, populated,
};
use crate::subject::{Answers, Subject, compile, config, lower, writes};

fn any_call() -> impl Strategy<Value = SystemCall> {
    let two = || (near_path(), near_path());
    prop_oneof![
        6 => two().prop_map(|(from, to)| SystemCall::Rename { from, to, replaces: false }),
        2 => two().prop_map(|(one, other)| SystemCall::Swap { one, other }),
        2 => two().prop_map(|(existing, new)| SystemCall::Link { existing, new }),
        1 => two().prop_map(|(existing, new)| SystemCall::Clone { existing, new }),
        3 => near_path().prop_map(SystemCall::MakeDirectory),
        2 => near_path().prop_map(SystemCall::Create),
        1 => near_path().prop_map(SystemCall::Unlink),
        1 => near_path().prop_map(SystemCall::RemoveDirectory),
    ]
}

/// Everything that can be tried at a path, and between two.
fn calls(one: &AbsolutePath, other: &AbsolutePath) -> Vec<SystemCall> {
    let mut calls = writes(one);
    let at = |call: fn(AbsolutePath) -> SystemCall| call(one.clone());
    calls.extend([
        at(SystemCall::OpenForReading),
        at(SystemCall::Stat),
        at(SystemCall::ReadAttribute),
        at(SystemCall::Create),
        at(SystemCall::MakeDirectory),
        at(SystemCall::MakeSymlink),
        at(SystemCall::Unlink),
        at(SystemCall::Execute),
        SystemCall::Rename {
            from: one.clone(),
            to: other.clone(),
            replaces: true,
        },
    ]);
    calls
}

/// The first call that comes out differently under one of the models of precedence.
///
/// Lists of who may do what are left out: what stays where it is may have other ones by the oracle, and by the profile
/// it depends on a carve, because not every Mac knows the operation by name. So are names beyond ASCII: a deny fits more
/// of them than it must, and is not carved out of an allow that is for another place.
fn difference<'a>(
    one: &Answers,
    other: &Answers,
    calls: &'a [SystemCall],
) -> Option<&'a SystemCall> {
    calls
        .iter()
        .filter(|call| !matches!(call, SystemCall::ChangeAcl(_)) && is_plain(call))
        .find(|call| one.to(call) != other.to(call))
}

/// What the oracle calls a call.
fn access(call: &SystemCall) -> Access {
    match call {
        SystemCall::OpenForReading(path)
        | SystemCall::Stat(path)
        | SystemCall::ReadAttribute(path) => Access::Read(path.clone()),
        SystemCall::Execute(path) => Access::Execute(path.clone()),
        SystemCall::Create(path)
        | SystemCall::MakeDirectory(path)
        | SystemCall::MakeSymlink(path) => Access::Create(path.clone()),
        SystemCall::Unlink(path) => Access::Delete(path.clone()),
        SystemCall::Rename { from, to, .. } => Access::Rename {
            from: from.clone(),
            to: to.clone(),
        },
        SystemCall::OpenForWriting(path)
        | SystemCall::Truncate(path)
        | SystemCall::ChangeMode(path)
        | SystemCall::ChangeOwner(path)
        | SystemCall::ChangeFlags(path)
        | SystemCall::ChangeTimes(path)
        | SystemCall::WriteAttribute(path)
        | SystemCall::ChangeAcl(path) => Access::Write(path.clone()),
        other => panic!("{other:?} is not asked here"),
    }
}

fn is_plain(call: &SystemCall) -> bool {
    let requests = call.requests();
    let mut paths = requests.iter().filter_map(|request| request.path.as_ref());
    paths.all(|path| path.to_string().is_ascii())
}

/// The first call that is allowed more often by the second.
fn loosened<'a>(
    wide: &Answers,
    narrow: &Answers,
    calls: &'a [SystemCall],
) -> Option<&'a SystemCall> {
    calls.iter().find(|call| {
        let (wide, narrow) = (wide.to(call), narrow.to(call));
        wide.iter()
            .zip(narrow)
            .any(|(wide, narrow)| narrow && !wide)
    })
}

fn every_operation_is_known(rules: &[Rule]) -> bool {
    let known: Vec<_> = known_operations().map(|op| op.name().to_owned()).collect();
    let aliases = [
        "process-exec",
        "iokit-open",
        "ipc-posix-sem",
        "ipc-posix-shm",
    ];
    rules
        .iter()
        .flat_map(|rule| &rule.operations)
        .all(|op| known.iter().any(|known| known == op.name()) || aliases.contains(&op.name()))
}

/// The rules with the text of every pattern left out: their shape.
fn shape(rules: &[Rule]) -> String {
    let mut shape = String::new();
    for line in rules.iter().map(ToString::to_string) {
        let mut rest = line.as_str();
        while let Some((before, pattern)) = rest.split_once("#\"") {
            shape.push_str(before);
            shape.push_str("PATTERN");
            rest = pattern.split_once('"').map_or("", |(_, after)| after);
        }
        shape.push_str(rest);
        shape.push('\n');
    }
    // Where a line is broken depends on how long a pattern is.
    shape.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The rules of the policy, without those of the base.
fn own_rules(profile: &Profile) -> Vec<Rule> {
    let all = read(&profile.text()).unwrap();
    let base = all.len() - profile.rules.len();
    all[base..].to_vec()
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn what_is_printed_is_read_back(
        policy in any_policy(Flavour::ALL),
        context in any_context(),
        entries in any_entries(),
    ) {
        let disk = populated(context.facts.case, &entries);
        let Some(subject) = Subject::new(&policy, &context, disk) else { return Ok(()) };
        let read_back = read(&subject.profile.text()).unwrap();
        prop_assert!(every_operation_is_known(&read_back));
        prop_assert_eq!(own_rules(&subject.profile), subject.profile.rules);
    }

    #[test]
    fn every_half_of_a_profile_is_enough(
        policy in any_policy(Flavour::ALL),
        context in any_context(),
        entries in any_entries(),
        asked in prop::collection::vec((any_path(), any_path()), 1..12),
    ) {
        let disk = populated(context.facts.case, &entries);
        let Some(subject) = Subject::new(&policy, &context, disk) else { return Ok(()) };
        let paths = subject.disk.paths();
        let asked = asked.into_iter().chain(paths.iter().map(|(path, _)| (path.clone(), path.clone())));
        let calls: Vec<SystemCall> = asked.flat_map(|(one, other)| calls(&one, &other)).collect();
        for (half, name) in [
            (subject.profile.without_denies(), "without denies"),
            (subject.profile.without_carves(), "without carves"),
        ] {
            let half = Answers::new(compile(&half));
            if let Some(call) = difference(&subject.answers, &half, &calls) {
                let (whole, half) = (subject.answers.to(call), half.to(call));
                return Err(subject.explain(&format!("{name}: {call:?}: {whole:?} became {half:?}")));
            }
        }
    }

    #[test]
    fn the_order_of_the_rules_does_not_matter(
        policy in any_policy(Flavour::ALL),
        context in any_context(),
        entries in any_entries(),
        order in prop::collection::vec(any::<u32>(), 200),
        asked in prop::collection::vec((any_path(), any_path()), 1..12),
    ) {
        let disk = populated(context.facts.case, &entries);
        let Some(subject) = Subject::new(&policy, &context, disk) else { return Ok(()) };
        let mut shuffled = subject.profile.clone();
        let mut keyed: Vec<(u32, Rule)> = order.iter().copied().cycle().zip(shuffled.rules).collect();
        keyed.sort_by_key(|(key, _)| *key);
        shuffled.rules = keyed.into_iter().map(|(_, rule)| rule).collect();
        let paths = subject.disk.paths();
        let asked = asked.into_iter().chain(paths.iter().map(|(path, _)| (path.clone(), path.clone())));
        let calls: Vec<SystemCall> = asked.flat_map(|(one, other)| calls(&one, &other)).collect();
        if let Some(call) = difference(&subject.answers, &Answers::new(compile(&shuffled)), &calls) {
            return Err(subject.explain(&format!("{call:?} comes out otherwise in\n{shuffled}")));
        }
    }

    #[test]
    fn a_denial_more_in_a_policy_never_allows_more(
        policy in any_policy(Flavour::ALL),
        context in any_context(),
        entries in any_entries(),
        denied in any_spec(Flavour::ALL),
        which in 0..3_u8,
        asked in prop::collection::vec((near_path(), near_path()), 1..30),
    ) {
        let mut disk = populated(context.facts.case, &entries);
        crate::policies::make_roots(&mut disk, &policy, &context);
        let (rules, _) = policy.rules().unwrap();
        let mut rules: PathRules = rules.clone();
        let mut json = serde_json::to_value(&policy).unwrap();
        match which {
            0 => rules.deny_read.push(denied),
            1 => rules.read_only.push(denied),
            _ => {
                let Some(list) = json.get_mut("sensitive_paths").and_then(|list| list.as_array_mut()) else {
                    return Ok(());
                };
                list.push(serde_json::to_value(SensitivePath::blocking(denied)).unwrap());
            }
        }
        let stricter: palisade_policy::CanonicalSandboxPolicy = serde_json::from_value(json).unwrap();
        let stricter = stricter.with_paths(rules);
        let (Ok(policy), Ok(stricter)) = (policy.resolve(&context), stricter.resolve(&context)) else {
            return Ok(());
        };
        let (Some(wide), Some(narrow)) = (lower(&policy, &disk), lower(&stricter, &disk)) else {
            return Ok(());
        };
        let paths = disk.paths();
        let asked = asked.into_iter().chain(paths.iter().map(|(path, _)| (path.clone(), path.clone())));
        let calls: Vec<SystemCall> = asked.flat_map(|(one, other)| calls(&one, &other)).collect();
        let (wide_answers, narrow_answers) = (Answers::new(compile(&wide)), Answers::new(compile(&narrow)));
        // A denial around a grant makes of a workspace a mere path, in which the policy protects nothing: where the
        // oracle allows more, so may the profile.
        let calls: Vec<SystemCall> = calls
            .into_iter()
            .filter(|call| {
                let access = access(call);
                policy.place(&access).is_some() || stricter.place(&access).is_none()
            })
            .collect();
        let call = loosened(&wide_answers, &narrow_answers, &calls);
        prop_assert!(call.is_none(), "{call:?}\n{wide}\n{narrow}");
    }

    #[test]
    fn a_deny_more_in_a_profile_never_allows_more(
        policy in any_policy(Flavour::ALL),
        context in any_context(),
        entries in any_entries(),
        operation in prop::sample::select(known_operations().collect::<Vec<_>>()),
        at in prop::option::of(any_path()),
        position in any::<prop::sample::Index>(),
        calls_between in prop::collection::vec(any_call(), 1..20),
    ) {
        let disk = populated(context.facts.case, &entries);
        let Some(subject) = Subject::new(&policy, &context, disk) else { return Ok(()) };
        let mut deny = Rule::deny([operation]);
        if let Some(path) = at {
            let text = path.to_string();
            deny = deny.at(Filter::Subpath(palisade_seatbelt::profile::PathValue::Fixed(text)));
        }
        let mut rules = read(&subject.profile.text()).unwrap();
        rules.insert(position.index(rules.len() + 1), deny);
        let stricter = Model::new(&rules, &subject.profile.parameters).unwrap();
        let paths = subject.disk.paths();
        let mut asked = calls_between;
        asked.extend(paths.iter().flat_map(|(path, _)| calls(path, path)));
        let call = loosened(&subject.answers, &Answers::new(stricter), &asked);
        prop_assert!(call.is_none(), "{call:?}");
    }

    #[test]
    fn no_path_changes_the_text(
        hostile in prop::collection::vec(any_hostile_name(), 3),
        case in any_case(),
        existing in any::<bool>(),
    ) {
        let profile = |names: &[String]| -> Option<Profile> {
            let path = |name: &str| abs(&format!("/srv/{name}"));
            let root = path(&names[0]);
            let context = context(&root, case);
            let rules = PathRules::default()
                .with_protected([palisade_policy::RelativePath::new(&names[1]).unwrap()])
                .with_deny_read([PathSpec::from(abs(&format!("/srv/{}/{}", names[0], names[2])))]);
            let policy = palisade_policy::CanonicalSandboxPolicy::workspace_write([context.cwd.clone()])
                .with_paths(rules);
            let mut disk = populated(case, &[]);
            disk.make_directory(&root);
            if existing {
                disk.make_directory(&abs(&format!("/srv/{}/{}", names[0], names[1])));
                disk.make_directory(&abs(&format!("/srv/{}/{}", names[0], names[2])));
            }
            lower(&policy.resolve(&context).ok()?, &disk)
        };
        // Rules follow the order of the paths, so the names begin with the same letters.
        let named = |i: usize, name: &str| format!("{}{name}", ["a", "b", "c"][i]);
        let plain: Vec<String> = (0..3).map(|i| named(i, "n")).collect();
        let hostile: Vec<String> = (0..3).map(|i| named(i, &hostile[i])).collect();
        let plain = profile(&plain).unwrap();
        let Some(profile) = profile(&hostile) else { return Ok(()) };
        prop_assert_eq!(&own_rules(&profile), &profile.rules);
        if existing {
            prop_assert_eq!(profile.text(), plain.text());
        }
        // Names that are compared by their bytes, and that a pattern can hold, say no more than plain ones.
        let is_plain = |name: &String| name.is_ascii() && !name.contains(['"', ';', '`', 'K']);
        if hostile.iter().all(is_plain) {
            prop_assert_eq!(shape(&profile.rules), shape(&plain.rules));
        }
        // Two patterns that have to fit more than their names can become the same one, which is there once.
        prop_assert!(profile.rules.len() <= plain.rules.len());
    }
}

/// Names that would mean something in a profile if they were part of its text.
fn any_hostile_name() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "\"",
        "\\",
        "(",
        ")",
        ";",
        "#\"",
        "(allow default)",
        "\") (allow file-write*",
        "|",
        "*",
        "[",
        "]",
        "$",
        "^",
        ".",
        "?",
        "+",
        "{",
        "}",
        " ",
        "\t",
        "\u{1}",
        "é",
        "ß",
        "\u{212a}",
        "(param \"ROOT_0\")",
        "a",
        "K",
        "=",
        "-D",
    ]);
    prop::collection::vec(part, 1..6).prop_map(|parts| parts.concat())
}
