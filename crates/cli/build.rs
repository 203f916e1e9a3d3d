//! How the binary is linked: every run of it pays for loading it.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |key: &str| std::env::var(format!("CARGO_CFG_TARGET_{key}")).unwrap_or_default();
    let features = target("FEATURE");
    // A static program is linked in a way of its own.
    if target("OS") != "linux" || target("ENV") != "gnu" || features.contains("crt-static") {
        return;
    }
    // At a fixed address nothing has to be relocated: in a program that may move, the pointers in all tables are written
    // once more at each start, and the pages that they are on are copied.
    println!("cargo::rustc-link-arg-bins=-no-pie");
    // `libgcc_s` unwinds a panic and does nothing else here, but each start would load it and let it ask the processor
    // what it can do, which a virtual machine answers slowly. Its archive does the same. Whoever asks the linker for the
    // library finds a script that names the archive. Without an archive the library stays what it is.
    if let (Some(archive), Some(out)) = (unwinder(), std::env::var_os("OUT_DIR")) {
        let script = format!("GROUP ( {} )\n", archive.display());
        if std::fs::write(Path::new(&out).join("libgcc_s.so"), script).is_ok() {
            println!(
                "cargo::rustc-link-search=native={}",
                Path::new(&out).display()
            );
        }
    }
}

/// The archive of the compiler that links for this machine.
fn unwinder() -> Option<PathBuf> {
    let (host, target) = (std::env::var("HOST").ok()?, std::env::var("TARGET").ok()?);
    if host != target {
        return None;
    }
    let linker = std::env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let answer = Command::new(linker)
        .arg("-print-file-name=libgcc_eh.a")
        .output()
        .ok()?;
    let path = PathBuf::from(String::from_utf8(answer.stdout).ok()?.trim());
    // The bare name is the answer of one that has none; a blank would end the name in a script.
    let plain = path.to_str().is_some_and(|text| !text.contains(' '));
    (path.is_absolute() && path.is_file() && plain).then_some(path)
}
