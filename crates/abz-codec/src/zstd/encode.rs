//! Blocks into frames.

use std::fmt;

use zstd_safe::{CCtx, CParameter};

use super::{Dictionary, LEVELS, MAX_WINDOW_LOG, frame_size};

/// How frames are made, beside the level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoding {
    /// Whether frames end with a checksum.
    pub checksum: bool,
    /// Looks for repetitions far apart, in a window of two to so many bytes: 10 to [`MAX_WINDOW_LOG`]. A decoder needs as
    /// much memory.
    pub long: Option<u32>,
    /// What the frames may refer to. Whoever decodes them needs it too.
    pub dictionary: Option<Dictionary>,
}

impl Default for Encoding {
    /// With checksums, and nothing else.
    fn default() -> Self {
        Encoding { checksum: true, long: None, dictionary: None }
    }
}

impl Encoding {
    /// The contents of a frame in bytes: what suits the level ([`frame_size`]), but not less than a long window.
    pub fn frame_size(&self, level: i32) -> usize {
        frame_size(level).max(self.long.map_or(0, |log| 1 << log))
    }
}

/// Makes frames, each from one block. It keeps libzstd's tables, so a worker has one and uses it again and again.
///
/// The same contents give the same bytes whatever the encoder was used for before.
///
/// ```
/// use abz_codec::zstd::{Decoder, Encoder, Encoding, FrameWriter, frame_size};
/// use abz_codec::Blocks;
///
/// let text = b"a branch of a river\n".repeat(20_000);
/// let mut encoder = Encoder::new(3, &Encoding::default());
/// let (mut file, mut frame) = (FrameWriter::new(Vec::new()), Vec::new());
/// for block in Blocks::new(&text[..], frame_size(3)) {
///     let block = block?;
///     encoder.encode_into(&block.data, &mut frame);
///     file.write(&frame, block.data.len())?;
/// }
/// let file = file.finish()?;
/// assert!(file.starts_with(b"\x28\xb5\x2f\xfd") && file.len() < text.len() / 50);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Encoder {
    context: CCtx<'static>,
}

impl Encoder {
    /// An encoder for frames of a level, one of [`LEVELS`].
    ///
    /// # Panics
    ///
    /// If a setting is out of its range.
    pub fn new(level: i32, encoding: &Encoding) -> Self {
        let Encoding { checksum, long, dictionary, .. } = encoding;
        assert!(LEVELS.contains(&level), "the levels of zstd are {LEVELS:?}");
        let mut parameters = vec![CParameter::CompressionLevel(level), CParameter::ChecksumFlag(*checksum)];
        if let Some(log) = *long {
            assert!((10..=MAX_WINDOW_LOG).contains(&log), "windows have 2^10 to 2^{MAX_WINDOW_LOG} bytes");
            parameters.extend([CParameter::EnableLongDistanceMatching(true), CParameter::WindowLog(log)]);
        }
        let mut context = CCtx::create();
        for parameter in parameters {
            context.set_parameter(parameter).expect("it is in its range");
        }
        if let Some(dictionary) = dictionary {
            dictionary.teach(&mut context).expect("a dictionary was tried when it was made");
        }
        Encoder { context }
    }

    /// Makes a frame of `contents` in `bytes`, whose contents are dropped and whose allocation is used again.
    pub fn encode_into(&mut self, contents: &[u8], bytes: &mut Vec<u8>) {
        bytes.clear();
        bytes.reserve(zstd_safe::compress_bound(contents.len()));
        self.context.compress2(bytes, contents).expect("there is room for any frame, and memory");
    }
}

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encoder").finish_non_exhaustive()
    }
}
