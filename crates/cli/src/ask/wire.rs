//! A question and its answer as JSON, one object on one line each. `docs/approvals.md` describes them.

use std::ffi::OsStr;

use palisade::runner::approve::Prompt;
use palisade::runner::exec_policy::{
    ApprovalPurpose, ExecPolicyAmendment, GrantScope, PromptCategory, ReviewDecision,
};
use palisade::runner::policy::Grant;
use serde::{Deserialize, Serialize};

use super::choice::always;
use super::{Place, question};

/// The version of both objects.
const VERSION: u32 = 1;

/// The longest answer that is read.
pub(super) const LONGEST_ANSWER: usize = 64 * 1024;

/// The longest note that is passed on.
const LONGEST_NOTE: usize = 4 * 1024;

/// A question.
#[derive(Debug, Serialize)]
struct Question<'a> {
    v: u32,
    r#type: &'static str,
    id: &'a str,
    command: Vec<Bytes<'a>>,
    display: String,
    cwd: Bytes<'a>,
    purpose: ApprovalPurpose,
    allows: String,
    categories: &'a [PromptCategory],
    reasons: &'a [String],
    rule: Option<&'a str>,
    retry_reason: Option<&'a str>,
    justification: Option<&'a str>,
    prefix: Option<&'a ExecPolicyAmendment>,
    grant: Option<&'a Grant>,
    kept: Option<String>,
    answers: Vec<Word>,
}

/// A string that may hold anything: text as it is, other bytes as base64.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Bytes<'a> {
    Text(&'a str),
    Other { base64: String },
}

impl<'a> From<&'a OsStr> for Bytes<'a> {
    fn from(text: &'a OsStr) -> Self {
        use base64::Engine as _;
        match text.to_str() {
            Some(text) => Self::Text(text),
            None => Self::Other {
                base64: base64::engine::general_purpose::STANDARD.encode(text.as_encoded_bytes()),
            },
        }
    }
}

/// What can be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Word {
    Approved,
    ApprovedForSession,
    ApprovedAlways,
    Denied,
    Abort,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    #[serde(default)]
    v: Option<u32>,
    decision: Word,
    #[serde(default)]
    note: Option<String>,
}

/// A question as one line. `None` if it cannot be written, which makes the answer no.
pub(super) fn question(prompt: &Prompt, place: &Place) -> Option<Vec<u8>> {
    let kept = question::kept(prompt, place);
    let mut answers = vec![Word::Approved, Word::ApprovedForSession];
    if kept.is_some() && always(prompt).is_some() {
        answers.push(Word::ApprovedAlways);
    }
    answers.extend([Word::Denied, Word::Abort]);
    let question = Question {
        v: VERSION,
        r#type: "question",
        id: &prompt.call_id,
        command: prompt
            .command
            .iter()
            .map(|word| word.as_os_str().into())
            .collect(),
        display: prompt.display_line(),
        cwd: prompt.cwd.as_os_str().into(),
        purpose: prompt.purpose,
        allows: question::allows(prompt, place),
        categories: &prompt.categories,
        reasons: &prompt.reasons,
        rule: prompt.rule.as_deref(),
        retry_reason: prompt.retry_reason.as_deref(),
        justification: prompt.justification.as_deref(),
        prefix: prompt.proposed_amendment.as_ref(),
        grant: prompt.proposed_grant.as_ref(),
        kept,
        answers,
    };
    let mut line = serde_json::to_vec(&question).ok()?;
    line.push(b'\n');
    Some(line)
}

/// What an answer means for a question.
///
/// # Errors
/// It is none: why not.
pub(super) fn answer(
    text: &[u8],
    prompt: &Prompt,
    place: &Place,
) -> Result<ReviewDecision, &'static str> {
    let answer: Answer =
        serde_json::from_slice(text.trim_ascii()).map_err(|_| "the answer is not understood")?;
    if answer.v.is_some_and(|version| version != VERSION) {
        return Err("the answer is of another version");
    }
    let note = answer.note.filter(|note| !note.trim().is_empty());
    Ok(match answer.decision {
        Word::Approved => ReviewDecision::Approved,
        Word::ApprovedForSession => match &prompt.proposed_grant {
            Some(grant) => ReviewDecision::ApprovedWithGrant {
                grant: grant.clone(),
                scope: GrantScope::Session,
                expires: None,
            },
            None => ReviewDecision::ApprovedForSession,
        },
        Word::ApprovedAlways => {
            let kept = question::kept(prompt, place).and_then(|_| always(prompt));
            kept.ok_or("nothing can be kept for this question, and the answer keeps it")?
        }
        Word::Denied => match note {
            Some(note) => ReviewDecision::DeniedWithNote {
                note: note.chars().take(LONGEST_NOTE).collect(),
            },
            None => ReviewDecision::Denied,
        },
        Word::Abort => ReviewDecision::Abort,
    })
}

/// No, because whoever should have answered did not.
pub(super) fn no(who: &str, why: impl std::fmt::Display) -> ReviewDecision {
    ReviewDecision::DeniedWithNote {
        note: format!("{}: {who}: {why}", super::NOBODY),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt as _;

    fn prompt() -> Prompt {
        let odd = OsString::from_vec(b"a\xff".to_vec());
        Prompt::new("run-1", [OsString::from("rm"), odd], "/srv/app").with_reason("dangerous")
    }

    #[test]
    fn a_question_is_one_line_and_keeps_every_byte() {
        let line = question(&prompt(), &Place::default()).unwrap();
        assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
        let value: serde_json::Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(value["v"], 1);
        assert_eq!(value["command"][0], "rm");
        assert_eq!(value["command"][1]["base64"], "Yf8=");
        assert_eq!(value["display"], r"rm $'a\xff'");
        assert_eq!(value["purpose"], "run");
        assert_eq!(
            value["answers"],
            serde_json::json!(["approved", "approved-for-session", "denied", "abort"])
        );
    }

    #[test]
    fn an_answer_is_exactly_one_object_that_we_know() {
        let place = Place::default();
        let read = |text: &str| answer(text.as_bytes(), &prompt(), &place);
        assert_eq!(
            read("{\"decision\":\"approved\"}\n"),
            Ok(ReviewDecision::Approved)
        );
        assert_eq!(
            read(r#"{"v":1,"decision":"denied","note":"not now"}"#),
            Ok(ReviewDecision::DeniedWithNote {
                note: "not now".to_owned()
            })
        );
        assert_eq!(read(r#"{"decision":"abort"}"#), Ok(ReviewDecision::Abort));
        for wrong in [
            "",
            "yes",
            "approved",
            "{}",
            r#"{"decision":"Approved"}"#,
            r#"{"decision":"approved"} {"decision":"approved"}"#,
            r#"{"decision":"approved","scope":"all"}"#,
            r#"{"v":2,"decision":"approved"}"#,
            r#"{"decision":"approved","decision":"denied"}"#,
            r#"{"decision":"approved-always"}"#,
            r#"[{"decision":"approved"}]"#,
        ] {
            read(wrong).unwrap_err();
        }
    }
}
