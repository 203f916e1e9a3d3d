//! Shell analysis: any bytes get an answer in bounded steps, and what is plain is mentioned too.
#![no_main]

use libfuzzer_sys::fuzz_target;
use palisade_shell_analysis::{Limits, Shell, analyze_argv, analyze_script};

fuzz_target!(|data: &[u8]| {
    let limits = Limits::default();
    for shell in [Shell::Bash, Shell::Sh, Shell::Zsh, Shell::PowerShell] {
        let analysis = analyze_script(data, shell, &limits);
        assert!(analysis.steps() <= 2 * limits.max_steps + 2 * limits.max_bytes as u64);
        if let Ok(plain) = &analysis.plain {
            assert!(!plain.commands.is_empty());
            assert!(analysis.mentions.commands.len() >= plain.commands.len());
        }
    }
    if let Ok(text) = std::str::from_utf8(data) {
        let argv: Vec<&str> = text.split('\n').collect();
        let _ = analyze_argv(&argv, &limits);
        let _ = analyze_argv(&["bash", "-lc", text], &limits);
    }
});
