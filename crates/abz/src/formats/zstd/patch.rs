//! Patches: a file compressed as its differences from a reference. One worker makes a patch, while another one reads.

use std::io;

use abz_codec::zstd::PatchWriter;
use anabranch::{Recycled, Recycler};

use super::level;
use crate::compression::Compression;
use crate::error::Error;
use crate::pipes::cut::Portions;
use crate::pipes::encode::{Join, Steps};
use crate::run_options::Advance;

/// The size of a portion in bytes.
pub(super) const PORTION: usize = 1 << 20;

/// Returns the steps of a patch.
pub(super) fn steps<'a>(how: &'a Compression, advance: Advance<'a>) -> Steps<'a> {
    let cut = Portions::new(PORTION, Recycler::new(how.window(), Vec::new));
    Steps::portioned(cut, move || Patch::new(how, advance))
}

/// A patch that is being written.
struct Patch<'a> {
    writer: PatchWriter<'a, Vec<u8>>,
    /// The expected size of the contents in bytes, and the number of bytes written.
    contents: u64,
    written: u64,
    advance: Advance<'a>,
}

impl<'a> Patch<'a> {
    fn new(how: &'a Compression, advance: Advance<'a>) -> Result<Self, Error> {
        let reference = how.zstd.patch_from.as_ref().expect("a patch has a reference");
        let Some(contents) = how.contents else {
            let message = "a patch needs an input whose size is known beforehand";
            return Err(Error::Read(io::Error::new(io::ErrorKind::InvalidInput, message)));
        };
        let writer = PatchWriter::new(Vec::new(), level(how), &how.zstd, reference, contents);
        Ok(Patch { writer: writer.map_err(Error::Memory)?, contents, written: 0, advance })
    }

    /// The error for an input whose size has changed.
    fn changed(&self, found: &str) -> Error {
        let message = format!(
            "expected {} bytes, the size of the file when it was opened, found {found}",
            self.contents
        );
        Error::Read(io::Error::new(io::ErrorKind::UnexpectedEof, message))
    }
}

impl Join<Recycled<Vec<u8>>> for Patch<'_> {
    fn add(&mut self, portion: Recycled<Vec<u8>>) -> Result<(), Error> {
        self.written += portion.len() as u64;
        if self.written > self.contents {
            return Err(self.changed("more"));
        }
        self.writer.write_all(&portion).map_err(of_writer)?;
        self.advance.by(portion.len());
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<u8>, Error> {
        if self.written < self.contents {
            return Err(self.changed("fewer"));
        }
        self.writer.finish().map_err(of_writer)
    }

    fn bytes(&mut self) -> &mut Vec<u8> {
        self.writer.get_mut()
    }
}

/// The error of the writer: the output cannot be written, or there is not enough memory.
fn of_writer(error: io::Error) -> Error {
    error.downcast().map_or_else(Error::Write, Error::Memory)
}
