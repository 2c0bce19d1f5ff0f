//! The formats: a file or a folder for each, and the tables that list them.
//!
//! Each format implements [`Reads`] and, if it is also written, [`Writes`]. The module of the format in `abz-codec`
//! encodes and decodes its bytes. To add a format, write that module, implement these traits ([`Serial`] implements
//! `Reads` for a format whose files are one stream), and add a line to [`READ`] and, if it is written, to [`WRITTEN`].

mod bzip2;
mod gzip;
mod lzip;
mod lzma;
pub(crate) mod reads;
mod serial;
mod wrapped;
pub(crate) mod writes;
mod xz;
mod zstd;

use std::fmt;
use std::io::{self, Read, Seek};
use std::ops::RangeInclusive;
use std::path::Path;

use abz_codec::legacy::{lzh, pack};
use abz_codec::lzw;
use abz_codec::xz::LZMA_HEADER_LEN;

use self::reads::Reads;
use self::serial::Serial;
use self::writes::Writes;
pub use self::writes::{Setting, Written};
use crate::positional::{Along, ReadAt};

/// The formats that are read, in the order in which the start of a file is compared with them.
static READ: [&dyn Reads; 11] = [
    &gzip::Gzip,
    &bzip2::Bzip2,
    &lzip::Lzip,
    &xz::Xz,
    &lzma::Lzma,
    &zstd::Zstd,
    &Serial::<lzw::Decoder>::NEW,
    &Serial::<pack::Decoder>::NEW,
    &Serial::<lzh::Decoder>::NEW,
    &wrapped::ZIP,
    &wrapped::ZLIB,
];

/// The formats that are written.
static WRITTEN: [&dyn Writes; 8] = [
    &gzip::Gzip,
    &bzip2::Bzip2,
    &lzip::Lzip,
    &xz::Xz,
    &zstd::Zstd,
    &wrapped::ZLIB,
    &wrapped::ZIP,
    &lzma::Lzma,
];

/// A format of compressed files.
#[derive(Clone, Copy)]
pub struct Format(&'static dyn Reads);

impl Format {
    /// gzip ([RFC 1952](https://www.rfc-editor.org/rfc/rfc1952)).
    pub const GZIP: Format = Format(&gzip::Gzip);
    /// bzip2.
    pub const BZIP2: Format = Format(&bzip2::Bzip2);
    /// lzip.
    pub const LZIP: Format = Format(&lzip::Lzip);
    /// xz.
    pub const XZ: Format = Format(&xz::Xz);
    /// The older format of xz, `.lzma`.
    pub const LZMA: Format = Format(&lzma::Lzma);
    /// Zstandard ([RFC 8878](https://www.rfc-editor.org/rfc/rfc8878)).
    pub const ZSTD: Format = Format(&zstd::Zstd);
    /// The format of `compress` (`.Z`).
    pub const COMPRESS: Format = Format(&Serial::<lzw::Decoder>::NEW);
    /// The format of `pack` (`.z`).
    pub const PACK: Format = Format(&Serial::<pack::Decoder>::NEW);
    /// The format of `compress -H` of SCO Unix.
    pub const LZH: Format = Format(&Serial::<lzh::Decoder>::NEW);
    /// A `zip` archive with one file.
    pub const ZIP: Format = Format(&wrapped::ZIP);
    /// A stream of zlib ([RFC 1950](https://www.rfc-editor.org/rfc/rfc1950)).
    pub const ZLIB: Format = Format(&wrapped::ZLIB);

    /// The number of bytes at the start of a file that are enough to detect its format.
    pub const MAGIC_LEN: usize = LZMA_HEADER_LEN;

    /// Iterates over all formats.
    pub fn all() -> impl Iterator<Item = Format> + Clone {
        READ.into_iter().map(Format)
    }

    /// Detects the format of `input`. Returns the format, if it is a known one, and a reader of the whole input.
    ///
    /// # Errors
    ///
    /// The error of the reader.
    pub fn sniff<R: Read>(mut input: R) -> io::Result<(Option<Format>, impl Read + use<R>)> {
        let mut start = Vec::with_capacity(Format::MAGIC_LEN);
        // A stream may pause after fewer bytes than `MAGIC_LEN`. Once they match a format, further bytes do not change
        // that.
        while start.len() < Format::MAGIC_LEN && Format::of(&start).is_none() {
            let missing = Format::MAGIC_LEN - start.len();
            let mut some = [0; Format::MAGIC_LEN];
            match input.read(&mut some[..missing]) {
                Ok(0) => break,
                Ok(len) => start.extend_from_slice(&some[..len]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok((Format::of(&start), io::Cursor::new(start).chain(input)))
    }

    /// The format of a file that begins with `start`, if it is a known one.
    pub fn of(start: &[u8]) -> Option<Format> {
        Format::all().find(|format| format.0.begins(start))
    }

    /// The format of a file, if it is a known one.
    pub(crate) fn at(source: &dyn ReadAt) -> io::Result<Option<Format>> {
        Ok(Format::sniff(Along::new(source))?.0)
    }

    /// The format of an archive of that name: the one whose suffix the name ends with, or whose short suffix for a
    /// compressed archive, such as `.tgz`.
    pub fn of_archive(name: &Path) -> Option<Written> {
        let name = name.file_name()?.to_str()?.to_ascii_lowercase();
        let ends = |written: &&dyn Writes| {
            if !written.holds_archives() {
                return false;
            }
            let mut short = written.names().suffixes.iter().filter(|(_, stem)| !stem.is_empty());
            name.ends_with(written.names().suffix) || short.any(|(suffix, _)| name.ends_with(suffix))
        };
        WRITTEN.into_iter().find(ends).map(Written)
    }

    /// Returns the name in lower case.
    pub fn name(self) -> &'static str {
        self.0.names().name
    }

    /// Returns the usual suffix of a file's name.
    pub fn suffix(self) -> &'static str {
        self.0.names().suffix
    }

    /// Returns the known suffixes, each with its replacement in the name of the decompressed file.
    pub fn suffixes(self) -> &'static [(&'static str, &'static str)] {
        self.0.names().suffixes
    }

    /// Returns true if a file of this format determines how much memory decoding takes, by its window or dictionary.
    pub fn asks_for_memory(self) -> bool {
        self.0.asks_for_memory()
    }

    /// Returns `true` if [`Decompression::run_at`](crate::Decompression::run_at) decodes some files of this
    /// format.
    pub fn is_read_at(self) -> bool {
        self.0.is_read_at()
    }

    /// Returns the size of the contents of `file` in bytes, if the file records it. Moves the file's position.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn contents(self, file: &mut (impl Read + Seek)) -> io::Result<Option<u64>> {
        self.0.contents(file)
    }

    /// The implementation of reading.
    pub(crate) fn reads(self) -> &'static dyn Reads {
        self.0
    }
}

impl Written {
    /// gzip, as one member of independent blocks.
    pub const GZIP: Written = Written(&gzip::Gzip);
    /// bzip2, as one stream.
    pub const BZIP2: Written = Written(&bzip2::Bzip2);
    /// lzip, with a member for each block.
    pub const LZIP: Written = Written(&lzip::Lzip);
    /// xz, as one stream of blocks.
    pub const XZ: Written = Written(&xz::Xz);
    /// Zstandard, as one frame of independent blocks.
    pub const ZSTD: Written = Written(&zstd::Zstd);
    /// The older format of xz, `.lzma`, as one stream by one thread.
    pub const LZMA: Written = Written(&lzma::Lzma);
    /// A stream of zlib.
    pub const ZLIB: Written = Written(&wrapped::ZLIB);
    /// A zip archive with one file.
    pub const ZIP: Written = Written(&wrapped::ZIP);

    /// Iterates over all formats that are written.
    pub fn all() -> impl Iterator<Item = Written> + Clone {
        WRITTEN.into_iter().map(Written)
    }

    /// The format whose [`name`](Self::name) is `name`.
    pub fn named(name: &str) -> Option<Written> {
        Written::all().find(|written| written.name() == name)
    }

    /// The same format as a [`Format`].
    pub fn format(self) -> Format {
        Format(self.0)
    }

    /// Returns the name in lower case.
    pub fn name(self) -> &'static str {
        self.0.names().name
    }

    /// Returns the usual suffix of a file's name.
    pub fn suffix(self) -> &'static str {
        self.format().suffix()
    }

    /// The levels, from the fastest to the one with the smallest files.
    pub fn levels(self) -> RangeInclusive<u32> {
        self.0.levels()
    }

    /// The default level.
    pub fn default_level(self) -> u32 {
        self.0.default_level()
    }

    /// The maximum size of a block in bytes, if there is one.
    pub fn largest_block(self) -> Option<usize> {
        self.0.largest_block()
    }

    /// Returns true if its files record [`Compression::origin`](crate::Compression::origin).
    pub fn tells_origin(self) -> bool {
        self.0.tells_origin()
    }

    /// Returns false if its compressed data is that of another format, and therefore as large and as quick to make.
    pub fn has_data_of_its_own(self) -> bool {
        self.0.has_data_of_its_own()
    }

    /// Returns true if the format has this setting. Otherwise, a [`Compression`](crate::Compression) for it ignores the
    /// setting.
    pub fn has(self, setting: Setting) -> bool {
        self.0.has(setting)
    }
}

impl Default for Format {
    /// Returns gzip.
    fn default() -> Self {
        Format::GZIP
    }
}

impl Default for Written {
    /// Returns gzip.
    fn default() -> Self {
        Written::GZIP
    }
}

impl From<Written> for Format {
    fn from(written: Written) -> Self {
        written.format()
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Format {}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Format").field(&self.name()).finish()
    }
}
