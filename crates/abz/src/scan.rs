//! The first stages of decompression: the file is read, and cut into members or inflated.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use abz_codec::gzip::{Member, Scanned, Scanner, Stretch};
use anabranch::{Recycled, Recycler};

use crate::Error;

/// How much is read at once, in bytes.
const INPUT: usize = 128 * 1024;

/// What was read at once; nothing at the end of the file.
pub(crate) struct Input {
    buffer: Recycled<Vec<u8>>,
    len: usize,
}

/// Reads a file piece by piece. The last piece, of no bytes, says that there are no more.
pub(crate) struct Inputs<R> {
    reader: R,
    buffers: Recycler<Vec<u8>>,
    ended: bool,
}

impl<R: Read> Inputs<R> {
    /// Reads into buffers of which at most `keep` idle ones are kept.
    pub(crate) fn new(reader: R, keep: usize) -> Self {
        Inputs { reader, buffers: Recycler::new(keep, || vec![0; INPUT]), ended: false }
    }
}

impl<R: Read> Iterator for Inputs<R> {
    type Item = Result<Input, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let mut buffer = self.buffers.take();
        loop {
            match self.reader.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Some(Err(Error::Read(error))),
                Ok(len) => {
                    self.ended = len == 0;
                    return Some(Ok(Input { buffer, len }));
                }
            }
        }
    }
}

/// A part of the file's contents.
pub(crate) enum Piece {
    /// Still compressed. Its bytes shall go to where the buffer came from.
    Member(Member, Recycled<Vec<u8>>),
    /// Decompressed, but not yet verified.
    Data(Recycled<Vec<u8>>, Stretch),
}

/// Cuts what is read into pieces.
pub(crate) struct Scan {
    /// Shared with the pieces of one input after another; nobody ever waits for it.
    scanner: Arc<Mutex<Scanner>>,
    buffers: Recycler<Vec<u8>>,
}

impl Scan {
    /// Puts the pieces into such buffers.
    pub(crate) fn new(buffers: Recycler<Vec<u8>>) -> Self {
        Scan { scanner: Arc::default(), buffers }
    }

    /// The pieces that the next input completes.
    pub(crate) fn pieces_of(&self, input: Input) -> Pieces {
        Pieces { scanner: Arc::clone(&self.scanner), buffers: self.buffers.clone(), input, scanned: 0 }
    }
}

/// The pieces that an input completes.
pub(crate) struct Pieces {
    scanner: Arc<Mutex<Scanner>>,
    buffers: Recycler<Vec<u8>>,
    input: Input,
    scanned: usize,
}

impl Iterator for Pieces {
    type Item = Result<Piece, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut scanner = self.scanner.lock().unwrap_or_else(PoisonError::into_inner);
        if self.input.len == 0 {
            return scanner.finish().err().map(|error| Err(error.into()));
        }
        let mut input = &self.input.buffer[self.scanned..self.input.len];
        let mut data = self.buffers.take();
        let found = scanner.next(&mut input, &mut data);
        self.scanned = self.input.len - input.len();
        match found {
            Ok(None) => None,
            Ok(Some(Scanned::Member(member))) => Some(Ok(Piece::Member(member, data))),
            Ok(Some(Scanned::Data(stretch))) => Some(Ok(Piece::Data(data, stretch))),
            Err(error) => Some(Err(error.into())),
        }
    }
}
