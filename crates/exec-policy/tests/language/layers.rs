//! What several layers mean together: presets, replacement, floor, the canonical policy and the page about it all.

use palisade_exec_policy::AskForApproval;
use palisade_exec_policy::language::model::Preset;
use palisade_exec_policy::language::{Layer, NetworkSetting, Source, load_sources, show_resolved};
use palisade_policy::{NetworkAccess, SandboxMode, SandboxPolicy};

use crate::support::loaded;

const SYSTEM: &str = r#"
version = 1
preset = "workspace"

[floor]
preset = "workspace"
no-unsandboxed = true
no-network = true

[network]
allow = ["mirror.example"]

[filesystem]
deny = ["~/.ssh"]

[[rule]]
id = "no-sudo"
prefix = [["sudo", "doas"]]
decision = "forbid"
why = "Nobody is root here"
"#;

const USER: &str = r#"
version = 1
preset = "open"

[defaults]
ask = "on-request"
opaque = "prompt"

[network]
allow = ["mirror.example", "elsewhere.example"]

[filesystem]
write = [".", "~/.cache/app"]
deny = ["~/.ssh", "~/.aws"]
git = "commit"

[limits]
wall = "1h"
memory = "4GiB"

[env]
keep = ["PATH", "RUST_*"]
prefix = { RUST_LOG = "allow", "*" = "prompt" }

[programs.git]
paths = ["/usr/bin/git"]

[options."git diff"]
value = ["--output"]

[[rule]]
id = "git-read"
prefix = ["git", ["log", "diff"]]
globals = { value = ["-C"], flag = ["--no-pager"] }
flags.forbid = ["--output"]
except = [["git", "log", "--exec"]]
args = "paths-in-project"
decision = "allow"
why = "Reads history"

[[rule]]
id = "fetch"
prefix = ["cargo", "fetch"]
decision = "prompt"
sandbox.network = ["mirror.example", "registry.example"]
sandbox.write = ["~/.cargo"]
sandbox.limits = { wall = "5m", procs = 64 }

[[rule]]
id = "deploy"
prefix = ["./deploy.sh"]
decision = "prompt"
unsandboxed = true
"#;

const PROJECT: &str = r#"
version = 1
preset = "read-only"

[filesystem]
read_only = ["vendor"]

[[rule]]
id = "build"
prefix = ["make"]
decision = "allow"

[[rule]]
id = "no-publish"
prefix = ["cargo", "publish"]
when.flags = ["--token"]
decision = "forbid"
"#;

#[test]
fn the_page_of_a_resolved_policy() {
    let policy = loaded(&[
        (Layer::System, SYSTEM),
        (Layer::User, USER),
        (Layer::Project, PROJECT),
    ]);
    insta::assert_snapshot!(show_resolved(&policy));
}

#[test]
fn the_page_of_nothing_and_of_everything() {
    insta::assert_snapshot!("nothing", show_resolved(&loaded(&[])));
    let open = "version = 1\npreset = \"open\"\n[limits]\nwall = \"5m\"\n[filesystem]\ndeny = [\"~/.ssh\"]\n";
    insta::assert_snapshot!("open", show_resolved(&loaded(&[(Layer::User, open)])));
}

#[test]
fn presets_mean_what_their_table_says() {
    let choices = |preset: Preset| {
        let text = format!("version = 1\npreset = {:?}\n", preset.name());
        let policy = load_sources([Source::new(Layer::User, "policy.toml", &text)]).unwrap();
        (policy.sandbox_policy(), policy.approval())
    };
    let sandbox = |mode, network| SandboxPolicy::new(mode, network);
    assert_eq!(
        Preset::ALL.map(choices),
        [
            (
                sandbox(SandboxMode::ReadOnly, NetworkAccess::Restricted),
                AskForApproval::OnRequest
            ),
            (
                sandbox(SandboxMode::WorkspaceWrite, NetworkAccess::Restricted),
                AskForApproval::OnRequest
            ),
            (
                sandbox(SandboxMode::WorkspaceWrite, NetworkAccess::Restricted),
                AskForApproval::Never
            ),
            (
                sandbox(SandboxMode::DangerFullAccess, NetworkAccess::Full),
                AskForApproval::UnlessTrusted
            ),
        ]
    );
}

#[test]
fn a_later_layer_replaces_settings_and_adds_rules_and_guards() {
    let policy = loaded(&[
        (
            Layer::Session,
            "version = 1\n[filesystem]\ndeny = [\"c\"]\n[[rule]]\nid = \"a\"\nprefix = [\"c\"]\ndecision = \"allow\"",
        ),
        (
            Layer::User,
            "version = 1\n[network]\naccess = \"full\"\n[defaults]\nunmatched = \"forbid\"\n[filesystem]\ndeny = [\"a\"]\n[[rule]]\nid = \"a\"\nprefix = [\"a\"]\ndecision = \"allow\"",
        ),
        (
            Layer::System,
            "version = 1\n[network]\nallow = [\"a.example\"]\n[defaults]\nunmatched = \"prompt\"\nopaque = \"prompt\"\n[filesystem]\ndeny = [\"a\", \"b\"]",
        ),
    ]);
    let settings = policy.settings();
    assert_eq!(settings.network.value, NetworkSetting::Full);
    assert_eq!(
        settings.network.origin.as_ref().unwrap().source,
        "user.toml"
    );
    let deny: Vec<_> = settings
        .deny
        .iter()
        .map(|deny| deny.value.to_string())
        .collect();
    assert_eq!(deny, ["a", "b", "c"]);
    let programs: Vec<_> = policy
        .rules()
        .iter()
        .map(|rule| rule.prefix[0][0].as_str())
        .collect();
    assert_eq!(programs, ["a", "c"]);
}

#[test]
fn a_preset_replaces_what_earlier_layers_opened() {
    let policy = loaded(&[
        (
            Layer::User,
            "version = 1\n[network]\naccess = \"full\"\n[filesystem]\nwrite = [\".\", \"/srv/cache\"]\ngit = \"full\"",
        ),
        (Layer::Session, "version = 1\npreset = \"read-only\""),
    ]);
    let sandbox = SandboxPolicy::new(SandboxMode::ReadOnly, NetworkAccess::Restricted);
    assert_eq!(policy.sandbox_policy(), sandbox);
}

#[test]
fn a_read_only_floor_holds_against_every_way_to_write() {
    let policy = loaded(&[
        (
            Layer::System,
            "version = 1\n[floor]\npreset = \"read-only\"",
        ),
        (
            Layer::User,
            "version = 1\npreset = \"workspace\"\n[filesystem]\nwrite = [\".\"]\ngit = \"full\"\n[[rule]]\nid = \"a\"\nprefix = [\"a\"]\ndecision = \"allow\"\nsandbox.write = [\"/srv/cache\"]\nsandbox.git = \"commit\"",
        ),
    ]);
    assert_eq!(policy.sandbox_policy().mode, SandboxMode::ReadOnly);
    let rule = &policy.rules()[0];
    assert!(rule.sandbox.write.is_empty() && rule.sandbox.git.is_none());
    let notices: Vec<_> = policy.notices().iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(notices.join("\n"));
}

#[test]
fn two_rules_of_a_layer_cannot_have_one_id() {
    let rule = "version = 1\n[[rule]]\nid = \"a\"\nprefix = [\"a\"]\ndecision = \"allow\"\n";
    let sources = [
        Source::new(Layer::User, "one.toml", rule),
        Source::new(Layer::User, "two.toml", rule),
        Source::new(Layer::System, "three.toml", rule),
    ];
    assert_eq!(
        load_sources(sources).unwrap_err().to_string(),
        "two.toml:2:1: `rule.id`: the id is taken by the rule at one.toml:2:1; ids are unique in a layer (found `a`)"
    );
}

#[test]
fn the_errors_of_all_files_are_collected() {
    let sources = [
        Source::new(Layer::User, "one.toml", "version = 3"),
        Source::new(Layer::System, "two.toml", "prest = 1"),
    ];
    assert_eq!(load_sources(sources).unwrap_err().count(), 3);
}

mod canonical {
    use palisade_exec_policy::language::Anchors;
    use palisade_policy::{
        AbsolutePath, CanonicalSandboxPolicy, Grant, NetworkAllowlistEntry, ResourceLimits,
        WorkspaceRoot,
    };

    use super::*;

    fn canonical(text: &str) -> CanonicalSandboxPolicy {
        let project = WorkspaceRoot::new("/srv/app").unwrap();
        let anchors = Anchors {
            project: &project,
            home: None,
        };
        loaded(&[(Layer::User, text)]).canonical(&anchors).unwrap()
    }

    #[test]
    fn presets_are_the_policies_of_the_same_name() {
        let root = WorkspaceRoot::new("/srv/app").unwrap();
        let preset = |name| canonical(&format!("version = 1\npreset = {name:?}"));
        assert_eq!(preset("read-only"), CanonicalSandboxPolicy::read_only());
        assert_eq!(
            preset("workspace"),
            CanonicalSandboxPolicy::workspace_write([root.clone()])
        );
        assert_eq!(
            preset("ci"),
            CanonicalSandboxPolicy::workspace_write([root])
        );
        assert_eq!(preset("open"), CanonicalSandboxPolicy::full_access());
    }

    #[test]
    fn an_empty_list_is_never_open() {
        for preset in ["read-only", "workspace", "ci"] {
            let policy = canonical(&format!(
                "version = 1\npreset = {preset:?}\n[network]\nallow = []"
            ));
            assert!(!policy.has_full_network(), "{preset}");
            let listed = canonical(&format!(
                "version = 1\npreset = {preset:?}\n[network]\nallow = [\"a.example\"]"
            ));
            assert!(!listed.has_full_network(), "{preset}");
            let full = canonical(&format!(
                "version = 1\npreset = {preset:?}\n[network]\naccess = \"full\""
            ));
            assert!(full.has_full_network(), "{preset}");
        }
    }

    #[test]
    fn every_setting_arrives() {
        let policy = canonical(
            "version = 1\n[filesystem]\nwrite = [\".\", \"out\", \"/srv/cache\"]\ndeny = [\"**/.env*\"]\nread_only = [\"vendor\"]\nprotected = [\".git\"]\ngit = \"commit\"\n[network]\nallow = [\"a.example:80\"]\n[limits]\nwall = \"1m\"\nmemory = \"1GiB\"\nprocs = 9\n",
        );
        insta::assert_json_snapshot!(policy, { ".seccomp_profile" => "[strict]" });
    }

    #[test]
    fn rules_have_grants_and_limits() {
        let project = WorkspaceRoot::new("/srv/app").unwrap();
        let home = AbsolutePath::new("/home/dev").unwrap();
        let policy = loaded(&[(Layer::User, USER)]);
        let policy_confined = loaded(&[(Layer::User, &USER.replace("\"open\"", "\"workspace\""))]);
        let rule =
            |policy: &palisade_exec_policy::language::LoadedPolicy| policy.rules()[1].clone();
        let anchors = Anchors {
            project: &project,
            home: Some(&home),
        };
        let none = policy.grants_for(&rule(&policy), &anchors).unwrap();
        assert_eq!(none, [], "nothing is confined");
        let grants = policy_confined
            .grants_for(&rule(&policy_confined), &anchors)
            .unwrap();
        assert_eq!(
            grants,
            [
                Grant::Write(AbsolutePath::new("/home/dev/.cargo").unwrap()),
                Grant::Host(NetworkAllowlistEntry::https("mirror.example").unwrap()),
                Grant::Host(NetworkAllowlistEntry::https("registry.example").unwrap()),
            ]
        );
        let limits = policy_confined.limits_for(&rule(&policy_confined));
        assert_eq!(
            limits,
            ResourceLimits::default().with_memory_mb(4096).with_pids(64)
        );
        let homeless = Anchors {
            project: &project,
            home: None,
        };
        let error = policy_confined
            .grants_for(&rule(&policy_confined), &homeless)
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "user.toml:41:1: `rule[fetch].sandbox.write`: `~` has no meaning here, because the home directory is not known (found `~/.cargo`)"
        );
    }
}
