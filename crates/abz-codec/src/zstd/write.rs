//! Frames into a file.

use std::io::{self, Write};

use super::seek::{SeekTable, SeekTableEntry};

/// Writes frames, in order, and behind several of them the table of the seekable format.
///
/// A file is whole only after [`finish`](FrameWriter::finish).
#[derive(Debug)]
pub struct FrameWriter<W> {
    out: W,
    /// `None` if there were too many.
    table: Option<SeekTable>,
}

impl<W: Write> FrameWriter<W> {
    /// A file that goes to `out`, which needs no buffer: it is given whole frames.
    pub fn new(out: W) -> Self {
        FrameWriter { out, table: Some(SeekTable::default()) }
    }

    /// Writes the next frame, of so many bytes of contents.
    ///
    /// # Errors
    ///
    /// What the writer gave.
    pub fn write(&mut self, frame: &[u8], contents: usize) -> io::Result<()> {
        self.out.write_all(frame)?;
        self.table = self.table.take().and_then(|table| {
            let compressed = frame.len().try_into().ok()?;
            let contents = contents.try_into().ok()?;
            table.with(SeekTableEntry { compressed, contents })
        });
        Ok(())
    }

    /// Writes the end of the file, flushes, and gives the writer back.
    ///
    /// # Errors
    ///
    /// What the writer gave.
    pub fn finish(mut self) -> io::Result<W> {
        // Of a single frame its header says all.
        if let Some(table) = self.table.filter(|table| table.entries().len() > 1) {
            self.out.write_all(&table.to_bytes())?;
        }
        self.out.flush()?;
        Ok(self.out)
    }
}
