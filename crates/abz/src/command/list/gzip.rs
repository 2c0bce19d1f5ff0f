//! The columns that `gzip -lv` adds to the sizes.

use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::time::{SystemTime, UNIX_EPOCH};

use abz::Format;
use abz::gzip::Header;
use time::UtcDateTime;

use crate::command::input::Input;

/// The size of a trailer in bytes.
const TRAILER: usize = 8;

/// The number of bytes at the start that hold a header with a name.
const FIRST: usize = 512;

/// The headings of these columns.
pub(super) const HEAD: &str = "method  crc     date  time  ";

/// Returns the columns: the method, the CRC-32 at the end, and the stored time, or else that of the file (in UTC).
///
/// # Errors
///
/// If the file cannot be read.
pub(super) fn columns(input: &Input, format: Format, ends: Option<&Ends>) -> io::Result<String> {
    let (method, crc) = match (format == Format::Gzip, ends) {
        (true, Some(ends)) => ("defla", ends.crc()),
        (true, None) => ("defla", last_crc(input)?),
        (false, _) => ("compr", u32::MAX),
    };
    let time = match ends {
        // As in gzip.
        Some(_) if !input.metadata.is_file() => UNIX_EPOCH,
        Some(_) => input.metadata.modified()?,
        None => input.stored_time().map_or_else(|| input.metadata.modified(), Ok)?,
    };
    Ok(format!("{method:>5} {crc:08x} {} ", date(time)))
}

/// Returns the number of bytes that do not count in the ratio: those of the first header and of a trailer.
pub(super) fn overhead(input: &Input) -> u64 {
    input.header_len().map_or(0, |len| len as u64 + 8)
}

/// Returns the CRC-32 in the trailer of the last member.
pub(super) fn last_crc(input: &Input) -> io::Result<u32> {
    let mut trailer = [0; 8];
    let Some(at) = input.len().and_then(|len| len.checked_sub(8)) else { return Ok(u32::MAX) };
    input.file.read_exact_at(&mut trailer, at)?;
    let [a, b, c, d, ..] = trailer;
    Ok(u32::from_le_bytes([a, b, c, d]))
}

/// The first and last bytes of a file that is read as a stream.
#[derive(Debug)]
pub(super) struct Ends {
    first: Vec<u8>,
    last: [u8; TRAILER],
}

impl Ends {
    /// Returns the number of bytes that do not count in the ratio, as [`overhead`] does.
    pub(super) fn overhead(&self) -> u64 {
        let Ok(Some((_, len))) = Header::parse(&self.first) else { return 0 };
        (len + TRAILER) as u64
    }

    /// Returns the CRC-32 in the trailer.
    pub(super) fn crc(&self) -> u32 {
        let [a, b, c, d, ..] = self.last;
        u32::from_le_bytes([a, b, c, d])
    }
}

/// A reader that records the first and last bytes.
#[derive(Debug)]
pub(super) struct Noted<R> {
    reader: R,
    ends: Ends,
}

impl<R> Noted<R> {
    pub(super) fn new(reader: R) -> Self {
        Noted { reader, ends: Ends { first: Vec::new(), last: [0; TRAILER] } }
    }

    pub(super) fn ends(self) -> Ends {
        self.ends
    }
}

impl<R: Read> Read for Noted<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let len = self.reader.read(bytes)?;
        let Ends { first, last } = &mut self.ends;
        let missing = FIRST - first.len();
        first.extend_from_slice(&bytes[..len.min(missing)]);
        let kept = TRAILER.min(len);
        last.rotate_left(kept);
        last[TRAILER - kept..].copy_from_slice(&bytes[len - kept..len]);
        Ok(len)
    }
}

/// Returns the month, day, hour and minute.
fn date(time: SystemTime) -> String {
    let (_, day, minute) = day_and_time(time);
    format!("{day} {minute}")
}

/// Returns the year, the month with the day, and the hour with the minute (in UTC).
pub(super) fn day_and_time(time: SystemTime) -> (i32, String, String) {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let seconds = match time.duration_since(UNIX_EPOCH) {
        Ok(since) => since.as_secs().cast_signed(),
        Err(before) => -before.duration().as_secs().cast_signed(),
    };
    // A time of a year that the calendar does not have is shown as its first or last day.
    let bound = if seconds < 0 { UtcDateTime::MIN } else { UtcDateTime::MAX };
    let time = UtcDateTime::from_unix_timestamp(seconds).unwrap_or(bound);
    let month = MONTHS[usize::from(u8::from(time.month())) - 1];
    let clock = format!("{:02}:{:02}", time.hour(), time.minute());
    (time.year(), format!("{month}{:>3}", time.day()), clock)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "Jan  1 00:00"),
            (951_782_400, "Feb 29 00:00"),
            (951_868_799, "Feb 29 23:59"),
            (951_868_800, "Mar  1 00:00"),
            (1_700_000_000, "Nov 14 22:13"),
            (4_107_542_399, "Feb 28 23:59"),
            (4_107_542_400, "Mar  1 00:00"),
        ] {
            assert_eq!(date(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
        }
        assert_eq!(date(UNIX_EPOCH - Duration::from_secs(60)), "Dec 31 23:59");
        for (seconds, year) in [
            (0, 1970),
            (951_782_400, 2000),
            (1_704_067_199, 2023),
            (1_704_067_200, 2024),
            (4_107_542_400, 2100),
        ] {
            assert_eq!(day_and_time(UNIX_EPOCH + Duration::from_secs(seconds)).0, year);
        }
        assert_eq!(day_and_time(UNIX_EPOCH - Duration::from_secs(60)).0, 1969);
    }
}
