//! The calls of a `.rules` file: literal ones with their arguments, and whatever else stands there.

use std::collections::HashSet;

use super::lexer::{Kind, Token, tokens};
use crate::import::report::ImportError;

/// A value as far as it is literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Text(String),
    List(Vec<Self>),
    None,
    /// Something that would have to be run to be known.
    Computed,
}

impl Value {
    /// Whether every part is literal.
    pub(super) fn is_literal(&self) -> bool {
        match self {
            Self::Text(_) | Self::None => true,
            Self::List(items) => items.iter().all(Self::is_literal),
            Self::Computed => false,
        }
    }
}

/// One statement at the top of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Statement {
    /// `name(argument, key = value)`
    Call(Call),
    /// `name = ...` or a function's definition: says nothing by itself.
    Definition { line: usize, what: String },
    /// One of the [known calls](KNOWN_CALLS) gets another meaning.
    Redefinition { line: usize, what: String },
    /// Anything else: it may call whatever it likes.
    Opaque { line: usize, what: String },
}

/// The calls that are read.
const KNOWN_CALLS: [&str; 3] = ["prefix_rule", "network_rule", "host_executable"];

/// A call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) line: usize,
    pub(super) name: String,
    /// Arguments in order, those with a key included. No key twice.
    pub(super) arguments: Vec<(Option<String>, Value)>,
}

impl Call {
    /// An argument by its key, or by its position where it has none.
    pub(super) fn argument(&self, key: &str, position: usize) -> Option<&Value> {
        let keyed = self
            .arguments
            .iter()
            .find(|(name, _)| name.as_deref() == Some(key));
        let positional = self
            .arguments
            .get(position)
            .filter(|(name, _)| name.is_none());
        keyed.or(positional).map(|(_, value)| value)
    }
}

/// The statements of a file.
pub(super) fn statements(text: &str) -> Result<Vec<Statement>, ImportError> {
    let tokens = tokens(text)?;
    let mut statements = Vec::new();
    for line in tokens.split(|token| token.kind == Kind::End) {
        let Some(first) = line.first() else {
            continue;
        };
        if first.indented {
            // The body of a definition belongs to it; that of anything else was already opaque.
            continue;
        }
        statements.push(statement(first, line)?);
    }
    Ok(statements)
}

fn statement(first: &Token, line: &[Token]) -> Result<Statement, ImportError> {
    let at = first.line;
    let name = match &first.kind {
        Kind::Name(name) => name.clone(),
        Kind::Text(_) => {
            // A string by itself is a comment.
            let what = "a string".to_owned();
            return Ok(Statement::Definition { line: at, what });
        }
        _ => String::new(),
    };
    let what = if name.is_empty() {
        "an expression".to_owned()
    } else {
        format!("`{name}`")
    };
    if let Some(known) = redefined(&name, line) {
        let what = format!("`{known}`");
        return Ok(Statement::Redefinition { line: at, what });
    }
    let second = line.get(1).map(|token| &token.kind);
    match (name.as_str(), second) {
        // A default of a parameter is run where the function is defined.
        ("def", _) if brackets(line) <= 1 => Ok(Statement::Definition { line: at, what }),
        ("def", _) => Ok(Statement::Opaque { line: at, what }),
        ("load" | "for" | "if" | "elif" | "else" | "while" | "pass", _) => {
            Ok(Statement::Opaque { line: at, what })
        }
        (_, Some(Kind::Equals)) if is_pure(line) => Ok(Statement::Definition { line: at, what }),
        (_, Some(Kind::Open('('))) if !name.is_empty() => {
            let rest = line.get(2..).unwrap_or_default();
            match call(at, name, rest)? {
                Some(call) => Ok(Statement::Call(call)),
                None => Ok(Statement::Opaque { line: at, what }),
            }
        }
        _ => Ok(Statement::Opaque { line: at, what }),
    }
}

/// The known call that a definition, a `load` or an assignment gives another meaning.
fn redefined<'a>(first: &str, line: &'a [Token]) -> Option<&'a str> {
    let known = |token: &'a Token| match &token.kind {
        Kind::Name(name) | Kind::Text(name) => {
            Some(name.as_str()).filter(|name| KNOWN_CALLS.contains(name))
        }
        _ => None,
    };
    match first {
        "def" => line.get(1).and_then(known),
        "load" => line.iter().find_map(known),
        _ => {
            let targets = line.get(..assignment(line)?)?;
            targets.iter().find_map(known)
        }
    }
}

/// Where the sign of an assignment stands, outside all brackets.
fn assignment(line: &[Token]) -> Option<usize> {
    let mut depth = 0usize;
    line.iter().position(|token| {
        match token.kind {
            Kind::Open(_) => depth = depth.saturating_add(1),
            Kind::Close(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && token.kind == Kind::Equals
    })
}

/// Whether an assignment calls nothing, so that it can add no rule.
fn is_pure(line: &[Token]) -> bool {
    brackets(line) == 0
}

/// How many round brackets are opened.
fn brackets(line: &[Token]) -> usize {
    let opens = |token: &&Token| token.kind == Kind::Open('(');
    line.iter().filter(opens).count()
}

/// The arguments up to the closing bracket; `None` if something follows it.
fn call(line: usize, name: String, tokens: &[Token]) -> Result<Option<Call>, ImportError> {
    let mut reader = Reader { tokens, at: 0 };
    let mut arguments: Vec<(Option<String>, Value)> = Vec::new();
    let mut keys: HashSet<&str> = HashSet::new();
    loop {
        match reader.peek() {
            Some(Kind::Close(')')) => {
                reader.at = reader.at.saturating_add(1);
                break;
            }
            // A bracket of another kind: nothing that the tool would read.
            None | Some(Kind::Close(_)) => return Ok(None),
            Some(_) => {}
        }
        let key = match (reader.peek(), reader.peek_after()) {
            (Some(Kind::Name(key)), Some(Kind::Equals)) => {
                reader.at = reader.at.saturating_add(2);
                Some(key.as_str())
            }
            _ => None,
        };
        let at = reader.line().unwrap_or(line);
        let before = reader.at;
        let value = reader.value(')');
        if let Some(key) = key
            && !keys.insert(key)
        {
            let key = key.to_owned();
            return Err(ImportError::DuplicateKey { line: at, key });
        }
        arguments.push((key.map(str::to_owned), value));
        if reader.peek() == Some(&Kind::Comma) {
            reader.at = reader.at.saturating_add(1);
        }
        if reader.at == before {
            return Ok(None);
        }
    }
    let ends = reader.peek().is_none();
    Ok(ends.then_some(Call {
        line,
        name,
        arguments,
    }))
}

struct Reader<'a> {
    tokens: &'a [Token],
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<&'a Kind> {
        self.tokens.get(self.at).map(|token| &token.kind)
    }

    fn peek_after(&self) -> Option<&'a Kind> {
        self.tokens
            .get(self.at.saturating_add(1))
            .map(|token| &token.kind)
    }

    fn line(&self) -> Option<usize> {
        self.tokens.get(self.at).map(|token| token.line)
    }

    /// A value up to a comma or the closing bracket; whatever is no literal is skipped and computed.
    fn value(&mut self, close: char) -> Value {
        let start = self.at;
        let value = self.literal();
        match self.peek() {
            Some(Kind::Comma) => value,
            Some(Kind::Close(c)) if *c == close => value,
            _ => {
                self.at = start;
                self.skip();
                Value::Computed
            }
        }
    }

    fn literal(&mut self) -> Value {
        let Some(kind) = self.peek() else {
            return Value::Computed;
        };
        self.at = self.at.saturating_add(1);
        match kind {
            Kind::Text(text) => Value::Text(text.clone()),
            Kind::Name(name) if name == "None" => Value::None,
            Kind::Open('[') => self.list(),
            _ => Value::Computed,
        }
    }

    fn list(&mut self) -> Value {
        let mut items = Vec::new();
        loop {
            match self.peek() {
                Some(Kind::Close(']')) => {
                    self.at = self.at.saturating_add(1);
                    return Value::List(items);
                }
                Some(_) => {}
                None => return Value::Computed,
            }
            items.push(self.value(']'));
            match self.peek() {
                Some(Kind::Comma) => self.at = self.at.saturating_add(1),
                Some(Kind::Close(']')) => {}
                _ => return Value::Computed,
            }
        }
    }

    /// To the next comma or closing bracket of this level.
    fn skip(&mut self) {
        let mut depth = 0usize;
        while let Some(kind) = self.peek() {
            match kind {
                Kind::Open(_) => depth = depth.saturating_add(1),
                Kind::Close(_) if depth == 0 => return,
                Kind::Close(_) => depth = depth.saturating_sub(1),
                Kind::Comma if depth == 0 => return,
                _ => {}
            }
            self.at = self.at.saturating_add(1);
        }
    }
}
