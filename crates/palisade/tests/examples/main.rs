//! The examples, run for real: by whoever runs this test, and by an ordinary user if that is root.
//!
//! This program is each of the examples when it is told so, and their helper, so it has its own `main`.

use std::process::ExitCode;

#[path = "../../examples/agent_loop.rs"]
mod agent_loop;
#[path = "../../examples/embedding.rs"]
mod embedding;
#[cfg(all(target_os = "linux", feature = "linux-landlock"))]
mod linux;

/// Which example this program is to be.
const EXAMPLE: &str = "PALISADE_EXAMPLE";

fn main() -> ExitCode {
    match std::env::var(EXAMPLE).as_deref() {
        Ok("agent_loop") => return agent_loop::main(),
        Ok("embedding") => return embedding::main(),
        _ => {}
    }
    if let Some(code) = palisade::dispatch(std::env::args_os()) {
        return code;
    }
    #[cfg(all(target_os = "linux", feature = "linux-landlock"))]
    linux::tests();
    ExitCode::SUCCESS
}
