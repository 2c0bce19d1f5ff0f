//! Escaping of names in messages: control characters, line ends and invalid UTF-8.

use std::ffi::OsStr;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;

/// Escapes a name as GNU tar does: control characters, invalid UTF-8 and backslashes are written as in C strings.
pub(crate) fn quoted(name: impl AsRef<OsStr>) -> String {
    let mut shown = String::new();
    for chunk in name.as_ref().as_bytes().utf8_chunks() {
        for letter in chunk.valid().chars() {
            match letter {
                '\\' => shown.push_str("\\\\"),
                _ => push(&mut shown, letter),
            }
        }
        chunk.invalid().iter().for_each(|byte| push_byte(&mut shown, *byte));
    }
    shown
}

/// Escapes the control characters in a message, which may contain names.
pub(crate) fn without_controls(text: String) -> String {
    if !text.chars().any(char::is_control) {
        return text;
    }
    let mut shown = String::with_capacity(text.len());
    text.chars().for_each(|letter| push(&mut shown, letter));
    shown
}

fn push(shown: &mut String, letter: char) {
    let short = match letter {
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\u{b}' => 'v',
        '\u{c}' => 'f',
        '\r' => 'r',
        _ if letter.is_control() => {
            letter.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| push_byte(shown, byte));
            return;
        }
        _ => return shown.push(letter),
    };
    shown.extend(['\\', short]);
}

fn push_byte(shown: &mut String, byte: u8) {
    // Writing to a string cannot fail.
    let _ = write!(shown, "\\{byte:03o}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shown_as_gnu_tar_shows_them() {
        for (name, expected) in [
            (&b"plain name"[..], "plain name"),
            (b"a\nb\tc\x1b[31m", "a\\nb\\tc\\033[31m"),
            (b"back\\slash", "back\\\\slash"),
            (b"\x7f\x01\xff\xc2\x80", "\\177\\001\\377\\302\\200"),
            ("Fl\u{fc}sse".as_bytes(), "Fl\u{fc}sse"),
        ] {
            assert_eq!(quoted(OsStr::from_bytes(name)), expected);
        }
        assert_eq!(without_controls("a\\b\r\n".to_owned()), "a\\b\\r\\n");
    }
}
