//! Prints the built-in data as it is compiled in: `src/data/compiled.txt`.
#![expect(clippy::print_stdout, reason = "printing is what this program is for")]

fn main() -> Result<(), Box<dyn std::error::Error>> {
    print!("{}", palisade_exec_policy::matching::builtin::compile()?);
    Ok(())
}
