//! Reading a profile: the text that `sandbox-exec` gets, back into rules.

mod error;
mod expression;
mod filters;
mod lexer;
#[cfg(test)]
mod tests;

pub use error::{Position, ReadError, ReadProblem};
pub(crate) use filters::parameter_name;

use expression::{Expression, Node, expressions};

use super::operations;
use crate::profile::{Decision, Modifier, Rule};

/// No profile of ours is near this long.
const MAX_BYTES: usize = 1 << 20;

/// Reads the rules of a profile, in their order.
///
/// Everything that is not understood exactly is refused: a model that skips what it does not know would say more than
/// it knows.
///
/// # Errors
/// The text is no profile, or uses something that is not modelled. The error says where.
pub fn read(text: &str) -> Result<Vec<Rule>, ReadError> {
    let start = Position { line: 1, column: 1 };
    if text.len() > MAX_BYTES {
        return Err(ReadError::new(start, ReadProblem::TooLong(MAX_BYTES)));
    }
    let forms = expressions(text)?;
    let Some((version, rest)) = forms.split_first() else {
        return Err(ReadError::new(start, ReadProblem::Version));
    };
    match version.form()? {
        ("version", [number]) if number.node == Node::Symbol("1".to_owned()) => {}
        _ => return Err(version.error(ReadProblem::Version)),
    }
    rest.iter().map(rule).collect()
}

fn rule(expression: &Expression) -> Result<Rule, ReadError> {
    let (head, rest) = expression.form()?;
    let decision = match head {
        "allow" => Decision::Allow,
        "deny" => Decision::Deny,
        "version" => return Err(expression.error(ReadProblem::Version)),
        other => return Err(expression.error(ReadProblem::Form(other.to_owned()))),
    };
    let mut rule = Rule::new(decision, []);
    for item in rest {
        match &item.node {
            Node::Symbol(name) => {
                // Operations come first: a name after a filter would be something else.
                if !rule.filters.is_empty() {
                    return Err(item.expected("a filter"));
                }
                match operations::operation(name) {
                    Some(operation) => rule.operations.push(operation),
                    None => return Err(item.error(ReadProblem::Operation(name.clone()))),
                }
            }
            _ => match item.form()? {
                ("with", values) => rule.modifiers.push(modifier(item, values)?),
                _ => rule.filters.push(filters::filter(item)?),
            },
        }
    }
    if rule.operations.is_empty() {
        return Err(expression.error(ReadProblem::NoOperation));
    }
    Ok(rule)
}

fn modifier(whole: &Expression, values: &[Expression]) -> Result<Modifier, ReadError> {
    let Some((name, rest)) = values.split_first() else {
        return Err(whole.expected("a modifier"));
    };
    let name = name.symbol("a modifier")?;
    match (name, rest) {
        ("message", [text]) => Ok(Modifier::Message(text.text("a string")?.to_owned())),
        ("no-log", []) => Ok(Modifier::NoLog),
        ("report", []) => Ok(Modifier::Report),
        ("message" | "no-log" | "report", _) => Err(whole.expected("nothing more")),
        (other, _) => Err(whole.error(ReadProblem::Modifier(other.to_owned()))),
    }
}
