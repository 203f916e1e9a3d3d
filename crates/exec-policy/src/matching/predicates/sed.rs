//! A sed invocation that only prints: a reader of scripts that knows every harmless command and refuses the rest.

use super::Arg;

/// Options without a value that change nothing but how text is read or printed.
const HARMLESS: &[&str] = &[
    "-n",
    "--quiet",
    "--silent",
    "-E",
    "-r",
    "--regexp-extended",
    "-u",
    "--unbuffered",
    "-s",
    "--separate",
    "-z",
    "--null-data",
    "--posix",
    "--debug",
    "--sandbox",
    "--help",
    "--version",
];

/// `sed` with options that only read, and scripts that only print or edit the stream.
pub(super) fn prints(words: &[Arg<'_>]) -> bool {
    let mut scripts: Vec<&[u8]> = Vec::new();
    let mut operands: Vec<&[u8]> = Vec::new();
    let mut from_option = false;
    let mut ended = false;
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at = at.saturating_add(1);
        let word = match *word {
            Arg::Known(word) => word,
            Arg::Pattern { .. } if !word.may_be_option() => {
                // Without `-e` before it, the first name that matches would be the script.
                if operands.is_empty() && !from_option {
                    return false;
                }
                continue;
            }
            Arg::Pipe(_) if from_option || !operands.is_empty() => continue,
            Arg::Pattern { .. } | Arg::Pipe(_) | Arg::Unknown => return false,
        };
        if ended || word == b"-" || word.first() != Some(&b'-') {
            operands.push(word);
            continue;
        }
        if word == b"--" {
            ended = true;
            continue;
        }
        if let Some(long) = word.strip_prefix(b"--expression=") {
            scripts.push(long);
            from_option = true;
        } else if word == b"--expression" {
            let Some(script) = words.get(at).and_then(|word| word.known()) else {
                return false;
            };
            scripts.push(script);
            from_option = true;
            at = at.saturating_add(1);
        } else if word.starts_with(b"--") {
            // Spelled out or refused: an abbreviation could be `--in-place`.
            if !HARMLESS.iter().any(|name| name.as_bytes() == word) {
                return false;
            }
        } else {
            let letters = word.get(1..).unwrap_or_default();
            for (index, letter) in letters.iter().enumerate() {
                match letter {
                    b'n' | b'E' | b'r' | b'u' | b's' | b'z' => {}
                    b'e' => {
                        let rest = letters.get(index.saturating_add(1)..).unwrap_or_default();
                        let script = if rest.is_empty() {
                            let next = words.get(at).and_then(|word| word.known());
                            at = at.saturating_add(1);
                            next
                        } else {
                            Some(rest)
                        };
                        let Some(script) = script else {
                            return false;
                        };
                        scripts.push(script);
                        from_option = true;
                        break;
                    }
                    // `-i`, `-f`, `-l` and whatever else there is.
                    _ => return false,
                }
            }
        }
    }
    if !from_option {
        let Some(script) = operands.first() else {
            return false;
        };
        scripts.push(script);
    }
    // Several scripts are one, joined by newlines: what is open at the end of one goes on in the next.
    let script = scripts.join(&b'\n');
    Reader {
        script: &script,
        at: 0,
    }
    .script()
    .is_some()
}

/// Reads a script; `None` as soon as something is not known to be harmless.
struct Reader<'a> {
    script: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.script.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at = self.at.saturating_add(1);
        Some(byte)
    }

    fn blanks(&mut self, also: &[u8]) {
        while self
            .peek()
            .is_some_and(|b| matches!(b, b' ' | b'\t') || also.contains(&b))
        {
            self.at = self.at.saturating_add(1);
        }
    }

    fn script(&mut self) -> Option<()> {
        loop {
            self.blanks(b"\n;");
            if self.peek().is_none() {
                return Some(());
            }
            self.addresses()?;
            self.blanks(b"");
            while self.peek() == Some(b'!') {
                self.next();
                self.blanks(b"");
            }
            match self.next()? {
                b'p' | b'P' | b'd' | b'D' | b'=' | b'g' | b'G' | b'h' | b'H' | b'x' | b'n'
                | b'N' | b'z' | b'l' => {
                    self.ends()?;
                }
                b'q' | b'Q' => {
                    self.blanks(b"");
                    self.digits();
                    self.ends()?;
                }
                b'{' => {}
                b'}' => self.ends()?,
                b's' => self.substitute()?,
                b'y' => {
                    let delimiter = self.delimiter()?;
                    self.until(delimiter, false)?;
                    self.until(delimiter, false)?;
                    self.ends()?;
                }
                // `a`, `i`, `c`, `r`, `R` read text or files, `e`, `w`, `W` run and write, `b`, `t`, `T`, `:` jump.
                _ => return None,
            }
        }
    }

    /// After a command: the end, a separator, or a closing brace.
    fn ends(&mut self) -> Option<()> {
        self.blanks(b"");
        match self.peek() {
            None | Some(b'}') => Some(()),
            Some(b';' | b'\n') => {
                self.next();
                Some(())
            }
            Some(_) => None,
        }
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.at = self.at.saturating_add(1);
        }
    }

    fn addresses(&mut self) -> Option<()> {
        if !self.address()? {
            return Some(());
        }
        self.blanks(b"");
        if self.peek() == Some(b',') {
            self.next();
            self.blanks(b"");
            if matches!(self.peek(), Some(b'+' | b'~')) {
                self.next();
            }
            if !self.address()? {
                return None;
            }
        }
        Some(())
    }

    fn address(&mut self) -> Option<bool> {
        match self.peek() {
            Some(b'0'..=b'9') => {
                self.digits();
                if self.peek() == Some(b'~') {
                    self.next();
                    self.digits();
                }
                Some(true)
            }
            Some(b'$') => {
                self.next();
                Some(true)
            }
            Some(b'/') => {
                self.next();
                self.until(b'/', true)?;
                self.modifiers();
                Some(true)
            }
            Some(b'\\') => {
                self.next();
                let delimiter = self.delimiter()?;
                self.until(delimiter, true)?;
                self.modifiers();
                Some(true)
            }
            _ => Some(false),
        }
    }

    fn modifiers(&mut self) {
        while matches!(self.peek(), Some(b'I' | b'M')) {
            self.next();
        }
    }

    fn delimiter(&mut self) -> Option<u8> {
        // A bracket or a backslash as delimiter is read differently by different seds.
        self.next().filter(|b| {
            !matches!(b, b'\n' | b'\\' | b'[' | b']') && b.is_ascii() && !b.is_ascii_alphanumeric()
        })
    }

    /// Reads to the delimiter. A bracket expression may hold it, which seds disagree about: refused.
    fn until(&mut self, delimiter: u8, regex: bool) -> Option<()> {
        loop {
            match self.next()? {
                b'\\' => self.escaped()?,
                b'\n' if regex => return None,
                byte if byte == delimiter => return Some(()),
                b'[' if regex => self.bracket(delimiter)?,
                _ => {}
            }
        }
    }

    /// What follows a backslash.
    fn escaped(&mut self) -> Option<()> {
        // GNU reads `\cX`, `\dNNN`, `\oNNN` and `\xHH` as a character, which may be the delimiter.
        (!matches!(self.next()?, b'c' | b'd' | b'o' | b'x')).then_some(())
    }

    /// The rest of a bracket expression, to its end.
    fn bracket(&mut self, delimiter: u8) -> Option<()> {
        if self.peek() == Some(b'^') {
            self.next();
        }
        // A bracket that comes first is one of the characters.
        if self.peek() == Some(b']') {
            return None;
        }
        let mut class = None;
        loop {
            match self.next()? {
                b'\n' => return None,
                byte if byte == delimiter => return None,
                b'\\' if self.peek() == Some(b']') => return None,
                b'\\' => self.escaped()?,
                b'[' if class.is_none() => {
                    class = self.peek().filter(|b| matches!(b, b':' | b'.' | b'='));
                    if class.is_some() {
                        self.next();
                    }
                }
                byte if class == Some(byte) && self.peek() == Some(b']') => {
                    self.next();
                    class = None;
                }
                b']' if class.is_none() => return Some(()),
                b']' => return None,
                _ => {}
            }
        }
    }

    fn substitute(&mut self) -> Option<()> {
        let delimiter = self.delimiter()?;
        self.until(delimiter, true)?;
        self.until(delimiter, false)?;
        loop {
            match self.peek() {
                Some(b'g' | b'p' | b'i' | b'I' | b'm' | b'M' | b'0'..=b'9') => {
                    self.next();
                }
                // `e` runs the result, `w` writes it.
                _ => return self.ends(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::tests_support::glob;
    use super::*;

    fn check(words: &[&str]) -> bool {
        let words: Vec<Arg<'_>> = words
            .iter()
            .map(|word| Arg::Known(word.as_bytes()))
            .collect();
        prints(&words)
    }

    #[test]
    fn printing_and_editing_the_stream_is_fine() {
        for words in [
            &["-n", "1,120p", "src/lib.rs"][..],
            &["-n", "1p;5p", "f"],
            &["-ne", "/a/,/b/p", "f"],
            &["-n", "-e", "1p", "-e", "$p", "f"],
            &["--quiet", "--expression=1p", "f"],
            &["s/a/b/g", "f"],
            &["s|a/b|c|", "f"],
            &["-E", "s/(a|b)+/x/gI; /^$/d", "f"],
            &["5q", "f"],
            &["-n", "$=", "f"],
            &["-n", "/x/{p;q}", "f"],
            &["1!G;h;$!d", "f"],
            &["-n", "0~3p", "f"],
            &["-n", "/x/,+3p", "f"],
            &["y/abc/xyz/", "f"],
            &["-n", "2,4!p"],
        ] {
            assert!(check(words), "{words:?}");
        }
        assert!(prints(&[
            Arg::Known(b"-n"),
            Arg::Known(b"1p"),
            glob("src/*.rs")
        ]));
    }

    #[test]
    fn running_writing_and_reading_more_is_refused() {
        for words in [
            &["-n", "1e id", "f"][..],
            &["e", "f"],
            &["1e", "f"],
            &["w /home/dev/.bashrc", "f"],
            &["-n", "/x/w out", "f"],
            &["W out", "f"],
            &["s/a/b/e", "f"],
            &["s/a/b/ge", "f"],
            &["s/a/b/w out", "f"],
            &["s/a/b/gw out", "f"],
            &["p;e id", "f"],
            &["p\ne id", "f"],
            &["-n", "-e", "p", "-e", "e id", "f"],
            &["r /etc/shadow", "f"],
            &["R x", "f"],
            &["-i", "s/a/b/", "f"],
            &["-i.bak", "s/a/b/", "f"],
            &["-ni", "p", "f"],
            &["--in-place", "s/a/b/", "f"],
            &["--in-pl", "s/a/b/", "f"],
            &["-f", "x.sed", "f"],
            &["-fx.sed", "f"],
            &["--file=x.sed", "f"],
            &["-nf", "x.sed", "f"],
            &["s/a/b", "f"],
            &["s/[/]/w x/;p", "f"],
            &["s/a/b/;s/[/]/e/", "f"],
            &["a\\", "f"],
            &["-e", "a\\", "-e", "e id", "f"],
            &["-s", "--follow-symlinks", "p", "f"],
            &[],
            &["-n"],
            &["p", "-i", "f"],
            &["s/a\\c//b/e", "f"],
        ] {
            assert!(!check(words), "{words:?}");
        }
        assert!(!prints(&[glob("*"), Arg::Known(b"f")]));
        assert!(!prints(&[
            Arg::Known(b"-n"),
            Arg::Known(b"p"),
            glob("*.rs")
        ]));
    }
}
