//! Requests: the checked and translated command line. Each action has a type with all that it needs.

pub(crate) mod behaviour;
pub(crate) mod suffix;

use std::path::{Path, PathBuf};

use abz::{Compression, Decompression, Format, Span};

use self::behaviour::Behaviour;
use self::suffix::Names;
use super::arguments::{Explained, Gaps, InputMode, OutputMode, Reported};
use crate::command::messages::problem::Problem;
use crate::command::messages::status::Loudness;
use crate::command::system::file_id::FileId;

/// A request with the settings for messages and the sandbox.
#[derive(Debug)]
pub struct Asked {
    pub(crate) request: Request,
    pub(crate) talk: Talk,
    /// A note to print before the work begins.
    pub(crate) note: Option<Problem>,
    /// Restrict access to the files that are named, if the kernel supports it.
    pub(crate) sandbox: bool,
}

/// An action with its settings.
#[derive(Debug)]
pub(crate) enum Request {
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
pub(crate) struct Compress {
    pub(crate) inputs: Inputs,
    pub(crate) outputs: Outputs,
    /// The settings; the name, time and workers are adapted to each file.
    pub(crate) compression: Compression,
    /// Store names and times.
    pub(crate) stores_names: bool,
    /// Settings to decompress the output for comparison with the input.
    pub(crate) verify: Option<Decompression>,
    /// Print the SHA-256 of the uncompressed data.
    pub(crate) checksum: bool,
    /// The largest size of an output file in bytes.
    pub(crate) volume_size: Option<u64>,
    pub(crate) io_modes: IoModes,
    pub(crate) reporting: Reporting,
}

/// Decompresses files.
#[derive(Debug)]
pub(crate) struct Decompress {
    pub(crate) inputs: Inputs,
    pub(crate) outputs: Outputs,
    pub(crate) decoding: Decoding,
    pub(crate) reporting: Reporting,
}

/// Decompresses files without writing the result.
#[derive(Debug)]
pub(crate) struct Test {
    pub(crate) inputs: Inputs,
    pub(crate) decoding: Decoding,
    /// Print each member.
    pub(crate) detailed: bool,
    pub(crate) reporting: Reporting,
}

/// The settings to decode files.
#[derive(Debug)]
pub(crate) struct Decoding {
    /// The settings; the workers are adapted to each file.
    pub(crate) decompression: Decompression,
    /// Print the SHA-256 of the uncompressed data.
    pub(crate) checksum: bool,
    /// Copy files that are not compressed.
    pub(crate) copies: bool,
    /// Decode a damaged lzip member as far as possible before the damage is reported.
    pub(crate) gives_what_it_can: bool,
    pub(crate) indexing: Indexing,
    pub(crate) io_modes: IoModes,
}

/// The use of indices while decoding.
#[derive(Debug)]
pub(crate) struct Indexing {
    /// The index to use instead of the one beside the file.
    pub(crate) file: Option<PathBuf>,
    /// Make an index for each file that has no matching one: the distance of points in bytes of contents, and the
    /// outputs.
    pub(crate) made: Option<(u64, Outputs)>,
}

/// Lists the contents of compressed files.
#[derive(Debug)]
pub(crate) struct List {
    pub(crate) inputs: Inputs,
    pub(crate) decompression: Decompression,
    /// Print the stored names.
    pub(crate) restores_names: bool,
    pub(crate) form: ListForm,
}

/// The format of a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListForm {
    pub(crate) as_json: bool,
    /// The format of `xz --robot`.
    pub(crate) for_robots: bool,
    /// Print each member too.
    pub(crate) detailed: bool,
}

/// Makes indices of compressed files.
#[derive(Debug)]
pub(crate) struct MakeIndex {
    pub(crate) inputs: Inputs,
    pub(crate) outputs: Outputs,
    pub(crate) decompression: Decompression,
    /// The distance of points in bytes of contents.
    pub(crate) every: u64,
    pub(crate) mode: InputMode,
    pub(crate) reporting: Reporting,
}

/// Decompresses a range of files.
#[derive(Debug)]
pub(crate) struct Access {
    pub(crate) inputs: Inputs,
    pub(crate) outputs: Outputs,
    pub(crate) decompression: Decompression,
    pub(crate) span: Span,
    /// The index to use instead of the one beside the file.
    pub(crate) index_file: Option<PathBuf>,
    pub(crate) mode: InputMode,
    pub(crate) reporting: Reporting,
}

/// Recovers damaged files.
#[derive(Debug)]
pub(crate) struct Recover {
    pub(crate) inputs: Inputs,
    pub(crate) outputs: Outputs,
    /// The format; `None` to detect it.
    pub(crate) format: Option<Format>,
    pub(crate) gaps: Gaps,
    pub(crate) workers: usize,
    /// The memory limit in bytes.
    pub(crate) memory_limit: Option<u64>,
    pub(crate) as_json: bool,
    pub(crate) reporting: Reporting,
}

/// Makes an archive.
#[derive(Debug)]
pub(crate) struct Archive {
    /// The files and folders to store.
    pub(crate) inputs: Inputs,
    pub(crate) outputs: Outputs,
    /// The settings to compress; `None` for a plain `.tar`.
    pub(crate) compression: Option<Compression>,
    pub(crate) archiving: Archiving,
}

/// The output and metadata of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Archiving {
    /// A file, or - for standard output.
    pub(crate) output: PathBuf,
    /// The time of all members in seconds since 1970, instead of their own.
    pub(crate) mtime: Option<u64>,
    /// The user and group of all members, instead of their own.
    pub(crate) owner: Option<(u32, u32)>,
    /// Stores holes as such.
    pub(crate) sparse: bool,
}

/// Extracts archives.
#[derive(Debug)]
pub(crate) struct Extract {
    pub(crate) inputs: Inputs,
    pub(crate) outputs: Outputs,
    pub(crate) folder: PathBuf,
    pub(crate) decompression: Decompression,
}

/// Measures speed and size of formats.
#[derive(Debug)]
pub(crate) struct Bench {
    pub(crate) inputs: Inputs,
    /// The only format to measure.
    pub(crate) format: Option<Format>,
    pub(crate) workers: usize,
    /// The HTML file for the results, and whether it may be overwritten.
    pub(crate) html: Option<PathBuf>,
    pub(crate) force: bool,
}

/// Prints the plan.
#[derive(Debug)]
pub(crate) struct Explain {
    pub(crate) inputs: Inputs,
    pub(crate) form: Explained,
    pub(crate) of: Explainable,
}

/// The operation whose plan is printed.
#[derive(Debug)]
pub(crate) enum Explainable {
    Compression(Box<Compression>),
    /// With the index to use instead of the one beside the file.
    Decompression(Box<Decompression>, Option<PathBuf>),
}

/// The inputs, and the conditions that they have to meet.
#[derive(Clone, Debug)]
pub(crate) struct Inputs {
    /// The inputs in order.
    pub(crate) sources: Vec<Source>,
    /// Process the files in folders.
    pub(crate) recursive: bool,
    /// The inputs are compressed files, whose suffix may be omitted.
    pub(crate) are_compressed: bool,
    /// Skip files whose names have the suffix of a compressed format.
    pub(crate) exclude_compressed: bool,
    /// Follow symbolic links, and process files with several hard links.
    pub(crate) force: bool,
    /// Accept compressed data from a terminal.
    pub(crate) may_be_typed: bool,
    /// The largest input in bytes that one thread processes.
    pub(crate) small: u64,
    /// Outputs replace the inputs.
    pub(crate) are_replaced: bool,
    /// Keep the inputs.
    pub(crate) keep: bool,
    /// Accept regular files only.
    pub(crate) are_files: bool,
    /// The common folder of all outputs. Only one of several inputs with the same name is processed.
    pub(crate) one_folder: Option<PathBuf>,
    pub(crate) names: Names,
    pub(crate) behaviour: Behaviour,
}

impl Inputs {
    /// Returns `true` if inputs that are replaced may be symbolic links or have several hard links.
    pub(crate) fn may_be_links(&self) -> bool {
        self.force || self.keep && self.behaviour.keeps_links
    }

    /// Returns the files and folders that are named.
    pub(crate) fn named(&self) -> impl DoubleEndedIterator<Item = &Path> {
        self.sources.iter().filter_map(|source| match source {
            Source::Stdin => None,
            Source::File(path) => Some(path.as_path()),
        })
    }
}

/// The source of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// Standard input.
    Stdin,
    /// A file.
    File(PathBuf),
}

/// The settings of outputs.
#[derive(Clone, Debug)]
pub(crate) struct Outputs {
    pub(crate) made: Made,
    pub(crate) destination: Destination,
    /// Overwrite files, and write compressed data to a terminal.
    pub(crate) force: bool,
    /// Keep the inputs.
    pub(crate) keep: bool,
    /// The reference file of a patch, which is neither removed nor overwritten.
    pub(crate) needed: Option<FileId>,
    /// Wait until outputs are on disk.
    pub(crate) sync: bool,
    pub(crate) sparse: Sparse,
    /// Restore stored names and times.
    pub(crate) restores_names: bool,
    pub(crate) names: Names,
    pub(crate) behaviour: Behaviour,
}

/// Which outputs get holes for zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sparse {
    Nowhere,
    /// In new files.
    Files,
    /// Also on standard output, if that is a regular file positioned at its end.
    Everywhere,
}

/// The type of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Made {
    Compressed,
    Plain,
    Index,
}

/// The destination of outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
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
pub(crate) struct IoModes {
    pub(crate) input: InputMode,
    pub(crate) output: OutputMode,
}

/// The settings of reports.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reporting {
    /// The format of the report.
    pub(crate) report: Option<Reported>,
    /// The file for the report, instead of standard error.
    pub(crate) report_file: Option<PathBuf>,
    /// The file for the trace.
    pub(crate) trace: Option<PathBuf>,
    /// Overwrite these files.
    pub(crate) force: bool,
}

/// The settings of messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Talk {
    pub(crate) loudness: Loudness,
    /// The behaviour of the tool by whose name the program is called.
    pub(crate) behaviour: Behaviour,
    /// The user may be asked questions.
    pub(crate) asks: bool,
}

impl Talk {
    /// Returns `true` with `--verbose`.
    pub(crate) fn is_verbose(&self) -> bool {
        self.loudness == Loudness::Verbose
    }

    /// Returns `true` unless only errors are printed.
    pub(crate) fn is_chatty(&self) -> bool {
        self.loudness > Loudness::Quiet
    }
}

impl Request {
    /// Returns the inputs.
    pub(crate) fn inputs(&self) -> &Inputs {
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
    pub(crate) fn outputs(&self) -> Option<&Outputs> {
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
    pub(crate) fn reporting(&self) -> Option<&Reporting> {
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
