//! Puts tables and keys into the order of the description.

use std::collections::HashMap;

use super::super::keys::{FILE, Section, Shape};
use super::scan::{Document, Entry, Name, Table, Value};

pub(super) fn sort(document: &mut Document) {
    for table in &mut document.tables {
        let shape = path_shape(&table.path);
        sort_entries(&mut table.entries, shape);
    }
    let mut tables = std::mem::take(&mut document.tables).into_iter();
    let mut sorted: Vec<_> = tables.next().into_iter().collect();
    let mut blocks = blocks(tables);
    blocks.sort_by_key(|block| {
        let name = block.first().and_then(|table| table.path.first());
        name.map(|name| FILE.position(&name.says))
    });
    sorted.extend(blocks.into_iter().flatten());
    document.tables = sorted;
}

/// Tables that must stay together: `[rule.sandbox]` speaks about the `[[rule]]` above it.
fn blocks(tables: impl Iterator<Item = Table>) -> Vec<Vec<Table>> {
    let mut blocks: Vec<Vec<Table>> = Vec::new();
    let mut last: HashMap<String, usize> = HashMap::new();
    for table in tables {
        let name = table.path.first().map(|name| name.says.clone());
        let name = name.unwrap_or_default();
        let starts = table.listed && table.path.len() == 1;
        let block = last.get(&name).filter(|_| !starts);
        match block.and_then(|index| blocks.get_mut(*index)) {
            Some(block) => block.push(table),
            None => {
                last.insert(name, blocks.len());
                blocks.push(vec![table]);
            }
        }
    }
    blocks
}

/// What a header stands for.
fn path_shape(path: &[Name]) -> Place {
    let mut place = Place::Section(&FILE);
    for name in path {
        place = place.below(&name.says);
    }
    place
}

/// What the description says about a place in a file.
#[derive(Clone, Copy)]
enum Place {
    Section(&'static Section),
    Shape(&'static Shape),
    Unknown,
}

impl Place {
    /// The place of a key in this one.
    fn below(self, name: &str) -> Self {
        match self {
            Self::Section(section) => match section.key(name) {
                Some(key) => Self::Shape(&key.shape),
                None => Self::Unknown,
            },
            Self::Shape(Shape::Map(value)) => Self::Shape(value),
            Self::Shape(_) => match self.section() {
                Some(section) => Self::Section(section).below(name),
                None => Self::Unknown,
            },
            Self::Unknown => Self::Unknown,
        }
    }

    /// The place of an item of a list in this one.
    fn item(self) -> Self {
        match self {
            Self::Shape(Shape::List(item)) => Self::Shape(item),
            Self::Shape(Shape::Tables(section)) => Self::Section(section),
            Self::Section(_) | Self::Shape(_) | Self::Unknown => Self::Unknown,
        }
    }

    /// The table that stands here, if one does.
    fn section(self) -> Option<&'static Section> {
        match self {
            Self::Section(section) => Some(section),
            Self::Shape(shape) => table_of(shape),
            Self::Unknown => None,
        }
    }
}

fn table_of(shape: &'static Shape) -> Option<&'static Section> {
    match shape {
        Shape::Table(section) | Shape::Tables(section) => Some(section),
        Shape::Either(shapes) => shapes.iter().find_map(table_of),
        Shape::List(item) => table_of(item),
        _ => None,
    }
}

fn sort_entries(entries: &mut [Entry], place: Place) {
    for entry in entries.iter_mut() {
        let mut below = place;
        for name in &entry.key {
            below = below.below(&name.says);
        }
        sort_value(&mut entry.value, below);
    }
    entries.sort_by_cached_key(|entry| {
        let mut below = place;
        let mut positions = Vec::with_capacity(entry.key.len());
        for name in &entry.key {
            // Names that authors pick stay in their order.
            positions.push(
                below
                    .section()
                    .map_or(0, |section| section.position(&name.says)),
            );
            below = below.below(&name.says);
        }
        positions
    });
}

fn sort_value(value: &mut Value, place: Place) {
    match value {
        Value::Scalar(_) => {}
        Value::List(parts) => {
            for entry in &mut parts.entries {
                sort_value(&mut entry.value, place.item());
            }
        }
        Value::Table(parts) => sort_entries(&mut parts.entries, place),
    }
}
