//! A parser of command lines that works like `getopt_long`: clusters of short options, long options that may be
//! abbreviated, values in the same argument or in the next, files anywhere, and `--`.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use super::tool::{Flag, Means, Takes};

/// An option or a file of the command line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Word {
    Flag(Means, OsString),
    File(OsString),
}

/// Parses the arguments after the name of the program.
///
/// # Errors
///
/// An error message in the words of getopt.
pub(super) fn read(flags: &[&Flag], words: impl IntoIterator<Item = OsString>) -> Result<Vec<Word>, String> {
    let mut read = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let bytes = word.as_bytes();
        if bytes == b"--" {
            read.extend(words.by_ref().map(Word::File));
        } else if let Some(long) = bytes.strip_prefix(b"--") {
            read.push(read_long(flags, long, &mut words)?);
        } else if bytes.len() > 1 && bytes[0] == b'-' {
            read_cluster(flags, &bytes[1..], &mut words, &mut read)?;
        } else {
            read.push(Word::File(word));
        }
    }
    Ok(read)
}

fn read_long(
    flags: &[&Flag],
    word: &[u8],
    words: &mut impl Iterator<Item = OsString>,
) -> Result<Word, String> {
    let equals = word.iter().position(|&byte| byte == b'=');
    let (name, value) = match equals {
        Some(at) => (&word[..at], Some(owned(&word[at + 1..]))),
        None => (word, None),
    };
    let shown = String::from_utf8_lossy(name);
    let mut candidates = flags.iter().filter(|flag| flag.name.as_bytes().starts_with(name));
    let flag = match flags.iter().find(|flag| flag.name.as_bytes() == name) {
        Some(flag) => flag,
        None => {
            let first = candidates.next().filter(|_| !name.is_empty());
            let first = first.ok_or_else(|| format!("unrecognized option '--{shown}'"))?;
            if candidates.any(|other| other.means != first.means) {
                return Err(format!("option '--{shown}' is ambiguous"));
            }
            first
        }
    };
    let value = match (flag.takes, value) {
        (Takes::Nothing | Takes::Digit | Takes::Digits, Some(_)) => {
            return Err(format!("option '--{}' doesn't allow an argument", flag.name));
        }
        (Takes::Value, None) => match words.next() {
            Some(value) => value,
            None => return Err(format!("option '--{}' requires an argument", flag.name)),
        },
        (_, value) => value.unwrap_or_default(),
    };
    // The message of an option that is refused names it.
    let value = if let Means::Refused(_) = flag.means { format!("--{}", flag.name).into() } else { value };
    Ok(Word::Flag(flag.means, value))
}

fn read_cluster(
    flags: &[&Flag],
    mut letters: &[u8],
    words: &mut impl Iterator<Item = OsString>,
    read: &mut Vec<Word>,
) -> Result<(), String> {
    while let [letter, rest @ ..] = letters {
        let shown = char::from(*letter);
        let flag = flags.iter().find(|flag| flag.letters.as_bytes().contains(letter));
        let flag = flag.ok_or_else(|| format!("invalid option -- '{shown}'"))?;
        let value = match flag.takes {
            Takes::Nothing => &[][..],
            Takes::Digit => &letters[..1],
            Takes::Digits => {
                let len = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
                &letters[..1 + len]
            }
            Takes::Value | Takes::Attached => rest,
        };
        letters = match flag.takes {
            Takes::Nothing => rest,
            Takes::Digit | Takes::Digits => &letters[value.len()..],
            Takes::Value | Takes::Attached => &[],
        };
        let value = match value {
            [] if flag.takes == Takes::Value => {
                words.next().ok_or_else(|| format!("option requires an argument -- '{shown}'"))?
            }
            _ if matches!(flag.means, Means::Refused(_)) => format!("-{shown}").into(),
            value => owned(value),
        };
        read.push(Word::Flag(flag.means, value));
    }
    Ok(())
}

fn owned(bytes: &[u8]) -> OsString {
    OsString::from_vec(bytes.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLAGS: [Flag; 5] = [
        Flag::new("c", "stdout", Means::Stdout),
        Flag::new("d", "decompress", Means::Decompress),
        Flag::new("123456789", "", Means::Level).takes(Takes::Digits),
        Flag::new("S", "suffix", Means::Suffix).takes(Takes::Value),
        Flag::new("", "stdin", Means::Nothing),
    ];

    fn shown(line: &str) -> Result<String, String> {
        let words = read(&FLAGS.each_ref(), line.split_whitespace().map(OsString::from))?;
        let shown = words.into_iter().map(|word| match word {
            Word::Flag(means, value) if value.is_empty() => format!("{means:?}"),
            Word::Flag(means, value) => format!("{means:?}={}", value.display()),
            Word::File(file) => file.into_string().unwrap(),
        });
        Ok(shown.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn words_are_read_as_getopt_reads_them() {
        for (line, expected) in [
            ("x -cd y", "x Stdout Decompress y"),
            ("-19c - -1", "Level=19 Stdout - Level=1"),
            ("-S.x -S .y --suffix=.z --suf .w", "Suffix=.x Suffix=.y Suffix=.z Suffix=.w"),
            ("-cS.x", "Stdout Suffix=.x"),
            ("--stdo --d -- -c --", "Stdout Decompress -c --"),
        ] {
            assert_eq!(shown(line).as_deref(), Ok(expected), "{line}");
        }
        for (line, expected) in [
            ("-x", "invalid option -- 'x'"),
            ("-cS", "option requires an argument -- 'S'"),
            ("--no", "unrecognized option '--no'"),
            ("--std", "option '--std' is ambiguous"),
            ("--stdout=x", "option '--stdout' doesn't allow an argument"),
            ("--suffix", "option '--suffix' requires an argument"),
        ] {
            assert_eq!(shown(line).unwrap_err(), expected, "{line}");
        }
    }
}
