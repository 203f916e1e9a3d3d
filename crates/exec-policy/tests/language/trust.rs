//! A project that nobody trusts only tightens, and nobody goes below the floor.

use palisade_exec_policy::RuleDecision;
use palisade_exec_policy::language::model::{DefaultDecision, Preset};
use palisade_exec_policy::language::{
    Layer, LoadedPolicy, NetworkSetting, Settings, Source, load_sources, parse,
};
use palisade_policy::GitAccess;
use proptest::prelude::*;

use crate::support::{FULL, loaded};

#[test]
fn everything_that_an_untrusted_project_loosens_is_noticed() {
    let project = FULL.replace(
        "[floor]\npreset = \"workspace\"\nno-unsandboxed = true\nno-accepted-losses = true\nno-network = true\n",
        "",
    );
    let project = project.replace("include = [\"team/*.toml\", \"local.toml\"]", "");
    let policy = loaded(&[(Layer::User, "version = 1"), (Layer::Project, &project)]);
    let notices: Vec<_> = policy.notices().iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(notices.join("\n"));
    let rules: Vec<_> = policy
        .rules()
        .iter()
        .map(|rule| (rule.id.as_str(), rule.decision))
        .collect();
    assert_eq!(
        rules,
        [
            ("no-force", RuleDecision::Forbid),
            ("fetch", RuleDecision::Prompt),
            ("deploy", RuleDecision::Prompt),
        ]
    );
}

#[test]
fn a_trusted_project_applies_in_full() {
    let text = "version = 1\npreset = \"open\"\n[[rule]]\nid = \"a\"\nprefix = [\"a\"]\ndecision = \"allow\"\nunsandboxed = true";
    let source = Source::new(Layer::Project, "project.toml", text);
    let untrusted = load_sources([source.clone()]).unwrap();
    assert_eq!(untrusted.settings().preset.value, Preset::Workspace);
    assert!(untrusted.rules().is_empty());
    let trusted = load_sources([source.trusted()]).unwrap();
    assert_eq!(trusted.settings().preset.value, Preset::Open);
    assert!(trusted.rules()[0].unsandboxed);
}

#[test]
fn only_the_user_binds_a_secret_to_a_host() {
    let text = "version = 1\n[[network.inject]]\nhost = \"api.example:80\"\nheader = \"X-Key\"\n\
                from-env = \"API_KEY\"\nprefix = \"key \"\n";
    let user = load_sources([Source::new(Layer::User, "user.toml", text)]).unwrap();
    let [secret] = user.settings().inject.as_slice() else {
        panic!("{:?}", user.settings().inject)
    };
    assert_eq!(
        secret.value.to_string(),
        "X-Key for api.example:80 from $API_KEY"
    );
    assert_eq!(secret.value.prefix, "key ");
    assert!(
        !secret.value.intercept,
        "TLS stays closed unless the user says so"
    );
    for (word, opens) in [("true", true), ("false", false)] {
        let text = format!("{text}intercept = {word}\n");
        let user = load_sources([Source::new(Layer::User, "user.toml", &text)]).unwrap();
        let secret = &user.settings().inject[0].value;
        assert_eq!(secret.intercept, opens);
        assert_eq!(secret.to_string().contains("in TLS that is opened"), opens);
        let project = Source::new(Layer::Project, "other.toml", &text).trusted();
        assert!(parse(&project).is_err());
    }
    let unclear = format!("{text}intercept = \"yes\"\n");
    let errors = parse(&Source::new(Layer::User, "user.toml", &unclear)).unwrap_err();
    assert!(errors.to_string().contains("true or false"), "{errors}");
    for layer in [Layer::System, Layer::Project, Layer::Session] {
        let source = Source::new(layer, "other.toml", text).trusted();
        let errors = parse(&source).unwrap_err().to_string();
        assert!(
            errors.contains("only your own policy file binds secrets"),
            "{errors}"
        );
    }
    let without = text.replace("header = \"X-Key\"\n", "");
    let errors = parse(&Source::new(Layer::User, "user.toml", &without)).unwrap_err();
    assert!(errors.to_string().contains("header"), "{errors}");
}

#[test]
fn an_untrusted_prompt_never_rescues_what_is_forbidden_by_default() {
    let project = "version = 1\n[[rule]]\nid = \"a\"\nprefix = [\"a\"]\ndecision = \"prompt\"";
    let policy = loaded(&[
        (
            Layer::User,
            "version = 1\n[defaults]\nunmatched = \"forbid\"",
        ),
        (Layer::Project, project),
    ]);
    assert_eq!(policy.rules()[0].decision, RuleDecision::Forbid);
    insta::assert_snapshot!(policy.notices()[0].to_string());
}

/// One line of each group, or none.
fn settings() -> impl Strategy<Value = String> {
    let line =
        |lines: &'static [&'static str]| proptest::option::of(proptest::sample::select(lines));
    let top = (
        line(&[
            "preset = \"read-only\"",
            "preset = \"workspace\"",
            "preset = \"ci\"",
            "preset = \"open\"",
        ]),
        line(&[
            "network.access = \"full\"",
            "network.access = \"restricted\"",
            "network.allow = []",
            "network.allow = [\"a.example\"]",
            "network.allow = [\"a.example\", \"b.example\"]",
        ]),
        line(&[
            "filesystem.git = \"read-only\"",
            "filesystem.git = \"commit\"",
            "filesystem.git = \"full\"",
        ]),
        line(&[
            "filesystem.write = []",
            "filesystem.write = [\".\"]",
            "filesystem.write = [\".\", \"/srv/cache\"]",
        ]),
        line(&[
            "filesystem.deny = [\"a\"]",
            "filesystem.deny = [\"a\", \"b\"]",
        ]),
        line(&[
            "filesystem.protected = []",
            "filesystem.protected = [\".git\", \"x\"]",
        ]),
    );
    let rest = (
        line(&[
            "limits.wall = \"1m\"",
            "limits.wall = \"1h\"",
            "limits.wall = \"unlimited\"",
        ]),
        line(&[
            "limits.memory = \"1GiB\"",
            "limits.memory = \"unlimited\"",
            "limits.procs = 3",
        ]),
        line(&[
            "defaults.unmatched = \"prompt\"",
            "defaults.unmatched = \"forbid\"",
        ]),
        line(&[
            "defaults.opaque = \"prompt\"",
            "defaults.danger = \"forbid\"",
        ]),
        line(&[
            "defaults.ask = \"never\"",
            "defaults.ask = \"unless-trusted\"",
        ]),
        line(&[
            "env.keep = [\"PATH\"]",
            "env.keep = [\"A_*\", \"PATH\"]",
            "env.keep = [\"A_B\"]",
            "env.keep = [\"*\"]",
        ]),
        line(&[
            "env.prefix = { \"*\" = \"forbid\" }",
            "env.prefix = { A = \"prompt\" }",
            "env.prefix = { A = \"allow\", \"A*\" = \"forbid\" }",
            "env.prefix = { \"A*\" = \"prompt\", AB = \"allow\" }",
        ]),
        line(&[
            "programs.git.paths = [\"/usr/bin/git\"]",
            "programs.git.paths = [\"/usr/bin/git\", \"/srv/git\"]",
            "programs.git.paths = []",
        ]),
    );
    let rules = proptest::collection::vec((0..3_usize, any::<bool>(), any::<bool>()), 0..4);
    (top, rest, rules).prop_map(|(top, rest, rules)| {
        let (preset, network, git, write, deny, protected) = top;
        let write = write.filter(|_| preset != Some("preset = \"read-only\""));
        let (wall, memory, unmatched, other, ask, keep, prefix, programs) = rest;
        let lines = [preset, network, git, write, deny, protected, wall, memory, unmatched, other, ask, keep, prefix, programs];
        let mut text = "version = 1\n".to_owned();
        for line in lines.into_iter().flatten() {
            text.push_str(line);
            text.push('\n');
        }
        for (index, (decision, unsandboxed, grants)) in rules.into_iter().enumerate() {
            let decision = ["allow", "prompt", "forbid"][decision];
            text.push_str(&format!("[[rule]]\nid = \"r{index}\"\nprefix = [\"a\"]\ndecision = {decision:?}\n"));
            if decision != "forbid" && unsandboxed {
                text.push_str("unsandboxed = true\n");
            } else if decision != "forbid" && grants {
                text.push_str("sandbox = { network = [\"c.example\", \"a.example\"], write = [\"/srv/x\"], git = \"full\", limits = { wall = \"2h\", cpu = \"1s\" } }\n");
            }
        }
        text
    })
}

const fn git_rank(git: GitAccess) -> u8 {
    match git {
        GitAccess::ReadOnly => 0,
        GitAccess::Commit => 1,
        GitAccess::Full => 2,
    }
}

/// Whether everything that the first settings permit is permitted by the second.
fn no_looser(tight: &Settings, loose: &Settings) -> Result<(), String> {
    let mut bad = Vec::new();
    let mut check = |good: bool, what: &str| {
        if !good {
            bad.push(what.to_owned());
        }
    };
    let finite = |limit: u64| if limit == 0 { u64::MAX } else { limit };
    check(tight.confined() || !loose.confined(), "preset");
    check(
        tight
            .write
            .value
            .iter()
            .all(|root| loose.write.value.contains(root)),
        "write",
    );
    check(
        loose
            .deny
            .iter()
            .all(|deny| tight.deny.iter().any(|kept| kept.value == deny.value)),
        "deny",
    );
    check(
        loose
            .read_only
            .iter()
            .all(|guard| tight.read_only.iter().any(|kept| kept.value == guard.value)),
        "read_only",
    );
    check(
        loose
            .protected
            .value
            .iter()
            .all(|path| tight.protected.value.contains(path)),
        "protected",
    );
    check(
        git_rank(tight.git.value) <= git_rank(loose.git.value),
        "git",
    );
    check(
        tight.network.value.and(&loose.network.value) == tight.network.value,
        "network",
    );
    let limits = |settings: &Settings| {
        let limits = settings.limits.limits();
        [
            limits.timeout_secs,
            limits.cpu_time_secs,
            limits.max_memory_mb,
            limits.max_disk_mb,
            u64::from(limits.max_pids),
        ]
        .map(finite)
    };
    check(
        limits(tight)
            .iter()
            .zip(limits(loose))
            .all(|(tight, loose)| *tight <= loose),
        "limits",
    );
    let defaults = |settings: &Settings| {
        [
            settings.unmatched.value,
            settings.opaque.value,
            settings.danger.value,
        ]
    };
    let stricter =
        |(tight, loose): (&Option<DefaultDecision>, Option<DefaultDecision>)| *tight >= loose;
    check(
        defaults(tight).iter().zip(defaults(loose)).all(stricter),
        "defaults",
    );
    check(tight.ask.value == loose.ask.value, "ask");
    for name in ["A", "AB", "ABC", "PATH", "X"] {
        check(
            prefix_of(tight, name) >= prefix_of(loose, name),
            &format!("env.prefix of {name}"),
        );
        let keeps = |settings: &Settings| {
            let keep = settings.env_keep.value.as_ref();
            keep.map(|keep| keep.iter().any(|pattern| matches(pattern, name)))
        };
        check(
            keeps(tight) == keeps(loose) || keeps(tight) == Some(false),
            "env.keep",
        );
    }
    match bad.is_empty() {
        true => Ok(()),
        false => Err(bad.join(", ")),
    }
}

fn matches(pattern: &str, name: &str) -> bool {
    pattern
        .strip_suffix('*')
        .map_or(pattern == name, |start| name.starts_with(start))
}

/// What is said about a variable: by its name, else by the longest pattern, else that nothing allows it.
fn prefix_of(settings: &Settings, name: &str) -> RuleDecision {
    let found = settings
        .env_prefix
        .iter()
        .filter(|(pattern, _)| matches(pattern, name));
    let longest = found.max_by_key(|(pattern, _)| (!pattern.ends_with('*'), pattern.len()));
    longest.map_or(RuleDecision::Prompt, |(_, setting)| setting.value)
}

fn together(layers: &[(Layer, &str)]) -> LoadedPolicy {
    loaded(layers)
}

proptest! {
    #[test]
    fn an_untrusted_project_loosens_nothing(user in settings(), project in settings()) {
        let before = together(&[(Layer::User, &user)]);
        let after = together(&[(Layer::User, &user), (Layer::Project, &project)]);
        if let Err(looser) = no_looser(after.settings(), before.settings()) {
            prop_assert!(false, "{looser}\n{user}\n{project}");
        }
        for (name, pins) in after.programs() {
            let known = &before.programs()[name].paths;
            prop_assert!(pins.paths.iter().all(|path| known.contains(path)));
            prop_assert!(known.is_empty() || !pins.paths.is_empty());
        }
        let limits = before.settings().limits.limits();
        for rule in after.rules().iter().filter(|rule| rule.origin.layer == Layer::Project) {
            prop_assert!(rule.decision != RuleDecision::Allow);
            prop_assert!(!rule.unsandboxed);
            let sandbox = &rule.sandbox;
            prop_assert!(sandbox.network.is_empty() && sandbox.write.is_empty() && sandbox.read.is_empty() && sandbox.git.is_none());
            let own = after.limits_for(rule);
            prop_assert!(limits.timeout_secs == 0 || own.timeout_secs != 0 && own.timeout_secs <= limits.timeout_secs);
            let prompts = rule.decision == RuleDecision::Prompt;
            let forbidden = after.settings().unmatched.value == Some(DefaultDecision::Forbid);
            prop_assert!(!(prompts && forbidden));
        }
        let others = |policy: &LoadedPolicy| policy.rules().iter().filter(|rule| rule.origin.layer != Layer::Project).cloned().collect::<Vec<_>>();
        prop_assert_eq!(others(&after), others(&before));
    }

    #[test]
    fn nobody_goes_below_the_floor(
        system in settings(),
        user in settings(),
        session in settings(),
        preset in proptest::option::of(proptest::sample::select(&["read-only", "workspace", "ci"])),
        no_unsandboxed in any::<bool>(),
        no_network in any::<bool>(),
    ) {
        let preset_line = preset.map(|name| format!("preset = {name:?}\n")).unwrap_or_default();
        let (head, rules) = match system.split_once("[[rule]]") {
            Some((head, rules)) => (head.to_owned(), format!("[[rule]]{rules}")),
            None => (system.clone(), String::new()),
        };
        let system = format!("{head}[floor]\n{preset_line}no-unsandboxed = {no_unsandboxed}\nno-network = {no_network}\n{rules}");
        let policy = together(&[(Layer::System, &system), (Layer::User, &user), (Layer::Session, &session)]);
        let settings = policy.settings();
        let floored = preset.is_some() || no_unsandboxed || no_network;
        prop_assert!(settings.confined() || !floored);
        if preset == Some("read-only") {
            prop_assert!(settings.write.value.is_empty());
            prop_assert_eq!(settings.git.value, GitAccess::ReadOnly);
        }
        if no_unsandboxed {
            prop_assert!(policy.rules().iter().all(|rule| !rule.unsandboxed));
        }
        if no_network {
            let file = parse(&Source::new(Layer::System, "system.toml", &system)).unwrap();
            let listed = match (file.network.allow, file.network.full) {
                (_, Some(true)) => NetworkSetting::Full,
                (Some(hosts), _) => NetworkSetting::only(hosts),
                _ => NetworkSetting::Off,
            };
            prop_assert_eq!(settings.network.value.and(&listed), settings.network.value.clone());
            for rule in policy.rules().iter().filter(|rule| rule.origin.layer != Layer::System) {
                prop_assert!(rule.sandbox.network.iter().all(|entry| listed.holds(entry)));
            }
        }
    }

    #[test]
    fn reading_never_panics(text in "\\PC{0,200}") {
        let _ = parse(&Source::new(Layer::System, "policy.toml", &text));
    }

    #[test]
    fn reading_a_damaged_policy_never_panics(at in 0..FULL.len(), remove in 0..40_usize, insert in prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..4),
        proptest::sample::select(&["[", "]", "{", "}", "\"", "'''", "=", ".", "\n", "#", "-1", "1e9", "true", "[[rule]]\n", "\\u0000", "é"][..]).prop_map(|text| text.as_bytes().to_vec()),
    ]) {
        let mut bytes = FULL.as_bytes().to_vec();
        let end = (at + remove).min(bytes.len());
        bytes.splice(at..end, insert);
        let source = Source::new(Layer::System, "policy.toml", &bytes);
        match parse(&source) {
            Ok(_) => {
                let formatted = palisade_exec_policy::language::fmt(&source).unwrap();
                let again = palisade_exec_policy::language::fmt(&Source::new(Layer::System, "policy.toml", &formatted)).unwrap();
                prop_assert_eq!(&again, &formatted);
            }
            Err(errors) => prop_assert!(errors.count() > 0),
        }
    }
}
