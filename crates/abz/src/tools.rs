//! One file on one thread, with tools that are kept for the next.

use std::fmt;
use std::io::{Read, Write};

use abz_codec::Blocks;
use abz_codec::gzip::{Decoder, Encoder, Fault, MemberWriter, Piece, Splitter};

use crate::count::Counted;
use crate::{Compressed, Compression, Decompressed, Error};

/// What one thread needs to compress and decompress file after file by itself: tables and buffers. For many small
/// files, where each thread takes files of its own.
///
/// The output is the same as that of [`Compression::run`] and [`Decompression::run`](crate::Decompression::run).
///
/// ```
/// use abz::{Compression, Tools};
///
/// let mut tools = Tools::new();
/// for text in ["one small file", "another one"] {
///     let (mut file, mut back) = (Vec::new(), Vec::new());
///     tools.compress(&Compression::default(), text.as_bytes(), &mut file)?;
///     tools.decompress(&file[..], &mut back)?;
///     assert_eq!(back, text.as_bytes());
/// }
/// # Ok::<(), abz::Error>(())
/// ```
#[derive(Default)]
pub struct Tools {
    /// With its level.
    encoder: Option<(u32, Encoder)>,
    decoder: Option<Decoder>,
    block: Vec<u8>,
    data: Vec<u8>,
}

impl Tools {
    /// Tools that were not used yet; what they need is made when it is needed.
    pub fn new() -> Self {
        Self::default()
    }

    /// As [`Compression::run`], on this thread alone.
    ///
    /// # Errors
    ///
    /// As [`Compression::run`].
    ///
    /// # Panics
    ///
    /// If a setting is out of its range.
    pub fn compress(
        &mut self,
        compression: &Compression,
        input: impl Read,
        output: impl Write,
    ) -> Result<Compressed, Error> {
        let level = compression.level;
        if self.encoder.as_ref().is_none_or(|(of, _)| *of != level) {
            self.encoder = Some((level, Encoder::new(level)));
        }
        let (_, encoder) = self.encoder.as_mut().expect("it was just made");
        encoder.set_origin(compression.origin.clone());
        let mut input = Counted::new(input);
        let mut file = MemberWriter::new(Counted::new(output));
        let mut blocks = Blocks::new(&mut input, compression.block_size);
        while let Some(block) = blocks.read_into(std::mem::take(&mut self.block)).map_err(Error::Read)? {
            file.write(&encoder.encode(&block)).map_err(Error::Write)?;
            self.block = block.data;
        }
        let output = file.finish().map_err(Error::Write)?;
        Ok(Compressed { read: input.bytes, written: output.bytes })
    }

    /// As [`Decompression::run`](crate::Decompression::run), on this thread alone.
    ///
    /// # Errors
    ///
    /// As [`Decompression::run`](crate::Decompression::run).
    pub fn decompress(&mut self, input: impl Read, output: impl Write) -> Result<Decompressed, Error> {
        let decoder = self.decoder.get_or_insert_default();
        let mut input = Counted::new(input);
        let mut output = Counted::new(output);
        let mut garbage_at = None;
        for piece in Splitter::new(&mut input) {
            let data = match piece {
                Ok(Piece::Member(member)) => {
                    decoder.decode_into(&member, &mut self.data)?;
                    &self.data
                }
                Ok(Piece::Data(data)) => &{ data },
                Err(error) if matches!(error.fault, Fault::TrailingGarbage) => {
                    garbage_at = Some(error.offset);
                    break;
                }
                Err(error) => return Err(error.into()),
            };
            output.write_all(data).map_err(Error::Write)?;
        }
        output.flush().map_err(Error::Write)?;
        Ok(Decompressed { read: input.bytes, written: output.bytes, garbage_at })
    }
}

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tools").finish_non_exhaustive()
    }
}
