//! From the text of one source to a [`PolicyFile`], or to everything that is wrong with it.

mod programs;
mod reader;
mod rule;
mod settings;
mod shapes;
mod units;

use std::collections::HashSet;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use self::reader::{At, Reader, Value};
use super::error::{PolicyErrors, PolicyFileError, Problem, RuleContradiction};
use super::keys;
use super::model::{Case, Layer, PolicyFile};
use super::source::Source;

/// The largest source that is read.
pub const MAX_BYTES: usize = 4 << 20;
/// The most rules of a source, and of all sources together.
pub const MAX_RULES: usize = 100_000;

/// Reads a source.
///
/// ```
/// use palisade_exec_policy::language::{Layer, Source, parse};
///
/// let text = "version = 1\n[[rule]]\nid = \"no-push\"\nprefx = [\"git\", \"push\"]\ndecision = \"forbid\"\n";
/// let errors = parse(&Source::new(Layer::User, "rules.toml", text)).unwrap_err();
/// assert_eq!(
///     errors.to_string(),
///     "rules.toml:2:1: `rule[0]`: `prefix` is missing\n\
///      rules.toml:4:1: `rule[0].prefx`: unknown key; did you mean `prefix`?",
/// );
/// ```
///
/// # Errors
/// All that is wrong, each with its place, its key, its value and what was probably meant. Text that is not TOML is
/// not looked into further.
pub fn parse(source: &Source<'_>) -> Result<PolicyFile, PolicyErrors> {
    let text = text(source)?;
    let mut reader = Reader::new(source.layer, &source.name, text);
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut last = None;
    for error in &errors {
        let start = error.span().map_or(0, |span| span.start);
        // One mistake often leaves several things open that end at the same place.
        if last.replace(start) != Some(start) {
            let problem = Problem::Syntax(error.message().to_owned());
            reader.fail_table(start, &At::FILE, problem, None);
        }
    }
    let mut file = PolicyFile::new(source.layer, source.name.clone(), source.trust);
    if errors.is_empty() {
        read_file(&mut reader, &table, &mut file);
    }
    reader.finish(file)
}

/// The text of a source that is small enough and text at all.
pub(super) fn text<'s>(source: &Source<'s>) -> Result<&'s str, PolicyErrors> {
    let fail = |line, column, problem| {
        PolicyErrors::from(PolicyFileError::new(
            source.place(line, column),
            "",
            problem,
        ))
    };
    let bytes = source.text;
    if bytes.len() > MAX_BYTES {
        let problem = Problem::TooLarge {
            bytes: bytes.len(),
            max: MAX_BYTES,
        };
        return Err(fail(1, 1, problem));
    }
    if bytes.starts_with(b"\xef\xbb\xbf") {
        return Err(fail(1, 1, Problem::ByteOrderMark));
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let good = bytes.get(..error.valid_up_to()).unwrap_or(&[]);
        let good = std::str::from_utf8(good).unwrap_or("");
        let (line, column) = super::lines::Lines::new(good).place(good.len());
        fail(line, column, Problem::NotUtf8)
    })
}

fn read_file(reader: &mut Reader<'_>, table: &Spanned<DeTable<'_>>, file: &mut PolicyFile) {
    let mut versioned = false;
    for (key, value) in table.get_ref() {
        let Some(name) = reader.known(&keys::FILE, key, &At::FILE) else {
            continue;
        };
        let at = At::FILE.key(name);
        if !matches!(name, "rule" | "case" | "version") {
            let place = reader.origin(key.span().start);
            file.places.insert(name.to_owned(), place);
        }
        match name {
            "version" => {
                versioned = true;
                version(reader, value, &at);
            }
            "preset" => file.preset = settings::preset(reader, value, &at),
            "include" => file.include = include(reader, value, &at),
            "defaults" => settings::defaults(reader, value, &at, file),
            "floor" => settings::floor(reader, value, &at, file),
            "filesystem" => settings::filesystem(reader, value, &at, file),
            "network" => settings::network(reader, value, &at, file),
            "limits" => file.limits = settings::policy_limits(reader, value, &at, file),
            "env" => programs::env(reader, value, &at, file),
            "programs" => programs::programs(reader, value, &at, file),
            "options" => programs::options(reader, value, &at, file),
            "rule" => file.rules = rules(reader, value, &at),
            "case" => file.cases = cases(reader, value, &at),
            _ => reader.unread(value, &at),
        }
    }
    if !versioned {
        reader.fail_table(0, &At::FILE, Problem::MissingVersion, None);
    }
    settings::check(reader, table.get_ref(), file);
    if let (Some(_), Some(value)) = (&file.floor, table.get_ref().get("floor"))
        && file.layer != Layer::System
    {
        let problem = RuleContradiction::FloorOutsideSystem;
        reader.fail_table(value.span().start, &At::FILE.key("floor"), problem, None);
    }
}

fn version(reader: &mut Reader<'_>, value: &Value<'_>, at: &At<'_>) {
    match value.get_ref() {
        DeValue::Integer(number) if number.as_str() == "1" => {}
        DeValue::Integer(_) => reader.fail(value.span(), at, Problem::UnknownVersion),
        _ => reader.wrong_type(value, at, "the number 1", None),
    }
}

fn include(
    reader: &mut Reader<'_>,
    value: &Value<'_>,
    at: &At<'_>,
) -> Vec<(String, super::model::Origin)> {
    let mut include = Vec::new();
    let mut seen = HashSet::new();
    for (index, value) in shapes::items(reader, value, at).iter().enumerate() {
        let at = at.index(index);
        let Some(pattern) = reader.word(value, &at, "an include") else {
            continue;
        };
        if !seen.insert(pattern) {
            let problem = Problem::Repeated(pattern.to_owned());
            reader.fail(value.span(), &at, problem);
            continue;
        }
        include.push((pattern.to_owned(), reader.origin(value.span().start)));
    }
    include
}

/// The tables of `[[name]]`.
fn tables<'v, 'i>(
    reader: &mut Reader<'_>,
    value: &'v Value<'i>,
    at: &At<'_>,
    what: &'static str,
    expected: &'static str,
) -> &'v [Value<'i>] {
    let list = match value.get_ref() {
        DeValue::Array(list) => list,
        _ => {
            reader.wrong_type(value, at, expected, None);
            return &[];
        }
    };
    if list.len() > MAX_RULES {
        let problem = Problem::TooMany {
            what,
            count: list.len(),
            max: MAX_RULES,
        };
        reader.fail_table(value.span().start, at, problem, None);
        return &[];
    }
    list
}

fn rules(reader: &mut Reader<'_>, value: &Value<'_>, at: &At<'_>) -> Vec<super::model::Rule> {
    let tables = tables(reader, value, at, "rules", "`[[rule]]` tables");
    let mut rules = Vec::with_capacity(tables.len());
    for (index, value) in tables.iter().enumerate() {
        rules.extend(rule::rule(reader, value, &at.index(index)));
    }
    rules
}

fn cases(reader: &mut Reader<'_>, value: &Value<'_>, at: &At<'_>) -> Vec<Case> {
    let tables = tables(reader, value, at, "cases", "`[[case]]` tables");
    let mut cases = Vec::with_capacity(tables.len());
    for (index, value) in tables.iter().enumerate() {
        cases.extend(rule::case(reader, value, &at.index(index)));
    }
    cases
}
