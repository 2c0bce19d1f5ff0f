//! Writing of sparse files: pages of zeros become holes, which take no disk space.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::ops::Range;

/// The size of a page in bytes, the unit of holes.
const PAGE: usize = 4096;

static ZEROS: [u8; PAGE] = [0; PAGE];

/// The position in a file that is written with holes.
#[derive(Debug, Default)]
pub(crate) struct Holes {
    at: u64,
    /// The number of zeros before `at` that have been skipped but are not yet a hole in the file.
    pending: u64,
}

impl From<u64> for Holes {
    /// Begins at this offset.
    fn from(at: u64) -> Self {
        Holes { at, pending: 0 }
    }
}

impl Holes {
    /// Writes some of `bytes`, or skips them if they are zeros. Returns as [`Write::write`] does.
    pub(crate) fn write(&mut self, mut file: &File, bytes: &[u8]) -> io::Result<usize> {
        let zeros = self.count_pages(bytes, |page| page == ZEROS);
        if zeros > 0 {
            self.at += zeros as u64;
            self.pending += zeros as u64;
            return Ok(zeros);
        }
        // Write up to a page boundary, and from there all pages that are not zeros.
        let head = (PAGE - self.at as usize % PAGE) % PAGE;
        let head = head.min(bytes.len());
        let after = Holes { at: self.at + head as u64, pending: 0 };
        let len = head + after.count_pages(&bytes[head..], |page| page != ZEROS);
        let len = if bytes.len() - len < PAGE { bytes.len() } else { len };
        if self.pending > 0 {
            file.seek(SeekFrom::Current(self.pending as i64))?;
            self.pending = 0;
        }
        let written = file.write(&bytes[..len])?;
        self.at += written as u64;
        Ok(written)
    }

    /// Skips `len` zeros.
    ///
    /// # Errors
    ///
    /// If the file would exceed the largest file size.
    pub(crate) fn skip(&mut self, len: u64) -> io::Result<()> {
        let at = self.at.checked_add(len).filter(|at| i64::try_from(*at).is_ok());
        self.at = at.ok_or(io::ErrorKind::FileTooLarge)?;
        self.pending += len;
        Ok(())
    }

    /// Returns the length in bytes of the whole pages at the start of `bytes` for which `wanted` holds.
    fn count_pages(&self, bytes: &[u8], wanted: impl Fn(&[u8]) -> bool) -> usize {
        if !self.at.is_multiple_of(PAGE as u64) {
            return 0;
        }
        PAGE * bytes.chunks_exact(PAGE).take_while(|page| wanted(page)).count()
    }

    /// Sets the length of the file, if it ends with skipped zeros.
    pub(crate) fn finish(&mut self, mut file: &File) -> io::Result<()> {
        match std::mem::take(&mut self.pending) {
            0 => Ok(()),
            _ => {
                file.set_len(self.at)?;
                // The next writer continues at the end.
                file.seek(SeekFrom::Start(self.at)).map(drop)
            }
        }
    }
}

/// Iterates over the ranges of `bytes`, to be written at `at`, that do not become holes.
pub(crate) fn solid(at: u64, bytes: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let pages = |from: usize, wanted: fn(&[u8]) -> bool| {
            Holes { at: at + from as u64, pending: 0 }.count_pages(&bytes[from..], wanted)
        };
        from += pages(from, |page| page == ZEROS);
        let start = from;
        if start == bytes.len() {
            return None;
        }
        let head = (PAGE - (at as usize + from) % PAGE) % PAGE;
        from += head.min(bytes.len() - from);
        from += pages(from, |page| page != ZEROS);
        if bytes.len() - from < PAGE {
            from = bytes.len();
        }
        Some(start..from)
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn all_but_whole_pages_of_zeros_is_solid() {
        let zeros = |len: usize| vec![0; len];
        let data = [zeros(10_000), vec![7; 5000], zeros(30_000), vec![1], zeros(10_000)].concat();
        for at in [0, 1, 4095, 5000] {
            let mut copy = zeros(data.len());
            let mut len = 0;
            for range in solid(at, &data) {
                len += range.len();
                copy[range.clone()].copy_from_slice(&data[range]);
            }
            assert!(copy == data && len < 6 * PAGE, "at {at}: {len}");
        }
        assert_eq!(solid(0, &zeros(PAGE)).count(), 0);
        assert_eq!(solid(0, b"").count(), 0);
    }

    #[test]
    fn what_is_read_is_what_was_written_however_it_came() {
        let zeros = |len: usize| vec![0; len];
        let data = [zeros(10_000), vec![7; 5000], zeros(1 << 20), vec![1], zeros(100_000)].concat();
        for piece in [1, 1000, 4095, 4096, 70_000, data.len()] {
            let temporary = tempfile::NamedTempFile::new().unwrap();
            let mut holes = Holes::default();
            for mut bytes in data.chunks(piece) {
                while !bytes.is_empty() {
                    let written = holes.write(temporary.as_file(), bytes).unwrap();
                    bytes = &bytes[written..];
                }
            }
            holes.finish(temporary.as_file()).unwrap();
            assert!(std::fs::read(temporary.path()).unwrap() == data, "in pieces of {piece}");
            let on_disk = temporary.as_file().metadata().unwrap().blocks() * 512;
            assert!(piece < PAGE || on_disk < 500_000, "in pieces of {piece}: {on_disk} bytes on the disk");
        }
    }
}
