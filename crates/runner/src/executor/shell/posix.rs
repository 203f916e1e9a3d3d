//! Scripts for bash, zsh, dash and the like.

use super::Script;

/// Reads the start-up file and becomes the command.
///
/// `exec` leaves no shell behind: the status, and a signal, are those of the command. A start-up file that is missing or
/// whose last test fails does not keep the command from running.
pub(super) fn script(script: &Script<'_>) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    if let Some(profile) = script.profile {
        text.extend_from_slice(b"[ -r ");
        quote(profile, &mut text);
        text.extend_from_slice(b" ] && . ");
        quote(profile, &mut text);
        text.push(b'\n');
    }
    if let Some(own) = script.own_script {
        // The status of the start-up file is not what the script sees in `$?`.
        if script.profile.is_some() {
            text.extend_from_slice(b":\n");
        }
        text.extend_from_slice(own);
        return Some(text);
    }
    // `exec` would read such a name as its own option.
    if script.words.first()?.starts_with(b"-") {
        return None;
    }
    text.extend_from_slice(b"exec");
    for word in script.words {
        text.push(b' ');
        quote(word, &mut text);
    }
    Some(text)
}

/// A word in single quotes, in which nothing is special but the quote itself.
pub(super) fn quote(word: &[u8], text: &mut Vec<u8>) {
    text.push(b'\'');
    for byte in word {
        match byte {
            b'\'' => text.extend_from_slice(br"'\''"),
            other => text.push(*other),
        }
    }
    text.push(b'\'');
}
