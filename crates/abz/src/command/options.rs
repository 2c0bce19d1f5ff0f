//! What the arguments mean: every later decision reads this, and nothing reads an argument twice.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use abz::zstd::{Decoding, Dictionary};
use abz::{Compression, Decompression, Span, Speculation, Written, lzip};

use super::arguments::{Explained, Gaps, InputWay, OutputWay, Reported};
use super::manners::{Manners, OWN};
use super::status::Loudness;

/// The largest dictionary in bytes, as in zstd.
const LARGEST_DICTIONARY: u64 = 32 << 20;

/// How far apart the places are that an index has, in bytes of contents, if nobody says it.
pub(super) const DEFAULT_INDEX_EVERY: u64 = 1 << 20;

/// What to do, with what, and how.
#[derive(Debug)]
pub struct Options {
    pub(super) action: Action,
    /// Print the plan of the action instead.
    pub(super) explain: Option<Explained>,
    /// List, or tell what is missing, as JSON.
    pub(super) as_json: bool,
    /// List as xz does for programs.
    pub(super) for_robots: bool,
    /// Tell of each member too.
    pub(super) detailed: bool,
    /// Write files of at most so many bytes.
    pub(super) volume_size: Option<u64>,
    /// Take damaged files, and do this about what is missing.
    pub(super) recover: Option<Gaps>,
    /// What to do it with, in order.
    pub sources: Vec<Source>,
    pub(super) destination: Destination,
    /// Make an archive instead.
    pub(super) archiving: Option<Archiving>,
    /// Take archives apart in this folder.
    pub(super) extract: Option<PathBuf>,
    /// Of what is decompressed, only this.
    pub(super) span: Option<Span>,
    /// With this index, instead of that beside the file.
    pub(super) index_file: Option<PathBuf>,
    /// How far apart the places are that an index has, in bytes of contents.
    pub(super) index_every: u64,
    /// Whether inputs stay when their output is complete.
    pub(super) keep: bool,
    pub(super) force: bool,
    /// Take the files in folders.
    pub(super) recursive: bool,
    /// Take no files whose names say that they are compressed.
    pub(super) exclude_compressed: bool,
    /// Touch only what is named, as far as the kernel can see to that.
    pub(super) sandbox: bool,
    /// A format was named: measure no other.
    pub(super) format_was_named: bool,
    /// Where to draw what was measured.
    pub(super) bench_html: Option<PathBuf>,
    /// Wait until outputs are on the disk.
    pub(super) sync: bool,
    /// Leave out zeros of decompressed files.
    pub(super) sparse: bool,
    /// Decompress what is written, and compare.
    pub(super) verify: bool,
    /// Tell the SHA-256 of the plain data.
    pub(super) checksum: bool,
    /// Tell what the threads did, and where to if not to standard error.
    pub(super) report: Option<Reported>,
    pub(super) report_file: Option<PathBuf>,
    /// Where to tell when they did it.
    pub(super) trace: Option<PathBuf>,
    pub(super) naming: Naming,
    /// The suffix of compressed files, not empty.
    pub(super) suffix: OsString,
    /// Level, block size and workers; each file brings its own origin, and may need fewer workers.
    pub(super) compression: Compression,
    /// The size of the dictionary before and after it was made smaller, for the limit of memory, in bytes.
    pub(super) adjusted: Option<(u32, u32)>,
    /// The most memory to take for decompression, in bytes.
    pub(super) memory_limit: Option<u64>,
    /// What files of lzip may have.
    pub(super) lzip: lzip::Strictness,
    /// How to read files of zstd.
    pub(super) speculation: Speculation,
    pub(super) decoding: Decoding,
    /// How files are read and written.
    pub(super) input_way: InputWay,
    pub(super) output_way: OutputWay,
    /// What is told beside errors.
    pub loudness: Loudness,
    /// Those of the tool by whose name the program is called.
    pub(super) manners: Manners,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Compress,
    Decompress,
    Test,
    List,
    Bench,
    /// Make indices.
    Index,
}

/// What is to be made of many files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Archiving {
    /// A file, or - for standard output.
    pub(super) output: PathBuf,
    /// It is not compressed.
    pub(super) is_plain: bool,
    /// The time of all that is in it, in seconds since 1970, instead of their own.
    pub(super) mtime: Option<u64>,
    /// The numbers of the user and the group to whom all belongs, instead of their own.
    pub(super) owner: Option<(u32, u32)>,
}

/// What becomes of names and times in compressed files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Naming {
    /// Compressing stores them.
    pub(super) stores: bool,
    /// Decompressing gives them back.
    pub(super) restores: bool,
}

/// Where an input comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Standard input.
    Stdin,
    /// A file.
    File(PathBuf),
}

/// Where outputs go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Destination {
    /// Each beside its input, under a name made of that of the input; from standard input to standard output.
    Beside,
    Stdout,
    /// All to one file.
    File(PathBuf),
    /// Each in this folder, under a name made of that of the input.
    Folder(PathBuf),
    /// What is decoded is only looked at.
    Nowhere,
}

impl Options {
    /// To compress standard input as it is done if nobody says how.
    pub(super) fn plain(format: Written) -> Options {
        Options {
            action: Action::Compress,
            as_json: false,
            for_robots: false,
            detailed: false,
            volume_size: None,
            recover: None,
            explain: None,
            sources: vec![Source::Stdin],
            destination: Destination::Beside,
            archiving: None,
            extract: None,
            span: None,
            index_file: None,
            index_every: DEFAULT_INDEX_EVERY,
            keep: false,
            force: false,
            recursive: false,
            exclude_compressed: false,
            sync: false,
            sandbox: true,
            format_was_named: false,
            bench_html: None,
            sparse: true,
            verify: false,
            checksum: false,
            report: None,
            report_file: None,
            trace: None,
            // gzip's defaults: stored, and not given back.
            naming: Naming { stores: true, restores: false },
            suffix: format.suffix().into(),
            compression: Compression { format, level: format.default_level(), ..Compression::default() },
            adjusted: None,
            memory_limit: None,
            lzip: lzip::Strictness::default(),
            decoding: Decoding::default(),
            speculation: Speculation::default(),
            input_way: InputWay::default(),
            output_way: OutputWay::default(),
            loudness: Loudness::Normal,
            manners: OWN,
        }
    }

    /// Compresses with no more threads than have room in so many bytes, if that is a limit; and, if `adjusts`, with a smaller
    /// dictionary where not even one has.
    ///
    /// # Errors
    ///
    /// If that is not enough: what to do.
    pub(super) fn limit_compression(&mut self, limit: Option<u64>, adjusts: bool) -> Result<(), String> {
        let Some(limit) = limit else { return Ok(()) };
        let limited = match adjusts {
            true => self.compression.limit_memory_and_dictionary(limit),
            false => self.compression.limit_memory(limit).map(|()| None),
        };
        self.adjusted = limited.map_err(|needed| {
            let needed = needed.div_ceil(1 << 20);
            let advice = "take a lower level, or a smaller dictionary";
            format!("to compress so needs {needed} MiB of memory with one thread: {advice}")
        })?;
        Ok(())
    }

    /// How to read compressed files; each may need fewer workers.
    pub(super) fn decompression(&self) -> Decompression {
        let workers = self.compression.workers;
        let mut zstd = self.decoding.clone();
        if let Some(limit) = self.memory_limit {
            // As in zstd it may be more than windows have without it.
            zstd.memory_limit = Some(limit);
            // Two frames for each worker wait, or are decoded.
            let share = usize::try_from(limit).unwrap_or(usize::MAX) / (2 * workers);
            zstd.max_whole = zstd.max_whole.min(share);
        }
        let (memory_limit, lzip, speculation) = (self.memory_limit, self.lzip, self.speculation);
        Decompression { workers, zstd, memory_limit, lzip, speculation }
    }

    /// True if outputs take the place of their inputs.
    pub(super) fn replaces(&self) -> bool {
        match self.destination {
            Destination::Beside => self.action != Action::Index,
            Destination::Folder(_) => !self.keep,
            _ => false,
        }
    }

    /// True if memory may be used of which the file may go away.
    pub fn maps(&self) -> bool {
        self.input_way == InputWay::Mmap || self.output_way == OutputWay::Mmap
    }

    /// True if the user wants to hear of all that is done.
    pub(super) fn is_verbose(&self) -> bool {
        self.loudness == Loudness::Verbose
    }

    /// True unless the user wants to hear of errors only.
    pub(super) fn is_chatty(&self) -> bool {
        self.loudness > Loudness::Quiet
    }
}

/// A file as a dictionary of zstd.
pub(super) fn dictionary(path: &Path) -> Result<Dictionary, Box<dyn std::error::Error>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(LARGEST_DICTIONARY + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST_DICTIONARY {
        return Err("expected at most 32 MiB, found more".into());
    }
    Ok(Dictionary::new(&bytes)?)
}
