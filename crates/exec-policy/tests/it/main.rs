//! The tests of the decision: its values, its tables, its laws and its words.

mod approval;
mod default_table;
mod executor;
mod explanations;
mod laws;
mod matrix;
mod placement;
mod segments;
mod support;
