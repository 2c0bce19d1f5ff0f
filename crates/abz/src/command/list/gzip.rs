//! What `gzip -lv` tells of a file beside its sizes.

use std::io;
use std::os::unix::fs::FileExt;
use std::time::{SystemTime, UNIX_EPOCH};

use abz::Format;

use super::super::input::Input;

/// The heads of these columns.
pub(super) const HEAD: &str = "method  crc     date  time  ";

/// The columns: how the file was compressed, the CRC-32 at its end, and the time that is stored in it, or else its own (in UTC).
///
/// # Errors
///
/// If the file cannot be read.
pub(super) fn columns(input: &Input, format: Format) -> io::Result<String> {
    let (method, crc) = match format == Format::GZIP {
        true => ("defla", last_crc(input)?),
        false => ("compr", u32::MAX),
    };
    let time = input.stored_time().map_or_else(|| input.metadata.modified(), Ok)?;
    Ok(format!("{method:>5} {crc:08x} {} ", date(time)))
}

/// How many bytes of a file do not count in its ratio: those of the first header and of a trailer.
pub(super) fn overhead(input: &Input) -> u64 {
    input.header_len().map_or(0, |len| len as u64 + 8)
}

/// The CRC-32 in the trailer of the last member.
fn last_crc(input: &Input) -> io::Result<u32> {
    let mut trailer = [0; 8];
    let Some(at) = input.len().and_then(|len| len.checked_sub(8)) else { return Ok(u32::MAX) };
    input.file.read_exact_at(&mut trailer, at)?;
    let [a, b, c, d, ..] = trailer;
    Ok(u32::from_le_bytes([a, b, c, d]))
}

/// Month, day, hour and minute.
fn date(time: SystemTime) -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let seconds = match time.duration_since(UNIX_EPOCH) {
        Ok(since) => since.as_secs().cast_signed(),
        Err(before) => -before.duration().as_secs().cast_signed(),
    };
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Days of years that begin in March, so that the leap day is the last one (Hinnant, "chrono-compatible low-level date
    // algorithms", civil_from_days).
    let day = (days + 719_468).rem_euclid(146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let name = MONTHS[((month + 2) % 12) as usize];
    format!("{name}{day:>3} {:02}:{:02}", second / 3600, second / 60 % 60)
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
    }
}
