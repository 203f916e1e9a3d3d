//! After a denial: what, by which clause, the line that reruns, the lines that keep it.

use super::{below, plain, typed};
use crate::support::House;

const AGAIN: &str = "run it again";
const KEEP: &str = "keep it so";

#[test]
fn the_line_after_a_denied_write_runs_and_the_lines_to_keep_it_keep_it() {
    let house = House::new();
    house.write("shared/there", "");
    let command = ["run", "--", "touch", "../shared/it's made"];
    let said = house.say(command);
    assert_eq!(said.code, 1, "{said:?}");
    insta::assert_snapshot!(plain(&house, &said.err));
    let again = typed(&house, &below(&said, AGAIN));
    assert_eq!(again.code, 0, "{again:?}");
    let made = house.home().join("shared/it's made");
    assert!(made.exists());
    std::fs::remove_file(&made).unwrap();

    let kept = format!("version = 1\n{}\n", below(&said, KEEP));
    house.write(".config/palisade/policy.toml", &kept);
    let said = house.say(command);
    assert_eq!(said.code, 0, "{kept}: {said:?}");
    assert!(made.exists());
}

#[test]
fn flags_that_were_typed_stay_in_the_line() {
    let house = House::new();
    house.write("shared/there", "");
    let said = house.say([
        "--color",
        "never",
        "run",
        "--env",
        "A=b c",
        "-c",
        "echo \"$A\" > ../shared/x",
    ]);
    assert_ne!(said.code, 0);
    let line = below(&said, AGAIN);
    assert!(line.contains("--color never run -w"), "{line}");
    let again = typed(&house, &line);
    assert_eq!(again.code, 0, "{again:?}");
    let made = house.home().join("shared/x");
    assert_eq!(std::fs::read_to_string(made).unwrap(), "b c\n");
}

#[test]
fn a_secret_is_refused_by_its_rule_and_the_clause_is_named() {
    let house = House::new();
    house.write(".ssh/id_ed25519", "secret\n");
    let key = house.home().join(".ssh/id_ed25519");
    let said = house.say([
        "run".as_ref(),
        "--".as_ref(),
        "cat".as_ref(),
        key.as_os_str(),
    ]);
    assert_eq!((said.code, said.out.as_str()), (126, ""), "{said:?}");
    insta::assert_snapshot!(plain(&house, &said.err));
}

#[test]
fn why_says_the_same_about_a_secret() {
    let house = House::new();
    house.write(".ssh/id_ed25519", "secret\n");
    let key = house.home().join(".ssh/id_ed25519");
    let said = house.say([
        "why".as_ref(),
        "--access".as_ref(),
        "read".as_ref(),
        key.as_os_str(),
    ]);
    assert_eq!(said.code, 1, "{said:?}");
    let said = plain(&house, &said.out);
    assert!(said.contains("/home/dev/.ssh is a secret"), "{said}");
}

#[test]
fn a_secret_that_no_rule_knows_is_denied_by_the_sandbox_and_the_lines_open_it() {
    let house = House::new();
    house.write(".netrc", "hidden words\n");
    let script = "$f = qq($ENV{HOME}/.net) . q(rc); open(F, $f) or die qq($f: $!\\n); print <F>";
    let command = ["run", "--", "perl", "-e", script];
    let said = house.say(command);
    if said.code == 127 {
        eprintln!("skipped: there is no perl");
        return;
    }
    assert_eq!(said.out, "", "{said:?}");
    insta::assert_snapshot!(plain(&house, &said.err));
    let again = typed(&house, &below(&said, AGAIN));
    assert_eq!(
        (again.code, again.out.as_str()),
        (0, "hidden words\n"),
        "{again:?}"
    );
    let kept = format!("version = 1\n{}\n", below(&said, KEEP));
    house.write(".config/palisade/policy.toml", &kept);
    let said = house.say(command);
    assert_eq!(
        (said.code, said.out.as_str()),
        (0, "hidden words\n"),
        "{kept}: {said:?}"
    );
}

#[test]
fn a_denied_commit_names_git_and_the_line_commits() {
    let house = House::new();
    let said = house.say([
        "run",
        "--",
        "git",
        "-c",
        "user.name=T",
        "-c",
        "user.email=t@example.org",
        "commit",
        "--quiet",
        "--allow-empty",
        "-m",
        "It's done",
    ]);
    assert_eq!(said.code, 128, "{said:?}");
    insta::assert_snapshot!(plain(&house, &said.err));
    let again = typed(&house, &below(&said, AGAIN));
    assert_eq!(again.code, 0, "{again:?}");
    assert_eq!(house.git(["log", "--format=%s"]), "It's done\n");
}

#[test]
fn a_denied_host_is_named_and_the_line_opens_it_alone() {
    let house = House::new();
    let script = "import sys; sys.exit('urlopen error: Temporary failure in name resolution: https://host.invalid/x')";
    let said = house.say(["run", "--", "python3", "-c", script]);
    if said.code == 127 {
        eprintln!("skipped: there is no python3");
        return;
    }
    let line = below(&said, AGAIN);
    assert!(
        line.contains("run --net=host.invalid:443 -- python3"),
        "{line}"
    );
    assert!(said.err.contains("the network is off"), "{said:?}");
    assert_eq!(
        below(&said, KEEP),
        "[network]\nallow = [\"host.invalid:443\"]"
    );
}

#[test]
fn what_a_command_writes_cannot_draw_on_the_screen() {
    let house = House::new();
    let script =
        "printf \"touch: cannot touch '/etc/\\033[2Jx': Read-only file system\\n\" >&2; exit 1";
    let said = house.say(["run", "-c", script]);
    let ours: Vec<&str> = said
        .err
        .lines()
        .skip_while(|line| !line.starts_with("palisade:"))
        .collect();
    assert!(!ours.is_empty(), "{said:?}");
    assert!(!ours.join("\n").contains('\u{1b}'), "{said:?}");
}

#[test]
fn quiet_says_what_was_blocked_and_no_more() {
    let house = House::new();
    let said = house.say(["-q", "run", "--", "touch", "/etc/x"]);
    let ours: Vec<&str> = said
        .err
        .lines()
        .filter(|line| !line.starts_with("touch:"))
        .collect();
    assert_eq!(
        ours,
        ["palisade: blocked: create /etc/x: no writable root holds it"]
    );
}

#[test]
fn time_that_is_up_says_so_and_how_to_get_more() {
    let house = House::new();
    let said = house.say(["run", "--timeout", "1s", "--", "sleep", "600"]);
    assert_eq!(said.code, 124, "{said:?}");
    insta::assert_snapshot!(plain(&house, &said.err));
}

/// What `why` says keeps something open, line by line.
fn always(house: &House, arguments: &[&str]) -> String {
    let said = house.say(["why"].iter().chain(arguments));
    let mut lines = said
        .out
        .lines()
        .skip_while(|line| !line.starts_with("  always"));
    assert!(lines.next().is_some(), "{said:?}");
    let lines: Vec<&str> = lines
        .take_while(|line| line.starts_with("          "))
        .map(str::trim_start)
        .collect();
    lines.join("\n")
}

#[test]
fn why_says_the_same_lines_keep_it_as_run_does() {
    let house = House::new();
    house.write(".netrc", "hidden words\n");
    house.write("shared/there", "");
    house.write("project/vendor/lib.rs", "\n");
    let secret = house.home().join(".netrc");
    let shared = house.home().join("shared/there");
    let vendored = house.project().join("vendor/lib.rs");
    for (path, access, settings, command) in [
        (&secret, "read", "", "cat"),
        (&shared, "write", "", "touch"),
        (
            &vendored,
            "write",
            "[filesystem]\nread_only = [\"vendor\"]\n",
            "touch",
        ),
        (&shared, "write", "preset = \"read-only\"\n", "touch"),
    ] {
        house.write(
            ".config/palisade/policy.toml",
            &format!("version = 1\n{settings}"),
        );
        // In a file, because rules know the names of secrets.
        let script = house.project().join("try.sh");
        std::fs::write(&script, format!("{command} {}\n", path.display())).unwrap();
        let ran = house.say(["run", "--", "sh", "try.sh"]);
        assert_ne!(ran.code, 0, "{ran:?}");
        let kept = below(&ran, KEEP);
        let asked = always(&house, &["--access", access, path.to_str().unwrap()]);
        let any = kept
            .replace("prefix = [\"sh\", \"try.sh\"]", "prefix = [\"CMD\"]")
            .replace("id = \"sh-may\"", "id = \"CMD-may\"");
        assert_eq!(any, asked, "{path:?} {settings}: {ran:?}");
        // And they really keep it.
        let text = format!("{settings}{kept}\n");
        house.write(
            ".config/palisade/policy.toml",
            &format!("version = 1\n{text}"),
        );
        let again = house.say(["run", "--", "sh", "try.sh"]);
        assert_eq!(again.code, 0, "{text}: {again:?}");
    }
}

#[test]
fn what_is_not_there_in_the_home_directory_is_granted_once_it_is() {
    let house = House::new();
    let new = house.home().join("new");
    let command = ["run", "--", "touch", "../new"];
    let said = house.say(command);
    assert!(
        said.err
            .contains("before it exists; see why:\n    palisade why --last\n"),
        "{said:?}"
    );
    let why = house.say(["why", "--last"]);
    assert!(
        why.out.contains("once it does, it can be granted"),
        "{why:?}"
    );
    // Which is true.
    std::fs::write(&new, "").unwrap();
    let said = house.say(command);
    let again = typed(&house, &below(&said, AGAIN));
    assert_eq!(again.code, 0, "{said:?} {again:?}");
}
