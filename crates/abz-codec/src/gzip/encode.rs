//! Blocks into members.

use std::fmt;

use libdeflater::{CompressionLvl, Compressor, crc32};

use super::store::Judge;
use super::{Extent, Header, TRAILER_LEN};
use crate::Block;

/// The most bytes that a block may have (4 MiB), and the most contents of a member that is decoded as a whole:
/// what bounds the memory of a program that has some members in hand. (Larger blocks would compress no better.)
pub const MAX_BLOCK: usize = 4 << 20;

/// The most bytes that a block of BGZF may have, and the number that its tools use: compressed, or stored, it fits into
/// the 64 KiB of a member (SAM specification, section 4.1).
pub const BGZF_BLOCK: usize = 0xff00;

/// The most bytes of a name that are stored; the rest is cut off.
pub const MAX_NAME: usize = 4096;

/// Where contents came from: what the first member of a file says of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The name of the original file, without folders. What follows a zero byte, or exceeds [`MAX_NAME`], is not
    /// stored.
    pub name: Option<Vec<u8>>,
    /// When the original file was last changed, in seconds since 1970; 0 if that is not to be told.
    pub mtime: u32,
}

/// Makes gzip members, each from one block. It keeps the compressor's tables and a buffer, so a worker has one
/// and uses it again and again; a worker of another kind than a thread needs nothing else.
///
/// The same block gives the same bytes whatever the encoder was used for before. A block that is compressed already
/// (a photo, a film, another archive) is recognised and stored as it is, in a fraction of the time.
///
/// ```
/// use abz_codec::gzip::{Encoder, Origin};
/// use abz_codec::{Blocks, DEFAULT_BLOCK_SIZE};
///
/// let origin = Origin { name: Some(b"river.txt".to_vec()), mtime: 1_700_000_000 };
/// let mut encoder = Encoder::new(9).origin(origin);
/// for block in Blocks::new(&b"water"[..], DEFAULT_BLOCK_SIZE) {
///     let member = encoder.encode(&block?);
///     assert_eq!(member.uncompressed, 5);
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Encoder {
    compressor: Compressor,
    /// For blocks that are not worth compressing.
    storer: Compressor,
    judge: Judge,
    level: u32,
    origin: Origin,
    is_bgzf: bool,
    /// Where the compressor writes: as large as its worst case, and initialised once.
    scratch: Vec<u8>,
}

/// A member, ready to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// The bytes of the member.
    pub bytes: Vec<u8>,
    /// The size of its contents in bytes.
    pub uncompressed: u32,
    /// True if it says that another member follows: then the file must end with an index, as
    /// [`MemberWriter`](super::MemberWriter) sees to.
    pub more: bool,
}

impl Encoder {
    /// An encoder of the given level, 1 (fastest) to 12 (smallest); 6 is a good one. Levels are those of
    /// libdeflate: from 10 on they take far longer for a few percent.
    ///
    /// # Panics
    ///
    /// If `level` is not in `1..=12`.
    pub fn new(level: u32) -> Self {
        assert!((1..=12).contains(&level), "level {level} is not one of 1 to 12");
        let compressor = Compressor::new(CompressionLvl::new(level as i32).expect("it was just checked"));
        let storer = Compressor::new(CompressionLvl::new(0).expect("libdeflate has level 0"));
        let (judge, origin) = (Judge::new(), Origin::default());
        Encoder { compressor, storer, judge, level, origin, is_bgzf: false, scratch: Vec::new() }
    }

    /// The same encoder, making members of BGZF, for [`MemberWriter::bgzf`](super::MemberWriter::bgzf). They tell no
    /// origin.
    ///
    /// ```
    /// use abz_codec::Blocks;
    /// use abz_codec::gzip::{BGZF_BLOCK, Encoder, MemberWriter};
    ///
    /// let mut encoder = Encoder::new(6).bgzf();
    /// let mut file = MemberWriter::bgzf(Vec::new());
    /// for block in Blocks::new(&[b'A'; 100_000][..], BGZF_BLOCK) {
    ///     file.write(&encoder.encode(&block?))?;
    /// }
    /// assert!(file.finish()?.len() < 1000);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn bgzf(self) -> Self {
        Encoder { is_bgzf: true, ..self }
    }

    /// The same encoder; the first member of a file tells `origin`.
    #[must_use]
    pub fn origin(mut self, origin: Origin) -> Self {
        self.set_origin(origin);
        self
    }

    /// From now on the first member of a file tells `origin`: for an encoder that goes from file to file.
    pub fn set_origin(&mut self, origin: Origin) {
        self.origin = origin;
    }

    /// The member of one block. Members of an input's blocks, in order and followed by an index where they say
    /// that more follows, are a gzip file: see [`MemberWriter`](super::MemberWriter).
    ///
    /// # Panics
    ///
    /// If the block is longer than [`MAX_BLOCK`], or [`BGZF_BLOCK`].
    pub fn encode(&mut self, block: &Block) -> Encoded {
        let most = if self.is_bgzf { BGZF_BLOCK } else { MAX_BLOCK };
        assert!(block.data.len() <= most, "a block has at most {most} bytes");
        let uncompressed = block.data.len() as u32;
        let more = !block.whole && !self.is_bgzf;

        let (compressor, storer) = (&mut self.compressor, &mut self.storer);
        let bounds = [&mut *compressor, storer].map(|either| either.deflate_compress_bound(block.data.len()));
        let bound = bounds[0].max(bounds[1]);
        if self.scratch.len() < bound {
            self.scratch.resize(bound, 0);
        }
        let compressor = match self.judge.is_incompressible(&block.data, &mut self.scratch) {
            true => &mut self.storer,
            false => &mut self.compressor,
        };
        let len = compressor
            .deflate_compress(&block.data, &mut self.scratch)
            .expect("the buffer is as large as the worst case");

        let tells_origin = block.number == 0 && !self.is_bgzf;
        let (name, mtime) = if tells_origin { self.stored_origin() } else { (None, 0) };
        // The header holds the size of all, itself included; its own length does not depend on that number.
        let header = |compressed: u32| {
            let mut extra = Vec::new();
            match self.is_bgzf {
                true => Extent::push_bgzf_to(compressed.saturating_sub(1) as u16, &mut extra),
                false => Extent { compressed, uncompressed: Some(uncompressed), more }.push_to(&mut extra),
            }
            let extra_flags = match self.level {
                1 => 4,
                2..=8 => 0,
                _ => 2,
            };
            let mut bytes = Vec::new();
            Header { mtime, extra_flags, extra, name: name.clone(), ..Header::default() }.write(&mut bytes);
            bytes
        };
        let compressed = header(0).len() + len + TRAILER_LEN;

        let mut bytes = Vec::with_capacity(compressed);
        bytes.extend(header(compressed as u32));
        bytes.extend(&self.scratch[..len]);
        bytes.extend(crc32(&block.data).to_le_bytes());
        bytes.extend(uncompressed.to_le_bytes());
        Encoded { bytes, uncompressed, more }
    }

    /// What the first member stores of the origin.
    fn stored_origin(&self) -> (Option<Vec<u8>>, u32) {
        let name = self.origin.name.as_ref().map(|name| {
            let end = memchr::memchr(0, name).unwrap_or(name.len()).min(MAX_NAME);
            name[..end].to_vec()
        });
        (name.filter(|name| !name.is_empty()), self.origin.mtime)
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
