//! What `why` says to people.

use insta::assert_snapshot;

use crate::looked::redacted;
use crate::support::House;

#[test]
fn answers() {
    let house = House::new();
    house.write(".ssh/id_ed25519", "secret\n");
    house.write(
        ".config/palisade/policy.toml",
        "version = 1\n[filesystem]\ndeny = [\"**/*.pem\"]\nread_only = [\"vendor\"]\n[network]\naccess = \"restricted\"\n",
    );
    house.write("project/vendor/lib.rs", "\n");
    house.write("elsewhere/file", "\n");
    std::os::unix::fs::symlink("../.ssh/id_ed25519", house.project().join("link")).unwrap();
    let rows = [
        &["~/.ssh/id_ed25519"][..],
        &["--access", "read", "link"],
        &["--access", "write", ".git/hooks/pre-commit"],
        &["--access", "delete", "."],
        &["--access", "write", ".vscode"],
        &["--access", "read", "key.pem"],
        &["--access", "write", "vendor/lib.rs"],
        &["--access", "write", "../elsewhere"],
        &[
            "--access",
            "write",
            "-w",
            "../elsewhere",
            "../elsewhere/file",
        ],
        &["--access", "execute", "/usr/bin/env"],
        &["--access", "read", "--mode", "open", "/etc/hosts"],
        &["example.org:443"],
        &["--net", "https://example.org/index.html"],
        &["--access", "listen", "localhost:3000"],
        &["localhost:3000"],
        &["--access", "read", "example.org:443"],
        &["--access", "nonsense", "."],
        &[],
    ];
    let text: Vec<String> = rows
        .iter()
        .map(|words| {
            let said = house.say(["why"].iter().chain(*words));
            format!(
                "$ palisade why {}\n{}",
                words.join(" "),
                redacted(&house, &said)
            )
        })
        .collect();
    assert_snapshot!(text.join("\n"));
}
