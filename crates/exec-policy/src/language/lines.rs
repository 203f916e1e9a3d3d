//! From a byte of a text to its line and column.

use std::cell::Cell;

/// Where the lines of a text begin.
pub(super) struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
    /// The line that was asked for last: whoever reads a file asks for one place after the other.
    last: Cell<usize>,
}

/// How many lines are looked through before the search starts from both ends.
const NEAR: usize = 16;

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let mut starts = Vec::with_capacity(text.len() / 24 + 1);
        starts.push(0);
        starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
        Self {
            text,
            starts,
            last: Cell::new(0),
        }
    }

    /// The line and the column in characters, both from 1.
    pub(super) fn place(&self, offset: usize) -> (usize, usize) {
        let near = self.last.get().saturating_sub(NEAR);
        let lines = self.starts.get(near..near + 2 * NEAR).unwrap_or_default();
        let within = lines.first().is_some_and(|first| *first <= offset)
            && lines.last().is_some_and(|last| *last > offset);
        let line = match within {
            true => near + lines.partition_point(|start| *start <= offset),
            false => self.starts.partition_point(|start| *start <= offset),
        };
        let line = line.max(1);
        self.last.set(line);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        let before = self.text.get(start..offset).unwrap_or("");
        (line, before.chars().count() + 1)
    }

    pub(super) fn text(&self) -> &'t str {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let lines = Lines::new("a\nbéd\n");
        assert_eq!(lines.place(0), (1, 1));
        assert_eq!(lines.place(2), (2, 1));
        assert_eq!(lines.place(5), (2, 3));
        assert_eq!(lines.place(7), (3, 1));
        assert_eq!(lines.place(4), (2, 1), "the middle of a character");
        assert_eq!(Lines::new("").place(99), (1, 1));
        let many = "x\n".repeat(1000);
        let lines = Lines::new(&many);
        for line in (0..1000).chain([3, 999, 0, 500, 499, 520]) {
            assert_eq!(lines.place(2 * line), (line + 1, 1));
        }
    }
}
