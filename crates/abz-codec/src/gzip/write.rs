//! Members into a file.

use std::io::{self, Write};

use super::encode::Encoded;
use super::index::IndexBuilder;

/// Writes members, in order, and what ends a file: of several members an index (see the [module](super)), of BGZF an
/// empty member.
///
/// A file is whole only after [`finish`](MemberWriter::finish).
#[derive(Debug)]
pub struct MemberWriter<W> {
    out: W,
    /// `None` for BGZF, whose tools make their indexes themselves.
    index: Option<IndexBuilder>,
}

/// The empty member that ends a file of BGZF (SAM specification, section 4.1.2).
const BGZF_END: [u8; 28] = *b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0\x1b\0\x03\0\0\0\0\0\0\0\0\0";

impl<W: Write> MemberWriter<W> {
    /// A file that goes to `out`, which needs no buffer: it is given whole members.
    pub fn new(out: W) -> Self {
        MemberWriter { out, index: Some(IndexBuilder::default()) }
    }

    /// A file of BGZF, for members of [`Encoder::bgzf`](super::Encoder::bgzf).
    pub fn bgzf(out: W) -> Self {
        MemberWriter { out, index: None }
    }

    /// What is written to: to take what was written so far.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.out
    }

    /// Writes the next member.
    ///
    /// # Errors
    ///
    /// What the writer gave.
    pub fn write(&mut self, member: &Encoded) -> io::Result<()> {
        self.out.write_all(&member.bytes)?;
        match self.index.as_mut().and_then(|index| index.push(member)) {
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
        match self.index {
            None => self.out.write_all(&BGZF_END)?,
            Some(mut index) => {
                if let Some(part) = index.finish() {
                    self.out.write_all(&part)?;
                }
            }
        }
        self.out.flush()?;
        Ok(self.out)
    }
}
