//! From tokens to lists: a tree of bounded depth.

use super::error::{Position, ReadError, ReadProblem};
use super::lexer::{Lexer, Token};

/// How deep lists may be nested. Ours are a handful deep.
const MAX_DEPTH: usize = 64;

/// A list, or a leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Expression {
    pub(super) at: Position,
    pub(super) node: Node,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    List(Vec<Expression>),
    Symbol(String),
    Text(String),
    Raw(String),
}

impl Expression {
    /// The symbol at the head of a list, and what follows it.
    pub(super) fn form(&self) -> Result<(&str, &[Self]), ReadError> {
        match &self.node {
            Node::List(items) => match items.split_first() {
                Some((head, rest)) => Ok((head.symbol("a name first in the list")?, rest)),
                None => Err(self.expected("a name first in the list")),
            },
            _ => Err(self.expected("a list")),
        }
    }

    pub(super) fn symbol(&self, what: &'static str) -> Result<&str, ReadError> {
        match &self.node {
            Node::Symbol(name) => Ok(name),
            _ => Err(self.expected(what)),
        }
    }

    pub(super) fn text(&self, what: &'static str) -> Result<&str, ReadError> {
        match &self.node {
            Node::Text(text) => Ok(text),
            _ => Err(self.expected(what)),
        }
    }

    pub(super) fn expected(&self, what: &'static str) -> ReadError {
        self.error(ReadProblem::Expected(what))
    }

    pub(super) const fn error(&self, problem: ReadProblem) -> ReadError {
        ReadError::new(self.at, problem)
    }
}

/// All the lists and leaves of a text.
pub(super) fn expressions(text: &str) -> Result<Vec<Expression>, ReadError> {
    let mut lexer = Lexer::new(text);
    // The lists that are open, outermost first, with what they hold so far. A loop and no recursion: the depth of the
    // text is not the depth of our stack.
    let mut open: Vec<(Position, Vec<Expression>)> = Vec::new();
    let mut done = Vec::new();
    while let Some((at, token)) = lexer.next()? {
        let finished = match token {
            Token::Open if open.len() >= MAX_DEPTH => {
                return Err(ReadError::new(at, ReadProblem::TooDeep(MAX_DEPTH)));
            }
            Token::Open => {
                open.push((at, Vec::new()));
                continue;
            }
            Token::Close => match open.pop() {
                Some((at, items)) => Expression {
                    at,
                    node: Node::List(items),
                },
                None => return Err(ReadError::new(at, ReadProblem::Unopened)),
            },
            Token::Symbol(name) => Expression {
                at,
                node: Node::Symbol(name),
            },
            Token::Text(text) => Expression {
                at,
                node: Node::Text(text),
            },
            Token::Raw(text) => Expression {
                at,
                node: Node::Raw(text),
            },
        };
        match open.last_mut() {
            Some((_, items)) => items.push(finished),
            None => done.push(finished),
        }
    }
    match open.pop() {
        Some((at, _)) => Err(ReadError::new(at, ReadProblem::Unfinished("a list"))),
        None => Ok(done),
    }
}
