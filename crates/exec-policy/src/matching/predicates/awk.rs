//! An awk program that only computes and prints.

use super::Arg;

/// Words that run commands, open files or load code.
const UNSAFE: &[&str] = &[
    "system",
    "getline",
    "close",
    "fflush",
    "@load",
    "@include",
    "@namespace",
    "ENVIRON",
    "PROCINFO",
    "SYMTAB",
    "FUNCTAB",
    "ARGV",
    "ARGC",
    "inet",
];

/// Options that take the next word and cannot do harm.
const VALUED: &[&[u8]] = &[b"-F", b"-v"];

pub(super) fn is_pure(words: &[Arg<'_>]) -> bool {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let Arg::Known(word) = word else {
            return false;
        };
        at = at.saturating_add(1);
        match *word {
            word if VALUED.contains(&word) => {
                if words.get(at).is_none_or(|value| value.known().is_none()) {
                    return false;
                }
                at = at.saturating_add(1);
            }
            [b'-', b'F' | b'v', _, ..] => {}
            b"--" => {
                let program = words.get(at).and_then(|word| word.known());
                return program.is_some_and(program_is_pure)
                    && operands_are_files(words.get(at.saturating_add(1)..).unwrap_or_default());
            }
            [b'-', _, ..] => return false,
            program => {
                return program_is_pure(program)
                    && operands_are_files(words.get(at..).unwrap_or_default());
            }
        }
    }
    false
}

/// Operands such as `FS=x` are assignments; what they assign is text, and they name no file.
fn operands_are_files(words: &[Arg<'_>]) -> bool {
    words.iter().all(|word| match word {
        // gawk opens connections under this name.
        Arg::Known(word) if word.windows(5).any(|window| window == b"/inet") => false,
        Arg::Known(word) => word.first() != Some(&b'-') || *word == b"-",
        Arg::Pattern { .. } => !word.may_be_option(),
        Arg::Pipe(_) => true,
        Arg::Unknown => false,
    })
}

/// Refuses pipes, output redirects outside comparisons, and the words above, also inside strings.
///
/// `>` compares in a pattern and redirects after `print`; telling them apart needs a parser, so that a program with
/// both `print` and `>` is refused, as is every single `|`.
fn program_is_pure(program: &[u8]) -> bool {
    let text = String::from_utf8_lossy(program);
    if UNSAFE.iter().any(|word| text.contains(word)) {
        return false;
    }
    let bytes = text.as_bytes();
    let pipes = bytes.iter().enumerate().any(|(at, &b)| {
        b == b'|' && {
            let before = at.checked_sub(1).and_then(|at| bytes.get(at));
            let after = bytes.get(at.saturating_add(1));
            before != Some(&b'|') && after != Some(&b'|')
        }
    });
    // `|&` and `||` with a pipe behind are covered by the ampersand.
    let coprocess = text.contains("|&");
    let redirects = text.contains('>') && text.contains("print");
    // `@f()` calls a function by name, which may be `system`.
    let indirect = text.contains('@');
    // A backslash could spell a word in another way inside a string that becomes code somewhere.
    !pipes && !coprocess && !redirects && !indirect
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(words: &[&str]) -> bool {
        let words: Vec<Arg<'_>> = words
            .iter()
            .map(|word| Arg::Known(word.as_bytes()))
            .collect();
        is_pure(&words)
    }

    #[test]
    fn printing_is_pure() {
        for words in [
            &["{print $2}", "data.txt"][..],
            &["-F:", "{ print $1 }", "x"],
            &["-F", ",", "NR==1 {print}"],
            &["-v", "n=3", "NR==n"],
            &["$1 > 5", "x"],
            &["/a/ || /b/ {print $0}"],
            &["BEGIN { for (i=0;i<3;i++) s+=i; print s }"],
            &["{ printf \"%s\\n\", $1 }"],
        ] {
            assert!(check(words), "{words:?}");
        }
    }

    #[test]
    fn running_and_writing_is_not() {
        for words in [
            &["BEGIN { system(\"id\") }"][..],
            &["{ print > \"x\" }"],
            &["{ print >> \"x\" }"],
            &["{ print | \"sh\" }"],
            &["{ \"id\" | getline x }"],
            &["{ getline < \"/etc/shadow\" }"],
            &["{ print |& \"sh\" }"],
            &["-f", "prog.awk", "x"],
            &["-fprog.awk"],
            &["-i", "inplace", "{print}"],
            &["--include=x", "{print}"],
            &["--load=x", "{print}"],
            &["-E", "x"],
            &["@load \"filefuncs\"; {print}"],
            &["BEGIN { f=\"sys\" \"tem\"; @f(\"id\") }"],
            &["BEGIN { ARGV[1] = \"x\" } { print }", "f"],
            &["BEGIN { print ENVIRON[\"K\"] }"],
            &["-F", ":"],
            &[],
        ] {
            assert!(!check(words), "{words:?}");
        }
    }
}
