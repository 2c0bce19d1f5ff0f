//! Files whose parts are decoded by many threads where they are known to be small enough, and by one where not.

use std::fmt;
use std::io::{self, Read};
use std::mem;

use crate::damage::Damage;
use crate::input::Input;

/// How much data of a streamed part is given out at once, in bytes: small enough to stay in a core's cache.
pub(crate) const CHUNK: usize = 256 * 1024;

/// When a scanner gives out what it has decoded of a part that does not come whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Giving {
    /// It does so whenever it has used all the input that has come: of a pipe or a connection that pauses, everything comes out
    /// that is there. Otherwise it waits until there are 256 KiB, the part ends, or the file does; and of gzip, what was
    /// decoded since then of a member that turns out to be damaged is not given out.
    pub prompt: bool,
    /// If the file ends in a part that would come whole, and be verified before any of it is given out, nothing of that part is.
    /// Otherwise it gives out what can be decoded of it, and then the error.
    pub verified: bool,
}

/// How much memory may be taken by what a scanner gives, and by what decodes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Bytes.
    pub bytes: u64,
    /// How many parts are in memory at once, at least 1.
    pub parts: usize,
}

impl Room {
    /// True if there is room for a dictionary, with which one part at a time is decoded.
    pub(crate) fn has(self, dictionary: u64) -> bool {
        dictionary.saturating_add(4 * CHUNK as u64) <= self.bytes
    }

    /// The most contents of each part that is taken as a whole: it is there compressed and decoded, with a dictionary.
    pub(crate) fn whole(self, dictionary: u64) -> u64 {
        (self.bytes / self.parts.max(1) as u64).saturating_sub(dictionary) / 2
    }
}

impl Default for Room {
    /// All that there is.
    fn default() -> Self {
        Room { bytes: u64::MAX, parts: 1 }
    }
}

/// A decoder of a format whose files are one stream: it decodes on one thread what is pushed to it, piece by piece, from the
/// start of a file.
pub trait Serial {
    /// The name of the format, in lower case.
    const NAME: &'static str;

    /// The usual end of a file's name.
    const SUFFIX: &'static str;

    /// The ends of names that are known, and what stands in their place in the names of the contents.
    const SUFFIXES: &'static [(&'static str, &'static str)];

    /// What is wrong with a file.
    type Error: Damage + Into<io::Error>;

    /// True if `start` can be the start of a file of the format.
    fn begins(start: &[u8]) -> bool;

    /// Goes on through `input`, the next bytes of the file, from whose front it takes what it has done with. True: there is
    /// more data, in `data`, whose contents are dropped. False: it has taken all, and needs more to go on.
    ///
    /// # Errors
    ///
    /// If the file is damaged at this place. All data before was given out then.
    fn next(&mut self, input: &mut &[u8], data: &mut Vec<u8>) -> Result<bool, Self::Error>;

    /// The file ends here. It is to be called until it gives false.
    ///
    /// # Errors
    ///
    /// As [`next`](Self::next), or if the file must not end here: it was cut.
    fn finish(&mut self, data: &mut Vec<u8>) -> Result<bool, Self::Error>;
}

/// What a [`Scan`] found next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scanned<W> {
    /// A whole part to be decoded, which any thread can do without the others.
    Whole(W),
    /// Data that is decoded and verified already, except for its checksum if the part goes on: it lies in the caller's
    /// buffer.
    Data,
}

/// A scanner: it finds the parts (members of lzip, blocks of xz, frames of zstd) in a file that is pushed to it, piece by piece, from
/// its start. Parts that are small enough come whole, to be decoded elsewhere; the others it decodes itself, a chunk of
/// at most 256 KiB at a time.
pub trait Scan {
    /// A whole part.
    type Whole: Send;
    /// What is wrong with a file.
    type Error: Damage + Into<io::Error>;
    /// What decodes whole parts: a worker has one.
    type Decoder;

    /// Goes on through `input`, the next bytes of the file, from whose front it takes what it has done with. `None`: it
    /// has taken all, and needs more to go on. For [`Scanned::Data`] the data is in `data` afterwards. What was in there
    /// is dropped, and its allocation used, for that or for a whole part.
    ///
    /// # Errors
    ///
    /// If the file is damaged at this place or is of another format. After an error nothing more is found.
    fn next(
        &mut self,
        input: &mut &[u8],
        data: &mut Vec<u8>,
    ) -> Result<Option<Scanned<Self::Whole>>, Self::Error>;

    /// The input pauses here, and there may be more later. Gives what can be decoded of a part that was to come whole, unless
    /// [`Giving::verified`] forbids it; the rest of that part is decoded as it comes. It is to be called until it gives `None`.
    ///
    /// # Errors
    ///
    /// As [`next`](Self::next).
    fn pause(&mut self, _data: &mut Vec<u8>) -> Result<Option<Scanned<Self::Whole>>, Self::Error> {
        Ok(None)
    }

    /// The file ends here. It is to be called until it gives `None`.
    ///
    /// # Errors
    ///
    /// As [`next`](Self::next), or if the file must not end here: it was cut.
    fn finish(&mut self, data: &mut Vec<u8>) -> Result<Option<Scanned<Self::Whole>>, Self::Error>;

    /// What makes decoders for the parts of this file, on any thread.
    fn decoders(&self) -> impl Fn() -> Self::Decoder + Send + Sync + use<Self>;

    /// Makes what decodes the parts of this file.
    fn decoder(&self) -> Self::Decoder {
        self.decoders()()
    }

    /// Decodes and verifies a whole part, into the allocation of `data`, whose contents are dropped.
    ///
    /// # Errors
    ///
    /// If the part is damaged; `data` is then empty.
    fn decode_into(
        decoder: &mut Self::Decoder,
        whole: &Self::Whole,
        data: &mut Vec<u8>,
    ) -> Result<(), Self::Error>;

    /// The bytes of a part that was decoded, to use their allocation again.
    fn into_bytes(whole: Self::Whole) -> Vec<u8>;
}

/// Reads a file on one thread: a [`Scan`] and what decodes for it, on the caller's thread.
pub struct Reader<R, S: Scan> {
    input: Input<R>,
    scanner: S,
    decoder: S::Decoder,
    /// An allocation for the scanner.
    spare: Vec<u8>,
    has_ended: bool,
}

impl<R: Read, S: Scan> Reader<R, S> {
    /// Reads the file that `reader` gives. It has a buffer of its own.
    pub fn with(scanner: S, reader: R) -> Self {
        let decoder = scanner.decoder();
        Reader { input: Input::new(reader), scanner, decoder, spare: Vec::new(), has_ended: false }
    }

    /// Puts the next contents into `data`, whose own are dropped; false if there are no more.
    ///
    /// # Errors
    ///
    /// That of the reader, or that of the format (which `downcast` gives back). Nothing comes after it.
    pub fn read_into(&mut self, data: &mut Vec<u8>) -> io::Result<bool> {
        if self.has_ended {
            return Ok(false);
        }
        let read = self.step(data);
        self.has_ended = !matches!(read, Ok(true));
        read
    }

    fn step(&mut self, data: &mut Vec<u8>) -> io::Result<bool> {
        loop {
            let found = match self.input.is_over() {
                true => self.scanner.finish(&mut self.spare),
                false => self.input.scan(|input| self.scanner.next(input, &mut self.spare)),
            };
            match found.map_err(Into::into)? {
                Some(Scanned::Whole(whole)) => {
                    S::decode_into(&mut self.decoder, &whole, data).map_err(Into::into)?;
                    self.spare = S::into_bytes(whole);
                    return Ok(true);
                }
                Some(Scanned::Data) => {
                    mem::swap(data, &mut self.spare);
                    return Ok(true);
                }
                None if self.input.is_over() => return Ok(false),
                None => self.input.read()?,
            }
        }
    }
}

impl<R, S: Scan + fmt::Debug> fmt::Debug for Reader<R, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("scanner", &self.scanner).finish_non_exhaustive()
    }
}
