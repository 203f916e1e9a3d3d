//! A question to a person.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use palisade_exec_policy::{ApprovalPurpose, ExecPolicyAmendment, PromptCategory};
use palisade_policy::Grant;

use super::visible::{visible, visible_command};

/// A question to a person: may this run?
///
/// The command is what would run, byte for byte. Show [`display_line`](Self::display_line) instead of it: a command can
/// hold characters that a terminal obeys or does not show. The setters for texts that a model or a command wrote make such
/// characters visible.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Prompt {
    /// Which call of a tool this is about.
    pub call_id: String,
    /// The program and its arguments; empty for a tool that runs no command.
    pub command: Vec<OsString>,
    /// Where it would run.
    pub cwd: PathBuf,
    /// Why somebody is asked.
    pub reasons: Vec<String>,
    /// The rule that asks, and where it stands; `None` if no rule does.
    pub rule: Option<String>,
    /// What a yes allows.
    pub purpose: ApprovalPurpose,
    /// The kinds of question that this is.
    pub categories: Vec<PromptCategory>,
    /// The prefix that can be kept with a yes.
    pub proposed_amendment: Option<ExecPolicyAmendment>,
    /// The grant that a yes would add to the sandbox.
    pub proposed_grant: Option<Grant>,
    /// What went wrong in the sandbox before, if this is about trying again.
    pub retry_reason: Option<String>,
    /// Why the command says that it needs more, in its own words: nobody checked them.
    pub justification: Option<String>,
}

impl Prompt {
    /// A question about running a command where the policy says.
    pub fn new<A: Into<OsString>>(
        call_id: impl Into<String>,
        command: impl IntoIterator<Item = A>,
        cwd: impl Into<PathBuf>,
    ) -> Self {
        Self {
            call_id: call_id.into(),
            command: command.into_iter().map(Into::into).collect(),
            cwd: cwd.into(),
            reasons: Vec::new(),
            rule: None,
            purpose: ApprovalPurpose::Run,
            categories: Vec::new(),
            proposed_amendment: None,
            proposed_grant: None,
            retry_reason: None,
            justification: None,
        }
    }

    /// The command on one line, with everything in it made visible.
    #[must_use]
    pub fn display_line(&self) -> String {
        visible_command(&self.command)
    }

    /// With this purpose.
    #[must_use]
    pub fn with_purpose(mut self, purpose: ApprovalPurpose) -> Self {
        self.purpose = purpose;
        self
    }

    /// With one more reason.
    #[must_use]
    pub fn with_reason(mut self, reason: impl AsRef<str>) -> Self {
        self.reasons.push(visible(reason.as_ref()));
        self
    }

    /// With the rule that asks.
    #[must_use]
    pub fn with_rule(mut self, rule: Option<&str>) -> Self {
        self.rule = rule.map(visible);
        self
    }

    /// With these categories.
    #[must_use]
    pub fn with_categories(mut self, categories: impl IntoIterator<Item = PromptCategory>) -> Self {
        self.categories = categories.into_iter().collect();
        self
    }

    /// With this prefix to keep.
    #[must_use]
    pub fn with_proposed_amendment(mut self, amendment: Option<ExecPolicyAmendment>) -> Self {
        self.proposed_amendment = amendment;
        self
    }

    /// With this grant to add.
    #[must_use]
    pub fn with_proposed_grant(mut self, grant: Option<Grant>) -> Self {
        self.proposed_grant = grant;
        self
    }

    /// With what went wrong before.
    #[must_use]
    pub fn with_retry_reason(mut self, reason: Option<&str>) -> Self {
        self.retry_reason = reason.map(visible);
        self
    }

    /// With the command's own words.
    #[must_use]
    pub fn with_justification(mut self, justification: Option<&str>) -> Self {
        self.justification = justification.map(visible);
        self
    }
}

impl fmt::Display for Prompt {
    /// The whole question, for a terminal: the command, where it would run, why somebody is asked, and what a yes allows.
    /// Nothing in it can move the cursor or hide.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cwd = visible(&self.cwd.to_string_lossy());
        writeln!(f, "{}", self.display_line())?;
        writeln!(f, "  in {cwd}")?;
        for reason in self.retry_reason.iter().chain(&self.reasons) {
            writeln!(f, "  {reason}")?;
        }
        if let Some(rule) = &self.rule {
            writeln!(f, "  {rule}")?;
        }
        if let Some(justification) = &self.justification {
            writeln!(f, "  it says: {justification}")?;
        }
        f.write_str(match self.purpose {
            ApprovalPurpose::RunUnsandboxed => "  a yes runs it WITHOUT the sandbox",
            ApprovalPurpose::Run if self.proposed_grant.is_some() => {
                "  a yes runs it in the sandbox, with that grant"
            }
            ApprovalPurpose::Run => "  a yes runs it in the sandbox",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn a_prompt_on_a_terminal_shows_everything_and_obeys_nothing() {
        let grant = Grant::Write(palisade_policy::AbsolutePath::new("/srv/cache").unwrap());
        let prompt = Prompt::new("call-1", ["make", "a b"], "/srv/\u{1b}[2Japp")
            .with_reason("retry with a grant?")
            .with_retry_reason(Some("it failed"))
            .with_justification(Some("be\nquick"));
        let expected = "make 'a b'\n  in /srv/\\u{1b}[2Japp\n  it failed\n  retry with a grant?\n  \
                        it says: be\\u{a}quick\n";
        assert_eq!(
            prompt.to_string(),
            format!("{expected}  a yes runs it in the sandbox")
        );
        assert_eq!(
            prompt.clone().with_proposed_grant(Some(grant)).to_string(),
            format!("{expected}  a yes runs it in the sandbox, with that grant")
        );
        assert_eq!(
            prompt
                .with_purpose(ApprovalPurpose::RunUnsandboxed)
                .to_string(),
            format!("{expected}  a yes runs it WITHOUT the sandbox")
        );
    }

    #[test]
    fn a_prompt_holds_the_bytes_and_shows_what_is_hidden() {
        let word = "\u{202e}fdp.exe";
        let prompt = Prompt::new("call-1", ["open", word], "/srv/app")
            .with_justification(Some("trust\u{1b}[8m me"))
            .with_retry_reason(Some("a\nb"))
            .with_reason("rule `x` asks");
        assert_eq!(prompt.command[1], word);
        assert_eq!(prompt.display_line(), r"open $'\u{202e}fdp.exe'");
        assert_eq!(prompt.justification.as_deref(), Some(r"trust\u{1b}[8m me"));
        assert_eq!(prompt.retry_reason.as_deref(), Some(r"a\u{a}b"));
        assert_eq!(prompt.purpose, ApprovalPurpose::Run);
    }
}
