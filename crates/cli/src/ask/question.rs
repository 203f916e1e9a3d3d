//! A question in plain words: the command, what becomes possible, and why somebody is asked.

use palisade::runner::approve::{Prompt, visible};
use palisade::runner::exec_policy::{ApprovalPurpose, PromptCategory};

use super::Place;

/// A command longer than this is more than one looks at in one glance.
const LONG: usize = 800;

/// What a yes makes possible, in one sentence.
pub(super) fn allows(prompt: &Prompt, place: &Place) -> String {
    if prompt.purpose == ApprovalPurpose::RunUnsandboxed || !place.confined {
        return "a yes runs it WITHOUT a sandbox: it can touch whatever you can".to_owned();
    }
    if let Some(grant) = &prompt.proposed_grant {
        let grant = visible(&grant.to_string());
        return format!("a yes runs it again in its sandbox, and lets it {grant}");
    }
    match prompt
        .categories
        .contains(&PromptCategory::RequestPermissions)
    {
        true => "a yes runs it in its sandbox, with what it asks for below".to_owned(),
        false => "a yes runs it in its sandbox".to_owned(),
    }
}

/// Why somebody is asked, a line each.
pub(super) fn why(prompt: &Prompt) -> Vec<String> {
    let mut lines = vec![format!("in {}", visible(&prompt.cwd.to_string_lossy()))];
    let length = prompt.display_line().chars().count();
    if length > LONG {
        lines.push(format!(
            "careful: the command is {length} characters long; scroll up to see all of it"
        ));
    }
    lines.extend(prompt.retry_reason.clone());
    lines.extend(prompt.reasons.iter().cloned());
    lines.extend(prompt.rule.clone());
    if let Some(words) = &prompt.justification {
        lines.push(format!("it says, and nobody checked: \"{words}\""));
    }
    lines
}

/// What `always` would keep, and where.
pub(super) fn kept(prompt: &Prompt, place: &Place) -> Option<String> {
    if let Some(grant) = &prompt.proposed_grant {
        let (grant, file) = (visible(&grant.to_string()), place.grants.as_ref()?);
        return Some(format!(
            "every command in this project may {grant}; kept in {}",
            visible(&file.to_string_lossy())
        ));
    }
    let (prefix, file) = (
        prompt.proposed_amendment.as_ref()?,
        place.approvals.as_ref()?,
    );
    let words: Vec<std::ffi::OsString> = prefix.prefix().iter().map(Into::into).collect();
    Some(format!(
        "every command in this project that begins with `{}` runs without a question; kept in {}",
        palisade::runner::approve::visible_command(&words),
        visible(&file.to_string_lossy())
    ))
}
