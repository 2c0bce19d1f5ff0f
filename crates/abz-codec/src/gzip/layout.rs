//! The layouts of a file, and the encoded blocks that are written into it.

/// The largest size of a block (4 MiB), and of the contents of a member that is decoded as a whole, in bytes. It bounds
/// the memory of a program that holds several members. (Larger blocks would compress no better.)
pub const MAX_BLOCK: usize = 4 << 20;

/// The largest size of a compressed member that is decoded as a whole, in bytes. Deflate does not expand a block by
/// that much.
pub(super) const MAX_COMPRESSED: u64 = MAX_BLOCK as u64 + (1 << 20);

/// The division of a file into members and blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// One member, whose blocks have [marks](super) if there are several.
    #[default]
    OneMember,
    /// A member for each block, with an index at the end if there are several.
    Members,
    /// Members of BGZF, without name and time.
    Bgzf,
    /// Not gzip: the deflate data in a stream of zlib (RFC 1950), without name and time.
    Zlib,
    /// Not gzip: the deflate data as the only file of a zip archive.
    Zip,
}

/// An encoded block, ready to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// The bytes of a member, or of a block in a member, without its mark.
    pub bytes: Vec<u8>,
    /// For the first block of a member, the header of the member.
    pub(super) header: Vec<u8>,
    /// Whether this is a block in a member, and not a member.
    pub(super) is_block: bool,
    /// Whether the block may refer to the blocks before it, so that it has no mark.
    pub(super) is_flushed: bool,
    /// Whether its deflate data ends the deflate data of the member, because it is the only block.
    pub(super) ends: bool,
    /// The CRC-32 of the contents, or for zlib their Adler-32.
    pub(super) crc32: u32,
    /// The size of the contents in bytes.
    pub uncompressed: u32,
    /// Whether the member states that another one follows. The file must then end with an index; a
    /// [`Writer`](super::Writer) writes it.
    pub more: bool,
}
