//! Scripts for fish.

use super::Script;

/// Reads the start-up file and becomes the command.
pub(super) fn script(script: &Script<'_>) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    if let Some(profile) = script.profile {
        text.extend_from_slice(b"test -r ");
        quote(profile, &mut text);
        text.extend_from_slice(b"; and source ");
        quote(profile, &mut text);
        text.push(b'\n');
    }
    if let Some(own) = script.own_script {
        if script.profile.is_some() {
            text.extend_from_slice(b"true\n");
        }
        text.extend_from_slice(own);
        return Some(text);
    }
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

/// A word in single quotes, in which fish knows two escapes: of the quote and of the backslash.
fn quote(word: &[u8], text: &mut Vec<u8>) {
    text.push(b'\'');
    for byte in word {
        if matches!(byte, b'\'' | b'\\') {
            text.push(b'\\');
        }
        text.push(*byte);
    }
    text.push(b'\'');
}
