//! The formats of compressed files.

use std::fmt;
use std::io::{self, Read};
use std::path::Path;

use abz_codec::legacy::{lzh, pack, zip, zlib};
use abz_codec::{lzw, xz, zstd};

/// A format of compressed files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// gzip ([RFC 1952](https://www.rfc-editor.org/rfc/rfc1952)), in members of independent blocks.
    #[default]
    Gzip,
    /// bzip2, in one stream.
    Bzip2,
    /// Zstandard ([RFC 8878](https://www.rfc-editor.org/rfc/rfc8878)), in one frame of independent pieces.
    Zstd,
    /// What `compress` writes (`.Z`): read, and not written.
    Compress,
    /// What `pack` writes (`.z`): read, and not written.
    Pack,
    /// What `compress -H` of SCO Unix writes: read, and not written.
    Lzh,
    /// An archive of `zip` with one file: read; [`gzip::Layout`](abz_codec::gzip::Layout) writes it.
    Zip,
    /// A stream of zlib ([RFC 1950](https://www.rfc-editor.org/rfc/rfc1950)): read; [`gzip::Layout`](abz_codec::gzip::Layout) writes it.
    Zlib,
    /// lzip, in members of a block each.
    Lzip,
    /// xz, in one stream of blocks. The older format `.lzma`, which is read and not written, is taken for it too.
    Xz,
}

impl Format {
    /// How many bytes at the start of a file tell its format.
    pub const MAGIC_LEN: usize = xz::LZMA_HEADER_LEN;

    /// The format of what `input` gives, if it is one of these, and a reader of all that it gives.
    ///
    /// # Errors
    ///
    /// That of the reader.
    pub fn sniff<R: Read>(mut input: R) -> io::Result<(Option<Format>, impl Read + use<R>)> {
        let mut start = Vec::with_capacity(Format::MAGIC_LEN);
        input.by_ref().take(Format::MAGIC_LEN as u64).read_to_end(&mut start)?;
        Ok((Format::of(&start), io::Cursor::new(start).chain(input)))
    }

    /// All formats that are read.
    pub const ALL: [Format; 10] = [
        Format::Gzip,
        Format::Bzip2,
        Format::Lzip,
        Format::Xz,
        Format::Zstd,
        Format::Compress,
        Format::Pack,
        Format::Lzh,
        Format::Zip,
        Format::Zlib,
    ];

    /// All formats that are written.
    pub const WRITTEN: [Format; 5] = [Format::Gzip, Format::Bzip2, Format::Lzip, Format::Xz, Format::Zstd];

    /// The format of a file that begins with `start`, if it is one of these.
    pub fn of(start: &[u8]) -> Option<Format> {
        let known = Format::ALL.into_iter().find(|format| format.begins(start));
        known.or_else(|| xz::is_lzma(start).then_some(Format::Xz))
    }

    /// True if `start` can be the start of a file of this format.
    fn begins(self, start: &[u8]) -> bool {
        match self {
            Format::Gzip => start.starts_with(b"\x1f\x8b"),
            Format::Bzip2 => start.starts_with(b"BZh"),
            Format::Zstd => zstd::is_zstd(start),
            Format::Compress => start.starts_with(&lzw::MAGIC),
            Format::Pack => start.starts_with(&pack::MAGIC),
            Format::Lzh => start.starts_with(&lzh::MAGIC),
            Format::Zip => start.starts_with(&zip::MAGIC),
            Format::Zlib => zlib::is_zlib(start),
            Format::Lzip => start.starts_with(b"LZIP"),
            Format::Xz => start.starts_with(&xz::MAGIC),
        }
    }

    /// The name that one gives it, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Format::Gzip => "gzip",
            Format::Bzip2 => "bzip2",
            Format::Zstd => "zstd",
            Format::Compress => "compress",
            Format::Pack => "pack",
            Format::Lzh => "lzh",
            Format::Zip => "zip",
            Format::Zlib => "zlib",
            Format::Lzip => "lzip",
            Format::Xz => "xz",
        }
    }

    /// The format of that name that is written.
    pub fn named(name: &str) -> Option<Format> {
        Format::WRITTEN.into_iter().find(|format| format.name() == name)
    }

    /// The format of an archive of that name: it ends with the format's suffix, or with one that stands for .tar and that.
    pub fn of_archive(name: &Path) -> Option<Format> {
        const SHORT: [(&str, Format); 4] =
            [(".tgz", Format::Gzip), (".tbz2", Format::Bzip2), (".tlz", Format::Lzip), (".txz", Format::Xz)];
        let name = name.file_name()?.to_str()?.to_ascii_lowercase();
        let is_short = |(suffix, _): &(&str, Format)| name.ends_with(suffix);
        let short = SHORT.into_iter().find(is_short).map(|(_, format)| format);
        short.or_else(|| Format::WRITTEN.into_iter().find(|format| name.ends_with(format.suffix())))
    }

    /// The usual end of a file's name.
    pub fn suffix(self) -> &'static str {
        match self {
            Format::Gzip => ".gz",
            Format::Bzip2 => ".bz2",
            Format::Zstd => ".zst",
            Format::Compress | Format::Lzh => ".Z",
            Format::Pack => ".z",
            Format::Zip => ".zip",
            Format::Zlib => ".zz",
            Format::Lzip => ".lz",
            Format::Xz => ".xz",
        }
    }

    /// The level that is used if nobody says another.
    pub fn default_level(self) -> u32 {
        match self {
            Format::Gzip | Format::Lzip | Format::Xz => 6,
            Format::Bzip2 => 9,
            Format::Zstd => zstd::DEFAULT_LEVEL as u32,
            Format::Compress | Format::Pack | Format::Lzh | Format::Zip | Format::Zlib => 0,
        }
    }

    /// The lowest level.
    pub fn lowest_level(self) -> u32 {
        match self {
            Format::Gzip | Format::Bzip2 | Format::Zstd => 1,
            Format::Lzip
            | Format::Xz
            | Format::Compress
            | Format::Pack
            | Format::Lzh
            | Format::Zip
            | Format::Zlib => 0,
        }
    }

    /// The highest level. 0 where none is written.
    pub fn highest_level(self) -> u32 {
        match self {
            Format::Gzip => 12,
            Format::Bzip2 | Format::Lzip | Format::Xz => 9,
            Format::Zstd => *zstd::LEVELS.end() as u32,
            Format::Compress | Format::Pack | Format::Lzh | Format::Zip | Format::Zlib => 0,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
