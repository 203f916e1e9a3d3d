//! Patterns of includes: `*` and `?` within one name; `[*]` is a star itself, as everywhere in policies.

/// One name of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamePattern(Vec<Token>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Any,
    One,
    Exactly(char),
}

impl NamePattern {
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        if text.contains("**") {
            return Err("`**` does not exist here; list each directory");
        }
        let mut tokens = Vec::new();
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            tokens.push(match character {
                '*' => Token::Any,
                '?' => Token::One,
                '[' => match (characters.next(), characters.next()) {
                    (Some(quoted), Some(']')) => Token::Exactly(quoted),
                    _ => return Err("`[` quotes one character, as in `[*]`"),
                },
                plain => Token::Exactly(plain),
            });
        }
        Ok(Self(tokens))
    }

    /// The only name that matches, if there is only one.
    pub(super) fn literal(&self) -> Option<String> {
        let character = |token: &Token| match token {
            Token::Exactly(character) => Some(*character),
            Token::Any | Token::One => None,
        };
        self.0.iter().map(character).collect()
    }

    /// Whether a name matches. One that starts with a dot does so only if the pattern starts with that dot: editors
    /// leave such files behind.
    pub(super) fn matches(&self, name: &str) -> bool {
        if name.starts_with('.') && self.0.first() != Some(&Token::Exactly('.')) {
            return false;
        }
        let name: Vec<char> = name.chars().collect();
        let (mut at, mut token) = (0, 0);
        let mut star: Option<(usize, usize)> = None;
        loop {
            match (self.0.get(token), name.get(at)) {
                (None, None) => return true,
                (Some(Token::Any), _) => {
                    star = Some((token, at));
                    token += 1;
                }
                (Some(Token::One), Some(_)) => (at, token) = (at + 1, token + 1),
                (Some(Token::Exactly(wanted)), Some(found)) if wanted == found => {
                    (at, token) = (at + 1, token + 1);
                }
                // The last `*` takes one character more.
                _ => match star {
                    Some((any, from)) if from < name.len() => {
                        star = Some((any, from + 1));
                        (at, token) = (from + 1, any + 1);
                    }
                    _ => return false,
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_as_a_shell_would_match_them() {
        for (pattern, name, matches) in [
            ("*.toml", "a.toml", true),
            ("*.toml", ".toml", false),
            ("*.toml", ".a.toml", false),
            (".*.toml", ".a.toml", true),
            ("*.toml", "a.toml~", false),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxbyy", false),
            ("?.toml", "a.toml", true),
            ("?.toml", "ab.toml", false),
            ("[*].toml", "*.toml", true),
            ("[*].toml", "a.toml", false),
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("é*", "été", true),
        ] {
            let parsed = NamePattern::parse(pattern).unwrap();
            assert_eq!(parsed.matches(name), matches, "{pattern} {name}");
        }
        assert_eq!(
            NamePattern::parse("a[*]b").unwrap().literal(),
            Some("a*b".to_owned())
        );
        assert_eq!(NamePattern::parse("a*b").unwrap().literal(), None);
        for bad in ["**", "a[", "a[b", "[ab]"] {
            assert!(NamePattern::parse(bad).is_err(), "{bad}");
        }
    }
}
