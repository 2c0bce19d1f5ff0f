//! The gzip file format ([RFC 1952]), as blocks that can be encoded and decoded in parallel.
//!
//! A gzip file is a series of members; its contents are the contents of the members, concatenated (section 2.2). A
//! member is a header, deflate data ([RFC 1951]), and a trailer with a CRC-32 and the size of the contents. Many
//! readers decode only the first member, so a file that is written here is one member, unless another [`Layout`] is
//! chosen. Some readers, the Linux kernel among them, reject headers with an extra field (section 2.3.1.1), so this
//! member has none.
//!
//! A file of one block contains only what RFC 1952 defines, and is decoded like the file of any other program.
//!
//! All numbers are little-endian.
//!
//! # Marks: blocks in one member
//!
//! The deflate data of a file of several blocks has, for each block, a *mark* and deflate blocks that refer to nothing
//! before them. An empty last block (`03 00`) ends it. Each of these begins at a byte boundary: if the data of a block
//! ends inside a byte, an empty stored block follows (`00 00 ff ff`, after three bits). A reader recognises such a
//! member by the mark behind its header.
//!
//! In old files, the header of such a member has a subfield `AM` with one byte, 2, in its extra field. The member of an
//! old file of one block has a subfield `AB`, as below.
//!
//! A mark has 81 bytes. It is a dynamic block (RFC 1951, section 3.2.7) with no symbol but its end, followed by an
//! empty stored block. The code lengths of the first 240 literals are bits, from the lowest bit of the first byte on: a
//! length of 8 is a 0, and a length of 9 is a 1. They are 30 bytes:
//!
//! | at | bytes | |
//! |--:|--:|---|
//! | 0 | 6 | the start of the block's contents in those of the member; all bits are set if it is not stated |
//! | 6 | 3 | the size of the contents |
//! | 9 | 3 | the size of the deflate data, from the end of this mark to the start of the next one, or of the last block |
//! | 12 | 4 | the CRC-32 of the contents |
//! | 16 | 4 | the CRC-32 of the first block's contents, the same in all marks of a member; 0 if places are not stated |
//! | 20 | 6 | the start of the mark, from the first byte of the member; all bits are set if it is not stated |
//! | 26 | 4 | the CRC-32 of the bytes before |
//!
//! The other lengths make the code complete, as some decoders require, and no bit is one that a decoder has to ignore.
//! With *n* for the number of ones among the first 250 literals:
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
//! Contents that a writer flushed in short pieces ([`Encoder::encode_flushed`]) have no marks, because each piece may
//! refer to the pieces before it. From the first of them on, the rest of the member has none. If blocks with marks are
//! before it, a mark all of whose numbers are 0, and whose places are not stated, says that this is on purpose.
//!
//! In a file that is a single such member, the last mark states its own place. From it a reader that can seek knows
//! that the places in other marks are places in the file, and finds a block by interpolation and bisection.
//!
//! A reader that knows marks decodes each block by itself, and verifies each block against its mark and all marks
//! together against the trailer. If there is no valid mark before the first block, the member is decoded as any other.
//! If there is none before a later block, for example because another program has appended data, the rest of the member
//! is decoded as any other.
//!
//! # Members that state where they end
//!
//! By RFC 1952, nothing in a member states where it ends: a reader has to decode it. Members of one block each, if that
//! layout is chosen, state their size in the *extra field* of the header. It is a series of subfields, each with two
//! letters, a 16-bit length, and data; a reader ignores unknown ones.
//!
//! # Subfield `AB`: the extent of a member
//!
//! Every such member has this subfield, before all other subfields.
//!
//! | at | bytes | |
//! |--:|--:|---|
//! | 0 | 4 | compressed size: all bytes of the member, from its first magic byte to the end of its trailer |
//! | 4 | 4 | uncompressed size: the same as ISIZE in the trailer, but known before the data |
//! | 8 | 1 | bit 0: another member of this file follows; the other bits are 0 |
//!
//! Bit 0 reveals that a file was cut between two members, which gzip itself takes for complete. A reader that finds
//! another subfield length, or other bits set, must treat the member as one of another program.
//!
//! A file of several members ends with an **index**:
//!
//! # Subfield `AI`: a part of the index
//!
//! This subfield is in the headers of empty members. Each of them describes the members since the previous one, at most
//! [`PART_MEMBERS`]: every full part follows its members, and the last part ends the file.
//!
//! | at | bytes | |
//! |--:|--:|---|
//! | 0 | 8 | the number of members before the first one that is described here, without parts of the index |
//! | 8 | 8 × *n* | for each of *n* members its compressed and its uncompressed size, 4 bytes each |
//! | 8 + 8*n* | 4 | the CRC-32 of this subfield's data up to here |
//! | 12 + 8*n* | 4 | the compressed size of this empty member, as in its `AB` |
//!
//! The member that carries a part has this subfield last and neither name nor comment, and its data is the two bytes
//! `03 00`. The last 14 bytes of a file are therefore the last number of the table, `03 00`, and a trailer of eight
//! zeros. They lead a reader that can seek to the last part. The sum of the sizes in a part leads to its first member,
//! and the previous part ends there. [`Index::read`] follows these steps and checks each of them.
//!
//! # BGZF
//!
//! The blocked gzip of bioinformatics (SAM specification, section 4.1) states sizes in a similar way: its subfield `BC`
//! holds the compressed size less one in 16 bits. The [`Scanner`] understands both subfields, and an [`Encoder`] writes
//! either.
//!
//! [RFC 1951]: https://www.rfc-editor.org/rfc/rfc1951
//! [RFC 1952]: https://www.rfc-editor.org/rfc/rfc1952

mod decode;
mod encode;
mod ends;
mod error;
mod extent;
mod flush;
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
pub use guess::{Guess, Guessed, SYMBOLS};
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

/// Empty deflate data: one final block with fixed codes and no symbol but its end (RFC 1951, section 3.2.6).
const EMPTY_DEFLATE: [u8; 2] = [0x03, 0x00];

/// Returns the little-endian 32-bit number at index `at` of `bytes`.
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Returns the little-endian 64-bit number at index `at` of `bytes`.
fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}
