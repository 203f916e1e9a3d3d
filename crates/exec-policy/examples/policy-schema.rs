//! Prints the JSON Schema of policy files: `docs/policy.schema.json`.
#![expect(clippy::print_stdout, reason = "printing is what this program is for")]

fn main() {
    print!("{}", palisade_exec_policy::language::schema());
}
