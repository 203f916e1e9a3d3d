//! Analyses as text, for tables and snapshots.

use std::fmt::Write;

use palisade_shell_analysis::{
    Analysis, Cwd, Join, Limits, Plain, PlainCommand, RedirectKind, RedirectTarget, Shell, Word,
    analyze_script,
};

pub(crate) fn bash(text: &str) -> Analysis {
    analyze_script(text, Shell::Bash, &Limits::default())
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// One line per command; the reason if there are none.
pub(crate) fn plain(analysis: &Analysis) -> String {
    match &analysis.plain {
        Ok(plain) => commands(plain, ""),
        Err(opaque) => format!("opaque: {opaque}\n"),
    }
}

pub(crate) fn full(analysis: &Analysis) -> String {
    let mut out = plain(analysis);
    out.push_str("mentions:\n");
    for mention in &analysis.mentions.commands {
        let _infallible = writeln!(out, "  {mention}");
    }
    if analysis.mentions.truncated {
        out.push_str("  truncated\n");
    }
    out
}

fn commands(plain: &Plain, indent: &str) -> String {
    plain.commands.iter().map(|c| command(c, indent)).collect()
}

fn command(command: &PlainCommand, indent: &str) -> String {
    let join = match command.join {
        Join::Start => "  ",
        Join::And => "&&",
        Join::Or => "||",
        Join::Seq => "; ",
        Join::Pipe => "| ",
        Join::PipeBoth => "|&",
        _ => "??",
    };
    let mut out = format!("{indent}{join}");
    let mut inner = String::new();
    for assignment in &command.assignments {
        let _infallible = write!(
            out,
            " {}={:?}",
            text(&assignment.name),
            text(&assignment.value)
        );
    }
    for word in &command.words {
        let _infallible = match word {
            Word::Literal(bytes) => write!(out, " [{}]", bytes.escape_ascii()),
            Word::Pattern(pattern) => write!(out, " glob[{}]", pattern.text().escape_ascii()),
            Word::ProcessSubstitution(plain) => {
                inner.push_str(&commands(plain, &format!("{indent}    <( ")));
                write!(out, " <(..)")
            }
            _ => write!(out, " ??"),
        };
    }
    for redirect in &command.redirects {
        let kind = match redirect.kind {
            RedirectKind::Read => "<",
            RedirectKind::Write => ">",
            RedirectKind::Clobber => ">|",
            RedirectKind::Append => ">>",
            RedirectKind::DuplicateOut => ">&",
            RedirectKind::DuplicateIn => "<&",
            RedirectKind::HereDocument => "<<",
            _ => "??",
        };
        let target = match &redirect.target {
            RedirectTarget::NullSink => "null".to_owned(),
            RedirectTarget::Fd(fd) => fd.to_string(),
            RedirectTarget::Path(path) => format!("path[{}]", path.escape_ascii()),
            RedirectTarget::Body(body) => format!("body[{}]", body.escape_ascii()),
            _ => "??".to_owned(),
        };
        let _infallible = write!(out, " {}{kind}{target}", redirect.fd);
    }
    match &command.cwd {
        Cwd::Start => {}
        Cwd::OneOf(paths) => {
            let paths: Vec<String> = paths.iter().map(|path| text(path)).collect();
            let _infallible = write!(out, " cwd={paths:?}");
        }
        _ => out.push_str(" cwd=?"),
    }
    for step in &command.via {
        let words: Vec<String> = step.words.iter().map(|word| text(word)).collect();
        let _infallible = write!(out, " via {:?}({})", step.kind, words.join(" "));
    }
    if command.operands_unknown {
        out.push_str(" +operands");
    }
    if let Some(effect) = command.effect {
        let _infallible = write!(out, " {effect:?}");
    }
    if let Some(taint) = &command.tainted {
        let _infallible = write!(out, " tainted by {}", text(&taint.by));
    }
    out.push('\n');
    out.push_str(&inner);
    out
}
