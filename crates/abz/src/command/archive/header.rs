//! The header of a member of a tar archive, 512 bytes, as POSIX (`ustar`, IEEE Std 1003.1, `pax`), GNU tar (its manual,
//! *Basic Tar Format*) and the tar of Unix V7 write it.

use std::ops::Range;

/// The size of a block in bytes.
pub(super) const BLOCK: usize = 512;

const NAME: Range<usize> = 0..100;
const MODE: Range<usize> = 100..108;
const SIZE: Range<usize> = 124..136;
const TIME: Range<usize> = 136..148;
const CHECKSUM: Range<usize> = 148..156;
const KIND: usize = 156;
const LINK: Range<usize> = 157..257;
const MAGIC: Range<usize> = 257..265;
const PREFIX: Range<usize> = 345..500;

/// In an old GNU sparse file: four pieces, a flag for another block of pieces, and the size of the file.
const PIECES: Range<usize> = 386..482;
const IS_EXTENDED: usize = 482;
const REAL_SIZE: Range<usize> = 483..495;

/// In such a block of pieces: 21 pieces, and a flag for another block.
const MORE_PIECES: Range<usize> = 0..504;
const MORE_IS_EXTENDED: usize = 504;

/// The size of a piece: its offset and length, in 12 bytes each.
const PIECE: usize = 24;

/// A header block.
pub(super) struct Header<'a>(&'a [u8; BLOCK]);

/// The format of the fields after the link name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Posix,
    Gnu,
    /// Unix V7 tar has no such fields.
    V7,
}

/// Pieces of a sparse file, each with its offset and length in bytes, and whether another block of pieces follows.
pub(super) struct Pieces {
    pub(super) found: Vec<(u64, u64)>,
    pub(super) more: bool,
}

impl<'a> Header<'a> {
    /// Returns the header in `block`, if its checksum is right.
    pub(super) fn of(block: &'a [u8; BLOCK]) -> Option<Self> {
        let said = number(&block[CHECKSUM])?;
        let with_spaces = |at: usize| if CHECKSUM.contains(&at) { b' ' } else { block[at] };
        let unsigned: i64 = (0..BLOCK).map(|at| i64::from(with_spaces(at))).sum();
        // Some old programs summed signed bytes.
        let signed: i64 = (0..BLOCK).map(|at| i64::from(with_spaces(at).cast_signed())).sum();
        (said == unsigned || said == signed).then_some(Header(block))
    }

    pub(super) fn form(&self) -> Form {
        match &self.0[MAGIC] {
            b"ustar  \0" => Form::Gnu,
            magic if magic.starts_with(b"ustar") => Form::Posix,
            _ => Form::V7,
        }
    }

    /// Returns the type flag.
    pub(super) fn kind(&self) -> u8 {
        self.0[KIND]
    }

    pub(super) fn name(&self) -> Vec<u8> {
        let prefix = if self.form() == Form::Posix { text(&self.0[PREFIX]) } else { b"" };
        match prefix {
            b"" => text(&self.0[NAME]).to_vec(),
            _ => [prefix, b"/", text(&self.0[NAME])].concat(),
        }
    }

    pub(super) fn link(&self) -> Vec<u8> {
        text(&self.0[LINK]).to_vec()
    }

    pub(super) fn mode(&self) -> Option<u32> {
        u32::try_from(number(&self.0[MODE])?).ok()
    }

    /// Returns the size of the contents in bytes.
    pub(super) fn size(&self) -> Option<u64> {
        u64::try_from(number(&self.0[SIZE])?).ok()
    }

    /// Returns the modification time in seconds since 1970; it may be negative.
    pub(super) fn time(&self) -> Option<i64> {
        number(&self.0[TIME])
    }

    /// Returns the size of an old GNU sparse file including its holes.
    pub(super) fn real_size(&self) -> Option<u64> {
        u64::try_from(number(&self.0[REAL_SIZE])?).ok()
    }

    /// Returns the first pieces of an old GNU sparse file.
    pub(super) fn pieces(&self) -> Option<Pieces> {
        pieces(&self.0[PIECES], self.0[IS_EXTENDED])
    }
}

/// Returns the pieces in a block that follows the header of an old GNU sparse file.
pub(super) fn more_pieces(block: &[u8; BLOCK]) -> Option<Pieces> {
    pieces(&block[MORE_PIECES], block[MORE_IS_EXTENDED])
}

fn pieces(bytes: &[u8], is_extended: u8) -> Option<Pieces> {
    let mut found = Vec::new();
    for piece in bytes.chunks_exact(PIECE) {
        let (at, len) = piece.split_at(PIECE / 2);
        if len[0] == 0 {
            break;
        }
        found.push((u64::try_from(number(at)?).ok()?, u64::try_from(number(len)?).ok()?));
    }
    Some(Pieces { found, more: is_extended != 0 })
}

/// Returns the bytes before the first zero.
fn text(bytes: &[u8]) -> &[u8] {
    bytes.split(|&byte| byte == 0).next().unwrap_or_default()
}

/// Parses a number in octal digits, or in GNU's base 256: two's complement in all bits but the first. An empty field
/// is 0.
fn number(bytes: &[u8]) -> Option<i64> {
    let (&first, rest) = bytes.split_first()?;
    if first & 0x80 != 0 {
        // The first bit marks base 256; the second one is the sign.
        let start = i64::from(((first << 1).cast_signed()) >> 1);
        return rest.iter().try_fold(start, |number, &byte| {
            number.checked_mul(256).and_then(|number| number.checked_add(byte.into()))
        });
    }
    let digits = text(bytes).trim_ascii();
    if digits.is_empty() {
        return Some(0);
    }
    let digits = std::str::from_utf8(digits).ok().filter(|digits| !digits.starts_with(['+', '-']))?;
    i64::from_str_radix(digits, 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_octal_or_binary() {
        for (bytes, expected) in [
            (&b"0000644\0"[..], Some(0o644)),
            (b"  17 \0", Some(0o17)),
            (b"\0\0\0", Some(0)),
            (b"77777777777\0", Some(0o77_777_777_777)),
            (b"\x80\0\0\0\0\0\0\0\0\0\x01\0", Some(256)),
            (b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", Some(-1)),
            (b"\x80\x80\0\0\0\0\0\0\0\0\0\0", None),
            (b"-1\0", None),
            (b"8\0", None),
        ] {
            assert_eq!(number(bytes), expected, "{bytes:?}");
        }
    }
}
