//! Reading and writing the header of a member (RFC 1952, section 2.3.1).

use super::error::HeaderError;

/// The largest size of a header that is accepted, in bytes. RFC 1952 does not limit name and comment. This limit is far
/// above the sizes that tools write, and prevents a damaged or hostile file from filling the memory with an endless
/// name.
pub const HEADER_LIMIT: usize = 256 * 1024;

/// ID1 and ID2.
pub const MAGIC: [u8; 2] = [0x1f, 0x8b];
/// The length of the fixed fields, up to and including OS.
const FIXED_LEN: usize = 10;
/// The offset of the data of the extra field, which follows its length.
pub(super) const EXTRA_AT: usize = FIXED_LEN + 2;
/// The value of CM for deflate, the only defined method.
pub(super) const DEFLATE: u8 = 8;

const FTEXT: u8 = 1;
const FHCRC: u8 = 1 << 1;
pub(super) const FEXTRA: u8 = 1 << 2;
const FNAME: u8 = 1 << 3;
const FCOMMENT: u8 = 1 << 4;
pub(super) const RESERVED: u8 = 0b1110_0000;

/// The header of a gzip member.
///
/// ```
/// use abz_codec::gzip::Header;
///
/// let header = Header { mtime: 1_700_000_000, name: Some(b"river.txt".to_vec()), ..Header::default() };
/// let mut bytes = Vec::new();
/// header.write(&mut bytes);
///
/// assert_eq!(Header::parse(&bytes[..7])?, None); // more bytes are needed
/// assert_eq!(Header::parse(&bytes)?, Some((header, bytes.len())));
/// # Ok::<(), abz_codec::gzip::HeaderError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// FTEXT: a hint that the contents are probably text.
    pub text: bool,
    /// MTIME: the modification time of the original file in seconds since 1970; 0 if unknown.
    pub mtime: u32,
    /// XFL: a hint; for deflate 2 after the slowest and 4 after the fastest compression.
    pub extra_flags: u8,
    /// OS: the kind of file system on which the file was made; 3 is Unix, 255 unknown.
    pub os: u8,
    /// FEXTRA: the extra field, at most 65,535 bytes; empty if there is none. See [`Header::subfields`].
    pub extra: Vec<u8>,
    /// FNAME: the original file's name without folders. It is in ISO 8859-1 by the RFC, but usually in the encoding of
    /// the system. It contains no zero byte.
    pub name: Option<Vec<u8>>,
    /// FCOMMENT: a comment for human readers. It contains no zero byte.
    pub comment: Option<Vec<u8>>,
    /// FHCRC: whether the header ends with a CRC-16 of itself. [`Header::parse`] verifies it.
    pub checksum: bool,
}

impl Default for Header {
    /// Returns a header without optional fields, of an unknown system.
    fn default() -> Self {
        Header {
            text: false,
            mtime: 0,
            extra_flags: 0,
            os: 255,
            extra: Vec::new(),
            name: None,
            comment: None,
            checksum: false,
        }
    }
}

impl Header {
    /// Parses the header at the start of `bytes`. Returns the header and its length in bytes, or `None` if it is
    /// incomplete; call it again with more bytes from the same start.
    ///
    /// # Errors
    ///
    /// As soon as the bytes cannot become a header; see [`HeaderError`].
    pub fn parse(bytes: &[u8]) -> Result<Option<(Header, usize)>, HeaderError> {
        for (&expected, &found) in MAGIC.iter().zip(bytes) {
            if expected != found {
                return Err(HeaderError::Magic { expected, found });
            }
        }
        if let Some(&found) = bytes.get(2)
            && found != DEFLATE
        {
            return Err(HeaderError::Method { found });
        }
        if let Some(&found) = bytes.get(3)
            && found & RESERVED != 0
        {
            return Err(HeaderError::ReservedFlags { found });
        }
        let within_limit = &bytes[..bytes.len().min(HEADER_LIMIT)];
        match parse_fields(within_limit) {
            None if bytes.len() >= HEADER_LIMIT => Err(HeaderError::TooLong { limit: HEADER_LIMIT }),
            None => Ok(None),
            Some(parsed) => parsed.map(Some),
        }
    }

    /// Appends the header's bytes to `out`.
    ///
    /// # Panics
    ///
    /// If `extra` is longer than 65,535 bytes, or if the name or the comment contains a zero byte, because such a
    /// header could not be read back.
    pub fn write(&self, out: &mut Vec<u8>) {
        let start = out.len();
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        let flags = flag(self.text, FTEXT)
            | flag(self.checksum, FHCRC)
            | flag(!self.extra.is_empty(), FEXTRA)
            | flag(self.name.is_some(), FNAME)
            | flag(self.comment.is_some(), FCOMMENT);
        out.extend(MAGIC);
        out.extend([DEFLATE, flags]);
        out.extend(self.mtime.to_le_bytes());
        out.extend([self.extra_flags, self.os]);
        if !self.extra.is_empty() {
            let len = u16::try_from(self.extra.len()).expect("an extra field has at most 65,535 bytes");
            out.extend(len.to_le_bytes());
            out.extend(&self.extra);
        }
        for text in [&self.name, &self.comment].into_iter().flatten() {
            assert!(!text.contains(&0), "a zero byte would end a name or a comment");
            out.extend(text);
            out.push(0);
        }
        if self.checksum {
            let crc = crc16(&out[start..]);
            out.extend(crc.to_le_bytes());
        }
    }

    /// Returns the subfields of the extra field (section 2.3.1.1): the two letters and the data of each.
    pub fn subfields(&self) -> Subfields<'_> {
        Subfields { rest: &self.extra }
    }
}

/// Parses the fields of a header whose first bytes were checked; `None` if `bytes` ends too early.
fn parse_fields(bytes: &[u8]) -> Option<Result<(Header, usize), HeaderError>> {
    let mut rest = bytes;
    let fixed = take(&mut rest, FIXED_LEN)?;
    let flags = fixed[3];
    let mut header = Header {
        text: flags & FTEXT != 0,
        mtime: super::u32_at(fixed, 4),
        extra_flags: fixed[8],
        os: fixed[9],
        checksum: flags & FHCRC != 0,
        ..Header::default()
    };
    if flags & FEXTRA != 0 {
        let len = take(&mut rest, 2)?;
        header.extra = take(&mut rest, u16::from_le_bytes([len[0], len[1]]).into())?.to_vec();
    }
    if flags & FNAME != 0 {
        header.name = Some(take_text(&mut rest)?.to_vec());
    }
    if flags & FCOMMENT != 0 {
        header.comment = Some(take_text(&mut rest)?.to_vec());
    }
    if header.checksum {
        let found = crc16(&bytes[..bytes.len() - rest.len()]);
        let expected = take(&mut rest, 2)?;
        let expected = u16::from_le_bytes([expected[0], expected[1]]);
        if expected != found {
            return Some(Err(HeaderError::Checksum { expected, found }));
        }
    }
    Some(Ok((header, bytes.len() - rest.len())))
}

/// Takes the next `len` bytes.
fn take<'a>(rest: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    rest.split_off(..len)
}

/// Takes the next bytes up to a zero byte, and the zero byte, which is not returned.
fn take_text<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = memchr::memchr(0, rest)?;
    let text = take(rest, end + 1)?;
    Some(&text[..end])
}

/// Returns the CRC-16 of a header: the lower half of its CRC-32 (section 2.3.1, "CRC16").
fn crc16(header: &[u8]) -> u16 {
    libdeflater::crc32(header) as u16
}

/// Appends a subfield to an extra field.
pub(super) fn push_subfield(extra: &mut Vec<u8>, id: [u8; 2], data: &[u8]) {
    let len = u16::try_from(data.len()).expect("a subfield has at most 65,535 bytes");
    extra.extend(id);
    extra.extend(len.to_le_bytes());
    extra.extend(data);
}

/// An iterator over the subfields of an extra field, from [`Header::subfields`]. It ends early if the rest of the extra
/// field is no subfield: some tools store other data there.
#[derive(Clone, Debug)]
pub struct Subfields<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Subfields<'a> {
    type Item = ([u8; 2], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let head = take(&mut self.rest, 4)?;
        let len = u16::from_le_bytes([head[2], head[3]]);
        Some(([head[0], head[1]], take(&mut self.rest, len.into())?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_text() -> impl Strategy<Value = Option<Vec<u8>>> {
        proptest::option::of(proptest::collection::vec(1u8..=255, 0..40))
    }

    prop_compose! {
        fn any_header()(
            (text, mtime, extra_flags, os) in any::<(bool, u32, u8, u8)>(),
            extra in proptest::collection::vec(any::<u8>(), 0..60),
            name in any_text(), comment in any_text(), checksum in any::<bool>(),
        ) -> Header {
            Header { text, mtime, extra_flags, os, extra, name, comment, checksum }
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back_and_every_start_of_it_needs_more(header in any_header(), after in any::<[u8; 3]>()) {
            let mut bytes = Vec::new();
            header.write(&mut bytes);
            for end in 0..bytes.len() {
                prop_assert_eq!(Header::parse(&bytes[..end]), Ok(None));
            }
            let len = bytes.len();
            bytes.extend(after);
            prop_assert_eq!(Header::parse(&bytes), Ok(Some((header, len))));
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let mut with_magic = vec![0x1f, 0x8b, 8];
            with_magic.extend(&bytes);
            for input in [&bytes, &with_magic] {
                if let Ok(Some((header, len))) = Header::parse(input) {
                    prop_assert!(len <= input.len());
                    header.subfields().for_each(drop);
                }
            }
        }
    }

    #[test]
    fn what_is_not_gzip_is_told_at_the_first_wrong_byte() {
        assert_eq!(Header::parse(b"x"), Err(HeaderError::Magic { expected: 0x1f, found: b'x' }));
        assert_eq!(Header::parse(b"\x1f\x8c"), Err(HeaderError::Magic { expected: 0x8b, found: 0x8c }));
        assert_eq!(Header::parse(b"\x1f\x8b\x07"), Err(HeaderError::Method { found: 7 }));
        assert_eq!(Header::parse(b"\x1f\x8b\x08\x20"), Err(HeaderError::ReservedFlags { found: 0x20 }));
    }

    #[test]
    fn a_wrong_header_checksum_is_found() {
        let mut bytes = Vec::new();
        Header { checksum: true, ..Header::default() }.write(&mut bytes);
        bytes[4] ^= 1;
        assert!(matches!(Header::parse(&bytes), Err(HeaderError::Checksum { .. })));
    }

    #[test]
    fn a_name_without_end_is_refused_at_the_limit() {
        let mut bytes = b"\x1f\x8b\x08\x08\0\0\0\0\0\x03".to_vec();
        bytes.resize(HEADER_LIMIT - 1, b'n');
        assert_eq!(Header::parse(&bytes), Ok(None));
        bytes.push(b'n');
        assert_eq!(Header::parse(&bytes), Err(HeaderError::TooLong { limit: HEADER_LIMIT }));
        bytes.push(0);
        assert_eq!(Header::parse(&bytes), Err(HeaderError::TooLong { limit: HEADER_LIMIT }));
    }

    #[test]
    fn subfields_end_where_an_extra_field_is_not_made_of_them() {
        let header = Header { extra: b"AX\x02\0hiBY\x09\0hi".to_vec(), ..Header::default() };
        assert_eq!(header.subfields().collect::<Vec<_>>(), [(*b"AX", &b"hi"[..])]);
    }
}
