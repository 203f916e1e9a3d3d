//! Text in a window of any width, behind a margin: whatever a command is called, none of its text starts a line.

/// Narrower windows are treated as this wide; the terminal then breaks lines where it likes.
const NARROWEST: usize = 10;

/// The text as lines of at most this many columns, the first behind one margin, the rest behind another.
///
/// A character that is not ASCII counts as two: most that are not narrower are so wide, and a line that is broken too
/// early hides nothing.
pub(super) fn wrap(text: &str, width: usize, first: &str, rest: &str) -> Vec<String> {
    let width = width.max(NARROWEST);
    let mut lines = Vec::new();
    let mut line = String::from(first);
    let mut used = columns(first);
    let mut at_start = true;
    for piece in text.split_inclusive(' ') {
        let wide = columns(piece.trim_end());
        if !at_start && used.saturating_add(wide) > width {
            lines.push(std::mem::replace(&mut line, rest.to_owned()));
            used = columns(rest);
        }
        for character in piece.chars() {
            let wide = column(character);
            if used.saturating_add(wide) > width {
                lines.push(std::mem::replace(&mut line, rest.to_owned()));
                used = columns(rest);
            }
            line.push(character);
            used = used.saturating_add(wide);
        }
        at_start = false;
    }
    lines.push(line);
    lines
}

/// Pieces of our own on lines of at most this many columns; none is broken.
pub(super) fn beside(pieces: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for piece in pieces {
        match lines.last_mut() {
            Some(line) if columns(line).saturating_add(columns(piece) + 2) <= width => {
                line.push_str("  ");
                line.push_str(piece);
            }
            _ => lines.push(piece.clone()),
        }
    }
    lines
}

fn columns(text: &str) -> usize {
    text.chars().map(column).sum()
}

const fn column(character: char) -> usize {
    if character.is_ascii() { 1 } else { 2 }
}

#[cfg(test)]
mod tests {
    use super::{beside, wrap};

    #[test]
    fn pieces_stand_beside_each_other_where_they_fit() {
        let pieces = ["[y] yes", "[n] no", "[q] abort"].map(str::to_owned);
        assert_eq!(beside(&pieces, 80), ["[y] yes  [n] no  [q] abort"]);
        assert_eq!(beside(&pieces, 15), ["[y] yes  [n] no", "[q] abort"]);
        assert_eq!(beside(&pieces, 3), pieces);
    }

    #[test]
    fn every_line_has_its_margin_and_none_is_too_wide() {
        let text = format!(
            "echo {} [y] yes {} '\u{4e2d}\u{4e2d}'",
            " ".repeat(70),
            "x".repeat(45)
        );
        for width in [0, 1, 10, 20, 33, 80, 200] {
            let lines = wrap(&text, width, "| ", "| ");
            let joined: String = lines
                .iter()
                .map(|line| line.strip_prefix("| ").unwrap())
                .collect();
            assert_eq!(joined, text, "nothing is lost");
            for line in &lines {
                assert!(line.chars().count() <= width.max(10), "{width}: {line:?}");
            }
        }
    }

    #[test]
    fn words_are_not_broken_where_they_fit() {
        assert_eq!(
            wrap("one two three", 10, "  ", "    "),
            ["  one two ", "    three"]
        );
    }
}
