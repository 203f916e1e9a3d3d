//! What `why` says a command could do is what a real command can do.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

use crate::support::House;

/// A house with something of every kind in it.
fn house() -> House {
    let house = House::new();
    for (file, text) in [
        (".ssh/id_ed25519", "secret\n"),
        (".netrc", "secret\n"),
        (".aws/credentials", "secret\n"),
        ("notes", "mine\n"),
        ("elsewhere/file", "mine\n"),
        ("project/src/main.rs", "fn main() {}\n"),
        ("project/.claude/settings.json", "{}\n"),
        ("project/closed", "mine\n"),
        (
            ".config/palisade/policy.toml",
            "version = 1\n[filesystem]\ndeny = [\"**/*.pem\"]\nread_only = [\"vendor\"]\n",
        ),
        ("project/key.pem", "secret\n"),
        ("project/vendor/lib.rs", "\n"),
    ] {
        house.write(file, text);
    }
    let closed = house.project().join("closed");
    fs::set_permissions(closed, fs::Permissions::from_mode(0o000)).unwrap();
    let link = |target: &str, name: &str| symlink(target, house.project().join(name)).unwrap();
    link("../.ssh/id_ed25519", "to-secret");
    link("../notes", "to-notes");
    link("src/main.rs", "to-source");
    symlink("/etc/hosts", house.home().join(".ssh/hosts")).unwrap();
    house
}

/// Everything that is asked about, from the project.
fn paths(house: &House) -> Vec<PathBuf> {
    let home = house.home();
    let mut paths: Vec<PathBuf> = [
        "src/main.rs",
        "src",
        "missing",
        ".git/config",
        ".git/hooks",
        ".git/hooks/pre-commit",
        ".claude/settings.json",
        ".vscode",
        "key.pem",
        "vendor/lib.rs",
        "closed",
        "to-secret",
        "to-notes",
        "to-source",
        "/etc/hosts",
        "/etc/shadow",
        "/etc/palisade-was-here",
        "/usr/bin/env",
    ]
    .iter()
    .map(PathBuf::from)
    .collect();
    for below in [
        ".ssh",
        ".ssh/id_ed25519",
        ".ssh/hosts",
        ".netrc",
        ".aws/credentials",
        "notes",
        "elsewhere/file",
        "elsewhere/new",
        ".config/palisade/policy.toml",
    ] {
        paths.push(home.join(below));
    }
    paths
}

/// Yes or no, by `why`.
fn said(house: &House, flags: &[&str], access: &str, path: &PathBuf) -> bool {
    let said = house
        .palisade()
        .args(["why", "--quiet"])
        .args(flags)
        .args(["--access", access])
        .arg(path)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    match said.status.code() {
        Some(0) if text.starts_with("yes: ") => true,
        Some(1) if text.starts_with("no: ") => false,
        other => panic!("{other:?}: {path:?}: {said:?}"),
    }
}

/// Yes or no, by a real command in the sandbox, for each path. What is not there cannot be read; making it tells.
fn tried(house: &House, flags: &[&str], access: &str, paths: &[PathBuf]) -> Vec<bool> {
    let attempt = match access {
        "read" => r#"if [ -d "$1" ]; then ls "$1"; else cat "$1"; fi"#,
        // Appending nothing changes nothing; what was made goes away again.
        _ => {
            r#"if [ -d "$1" ]; then touch "$1/.try" && rm "$1/.try";
               elif [ -e "$1" ]; then : >> "$1"; else : > "$1" && rm "$1"; fi"#
        }
    };
    let script = format!(
        r#"try() {{ ( {attempt} ) >/dev/null 2>&1; }}
           for path; do if try "$path"; then echo yes; else echo no; fi; done"#
    );
    let output = house
        .palisade()
        .args(["run", "--quiet"])
        .args(flags)
        .args(["--", "sh", "-c", &script, "sh"])
        .args(paths)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let answers: Vec<bool> = text.lines().map(|line| line == "yes").collect();
    assert_eq!(answers.len(), paths.len(), "{output:?}");
    answers
}

fn compare(house: &House, flags: &[&str], access: &str) {
    let mut paths = paths(house);
    if access == "read" {
        // Nothing says more about what is not there.
        paths.retain(|path| house.project().join(path).exists());
    }
    let tried = tried(house, flags, access, &paths);
    let (mut yes, mut no) = (0, 0);
    for (path, works) in paths.iter().zip(tried) {
        assert_eq!(
            said(house, flags, access, path),
            works,
            "{access} {path:?} {flags:?}"
        );
        match works {
            true => yes += 1,
            false => no += 1,
        }
    }
    assert!(yes >= 3 && no >= 3, "the table has both: {yes} and {no}");
}

#[test]
fn reads_agree_with_a_real_command() {
    compare(&house(), &[], "read");
}

#[test]
fn writes_agree_with_a_real_command() {
    compare(&house(), &[], "write");
}

#[test]
fn flags_count() {
    let house = house();
    let key = house.home().join(".ssh/id_ed25519");
    let grant = format!("read:{}", key.to_str().unwrap());
    let flags = [
        "--grant",
        &grant,
        "-w",
        "../elsewhere",
        "--deny-read",
        "src",
    ];
    compare(&house, &flags, "read");
    compare(&house, &flags, "write");
}

#[test]
fn a_private_tmp_takes_writes_and_hides_what_is_there() {
    let house = House::new();
    let file = tempfile::NamedTempFile::new_in("/tmp").unwrap();
    let path = vec![
        file.path().to_owned(),
        PathBuf::from("/tmp/palisade-why-new"),
    ];
    assert_eq!(tried(&house, &[], "write", &path), [true, true]);
    assert!(said(&house, &[], "write", &path[0]) && said(&house, &[], "write", &path[1]));
    assert_eq!(tried(&house, &[], "read", &path[..1]), [false]);
    assert!(!said(&house, &[], "read", &path[0]));
}

#[test]
fn the_loopback_of_this_machine_is_not_the_sessions() {
    let house = House::new();
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = server.local_addr().unwrap();
    // In a file, because the rules know what such a device is.
    let reach = format!("exec 3<>/dev/tcp/127.0.0.1/{}\n", at.port());
    house.write("project/reach", &reach);
    for (flags, open) in [
        (&[][..], false),
        (&["--grant", "host-loopback"], false),
        (&["--net"], true),
    ] {
        let why = house.say(
            ["why"]
                .iter()
                .chain(flags)
                .map(ToString::to_string)
                .chain([at.to_string()]),
        );
        let script = ["--", "bash", "./reach"];
        let words = ["run", "--quiet"].iter().chain(flags).chain(&script);
        let ran = house.say(words);
        assert_eq!(
            (why.code == 0, ran.code == 0),
            (open, open),
            "{why:?} {ran:?}"
        );
        // No grant is silently without effect.
        let refused = "--grant host-loopback: a sandbox on Linux has a loopback of its own";
        assert_eq!(
            ran.err.contains(refused),
            cfg!(target_os = "linux") && flags.contains(&"host-loopback"),
            "{ran:?}"
        );
    }
}

#[test]
fn a_socket_of_the_host_is_closed_until_it_is_named() {
    let house = House::new();
    let path = house.home().join("server.sock");
    let _server = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let name = path.to_str().unwrap();
    let grant = format!("unix-socket:{name}");
    let said = house.say(["why", name]);
    assert!(
        said.code == 1 && said.out.contains(&format!("--grant {grant}")),
        "{said:?}"
    );
    let said = house.say(["why", "--grant", &grant, name]);
    assert!(
        said.code == 0 && said.out.starts_with("yes: connect"),
        "{said:?}"
    );
}

#[test]
fn the_line_that_is_offered_works() {
    let house = house();
    let said = house.say(["why", "--access", "read", "key.pem"]);
    let line = said
        .out
        .lines()
        .find(|line| line.trim_start().starts_with("once "))
        .unwrap();
    let line = line.trim_start().trim_start_matches("once").trim();
    let words: Vec<&str> = line.split(' ').collect();
    let (flags, _) = words.split_at(words.iter().position(|word| *word == "--").unwrap());
    let ran = house.say(flags[1..].iter().copied().chain(["--", "cat", "key.pem"]));
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (0, "secret\n"),
        "{line}: {ran:?}"
    );
}
