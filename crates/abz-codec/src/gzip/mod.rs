//! The gzip file format ([RFC 1952]), as blocks that can be made and read in parallel.
//!
//! A gzip file is a series of members; its contents are theirs, one after another (section 2.2). A member is a
//! header, deflate data ([RFC 1951]), and a trailer with a CRC-32 and the size of its contents. Many readers give only
//! the contents of the first member. So a file that is written here is one member, unless others are asked for. Some readers,
//! the kernel of Linux among them, take no header with an extra field (section 2.3.1.1). So this member has none.
//!
//! A file of one block has nothing but what RFC 1952 says, and is decoded as the file of any other program.
//!
//! Numbers are little-endian, as everywhere in gzip.
//!
//! # Marks: blocks in one member
//!
//! The deflate data of a file of several blocks is, for each block, a *mark* and deflate blocks that refer to nothing before
//! them; then an empty last block (`03 00`). All of these begin with a byte: where the data of a block ends within one, an
//! empty stored block follows (`00 00 ff ff`, after three bits). So a reader knows such a member by the mark that follows its
//! header.
//!
//! In old files, the header of such a member has a subfield `AM` in its extra field, with one byte, 2; and that of the member
//! of a file of one block has a subfield `AB`, as below.
//!
//! A mark has 81 bytes. It is a dynamic block (RFC 1951, section 3.2.7) that has only its end, and an empty stored block. The code
//! lengths of the first 240 literals are bits, from the lowest of the first byte on: a length of 8 is a 0, and a length of 9 is a 1.
//! They are 30 bytes:
//!
//! | at | bytes | |
//! |--:|--:|---|
//! | 0 | 6 | where the contents of the block begin in those of the member; all bits set: that is not told |
//! | 6 | 3 | the size of the contents |
//! | 9 | 3 | the size of the deflate data, from the end of this mark to the start of the next one, or of the last block |
//! | 12 | 4 | the CRC-32 of the contents |
//! | 16 | 4 | the CRC-32 of the first block's contents, the same in all marks of a member; 0 if the place is not told |
//! | 20 | 6 | where the mark begins, from the first byte of the member; all bits set: that is not told |
//! | 26 | 4 | the CRC-32 of the bytes before |
//!
//! The other lengths make the code complete, as some decoders ask for, and no bit is one that a decoder has to ignore. With
//! *n* for the number of ones among the first 250 literals:
//!
//! | bits | |
//! |--:|---|
//! | 71 | the header: 257 literal codes, two distance codes, 18 code lengths of code lengths |
//! | 480 | the code lengths of literals 0 to 239: the bytes above |
//! | 20 | those of literals 240 to 249: up to three ones, so that *n* is a multiple of four, and then zeros |
//! | 24 | those of literals 250 to 255: 7, 6, 5, 4, 3 and 2; or 0, where bit 0, 1, 2, 3, 4 or 5 of *n* / 4 + 1 is 0 |
//! | 4 | that of the end of the block: 6 |
//! | 8 | those of the distances: 1 and 1 |
//! | 6 | the code of the end of the block: half of *n* / 4 + 1 |
//! | 3 | the header of the stored block, which ends with a byte |
//! | 32 | its size: `00 00 ff ff` |
//!
//! A code length of 8 or 9 takes two bits, and one of 0 to 7 takes four. All marks begin with the same nine bytes,
//! `04 c1 01 50 14 41 10 04 41`.
//!
//! In a file that is one such member, the last mark says its own place. So a reader that can seek knows that the other
//! places are those in the file, and finds a block by interpolation and bisection.
//!
//! A reader that knows marks decodes each block by itself, holds it against what its mark says, and the marks together
//! against the trailer. Where the mark of the first block is none, the member is decoded as any other; and so it is from where
//! any other is none, for example because another program has appended data to it.
//!
//! # Members that say where they end
//!
//! Nothing in a member says where it ends: one finds out by decoding. Members of a block each, where these are asked for, say
//! it in the *extra field* of the header. It is a series of subfields, each two
//! letters, a 16-bit length, and data; a reader ignores those that it does not know.
//!
//! # Subfield `AB`: the extent of a member
//!
//! In every such member, before all other subfields.
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
//! A file of several members ends with an **index**:
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
mod ends;
mod error;
mod extent;
mod guess;
mod header;
mod index;
mod indexed;
mod inflate;
mod layout;
mod mark;
mod member;
mod piece;
mod points;
mod read;
mod salvage;
mod scan;
mod small;
mod split;
mod store;
mod sums;
mod survey;
mod walk;
mod wrap;
mod write;

pub use decode::Decoder;
pub use encode::{BGZF_BLOCK, Encoder, MAX_NAME, Origin};
pub use error::{DecodeError, Fault, HeaderError, IndexError, Part};
pub use extent::Extent;
pub use guess::{Guess, Guessed, Guesser};
pub use header::{HEADER_LIMIT, Header, MAGIC, Subfields};
pub use index::{Index, PART_MEMBERS};
pub use indexed::{Chain, DecodedPart, PartDecoder, Refusal};
pub(crate) use inflate::Inflater;
pub use layout::{Encoded, Layout, MAX_BLOCK};
pub use member::{Member, Stretch};
pub(crate) use piece::inflate_blocks;
pub use points::{Finder, Found, find_parts};
pub use read::Reader;
pub use salvage::Salvager;
pub use scan::{Next, Scanned, Scanner};
pub use split::{Piece, Splitter};
pub use sums::Verifier;
pub use survey::{Survey, parts, parts_around};
pub use walk::{Entry, tells_parts};
pub use write::Writer;

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
