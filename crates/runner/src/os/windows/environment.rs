//! An environment as Windows takes it: one block of text.

use std::ffi::OsStr;
use std::os::windows::ffi::OsStrExt as _;

use palisade_policy::Environment;

/// Why there is no such block.
pub(super) type Problem = &'static str;

/// Names and values, each ended by a zero, in the order of their names, and one more zero.
pub(super) fn block(env: &Environment) -> Result<Vec<u16>, Problem> {
    let mut entries: Vec<(String, Vec<u16>)> = Vec::with_capacity(env.len());
    for (name, value) in env {
        let entry = entry(name, value)?;
        // Windows compares names without case, and sorts them so.
        entries.push((name.to_string_lossy().to_uppercase(), entry));
    }
    entries.sort();
    let repeated = entries.windows(2).any(|pair| match pair {
        [(one, _), (other, _)] => one == other,
        _ => false,
    });
    if repeated {
        return Err("two variables have the same name but for its case");
    }
    let mut block: Vec<u16> = entries.into_iter().flat_map(|(_, entry)| entry).collect();
    if block.is_empty() {
        // One without variables is two zeros as well.
        block.push(0);
    }
    block.push(0);
    Ok(block)
}

fn entry(name: &OsStr, value: &OsStr) -> Result<Vec<u16>, Problem> {
    let name: Vec<u16> = name.encode_wide().collect();
    let value: Vec<u16> = value.encode_wide().collect();
    if name.is_empty() || name.contains(&u16::from(b'=')) {
        return Err("a variable's name is empty or holds `=`");
    }
    if name.contains(&0) || value.contains(&0) {
        return Err("a variable holds a zero character");
    }
    let mut entry = name;
    entry.push(u16::from(b'='));
    entry.extend(value);
    entry.push(0);
    Ok(entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Environment {
        let pair = |(name, value): &(&str, &str)| (name.into(), value.into());
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn names_are_sorted_without_case_and_each_ends_with_a_zero() {
        let env = environment(&[("b", "2"), ("Z", ""), ("A", "1"), ("Path", "C:\\x")]);
        let text = String::from_utf16(&block(&env).unwrap()).unwrap();
        assert_eq!(text, "A=1\0b=2\0Path=C:\\x\0Z=\0\0");
        assert_eq!(block(&Environment::new()).unwrap(), [0, 0]);
    }

    #[test]
    fn what_no_process_can_be_given_is_refused() {
        for pairs in [
            [("", "x")].as_slice(),
            &[("=C:", "C:\\x")],
            &[("a=b", "")],
            &[("a\0", "")],
            &[("a", "x\0y")],
            &[("Path", "1"), ("PATH", "2")],
        ] {
            assert!(block(&environment(pairs)).is_err(), "{pairs:?}");
        }
    }
}
