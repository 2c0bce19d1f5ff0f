//! The bytes behind the last part of a file. They are ignored, unless another part begins among them.

use std::ops::Range;

use memchr::memmem;

/// The start of the members, streams or frames of a format.
pub(crate) struct Beginning {
    /// The magic bytes with which a part begins.
    pub(crate) magic: &'static [u8],
    /// The number of bytes at the start that are checked.
    pub(crate) len: usize,
    /// Returns whether a part may begin with these `len` bytes, or fewer at the end of the file. They begin with the
    /// magic bytes. At most one of 2^37 random places passes.
    pub(crate) may_begin: fn(&[u8]) -> bool,
}

/// A search for the start of a part in bytes that come one after another.
#[derive(Debug)]
pub(crate) struct Search {
    /// The last bytes, in which the start of a part may not be complete yet, and their offset in the file.
    held: Vec<u8>,
    offset: u64,
}

impl Search {
    /// Creates a search in the bytes of a file from `offset` on.
    pub(crate) fn at(offset: u64) -> Self {
        Search { held: Vec::new(), offset }
    }

    /// Searches the next bytes. Returns the offset of the first start in the file, if it is complete.
    pub(crate) fn look(&mut self, bytes: &[u8], beginning: &Beginning) -> Option<u64> {
        self.held.extend_from_slice(bytes);
        let done = self.held.len().saturating_sub(beginning.len - 1);
        let found = self.find(0..done, beginning);
        self.held.drain(..done);
        self.offset += done as u64;
        found
    }

    /// Searches the last bytes, at the end of the file.
    pub(crate) fn finish(&self, beginning: &Beginning) -> Option<u64> {
        self.find(0..self.held.len(), beginning)
    }

    /// Returns the first start at one of these indices of the held bytes.
    fn find(&self, places: Range<usize>, beginning: &Beginning) -> Option<u64> {
        let begins = |&at: &usize| {
            let start = &self.held[at..];
            places.contains(&at) && (beginning.may_begin)(&start[..start.len().min(beginning.len)])
        };
        let found = memmem::find_iter(&self.held, beginning.magic).find(begins);
        found.map(|at| self.offset + at as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGINNING: Beginning =
        Beginning { magic: b"ab", len: 4, may_begin: |start| start.last() == Some(&b'd') };

    #[test]
    fn a_beginning_is_found_in_any_pieces() {
        let bytes = b"..ab.ababcxabcd..abcd";
        for len in 1..bytes.len() {
            let mut search = Search::at(100);
            let found = bytes.chunks(len).find_map(|piece| search.look(piece, &BEGINNING));
            assert_eq!(found, Some(111), "{len}");
        }
        for (end, expected) in [(&b"..abc"[..], None), (b"..abd", Some(2))] {
            let mut search = Search::at(0);
            assert_eq!(search.look(end, &BEGINNING), None);
            assert_eq!(search.finish(&BEGINNING), expected);
        }
    }
}
