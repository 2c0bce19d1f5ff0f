//! One file on one thread, with tools that are kept for the next.

use std::fmt;
use std::io::{self, Read, Write};
use std::mem;

use abz_codec::{Blocks, bzip2, gzip, lzw};

use crate::count::Counted;
use crate::pipes;
use crate::{Compressed, Compression, Decompressed, Error, Format};

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
    gzip_encoder: Option<(u32, gzip::Encoder)>,
    gzip_decoder: Option<gzip::Decoder>,
    bzip2_encoder: Option<bzip2::Encoder>,
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
        let mut input = Counted::new(input);
        let output = Counted::new(output);
        let output = match compression.format {
            Format::Gzip => self.gzip(compression, &mut input, output)?,
            Format::Bzip2 => self.bzip2(compression, &mut input, output)?,
            Format::Compress => pipes::not_written(compression.format),
        };
        Ok(Compressed { read: input.bytes, written: output.bytes })
    }

    fn gzip<W: Write>(&mut self, compression: &Compression, input: impl Read, output: W) -> Result<W, Error> {
        let level = compression.level;
        if self.gzip_encoder.as_ref().is_none_or(|(of, _)| *of != level) {
            self.gzip_encoder = Some((level, gzip::Encoder::new(level)));
        }
        let (_, encoder) = self.gzip_encoder.as_mut().expect("it was just made");
        encoder.set_origin(compression.origin.clone());
        let mut file = gzip::MemberWriter::new(output);
        let mut blocks = Blocks::new(input, compression.block_size);
        while let Some(block) = blocks.read_into(mem::take(&mut self.block)).map_err(Error::Read)? {
            file.write(&encoder.encode(&block)).map_err(Error::Write)?;
            self.block = block.data;
        }
        file.finish().map_err(Error::Write)
    }

    fn bzip2<W: Write>(
        &mut self,
        compression: &Compression,
        input: impl Read,
        output: W,
    ) -> Result<W, Error> {
        let level = pipes::bzip2::level(compression);
        let encoder = self.bzip2_encoder.get_or_insert_default();
        let mut file = bzip2::StreamWriter::new(output, level);
        let mut blocks = bzip2::Cutter::new(input, level);
        while let Some(block) = blocks.read_into(mem::take(&mut self.block)).map_err(Error::Read)? {
            let encoded = encoder.encode_into(&block, mem::take(&mut self.data));
            file.write(&encoded).map_err(Error::Write)?;
            (self.block, self.data) = (block.into_bytes(), encoded.into_bytes());
        }
        file.finish().map_err(Error::Write)
    }

    /// As [`Decompression::run`](crate::Decompression::run), on this thread alone.
    ///
    /// # Errors
    ///
    /// As [`Decompression::run`](crate::Decompression::run).
    pub fn decompress(&mut self, input: impl Read, output: impl Write) -> Result<Decompressed, Error> {
        let mut input = Counted::new(input);
        let mut output = Counted::new(output);
        let (format, whole) = Format::sniff(&mut input).map_err(Error::Read)?;
        let result = match format {
            Some(Format::Bzip2) => bunzip2(whole, &mut output),
            Some(Format::Compress) => uncompress(whole, &mut output),
            Some(Format::Gzip) | None => self.gunzip(whole, &mut output),
        };
        let garbage_at = match result {
            Ok(()) => None,
            Err(error) => Some(error.is_garbage_at().ok_or(error)?),
        };
        output.flush().map_err(Error::Write)?;
        Ok(Decompressed { read: input.bytes, written: output.bytes, garbage_at })
    }

    fn gunzip(&mut self, input: impl Read, mut output: impl Write) -> Result<(), Error> {
        let decoder = self.gzip_decoder.get_or_insert_default();
        for piece in gzip::Splitter::new(input) {
            let data = match piece? {
                gzip::Piece::Member(member) => {
                    decoder.decode_into(&member, &mut self.data)?;
                    &self.data
                }
                gzip::Piece::Data(data) => &{ data },
            };
            output.write_all(data).map_err(Error::Write)?;
        }
        Ok(())
    }
}

fn bunzip2(input: impl Read, mut output: impl Write) -> Result<(), Error> {
    for contents in bzip2::Reader::new(input) {
        let contents = contents.map_err(|error| match error.downcast::<bzip2::DecodeError>() {
            Ok(error) => Error::Bzip2(error),
            Err(error) => Error::Read(error),
        })?;
        contents.write_to(&mut output).map_err(Error::Write)?;
    }
    Ok(())
}

fn uncompress(input: impl Read, mut output: impl Write) -> Result<(), Error> {
    let mut contents = lzw::Reader::new(input);
    let mut buffer = vec![0; 64 << 10];
    loop {
        match contents.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(len) => output.write_all(&buffer[..len]).map_err(Error::Write)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                return Err(error.downcast::<lzw::DecodeError>().map_or_else(Error::Read, Error::Lzw));
            }
        }
    }
}

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tools").finish_non_exhaustive()
    }
}
