//! The formats: a file or a folder for each, and the tables that list them.
//!
//! Each format implements [`Reads`] and, if it is also written, [`Writes`]. The module of the format in `abz-codec`
//! encodes and decodes its bytes. To add a format, write that module, implement these traits ([`Serial`] implements
//! `Reads` for a format whose files are one stream), and add lines to `Format` and to the table in `formats!`.

#[cfg(feature = "bzip2")]
mod bzip2;
#[cfg(feature = "gzip")]
mod gzip;
#[cfg(feature = "lzma")]
mod lzip;
#[cfg(feature = "lzma")]
mod lzma;
pub(crate) mod reads;
mod serial;
#[cfg(feature = "gzip")]
mod wrapped;
pub(crate) mod writes;
#[cfg(feature = "lzma")]
mod xz;
#[cfg(feature = "zstd")]
mod zstd;

use std::fmt;
use std::io::{self, Read, Seek, Write};
use std::ops::RangeInclusive;
use std::path::Path;

use abz_codec::legacy::{lzh, pack};
use abz_codec::lzw;

use self::reads::Reads;
use self::serial::Serial;
use self::writes::Writes;
use crate::compression::Compression;
use crate::decompression::{Decompressed, Decompression};
use crate::error::Error;
use crate::format::{Format, Setting};
use crate::positional::{Along, ReadAt};
use crate::run_options::RunOptions;

/// Makes the tables of the formats. Each line is one format, which is `written` too or only `read`, with its implementation.
macro_rules! formats {
    ($($(#[cfg(feature = $feature:literal)])? $name:ident: $way:ident $format:expr;)+) => {
        /// The formats, in the order in which they are shown, and in which the start of a file is compared with them.
        static ALL: &[Format] = &[$($(#[cfg(feature = $feature)])? Format::$name,)+];

        impl Format {
            /// The implementation of reading.
            pub(crate) fn reads(self) -> &'static dyn Reads {
                match self {
                    $($(#[cfg(feature = $feature)])? Format::$name => &$format,)+
                }
            }

            /// The implementation of writing, if the format is written.
            pub(crate) fn writes(self) -> Option<&'static dyn Writes> {
                match self {
                    $($(#[cfg(feature = $feature)])? Format::$name => formats!(@$way $format),)+
                }
            }
        }
    };
    (@written $format:expr) => { Some(&$format) };
    (@read $format:expr) => { None };
}

formats! {
    #[cfg(feature = "gzip")]
    Gzip: written gzip::Gzip;
    #[cfg(feature = "bzip2")]
    Bzip2: written bzip2::Bzip2;
    #[cfg(feature = "lzma")]
    Lzip: written lzip::Lzip;
    #[cfg(feature = "lzma")]
    Xz: written xz::Xz;
    #[cfg(feature = "zstd")]
    Zstd: written zstd::Zstd;
    #[cfg(feature = "gzip")]
    Zlib: written wrapped::ZLIB;
    #[cfg(feature = "gzip")]
    Zip: written wrapped::ZIP;
    #[cfg(feature = "lzma")]
    Lzma: written lzma::Lzma;
    Compress: read Serial::<lzw::Decoder>::NEW;
    Pack: read Serial::<pack::Decoder>::NEW;
    Lzh: read Serial::<lzh::Decoder>::NEW;
}

impl Compression {
    /// The implementation of the format.
    ///
    /// # Panics
    ///
    /// If the format is only read.
    pub(crate) fn writes(&self) -> &'static dyn Writes {
        self.format.writes().unwrap_or_else(|| panic!("{} is only read", self.format))
    }
}

impl Default for Format {
    /// gzip, or the first format that is not left out.
    fn default() -> Self {
        ALL[0]
    }
}

impl Format {
    /// The number of bytes at the start of a file that are enough to detect its format.
    pub(crate) const MAGIC_LEN: usize = 14;

    /// Iterates over all formats.
    pub fn all() -> impl Iterator<Item = Format> + Clone {
        ALL.iter().copied()
    }

    /// Iterates over the formats that are written as well as read.
    pub fn written() -> impl Iterator<Item = Format> + Clone {
        Format::all().filter(|format| format.is_written())
    }

    /// Detects the format of `input`. Returns the format, if it is a known one, and a reader of the whole input.
    ///
    /// # Errors
    ///
    /// The error of the reader.
    pub(crate) fn sniff<R: Read>(mut input: R) -> io::Result<(Option<Format>, impl Read + use<R>)> {
        let mut start = Vec::with_capacity(Format::MAGIC_LEN);
        let format = Format::detect(&mut input, &mut start)?;
        Ok((format, io::Cursor::new(start).chain(input)))
    }

    /// Detects the format of `input`, whose first bytes are added to `start`.
    pub(crate) fn detect(input: &mut impl Read, start: &mut Vec<u8>) -> io::Result<Option<Format>> {
        // A stream may pause after fewer bytes than `MAGIC_LEN`. Once they match a format, further bytes do not change
        // that.
        while start.len() < Format::MAGIC_LEN && Format::of(start).is_none() {
            let missing = Format::MAGIC_LEN - start.len();
            let mut some = [0; Format::MAGIC_LEN];
            match input.read(&mut some[..missing]) {
                Ok(0) => break,
                Ok(len) => start.extend_from_slice(&some[..len]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Format::of(start))
    }

    /// The format of a file that begins with `start`, if it is a known one.
    pub fn of(start: &[u8]) -> Option<Format> {
        Format::all().find(|format| format.reads().begins(start))
    }

    /// Whether a file that ends after `start`, which is that of no format, may be the first bytes of one of a known format.
    pub(crate) fn may_begin(start: &[u8]) -> bool {
        Format::all().any(|format| format.reads().may_begin(start))
    }

    /// The format of a file, if it is a known one.
    pub(crate) fn at(source: &dyn ReadAt) -> io::Result<Option<Format>> {
        Ok(Format::sniff(Along::new(source))?.0)
    }

    /// The format of a compressed file of that name: the one whose suffix, such as `.gz` or `.tgz`, the name ends with.
    /// Upper and lower case are the same, except for `.Z` and `.z`.
    pub fn of_name(name: &Path) -> Option<Format> {
        // The suffix of a name that is not UTF-8 is known, too.
        let name = name.file_name()?.to_string_lossy();
        let lower = name.to_ascii_lowercase();
        let ends = |format: &Format| {
            let is_suffix = |suffix: &str| {
                if suffix.len() == 2 { name.ends_with(suffix) } else { lower.ends_with(suffix) }
            };
            format
                .reads()
                .names()
                .suffixes
                .iter()
                .any(|(suffix, _)| suffix.starts_with('.') && is_suffix(suffix))
        };
        Format::all().find(ends)
    }

    /// Decodes a file, and returns the number of bytes read and written.
    pub(crate) fn decode(
        self,
        how: &Decompression,
        options: &RunOptions<'_>,
        input: &mut (dyn Read + Send),
        output: &mut (dyn Write + Send),
    ) -> Result<Decompressed, Error> {
        reads::decode(self.reads(), how, options, input, output)
    }

    /// Returns the name in lower case.
    pub fn name(self) -> &'static str {
        self.reads().names().name
    }

    /// Returns the usual suffix of a file's name.
    pub fn suffix(self) -> &'static str {
        self.reads().names().suffix
    }

    /// Returns true if the format is written as well as read.
    pub(crate) fn is_written(self) -> bool {
        self.writes().is_some()
    }

    /// The levels, from the fastest to the one with the smallest files. The range is empty if the format is only read.
    pub fn levels(self) -> RangeInclusive<u32> {
        self.writes().map_or(RangeInclusive::new(1, 0), Writes::levels)
    }

    /// The default level, or 0 if the format is only read.
    pub fn default_level(self) -> u32 {
        self.writes().map_or(0, Writes::default_level)
    }

    /// The maximum size of a block in bytes, if there is one.
    pub(crate) fn largest_block(self) -> Option<usize> {
        self.writes().and_then(Writes::largest_block)
    }

    /// Returns true if the format has this setting. Otherwise, a [`Compression`](crate::Compression) for it ignores the
    /// setting.
    pub fn has(self, setting: Setting) -> bool {
        self.writes().is_some_and(|writes| writes.has(setting))
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The facts about a format that the command needs.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// The suffixes of file names, each with its replacement in the name of the decompressed file.
    pub suffixes: &'static [(&'static str, &'static str)],
    /// The format is written as well as read.
    pub is_written: bool,
    /// A file determines how much memory decoding takes, by its window or dictionary.
    pub asks_for_memory: bool,
    /// Some files record where their parts lie, so that workers can read and write them at their offsets.
    pub is_read_at: bool,
    /// Workers can read blocks at their offsets.
    pub blocks_are_read_at: bool,
    /// Workers can write parts at their offsets.
    pub is_written_at: bool,
    /// The maximum size of a block in bytes, if there is one.
    pub largest_block: Option<usize>,
    /// Files record a name or a time ([`Compression::origin`]).
    pub tells_origin: bool,
    /// The compressed data is not that of another format, which would be as large and as quick to make.
    pub has_data_of_its_own: bool,
}

/// Returns the facts about a format.
pub fn facts(format: Format) -> Facts {
    let (reads, writes) = (format.reads(), format.writes());
    Facts {
        suffixes: reads.names().suffixes,
        is_written: format.is_written(),
        asks_for_memory: reads.asks_for_memory(),
        is_read_at: reads.is_read_at(),
        blocks_are_read_at: writes.is_some_and(Writes::blocks_are_read_at),
        is_written_at: writes.is_some_and(Writes::is_written_at),
        largest_block: format.largest_block(),
        tells_origin: writes.is_some_and(Writes::tells_origin),
        has_data_of_its_own: writes.is_some_and(Writes::has_data_of_its_own),
    }
}

/// The format whose [`name`](Format::name) is `name`.
pub fn format_named(name: &str) -> Option<Format> {
    Format::all().find(|format| format.name() == name)
}

/// The format of an archive of that name: the one whose suffix the name ends with, or whose short suffix for a
/// compressed archive, such as `.tgz`.
pub fn format_of_archive(name: &Path) -> Option<Format> {
    let name = name.file_name()?.to_string_lossy().to_ascii_lowercase();
    let ends = |format: &Format| {
        if !format.writes().is_some_and(Writes::holds_archives) {
            return false;
        }
        let mut short = format.reads().names().suffixes.iter().filter(|(_, stem)| !stem.is_empty());
        name.ends_with(format.suffix()) || short.any(|(suffix, _)| name.ends_with(suffix))
    };
    Format::written().find(ends)
}

/// Returns the size of the contents of `file` in bytes, if the file records it. Moves the file's position.
///
/// # Errors
///
/// If the file cannot be read.
pub fn contents(format: Format, file: &mut (impl Read + Seek)) -> io::Result<Option<u64>> {
    format.reads().contents(file)
}
