//! `trust`: agreeing to the policy files of a project, by content.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use palisade::runner::approve::visible;
use palisade::runner::config::{ContentHash, ProjectLayer, State, drafts_in_force, project_layer};
use palisade::runner::exec_policy::authoring::{self, PolicyDiff, Workbench};
use palisade::runner::exec_policy::language::{Layer, Trust};
use palisade::runner::exec_policy::matching::{CommandFacts, PlaceFacts};

use super::yes::typed_yes;
use crate::complaint::Complaint;
use crate::exit::Code;
use crate::ground::inside::{self, refuse_inside};
use crate::ground::{PolicyFlags, Site, config_complaint, now};
use crate::say::{Voice, shown};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  palisade trust             shows what the project's policy would newly allow, and asks
  palisade trust --show      only shows it
  palisade trust --remove    agrees to it no longer

A project's policy only tightens until you agree to it. What you agree to is its content: after any change of it you are
asked again.")]
pub(crate) struct TrustArgs {
    /// The project, instead of the enclosing git repository or this directory
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
    /// Only show what it says and whether you agreed to it
    #[arg(long)]
    show: bool,
    /// Agree to it no longer
    #[arg(long, conflicts_with = "show")]
    remove: bool,
    /// Agree without a question
    #[arg(long, conflicts_with_all = ["show", "remove"])]
    yes: bool,
}

pub(crate) fn trust(args: &TrustArgs, voice: &Voice) -> Result<ExitCode, Complaint> {
    refuse_inside("trust")?;
    let flags = PolicyFlags {
        workspace: args.directory.clone(),
        ..PolicyFlags::default()
    };
    let site = Site::find(&flags)?;
    let state = inside::state(&site.host)?;
    if args.remove {
        return remove(&site, &state, voice);
    }
    let Some(seen) = project_layer(&site.root).map_err(|error| config_complaint(&error))? else {
        return Err(Complaint::new(
            Code::No,
            format!(
                "{} has no policy of its own (.palisade/policy.toml)",
                shown(&site.root)
            ),
        ));
    };
    let trusted = state.trust().trusted(&seen.root);
    let trusted = trusted.map_err(|error| config_complaint(&error))?;
    let diff = newly_allowed(&site)?;
    // What was compared is what is shown and agreed to.
    let again = project_layer(&site.root).map_err(|error| config_complaint(&error))?;
    if again.is_none_or(|again| again.hash != seen.hash) {
        return Err(changed());
    }
    voice.answer(&page(&seen, trusted.as_ref(), &diff));
    if args.show {
        return Ok(Code::Fine.into());
    }
    if trusted.as_ref() == Some(&seen.hash) {
        return Ok(Code::Fine.into());
    }
    let agreed = args.yes || agreed()?;
    if !agreed {
        return Err(Complaint::refused("you did not agree; nothing changed"));
    }
    state
        .trust()
        .trust(&seen, now())
        .map_err(|error| config_complaint(&error))?;
    voice.tell(&format!(
        "you trust this policy of {} from now on",
        visible(&seen.root.to_string())
    ));
    Ok(Code::Fine.into())
}

fn remove(site: &Site, state: &State, voice: &Voice) -> Result<ExitCode, Complaint> {
    let root = std::fs::canonicalize(&site.root).map_err(Complaint::usage)?;
    let root = palisade::runner::policy::AbsolutePath::new(root).map_err(Complaint::usage)?;
    let was = state.trust().untrust(&root);
    let was = was.map_err(|error| config_complaint(&error))?;
    voice.tell(match was {
        true => "its policy only tightens from now on",
        false => "you did not trust it; nothing changed",
    });
    Ok(Code::Fine.into())
}

fn agreed() -> Result<bool, Complaint> {
    typed_yes("Do you agree to it?").ok_or_else(|| {
        Complaint::refused("nobody can be asked here; nothing changed")
            .help("call it on a terminal, or say --yes after you read the above")
    })
}

fn changed() -> Complaint {
    Complaint::refused("the policy changed while it was read; nothing was agreed to")
        .help("look at it again: palisade trust --show")
}

/// What the project's files allow once they are trusted, and do not allow before.
fn newly_allowed(site: &Site) -> Result<PolicyDiff, Complaint> {
    let mut drafts =
        drafts_in_force(&site.paths, &site.root).map_err(|error| config_complaint(&error))?;
    let mut with = |trust: Trust| {
        for file in &mut drafts.files {
            if file.layer == Layer::Project {
                file.trust = trust;
            }
        }
        drafts.combined().map_err(Complaint::usage)
    };
    let (before, after) = (with(Trust::Untrusted)?, with(Trust::Trusted)?);
    let root = std::fs::canonicalize(&site.root).map_err(Complaint::usage)?;
    let root = palisade::runner::policy::AbsolutePath::new(root).map_err(Complaint::usage)?;
    let place = PlaceFacts::new(&root, &site.host.facts);
    let facts = CommandFacts::new(&place);
    Ok(authoring::diff(
        &Workbench::new(&before),
        &Workbench::new(&after),
        &facts,
    ))
}

fn page(seen: &ProjectLayer, trusted: Option<&ContentHash>, diff: &PolicyDiff) -> String {
    let mut text = String::new();
    let state = match trusted {
        Some(hash) if *hash == seen.hash => "you trust it",
        Some(_) => "it changed since you agreed to it: it only tightens",
        None => "you have not agreed to it: it only tightens",
    };
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "policy of {}: {state}",
        visible(&seen.root.to_string())
    );
    for file in &seen.files {
        let _ = writeln!(text, "  {}", visible(&file.to_string_lossy()));
    }
    let _ = writeln!(text, "  sha256 {}", seen.hash);
    match diff.is_empty() {
        true => text.push_str("trusting it changes nothing\n"),
        false => {
            text.push_str("trusting it changes:\n");
            for line in diff.to_string().lines() {
                let _ = writeln!(text, "  {}", visible(line));
            }
        }
    }
    text
}
