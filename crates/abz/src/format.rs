//! The formats and their settings by name. `formats/` has what is done with each.

/// A format of compressed files. The formats of features that are left out are not there.
///
/// ```
/// use abz::Format;
///
/// assert_eq!(Format::of(b"\x1f\x8b\x08\0"), Some(Format::Gzip));
/// assert_eq!(Format::of_name("notes.txt.zst".as_ref()), Some(Format::Zstd));
/// assert_eq!(Format::Xz.levels(), 0..=9);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// gzip ([RFC 1952](https://www.rfc-editor.org/rfc/rfc1952)). It is written as one member of independent blocks,
    /// unless `Compression::layout` says otherwise.
    #[cfg(feature = "gzip")]
    Gzip,
    /// bzip2. It is written as one stream.
    #[cfg(feature = "bzip2")]
    Bzip2,
    /// lzip. It is written with a member for each block.
    #[cfg(feature = "lzma")]
    Lzip,
    /// xz. It is written as one stream of blocks.
    #[cfg(feature = "lzma")]
    Xz,
    /// Zstandard ([RFC 8878](https://www.rfc-editor.org/rfc/rfc8878)). It is written as one frame of independent blocks.
    #[cfg(feature = "zstd")]
    Zstd,
    /// A stream of zlib ([RFC 1950](https://www.rfc-editor.org/rfc/rfc1950)).
    #[cfg(feature = "gzip")]
    Zlib,
    /// A `zip` archive with one file.
    #[cfg(feature = "gzip")]
    Zip,
    /// The older format of xz, `.lzma`. One thread writes it, as one stream.
    #[cfg(feature = "lzma")]
    Lzma,
    /// The format of `compress` (`.Z`). It is only read.
    Compress,
    /// The format of `pack` (`.z`). It is only read.
    Pack,
    /// The format of `compress -H` of SCO Unix. It is only read.
    Lzh,
}

/// A setting of [`Compression`](crate::Compression) that not all formats have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Setting {
    /// [`Compression::fast`](crate::Compression::fast).
    Fast,
    /// [`Compression::block_size`](crate::Compression::block_size).
    BlockSize,
    /// [`Compression::rsyncable`](crate::Compression::rsyncable).
    Rsyncable,
    /// [`Compression::layout`](crate::Compression::layout).
    Layout,
    /// [`Lzma::dictionary_size`](crate::Lzma::dictionary_size).
    DictionarySize,
    /// [`Lzma::match_length`](crate::Lzma::match_length).
    MatchLength,
    /// [`Lzma::extreme`](crate::Lzma::extreme).
    Extreme,
    /// [`Lzma::check`](crate::Lzma::check).
    Check,
    /// [`Compression::zstd`](crate::Compression::zstd).
    Zstd,
}
