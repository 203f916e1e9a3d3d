//! Blocks of code in a page.

/// A block of code.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// Where it begins, from 1.
    pub(super) line: usize,
    /// What follows the fence.
    pub(super) kind: String,
    pub(super) text: String,
}

/// Every fenced block, in order.
pub(super) fn read(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<(Block, &str)> = None;
    for (number, line) in (1..).zip(page.lines()) {
        let bare = line.trim_start();
        let ticks = bare.len() - bare.trim_start_matches('`').len();
        let fence = bare.get(..ticks).unwrap_or_default();
        open = match open {
            None if ticks >= 3 => {
                let kind = bare.trim_start_matches('`').trim().to_owned();
                let (line, text) = (number, String::new());
                Some((Block { line, kind, text }, fence))
            }
            Some((block, opened)) if fence == opened && bare.trim() == opened => {
                blocks.push(block);
                None
            }
            Some((mut block, opened)) => {
                block.text.push_str(line);
                block.text.push('\n');
                Some((block, opened))
            }
            None => None,
        };
    }
    assert!(open.is_none(), "a block that does not end: {open:?}");
    blocks
}

#[test]
fn blocks_are_found_with_their_kind_and_place() {
    let page = "a\n```toml fragment\nx = 1\n```\n````text\n```\n````\n";
    let block = |line, kind: &str, text: &str| Block {
        line,
        kind: kind.to_owned(),
        text: text.to_owned(),
    };
    let found = [
        block(2, "toml fragment", "x = 1\n"),
        block(5, "text", "```\n"),
    ];
    assert_eq!(read(page), found);
}
