//! Encoding of blocks as frames, or as pieces of one.

use std::fmt;

use crc32fast::hash as crc32;
use zstd_safe::{CCtx, CParameter};

use super::error::no_memory;
use super::flush::Flushed;
use super::{Dictionary, FrameHeader, LEVELS, MAX_BLOCK, MAX_WINDOW_LOG, Reference, frame_size, joint};
use crate::Block;
use crate::memory::{NoMemory, make_exact_room};

/// The division of a file into frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// One frame, which has a piece with a [mark](super) for each block if there are several.
    #[default]
    OneFrame,
    /// A frame for each block, with a table at the end if there are several.
    Frames,
}

/// The settings of an encoder, except for the level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoding {
    /// The division of the file into frames.
    pub layout: Layout,
    /// Whether frames end with a checksum.
    pub checksum: bool,
    /// The logarithm to base 2 of the window in bytes, for a search for repetitions far apart: 10 to
    /// [`MAX_WINDOW_LOG`]. A decoder needs as much memory as the window.
    pub long: Option<u32>,
    /// The dictionary that the frames may refer to. A decoder needs it, too. In a frame of several pieces only the
    /// first one refers to it.
    pub dictionary: Option<Dictionary>,
    /// The reference file, if a [patch](super::PatchWriter) is made and not blocks.
    pub patch_from: Option<Reference>,
}

impl Default for Encoding {
    /// Returns settings for one frame with a checksum, without the other features.
    fn default() -> Self {
        Encoding { layout: Layout::default(), checksum: true, long: None, dictionary: None, patch_from: None }
    }
}

impl Encoding {
    /// Returns the contents of a block in bytes: the size for the level ([`frame_size`]), but at least a long window.
    pub fn frame_size(&self, level: i32) -> usize {
        frame_size(level).max(self.long.map_or(0, |log| 1 << log))
    }

    /// Returns the header of a frame whose pieces have at most `block_size` bytes of contents. `contents` is the size
    /// of all contents in bytes, if it is known.
    pub fn header(&self, level: i32, block_size: usize, contents: Option<u64>) -> FrameHeader {
        let window = 1 << self.long.unwrap_or(window_log(level));
        let window = window.min(block_size.next_power_of_two() as u64).max(MAX_BLOCK as u64);
        let dictionary = self.dictionary.as_ref().map_or(0, Dictionary::id);
        FrameHeader { window, contents, dictionary, checksum: self.checksum }
    }

    /// Creates an encoder of libzstd.
    fn context(&self, level: i32, dictionary: Option<&Dictionary>) -> Result<CCtx<'static>, NoMemory> {
        let mut parameters = vec![CParameter::CompressionLevel(level)];
        if let Some(log) = self.long {
            assert!((10..=MAX_WINDOW_LOG).contains(&log), "windows have 2^10 to 2^{MAX_WINDOW_LOG} bytes");
            parameters.extend([CParameter::EnableLongDistanceMatching(true), CParameter::WindowLog(log)]);
        }
        let mut context = CCtx::try_create().ok_or(NoMemory { needed: 1 << 20 })?;
        for parameter in parameters {
            context.set_parameter(parameter).expect("it is in its range");
        }
        if let Some(dictionary) = dictionary {
            dictionary.teach(&mut context).map_err(|code| no_memory(code, dictionary.len()))?;
        }
        Ok(context)
    }
}

/// Returns the window of a level for larger contents, as the logarithm to base 2.
fn window_log(level: i32) -> u32 {
    match level {
        ..=1 => 19,
        2 => 20,
        3..=8 => 21,
        9..=16 => 22,
        17..=19 => 23,
        20 => 25,
        21 => 26,
        _ => 27,
    }
}

/// An encoded block, ready to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// The bytes of a frame, or of the blocks of a piece.
    pub bytes: Vec<u8>,
    /// The size of the contents in bytes.
    pub contents: usize,
    /// For a piece, the CRC-32 of its contents.
    pub(super) piece: Option<u32>,
    /// Whether the piece may refer to the pieces before it, so that it has no mark.
    pub(super) is_flushed: bool,
}

/// An encoder of frames, or of pieces of one, each from one block. It keeps libzstd's tables, so use one per worker for
/// many blocks.
///
/// The same contents give the same bytes, whatever the encoder was used for before.
///
/// ```
/// use abz_codec::zstd::{Checksum, Encoder, Encoding, FrameWriter, frame_size};
/// use abz_codec::Blocks;
///
/// let text = b"a branch of a river\n".repeat(300_000);
/// let (encoding, size) = (Encoding::default(), frame_size(3));
/// let (mut encoder, mut checksum) = (Encoder::new(3, &encoding), Checksum::new());
/// let header = encoding.header(3, size, Some(text.len() as u64));
/// let mut file = FrameWriter::new(Vec::new(), header, size);
/// for block in Blocks::new(&text[..], size) {
///     let block = block?;
///     let sum = checksum.add(&block.data);
///     file.write(&encoder.encode_into(&block, Vec::new())?, sum)?;
/// }
/// let file = file.finish()?;
/// assert!(file.starts_with(b"\x28\xb5\x2f\xfd") && file.len() < text.len() / 50);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Encoder {
    /// Made for the first block.
    context: Option<CCtx<'static>>,
    /// The encoder of the pieces without dictionary, if the first piece has one.
    without: Option<CCtx<'static>>,
    /// The stream of the pieces that were flushed last.
    flushed: Option<Flushed>,
    level: i32,
    encoding: Encoding,
    /// A piece as a frame.
    frame: Vec<u8>,
}

impl Encoder {
    /// Creates an encoder for frames of a level, one of [`LEVELS`].
    ///
    /// # Panics
    ///
    /// If a setting is out of its range.
    pub fn new(level: i32, encoding: &Encoding) -> Self {
        assert!(LEVELS.contains(&level), "the levels of zstd are {LEVELS:?}");
        let (context, without, flushed, encoding) = (None, None, None, encoding.clone());
        Encoder { context, without, flushed, level, encoding, frame: Vec::new() }
    }

    /// Encodes a block as a frame or as a piece of one. Drops the contents of `bytes` and uses its allocation. A
    /// [`FrameWriter`](super::FrameWriter) makes a file of the encoded blocks.
    ///
    /// # Errors
    ///
    /// If there is not enough memory.
    pub fn encode_into(&mut self, block: &Block, mut bytes: Vec<u8>) -> Result<Encoded, NoMemory> {
        bytes.clear();
        let contents = block.data.len();
        let Encoder { context, without, level, encoding, .. } = self;
        // A piece with other pieces before it cannot refer to a dictionary.
        let (context, dictionary) = match &encoding.dictionary {
            Some(_) if block.number > 0 && !block.whole && encoding.layout == Layout::OneFrame => {
                (without, None)
            }
            dictionary => (context, dictionary.as_ref()),
        };
        let context = match context {
            Some(context) => context,
            none => none.insert(encoding.context(*level, dictionary)?),
        };
        if block.whole || self.encoding.layout == Layout::Frames {
            compress(context, &block.data, self.encoding.checksum, &mut bytes)?;
            return Ok(Encoded { bytes, contents, piece: None, is_flushed: false });
        }
        compress(context, &block.data, false, &mut self.frame)?;
        let (header, len) = FrameHeader::parse(&self.frame).ok().flatten().expect("libzstd makes frames");
        debug_assert!(!header.checksum);
        let blocks = &self.frame[len..];
        let joined = match block.number {
            0 => joint::open_end(blocks, &mut bytes),
            _ => joint::detach(blocks, &mut bytes),
        };
        if joined.is_none() {
            bytes.clear();
            joint::store(&block.data, &mut bytes);
        }
        Ok(Encoded { bytes, contents, piece: Some(crc32(&block.data)), is_flushed: false })
    }

    /// Encodes a block that a flush ended, in a frame with this header. It refers to the block before it if that was
    /// flushed, too, and `follows` is true. That number of short blocks takes little more than a long one. Blocks of
    /// [`Layout::Frames`] are encoded as [`encode_into`](Self::encode_into) does.
    ///
    /// The first block of the frame must be a flushed one, too. Drops the contents of `bytes` and uses its allocation.
    ///
    /// ```
    /// use abz_codec::Block;
    /// use abz_codec::zstd::{Checksum, Encoder, Encoding, FrameWriter, frame_size};
    ///
    /// let (encoding, size) = (Encoding::default(), frame_size(3));
    /// let (mut encoder, mut checksum) = (Encoder::new(3, &encoding), Checksum::new());
    /// let header = encoding.header(3, size, None);
    /// let mut file = FrameWriter::new(Vec::new(), header, size);
    /// for number in 0..1000 {
    ///     let block = Block { number, data: b"a branch of a river\n".to_vec(), whole: false };
    ///     let encoded = encoder.encode_flushed_into(&block, &header, number > 0, Vec::new())?;
    ///     file.write(&encoded, checksum.add(&block.data))?;
    /// }
    /// assert!(file.finish()?.len() < 18_000);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If there is not enough memory.
    pub fn encode_flushed_into(
        &mut self,
        block: &Block,
        header: &FrameHeader,
        follows: bool,
        mut bytes: Vec<u8>,
    ) -> Result<Encoded, NoMemory> {
        if self.encoding.layout == Layout::Frames {
            return self.encode_into(block, bytes);
        }
        bytes.clear();
        let mut flushed = match self.flushed.take() {
            Some(flushed) if follows => flushed,
            _ => {
                let is_first = block.number == 0;
                let dictionary = self.encoding.dictionary.as_ref().filter(|_| is_first);
                Flushed::new(self.encoding.context(self.level, dictionary)?, header, is_first)
            }
        };
        if flushed.piece(&block.data, &mut bytes)? {
            self.flushed = Some(flushed);
        } else {
            bytes.clear();
            joint::store(&block.data, &mut bytes);
        }
        let (contents, piece) = (block.data.len(), Some(crc32(&block.data)));
        Ok(Encoded { bytes, contents, piece, is_flushed: true })
    }
}

/// Encodes `contents` as a frame.
fn compress(
    context: &mut CCtx<'_>,
    contents: &[u8],
    checksum: bool,
    frame: &mut Vec<u8>,
) -> Result<(), NoMemory> {
    make_exact_room(frame, zstd_safe::compress_bound(contents.len()))?;
    context.set_parameter(CParameter::ChecksumFlag(checksum)).expect("no frame is begun");
    context.compress2(frame, contents).map(drop).map_err(|code| no_memory(code, 3 * contents.len()))
}

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_those_of_libzstd() {
        for level in [-100, -1].into_iter().chain(1..=19) {
            let mut context = CCtx::create();
            context.set_parameter(CParameter::CompressionLevel(level)).unwrap();
            context.set_pledged_src_size(Some(1 << 30)).unwrap();
            let mut bytes = vec![0; 1 << 18];
            let mut out = zstd_safe::OutBuffer::around(&mut bytes[..]);
            context.compress_stream(&mut out, &mut zstd_safe::InBuffer::around(b"x")).unwrap();
            context.flush_stream(&mut out).unwrap();
            let (header, _) = FrameHeader::parse(out.as_slice()).unwrap().unwrap();
            assert_eq!(header.window, 1 << window_log(level), "level {level}");
        }
    }
}
