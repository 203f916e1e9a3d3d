//! Walks opaque bash with a full parser.
//!
//! The parser gives the structure: which words form a command, what is a here-document, where a function body is.
//! Words themselves are read by [`expand`](crate::expand), which needs no global cache and reports what is inside them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use brush_parser::ast;
use brush_parser::{ParserOptions, TokenizerOptions};

use crate::limits::Limits;
use crate::mentions::{Construct, Mention, MentionWord};
use crate::plain::RedirectKind;
use crate::walk::Walker;

/// Walks `text`; `false` if it is not fit for the parser or does not parse.
pub(crate) fn walk(walker: &mut Walker<'_>, text: &[u8]) -> bool {
    if !is_fit(text, walker.meter.limits()) {
        return false;
    }
    let Ok(text) = std::str::from_utf8(text) else {
        return false;
    };
    let options = ParserOptions::default();
    // The parser is not ours to keep free of panics; one there must cost a fallback and nothing else.
    let parsed = catch_unwind(AssertUnwindSafe(|| {
        let tokenizer: TokenizerOptions = options.tokenizer_options();
        let tokens = brush_parser::uncached_tokenize_str(text, &tokenizer).ok()?;
        brush_parser::parse_tokens(&tokens, &options).ok()
    }));
    let Ok(Some(program)) = parsed else {
        return false;
    };
    for list in &program.complete_commands {
        walker.list(list);
    }
    true
}

/// Whether the parser reads the text in little time and stack.
///
/// It recurses at every opening bracket or keyword, and tries bare parentheses and `case` more than one way, which
/// doubles its work each time. Closers are not subtracted: one in quotes would hide an opener from this count.
fn is_fit(text: &[u8], limits: &Limits) -> bool {
    if text.len() > limits.max_parser_bytes {
        return false;
    }
    let (mut openers, mut doublings) = (0usize, 0usize);
    for word in text.split(|b| matches!(b, b' ' | b'\t' | b'\n' | b';')) {
        match word {
            b"case" => doublings = doublings.saturating_add(2),
            b"if" | b"elif" | b"for" | b"while" | b"until" | b"select" | b"!" | b"coproc"
            | b"function" => openers = openers.saturating_add(1),
            _ => {}
        }
        let mut before = b' ';
        for &byte in word {
            match byte {
                b'(' if before != b'$' => doublings = doublings.saturating_add(1),
                b'(' | b'{' | b'`' | b'[' => openers = openers.saturating_add(1),
                _ => {}
            }
            before = byte;
        }
    }
    doublings <= limits.max_parser_doublings
        && openers <= limits.max_parser_openers
        && !names_huge_descriptor(text)
        && !has_odd_here_tag(text)
}

/// Whether a redirect names a descriptor that does not fit 32 bits: the parser panics at one. A continued line does not
/// end the number.
fn names_huge_descriptor(text: &[u8]) -> bool {
    let mut digits = 0usize;
    for &byte in text {
        match byte {
            b'0'..=b'9' => digits = digits.saturating_add(1),
            b'\\' | b'\n' => {}
            b'<' | b'>' if digits > 9 => return true,
            _ => digits = 0,
        }
    }
    false
}

/// Whether a here-document's tag could be read as empty, as in `<<''`: the parser never comes back from one. A tag that
/// starts with a letter, a digit or an underscore, quoted or not, is not empty. Continued lines are one line to a shell.
fn has_odd_here_tag(text: &[u8]) -> bool {
    let mut rest = text;
    while let Some(at) = rest.windows(2).position(|pair| pair == b"<<") {
        let after = skip(rest.get(at + 2..).unwrap_or_default(), b"");
        rest = match after {
            // A here-string has no tag.
            [b'<', tail @ ..] => tail,
            [b'-', tail @ ..] => skip(tail, b" \t"),
            tail => skip(tail, b" \t"),
        };
        let tag = match rest {
            [b'\'' | b'"' | b'\\', tag @ ..] => tag,
            tag => tag,
        };
        let named =
            matches!(tag.first(), Some(byte) if byte.is_ascii_alphanumeric() || *byte == b'_');
        if !named && after.first() != Some(&b'<') {
            return true;
        }
    }
    // The operator itself in two lines.
    text.windows(3).any(|bytes| bytes == b"<\\\n")
}

/// The text after any of these bytes and after continued lines.
fn skip<'a>(mut text: &'a [u8], blanks: &[u8]) -> &'a [u8] {
    loop {
        text = match text {
            [b'\\', b'\n', rest @ ..] => rest,
            [first, rest @ ..] if blanks.contains(first) => rest,
            _ => return text,
        };
    }
}

impl Walker<'_> {
    fn list(&mut self, list: &ast::CompoundList) {
        for ast::CompoundListItem(and_or, separator) in &list.0 {
            match separator {
                ast::SeparatorOperator::Async => {
                    self.within(Construct::Background, |walker| walker.and_or(and_or));
                }
                ast::SeparatorOperator::Sequence => self.and_or(and_or),
            }
        }
    }

    fn compound(&mut self, list: &ast::CompoundList) {
        self.within(Construct::Compound, |walker| walker.list(list));
    }

    fn and_or(&mut self, and_or: &ast::AndOrList) {
        self.pipeline(&and_or.first);
        for next in &and_or.additional {
            let (ast::AndOr::And(pipeline) | ast::AndOr::Or(pipeline)) = next;
            self.pipeline(pipeline);
        }
    }

    fn pipeline(&mut self, pipeline: &ast::Pipeline) {
        let mut members = Vec::new();
        let mut bodies = Vec::new();
        for command in &pipeline.seq {
            match command {
                ast::Command::Simple(simple) => members.push(self.simple(simple, &mut bodies)),
                ast::Command::Compound(compound, redirects) => {
                    self.compound_command(compound);
                    self.redirect_list(redirects.as_ref(), &mut bodies);
                }
                ast::Command::Function(function) => {
                    self.within(Construct::Function, |walker| {
                        walker.compound_command(&function.body.0);
                    });
                    self.redirect_list(function.body.1.as_ref(), &mut bodies);
                }
                ast::Command::ExtendedTest(test, redirects) => {
                    self.within(Construct::Compound, |walker| walker.test(&test.expr));
                    self.redirect_list(redirects.as_ref(), &mut bodies);
                }
            }
        }
        if members
            .iter()
            .any(|words| crate::follow::reads_script(words.iter().filter_map(MentionWord::known)))
        {
            let bodies: Vec<&[u8]> = bodies.iter().map(Vec::as_slice).collect();
            self.fed_to_shell(&members, &bodies);
        }
    }

    fn simple(
        &mut self,
        simple: &ast::SimpleCommand,
        bodies: &mut Vec<Vec<u8>>,
    ) -> Vec<MentionWord> {
        let mut mention = Mention::default();
        let prefix = simple.prefix.iter().flat_map(|prefix| &prefix.0);
        for item in prefix {
            self.item(item, &mut mention, bodies);
        }
        if let Some(name) = &simple.word_or_name {
            mention.words.extend(self.word(name.value.as_bytes()));
        }
        let suffix = simple.suffix.iter().flat_map(|suffix| &suffix.0);
        for item in suffix {
            self.item(item, &mut mention, bodies);
        }
        let words = mention.words.clone();
        self.command(mention);
        words
    }

    fn item(
        &mut self,
        item: &ast::CommandPrefixOrSuffixItem,
        mention: &mut Mention,
        bodies: &mut Vec<Vec<u8>>,
    ) {
        match item {
            ast::CommandPrefixOrSuffixItem::IoRedirect(redirect) => {
                mention.redirects.extend(self.redirect(redirect, bodies));
            }
            ast::CommandPrefixOrSuffixItem::Word(word) => {
                mention.words.extend(self.word(word.value.as_bytes()));
            }
            ast::CommandPrefixOrSuffixItem::AssignmentWord(assignment, word) => {
                let fields = self.word(word.value.as_bytes());
                if !mention.words.is_empty() {
                    return mention.words.extend(fields);
                }
                self.assignment(assignment, mention);
            }
            ast::CommandPrefixOrSuffixItem::ProcessSubstitution(_, body) => {
                self.within(Construct::ProcessSubstitution, |walker| {
                    walker.list(&body.list);
                });
                mention.words.push(MentionWord::Unknown);
            }
        }
    }

    fn assignment(&mut self, assignment: &ast::Assignment, mention: &mut Mention) {
        let name = match &assignment.name {
            ast::AssignmentName::VariableName(name) => name,
            ast::AssignmentName::ArrayElementName(name, index) => {
                self.quoted_text(index.as_bytes());
                name
            }
        };
        let value = match &assignment.value {
            ast::AssignmentValue::Scalar(word) => {
                let mut fields = self.word(word.value.as_bytes());
                match (fields.pop(), fields.is_empty()) {
                    (Some(word), true) => word,
                    (None, _) => MentionWord::Known(Vec::new()),
                    (Some(_), false) => MentionWord::Unknown,
                }
            }
            ast::AssignmentValue::Array(elements) => {
                for (index, element) in elements {
                    if let Some(index) = index {
                        self.word(index.value.as_bytes());
                    }
                    self.word(element.value.as_bytes());
                }
                MentionWord::Unknown
            }
        };
        mention.assignments.push((name.as_bytes().to_vec(), value));
    }

    fn redirect_list(&mut self, redirects: Option<&ast::RedirectList>, bodies: &mut Vec<Vec<u8>>) {
        let mut mention = Mention::default();
        for redirect in redirects.iter().flat_map(|list| &list.0) {
            mention.redirects.extend(self.redirect(redirect, bodies));
        }
        if !mention.redirects.is_empty() {
            self.command(mention);
        }
    }

    fn redirect(
        &mut self,
        redirect: &ast::IoRedirect,
        bodies: &mut Vec<Vec<u8>>,
    ) -> Option<(RedirectKind, MentionWord)> {
        let (kind, word) = match redirect {
            ast::IoRedirect::File(_, kind, target) => {
                let kind = match kind {
                    ast::IoFileRedirectKind::Read => RedirectKind::Read,
                    ast::IoFileRedirectKind::Append => RedirectKind::Append,
                    ast::IoFileRedirectKind::Clobber => RedirectKind::Clobber,
                    ast::IoFileRedirectKind::DuplicateInput => RedirectKind::DuplicateIn,
                    ast::IoFileRedirectKind::DuplicateOutput => RedirectKind::DuplicateOut,
                    ast::IoFileRedirectKind::Write | ast::IoFileRedirectKind::ReadAndWrite => {
                        RedirectKind::Write
                    }
                };
                match target {
                    ast::IoFileRedirectTarget::Filename(word)
                    | ast::IoFileRedirectTarget::Duplicate(word) => (kind, word),
                    ast::IoFileRedirectTarget::Fd(_) => return None,
                    ast::IoFileRedirectTarget::ProcessSubstitution(_, body) => {
                        self.within(Construct::ProcessSubstitution, |walker| {
                            walker.list(&body.list);
                        });
                        return None;
                    }
                }
            }
            ast::IoRedirect::HereDocument(_, document) => {
                bodies.push(document.doc.value.as_bytes().to_vec());
                if document.requires_expansion {
                    self.quoted_text(document.doc.value.as_bytes());
                }
                return None;
            }
            ast::IoRedirect::HereString(_, word) => {
                let fields = self.word(word.value.as_bytes());
                let known = fields.iter().filter_map(MentionWord::known);
                bodies.push(known.collect::<Vec<_>>().join(&b' '));
                return None;
            }
            ast::IoRedirect::OutputAndError(word, append) => {
                let kind = if *append {
                    RedirectKind::Append
                } else {
                    RedirectKind::Write
                };
                (kind, word)
            }
        };
        let mut fields = self.word(word.value.as_bytes());
        let target = fields.pop().unwrap_or(MentionWord::Unknown);
        Some((kind, target))
    }

    fn compound_command(&mut self, command: &ast::CompoundCommand) {
        match command {
            ast::CompoundCommand::Arithmetic(arithmetic) => {
                self.arithmetic(Some(&arithmetic.expr));
            }
            ast::CompoundCommand::ArithmeticForClause(clause) => {
                self.arithmetic(clause.initializer.as_ref());
                self.arithmetic(clause.condition.as_ref());
                self.arithmetic(clause.updater.as_ref());
                self.compound(&clause.body.list);
            }
            ast::CompoundCommand::BraceGroup(group) => self.compound(&group.list),
            ast::CompoundCommand::Subshell(subshell) => self.compound(&subshell.list),
            ast::CompoundCommand::ForClause(clause) => {
                for value in clause.values.iter().flatten() {
                    let fields = self.word(value.value.as_bytes());
                    // The loop variable takes each value; the first literal one stands for all.
                    if let Some(value) = fields.first().and_then(MentionWord::known) {
                        let name = clause.variable_name.as_bytes().to_vec();
                        let value = value.to_vec();
                        self.variables.entry(name).or_insert(value);
                    }
                }
                self.compound(&clause.body.list);
            }
            ast::CompoundCommand::CaseClause(clause) => {
                self.word(clause.value.value.as_bytes());
                for case in &clause.cases {
                    for pattern in &case.patterns {
                        self.word(pattern.value.as_bytes());
                    }
                    if let Some(list) = &case.cmd {
                        self.compound(list);
                    }
                }
            }
            ast::CompoundCommand::IfClause(clause) => {
                self.compound(&clause.condition);
                self.compound(&clause.then);
                for branch in clause.elses.iter().flatten() {
                    if let Some(condition) = &branch.condition {
                        self.compound(condition);
                    }
                    self.compound(&branch.body);
                }
            }
            ast::CompoundCommand::WhileClause(clause)
            | ast::CompoundCommand::UntilClause(clause) => {
                self.compound(&clause.0);
                self.compound(&clause.1.list);
            }
            ast::CompoundCommand::Coprocess(coprocess) => {
                let list = ast::Pipeline {
                    timed: None,
                    bang: false,
                    seq: vec![(*coprocess.body).clone()],
                };
                self.within(Construct::Compound, |walker| walker.pipeline(&list));
            }
        }
    }

    fn arithmetic(&mut self, expression: Option<&ast::UnexpandedArithmeticExpr>) {
        if let Some(expression) = expression {
            self.within(Construct::Compound, |walker| {
                walker.quoted_text(expression.value.as_bytes());
            });
        }
    }

    fn test(&mut self, expression: &ast::ExtendedTestExpr) {
        match expression {
            ast::ExtendedTestExpr::And(left, right) | ast::ExtendedTestExpr::Or(left, right) => {
                self.test(left);
                self.test(right);
            }
            ast::ExtendedTestExpr::Not(inner) | ast::ExtendedTestExpr::Parenthesized(inner) => {
                self.test(inner);
            }
            ast::ExtendedTestExpr::UnaryTest(_, word) => self.operand(word),
            ast::ExtendedTestExpr::BinaryTest(_, left, right) => {
                self.operand(left);
                self.operand(right);
            }
        }
    }

    /// A test evaluates subscripts even in quotes: `[[ -v 'a[$(id)]' ]]` runs `id`.
    fn operand(&mut self, word: &ast::Word) {
        for field in self.word(word.value.as_bytes()) {
            if let MentionWord::Known(text) | MentionWord::Pattern(text) = field {
                self.quoted_text(&text);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_parser_would_panic_at_never_reaches_it() {
        let limits = Limits::default();
        for (text, fit) in [
            ("99999999999<-", false),
            ("99999\\\n999999>x", false),
            ("a 12345678901 >x", true),
            ("echo 99999999999; a 2>x", true),
            ("cat <<''", false),
            ("cat <<\"\"\nx\n\n", false),
            ("cat <<-\r", false),
            ("cat << \\\n\\\n ''", false),
            ("cat <\\\n<''", false),
            ("cat <<", false),
            ("cat <<EOF\nx\nEOF", true),
            ("cat <<-'EOF'\nx\nEOF", true),
            ("cat <<\\EOF\nx\nEOF", true),
            ("cat <<< ''", true),
            ("echo $((1 << 2))", true),
        ] {
            assert_eq!(is_fit(text.as_bytes(), &limits), fit, "{text:?}");
        }
    }
}
