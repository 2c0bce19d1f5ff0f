//! Going to other places of a file that is being read.

use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Mutex, PoisonError};

use abz_codec::access::{Index, Part};

use super::by_parts::ByParts;
use crate::error::{Error, Failure};
use crate::format::Format;
use crate::index;
use crate::pipes::access::is_decoded_whole;
use crate::positional::{Along, ReadAt};

/// The least and the largest number of bytes of contents between the places of an index. Each read at a place decodes so many
/// bytes. Each place takes about 12 KiB of the index of a text.
const LEAST_SPACING: u64 = 256 << 10;
const LARGEST_SPACING: u64 = 8 << 20;

/// The size of a file, divided by this number, is the distance between the places of its index, within these limits.
const INDEXED: u64 = 4096;

/// The least number of bytes of contents between the places that are found in a file without an index, and the number by
/// which its size is divided for their distance.
const LEAST_FOUND_SPACING: u64 = 1 << 20;
const FOUND: u64 = 64;

/// How to go to other places of a file.
pub(super) struct Places<R> {
    pub(super) jump: Jump<R>,
    /// Whether the inner reader is elsewhere than the line has left it.
    pub(super) has_moved: bool,
    /// The parts of the file, if it or an index tells them.
    pub(super) parts: Option<Vec<Part>>,
    /// Whether these are all.
    pub(super) are_all_known: bool,
    /// The size of the contents in bytes, if an index tells it.
    pub(super) size: Option<u64>,
    /// The number of bytes of contents between the places that a line finds.
    pub(super) spacing: u64,
    pub(super) by_parts: ByParts,
    has_looked: bool,
}

/// Moves an inner reader.
pub(super) struct Jump<R> {
    seek: fn(&mut R, SeekFrom) -> io::Result<u64>,
    read: fn(&mut R, &mut [u8]) -> io::Result<()>,
    /// The place of the file in the inner reader, and its size, in bytes.
    base: u64,
    size: u64,
}

impl<R> Jump<R> {
    /// Goes to an offset in the file.
    pub(super) fn to(&self, inner: &mut R, offset: u64) -> io::Result<()> {
        (self.seek)(inner, SeekFrom::Start(self.base + offset)).map(drop)
    }

    /// Reads the bytes at an offset in the file.
    pub(super) fn read_at(&self, inner: &mut R, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.to(inner, offset)?;
        (self.read)(inner, bytes)
    }
}

impl<R: Read + Seek> Places<R> {
    /// The places of a file of which `read` bytes were read from the inner reader. Records a `failure` if the place of
    /// the inner reader is lost.
    pub(super) fn of(
        inner: &mut R,
        read: u64,
        by_parts: ByParts,
        failure: &mut Failure,
    ) -> Result<Self, Error> {
        let place = inner.stream_position().map_err(Error::Read)?;
        let base = place.saturating_sub(read);
        let end = inner.seek(SeekFrom::End(0)).map_err(|error| {
            if let Err(error) = inner.seek(SeekFrom::Start(place)) {
                failure.record(Error::Read(error));
            }
            Error::Read(error)
        })?;
        let size = end.saturating_sub(base);
        let jump = Jump { seek: R::seek, read: R::read_exact, base, size };
        Ok(Places {
            jump,
            has_moved: true,
            parts: None,
            are_all_known: false,
            size: None,
            spacing: LEAST_FOUND_SPACING.max(size / FOUND),
            by_parts,
            has_looked: false,
        })
    }

    /// The number of bytes of contents between the places of an index.
    pub(super) fn index_spacing(&self) -> u64 {
        (self.jump.size / INDEXED).clamp(LEAST_SPACING, LARGEST_SPACING)
    }

    /// Looks for parts that the file or the index tells.
    pub(super) fn look_for_parts(
        &mut self,
        inner: &mut R,
        format: Format,
        index: Option<&Index>,
    ) -> Result<(), Error>
    where
        R: Send,
    {
        if self.has_looked {
            return Ok(());
        }
        self.has_moved = true;
        let shared = Shared::new(inner, &self.jump);
        let file = &mut Along::new(&shared);
        let parts = match index {
            Some(index) => {
                index::check(index, file)?;
                Some(index.parts().to_vec())
            }
            None => format.reads().parts(file).map_err(Error::Read)?,
        };
        self.size = index.map(Index::contents);
        // An index may have no parts, and parts may be too large to be held.
        self.parts = parts.filter(|parts| !parts.is_empty() && parts.iter().all(is_decoded_whole));
        self.are_all_known = self.parts.is_some();
        self.has_looked = true;
        Ok(())
    }
}

/// An inner reader that is lent for reading at any offset.
pub(super) struct Shared<'a, R> {
    inner: Mutex<&'a mut R>,
    jump: &'a Jump<R>,
}

impl<'a, R> Shared<'a, R> {
    pub(super) fn new(inner: &'a mut R, jump: &'a Jump<R>) -> Self {
        Shared { inner: Mutex::new(inner), jump }
    }
}

impl<R: Send> ReadAt for Shared<'_, R> {
    fn size(&self) -> u64 {
        self.jump.size
    }

    fn read_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        self.jump.read_at(*inner, offset, bytes)
    }
}
