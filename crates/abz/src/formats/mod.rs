//! The formats: a file or a folder for each, and the table in which they are.
//!
//! All that this crate knows of a format is in its place here, behind [`Reads`] and, if it is written too, [`Writes`]; what is
//! known of its bytes is in its module of `abz-codec`. To add one, write that module, implement these traits (a format whose
//! files are one stream has [`Serial`](serial::Serial), which does), and add a line to [`READ`].

mod bzip2;
mod gzip;
mod lzip;
mod serial;
mod xz;
mod zstd;

use std::fmt;
use std::io::{self, Read, Seek, Write};
use std::ops::{Range, RangeInclusive};
use std::path::Path;
use std::sync::atomic::AtomicU64;

use abz_codec::access::{Kind, Part};
use abz_codec::legacy::{lzh, pack, zip, zlib};
use abz_codec::lzw;
use abz_codec::xz::LZMA_HEADER_LEN;
use anabranch::Plan;

use crate::conduct::Conduct;
use crate::places::Along;
use crate::recovery::Recover;
use crate::{
    Compressed, Compression, Decompressed, Decompression, Error, ReadAt, Reading, Tools, WriteAt, Writing,
};
use serial::Serial;

/// The formats that are read, in the order in which the start of a file is held against them.
static READ: [&dyn Reads; 10] = [
    &gzip::Gzip,
    &bzip2::Bzip2,
    &lzip::Lzip,
    &xz::Xz,
    &zstd::Zstd,
    &Serial::<lzw::Decoder>::NEW,
    &Serial::<pack::Decoder>::NEW,
    &Serial::<lzh::Decoder>::NEW,
    &Serial::<zip::Decoder>::NEW,
    &Serial::<zlib::Decoder>::NEW,
];

/// Those of them that are written.
static WRITTEN: [&dyn Writes; 5] = [&gzip::Gzip, &bzip2::Bzip2, &lzip::Lzip, &xz::Xz, &zstd::Zstd];

/// Where a file of the formats is read from: a file, or parts of one.
pub(crate) trait ReadSeek: Read + Seek {}

impl<F: Read + Seek> ReadSeek for F {}

/// What a file is decoded from and to, and how.
pub(crate) struct Run<'a> {
    pub(crate) how: &'a Decompression,
    pub(crate) conduct: &'a Conduct<'a>,
    pub(crate) input: &'a mut (dyn Read + Send),
    pub(crate) output: &'a mut (dyn Write + Send),
    /// Gets the number of the first member that is not as large as its header says; 0 if there is none.
    pub(crate) mistaken: &'a AtomicU64,
}

/// The same on one thread.
pub(crate) struct RunAlone<'a> {
    pub(crate) how: &'a Decompression,
    pub(crate) tools: &'a mut Tools,
    pub(crate) input: &'a mut dyn Read,
    pub(crate) output: &'a mut dyn Write,
    pub(crate) mistaken: &'a AtomicU64,
}

/// What the parts of a file are, the size of its contents in bytes, and the line feeds in them.
pub(crate) type Indexed = (Vec<Part>, u64, u64);

/// A format that is read.
pub(crate) trait Reads: Sync {
    /// Its name, in lower case.
    fn name(&self) -> &'static str;

    /// The usual end of a file's name.
    fn suffix(&self) -> &'static str;

    /// The ends of names that are known, and what stands in their place in the names of the contents.
    fn suffixes(&self) -> &'static [(&'static str, &'static str)];

    /// True if `start` can be the start of a file of this format.
    fn begins(&self, start: &[u8]) -> bool;

    /// True if a file says how much memory it takes to decode it.
    fn asks_for_memory(&self) -> bool {
        false
    }

    /// The most pieces of a file that are in memory at once with so many workers.
    fn window(&self, workers: usize) -> usize {
        crate::pipes::window(workers)
    }

    /// Decodes a file.
    fn decompress(&self, run: Run<'_>) -> Result<(), Error>;

    /// Decodes a file on this thread.
    fn decompress_alone(&self, run: RunAlone<'_>) -> Result<(), Error>;

    /// The plan of [`decompress`](Self::decompress).
    fn plan_to_read(&self, how: &Decompression) -> Plan;

    /// True if some files say where their parts are, so that workers read and write them where they belong.
    fn is_read_at(&self) -> bool {
        false
    }

    /// Decodes such a file; `None` if it is no such file, or is damaged.
    fn decompress_at(
        &self,
        _how: &Decompression,
        _conduct: &Conduct<'_>,
        _input: &dyn ReadAt,
        _output: &dyn WriteAt,
    ) -> Result<Option<Decompressed>, Error> {
        Ok(None)
    }

    /// The size of the contents in bytes, if the file says it.
    fn contents(&self, _file: &mut dyn ReadSeek) -> io::Result<Option<u64>> {
        Ok(None)
    }

    /// The parts of a file, if it says where they are.
    fn parts(&self, _file: &mut Along<'_>) -> io::Result<Option<Vec<Part>>> {
        Ok(None)
    }

    /// Those of the parts of a file in which there are these bytes of the contents, and the size of all contents, where that is
    /// found without looking at the others.
    fn parts_around(
        &self,
        _file: &mut Along<'_>,
        _bytes: &Range<u64>,
    ) -> io::Result<Option<(Vec<Part>, u64)>> {
        Ok(None)
    }

    /// Decodes what follows in a file from a part on, of which `input` gives the bytes, as one decodes the file: true. False if
    /// such a part is of another format, or is decoded by itself only.
    fn decompress_from(&self, _kind: Kind, _from: Behind, _run: Run<'_>) -> Result<bool, Error> {
        Ok(false)
    }

    /// The parts of a file, with what is known of them when it was decoded. Where it does not say where they are, those that are
    /// found are at least `spacing` bytes of contents apart.
    fn index(
        &self,
        how: &Decompression,
        conduct: Conduct<'_>,
        input: &dyn ReadAt,
        _spacing: u64,
    ) -> Result<Indexed, Error> {
        let parts = self.parts(&mut Along::new(input)).map_err(Error::Read)?;
        crate::index::of_parts(parts.unwrap_or_default(), how, conduct, input)
    }

    /// What finds all that is whole in a damaged file, if one can go on behind damage.
    fn recover(&self) -> Option<Recover> {
        None
    }
}

/// Where a part begins: behind so many of its kind, and so many bytes of the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Behind {
    pub(crate) parts: u64,
    pub(crate) bytes: u64,
}

impl Behind {
    /// The start of the file.
    pub(crate) const START: Behind = Behind { parts: 0, bytes: 0 };
}

/// A format that is written too.
pub(crate) trait Writes: Reads {
    /// The levels, from the fastest on.
    fn levels(&self) -> RangeInclusive<u32>;

    /// The level that is used if nobody says another.
    fn default_level(&self) -> u32;

    /// True if it has this setting.
    fn has(&self, setting: Setting) -> bool;

    /// The size of a block in bytes, the most that it can be.
    fn block_len(&self, how: &Compression) -> usize;

    /// The size of the dictionary in bytes, if a smaller one can be taken.
    fn dictionary(&self, _how: &Compression) -> Option<u32> {
        None
    }

    /// The memory of an encoder in bytes, about.
    fn memory(&self, how: &Compression) -> u64;

    /// True if workers can write their blocks where they belong.
    fn is_written_at(&self) -> bool {
        false
    }

    /// True if workers can read their blocks where they are.
    fn blocks_are_read_at(&self) -> bool {
        false
    }

    /// Makes a file. Parts are written only of a format that [is](Self::is_written_at) written so.
    fn compress(
        &self,
        how: &Compression,
        conduct: Conduct<'_>,
        input: Reading<'_>,
        output: Writing<'_>,
    ) -> Result<Compressed, Error>;

    /// Makes a file on this thread.
    fn compress_alone(
        &self,
        how: &Compression,
        tools: &mut Tools,
        input: &mut dyn Read,
        output: &mut dyn Write,
    ) -> Result<(), Error>;

    /// The plan of [`compress`](Self::compress).
    fn plan_to_write(&self, how: &Compression) -> Plan;
}

/// A setting of [`Compression`] that not all formats have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Setting {
    /// [`Compression::fast`].
    Fast,
    /// [`Compression::block_size`].
    BlockSize,
    /// [`Compression::rsyncable`].
    Rsyncable,
    /// [`Compression::layout`].
    Layout,
    /// [`Lzma::dictionary_size`](crate::Lzma::dictionary_size).
    DictionarySize,
    /// [`Lzma::match_length`](crate::Lzma::match_length).
    MatchLength,
    /// [`Lzma::extreme`](crate::Lzma::extreme).
    Extreme,
    /// [`Lzma::check`](crate::Lzma::check).
    Check,
    /// [`Compression::zstd`].
    Zstd,
}

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
    /// xz. The older format `.lzma`, which is read and not written, is taken for it too.
    pub const XZ: Format = Format(&xz::Xz);
    /// Zstandard ([RFC 8878](https://www.rfc-editor.org/rfc/rfc8878)).
    pub const ZSTD: Format = Format(&zstd::Zstd);
    /// What `compress` writes (`.Z`).
    pub const COMPRESS: Format = Format(&Serial::<lzw::Decoder>::NEW);
    /// What `pack` writes (`.z`).
    pub const PACK: Format = Format(&Serial::<pack::Decoder>::NEW);
    /// What `compress -H` of SCO Unix writes.
    pub const LZH: Format = Format(&Serial::<lzh::Decoder>::NEW);
    /// An archive of `zip` with one file. [`gzip::Layout`](abz_codec::gzip::Layout) writes it.
    pub const ZIP: Format = Format(&Serial::<zip::Decoder>::NEW);
    /// A stream of zlib ([RFC 1950](https://www.rfc-editor.org/rfc/rfc1950)). [`gzip::Layout`](abz_codec::gzip::Layout)
    /// writes it.
    pub const ZLIB: Format = Format(&Serial::<zlib::Decoder>::NEW);

    /// How many bytes at the start of a file tell its format.
    pub const MAGIC_LEN: usize = LZMA_HEADER_LEN;

    /// All formats.
    pub fn all() -> impl Iterator<Item = Format> + Clone {
        READ.into_iter().map(Format)
    }

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

    /// The format of a file that begins with `start`, if it is one of these.
    pub fn of(start: &[u8]) -> Option<Format> {
        Format::all().find(|format| format.0.begins(start))
    }

    /// The format of a file, if it is one of these.
    pub(crate) fn at(places: &dyn ReadAt) -> io::Result<Option<Format>> {
        Ok(Format::sniff(Along::new(places))?.0)
    }

    /// The format of an archive of that name: it ends with one of the format's suffixes, or with one that stands for .tar and
    /// that.
    pub fn of_archive(name: &Path) -> Option<Written> {
        let name = name.file_name()?.to_str()?.to_ascii_lowercase();
        let ends = |written: &&dyn Writes| {
            let mut short = written.suffixes().iter().filter(|(_, stem)| !stem.is_empty());
            name.ends_with(written.suffix()) || short.any(|(suffix, _)| name.ends_with(suffix))
        };
        WRITTEN.into_iter().find(ends).map(Written)
    }

    /// Its name, in lower case.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// The usual end of a file's name.
    pub fn suffix(self) -> &'static str {
        self.0.suffix()
    }

    /// The ends of names that are known, and what stands in their place in the names of the contents.
    pub fn suffixes(self) -> &'static [(&'static str, &'static str)] {
        self.0.suffixes()
    }

    /// True if a file says how much memory it takes to decode it: that of a window, or a dictionary.
    pub fn asks_for_memory(self) -> bool {
        self.0.asks_for_memory()
    }

    /// True if [`Decompression::conduct_at`] decodes some files of this format.
    pub fn is_read_at(self) -> bool {
        self.0.is_read_at()
    }

    /// The size of the contents of `file` in bytes, if it says it. It moves the file's position.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn contents(self, file: &mut (impl Read + Seek)) -> io::Result<Option<u64>> {
        self.0.contents(file)
    }

    /// What reads it.
    pub(crate) fn reads(self) -> &'static dyn Reads {
        self.0
    }
}

/// A format of compressed files that is written.
#[derive(Clone, Copy)]
pub struct Written(&'static dyn Writes);

impl Written {
    /// gzip, in one member of independent blocks.
    pub const GZIP: Written = Written(&gzip::Gzip);
    /// bzip2, in one stream.
    pub const BZIP2: Written = Written(&bzip2::Bzip2);
    /// lzip, in members of a block each.
    pub const LZIP: Written = Written(&lzip::Lzip);
    /// xz, in one stream of blocks.
    pub const XZ: Written = Written(&xz::Xz);
    /// Zstandard, in one frame of independent pieces.
    pub const ZSTD: Written = Written(&zstd::Zstd);

    /// All formats that are written.
    pub fn all() -> impl Iterator<Item = Written> + Clone {
        WRITTEN.into_iter().map(Written)
    }

    /// The format of that name.
    pub fn named(name: &str) -> Option<Written> {
        Written::all().find(|written| written.name() == name)
    }

    /// The format, as one that is read.
    pub fn format(self) -> Format {
        Format(self.0)
    }

    /// Its name, in lower case.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// The usual end of a file's name.
    pub fn suffix(self) -> &'static str {
        self.format().suffix()
    }

    /// The levels, from the fastest to that which makes the smallest files.
    pub fn levels(self) -> RangeInclusive<u32> {
        self.0.levels()
    }

    /// The level that is used if nobody says another.
    pub fn default_level(self) -> u32 {
        self.0.default_level()
    }

    /// True if it has this setting; a [`Compression`] for any other format ignores it.
    pub fn has(self, setting: Setting) -> bool {
        self.0.has(setting)
    }

    /// What writes it.
    pub(crate) fn writes(self) -> &'static dyn Writes {
        self.0
    }
}

impl Default for Format {
    /// gzip.
    fn default() -> Self {
        Format::GZIP
    }
}

impl Default for Written {
    /// gzip.
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

impl PartialEq for Written {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Written {}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Format").field(&self.name()).finish()
    }
}

impl fmt::Debug for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Written").field(&self.name()).finish()
    }
}
