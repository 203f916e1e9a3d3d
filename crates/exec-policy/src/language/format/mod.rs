//! One way to write a policy file: sections and keys in the order of the description, comments kept.

mod order;
mod print;
mod scan;

use super::error::PolicyErrors;
use super::parse::parse;
use super::source::Source;

/// The text of a source, well ordered: what it means and its comments stay, its blanks do not.
///
/// Sections stand in the order of the format, rules and cases in the order of their author, keys in the order of the
/// format. A comment stays with what follows it, or with the line that it stands on.
///
/// ```
/// use palisade_exec_policy::language::{Layer, Source, fmt};
///
/// let text = "[[rule]]\ndecision=\"allow\" # always\nprefix = [ \"ls\" ]\nid= \"ls\"\n";
/// let text = format!("preset = 'ci'\nversion=1\n{text}");
/// assert_eq!(
///     fmt(&Source::new(Layer::User, "rules.toml", &text))?,
///     "version = 1\npreset = 'ci'\n\n[[rule]]\nid = \"ls\"\nprefix = [\"ls\"]\ndecision = \"allow\" # always\n",
/// );
/// # Ok::<(), palisade_exec_policy::language::PolicyErrors>(())
/// ```
///
/// # Errors
/// The source is not a policy file.
pub fn fmt(source: &Source<'_>) -> Result<String, PolicyErrors> {
    parse(source)?;
    let text = super::parse::text(source)?;
    let formatted = scan::document(text).map(|mut document| {
        order::sort(&mut document);
        print::document(&document)
    });
    // Formatting must never change what a policy means. If it would, nothing is formatted.
    Ok(match formatted {
        Some(formatted) if same_meaning(text, &formatted) => formatted,
        _ => text.to_owned(),
    })
}

fn same_meaning(before: &str, after: &str) -> bool {
    let read = |text: &str| text.parse::<toml::Table>().ok();
    let before = read(before);
    before.is_some() && before == read(after)
}
