//! The table of the seekable format, which lists the frames of a file.

use std::io::{self, Read, Seek, SeekFrom};

use thiserror::Error;

use super::{SKIPPABLE_HEADER, u32_at};
use crate::glance::bytes_at;

/// The magic number of the skippable frame that contains the table.
const TABLE_MAGIC: u32 = 0x184d_2a5e;

/// The magic number at the end of the table.
const FOOTER_MAGIC: u32 = 0x8f92_eab1;

/// The size in bytes of the number of frames, the flags, and the magic number.
const FOOTER: usize = 9;

/// The flag for entries with a checksum.
const CHECKSUMS: u8 = 0x80;

/// The flags that must not be set.
const RESERVED: u8 = 0x7c;

/// The largest number of frames in a table.
const MAX_FRAMES: usize = 0x800_0000;

/// The table that ends a file of several frames (Zstandard's seekable format, version 0.1.0): a skippable frame with
/// the size of each frame before it and of its contents.
///
/// | bytes | |
/// |--:|---|
/// | 8 | `5e 2a 4d 18` and the size of what follows |
/// | 8 or 12 each | for each frame: its size, the size of its contents, and perhaps a checksum |
/// | 4 | the number of frames |
/// | 1 | flags: `80` if there are checksums |
/// | 4 | `b1 ea 92 8f` |
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeekTable {
    entries: Vec<SeekTableEntry>,
}

/// The entry of a frame in a [`SeekTable`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeekTableEntry {
    /// The size of the frame in bytes.
    pub compressed: u32,
    /// The size of its contents in bytes.
    pub contents: u32,
}

/// The error of a table at the end of a file that could not be used. The file may be complete nevertheless: the table
/// only repeats what the frames state.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SeekError {
    /// The file could not be read.
    #[error("reading the seek table failed: {0}")]
    Io(#[from] io::Error),
    /// The table is damaged, or contradicts the rest of the file.
    #[error("seek table: expected {expected}, found {found}")]
    Damaged {
        /// A description of what should be there.
        expected: &'static str,
        /// The number that was found.
        found: u64,
    },
}

impl SeekTable {
    /// Returns the frames, in the order of the file.
    pub fn entries(&self) -> &[SeekTableEntry] {
        &self.entries
    }

    /// Returns the table with one more frame; `None` if there are too many.
    pub(super) fn with(mut self, entry: SeekTableEntry) -> Option<SeekTable> {
        self.entries.push(entry);
        (self.entries.len() <= MAX_FRAMES).then_some(self)
    }

    /// Returns the skippable frame with the table.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let len = 8 * self.entries.len() + FOOTER;
        let mut bytes = Vec::with_capacity(SKIPPABLE_HEADER + len);
        bytes.extend(TABLE_MAGIC.to_le_bytes());
        bytes.extend((len as u32).to_le_bytes());
        for entry in &self.entries {
            bytes.extend(entry.compressed.to_le_bytes());
            bytes.extend(entry.contents.to_le_bytes());
        }
        bytes.extend((self.entries.len() as u32).to_le_bytes());
        bytes.push(0);
        bytes.extend(FOOTER_MAGIC.to_le_bytes());
        bytes
    }

    /// Reads the table at the end of `file`, made by any program; `None` if there is none. It moves the file's
    /// position.
    ///
    /// The frames must fill the file up to the table. They are not read: a frame may differ from its entry, so a
    /// decoder must compare both.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or the table is damaged.
    pub fn read<F: Read + Seek>(file: &mut F) -> Result<Option<SeekTable>, SeekError> {
        let end = file.seek(SeekFrom::End(0))?;
        let Some(footer_at) = end.checked_sub(FOOTER as u64) else { return Ok(None) };
        let footer: [u8; FOOTER] = bytes_at(file, footer_at)?;
        if u32_at(&footer, 5) != FOOTER_MAGIC {
            return Ok(None);
        }
        let (frames, flags) = (u32_at(&footer, 0), footer[4]);
        if flags & RESERVED != 0 {
            return Err(SeekError::Damaged { expected: "reserved flags of 0", found: flags.into() });
        }
        let entry_len = if flags & CHECKSUMS != 0 { 12 } else { 8 };
        let len = u64::from(frames) * entry_len + FOOTER as u64;
        let start = end.checked_sub(len + SKIPPABLE_HEADER as u64);
        let Some(start) = start.filter(|_| frames as usize <= MAX_FRAMES) else {
            return Err(SeekError::Damaged {
                expected: "as many frames as the file has room for",
                found: frames.into(),
            });
        };
        let header: [u8; SKIPPABLE_HEADER] = bytes_at(file, start)?;
        if u32_at(&header, 0) != TABLE_MAGIC {
            let found = u32_at(&header, 0).into();
            return Err(SeekError::Damaged { expected: "the number 184d2a5e before the table", found });
        }
        if u64::from(u32_at(&header, 4)) != len {
            let found = u32_at(&header, 4).into();
            return Err(SeekError::Damaged { expected: "the size of the table before it", found });
        }
        let mut table = SeekTable::default();
        let (mut bytes, mut sum) = (vec![0; entry_len as usize], 0);
        let mut reader = io::BufReader::new(file);
        for _ in 0..frames {
            reader.read_exact(&mut bytes)?;
            let entry = SeekTableEntry { compressed: u32_at(&bytes, 0), contents: u32_at(&bytes, 4) };
            sum += u64::from(entry.compressed);
            table.entries.push(entry);
        }
        if sum != start {
            return Err(SeekError::Damaged {
                expected: "frames that fill the file up to the table",
                found: sum,
            });
        }
        Ok(Some(table))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn a_table_is_read_as_it_was_written_and_damage_is_found() {
        let entries =
            [(3, 10), (5, 0), (0, 7)].map(|(compressed, contents)| SeekTableEntry { compressed, contents });
        let table = entries.into_iter().fold(SeekTable::default(), |table, entry| table.with(entry).unwrap());
        let file = [&[0; 8][..], &table.to_bytes()].concat();
        let read = |file: &[u8]| SeekTable::read(&mut Cursor::new(file));
        assert_eq!(read(&file).unwrap(), Some(table));
        for len in 0..file.len() {
            assert_eq!(read(&file[..len]).unwrap(), None);
        }
        for at in 8..file.len() {
            let mut file = file.clone();
            file[at] ^= 0x08;
            // The table alone does not reveal wrong sizes of contents.
            let is_contents = (16..40).contains(&at) && at % 8 >= 4;
            assert_eq!(matches!(read(&file), Ok(Some(_))), is_contents, "byte {at}");
        }
    }
}
