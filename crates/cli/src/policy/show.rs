//! `policy show`: what is in force here, or what a system would be told to enforce it.

use std::process::ExitCode;

use clap::ValueEnum;
use palisade::runner::approve::visible;
use palisade::runner::config::ProjectTrust;
use palisade::runner::exec_policy::RuleDecision;
use palisade::runner::exec_policy::language::{Layer, show_resolved};
use serde_json::json;

use super::artefact::{self, Artefact, Backend};
use crate::complaint::Complaint;
use crate::ground::{Ground, PolicyFlags};
use crate::say::{Voice, shown};

#[derive(Debug, clap::Args)]
pub(super) struct ShowArgs {
    /// Print what this backend would be told: seatbelt, linux-landlock or windows-token, wherever you are
    #[arg(long, value_name = "NAME")]
    backend: Option<Backend>,
    /// For a made-up machine, also where this one could be looked at
    #[arg(long, requires = "backend")]
    emulated: bool,
    /// With linux-landlock: also print every instruction of the system-call filter
    #[arg(long, requires = "backend")]
    instructions: bool,
    /// Also print what is built in
    #[arg(long, conflicts_with = "backend")]
    all: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    flags: PolicyFlags,
}

pub(super) fn show(args: &ShowArgs, voice: &Voice) -> Result<ExitCode, Complaint> {
    let ground = Ground::find(&args.flags)?;
    match args.backend {
        Some(backend) => {
            let home_root = args.flags.allow_home_root;
            let artefact = artefact::compile(&ground, backend, args.emulated, home_root)?;
            say_artefact(&artefact, args, voice);
        }
        None if args.json => voice.answer_json(&pretty(&in_force(&ground)?)),
        None => voice.answer(&page(&ground, args)),
    }
    Ok(ExitCode::SUCCESS)
}

fn say_artefact(artefact: &Artefact, args: &ShowArgs, voice: &Voice) {
    if args.json {
        voice.answer_json(&pretty(&artefact.json(args.instructions)));
        return;
    }
    voice.note(&artefact.about);
    voice.answer_file(&artefact.text(args.instructions));
}

/// Everything in force, with where it comes from.
fn page(ground: &Ground, args: &ShowArgs) -> String {
    let configuration = &ground.configuration;
    let trust = match configuration.project_trust {
        ProjectTrust::Absent => "it has no policy of its own",
        ProjectTrust::Untrusted(_) => {
            "its policy is not trusted, so it only tightens; `palisade trust` agrees to it"
        }
        ProjectTrust::Trusted(_) => "you trust its policy",
    };
    let resolved = named(&show_resolved(configuration.rules.policy()));
    let resolved = match args.all {
        true => resolved,
        false => without_built_in(&resolved),
    };
    let project = shown(configuration.project.path().as_path());
    let mut text = format!("project\n  {project}: {trust}\n\n{resolved}");
    let kept = configuration
        .grants
        .iter()
        .map(|grant| visible(&grant.to_string()));
    let ignored = configuration.ignored_grants.iter();
    let ignored = ignored.map(|grant| {
        format!(
            "{} (below the floor, so not in force)",
            visible(&grant.to_string())
        )
    });
    section(&mut text, "kept grants", kept.chain(ignored));
    section(&mut text, "flags", added(&args.flags));
    text
}

/// The layer of this call has no file: what it sets comes from flags, or from what `run` does where none is given.
fn named(page: &str) -> String {
    let mut text = String::new();
    for line in page.lines().filter(|line| *line != "  session    session") {
        match line.split_once("  [session session:") {
            Some((what, _)) => {
                text.push_str(&format!("{what}  [flags of this command, or none given]"))
            }
            None => text.push_str(line),
        }
        text.push('\n');
    }
    text
}

/// The page without what is built in, which is the same everywhere and longer than all the rest.
fn without_built_in(page: &str) -> String {
    let mut text = String::new();
    let (mut hidden, mut hiding) = (0_usize, false);
    let close = |text: &mut String, hidden: &mut usize| {
        if *hidden > 0 {
            text.push_str(&format!("  and {hidden} built in; --all prints them\n"));
        }
        *hidden = 0;
    };
    for line in page.lines() {
        // What a rule says further stands below it, indented deeper.
        let further = line.starts_with("          ");
        if !further {
            hiding = line.contains("  [built-in ");
            hidden = hidden.saturating_add(usize::from(hiding));
        }
        if line.is_empty() {
            close(&mut text, &mut hidden);
        }
        if !hiding {
            text.push_str(line);
            text.push('\n');
        }
    }
    close(&mut text, &mut hidden);
    text
}

fn section(text: &mut String, title: &str, lines: impl Iterator<Item = String>) {
    let mut lines = lines.peekable();
    if lines.peek().is_some() {
        text.push_str(&format!("\n{title}\n"));
    }
    for line in lines {
        text.push_str(&format!("  {line}\n"));
    }
}

/// What flags add besides settings, which are in force already.
fn added(flags: &PolicyFlags) -> impl Iterator<Item = String> {
    let write = flags.write.iter();
    let write = write.map(|path| format!("write      {}", shown(path)));
    let grant = flags.grant.iter();
    let grant = grant.map(|grant| format!("grant      {}", shown(grant)));
    let deny = flags.deny_read.iter();
    let deny = deny.map(|path| format!("deny       {}", shown(path)));
    let git = flags.git.iter().filter_map(ValueEnum::to_possible_value);
    let git = git.map(|git| format!("git        {}", git.get_name()));
    write.chain(grant).chain(deny).chain(git)
}

/// The same for programs: the policy that is enforced, the rules and the files.
fn in_force(ground: &Ground) -> Result<serde_json::Value, Complaint> {
    let configuration = &ground.configuration;
    let loaded = configuration.rules.policy();
    let (policy, root) = ground.canonical()?;
    let sources: Vec<_> = configuration
        .sources
        .iter()
        .map(|source| {
            json!({
                "layer": source.layer.name(),
                "path": source.path.to_string_lossy(),
                "sha256": source.hash.to_string(),
            })
        })
        .collect();
    let rules: Vec<_> = loaded
        .rules()
        .iter()
        .filter(|rule| rule.origin.layer != Layer::BuiltIn)
        .map(|rule| {
            json!({
                "id": rule.id,
                "prefix": rule.prefix,
                "decision": decision(rule.decision),
                "unsandboxed": rule.unsandboxed,
                "why": rule.why,
                "origin": rule.origin,
            })
        })
        .collect();
    let notices: Vec<String> = loaded.notices().iter().map(ToString::to_string).collect();
    Ok(json!({
        "project": root.path().to_string(),
        "trusted": matches!(configuration.project_trust, ProjectTrust::Trusted(_)),
        "preset": loaded.settings().preset.value.name(),
        "ask": configuration.approval.to_string(),
        "policy": policy,
        "rules": rules,
        "sources": sources,
        "notices": notices,
    }))
}

const fn decision(decision: RuleDecision) -> &'static str {
    match decision {
        RuleDecision::Allow => "allow",
        RuleDecision::Prompt => "prompt",
        RuleDecision::Forbid => "forbid",
    }
}

fn pretty(value: &serde_json::Value) -> String {
    format!("{value:#}\n")
}
