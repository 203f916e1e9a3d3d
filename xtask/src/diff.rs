//! A short account of how two texts differ.

/// More lines than this are counted, not shown: the cure is to run a command, not to read on.
const SHOWN: usize = 8;

/// The lines between the common beginning and the common end, old ones first.
pub(crate) fn short(old: &str, new: &str) -> String {
    let old: Vec<&str> = old.lines().collect();
    let new: Vec<&str> = new.lines().collect();
    let start = common(old.iter(), new.iter());
    let old = old.get(start..).unwrap_or_default();
    let new = new.get(start..).unwrap_or_default();
    let end = common(old.iter().rev(), new.iter().rev());
    let mut text = format!("    @@ line {} @@\n", start + 1);
    push_lines(&mut text, '-', old, end);
    push_lines(&mut text, '+', new, end);
    text
}

fn common<'a>(
    left: impl Iterator<Item = &'a &'a str>,
    right: impl Iterator<Item = &'a &'a str>,
) -> usize {
    left.zip(right)
        .take_while(|(left, right)| left == right)
        .count()
}

fn push_lines(text: &mut String, sign: char, lines: &[&str], common_at_end: usize) {
    let changed = lines.len().saturating_sub(common_at_end);
    for line in lines.iter().take(changed.min(SHOWN)) {
        text.push_str(&format!("    {sign}{line}\n"));
    }
    if changed > SHOWN {
        text.push_str(&format!(
            "    {sign}... and {} more lines\n",
            changed - SHOWN
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_changed_lines_are_shown() {
        assert_eq!(
            short("a\nb\nc\n", "a\nB\nc\n"),
            "    @@ line 2 @@\n    -b\n    +B\n"
        );
        assert_eq!(short("a\n", "a\nb\n"), "    @@ line 2 @@\n    +b\n");
        assert_eq!(short("a\na\n", "a\n"), "    @@ line 2 @@\n    -a\n");
    }

    #[test]
    fn a_long_difference_is_counted() {
        let new = "x\n".repeat(20);
        assert!(short("", &new).ends_with("    +... and 12 more lines\n"));
    }
}
