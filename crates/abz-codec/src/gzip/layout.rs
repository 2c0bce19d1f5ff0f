//! How a file is laid out, and the blocks that are written into it.

/// The most bytes that a block may have (4 MiB), and the most contents of a member that is decoded as a whole:
/// what bounds the memory of a program that has some members in hand. (Larger blocks would compress no better.)
pub const MAX_BLOCK: usize = 4 << 20;

/// The most bytes of a compressed member that is taken as a whole: deflate makes no block larger by so much.
pub(super) const MAX_COMPRESSED: u64 = MAX_BLOCK as u64 + (1 << 20);

/// The members and blocks of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// One member, whose blocks have [marks](super) if there are several.
    #[default]
    OneMember,
    /// As many members as blocks, with an index at the end if there are several.
    Members,
    /// Members of BGZF. They tell no origin.
    Bgzf,
    /// No gzip: the same deflate data in a stream of zlib (RFC 1950), which tells no origin.
    Zlib,
    /// No gzip: the same deflate data as the one file of an archive of zip.
    Zip,
}

/// A block, ready to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// The bytes of a member; or of a block in one, without its mark.
    pub bytes: Vec<u8>,
    /// Of the first block in a member, the header of that, which comes before.
    pub(super) header: Vec<u8>,
    /// True of a block in a member.
    pub(super) is_block: bool,
    /// True if its deflate data ends that of the member: it is the only block.
    pub(super) ends: bool,
    /// The CRC-32 of the contents; for zlib their Adler-32.
    pub(super) crc32: u32,
    /// The size of its contents in bytes.
    pub uncompressed: u32,
    /// True if it says that another member follows: then the file must end with an index, as
    /// [`Writer`](super::Writer) sees to.
    pub more: bool,
}
