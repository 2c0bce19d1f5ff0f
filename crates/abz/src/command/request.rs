//! Requests: the checked and translated command line. Each action has a type with all that it needs.

use std::path::{Path, PathBuf};

use abz::{Compression, Decompression, Span, Written};

use super::arguments::{Explained, Gaps, InputMode, OutputMode, Reported};
use super::behaviour::Behaviour;
use super::file_id::FileId;
use super::problem::Problem;
use super::status::Loudness;
use super::suffix::Names;

/// A request with the settings for messages and the sandbox.
#[derive(Debug)]
pub struct Asked {
    pub(super) request: Request,
    pub(super) talk: Talk,
    /// A note to print before the work begins.
    pub(super) note: Option<Problem>,
    /// Restrict access to the files that are named, if the kernel supports it.
    pub(super) sandbox: bool,
}

/// An action with its settings.
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

/// Compresses files.
#[derive(Debug)]
pub(super) struct Compress {
    pub(super) inputs: Inputs,
    pub(super) outputs: Outputs,
    /// The settings; the name, time and workers are adapted to each file.
    pub(super) compression: Compression,
    /// Store names and times.
    pub(super) stores_names: bool,
    /// Settings to decompress the output for comparison with the input.
    pub(super) verify: Option<Decompression>,
    /// Print the SHA-256 of the uncompressed data.
    pub(super) checksum: bool,
    /// The largest size of an output file in bytes.
    pub(super) volume_size: Option<u64>,
    pub(super) io_modes: IoModes,
    pub(super) reporting: Reporting,
}

/// Decompresses files.
#[derive(Debug)]
pub(super) struct Decompress {
    pub(super) inputs: Inputs,
    pub(super) outputs: Outputs,
    pub(super) decoding: Decoding,
    pub(super) reporting: Reporting,
}

/// Decompresses files without writing the result.
#[derive(Debug)]
pub(super) struct Test {
    pub(super) inputs: Inputs,
    pub(super) decoding: Decoding,
    /// Print each member.
    pub(super) detailed: bool,
    pub(super) reporting: Reporting,
}

/// The settings to decode files.
#[derive(Debug)]
pub(super) struct Decoding {
    /// The settings; the workers are adapted to each file.
    pub(super) decompression: Decompression,
    /// Print the SHA-256 of the uncompressed data.
    pub(super) checksum: bool,
    /// Copy files that are not compressed.
    pub(super) copies: bool,
    /// Decode a damaged lzip member as far as possible before the damage is reported.
    pub(super) gives_what_it_can: bool,
    pub(super) indexing: Indexing,
    pub(super) io_modes: IoModes,
}

/// The use of indices while decoding.
#[derive(Debug)]
pub(super) struct Indexing {
    /// The index to use instead of the one beside the file.
    pub(super) file: Option<PathBuf>,
    /// Make an index for each file that has no matching one: the distance of points in bytes of contents, and the
    /// outputs.
    pub(super) made: Option<(u64, Outputs)>,
}

/// Lists the contents of compressed files.
#[derive(Debug)]
pub(super) struct List {
    pub(super) inputs: Inputs,
    pub(super) decompression: Decompression,
    /// Print the stored names.
    pub(super) restores_names: bool,
    pub(super) form: ListForm,
}

/// The format of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListForm {
    pub(super) as_json: bool,
    /// The format of `xz --robot`.
    pub(super) for_robots: bool,
    /// Print each member too.
    pub(super) detailed: bool,
}

/// Makes indices of compressed files.
#[derive(Debug)]
pub(super) struct MakeIndex {
    pub(super) inputs: Inputs,
    pub(super) outputs: Outputs,
    pub(super) decompression: Decompression,
    /// The distance of points in bytes of contents.
    pub(super) every: u64,
    pub(super) mode: InputMode,
    pub(super) reporting: Reporting,
}

/// Decompresses a range of files.
#[derive(Debug)]
pub(super) struct Access {
    pub(super) inputs: Inputs,
    pub(super) outputs: Outputs,
    pub(super) decompression: Decompression,
    pub(super) span: Span,
    /// The index to use instead of the one beside the file.
    pub(super) index_file: Option<PathBuf>,
    pub(super) mode: InputMode,
    pub(super) reporting: Reporting,
}

/// Recovers damaged files.
#[derive(Debug)]
pub(super) struct Recover {
    pub(super) inputs: Inputs,
    pub(super) outputs: Outputs,
    /// The format; `None` to detect it.
    pub(super) format: Option<Written>,
    pub(super) gaps: Gaps,
    pub(super) workers: usize,
    /// The memory limit in bytes.
    pub(super) memory_limit: Option<u64>,
    pub(super) as_json: bool,
    pub(super) reporting: Reporting,
}

/// Makes an archive.
#[derive(Debug)]
pub(super) struct Archive {
    /// The files and folders to store.
    pub(super) inputs: Inputs,
    pub(super) outputs: Outputs,
    /// The settings to compress; `None` for a plain `.tar`.
    pub(super) compression: Option<Compression>,
    pub(super) archiving: Archiving,
}

/// The output and metadata of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Archiving {
    /// A file, or - for standard output.
    pub(super) output: PathBuf,
    /// The time of all members in seconds since 1970, instead of their own.
    pub(super) mtime: Option<u64>,
    /// The user and group of all members, instead of their own.
    pub(super) owner: Option<(u32, u32)>,
}

/// Extracts archives.
#[derive(Debug)]
pub(super) struct Extract {
    pub(super) inputs: Inputs,
    pub(super) outputs: Outputs,
    pub(super) folder: PathBuf,
    pub(super) decompression: Decompression,
}

/// Measures speed and size of formats.
#[derive(Debug)]
pub(super) struct Bench {
    pub(super) inputs: Inputs,
    /// The only format to measure.
    pub(super) format: Option<Written>,
    pub(super) workers: usize,
    /// The HTML file for the results, and whether it may be overwritten.
    pub(super) html: Option<PathBuf>,
    pub(super) force: bool,
}

/// Prints the plan.
#[derive(Debug)]
pub(super) struct Explain {
    pub(super) inputs: Inputs,
    pub(super) form: Explained,
    pub(super) of: Explainable,
}

/// The operation whose plan is printed.
#[derive(Debug)]
pub(super) enum Explainable {
    Compression(Box<Compression>),
    /// With the index to use instead of the one beside the file.
    Decompression(Box<Decompression>, Option<PathBuf>),
}

/// The inputs, and the conditions that they have to meet.
#[derive(Clone, Debug)]
pub(super) struct Inputs {
    /// The inputs in order.
    pub(super) sources: Vec<Source>,
    /// Process the files in folders.
    pub(super) recursive: bool,
    /// The inputs are compressed files, whose suffix may be omitted.
    pub(super) are_compressed: bool,
    /// Skip files whose names have the suffix of a compressed format.
    pub(super) exclude_compressed: bool,
    /// Follow symbolic links, and process files with several hard links.
    pub(super) force: bool,
    /// Accept compressed data from a terminal.
    pub(super) may_be_typed: bool,
    /// The largest input in bytes that one thread processes.
    pub(super) small: u64,
    /// Outputs replace the inputs.
    pub(super) are_replaced: bool,
    /// Keep the inputs.
    pub(super) keep: bool,
    /// Accept regular files only.
    pub(super) are_files: bool,
    /// The common folder of all outputs. Only one of several inputs with the same name is processed.
    pub(super) one_folder: Option<PathBuf>,
    pub(super) names: Names,
    pub(super) behaviour: Behaviour,
}

impl Inputs {
    /// Returns `true` if inputs that are replaced may be symbolic links or have several hard links.
    pub(super) fn may_be_links(&self) -> bool {
        self.force || self.keep && self.behaviour.keeps_links
    }

    /// Returns the files and folders that are named.
    pub(super) fn named(&self) -> impl DoubleEndedIterator<Item = &Path> {
        self.sources.iter().filter_map(|source| match source {
            Source::Stdin => None,
            Source::File(path) => Some(path.as_path()),
        })
    }
}

/// The source of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// Standard input.
    Stdin,
    /// A file.
    File(PathBuf),
}

/// The settings of outputs.
#[derive(Clone, Debug)]
pub(super) struct Outputs {
    pub(super) made: Made,
    pub(super) destination: Destination,
    /// Overwrite files, and write compressed data to a terminal.
    pub(super) force: bool,
    /// Keep the inputs.
    pub(super) keep: bool,
    /// The reference file of a patch, which is neither removed nor overwritten.
    pub(super) needed: Option<FileId>,
    /// Wait until outputs are on disk.
    pub(super) sync: bool,
    pub(super) sparse: Sparse,
    /// Restore stored names and times.
    pub(super) restores_names: bool,
    pub(super) names: Names,
    pub(super) behaviour: Behaviour,
}

/// Which outputs get holes for zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sparse {
    Nowhere,
    /// In new files.
    Files,
    /// Also on standard output, if that is a regular file positioned at its end.
    Everywhere,
}

/// The type of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Made {
    Compressed,
    Plain,
    Index,
}

/// The destination of outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Destination {
    /// Each output lies beside its input, under a derived name; standard input goes to standard output.
    Beside,
    Stdout,
    /// All outputs go to one file.
    File(PathBuf),
    /// Each output goes to this folder, under a derived name, or to subfolders of it that mirror those of the inputs.
    Folder {
        path: PathBuf,
        mirrors: bool,
    },
}

/// The I/O modes.
#[derive(Clone, Copy, Debug)]
pub(super) struct IoModes {
    pub(super) input: InputMode,
    pub(super) output: OutputMode,
}

/// The settings of reports.
#[derive(Clone, Debug, Default)]
pub(super) struct Reporting {
    /// The format of the report.
    pub(super) report: Option<Reported>,
    /// The file for the report, instead of standard error.
    pub(super) report_file: Option<PathBuf>,
    /// The file for the trace.
    pub(super) trace: Option<PathBuf>,
    /// Overwrite these files.
    pub(super) force: bool,
}

/// The settings of messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Talk {
    pub(super) loudness: Loudness,
    /// The behaviour of the tool by whose name the program is called.
    pub(super) behaviour: Behaviour,
    /// The user may be asked questions.
    pub(super) asks: bool,
}

impl Talk {
    /// Returns `true` with `--verbose`.
    pub(super) fn is_verbose(&self) -> bool {
        self.loudness == Loudness::Verbose
    }

    /// Returns `true` unless only errors are printed.
    pub(super) fn is_chatty(&self) -> bool {
        self.loudness > Loudness::Quiet
    }
}

impl Request {
    /// Returns the inputs.
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

    /// Returns the settings of the outputs, if each input has one.
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

    /// Returns the settings of reports.
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
    /// Returns `true` if files may be mapped, so that SIGBUS is possible.
    pub fn maps(&self) -> bool {
        let (input, output) = match &self.request {
            Request::Compress(Compress { io_modes, .. })
            | Request::Decompress(Decompress { decoding: Decoding { io_modes, .. }, .. })
            | Request::Test(Test { decoding: Decoding { io_modes, .. }, .. }) => {
                (io_modes.input, io_modes.output)
            }
            Request::Index(MakeIndex { mode, .. }) | Request::Access(Access { mode, .. }) => {
                (*mode, OutputMode::Auto)
            }
            _ => return false,
        };
        input == InputMode::Mmap || output == OutputMode::Mmap
    }
}
