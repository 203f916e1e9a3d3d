//! The program that plays the command in the tests for Windows: what it is told is its first argument.
#![cfg_attr(
    windows,
    expect(
        clippy::print_stdout,
        clippy::unwrap_used,
        clippy::zombie_processes,
        reason = "a program for tests: it ends as it is told, and where its assumption fails"
    )
)]

#[cfg(windows)]
mod sys;

#[cfg(windows)]
fn main() {
    use std::io::{Read as _, Write as _};
    use std::os::windows::ffi::OsStrExt as _;
    use std::os::windows::io::AsRawHandle as _;
    use std::os::windows::process::CommandExt as _;
    use std::process::Command;

    const BREAKAWAY: u32 = 0x0100_0000;

    let arguments: Vec<std::ffi::OsString> = std::env::args_os().skip(1).collect();
    let text = |index: usize| arguments.get(index).and_then(|text| text.to_str()).unwrap();
    let myself = || Command::new(std::env::current_exe().unwrap());
    let wait_for_ever = || -> ! {
        loop {
            std::thread::park();
        }
    };
    let said = |outcome: std::io::Result<()>| match outcome {
        Ok(()) => println!("ok"),
        Err(error) => println!("error {}", error.raw_os_error().unwrap()),
    };
    let mut out = std::io::stdout();
    match text(0) {
        // Every argument after this one: its length, then its units.
        "arguments" => {
            for argument in arguments.iter().skip(1) {
                let units: Vec<u16> = argument.encode_wide().collect();
                let length = u32::try_from(units.len()).unwrap();
                out.write_all(&length.to_le_bytes()).unwrap();
                for unit in units {
                    out.write_all(&unit.to_le_bytes()).unwrap();
                }
            }
        }
        // Every variable: its units, an equals sign, its units, and a zero.
        "environment" => {
            for (name, value) in std::env::vars_os() {
                let equals = [u16::from(b'=')];
                for unit in name
                    .encode_wide()
                    .chain(equals)
                    .chain(value.encode_wide())
                    .chain([0])
                {
                    out.write_all(&unit.to_le_bytes()).unwrap();
                }
            }
        }
        "copy" => {
            std::io::copy(&mut std::io::stdin(), &mut out).unwrap();
        }
        "count-input" => {
            let mut input = Vec::new();
            std::io::stdin().read_to_end(&mut input).unwrap();
            println!("{}", input.len());
        }
        "pattern" => {
            let length: usize = text(1).parse().unwrap();
            let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(length).collect();
            out.write_all(&bytes).unwrap();
        }
        "both" => {
            out.write_all(b"to output").unwrap();
            out.flush().unwrap();
            std::io::stderr().write_all(b"to errors").unwrap();
        }
        "exit" => std::process::exit(text(1).parse::<u32>().unwrap().cast_signed()),
        "abort" => std::process::abort(),
        "crash" => sys::crash(),
        "sleep" => wait_for_ever(),
        // A child and a grandchild that wait for ever; the output says who they are.
        "tree" => {
            let child = myself().arg("branch").spawn().unwrap();
            println!("{}", child.id());
            wait_for_ever();
        }
        "branch" => {
            let leaf = myself().arg("sleep").spawn().unwrap();
            println!("{}", leaf.id());
            wait_for_ever();
        }
        // Leaves a process behind.
        "orphan" => {
            let orphan = myself().arg("sleep").spawn().unwrap();
            println!("{}", orphan.id());
        }
        "breakaway" => said(
            myself()
                .args(["exit", "0"])
                .creation_flags(BREAKAWAY)
                .spawn()
                .map(drop),
        ),
        "directory" => print!("{}", std::env::current_dir().unwrap().display()),
        "desktop" => print!("{}", sys::desktop()),
        "privileges" => print!("{}", sys::privileges().join("\n")),
        "handle" => print!("{}", sys::is_handle(text(1).parse().unwrap())),
        "standard-handles" => {
            let all = [
                std::io::stdin().as_raw_handle(),
                std::io::stdout().as_raw_handle(),
                std::io::stderr().as_raw_handle(),
            ]
            .map(|handle| sys::is_handle(handle.addr()).to_string());
            print!("{}", all.join(" "));
        }
        "write" => said(std::fs::write(text(1), "written by the child")),
        "append" => said(
            std::fs::File::options()
                .append(true)
                .open(text(1))
                .and_then(|mut file| file.write_all(b"!")),
        ),
        "read" => said(std::fs::read(text(1)).map(drop)),
        "remove" => said(std::fs::remove_file(text(1))),
        "rename" => said(std::fs::rename(text(1), text(2))),
        "make-directory" => said(std::fs::create_dir(text(1))),
        "pipe" => said(std::io::pipe().and_then(|(mut reader, mut writer)| {
            writer.write_all(b"x")?;
            reader.read_exact(&mut [0])
        })),
        other => println!("no role {other}"),
    }
    out.flush().unwrap();
}

#[cfg(not(windows))]
fn main() {}
