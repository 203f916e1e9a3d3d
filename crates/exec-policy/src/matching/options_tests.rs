//! Options in every spelling.

use super::*;

fn table() -> Table {
    let mut table = Table::default();
    table.add(Written::Read(Arc::new(OptionTable {
        value: ["-o", "--output", "-n"].map(str::to_owned).to_vec(),
        flag: [
            "-r",
            "-f",
            "--recursive",
            "--force",
            "--force-with-lease",
            "-<n>",
            "-run",
            "+*",
        ]
        .map(str::to_owned)
        .to_vec(),
        optional: ["--color", "-M"].map(str::to_owned).to_vec(),
    })));
    table
}

fn read(words: &[&str]) -> String {
    let table = table();
    let words: Vec<Arg<'_>> = words
        .iter()
        .map(|word| Arg::Known(word.as_bytes()))
        .collect();
    let mut text = Vec::new();
    scan(Some(&table), &words, |item| {
        let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        text.push(match item {
            Item::Option { name, value } => match value.and_then(Arg::known) {
                Some(value) => format!("{}={}", lossy(name), lossy(value)),
                None => lossy(name),
            },
            Item::Unknown(raw) => format!("?{}", lossy(raw)),
            Item::End => "--".to_owned(),
            Item::Operand(arg) => format!("({})", lossy(arg.known().unwrap_or(b"*"))),
        });
    });
    text.join(" ")
}

#[test]
fn every_spelling_is_read() {
    for (words, expected) in [
        (&["-rf", "x"][..], "-r -f (x)"),
        (&["-ofile"], "-o=file"),
        (&["-rofile"], "-r -o=file"),
        (&["-o", "file"], "-o=file"),
        (&["--output=file"], "--output=file"),
        (&["--outp", "file"], "--output=file"),
        (&["--recurs"], "--recursive"),
        (&["--forc"], "?--forc"),
        (&["--force"], "--force"),
        (&["x", "-r"], "(x) -r"),
        (&["--", "-r"], "-- (-r)"),
        (&["-20"], "-<n>"),
        (&["-2x"], "?2x"),
        (&["-run", "x"], "-run (x)"),
        (&["-rz"], "-r ?z"),
        (&["-M50", "-M"], "-M=50 -M"),
        (&["--color", "x"], "--color (x)"),
        (&["-", "+nightly"], "(-) +nightly"),
        (&["--unknown=1"], "?--unknown=1"),
        (&["-o", "-r", "x"], "-o=-r -r (x)"),
    ] {
        assert_eq!(read(words), expected, "{words:?}");
    }
}

#[test]
fn what_is_unknown_may_be_the_flag() {
    for (unknown, flag, expected) in [
        ("--forc", "--force", true),
        ("--force=x", "--force", true),
        ("--fo", "--force", true),
        ("--f", "--force", true),
        ("--forceful", "--force", false),
        ("-xf", "-f", true),
        ("xf", "-f", true),
        ("--f", "-f", false),
        ("-delete", "-delete", true),
    ] {
        assert_eq!(
            may_be(unknown.as_bytes(), flag.as_bytes()),
            expected,
            "{unknown} {flag}"
        );
    }
}
