//! What the command line asks for: each request has what it needs, and nothing reads an argument twice.

use std::path::{Path, PathBuf};

use abz::{Compression, Decompression, Span, Written};

use super::arguments::{Explained, Gaps, InputWay, OutputWay, Reported};
use super::file_id::FileId;
use super::manners::Manners;
use super::problem::Problem;
use super::status::Loudness;
use super::suffix::Names;

/// A request, and how it is answered.
#[derive(Debug)]
pub struct Asked {
    pub(super) request: Request,
    pub(super) talk: Talk,
    /// What is to be told before the work begins.
    pub(super) note: Option<Problem>,
    /// Touch only what is named, as far as the kernel can see to that.
    pub(super) sandbox: bool,
}

/// What the command line asks for.
#[derive(Debug)]
pub(super) enum Request {
    Compress(Compress),
    Decompress(Decompress),
    Test(Test),
    List(List),
    Index(MakeIndex),
    Access(Access),
    Recover(Recover),
    Archive(Archive),
    Extract(Extract),
    Bench(Bench),
    Explain(Explain),
}

/// Compress files.
#[derive(Debug)]
pub(super) struct Compress {
    pub(super) inputs: Inputs,
    pub(super) outputs: Outputs,
    /// Each file brings its own origin, and may need fewer workers.
    pub(super) compression: Compression,
    /// Names and times are stored.
    pub(super) stores_names: bool,
    /// Decompress what is written in this way, and compare.
    pub(super) verify: Option<Decompression>,
    /// Tell the SHA-256 of the plain data.
    pub(super) checksum: bool,
    /// Write files of at most so many bytes.
    pub(super) volume_size: Option<u64>,
    pub(super) ways: Ways,
    pub(super) reporting: Reporting,
}

/// Decompress files.
#[derive(Debug)]
pub(super) struct Decompress {
    pub(super) inputs: Inputs,
    pub(super) outputs: Outputs,
    pub(super) decoding: Decoding,
    pub(super) reporting: Reporting,
}

/// Decompress files to nowhere.
#[derive(Debug)]
pub(super) struct Test {
    pub(super) inputs: Inputs,
    pub(super) decoding: Decoding,
    /// Tell of each member.
    pub(super) detailed: bool,
    pub(super) reporting: Reporting,
}

/// How files are decoded.
#[derive(Debug)]
pub(super) struct Decoding {
    /// Each file may need fewer workers.
    pub(super) decompression: Decompression,
    /// Tell the SHA-256 of the plain data.
    pub(super) checksum: bool,
    /// What is not compressed is copied as it is.
    pub(super) copies: bool,
    /// What can be decoded of a damaged member of lzip is written, before the damage is told.
    pub(super) gives_what_it_can: bool,
    pub(super) indexing: Indexing,
    pub(super) ways: Ways,
}

/// What is done with indices where files are decoded.
#[derive(Debug)]
pub(super) struct Indexing {
    /// The index, instead of that beside the file.
    pub(super) file: Option<PathBuf>,
    /// Make one of each file that has none that fits: how far apart the places are, in bytes of contents, and where it goes.
    pub(super) made: Option<(u64, Outputs)>,
}

/// Tell what is in compressed files.
#[derive(Debug)]
pub(super) struct List {
    pub(super) inputs: Inputs,
    pub(super) decompression: Decompression,
    /// The name that is stored in a file is that of its contents.
    pub(super) restores_names: bool,
    pub(super) form: ListForm,
}

/// The form of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListForm {
    pub(super) as_json: bool,
    /// As xz does for programs.
    pub(super) for_robots: bool,
    /// Tell of each member too.
    pub(super) detailed: bool,
}

/// Make indices of compressed files.
#[derive(Debug)]
pub(super) struct MakeIndex {
    pub(super) inputs: Inputs,
    pub(super) outputs: Outputs,
    pub(super) decompression: Decompression,
    /// How far apart the places are, in bytes of contents.
    pub(super) every: u64,
    pub(super) way: InputWay,
    pub(super) reporting: Reporting,
}

/// Decompress a part of what is in files.
#[derive(Debug)]
pub(super) struct Access {
    pub(super) inputs: Inputs,
    pub(super) outputs: Outputs,
    pub(super) decompression: Decompression,
    pub(super) span: Span,
    /// The index, instead of that beside the file.
    pub(super) index_file: Option<PathBuf>,
    pub(super) way: InputWay,
    pub(super) reporting: Reporting,
}

/// Take what is whole from damaged files.
#[derive(Debug)]
pub(super) struct Recover {
    pub(super) inputs: Inputs,
    pub(super) outputs: Outputs,
    /// The format, if it is not to be found out.
    pub(super) format: Option<Written>,
    pub(super) gaps: Gaps,
    pub(super) workers: usize,
    /// The most memory to take, in bytes.
    pub(super) memory_limit: Option<u64>,
    pub(super) as_json: bool,
    pub(super) reporting: Reporting,
}

/// Make an archive.
#[derive(Debug)]
pub(super) struct Archive {
    /// Files and folders.
    pub(super) inputs: Inputs,
    pub(super) outputs: Outputs,
    /// How it is compressed, if it is.
    pub(super) compression: Option<Compression>,
    pub(super) archiving: Archiving,
}

/// What an archive is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Archiving {
    /// A file, or - for standard output.
    pub(super) output: PathBuf,
    /// The time of all that is in it, in seconds since 1970, instead of their own.
    pub(super) mtime: Option<u64>,
    /// The numbers of the user and the group to whom all belongs, instead of their own.
    pub(super) owner: Option<(u32, u32)>,
}

/// Take archives apart.
#[derive(Debug)]
pub(super) struct Extract {
    pub(super) inputs: Inputs,
    pub(super) outputs: Outputs,
    pub(super) folder: PathBuf,
    pub(super) decompression: Decompression,
}

/// Measure how fast and how small formats are.
#[derive(Debug)]
pub(super) struct Bench {
    pub(super) inputs: Inputs,
    /// Measure no other.
    pub(super) format: Option<Written>,
    pub(super) workers: usize,
    /// Where to draw what was measured, and whether that may be overwritten.
    pub(super) html: Option<PathBuf>,
    pub(super) force: bool,
}

/// Print the plan that would run.
#[derive(Debug)]
pub(super) struct Explain {
    pub(super) inputs: Inputs,
    pub(super) form: Explained,
    pub(super) of: Explainable,
}

/// Of what the plan is printed.
#[derive(Debug)]
pub(super) enum Explainable {
    Compression(Box<Compression>),
    /// The index, instead of that beside the file, comes with it.
    Decompression(Box<Decompression>, Option<PathBuf>),
}

/// Which files are taken.
#[derive(Clone, Debug)]
pub(super) struct Inputs {
    /// In order.
    pub(super) sources: Vec<Source>,
    /// Take the files in folders.
    pub(super) recursive: bool,
    /// They are compressed files, which a name without their suffix may stand for.
    pub(super) are_compressed: bool,
    /// Take no files whose names say that they are compressed.
    pub(super) exclude_compressed: bool,
    /// Follow links, and take files that have other names.
    pub(super) force: bool,
    /// Compressed data may come from a terminal.
    pub(super) may_be_typed: bool,
    /// One of at most so many bytes is done by one thread.
    pub(super) small: u64,
    /// Outputs take their place.
    pub(super) are_replaced: bool,
    /// They stay nevertheless.
    pub(super) keep: bool,
    /// Only regular files are taken.
    pub(super) are_files: bool,
    /// The folder in which all outputs have names made of theirs: two of one name have no place there.
    pub(super) one_folder: Option<PathBuf>,
    pub(super) names: Names,
    pub(super) manners: Manners,
}

impl Inputs {
    /// True if what replaces files takes those that are links too, or have other names.
    pub(super) fn may_be_links(&self) -> bool {
        self.force || self.keep && self.manners.keeps_links
    }

    /// The files and folders that are named.
    pub(super) fn named(&self) -> impl DoubleEndedIterator<Item = &Path> {
        self.sources.iter().filter_map(|source| match source {
            Source::Stdin => None,
            Source::File(path) => Some(path.as_path()),
        })
    }
}

/// Where an input comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// Standard input.
    Stdin,
    /// A file.
    File(PathBuf),
}

/// What is made of files, and where it goes.
#[derive(Clone, Debug)]
pub(super) struct Outputs {
    pub(super) made: Made,
    pub(super) destination: Destination,
    /// Overwrite files, and write compressed data to a terminal.
    pub(super) force: bool,
    /// Inputs stay when their output is complete.
    pub(super) keep: bool,
    /// A file that is neither removed nor overwritten: the one that a patch refers to.
    pub(super) needed: Option<FileId>,
    /// Wait until outputs are on the disk.
    pub(super) sync: bool,
    pub(super) sparse: Sparse,
    /// Names and times that are stored are given back.
    pub(super) restores_names: bool,
    pub(super) names: Names,
    pub(super) manners: Manners,
}

/// Where zeros of plain data are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sparse {
    Nowhere,
    /// In files that are made.
    Files,
    /// On standard output too, where that is a file that ends there.
    Everywhere,
}

/// What is made of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Made {
    Compressed,
    Plain,
    Index,
}

/// Where outputs go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Destination {
    /// Each beside its input, under a name made of that of the input; from standard input to standard output.
    Beside,
    Stdout,
    /// All to one file.
    File(PathBuf),
    /// Each in this folder, under a name made of that of the input, or below it in folders like those in which the input lies.
    Folder {
        path: PathBuf,
        mirrors: bool,
    },
}

/// How files are read and written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ways {
    pub(super) input: InputWay,
    pub(super) output: OutputWay,
}

/// What is told of the work itself.
#[derive(Clone, Debug, Default)]
pub(super) struct Reporting {
    /// What the threads did.
    pub(super) report: Option<Reported>,
    /// Where that goes, if not to standard error.
    pub(super) report_file: Option<PathBuf>,
    /// Where to tell when they did it.
    pub(super) trace: Option<PathBuf>,
    /// Overwrite these files.
    pub(super) force: bool,
}

/// How the user is spoken to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Talk {
    pub(super) loudness: Loudness,
    /// Those of the tool by whose name the program is called.
    pub(super) manners: Manners,
    /// The user may be asked.
    pub(super) asks: bool,
}

impl Talk {
    /// True if the user wants to hear of all that is done.
    pub(super) fn is_verbose(&self) -> bool {
        self.loudness == Loudness::Verbose
    }

    /// True unless the user wants to hear of errors only.
    pub(super) fn is_chatty(&self) -> bool {
        self.loudness > Loudness::Quiet
    }
}

impl Request {
    /// The files that it takes.
    pub(super) fn inputs(&self) -> &Inputs {
        match self {
            Request::Compress(Compress { inputs, .. })
            | Request::Decompress(Decompress { inputs, .. })
            | Request::Test(Test { inputs, .. })
            | Request::List(List { inputs, .. })
            | Request::Index(MakeIndex { inputs, .. })
            | Request::Access(Access { inputs, .. })
            | Request::Recover(Recover { inputs, .. })
            | Request::Archive(Archive { inputs, .. })
            | Request::Extract(Extract { inputs, .. })
            | Request::Bench(Bench { inputs, .. })
            | Request::Explain(Explain { inputs, .. }) => inputs,
        }
    }

    /// Where what it makes of each of them goes, if it makes anything.
    pub(super) fn outputs(&self) -> Option<&Outputs> {
        match self {
            Request::Compress(Compress { outputs, .. })
            | Request::Decompress(Decompress { outputs, .. })
            | Request::Index(MakeIndex { outputs, .. })
            | Request::Access(Access { outputs, .. })
            | Request::Recover(Recover { outputs, .. })
            | Request::Archive(Archive { outputs, .. }) => Some(outputs),
            _ => None,
        }
    }

    /// What it tells of the work.
    pub(super) fn reporting(&self) -> Option<&Reporting> {
        match self {
            Request::Compress(Compress { reporting, .. })
            | Request::Decompress(Decompress { reporting, .. })
            | Request::Test(Test { reporting, .. })
            | Request::Index(MakeIndex { reporting, .. })
            | Request::Access(Access { reporting, .. })
            | Request::Recover(Recover { reporting, .. }) => Some(reporting),
            _ => None,
        }
    }
}

impl Asked {
    /// True if memory may be used of which the file may go away.
    pub fn maps(&self) -> bool {
        let (input, output) = match &self.request {
            Request::Compress(Compress { ways, .. })
            | Request::Decompress(Decompress { decoding: Decoding { ways, .. }, .. })
            | Request::Test(Test { decoding: Decoding { ways, .. }, .. }) => (ways.input, ways.output),
            Request::Index(MakeIndex { way, .. }) | Request::Access(Access { way, .. }) => {
                (*way, OutputWay::Auto)
            }
            _ => return false,
        };
        input == InputWay::Mmap || output == OutputWay::Mmap
    }
}
