//! One file on one thread, with tools that are kept for the next.

use std::fmt;
use std::io::{self, Read, Write};
use std::mem;

use abz_codec::legacy::{lzh, pack, zip, zlib};
use abz_codec::parts::{self, Scan, Serial};
use abz_codec::{bzip2, gzip, lzip, lzw, xz, zstd};

use crate::count::Counted;
use crate::pipes;
use crate::{Compressed, Compression, Decompressed, Decompression, Error, Format};

/// What one thread needs to compress and decompress file after file by itself: tables and buffers. For many small
/// files, where each thread takes files of its own.
///
/// The output is the same as that of [`Compression::run`] and [`Decompression::run`].
///
/// ```
/// use abz::{Compression, Decompression, Tools};
///
/// let mut tools = Tools::new();
/// for text in ["one small file", "another one"] {
///     let (mut file, mut back) = (Vec::new(), Vec::new());
///     tools.compress(&Compression::default(), text.as_bytes(), &mut file)?;
///     tools.decompress(&Decompression::default(), &file[..], &mut back)?;
///     assert_eq!(back, text.as_bytes());
/// }
/// # Ok::<(), abz::Error>(())
/// ```
#[derive(Default)]
pub struct Tools {
    /// With its level, and what it makes files of.
    gzip_encoder: Option<((u32, gzip::Layout), gzip::Encoder)>,
    gzip_decoder: Option<gzip::Decoder>,
    bzip2_encoder: Option<bzip2::Encoder>,
    /// With what it was made for.
    zstd_encoder: Option<(i32, zstd::Encoding, zstd::Encoder)>,
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
            Format::Zstd => self.zstd(compression, &mut input, output)?,
            Format::Compress | Format::Pack | Format::Lzh | Format::Zip | Format::Zlib => {
                pipes::not_written(compression.format)
            }
            Format::Lzip => self.lzip(compression, &mut input, output)?,
            Format::Xz => self.xz(compression, &mut input, output)?,
        };
        Ok(Compressed { read: input.bytes, written: output.bytes })
    }

    fn gzip<W: Write>(&mut self, compression: &Compression, input: impl Read, output: W) -> Result<W, Error> {
        let kind = (compression.level, compression.layout);
        if self.gzip_encoder.as_ref().is_none_or(|(of, _)| *of != kind) {
            self.gzip_encoder = Some((kind, pipes::gzip::encoder(compression)));
        }
        let (_, encoder) = self.gzip_encoder.as_mut().expect("it was just made");
        encoder.set_origin(compression.origin.clone());
        let mut file = pipes::gzip::writer(compression, output);
        let mut blocks = compression.blocks(input);
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

    fn zstd<W: Write>(&mut self, compression: &Compression, input: impl Read, output: W) -> Result<W, Error> {
        let (level, encoding) = (pipes::zstd::level(compression), &compression.zstd);
        let kept = self.zstd_encoder.take().filter(|(of, with, _)| *of == level && with == encoding);
        let (_, _, encoder) = self.zstd_encoder.insert(match kept {
            Some(kept) => kept,
            None => (level, encoding.clone(), zstd::Encoder::new(level, encoding)),
        });
        let (block, data) = (&mut self.block, &mut self.data);
        pipes::zstd::in_frames(compression, input, output, |portion, file| {
            let mut blocks = compression.blocks(portion);
            let mut summing = pipes::zstd::Summing::of(compression);
            while let Some(read) = blocks.read_into(mem::take(block)).map_err(Error::Read)? {
                let encoded = encoder.encode_into(&read, mem::take(data));
                file.write(&encoded, summing.add(&read)).map_err(Error::Write)?;
                (*block, *data) = (read.data, encoded.bytes);
            }
            Ok(())
        })
    }

    fn lzip<W: Write>(
        &mut self,
        compression: &Compression,
        input: impl Read,
        mut output: W,
    ) -> Result<W, Error> {
        let mut encoder = lzip::Encoder::new(pipes::lzip::settings(compression));
        let mut blocks = compression.blocks(input);
        while let Some(block) = blocks.read_into(mem::take(&mut self.block)).map_err(Error::Read)? {
            self.data = encoder.encode_into(&block.data, mem::take(&mut self.data));
            output.write_all(&self.data).map_err(Error::Write)?;
            self.block = block.data;
        }
        Ok(output)
    }

    fn xz<W: Write>(&mut self, compression: &Compression, input: impl Read, output: W) -> Result<W, Error> {
        let mut encoder = xz::Encoder::new(pipes::xz::settings(compression));
        let mut file = xz::StreamWriter::new(output, compression.lzma.check);
        let mut blocks = compression.blocks(input);
        while let Some(block) = blocks.read_into(mem::take(&mut self.block)).map_err(Error::Read)? {
            let encoded = encoder.encode_into(&block.data, mem::take(&mut self.data));
            file.write(&encoded).map_err(Error::Write)?;
            (self.block, self.data) = (block.data, encoded.into_bytes());
        }
        file.finish().map_err(Error::Write)
    }

    /// As [`Decompression::run`], on this thread alone.
    ///
    /// # Errors
    ///
    /// As [`Decompression::run`].
    pub fn decompress(
        &mut self,
        decompression: &Decompression,
        input: impl Read,
        output: impl Write,
    ) -> Result<Decompressed, Error> {
        let mut input = Counted::new(input);
        let mut output = Counted::new(output);
        let (format, whole) = Format::sniff(&mut input).map_err(Error::Read)?;
        let mut mistaken = None;
        let result = match format {
            Some(Format::Bzip2) => bunzip2(whole, &mut output),
            Some(Format::Zstd) => self.parts(decompression.zstd_scanner(), whole, &mut output),
            Some(Format::Compress) => serial(lzw::Decoder::default(), whole, &mut output),
            Some(Format::Pack) => serial(pack::Decoder::default(), whole, &mut output),
            Some(Format::Lzh) => serial(lzh::Decoder::default(), whole, &mut output),
            Some(Format::Zip) => serial(zip::Decoder::default(), whole, &mut output),
            Some(Format::Zlib) => serial(zlib::Decoder::default(), whole, &mut output),
            Some(Format::Lzip) => self.parts(decompression.lzip_scanner(1), whole, &mut output),
            Some(Format::Xz) => self.parts(decompression.xz_scanner(1), whole, &mut output),
            Some(Format::Gzip) | None => self.gunzip(whole, &mut output, &mut mistaken),
        };
        let garbage_at = match result {
            Ok(()) => None,
            Err(error) => Some(error.is_garbage_at().ok_or(error)?),
        };
        output.flush().map_err(Error::Write)?;
        Ok(Decompressed { read: input.bytes, written: output.bytes, garbage_at, mistaken })
    }

    fn gunzip(
        &mut self,
        input: impl Read,
        mut output: impl Write,
        mistaken: &mut Option<u64>,
    ) -> Result<(), Error> {
        let decoder = self.gzip_decoder.get_or_insert_default();
        let mut pieces = gzip::Splitter::new(input);
        while let Some(piece) = pieces.next() {
            *mistaken = pieces.mistaken();
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

    fn parts<S: Scan>(&mut self, scanner: S, input: impl Read, mut output: impl Write) -> Result<(), Error>
    where
        Error: From<S::Error>,
    {
        let mut reader = parts::Reader::with(scanner, input);
        while reader.read_into(&mut self.data).map_err(Error::of_reader::<S::Error>)? {
            output.write_all(&self.data).map_err(Error::Write)?;
        }
        Ok(())
    }
}

fn bunzip2(input: impl Read, mut output: impl Write) -> Result<(), Error> {
    for contents in bzip2::Reader::new(input) {
        let contents = contents.map_err(Error::of_reader::<bzip2::DecodeError>)?;
        contents.write_to(&mut output).map_err(Error::Write)?;
    }
    Ok(())
}

fn serial<S: Serial>(mut decoder: S, mut input: impl Read, mut output: impl Write) -> Result<(), Error>
where
    Error: From<S::Error>,
{
    let (mut buffer, mut data) = (vec![0; 128 << 10], Vec::new());
    loop {
        let len = match input.read(&mut buffer) {
            Ok(len) => len,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Error::Read(error)),
        };
        let mut rest = &buffer[..len];
        while if len == 0 { decoder.finish(&mut data) } else { decoder.next(&mut rest, &mut data) }? {
            output.write_all(&data).map_err(Error::Write)?;
        }
        if len == 0 {
            return Ok(());
        }
    }
}

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tools").finish_non_exhaustive()
    }
}
