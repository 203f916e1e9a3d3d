//! The approvals file: what it answers, and how it is edited.

use palisade_exec_policy::approvals::{
    AmendmentSource, ApprovalEdit, EditError, Keep, MAX_FILE_BYTES, Moment, Scope, StoredApprovals,
    apply, edit_for,
};
use palisade_exec_policy::{DefaultEntry, ExecPolicyAmendment, RuleRef, SegmentVerdict};
use palisade_policy::AbsolutePath;
use proptest::prelude::*;

const FILE: &str = r#"# Kept by hand, with care.
version = 1

# The registry may be asked.
[[approval]]
rule = "registry"
prefix = ["cargo", "add"]
project = "/srv/app"
date = 2026-03-01T12:00:00Z # agreed in the review

[[approval]]
rule = "push"
prefix = ["git", "push"]
date = 2026-03-01T12:00:00Z
expires = 2026-04-01T00:00:00Z

[[approval]]
prefix = ["frobnicate", "sync"]
project = "/srv/app"
date = 2026-03-02T08:00:00Z

# Written by hand, and answers nothing.
[[approval]]
rule = "ask-python"
prefix = ["python3"]
date = 2026-03-02T08:00:00Z
"#;

fn project(path: &str) -> AbsolutePath {
    AbsolutePath::new(path).unwrap()
}

fn at(text: &str) -> Moment {
    Moment::parse(text).unwrap()
}

fn keep(prefix: &[&str], source: AmendmentSource<'_>, keep: &Keep) -> ApprovalEdit {
    edit_for(
        &ExecPolicyAmendment::new(prefix.iter().copied()).unwrap(),
        source,
        keep,
    )
    .unwrap()
}

#[test]
fn an_approval_answers_one_rule_for_one_prefix_in_one_project_until_it_expires() {
    let stored = StoredApprovals::parse(FILE).unwrap();
    let app = project("/srv/app");
    let now = at("2026-03-10T00:00:00Z");
    let answers = |rule: &str, command: &str, project: &AbsolutePath, now: Moment| {
        let words: Vec<&str> = command.split(' ').collect();
        stored.answers(rule, &words, project, now)
    };
    assert!(answers("registry", "cargo add serde", &app, now));
    assert!(answers("registry", "cargo add", &app, now));
    assert!(
        !answers("registry", "cargo", &app, now),
        "shorter than the prefix"
    );
    assert!(
        !answers("registry", "cargo addx", &app, now),
        "tokens are whole"
    );
    assert!(
        !answers("registry", "Cargo add x", &app, now),
        "case counts"
    );
    assert!(
        !answers("registry", "./cargo add x", &app, now),
        "another program"
    );
    assert!(
        !answers("registry", "cargo --config x add", &app, now),
        "another prefix"
    );
    assert!(
        !answers("Registry", "cargo add x", &app, now),
        "another rule"
    );
    assert!(
        !answers("", "frobnicate sync", &app, now),
        "an allow rule answers no rule"
    );
    for other in ["/srv/app2", "/srv", "/srv/app/sub", "/SRV/app"] {
        assert!(
            !answers("registry", "cargo add x", &project(other), now),
            "{other}"
        );
    }
    assert!(
        answers("push", "git push origin", &project("/elsewhere"), now),
        "global"
    );
    assert!(answers(
        "push",
        "git push",
        &app,
        at("2026-03-31T23:59:59Z")
    ));
    assert!(
        !answers("push", "git push", &app, at("2026-04-01T00:00:00Z")),
        "expired"
    );
    assert!(
        !answers("ask-python", "python3 x.py", &app, now),
        "never for an interpreter"
    );
    assert!(!answers("ask-python", "python3", &app, now));
}

#[test]
fn what_answers_nothing_is_named() {
    let stored = StoredApprovals::parse(FILE).unwrap();
    let ignored: Vec<String> = stored
        .ignored()
        .map(|ignored| format!("{:?}: {}", ignored.approval.prefix.prefix(), ignored.why))
        .collect();
    assert_eq!(
        ignored,
        ["[\"python3\"]: `python3` is an interpreter and would run anything"]
    );
}

#[test]
fn an_approval_without_a_rule_is_an_allow_rule_of_its_project() {
    let stored = StoredApprovals::parse(FILE).unwrap();
    let now = at("2026-03-10T00:00:00Z");
    insta::assert_snapshot!(stored.allow_rules(&project("/srv/app"), now), @r#"
    version = 1

    [[rule]]
    id = "stored-approval/frobnicate/sync"
    prefix = ["frobnicate", "sync"]
    decision = "allow"
    why = "Approved on 2026-03-02T08:00:00Z"
    "#);
    assert_eq!(stored.allow_rules(&project("/srv/other"), now), "");
}

#[test]
fn the_id_of_an_allow_rule_depends_on_its_prefix_alone() {
    let now = at("2026-03-10T00:00:00Z");
    let app = project("/srv/app");
    let everywhere = Keep::everywhere(now);
    let here = Keep::for_project(app.clone(), now);
    let first = keep(&["npm", "test"], AmendmentSource::Unmatched, &everywhere);
    let mut text = apply("", &first).unwrap();
    for (prefix, scope) in [
        (&["frobnicate", "sync"][..], &everywhere),
        (&["frobnicate", "sync"], &here),
        (&["frobnicate", "a b"], &here),
        (&["frobnicate", "a", "b"], &here),
        (&["frobnicate", "a/b"], &here),
        (&["frobnicate", "a%2Fb"], &here),
    ] {
        text = apply(&text, &keep(prefix, AmendmentSource::Unmatched, scope)).unwrap();
    }
    let ids = |text: &str| -> Vec<String> {
        let rules = StoredApprovals::parse(text).unwrap().allow_rules(&app, now);
        let ids = rules.lines().filter_map(|line| line.strip_prefix("id = "));
        ids.map(|id| id.trim_matches('"').to_owned()).collect()
    };
    let before = ids(&text);
    assert_eq!(
        before,
        [
            "stored-approval/npm/test",
            "stored-approval/frobnicate/sync",
            "stored-approval/frobnicate/a%20b",
            "stored-approval/frobnicate/a/b",
            "stored-approval/frobnicate/a%2Fb",
            "stored-approval/frobnicate/a%252Fb",
        ]
    );
    let rules = StoredApprovals::parse(&text)
        .unwrap()
        .allow_rules(&app, now);
    crate::support::alone("approvals", &rules);
    let ApprovalEdit::Keep(approval) = first else {
        panic!("an approval is kept")
    };
    let after = ids(&apply(&text, &ApprovalEdit::Remove(approval)).unwrap());
    assert_eq!(after, before[1..], "removing one renames no other");
}

#[test]
fn an_approval_of_the_future_answers_nothing_yet() {
    let stored = StoredApprovals::parse(FILE).unwrap();
    let app = project("/srv/app");
    let answers = |now| stored.answers("registry", &["cargo", "add"], &app, at(now));
    assert!(!answers("2026-03-01T11:59:59Z"));
    assert!(answers("2026-03-01T12:00:00Z"));
    let rules = |now| stored.allow_rules(&app, at(now));
    assert_eq!(rules("2026-03-02T07:59:59Z"), "");
    assert_ne!(rules("2026-03-02T08:00:00Z"), "");
}

#[test]
fn a_file_of_comments_is_empty_and_keeps_them() {
    let now = at("2026-03-10T00:00:00Z");
    let edit = keep(
        &["npm", "test"],
        AmendmentSource::Unmatched,
        &Keep::everywhere(now),
    );
    let ApprovalEdit::Keep(approval) = &edit else {
        panic!("an approval is kept")
    };
    let remove = ApprovalEdit::Remove(approval.clone());
    for comments in [
        "",
        "\n\n",
        "# Mine.\n",
        "# Mine.",
        "\n# Mine.\n\n  # And mine.\n\n",
        "# Mine.\r\n",
    ] {
        let stored = StoredApprovals::parse(comments).unwrap();
        assert!(stored.is_empty(), "{comments:?}");
        assert_eq!(apply(comments, &remove).unwrap(), comments);
        let text = apply(comments, &edit).unwrap();
        for line in comments.lines().filter(|line| !line.is_empty()) {
            assert!(text.lines().any(|kept| kept == line), "{text:?}");
        }
        assert!(text.trim_start().starts_with(comments.trim()), "{text:?}");
        let stored = StoredApprovals::parse(&text).unwrap();
        assert_eq!(stored.iter().collect::<Vec<_>>(), [approval]);
        assert_eq!(apply(&text, &edit).unwrap(), text);
    }
    assert!(
        StoredApprovals::parse("[[approval]]\nprefix = [\"a\", \"b\"]\n").is_err(),
        "entries need a version"
    );
}

#[test]
fn what_asked_decides_what_is_kept() {
    let rule = RuleRef::new("push", None);
    let asked = |verdict: SegmentVerdict<'static>| AmendmentSource::of(&verdict).ok();
    let prompt = SegmentVerdict::Prompt {
        rule,
        answered: false,
        unsandboxed: false,
    };
    assert_eq!(asked(prompt), Some(AmendmentSource::RulePrompt("push")));
    assert_eq!(
        asked(SegmentVerdict::Unmatched),
        Some(AmendmentSource::Unmatched)
    );
    let default = |entry| SegmentVerdict::PromptByDefault { entry };
    assert_eq!(
        asked(default(DefaultEntry::Unmatched)),
        Some(AmendmentSource::Unmatched)
    );
    assert_eq!(asked(default(DefaultEntry::Opaque)), None);
    assert_eq!(asked(default(DefaultEntry::Danger)), None);
    assert_eq!(
        asked(SegmentVerdict::Forbid { rule }),
        None,
        "a forbid is never answered"
    );
    assert_eq!(asked(SegmentVerdict::Opaque { why: "x" }), None);
}

#[test]
fn nothing_that_grants_everything_is_stored() {
    let now = at("2026-03-01T00:00:00Z");
    let everywhere = Keep::everywhere(now);
    for prefix in [
        &["bash"][..],
        &["python3", "-m"],
        &["git"],
        &["uv", "run", "python"],
        &["npm", "run"],
    ] {
        let amendment = ExecPolicyAmendment::new(prefix.iter().copied()).unwrap();
        for source in [AmendmentSource::Unmatched, AmendmentSource::RulePrompt("r")] {
            let kept = edit_for(&amendment, source, &everywhere);
            assert!(
                matches!(kept, Err(EditError::Refused(_))),
                "{prefix:?}: {kept:?}"
            );
        }
    }
    let amendment = ExecPolicyAmendment::new(["cargo", "add"]).unwrap();
    let past = everywhere.clone().until(now);
    assert_eq!(
        edit_for(&amendment, AmendmentSource::Unmatched, &past),
        Err(EditError::ExpiresBeforeDate)
    );
    assert_eq!(
        edit_for(&amendment, AmendmentSource::RulePrompt(""), &everywhere),
        Err(EditError::EmptyRule)
    );
}

#[test]
fn an_edit_changes_its_entry_and_nothing_else() {
    let later = at("2026-05-01T00:00:00Z");
    let renewed = Keep::for_project(project("/srv/app"), later).until(at("2026-06-01T00:00:00Z"));
    let text = apply(
        FILE,
        &keep(
            &["cargo", "add"],
            AmendmentSource::RulePrompt("registry"),
            &renewed,
        ),
    )
    .unwrap();
    assert!(
        text.contains(
            "date = 2026-05-01T00:00:00Z # agreed in the review\nexpires = 2026-06-01T00:00:00Z\n"
        ),
        "{text}"
    );
    let changed: Vec<&str> = text
        .lines()
        .filter(|line| !FILE.lines().any(|old| old == *line))
        .collect();
    assert_eq!(changed.len(), 2, "{changed:?}");

    let new = keep(
        &["npm", "test"],
        AmendmentSource::Unmatched,
        &Keep::everywhere(later),
    );
    let text = apply(FILE, &new).unwrap();
    assert!(text.starts_with(FILE), "{text}");
    assert_eq!(apply(&text, &new).unwrap(), text);

    let ApprovalEdit::Keep(approval) = new else {
        panic!("an approval is kept")
    };
    let removed = apply(&text, &ApprovalEdit::Remove(approval.clone())).unwrap();
    assert_eq!(
        StoredApprovals::parse(&removed),
        StoredApprovals::parse(FILE)
    );
    assert_eq!(
        apply(&removed, &ApprovalEdit::Remove(approval)).unwrap(),
        removed
    );
}

#[test]
fn a_new_file_is_a_file() {
    let kept = Keep::for_project(project("/srv/app"), at("2026-03-01T12:00:00Z"));
    let edit = keep(
        &["cargo", "add"],
        AmendmentSource::RulePrompt("registry"),
        &kept,
    );
    insta::assert_snapshot!(apply("", &edit).unwrap(), @r#"
    version = 1

    [[approval]]
    rule = "registry"
    prefix = ["cargo", "add"]
    project = "/srv/app"
    date = 2026-03-01T12:00:00Z
    "#);
}

#[test]
fn a_file_that_is_not_understood_is_left_alone() {
    let edit = keep(
        &["npm", "test"],
        AmendmentSource::Unmatched,
        &Keep::everywhere(at("2026-03-01T00:00:00Z")),
    );
    let huge = format!("version = 1\n#{}", "x".repeat(MAX_FILE_BYTES));
    for (text, expected) in [
        (
            "version = 2\n",
            "approvals, line 1: `version = 1` is missing or another version",
        ),
        (
            "# x\n[[approval]]\n",
            "approvals, line 1: `version = 1` is missing or another version",
        ),
        (
            "version = 1\n\nallow = true\n",
            "approvals, line 3: unknown key `allow`",
        ),
        (
            "version = 1\napproval = []\n",
            "approvals, line 2: `approval` must be written as [[approval]] entries",
        ),
        (
            "version = 1\n[[approval]]\nprefix = []\ndate = 2026-03-01T00:00:00Z\n",
            "approvals, line 3: `prefix`: the prefix is empty; it would match every command",
        ),
        (
            "version = 1\n[[approval]]\nprefix = [\"a\"]\n",
            "approvals, line 2: `date` is missing",
        ),
        (
            "version = 1\n[[approval]]\ndate = 2026-03-01T00:00:00Z\n",
            "approvals, line 2: `prefix` is missing",
        ),
        (
            "version = 1\n[[approval]]\nprefix = [1]\n",
            "approvals, line 3: `prefix` must be a list of strings",
        ),
        (
            "version = 1\n[[approval]]\nprefix = [\"a\"]\ndate = \"today\"\n",
            "approvals, line 4: `date` must be a date with time and offset",
        ),
        (
            "version = 1\n[[approval]]\nprefix = [\"a\"]\ndate = 2026-03-01\n",
            "approvals, line 4: `date`: not a date with time and offset, such as 2026-03-01T12:00:00Z",
        ),
        (
            "version = 1\n[[approval]]\nprefix = [\"a\"]\nproject = \"app\"\n",
            "approvals, line 4: `project`: `app`: the path is relative; write it from the root of the file system",
        ),
        (
            "version = 1\n[[approval]]\nprefix = [\"a\"]\nproject = \"/a/../b\"\n",
            "approvals, line 4: `project`: `/a/../b`: the path contains `..`; write the path that it leads to",
        ),
        (
            "version = 1\n[[approval]]\nrule = \"\"\nprefix = [\"a\"]\n",
            "approvals, line 2: `rule` is empty",
        ),
        (
            "version = 1\n[[approval]]\nrule = 1\n",
            "approvals, line 3: `rule` must be a string",
        ),
        (
            "version = 1\n[[approval]]\nrules = \"x\"\n",
            "approvals, line 3: unknown key `rules`",
        ),
        (
            &huge,
            "approvals, line 1: the file is larger than 4194304 bytes",
        ),
    ] {
        let error = StoredApprovals::parse(text).unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert_eq!(apply(text, &edit), Err(EditError::File(error)));
    }
    assert!(
        StoredApprovals::parse("version = ")
            .unwrap_err()
            .to_string()
            .starts_with("approvals, line 1: not TOML: ")
    );
    assert!(StoredApprovals::parse("version = 1\nversion = 1\n").is_err());
}

fn entry() -> impl Strategy<
    Value = (
        Vec<String>,
        Option<String>,
        Option<String>,
        i64,
        Option<u32>,
    ),
> {
    (
        prop::collection::vec("[a-z]{1,5}|\"|\\\\|é|#|=", 1..3),
        prop::option::of("[a-z\"\\\\#\n\\[\\]]{1,6}"),
        prop::option::of("/[a-zA-Z\"\\\\ #é]{1,8}"),
        0..4_000_000_000i64,
        prop::option::of(1..1000u32),
    )
}

fn edits() -> impl Strategy<Value = Vec<ApprovalEdit>> {
    prop::collection::vec((entry(), any::<bool>()), 0..6).prop_map(|entries| {
        entries
            .into_iter()
            .filter_map(|((prefix, rule, root, date, days), remove)| {
                let amendment = ExecPolicyAmendment::new(prefix).ok()?;
                let date = Moment::from_unix(date).ok()?;
                let mut keep = match root {
                    Some(root) => Keep::for_project(AbsolutePath::new(root).ok()?, date),
                    None => Keep::everywhere(date),
                };
                keep.expires = days.map(|days| date.plus_days(days));
                let source = rule
                    .as_deref()
                    .map_or(AmendmentSource::Unmatched, AmendmentSource::RulePrompt);
                match (edit_for(&amendment, source, &keep).ok()?, remove) {
                    (ApprovalEdit::Keep(approval), true) => Some(ApprovalEdit::Remove(approval)),
                    (edit, _) => Some(edit),
                }
            })
            .collect()
    })
}

proptest! {
    #[test]
    fn edits_are_idempotent_and_read_back(edits in edits(), from_file in any::<bool>()) {
        let mut text = if from_file { FILE.to_owned() } else { String::new() };
        for edit in &edits {
            let before = StoredApprovals::parse(&text).unwrap();
            text = apply(&text, edit).unwrap();
            prop_assert_eq!(&apply(&text, edit).unwrap(), &text);
            let after = StoredApprovals::parse(&text).unwrap();
            let (ApprovalEdit::Keep(about) | ApprovalEdit::Remove(about)) = edit;
            let others = |stored: &StoredApprovals| -> Vec<_> {
                stored.iter().filter(|other| !other.is_about_the_same(about)).cloned().collect()
            };
            prop_assert_eq!(others(&before), others(&after), "nothing else changes");
            let kept: Vec<_> = after.iter().filter(|other| other.is_about_the_same(about)).cloned().collect();
            match edit {
                ApprovalEdit::Keep(approval) => prop_assert_eq!(kept, vec![approval.clone()]),
                ApprovalEdit::Remove(_) => prop_assert!(kept.is_empty()),
            }
        }
        if from_file {
            prop_assert!(text.starts_with("# Kept by hand, with care.\nversion = 1\n"));
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,64}|(version = 1\n)?(\\[\\[approval\\]\\]\n)?([a-z]{1,7} = [^\n]{0,12}\n){0,3}") {
        let edit = keep(&["npm", "test"], AmendmentSource::Unmatched, &Keep::everywhere(at("2026-03-01T00:00:00Z")));
        match StoredApprovals::parse(&text) {
            Ok(stored) => {
                let edited = StoredApprovals::parse(&apply(&text, &edit).unwrap()).unwrap();
                prop_assert!(edited.len() >= stored.len());
            }
            Err(_) => prop_assert!(apply(&text, &edit).is_err()),
        }
    }
}

#[test]
fn scopes_include_what_they_name() {
    assert!(Scope::Global.includes(&project("/srv/app")));
    assert!(Scope::Project(project("/srv/app/")).includes(&project("/srv/app")));
    assert!(!Scope::Project(project("/srv")).includes(&project("/srv/app")));
}
