//! The tests of the decision: its values, its tables, its laws and its words.

mod approval;
mod default_table;
mod executor;
mod executor_laws;
mod explanations;
mod laws;
mod leaving;
mod matrix;
mod placement;
mod segments;
mod support;
