//! Names as they are shown: what would do something to a terminal, or end a line, is written out.

use std::ffi::OsStr;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;

/// A name as GNU tar shows it: control characters, and bytes that are no text, as C writes them in a string, and so the
/// backslash itself.
pub(super) fn quoted(name: impl AsRef<OsStr>) -> String {
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

/// Text with no control characters in it, such as a message in which there may be a name.
pub(super) fn without_controls(text: String) -> String {
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
    // Nothing can fail that is written to a string.
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
