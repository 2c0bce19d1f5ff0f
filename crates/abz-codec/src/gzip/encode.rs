//! Encoding of blocks as gzip members.

use std::fmt;

use libdeflater::{adler32, crc32};

use super::ends::{SLACK, Walker};
use super::flush::Flushed;
use super::layout::{Encoded, Layout, MAX_BLOCK};
use super::store::Judge;
use super::{Extent, Header, TRAILER_LEN, small, wrap};
use crate::Block;
use crate::memory::{NoMemory, grow};
use crate::system::Compressor;

/// The largest size of a block of BGZF in bytes, which its tools use, too. Compressed or stored, such a block fits into
/// a member of 64 KiB (SAM specification, section 4.1).
pub const BGZF_BLOCK: usize = 0xff00;

/// The largest size of a stored name in bytes; the rest is cut off.
pub const MAX_NAME: usize = 4096;

/// The system in a header (RFC 1952, section 2.3.1): Unix, or unknown.
const SYSTEM: u8 = if cfg!(unix) { 3 } else { 255 };

/// The origin of the contents, which the first member of a file states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The name of the original file, without folders. It is stored up to the first zero byte, and at most [`MAX_NAME`]
    /// bytes of it.
    pub name: Option<Vec<u8>>,
    /// The modification time of the original file in seconds since 1970; 0 if it is not to be stored.
    pub mtime: u32,
}

/// An encoder of gzip members, or of parts of one, each from one block. It keeps the compressor's tables and a buffer,
/// so use one per worker for many blocks.
///
/// The same block gives the same bytes, whatever the encoder was used for before. A block that is compressed already (a
/// photo, a film, another archive) is recognised and stored, in a fraction of the time.
///
/// ```
/// use abz_codec::gzip::{Encoder, Origin};
/// use abz_codec::{Blocks, DEFAULT_BLOCK_SIZE};
///
/// let origin = Origin { name: Some(b"river.txt".to_vec()), mtime: 1_700_000_000 };
/// let mut encoder = Encoder::new(9).origin(origin);
/// for block in Blocks::new(&b"water"[..], DEFAULT_BLOCK_SIZE) {
///     let member = encoder.encode(&block?)?;
///     assert_eq!(member.uncompressed, 5);
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Encoder {
    /// Made for the first block.
    deflate: Option<Deflate>,
    /// The stream of the blocks that were flushed last.
    flushed: Option<Flushed>,
    level: u32,
    origin: Origin,
    layout: Layout,
}

/// A compressor for deflate streams, and its memory.
struct Deflate {
    compressor: Compressor,
    /// The compressor for blocks that are not worth compressing.
    storer: Compressor,
    judge: Judge,
    /// Finds the ends of the compressor's streams.
    walker: Walker,
    /// The output buffer of the compressor. It has the size of the worst case, and is initialised once.
    scratch: Vec<u8>,
}

impl Encoder {
    /// Creates an encoder with a level of libdeflate, from 1 (fastest) to 12 (smallest); 6 is a good default. Levels
    /// from 10 on take far longer for a few percent.
    ///
    /// # Panics
    ///
    /// If `level` is not in `1..=12`.
    pub fn new(level: u32) -> Self {
        assert!((1..=12).contains(&level), "level {level} is not one of 1 to 12");
        Encoder { deflate: None, flushed: None, level, origin: Origin::default(), layout: Layout::default() }
    }

    /// Sets the layout of the files. The [`Writer`](super::Writer) must have the same layout.
    ///
    /// ```
    /// use abz_codec::Blocks;
    /// use abz_codec::gzip::{BGZF_BLOCK, Encoder, Layout, Writer};
    ///
    /// let mut encoder = Encoder::new(6).layout(Layout::Bgzf);
    /// let mut file = Writer::new(Vec::new(), Layout::Bgzf);
    /// for block in Blocks::new(&[b'A'; 100_000][..], BGZF_BLOCK) {
    ///     file.write(&encoder.encode(&block?)?)?;
    /// }
    /// assert!(file.finish()?.len() < 1000);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn layout(self, layout: Layout) -> Self {
        Encoder { layout, ..self }
    }

    /// Sets the origin that the first member of a file states.
    #[must_use]
    pub fn origin(mut self, origin: Origin) -> Self {
        self.set_origin(origin);
        self
    }

    /// Sets the origin that the first member of a file states, so that the encoder can be used for another file.
    pub fn set_origin(&mut self, origin: Origin) {
        self.origin = origin;
    }

    /// Encodes a block as a member or as a part of one. The encoded blocks of an input, in order, form a gzip file
    /// together with the bytes that a [`Writer`](super::Writer) puts between and behind them.
    ///
    /// # Errors
    ///
    /// If there is not enough memory.
    ///
    /// # Panics
    ///
    /// If the block is longer than [`MAX_BLOCK`], or longer than [`BGZF_BLOCK`] with [`Layout::Bgzf`].
    pub fn encode(&mut self, block: &Block) -> Result<Encoded, NoMemory> {
        let is_bgzf = self.layout == Layout::Bgzf;
        let most = if is_bgzf { BGZF_BLOCK } else { MAX_BLOCK };
        assert!(block.data.len() <= most, "a block has at most {most} bytes");
        // It is put back at the end.
        let mut deflate = match self.deflate.take() {
            Some(deflate) => deflate,
            None => Deflate::new(self.level)?,
        };
        let encoded = self.encode_by(&mut deflate, block);
        self.deflate = Some(deflate);
        encoded
    }

    /// Encodes a block that a flush ended. It refers to the block before it if that was flushed, too, and `follows` is
    /// true. That number of short blocks takes little more than a long one. Blocks of [`Layout::Members`] and [`Layout::Bgzf`]
    /// are encoded as [`encode`](Self::encode) does.
    ///
    /// ```
    /// use abz_codec::Block;
    /// use abz_codec::gzip::{Encoder, Layout, Writer};
    ///
    /// let (mut encoder, mut file) = (Encoder::new(6), Writer::new(Vec::new(), Layout::OneMember));
    /// for number in 0..1000 {
    ///     let block = Block { number, data: b"a branch of a river\n".to_vec(), whole: false };
    ///     file.write(&encoder.encode_flushed(&block, number > 0)?)?;
    /// }
    /// assert!(file.finish()?.len() < 12_000);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If there is not enough memory.
    ///
    /// # Panics
    ///
    /// As [`encode`](Self::encode).
    pub fn encode_flushed(&mut self, block: &Block, follows: bool) -> Result<Encoded, NoMemory> {
        if matches!(self.layout, Layout::Members | Layout::Bgzf) {
            return self.encode(block);
        }
        assert!(block.data.len() <= MAX_BLOCK, "a block has at most {MAX_BLOCK} bytes");
        let mut flushed = match self.flushed.take() {
            Some(flushed) if follows => flushed,
            _ => Flushed::new(self.level),
        };
        let bytes = flushed.piece(&block.data);
        self.flushed = Some(flushed);
        Ok(Encoded { is_flushed: true, ..self.part(block, bytes) })
    }

    /// Makes a part of a member from the deflate data of a block, which ends at a byte boundary.
    fn part(&self, block: &Block, bytes: Vec<u8>) -> Encoded {
        let sum = if self.layout == Layout::Zlib { adler32(&block.data) } else { crc32(&block.data) };
        let header = if block.number == 0 { self.header(Vec::new()) } else { Vec::new() };
        let (uncompressed, is_block, is_flushed) = (block.data.len() as u32, true, false);
        Encoded { bytes, header, is_block, is_flushed, ends: false, crc32: sum, uncompressed, more: false }
    }

    /// Makes the header of a member whose first block is the first one of the file, with an extra field.
    fn header(&self, extra: Vec<u8>) -> Vec<u8> {
        let (name, mtime) = self.stored_origin();
        match self.layout {
            Layout::Zlib => wrap::zlib_header(self.level),
            Layout::Zip => wrap::zip_header(name.as_deref(), mtime),
            _ => self.member_header(name, mtime, extra),
        }
    }

    fn member_header(&self, name: Option<Vec<u8>>, mtime: u32, extra: Vec<u8>) -> Vec<u8> {
        let extra_flags = match self.level {
            1 => 4,
            2..=8 => 0,
            _ => 2,
        };
        // The tools of BGZF write an unknown system.
        let os = if self.layout == Layout::Bgzf { Header::default().os } else { SYSTEM };
        let mut bytes = Vec::new();
        Header { mtime, extra_flags, os, extra, name, ..Header::default() }.write(&mut bytes);
        bytes
    }

    fn encode_by(&self, deflate: &mut Deflate, block: &Block) -> Result<Encoded, NoMemory> {
        let is_bgzf = self.layout == Layout::Bgzf;
        let len = deflate.deflate(&block.data)?;
        if matches!(self.layout, Layout::OneMember | Layout::Zlib | Layout::Zip)
            && !(self.layout == Layout::OneMember && block.whole)
        {
            let bytes = match block.whole {
                true => deflate.scratch[..len].to_vec(),
                false if block.data.is_empty() => Vec::new(),
                false => deflate.as_block(len),
            };
            return Ok(Encoded { ends: block.whole, ..self.part(block, bytes) });
        }

        let (uncompressed, crc32) = (block.data.len() as u32, crc32(&block.data));
        let tells_origin = block.number == 0 && !is_bgzf;
        let (name, mtime) = if tells_origin { self.stored_origin() } else { (None, 0) };
        let more = self.layout == Layout::Members && !block.whole;
        // Some headers state the size of the member including the header. The length of the header does not depend
        // on that number.
        let header = |compressed: u32| {
            let mut extra = Vec::new();
            match self.layout {
                Layout::Bgzf => Extent::push_bgzf_to(compressed.saturating_sub(1) as u16, &mut extra),
                Layout::Members => {
                    Extent { compressed, uncompressed: Some(uncompressed), more }.push_to(&mut extra);
                }
                _ => {}
            }
            self.member_header(name.clone(), mtime, extra)
        };
        let compressed = header(0).len() + len + TRAILER_LEN;

        let mut bytes = Vec::with_capacity(compressed);
        bytes.extend(header(compressed as u32));
        bytes.extend(&deflate.scratch[..len]);
        bytes.extend(crc32.to_le_bytes());
        bytes.extend(uncompressed.to_le_bytes());
        let (header, is_block, is_flushed, ends) = (Vec::new(), false, false, true);
        Ok(Encoded { bytes, header, is_block, is_flushed, ends, crc32, uncompressed, more })
    }

    /// Returns the name and the time of the origin as the first member stores them.
    fn stored_origin(&self) -> (Option<Vec<u8>>, u32) {
        let name = self.origin.name.as_ref().map(|name| {
            let end = memchr::memchr(0, name).unwrap_or(name.len()).min(MAX_NAME);
            name[..end].to_vec()
        });
        (name.filter(|name| !name.is_empty()), self.origin.mtime)
    }
}

impl Deflate {
    fn new(level: u32) -> Result<Self, NoMemory> {
        let (compressor, storer) = (Compressor::new(level)?, Compressor::new(0)?);
        Ok(Deflate { compressor, storer, judge: Judge::new()?, walker: Walker::new(), scratch: Vec::new() })
    }

    /// Compresses `data` into the scratch buffer. Returns the number of bytes.
    fn deflate(&mut self, data: &[u8]) -> Result<usize, NoMemory> {
        let (compressor, storer) = (&mut self.compressor, &mut self.storer);
        let bounds = [&mut *compressor, storer].map(|either| either.bound(data.len()));
        let bound = bounds[0].max(bounds[1]) + SLACK;
        if self.scratch.len() < bound {
            grow(&mut self.scratch, bound)?;
        }
        let compressor = match self.judge.is_incompressible(data, &mut self.scratch) {
            true => &mut self.storer,
            false => &mut self.compressor,
        };
        let len =
            compressor.compress(data, &mut self.scratch).expect("the buffer is as large as the worst case");
        if data.len() > small::MOST {
            return Ok(len);
        }
        let mut shorter = [0; small::MOST];
        let room = &mut shorter[..small::MOST.min(len - 1)];
        Ok(match small::deflate(data, room) {
            Some(len) => {
                self.scratch[..len].copy_from_slice(&shorter[..len]);
                len
            }
            None => len,
        })
    }

    /// Converts the stream in the scratch buffer to blocks for the middle of another stream, which end at a byte
    /// boundary.
    fn as_block(&mut self, len: usize) -> Vec<u8> {
        let ends = self.walker.ends(&self.scratch[..len + SLACK]).expect("libdeflate makes streams");
        let mut bytes = Vec::with_capacity(len + 5);
        bytes.extend_from_slice(&self.scratch[..len]);
        bytes[ends.last_block / 8] &= !(1 << (ends.last_block % 8));
        // The other bits of the last byte are zeros. If there are at least three, they are the header of a stored
        // block.
        match ends.end % 8 {
            0 => {}
            1..=5 => bytes.extend([0, 0, 0xff, 0xff]),
            _ => bytes.extend([0, 0, 0, 0xff, 0xff]),
        }
        bytes
    }
}

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder")
            .field("level", &self.level)
            .field("origin", &self.origin)
            .finish_non_exhaustive()
    }
}
