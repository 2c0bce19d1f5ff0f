//! Members into a file.

use std::io::{self, Write};

use super::encode::Encoded;
use super::index::IndexBuilder;

/// Writes members, in order, and the index that ends a file of several (see the [module](super)).
///
/// A file is whole only after [`finish`](MemberWriter::finish).
#[derive(Debug)]
pub struct MemberWriter<W> {
    out: W,
    index: IndexBuilder,
}

impl<W: Write> MemberWriter<W> {
    /// A file that goes to `out`, which needs no buffer: it is given whole members.
    pub fn new(out: W) -> Self {
        MemberWriter { out, index: IndexBuilder::default() }
    }

    /// Writes the next member.
    ///
    /// # Errors
    ///
    /// What the writer gave.
    pub fn write(&mut self, member: &Encoded) -> io::Result<()> {
        self.out.write_all(&member.bytes)?;
        match self.index.push(member) {
            Some(part) => self.out.write_all(&part),
            None => Ok(()),
        }
    }

    /// Writes the end of the file, flushes, and gives the writer back.
    ///
    /// # Errors
    ///
    /// What the writer gave.
    pub fn finish(mut self) -> io::Result<W> {
        if let Some(part) = self.index.finish() {
            self.out.write_all(&part)?;
        }
        self.out.flush()?;
        Ok(self.out)
    }
}
