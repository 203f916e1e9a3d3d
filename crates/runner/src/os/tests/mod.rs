//! Real processes: bare ones, confined ones, and terminals.

mod bare;
mod confined;
mod support;
mod terminal;
mod trees;
