//! Reading files of several parts: many threads decode the parts that are known to be small enough, and one the others.

use std::fmt;
use std::io::{self, Read};
use std::mem;

use crate::damage::Damage;
use crate::input::Input;

/// The most data of a streamed part that is given out at once, in bytes. It fits into a core's cache.
pub(crate) const CHUNK: usize = 256 * 1024;

/// The settings for when a scanner gives out data of a part that is not taken as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Giving {
    /// Whether to give out data as soon as all input that has come was used, so that a reader of a pipe or a connection
    /// gets everything that there is when it pauses. Otherwise the scanner waits until it has 256 KiB, or the part or
    /// the file ends.
    pub prompt: bool,
    /// Whether to give out only verified data of a part that would be taken as a whole, if the file ends inside that
    /// part; of a whole frame of zstd that is damaged; and of the last 256 KiB of a gzip member before damage.
    /// Otherwise what can be decoded of these is given out, and then the error.
    pub verified: bool,
}

/// The memory that a scanner's findings and their decoders may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// The size of the memory in bytes.
    pub bytes: u64,
    /// The number of parts that are in memory at once, at least 1.
    pub parts: usize,
}

impl Room {
    /// Returns whether there is room for a dictionary of so many bytes, to decode one part at a time.
    pub(crate) fn has(self, dictionary: u64) -> bool {
        dictionary.saturating_add(4 * CHUNK as u64) <= self.bytes
    }

    /// Returns the most contents, in bytes, of a part that is taken as a whole: it is in memory compressed and decoded,
    /// with a dictionary of so many bytes.
    pub(crate) fn whole(self, dictionary: u64) -> u64 {
        (self.bytes / self.parts.max(1) as u64).saturating_sub(dictionary) / 2
    }
}

impl Default for Room {
    /// Returns room without a limit, for one part.
    fn default() -> Self {
        Room { bytes: u64::MAX, parts: 1 }
    }
}

/// A decoder of a format whose files are one stream. It decodes a file on one thread, from its start, as the bytes are
/// pushed to it.
pub trait Serial {
    /// The name of the format, in lower case.
    const NAME: &'static str;

    /// The usual suffix of a file's name.
    const SUFFIX: &'static str;

    /// The known suffixes, each with the suffix that takes its place in the name of the contents.
    const SUFFIXES: &'static [(&'static str, &'static str)];

    /// The bytes with which files begin, as far as they are the same in most files.
    const MAGIC: &'static [u8];

    /// The error of a damaged file.
    type Error: Damage + Into<io::Error>;

    /// Returns whether `start` can be the start of a file of the format.
    fn begins(start: &[u8]) -> bool {
        start.starts_with(Self::MAGIC)
    }

    /// Decodes more of the file. `input` has its next bytes, and the decoder removes those that it has processed from
    /// the front. Returns `true` if there is more data, which replaces the contents of `data`, and `false` if all input
    /// was taken and more is needed.
    ///
    /// # Errors
    ///
    /// If the file is damaged at this place. All data before it was given out then.
    fn next(&mut self, input: &mut &[u8], data: &mut Vec<u8>) -> Result<bool, Self::Error>;

    /// Ends the file. Call it until it returns `false`.
    ///
    /// # Errors
    ///
    /// As [`next`](Self::next), or if the file was cut: it must not end here.
    fn finish(&mut self, data: &mut Vec<u8>) -> Result<bool, Self::Error>;
}

/// An item that a [`Scan`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scanned<W> {
    /// A whole part, still to be decoded. Any thread can do that without the other parts.
    Whole(W),
    /// Data in the caller's buffer that is decoded already. It is verified, except for a checksum of the whole part if
    /// the part goes on.
    Data,
}

/// A scanner, which finds the parts (members of lzip, blocks of xz, frames of zstd) of a file that is pushed to it from
/// its start. Parts that are small enough come whole, to be decoded elsewhere. The scanner decodes the others itself, a
/// chunk of at most 256 KiB at a time.
pub trait Scan {
    /// A whole part.
    type Whole: Send + 'static;
    /// The error of a damaged file.
    type Error: Damage + Into<io::Error>;
    /// A decoder of whole parts. Each worker has one.
    type Decoder: Send;

    /// Finds the next item. `input` has the next bytes of the file, and the scanner removes those that it has processed
    /// from the front. Returns `None` if all input was taken and more is needed. Drops the contents of `data` and uses
    /// its allocation for the data of [`Scanned::Data`], which is in `data` afterwards, or for a whole part.
    ///
    /// # Errors
    ///
    /// If the file is damaged at this place or is of another format. After an error nothing more is found.
    fn next(
        &mut self,
        input: &mut &[u8],
        data: &mut Vec<u8>,
    ) -> Result<Option<Scanned<Self::Whole>>, Self::Error>;

    /// Handles a pause of the input, after which more may come. Gives out what can be decoded of a part that was to
    /// come whole, unless [`Giving::verified`] is set; the rest of that part is decoded as it comes. Call it until it
    /// returns `None`.
    ///
    /// # Errors
    ///
    /// As [`next`](Self::next).
    fn pause(&mut self, _data: &mut Vec<u8>) -> Result<Option<Scanned<Self::Whole>>, Self::Error> {
        Ok(None)
    }

    /// Ends the file. Call it until it returns `None`.
    ///
    /// # Errors
    ///
    /// As [`next`](Self::next), or if the file was cut: it must not end here.
    fn finish(&mut self, data: &mut Vec<u8>) -> Result<Option<Scanned<Self::Whole>>, Self::Error>;

    /// Returns a function that makes decoders for the parts of this file, on any thread.
    fn decoders(&self) -> impl Fn() -> Self::Decoder + Send + Sync + use<Self>;

    /// Makes a decoder for the parts of this file.
    fn decoder(&self) -> Self::Decoder {
        self.decoders()()
    }

    /// Decodes and verifies a whole part. Replaces the contents of `data` and uses its allocation.
    ///
    /// # Errors
    ///
    /// If the part is damaged. `data` has the contents before the damage then, if the format gives those out, and is
    /// empty otherwise.
    fn decode_into(
        decoder: &mut Self::Decoder,
        whole: &Self::Whole,
        data: &mut Vec<u8>,
    ) -> Result<(), Self::Error>;

    /// Returns the bytes of a decoded part, so that their allocation can be used again.
    fn into_bytes(whole: Self::Whole) -> Vec<u8>;
}

/// A reader of a file on one thread: a [`Scan`] and its decoder, on the caller's thread.
pub struct Reader<R, S: Scan> {
    input: Input<R>,
    scanner: S,
    decoder: S::Decoder,
    /// An allocation for the scanner.
    spare: Vec<u8>,
    /// The error to return once the contents before it were read.
    failed: Option<io::Error>,
    has_ended: bool,
}

impl<R: Read, S: Scan> Reader<R, S> {
    /// Creates a reader of the file that `reader` gives. It has its own buffer.
    pub fn with(scanner: S, reader: R) -> Self {
        let decoder = scanner.decoder();
        Reader {
            input: Input::new(reader),
            scanner,
            decoder,
            spare: Vec::new(),
            failed: None,
            has_ended: false,
        }
    }

    /// Replaces the contents of `data` by the next contents of the file. Returns `false` if there are no more.
    ///
    /// # Errors
    ///
    /// The error of the reader, or the error of the format (which [`io::Error::downcast`] gives back). Nothing comes
    /// after an error.
    pub fn read_into(&mut self, data: &mut Vec<u8>) -> io::Result<bool> {
        if self.has_ended {
            return Ok(false);
        }
        let read = self.step(data);
        self.has_ended = !matches!(read, Ok(true));
        read
    }

    fn step(&mut self, data: &mut Vec<u8>) -> io::Result<bool> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        loop {
            let found = match self.input.is_over() {
                true => self.scanner.finish(&mut self.spare),
                false => self.input.scan(|input| self.scanner.next(input, &mut self.spare)),
            };
            match found.map_err(Into::into)? {
                Some(Scanned::Whole(whole)) => {
                    let decoded = S::decode_into(&mut self.decoder, &whole, data).map_err(Into::into);
                    self.spare = S::into_bytes(whole);
                    match decoded {
                        Err(error) if data.is_empty() => return Err(error),
                        decoded => self.failed = decoded.err(),
                    }
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
