//! Extended headers of POSIX archives (IEEE Std 1003.1, `pax`, *Extended Header*): records that extend or replace
//! fields of a header. GNU tar also stores the maps of sparse files there (its manual, *Storing Sparse Files*).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The values from one extended header, or from several.
#[derive(Clone, Debug, Default)]
pub(super) struct Records {
    pub(super) name: Option<Vec<u8>>,
    pub(super) link: Option<Vec<u8>>,
    pub(super) size: Option<u64>,
    pub(super) modified: Option<SystemTime>,
    pub(super) sparse: Option<Sparse>,
}

/// The values for a sparse file.
#[derive(Clone, Debug, Default)]
pub(super) struct Sparse {
    /// The major and minor version of the form; 0.0 and 0.1 may have none.
    pub(super) version: (Option<u64>, Option<u64>),
    /// The name of the file, if the header has a placeholder.
    pub(super) name: Option<Vec<u8>>,
    /// The size of the file including its holes, in bytes.
    pub(super) size: Option<u64>,
    /// The number of pieces.
    pub(super) count: Option<u64>,
    /// The offset and length of each piece, alternating. Version 1.0 stores them before the contents instead.
    pub(super) map: Vec<u64>,
}

impl Records {
    /// Adds the records of an extended header. Later records replace earlier ones.
    ///
    /// # Errors
    ///
    /// A description of the first record that is malformed, or that abz does not understand.
    pub(super) fn read(&mut self, mut bytes: &[u8]) -> Result<(), String> {
        while !bytes.is_empty() {
            let malformed = || "has a malformed extended header".to_owned();
            let space = bytes.iter().take(20).position(|&byte| byte == b' ').ok_or_else(malformed)?;
            let len = number(&bytes[..space]).and_then(|len| usize::try_from(len).ok());
            let record = len.and_then(|len| bytes.get(space + 1..len)).ok_or_else(malformed)?;
            bytes = &bytes[space + 1 + record.len()..];
            let record = record.strip_suffix(b"\n").ok_or_else(malformed)?;
            let equals = record.iter().position(|&byte| byte == b'=').ok_or_else(malformed)?;
            self.set(&record[..equals], &record[equals + 1..])?;
        }
        Ok(())
    }

    fn set(&mut self, key: &[u8], value: &[u8]) -> Result<(), String> {
        let wrong = || {
            let (key, value) = (String::from_utf8_lossy(key), String::from_utf8_lossy(value));
            format!("has an extended header with {key}={value}, which abz does not support")
        };
        // An empty value removes an earlier one.
        let text = || Some(value.to_vec()).filter(|value| !value.is_empty());
        let count = || number(value).ok_or_else(wrong);
        match key {
            b"path" => self.name = text(),
            b"linkpath" => self.link = text(),
            b"size" if value.is_empty() => self.size = None,
            b"size" => self.size = Some(count()?),
            b"mtime" if value.is_empty() => self.modified = None,
            b"mtime" => self.modified = Some(time(value).ok_or_else(wrong)?),
            // Sparse files of star, and names in a character set other than the archive's.
            b"SCHILY.realsize" | b"SCHILY.offset" | b"SCHILY.filetype" => return Err(wrong()),
            b"hdrcharset" if !matches!(value, b"" | b"BINARY" | b"ISO-IR 10646 2000 UTF-8") => {
                return Err(wrong());
            }
            _ => {
                let Some(key) = key.strip_prefix(b"GNU.sparse.") else { return Ok(()) };
                let sparse = self.sparse.get_or_insert_default();
                match key {
                    b"major" => sparse.version.0 = Some(count()?),
                    b"minor" => sparse.version.1 = Some(count()?),
                    b"name" => sparse.name = text(),
                    b"size" | b"realsize" => sparse.size = Some(count()?),
                    b"numblocks" => sparse.count = Some(count()?),
                    // `offset` and `numbytes` alternate.
                    b"offset" if sparse.map.len().is_multiple_of(2) => sparse.map.push(count()?),
                    b"numbytes" if !sparse.map.len().is_multiple_of(2) => sparse.map.push(count()?),
                    b"map" if value.is_empty() => {}
                    b"map" => {
                        let numbers = value.split(|&byte| byte == b',').map(number);
                        sparse.map = numbers
                            .collect::<Option<_>>()
                            .ok_or_else(|| "has a map of a sparse file with an invalid number".to_owned())?;
                    }
                    _ => return Err(wrong()),
                }
            }
        }
        Ok(())
    }
}

/// Parses an unsigned decimal number.
pub(super) fn number(digits: &[u8]) -> Option<u64> {
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Parses seconds since 1970 with a fraction, of which nine digits are used.
fn time(text: &[u8]) -> Option<SystemTime> {
    let (is_negative, text) = match text.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let mut parts = text.splitn(2, |&byte| byte == b'.');
    let seconds = number(parts.next()?)?;
    let fraction = parts.next().unwrap_or_default();
    if !fraction.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let nanoseconds =
        (0..9).fold(0, |sum, at| sum * 10 + u32::from(fraction.get(at).copied().unwrap_or(b'0') - b'0'));
    let distance = Duration::new(seconds, nanoseconds);
    if is_negative { UNIX_EPOCH.checked_sub(distance) } else { UNIX_EPOCH.checked_add(distance) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(records: &[&str]) -> Result<Records, String> {
        let mut bytes = Vec::new();
        for record in records {
            // The length field counts its own digits.
            let rest = record.len() + 2;
            let len = (1..).map(|digits| rest + digits).find(|len| len.to_string().len() + rest == *len);
            bytes.extend(format!("{} {record}\n", len.unwrap()).bytes());
        }
        let mut read = Records::default();
        read.read(&bytes).map(|()| read)
    }

    #[test]
    fn the_later_record_counts_and_an_empty_one_takes_back() {
        let records = read(&["path=a", "path=b\nc=d", "size=7", "linkpath=x", "linkpath=", "comment=\u{1}"]);
        let records = records.unwrap();
        assert_eq!(records.name.as_deref(), Some(&b"b\nc=d"[..]));
        assert_eq!((records.size, records.link), (Some(7), None));
    }

    #[test]
    fn times_have_fractions_and_a_sign() {
        let of = |text: &str| read(&[&format!("mtime={text}")]).ok()?.modified;
        let (after, before) =
            (|s, n| Some(UNIX_EPOCH + Duration::new(s, n)), |s, n| Some(UNIX_EPOCH - Duration::new(s, n)));
        assert_eq!(of("12"), after(12, 0));
        assert_eq!(of("12.5"), after(12, 500_000_000));
        assert_eq!(of("12.0000000019"), after(12, 1));
        assert_eq!(of("-1.25"), before(1, 250_000_000));
        for wrong in ["x", "1.x", "--1", "99999999999999999999"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_breaks_the_rules_or_is_not_known_of_sparse_files_is_an_error() {
        for wrong in [
            "size=x",
            "GNU.sparse.unheard=1",
            "GNU.sparse.major=one",
            "GNU.sparse.numbytes=1",
            "GNU.sparse.map=1,,2",
            "SCHILY.realsize=3",
            "hdrcharset=KOI8",
        ] {
            assert!(read(&[wrong]).is_err(), "{wrong}");
        }
        for wrong in [&b"x"[..], b"5 a=b", b"4 a=b\n", b"99 a=b\n", b"3 \n", b"0 a=b\n", b"6 a=bc"] {
            assert!(Records::default().read(wrong).is_err(), "{wrong:?}");
        }
    }
}
