//! A reader with a buffer that can be looked into, and with an offset.

use std::io::{self, Read};

/// The least that is asked of the reader at once, in bytes. Members of BGZF (at most 64 KiB) lie in it whole.
const CAPACITY: usize = 128 * 1024;

/// The compressed file, read from its start to its end.
pub(super) struct Input<R> {
    reader: R,
    buffer: Vec<u8>,
    /// What was read and not yet consumed lies at `begin..end` of the buffer.
    begin: usize,
    end: usize,
    /// The offset in the file of the byte at `begin`.
    offset: u64,
    ended: bool,
}

impl<R: Read> Input<R> {
    pub(super) fn new(reader: R) -> Self {
        Input { reader, buffer: vec![0; CAPACITY], begin: 0, end: 0, offset: 0, ended: false }
    }

    /// The offset in the file of the first byte that was not consumed.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// What has been read and not consumed.
    pub(super) fn buffered(&self) -> &[u8] {
        &self.buffer[self.begin..self.end]
    }

    /// Reads until at least `wanted` bytes are buffered, or the file ends, and gives all that is buffered.
    pub(super) fn fill(&mut self, wanted: usize) -> io::Result<&[u8]> {
        if self.begin == self.end {
            (self.begin, self.end) = (0, 0);
        }
        if self.begin + wanted > self.buffer.len() {
            self.buffer.copy_within(self.begin..self.end, 0);
            (self.begin, self.end) = (0, self.end - self.begin);
            if wanted > self.buffer.len() {
                self.buffer.resize(wanted.next_power_of_two(), 0);
            }
        }
        while self.end - self.begin < wanted && !self.ended {
            match self.reader.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.buffered())
    }

    /// Goes on by `len` bytes, which must be buffered.
    pub(super) fn consume(&mut self, len: usize) {
        debug_assert!(len <= self.end - self.begin);
        self.begin += len;
        self.offset += len as u64;
    }

    /// The next `len` bytes, or fewer if the file ends before. They are consumed.
    pub(super) fn take(&mut self, len: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(len);
        let from_buffer = len.min(self.end - self.begin);
        bytes.extend(&self.buffered()[..from_buffer]);
        self.consume(from_buffer);
        if from_buffer < len {
            let read = self.reader.by_ref().take((len - from_buffer) as u64).read_to_end(&mut bytes)?;
            self.offset += read as u64;
        }
        Ok(bytes)
    }
}
