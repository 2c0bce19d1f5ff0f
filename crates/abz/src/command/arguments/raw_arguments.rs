//! The arguments that the command lines of all tools are translated to, and the translation to a [`Request`].

use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use abz::program::{block_len, facts, limit_memory, limit_memory_and_dictionary};
use abz::zstd::{self, Dictionary, Reference};
use abz::{Compression, Decompression, Format, Giving, Setting, Span, Speculation, lzip, xz};

use crate::command::arguments::{Explained, Gaps, InputMode, OutputMode};
use crate::command::many_files::limits;
use crate::command::messages::problem::{Problem, Severity};
use crate::command::messages::status::Loudness;
use crate::command::request::behaviour::{Behaviour, Copies, OWN};
use crate::command::request::suffix::Names;
use crate::command::request::{
    Access, Archive, Archiving, Asked, Bench, Compress, Decoding, Decompress, Destination, Explain,
    Explainable, Extract, Indexing, Inputs, IoModes, List, ListForm, Made, MakeIndex, Outputs, Recover,
    Reporting, Request, Source, Sparse, Talk, Test,
};
use crate::command::system::file_id::FileId;

/// The largest dictionary file in bytes, as in zstd.
const LARGEST_DICTIONARY: u64 = 32 << 20;

/// The default distance between the points of an index, in bytes of contents.
pub(crate) const DEFAULT_INDEX_EVERY: u64 = 1 << 20;

/// The arguments of a command line, independent of the tool. No [`Request`] needs all of them.
#[derive(Debug)]
pub(crate) struct RawArguments {
    pub(crate) action: Action,
    /// Print the plan of the action instead.
    pub(crate) explain: Option<Explained>,
    pub(crate) as_json: bool,
    pub(crate) for_robots: bool,
    /// Print each member too.
    pub(crate) detailed: bool,
    pub(crate) volume_size: Option<u64>,
    pub(crate) recover: Option<Gaps>,
    pub(crate) sources: Vec<Source>,
    /// A file, or - for standard output.
    pub(crate) output: Option<OsString>,
    pub(crate) stdout: bool,
    pub(crate) folder: Option<PathBuf>,
    /// `folder` gets the same subfolders as the inputs have.
    pub(crate) mirrors: bool,
    /// With standard input as the input, the suffix is added to the name of the output if it is missing.
    pub(crate) completes_names: bool,
    /// Joining several inputs in one output requires `force`.
    pub(crate) asks_to_join: bool,
    pub(crate) archiving: Option<Archiving>,
    /// The archive is not compressed.
    pub(crate) is_plain: bool,
    pub(crate) extract: Option<PathBuf>,
    pub(crate) span: Option<Span>,
    pub(crate) index_file: Option<PathBuf>,
    pub(crate) index_every: u64,
    /// Make indices of the files that are decoded.
    pub(crate) indexes: bool,
    pub(crate) keep: bool,
    /// The input is removed even if its output has another name.
    pub(crate) removes: bool,
    pub(crate) force: bool,
    pub(crate) recursive: bool,
    pub(crate) exclude_compressed: bool,
    /// Copy files that are not compressed; `None` selects the default of the tool.
    pub(crate) passes_through: Option<bool>,
    pub(crate) sandbox: bool,
    pub(crate) format_was_named: bool,
    pub(crate) bench_html: Option<PathBuf>,
    pub(crate) sync: bool,
    pub(crate) sparse: Sparse,
    pub(crate) verify: bool,
    pub(crate) checksum: bool,
    pub(crate) reporting: Reporting,
    /// Store names and times.
    pub(crate) stores_names: bool,
    /// Restore stored names and times.
    pub(crate) restores_names: bool,
    pub(crate) suffix: OsString,
    pub(crate) compression: Compression,
    /// The memory limit in bytes to compress, and whether the dictionary may be reduced to meet it.
    pub(crate) most_to_compress: Option<u64>,
    pub(crate) adjusts: bool,
    /// The memory limit in bytes to decompress.
    pub(crate) most_to_decompress: Option<u64>,
    pub(crate) lzip: lzip::Strictness,
    /// Write only complete blocks of a truncated file.
    pub(crate) whole_blocks: bool,
    pub(crate) xz: xz::Leniency,
    pub(crate) zstd: zstd::Decoding,
    /// The file that a patch refers to.
    pub(crate) patch_from: Option<FileId>,
    pub(crate) speculation: Speculation,
    pub(crate) io_modes: IoModes,
    pub(crate) loudness: Loudness,
    pub(crate) behaviour: Behaviour,
}

/// The action of a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Compress,
    Decompress,
    Test,
    List,
    Bench,
    Index,
}

/// Returns `true` for the names of standard output. The last ones are links, which must not be replaced by a file.
fn is_stdout(name: &OsStr) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|known| name == *known)
}

impl RawArguments {
    /// Returns the default arguments, which compress standard input.
    pub(crate) fn plain(format: Format) -> RawArguments {
        RawArguments {
            action: Action::Compress,
            explain: None,
            as_json: false,
            for_robots: false,
            detailed: false,
            volume_size: None,
            recover: None,
            sources: vec![Source::Stdin],
            output: None,
            stdout: false,
            folder: None,
            mirrors: false,
            completes_names: false,
            asks_to_join: false,
            archiving: None,
            is_plain: false,
            extract: None,
            span: None,
            index_file: None,
            index_every: DEFAULT_INDEX_EVERY,
            indexes: false,
            keep: false,
            removes: false,
            force: false,
            recursive: false,
            exclude_compressed: false,
            passes_through: None,
            sandbox: true,
            format_was_named: false,
            bench_html: None,
            sync: false,
            sparse: Sparse::Files,
            verify: false,
            checksum: false,
            reporting: Reporting::default(),
            // As in gzip, names and times are stored by default, and not restored.
            stores_names: true,
            restores_names: false,
            suffix: format.suffix().into(),
            compression: Compression { format, level: format.default_level(), ..Compression::default() },
            most_to_compress: None,
            adjusts: true,
            most_to_decompress: None,
            lzip: lzip::Strictness::default(),
            whole_blocks: false,
            xz: xz::Leniency::default(),
            zstd: zstd::Decoding::default(),
            patch_from: None,
            speculation: Speculation::default(),
            io_modes: IoModes { input: InputMode::default(), output: OutputMode::default() },
            loudness: Loudness::Normal,
            behaviour: OWN,
        }
    }

    /// Translates the arguments to a request.
    ///
    /// # Errors
    ///
    /// A message, if the arguments contradict each other.
    pub(crate) fn request(mut self) -> Result<Asked, String> {
        self.compression.workers = limits::threads(self.compression.workers);
        self.check_patch()?;
        self.check_block_size()?;
        let note = self.limit_compression()?;
        let talk = Talk { loudness: self.loudness, behaviour: self.behaviour, asks: !self.force };
        let sandbox = self.sandbox;
        let destination = self.destination()?;
        let request = self.with(destination);
        Ok(Asked { request, talk, note, sandbox })
    }

    fn with(self, destination: Destination) -> Request {
        let inputs = self.inputs(&destination);
        let decompression = self.decompression();
        let keeps = self.keep || !self.may_remove(&destination);
        let names = self.names();
        let mode = self.io_modes.input;
        let RawArguments { action, recover, reporting, checksum, .. } = self;
        let outputs = |made| Outputs {
            made,
            keep: keeps,
            destination: destination.clone(),
            needed: self.patch_from,
            force: self.force,
            sync: self.sync,
            sparse: self.sparse,
            restores_names: self.restores_names,
            names: names.clone(),
            behaviour: self.behaviour,
        };
        if let Some(archiving) = self.archiving {
            let compression = (!self.is_plain).then_some(self.compression);
            return Request::Archive(Archive {
                inputs,
                outputs: outputs(Made::Compressed),
                compression,
                archiving,
            });
        }
        if let Some(folder) = self.extract {
            let outputs = outputs(Made::Plain);
            return Request::Extract(Extract { inputs, outputs, folder, decompression });
        }
        if let Some(gaps) = recover {
            return Request::Recover(Recover {
                inputs,
                outputs: outputs(Made::Plain),
                format: self.format_was_named.then_some(self.compression.format),
                gaps,
                workers: self.compression.workers,
                memory_limit: self.most_to_decompress,
                as_json: self.as_json,
                reporting,
            });
        }
        if let Some(form) = self.explain {
            let of = match action {
                Action::Compress => Explainable::Compression(Box::new(self.compression)),
                _ => Explainable::Decompression(Box::new(decompression), self.index_file),
            };
            return Request::Explain(Explain { inputs, form, of });
        }
        if let Some(span) = self.span {
            return Request::Access(Access {
                inputs,
                outputs: Outputs { keep: true, ..outputs(Made::Plain) },
                decompression,
                span,
                index_file: self.index_file,
                mode,
                reporting,
            });
        }
        let to_stdout = destination == Destination::Stdout;
        let beside =
            || Outputs { destination: Destination::Beside, restores_names: false, ..outputs(Made::Index) };
        let indexing =
            Indexing { made: self.indexes.then(|| (self.index_every, beside())), file: self.index_file };
        let copies = self.passes_through.unwrap_or(match self.behaviour.copies {
            Copies::Nowhere => false,
            // Standard input goes to standard output. gzip tests as if it wrote there.
            Copies::ToStdout => {
                let is_as_stdout = action == Action::Test && self.behaviour.takes_mixed;
                self.force
                    && (to_stdout
                        || is_as_stdout
                        || inputs.sources.iter().all(|input| *input == Source::Stdin))
            }
            Copies::Everywhere => self.force && action == Action::Decompress,
        });
        let decoding = |decompression| Decoding {
            decompression,
            checksum,
            copies,
            gives_what_it_can: self.behaviour.gives_what_it_can && to_stdout,
            indexing,
            io_modes: self.io_modes,
        };
        match action {
            Action::Compress => Request::Compress(Compress {
                inputs,
                outputs: outputs(Made::Compressed),
                compression: self.compression,
                stores_names: self.stores_names,
                verify: self.verify.then_some(decompression),
                checksum,
                volume_size: self.volume_size,
                io_modes: self.io_modes,
                reporting,
            }),
            Action::Decompress => {
                let (outputs, decoding) = (outputs(Made::Plain), decoding(decompression));
                Request::Decompress(Decompress { inputs, outputs, decoding, reporting })
            }
            Action::Test => {
                let (decoding, detailed) = (decoding(decompression), self.detailed);
                Request::Test(Test { inputs, decoding, detailed, reporting })
            }
            Action::List => Request::List(List {
                inputs,
                decompression,
                restores_names: self.restores_names,
                form: ListForm {
                    as_json: self.as_json,
                    for_robots: self.for_robots,
                    detailed: self.detailed,
                },
            }),
            Action::Index => Request::Index(MakeIndex {
                inputs,
                outputs: Outputs { keep: true, ..outputs(Made::Index) },
                decompression,
                every: self.index_every,
                mode,
                reporting,
            }),
            Action::Bench => Request::Bench(Bench {
                inputs,
                format: self.format_was_named.then_some(self.compression.format),
                workers: self.compression.workers,
                html: self.bench_html,
                force: self.force,
            }),
        }
    }

    fn inputs(&self, destination: &Destination) -> Inputs {
        let is_nowhere = self.has_no_output();
        let one_folder = match destination {
            Destination::Folder { path, mirrors: false } if !is_nowhere => Some(path.clone()),
            _ => None,
        };
        Inputs {
            sources: self.sources.clone(),
            recursive: self.recursive,
            are_compressed: self.action != Action::Compress,
            exclude_compressed: self.exclude_compressed && self.action == Action::Compress,
            force: self.force,
            may_be_typed: self.force || self.explain.is_some(),
            are_replaced: match destination {
                _ if is_nowhere => false,
                Destination::Beside => self.action != Action::Index,
                Destination::Folder { .. } => !self.keep,
                _ => false,
            },
            keep: self.keep,
            are_files: !is_nowhere && matches!(destination, Destination::Beside | Destination::Folder { .. }),
            small: block_len(&self.compression) as u64,
            one_folder,
            names: self.names(),
            behaviour: self.behaviour,
        }
    }

    /// Returns `true` if the action writes no output files, or names them itself.
    fn has_no_output(&self) -> bool {
        matches!(self.action, Action::Test | Action::List | Action::Bench) || self.extract.is_some()
    }

    /// Returns the suffixes.
    fn names(&self) -> Names {
        let any_case = !self.behaviour.is_foreign() || self.behaviour.takes_mixed;
        Names { suffix: self.suffix.clone(), known: self.behaviour.suffixes, any_case }
    }

    /// Returns `true` if inputs are removed unless they are to be kept.
    fn may_remove(&self, destination: &Destination) -> bool {
        match destination {
            Destination::Beside | Destination::Folder { .. } => true,
            Destination::File(_) => self.removes && self.sources.len() == 1,
            Destination::Stdout => false,
        }
    }

    /// Returns the destination of the outputs.
    fn destination(&self) -> Result<Destination, String> {
        let compresses = self.action == Action::Compress;
        let archive = self.archiving.as_ref().map(|archiving| archiving.output.clone().into_os_string());
        Ok(match archive.or_else(|| self.output.clone()) {
            _ if self.has_no_output() => Destination::Beside,
            Some(file) if self.stdout || is_stdout(&file) => Destination::Stdout,
            Some(_) if self.sources.len() > 1 && self.asks_to_join && !self.force => {
                let message =
                    "-o: all inputs would be joined in one output, without their names: allow it with -f";
                return Err(message.to_owned());
            }
            Some(_) if compresses && self.sources.len() > 1 && self.volume_size.is_some() => {
                return Err("-S and -o: volumes of one name need a single input".to_owned());
            }
            // As in lzip, the output of standard input gets the suffix.
            Some(mut file)
                if compresses
                    && self.completes_names
                    && self.sources == [Source::Stdin]
                    && self.volume_size.is_none() =>
            {
                if !file.as_encoded_bytes().ends_with(self.suffix.as_encoded_bytes()) {
                    file.push(&self.suffix);
                }
                Destination::File(file.into())
            }
            Some(file) => Destination::File(file.into()),
            None if self.stdout || self.span.is_some() => Destination::Stdout,
            None => match self.folder.clone() {
                Some(path) => Destination::Folder { path, mirrors: self.mirrors },
                None => Destination::Beside,
            },
        })
    }

    /// Checks that `--patch-from` is used with a single file and compatible options.
    fn check_patch(&self) -> Result<(), String> {
        let Compression { rsyncable, block_size, ref zstd, .. } = self.compression;
        let message = match &self.zstd.patch_from {
            None => return Ok(()),
            Some(_) if zstd.dictionary.is_some() => {
                "--patch-from and -D: a patch refers to one file, and to no dictionary"
            }
            Some(_) if self.sources.len() > 1 || self.recursive || self.archiving.is_some() => {
                "--patch-from: a patch needs a single input"
            }
            Some(_) if self.action == Action::Compress && self.sources == [Source::Stdin] => {
                "--patch-from: a patch needs an input of known size: name a file"
            }
            Some(_) if rsyncable || block_size.is_some() || zstd.layout == zstd::Layout::Frames => {
                "--patch-from: a patch is one frame: --block-size, --rsyncable and --frames do not apply"
            }
            Some(_) => return Ok(()),
        };
        Err(message.to_owned())
    }

    fn check_block_size(&self) -> Result<(), String> {
        let Compression { format, block_size, .. } = self.compression;
        match block_size {
            Some(_) if !format.has(Setting::BlockSize) => {
                Err(format!("--block-size is not for {format}, which has levels for that, -1 to -9"))
            }
            Some(size) if facts(format).largest_block.is_some_and(|most| size > most) => {
                Err(format!("{format} blocks have at most 4M"))
            }
            _ => Ok(()),
        }
    }

    /// Applies the memory limit to the compression: fewer threads, and a smaller dictionary if allowed. Returns a
    /// note if the dictionary is reduced.
    fn limit_compression(&mut self) -> Result<Option<Problem>, String> {
        let Some(limit) = self.most_to_compress.filter(|_| self.action == Action::Compress) else {
            return Ok(None);
        };
        let limited = match self.adjusts {
            true => limit_memory_and_dictionary(&mut self.compression, limit),
            false => limit_memory(&mut self.compression, limit).map(|()| None),
        };
        let adjusted = limited.map_err(|needed| {
            let needed = needed.div_ceil(1 << 20);
            let advice = "use a lower level, or a smaller dictionary";
            format!("compressing with these settings needs {needed} MiB of memory with one thread: {advice}")
        })?;
        Ok(adjusted.map(|(before, after)| {
            let (before, after) = (before.div_ceil(1 << 20), after >> 20);
            let message = format_args!("{before} MiB exceed the memory limit: {after} MiB are used");
            Problem::new(Severity::Note, "the dictionary", message)
        }))
    }

    /// Returns the settings to decompress.
    fn decompression(&self) -> Decompression {
        let workers = self.compression.workers;
        let mut zstd = self.zstd.clone();
        if let Some(limit) = self.most_to_decompress {
            // As in zstd, the limit may exceed the default limit of windows.
            zstd.memory_limit = Some(limit);
            // Up to two frames for each worker are in memory.
            let share = usize::try_from(limit).unwrap_or(usize::MAX) / (2 * workers);
            zstd.max_whole = zstd.max_whole.min(share);
        }
        let (memory_limit, lzip, xz) = (self.most_to_decompress, self.lzip, self.xz);
        let loose_trailing = !self.behaviour.looks_behind || xz.single_stream;
        Decompression {
            workers,
            zstd,
            memory_limit,
            lzip,
            xz,
            speculation: self.speculation,
            giving: Giving { verified: self.whole_blocks, prompt: false },
            loose_trailing,
        }
    }
}

/// Reads a dictionary file of zstd.
pub(crate) fn dictionary(path: &Path) -> Result<Dictionary, Box<dyn Error>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(LARGEST_DICTIONARY + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST_DICTIONARY {
        return Err("expected at most 32 MiB, found more".into());
    }
    Ok(Dictionary::new(&bytes)?)
}

/// Reads the reference file of a patch, and returns its contents and identity.
pub(crate) fn reference(path: &Path) -> io::Result<(Reference, FileId)> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    Ok((Reference::read(file, metadata.len())?, FileId::of(&metadata)))
}
