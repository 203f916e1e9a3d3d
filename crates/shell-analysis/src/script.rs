//! The allow side from end to end: parse, unwrap, follow effects, descend into inline scripts.

use crate::builtins;
use crate::flow::{Flow, Move};
use crate::limits::Meter;
use crate::opaque::{Opaque, OpaqueReason as Reason};
use crate::parse;
use crate::plain::{
    Assignment, Cwd, Join, Plain, PlainCommand, Redirect, RedirectTarget, ShellEffect, Taint,
    UnwrapKind, UnwrapStep,
};
use crate::shell::Shell;
use crate::unwrap::{Unwrapped, unwrap};
use crate::word::Word;

/// What an inline script inherits from the command line that runs it.
#[derive(Clone, Debug, Default)]
struct Inherited {
    assignments: Vec<Assignment>,
    redirects: Vec<Redirect>,
    via: Vec<UnwrapStep>,
    operands_unknown: bool,
    cwd: Cwd,
    tainted: Option<Taint>,
    /// About how many bytes each command copies.
    weight: usize,
}

/// Reads a script as `shell` would.
pub(crate) fn read(text: &[u8], shell: Shell, meter: &mut Meter) -> Result<Plain, Opaque> {
    let mut commands = Vec::new();
    script(
        text,
        shell,
        meter,
        0,
        &Inherited::default(),
        Join::Start,
        &mut commands,
    )?;
    Ok(Plain { commands })
}

/// Reads an argument list that no shell stands before.
pub(crate) fn read_argv(words: Vec<Word>, meter: &mut Meter) -> Result<Plain, Opaque> {
    let command = PlainCommand {
        join: Join::Start,
        assignments: Vec::new(),
        words,
        redirects: Vec::new(),
        cwd: Cwd::Start,
        via: Vec::new(),
        operands_unknown: false,
        effect: None,
        tainted: None,
        span: crate::Span::default(),
    };
    let mut commands = Vec::new();
    match unwrap(command, meter)? {
        Unwrapped::Command(command) => commands.push(command),
        Unwrapped::Script {
            outer,
            shell,
            script: text,
        } => nested(outer, shell, &text, meter, 0, &mut commands)?,
    }
    Ok(Plain { commands })
}

fn script(
    text: &[u8],
    shell: Shell,
    meter: &mut Meter,
    depth: usize,
    inherited: &Inherited,
    join: Join,
    out: &mut Vec<PlainCommand>,
) -> Result<(), Opaque> {
    if !shell.is_posix_like() {
        return Err(Opaque::new(Reason::UnreadShell, None, shell.to_string()));
    }
    let commands = parse::commands(text, shell, meter)?;
    expand(commands, meter, depth, inherited, join, out)
}

/// Unwraps and annotates the commands of one shell process, in order.
fn expand(
    commands: Vec<PlainCommand>,
    meter: &mut Meter,
    depth: usize,
    inherited: &Inherited,
    join: Join,
    out: &mut Vec<PlainCommand>,
) -> Result<(), Opaque> {
    let mut flow = Flow::starting_in(&inherited.cwd);
    let mut taint = inherited.tainted.clone();
    let mut commands = commands.into_iter().peekable();
    let mut first = true;
    while let Some(head) = commands.next() {
        // One pipeline: its members share the operator before it and the directory it starts in.
        let pipeline_join = head.join;
        let cwd = flow.cwd(pipeline_join);
        let mut movement = Move::Stays;
        let mut next = Some(head);
        let mut length = 0usize;
        let mut changed: Option<Taint> = None;
        while let Some(mut command) = next {
            length = length.saturating_add(1);
            if first {
                command.join = join;
                first = false;
            }
            command.cwd = cwd.clone();
            command.tainted = taint.clone();
            let special = builtins::is_special(command.program());
            substitutions(&mut command, meter, depth)?;
            let unwrapped = unwrap(command, meter)?;
            match unwrapped {
                Unwrapped::Command(mut command) => {
                    command.effect = builtins::effect(&command, special)?;
                    match command.effect {
                        Some(ShellEffect::ChangesDirectory) => {
                            movement = builtins::cd_target(&command)
                                .map_or(Move::Anywhere, |target| Move::To(target.to_vec()));
                        }
                        Some(ShellEffect::ChangesState) => {
                            changed.get_or_insert_with(|| Taint {
                                by: command.program().to_vec(),
                                at: command.span,
                            });
                        }
                        None => {}
                    }
                    inherit(&mut command, inherited, meter)?;
                    out.push(command);
                }
                Unwrapped::Script {
                    mut outer,
                    shell,
                    script,
                } => {
                    inherit(&mut outer, inherited, meter)?;
                    nested(outer, shell, &script, meter, depth, out)?;
                }
            }
            next = commands.next_if(|command| matches!(command.join, Join::Pipe | Join::PipeBoth));
        }
        // Which member of a pipeline runs in the shell itself differs: zsh's last one does.
        if length > 1 && !matches!(movement, Move::Stays) {
            movement = Move::Anywhere;
        }
        flow.step(pipeline_join, &movement);
        if taint.is_none() {
            taint = changed;
        }
    }
    Ok(())
}

/// `<(...)` runs in a shell of its own, where the outer state is visible and changes are lost.
fn substitutions(
    command: &mut PlainCommand,
    meter: &mut Meter,
    depth: usize,
) -> Result<(), Opaque> {
    for word in &mut command.words {
        if let Word::ProcessSubstitution(plain) = word {
            let inherited = Inherited {
                cwd: command.cwd.clone(),
                tainted: command.tainted.clone(),
                ..Inherited::default()
            };
            let commands = std::mem::take(&mut plain.commands);
            let depth = deeper(depth, meter)?;
            expand(
                commands,
                meter,
                depth,
                &inherited,
                Join::Start,
                &mut plain.commands,
            )?;
        }
    }
    Ok(())
}

fn inherit(
    command: &mut PlainCommand,
    inherited: &Inherited,
    meter: &mut Meter,
) -> Result<(), Opaque> {
    if inherited.via.is_empty() {
        // Only a wrapper hands anything down, and every wrapper leaves a step.
        return Ok(());
    }
    // Copying is the one thing here that is not linear in the text, so it is paid for.
    if !meter.take(inherited.weight) {
        return Err(Opaque::new(
            Reason::Limit,
            command.span.start,
            "too much is inherited",
        ));
    }
    command
        .assignments
        .splice(0..0, inherited.assignments.iter().cloned());
    command
        .redirects
        .splice(0..0, inherited.redirects.iter().cloned());
    command.via.splice(0..0, inherited.via.iter().cloned());
    command.operands_unknown |= inherited.operands_unknown;
    Ok(())
}

fn nested(
    outer: PlainCommand,
    shell: Shell,
    text: &[u8],
    meter: &mut Meter,
    depth: usize,
    out: &mut Vec<PlainCommand>,
) -> Result<(), Opaque> {
    let depth = deeper(depth, meter)?;
    // A child shell starts with none of the parent's aliases and functions, but with its variables.
    let weight = outer
        .assignments
        .iter()
        .map(|assignment| assignment.value.len())
        .chain(
            outer
                .redirects
                .iter()
                .map(|redirect| match &redirect.target {
                    RedirectTarget::Body(bytes) | RedirectTarget::Path(bytes) => bytes.len(),
                    RedirectTarget::Fd(_) | RedirectTarget::NullSink => 1,
                }),
        )
        .chain(outer.via.iter().flat_map(|step| &step.words).map(Vec::len))
        .fold(0usize, usize::saturating_add);
    let inherited = Inherited {
        weight,
        assignments: outer.assignments,
        redirects: outer.redirects,
        via: outer.via,
        operands_unknown: outer.operands_unknown,
        cwd: outer.cwd,
        tainted: outer.tainted,
    };
    debug_assert!(
        inherited
            .via
            .last()
            .is_some_and(|step| step.kind == UnwrapKind::Shell)
    );
    script(text, shell, meter, depth, &inherited, outer.join, out)
}

fn deeper(depth: usize, meter: &Meter) -> Result<usize, Opaque> {
    let depth = depth.saturating_add(1);
    if depth > meter.limits().max_depth {
        return Err(Opaque::new(Reason::Limit, None, "scripts nest too deep"));
    }
    Ok(depth)
}
