//! The bytes behind the last part of a file. They are ignored, unless another part begins among them.

use std::ops::Range;

use memchr::memmem;

/// How the members, streams or frames of a format begin.
pub(crate) struct Beginning {
    /// Their first bytes.
    pub(crate) magic: &'static [u8],
    /// How many bytes of them are looked at.
    pub(crate) len: usize,
    /// Whether one may begin with so many bytes, or with fewer at the end of the file. The magic bytes are in front. Of random
    /// bytes, one in 2^37 or fewer may.
    pub(crate) may_begin: fn(&[u8]) -> bool,
}

/// Looks for a beginning in bytes that come one after another.
#[derive(Debug)]
pub(crate) struct Search {
    /// The last bytes, in which one may begin that has not come as a whole, and their offset in the file.
    held: Vec<u8>,
    offset: u64,
}

impl Search {
    /// In what follows from the byte `offset` of a file on.
    pub(crate) fn at(offset: u64) -> Self {
        Search { held: Vec::new(), offset }
    }

    /// Goes on through `bytes`. Gives the offset of the first beginning, if one has come.
    pub(crate) fn look(&mut self, bytes: &[u8], beginning: &Beginning) -> Option<u64> {
        self.held.extend_from_slice(bytes);
        let done = self.held.len().saturating_sub(beginning.len - 1);
        let found = self.find(0..done, beginning);
        self.held.drain(..done);
        self.offset += done as u64;
        found
    }

    /// The file ends here: the same for the last bytes of it.
    pub(crate) fn finish(&self, beginning: &Beginning) -> Option<u64> {
        self.find(0..self.held.len(), beginning)
    }

    /// The first beginning at one of these places of what is held.
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
