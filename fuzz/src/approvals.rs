//! The file of kept approvals: any text is refused or read whole; an edit reads back and is the same twice; what becomes
//! rules stays in the sandbox.

use palisade_exec_policy::ExecPolicyAmendment;
use palisade_exec_policy::approvals::{
    AmendmentSource, ApprovalEdit, Keep, Moment, StoredApprovals, apply, edit_for,
};
use palisade_exec_policy::language::{Layer, Source, parse};
use palisade_policy::AbsolutePath;

/// Reads the bytes as the file, and the lines of them as words to keep.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let project = AbsolutePath::new("/srv/app").expect("it is absolute");
    let now = Moment::parse("2026-03-01T12:00:00Z").expect("it is a moment");
    if let Ok(stored) = StoredApprovals::parse(text) {
        for approval in stored.iter() {
            let keep = ApprovalEdit::Keep(approval.clone());
            let kept = apply(text, &keep).expect("what was read can be kept");
            let back = StoredApprovals::parse(&kept).expect("and read back");
            assert!(back.iter().any(|other| other == approval));
            let removed =
                apply(&kept, &ApprovalEdit::Remove(approval.clone())).expect("and removed");
            let back = StoredApprovals::parse(&removed).expect("and read without it");
            assert!(!back.iter().any(|other| other.is_about_the_same(approval)));
        }
        let rules = stored.allow_rules(&project, now);
        if !rules.is_empty() {
            let file =
                parse(&Source::new(Layer::User, "approvals", &rules)).expect("these are rules");
            assert!(file.rules.iter().all(|rule| !rule.unsandboxed));
        }
    }
    let words: Vec<&str> = text.split('\n').collect();
    let Ok(amendment) = ExecPolicyAmendment::new(words.iter().copied()) else {
        return;
    };
    for source in [
        AmendmentSource::Unmatched,
        AmendmentSource::RulePrompt(words[0]),
    ] {
        let keep = Keep::for_project(project.clone(), now);
        let Ok(edit) = edit_for(&amendment, source, &keep) else {
            continue;
        };
        let kept = apply("", &edit).expect("what may be kept can be written");
        assert_eq!(
            apply(&kept, &edit).as_ref(),
            Ok(&kept),
            "keeping twice is keeping once"
        );
        let stored = StoredApprovals::parse(&kept).expect("and reads back");
        assert_eq!(stored.len(), 1);
        match source {
            AmendmentSource::RulePrompt(rule) => {
                assert!(stored.answers(rule, &words, &project, now))
            }
            _ => assert!(!stored.allow_rules(&project, now).is_empty()),
        }
    }
}
