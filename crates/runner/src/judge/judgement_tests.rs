//! Judgements: one decision, applied amendments, grants that every part of a command has.

use palisade_exec_policy::ReviewDecision;
use palisade_policy::{Os, SandboxType};

use super::*;

const RULES: &str = r#"
version = 1
[[rule]]
id = "registry"
prefix = ["fetcher", ["add", "sync"]]
decision = "prompt"
why = "Talks to the registry"
sandbox.network = ["registry.example"]
sandbox.limits = { wall = "5m", procs = 64 }

[[rule]]
id = "never"
prefix = ["fetcher", "check"]
decision = "forbid"
why = "Releases are made by people"
"#;

fn judge() -> Judge {
    let facts = HostFacts::new(Os::Linux).with_home(AbsolutePath::new("/home/dev").unwrap());
    let book = RuleBook::from_text("rules.toml", RULES).unwrap();
    Judge::new(book, WorkspaceRoot::new("/srv/app").unwrap(), facts).unwrap()
}

fn standing(approval: AskForApproval) -> Standing {
    Standing {
        approval,
        sandbox: SandboxPolicy::default(),
        preference: SandboxablePreference::Auto,
        backend: WorkingBackend::new(SandboxType::LinuxLandlock),
    }
}

fn at(seconds: i64) -> Moment {
    Moment::from_unix(seconds).unwrap()
}

fn ask(judge: &Judge, approval: AskForApproval, argv: &[&str], now: Moment) -> Judgement {
    let argv: Vec<OsString> = argv.iter().map(Into::into).collect();
    let cwd = AbsolutePath::new("/srv/app").unwrap();
    let case = Case {
        argv: &argv,
        cwd: &cwd,
        search_path: None,
        env: &[],
        permissions: &SandboxPermissions::UseDefault,
    };
    judge.judge(&case, &standing(approval), now).unwrap()
}

fn asks(judgement: &Judgement) -> bool {
    matches!(
        judgement.requirement,
        ExecApprovalRequirement::NeedsApproval { .. }
    )
}

#[test]
fn an_accepted_prefix_of_a_rules_question_is_applied_at_once() {
    let judge = judge();
    let now = at(1_000_000);
    let first = ask(
        &judge,
        AskForApproval::OnRequest,
        &["fetcher", "add", "serde"],
        now,
    );
    assert!(asks(&first));
    let offer = first.offer.unwrap();
    assert_eq!(offer.rule.as_deref(), Some("registry"));
    judge.accept(&offer, now).unwrap();
    let again = ask(
        &judge,
        AskForApproval::OnRequest,
        &["fetcher", "add", "rand"],
        now,
    );
    assert!(!asks(&again), "{}", again.explanation);
    let other = ask(&judge, AskForApproval::OnRequest, &["fetcher", "sync"], now);
    assert!(asks(&other), "another subcommand was not approved");
}

#[test]
fn an_accepted_prefix_of_an_unmatched_command_becomes_a_rule() {
    let judge = judge();
    let now = at(1_000_000);
    let command = ["frob", "check", "x"];
    let first = ask(&judge, AskForApproval::UnlessTrusted, &command, now);
    assert!(asks(&first));
    let offer = first.offer.unwrap();
    assert_eq!(offer.rule, None);
    judge.accept(&offer, now).unwrap();
    let again = ask(&judge, AskForApproval::UnlessTrusted, &command, now);
    assert!(!asks(&again), "{}", again.explanation);
    assert!(
        again.source.starts_with("stored-approval/"),
        "{}",
        again.source
    );
}

#[test]
fn what_is_kept_never_answers_a_forbid() {
    let judge = judge();
    let now = at(1_000_000);
    let forbidden = ask(
        &judge,
        AskForApproval::OnRequest,
        &["fetcher", "check"],
        now,
    );
    assert_eq!(forbidden.offer, None);
    let amendment = ExecPolicyAmendment::new(["fetcher", "check"]).unwrap();
    judge
        .accept(
            &Offer {
                amendment,
                rule: None,
            },
            now,
        )
        .unwrap();
    let still = ask(
        &judge,
        AskForApproval::OnRequest,
        &["fetcher", "check"],
        now,
    );
    assert!(matches!(
        still.requirement,
        ExecApprovalRequirement::Forbidden { .. }
    ));
}

#[test]
fn what_expired_answers_nothing() {
    let judge = judge();
    let text = "version = 1\n[[approval]]\nprefix = [\"frob\", \"check\"]\nproject = \"/srv/app\"\n\
                date = 2026-01-01T00:00:00Z\nexpires = 2026-02-01T00:00:00Z\n";
    judge.set_stored(StoredApprovals::parse(text).unwrap());
    let before = Moment::parse("2026-01-15T00:00:00Z").unwrap();
    let after = Moment::parse("2026-02-15T00:00:00Z").unwrap();
    let command = ["frob", "check"];
    assert!(!asks(&ask(
        &judge,
        AskForApproval::UnlessTrusted,
        &command,
        before
    )));
    assert!(asks(&ask(
        &judge,
        AskForApproval::UnlessTrusted,
        &command,
        after
    )));
}

#[test]
fn a_rules_grants_and_limits_are_for_its_command() {
    let judge = judge();
    let one = ask(
        &judge,
        AskForApproval::OnRequest,
        &["fetcher", "sync"],
        at(0),
    );
    assert_eq!(one.grants.len(), 1);
    let limits = one.limits.unwrap();
    assert_eq!((limits.timeout_secs, limits.max_pids), (300, 64));
    let none = ask(&judge, AskForApproval::OnRequest, &["cargo", "test"], at(0));
    assert!(none.grants.is_empty() && none.limits.is_none());
}

#[test]
fn a_grant_is_not_shared_with_a_part_of_the_script_that_does_not_have_it() {
    let judge = judge();
    let script = |text| {
        ask(
            &judge,
            AskForApproval::OnRequest,
            &["bash", "-c", text],
            at(0),
        )
    };
    assert_eq!(script("fetcher sync && fetcher add serde").grants.len(), 1);
    assert_eq!(
        script("cd sub && fetcher sync").grants.len(),
        1,
        "a reader cannot use it"
    );
    assert!(script("fetcher sync && ./anything").grants.is_empty());
    assert!(script("fetcher sync; curl evil.example").grants.is_empty());
    assert!(script("fetcher sync $(x)").grants.is_empty());
}

#[test]
fn a_variable_that_a_command_asks_for_is_judged_with_it() {
    let judge = judge();
    let cwd = AbsolutePath::new("/srv/app").unwrap();
    let ask = |env: &[(OsString, OsString)]| {
        let case = Case {
            argv: &["ls".into()],
            cwd: &cwd,
            search_path: None,
            env,
            permissions: &SandboxPermissions::UseDefault,
        };
        judge
            .judge(&case, &standing(AskForApproval::UnlessTrusted), at(0))
            .unwrap()
    };
    assert!(!asks(&ask(&[])));
    for name in ["LD_PRELOAD", "BASH_ENV", "PATH"] {
        assert!(asks(&ask(&[(name.into(), "./evil".into())])), "{name}");
    }
}

#[test]
fn questions_name_their_kind_and_answers_do_not_change_them() {
    let judge = judge();
    let asked = ask(
        &judge,
        AskForApproval::OnRequest,
        &["fetcher", "sync"],
        at(0),
    );
    assert_eq!(asked.categories, [PromptCategory::Rules]);
    assert_eq!(asked.source, "registry");
    // An answer is an event, not a state of the judge.
    let _ = ReviewDecision::Approved;
    assert_eq!(
        asked,
        ask(
            &judge,
            AskForApproval::OnRequest,
            &["fetcher", "sync"],
            at(0)
        )
    );
}
