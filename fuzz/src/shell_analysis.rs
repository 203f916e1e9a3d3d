//! Shell analysis: any bytes get an answer in bounded steps; what is plain is mentioned too; a plain command that is
//! written down again, alone and with every word quoted, is that command.

use palisade_shell_analysis::{
    Analysis, Limits, PlainCommand, Shell, Word, analyze_argv, analyze_script,
};

/// Reads the bytes as a script of each shell, and as arguments.
pub fn run(data: &[u8]) {
    let limits = Limits::default();
    for shell in [Shell::Bash, Shell::Sh, Shell::Zsh, Shell::PowerShell] {
        let analysis = analyze_script(data, shell, &limits);
        assert!(analysis.steps() <= 2 * limits.max_steps + 2 * limits.max_bytes as u64);
        if let Ok(plain) = &analysis.plain {
            assert!(!plain.commands.is_empty());
            assert!(analysis.mentions.commands.len() >= plain.commands.len());
            for command in &plain.commands {
                written_again(command, shell, &limits);
            }
        }
    }
    if let Ok(text) = std::str::from_utf8(data) {
        let argv: Vec<&str> = text.split('\n').collect();
        arguments(&argv, &analyze_argv(&argv, &limits));
        let _ = analyze_argv(&["bash", "-lc", text], &limits);
    }
}

fn written_again(command: &PlainCommand, shell: Shell, limits: &Limits) {
    if !shell.is_posix_like() {
        return;
    }
    let Some(words) = literals(command) else {
        return;
    };
    let printable = words
        .iter()
        .all(|word| word.iter().all(|byte| matches!(byte, b' '..=b'~')));
    if !printable || command.operands_unknown {
        return;
    }
    let quoted: Vec<Vec<u8>> = words.iter().map(|word| quote(word)).collect();
    let script = quoted.join(&b' ');
    if script.len() > limits.max_bytes {
        return;
    }
    let analysis = analyze_script(&script, shell, limits);
    let shown = script.escape_ascii();
    match &analysis.plain {
        Ok(plain) => {
            let [again] = plain.commands.as_slice() else {
                panic!("{shown} became {} commands", plain.commands.len());
            };
            assert_eq!(literals(again).as_ref(), Some(&words), "{shown}");
        }
        Err(opaque) => panic!("{shown} was plain and is not: {opaque}"),
    }
}

fn quote(word: &[u8]) -> Vec<u8> {
    let mut quoted = vec![b'\''];
    for byte in word {
        match byte {
            b'\'' => quoted.extend_from_slice(b"'\"'\"'"),
            byte => quoted.push(*byte),
        }
    }
    quoted.push(b'\'');
    quoted
}

fn literals(command: &PlainCommand) -> Option<Vec<Vec<u8>>> {
    let literal = |word: &Word| word.literal().map(<[u8]>::to_vec);
    command.words.iter().map(literal).collect()
}

/// Arguments that no wrapper takes apart are the command.
fn arguments(argv: &[&str], analysis: &Analysis) {
    let Ok(plain) = &analysis.plain else { return };
    assert!(!plain.commands.is_empty());
    if let [command] = plain.commands.as_slice()
        && command.via.is_empty()
    {
        let given: Vec<Vec<u8>> = argv.iter().map(|word| word.as_bytes().to_vec()).collect();
        assert_eq!(literals(command), Some(given));
    }
}
