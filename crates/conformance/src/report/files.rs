//! Files that one run of this program leaves, and another makes pages of.

use anyhow::{Context as _, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::options::Options;

/// What was found by those whose files are named with `--from`.
///
/// # Errors
/// One cannot be read, or is something else.
pub fn read<T: DeserializeOwned>(options: &Options) -> Result<Vec<T>> {
    let mut all = Vec::new();
    for file in options.texts("--from")? {
        let bytes = std::fs::read(file).with_context(|| file.to_owned())?;
        all.push(serde_json::from_slice(&bytes).with_context(|| file.to_owned())?);
    }
    Ok(all)
}

/// Writes a page or a file into the directory that `--into` names.
///
/// # Errors
/// It cannot be written.
pub fn save(options: &Options, name: &str, text: &str, say: &dyn Fn(&str)) -> Result<()> {
    let path = options.path("--into")?.join(name);
    let text = format!("{}\n", text.trim_end());
    std::fs::write(&path, text).with_context(|| path.display().to_string())?;
    say(&format!("wrote {}", path.display()));
    Ok(())
}

/// Where this run is to make pages of what others have found, makes them: `NAME.md` and `NAME.json`.
///
/// # Errors
/// What was found cannot be read, or a page not be written.
pub fn pages<T: DeserializeOwned + Serialize>(
    options: &Options,
    name: &str,
    page: impl Fn(&[T], &str) -> String,
    say: &dyn Fn(&str),
) -> Result<bool> {
    let found = read::<T>(options)?;
    if found.is_empty() {
        return Ok(false);
    }
    let text = page(&found, options.text("--command")?);
    save(options, &format!("{name}.md"), &text, say)?;
    let json = serde_json::to_string_pretty(&found)?;
    save(options, &format!("{name}.json"), &json, say)?;
    Ok(true)
}

/// Leaves what was found for whoever makes pages of it, if a file is named with `--json`.
///
/// # Errors
/// It cannot be written.
pub fn leave<T: Serialize>(options: &Options, found: &T) -> Result<()> {
    match options.last("--json") {
        Some(file) => std::fs::write(file, serde_json::to_vec(found)?).context("--json"),
        None => Ok(()),
    }
}
