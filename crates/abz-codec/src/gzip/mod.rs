//! The gzip file format ([RFC 1952]), as members that can be made and read in parallel.
//!
//! A gzip file is a series of members; its contents are theirs, one after another (section 2.2). A member is a
//! header, deflate data ([RFC 1951]), and a trailer with a CRC-32 and the size of its contents. Nothing in it
//! says where it ends: one finds out by decoding. So the members written here say it, in the place that the RFC
//! has for such things, the *extra field* of the header (section 2.3.1.1). It is a series of subfields, each
//! two letters, a 16-bit length, and data; a reader ignores those that it does not know.
//!
//! # Subfield `AB`: the extent of a member
//!
//! In every member, before all other subfields. Numbers are little-endian, as everywhere in gzip.
//!
//! | at | bytes | |
//! |--:|--:|---|
//! | 0 | 4 | compressed size: all bytes of this member, from its first magic byte to the end of its trailer |
//! | 4 | 4 | uncompressed size: what its trailer (ISIZE) says too, known here before the data |
//! | 8 | 1 | bit 0: another member of this file follows; the other bits are 0 |
//!
//! Bit 0 is what makes a file that was cut between two members known as such: gzip alone takes it for whole.
//! A reader that finds another length, or other bits set, must take the member for a foreign one.
//!
//! A file of one block is one member. Any other ends with an **index**:
//!
//! # Subfield `AI`: a part of the index
//!
//! In the headers of empty members, each of which describes the members since the part before it, at most
//! [`PART_MEMBERS`]: every full part follows its members, and the last part ends the file.
//!
//! | at | bytes | |
//! |--:|--:|---|
//! | 0 | 8 | how many members (not counting parts of the index) lie before the first one described here |
//! | 8 | 8 × *n* | for each of *n* members its compressed and its uncompressed size, 4 bytes each |
//! | 8 + 8*n* | 4 | the CRC-32 of all of this subfield's data before this place |
//! | 12 + 8*n* | 4 | the compressed size of this empty member, the same as in its `AB` |
//!
//! The member that carries a part has this subfield last and neither name nor comment, and its data is the two
//! bytes `03 00`: so the last 14 bytes of a file are the last number of the table, `03 00`, and a trailer of
//! eight zeros. That is how a reader that can seek finds the last part; the sum of the sizes in a part leads to its
//! first member, and the part before ends there. [`Index::read`] does so, and checks every step.
//!
//! # BGZF
//!
//! The blocked gzip of bioinformatics (the SAM specification, section 4.1) has the same idea: its subfield `BC`
//! holds the compressed size less one in 16 bits. The [`Scanner`] understands both, and an [`Encoder`] makes either.
//!
//! [RFC 1951]: https://www.rfc-editor.org/rfc/rfc1951
//! [RFC 1952]: https://www.rfc-editor.org/rfc/rfc1952

mod decode;
mod encode;
mod error;
mod extent;
mod header;
mod index;
mod inflate;
mod member;
mod piece;
mod points;
mod read;
mod salvage;
mod scan;
mod split;
mod store;
mod sums;
mod survey;
mod write;

pub use decode::Decoder;
pub use encode::{BGZF_BLOCK, Encoded, Encoder, MAX_BLOCK, MAX_NAME, Origin};
pub use error::{DecodeError, Fault, HeaderError, IndexError, Part};
pub use extent::Extent;
pub use header::{HEADER_LIMIT, Header, Subfields};
pub use index::{Entry, Index, PART_MEMBERS};
pub use member::Member;
pub(crate) use piece::inflate_blocks;
pub use points::{Found, find_parts};
pub use read::Reader;
pub use salvage::Salvager;
pub use scan::{Scanned, Scanner, Stretch};
pub use split::{Piece, Splitter};
pub use sums::Verifier;
pub use survey::Survey;
pub(crate) use survey::parts;
pub use write::MemberWriter;

/// The size of a member's trailer in bytes: CRC-32 and ISIZE (RFC 1952, section 2.3).
const TRAILER_LEN: usize = 8;

/// The deflate data of nothing: one final block with fixed codes that holds only its end (RFC 1951, section
/// 3.2.6).
const EMPTY_DEFLATE: [u8; 2] = [0x03, 0x00];

/// A little-endian 32-bit number at the start of `bytes`.
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// A little-endian 64-bit number at the start of `bytes`.
fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}
