//! The command lines of other tools. When called by the name of a tool, the program takes that tool's options.
//!
//! Each tool is a table in a module of its own. This module applies the options, which mean the same for all tools.
//! An option that abz does not support is refused; it is ignored only if it cannot change the output.

mod bzip2;
mod gzip;
pub(crate) mod links;
mod lzip;
mod tool;
mod words;
mod xz;
mod zstd;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::process::ExitCode;

use abz::gzip::MAX_BLOCK;
use abz::xz::{Check, Finder, Tuning};
use abz::{Compression, Format};

use self::tool::{Flag, Means, Mode, Takes, Tool};
use self::words::Word;
use super::raw_arguments::{Action, RawArguments, dictionary, reference};
use crate::command::arguments::{LICENSE, parse_block_size, parse_dictionary_size};
use crate::command::messages::problem::Severity;
use crate::command::messages::status::Loudness;
use crate::command::messages::stdout::print;
use crate::command::request::behaviour::{Behaviour, Lists};
use crate::command::request::{Asked, Source, Sparse};
use crate::command::system::patient::{self, Patient};

/// The largest number of threads.
const MOST_THREADS: usize = 1024;

/// The highest level of zstd without `--ultra`.
const MOST_WITHOUT_ULTRA: u32 = 19;

/// The smallest volume in bytes, as in lzip.
const MIN_VOLUME: u64 = 100_000;

/// The supported tools.
static TOOLS: [&Tool; 9] = [
    &gzip::GZIP,
    &gzip::PIGZ,
    &bzip2::BZIP2,
    &bzip2::LBZIP2,
    &lzip::LZIP,
    &lzip::PLZIP,
    &xz::XZ,
    &xz::LZMA,
    &zstd::ZSTD,
];

/// The reasons not to run.
enum Stop {
    /// Help or the like has been printed.
    Printed,
    /// A mistake on the command line; the message points to `--help`.
    Mistake(String),
    /// An option with a value, or a combination of options, that is not supported.
    Refused(Option<Means>, String),
    /// No input is left; the reason has been printed.
    Failed,
}

/// Reads the command line if the program is called by the name of a tool. Returns the exit status if there is nothing
/// to run.
pub(crate) fn asked() -> Option<Result<Asked, ExitCode>> {
    let mut arguments = std::env::args_os();
    let called = arguments.next()?;
    let (tool, name, mode) = find(Path::new(&called).file_name()?)?;
    let asked = tool.read(name, mode, arguments, |variable| std::env::var_os(variable));
    Some(asked.map_err(|stop| match stop {
        Stop::Printed => ExitCode::SUCCESS,
        Stop::Failed => ExitCode::FAILURE,
        Stop::Mistake(message) => {
            patient::tell(&format!("{name}: {message}\nTry `{name} --help' for more information.\n"));
            ExitCode::from((tool.refuses_with)(None))
        }
        Stop::Refused(means, message) => {
            patient::tell(&format!("{name}: {message}\n"));
            ExitCode::from((tool.refuses_with)(means))
        }
    }))
}

fn find(called: &OsStr) -> Option<(&'static Tool, &'static str, Mode)> {
    let mut names = TOOLS.iter().flat_map(|tool| tool.names.iter().map(|(name, mode)| (*tool, *name, *mode)));
    names.find(|(_, name, _)| called == *name)
}

impl Tool {
    fn read(
        &self,
        name: &'static str,
        mode: Mode,
        arguments: impl Iterator<Item = OsString>,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Asked, Stop> {
        let flags: Vec<&Flag> = self.flags.iter().copied().flatten().collect();
        let mut words = Vec::new();
        for name in self.variables {
            let value = variable(name).unwrap_or_default();
            let value = value.to_string_lossy();
            let said = words::read(&flags, value.split_whitespace().map(OsString::from));
            let said = said.map_err(|mistake| Stop::Mistake(format!("{name}: {mistake}")))?;
            let is_allowed = |word: &Word| matches!(word, Word::Flag(means, _) if (self.allows)(*means));
            if value.split_whitespace().any(|word| word == "--") || !said.iter().all(is_allowed) {
                let message = format!("{value}: option not valid in the environment variable {name}");
                return Err(Stop::Mistake(message));
            }
            words.extend(said);
        }
        for (name, means) in self.numbers {
            // As in zstd, a value that is not a number is ignored.
            words.extend(variable(name).filter(is_number).map(|value| Word::Flag(*means, value)));
        }
        words.extend(words::read(&flags, arguments).map_err(Stop::Mistake)?);

        let mut raw = RawArguments {
            action: if mode == Mode::Compress { Action::Compress } else { Action::Decompress },
            stdout: mode == Mode::Cat,
            keep: self.keeps,
            completes_names: self.completes_names,
            passes_through: (mode == Mode::Cat && self.cat_copies).then_some(true),
            asks_to_join: self.asks_to_join,
            sparse: self.sparse,
            behaviour: Behaviour { name, options: self.options(), ..self.behaviour },
            ..RawArguments::plain(self.format)
        };
        raw.lzip.current = self.format == Format::Lzip;
        let operations = [Means::Decompress, Means::Test, Means::List];
        let mut said = words.iter().filter_map(|word| match word {
            Word::Flag(means, _) if operations.contains(means) => Some(means),
            _ => None,
        });
        let first = said.next();
        if self.one_operation && said.any(|means| Some(means) != first) {
            return Err(Stop::Mistake("only one operation can be specified".to_owned()));
        }
        let (mut files, mut lists) = (Vec::new(), Vec::new());
        let mut says_stdout = false;
        let (mut most_to_compress, mut most_to_decompress, mut adjusts) = (None, None, true);
        let (mut format, mut has_filter, mut is_ultra, mut is_cut, mut drops_id) =
            (None, false, false, false, false);
        for word in words {
            match word {
                Word::File(file) if file == "-" && self.ignores_dash => {}
                Word::File(file) if file == "-" => files.push(Source::Stdin),
                Word::File(file) => files.push(Source::File(file.into())),
                Word::Flag(Means::Stdout, _) => {
                    (raw.stdout, says_stdout) = (true, true);
                    raw.output = raw.output.take().filter(|_| !self.last_output);
                }
                Word::Flag(Means::Decompress, _) if self.last_operation => raw.action = Action::Decompress,
                Word::Flag(Means::Ultra, _) => is_ultra = true,
                Word::Flag(Means::NoDictionaryId, _) => drops_id = true,
                Word::Flag(Means::Filter, _) if std::mem::replace(&mut has_filter, true) => {
                    let message = "--lzma1, --lzma2: abz writes with one filter".to_owned();
                    return Err(Stop::Refused(Some(Means::Filter), message));
                }
                Word::Flag(Means::Level, level) if self.cuts_levels && is_number(&level) => {
                    let level = level.to_string_lossy().parse().unwrap_or(u32::MAX);
                    let level =
                        if level == 0 { RawArguments::plain(self.format).compression.level } else { level };
                    raw.compression.level = level.min(*self.format.levels().end());
                    raw.compression.fast = None;
                    is_cut = level > raw.compression.level;
                }
                Word::Flag(Means::Output, file) if file.is_empty() => {
                    return Err(Stop::Mistake("the name of the output is empty".to_owned()));
                }
                Word::Flag(Means::Output, file) => {
                    raw.output = Some(file);
                    raw.stdout &= !self.last_output;
                }
                Word::Flag(Means::NoAdjust, _) => adjusts = false,
                Word::Flag(Means::FormatIs, name) => format = Some(name),
                Word::Flag(Means::Files, list) => lists.push((list, b'\n')),
                Word::Flag(Means::Files0, list) => lists.push((list, 0)),
                Word::Flag(Means::OutputFolder { mirrors }, name) => {
                    (raw.folder, raw.mirrors) = (Some(name.into()), mirrors);
                }
                Word::Flag(Means::InfoMemory, _) => {
                    let limits = [most_to_compress, most_to_decompress];
                    return tell(&memory_info(limits, raw.compression.workers, raw.for_robots));
                }
                Word::Flag(Means::Help, _) => return self.help(name),
                Word::Flag(Means::Version, _) => return tell(&version(name)),
                Word::Flag(Means::License, _) => return tell(&format!("{}\n{LICENSE}", version(name))),
                Word::Flag(Means::MemoryLimit { compressing, decompressing }, text) => {
                    let limit = memory(&text.to_string_lossy()).map_err(Stop::Mistake)?;
                    most_to_compress = if compressing { limit } else { most_to_compress };
                    most_to_decompress = if decompressing { limit } else { most_to_decompress };
                }
                Word::Flag(means, value) => {
                    apply(means, value, &mut raw).map_err(|message| Stop::Refused(Some(means), message))?;
                }
            }
        }
        if self.cuts_levels && !is_ultra && raw.compression.level > MOST_WITHOUT_ULTRA {
            (raw.compression.level, is_cut) = (MOST_WITHOUT_ULTRA, true);
        }
        if is_cut && raw.action == Action::Compress && raw.loudness > Loudness::Quiet {
            let most = raw.compression.level;
            patient::tell(&format!(
                "{name}: the level is higher than the highest one, {most}, which is used\n"
            ));
        }
        if drops_id && raw.action == Action::Compress && raw.compression.zstd.dictionary.is_some() {
            let message =
                "--no-dictID: abz stores the number of a dictionary, because decompression needs it";
            return Err(Stop::Refused(Some(Means::NoDictionaryId), message.to_owned()));
        }
        if let Some(name) = format {
            let name = name.to_string_lossy();
            let named = match raw.action {
                Action::Compress => self.write(&name, &mut raw),
                _ if self.reads_named_format => read(&name, &mut raw),
                // The format of compressed input is detected.
                _ => Ok(()),
            };
            named.map_err(|message| Stop::Refused(Some(Means::FormatIs), message))?;
        }
        if raw.action == Action::List && raw.behaviour.lists == Lists::Xz && !raw.behaviour.read(Format::Xz) {
            let message = "--list works only on .xz files (--format=xz or --format=auto)";
            return Err(Stop::Refused(Some(Means::List), message.to_owned()));
        }
        // Standard input goes to standard output anyway.
        if raw.action == Action::Test
            && !self.tests_to_stdout
            && (says_stdout || raw.stdout && files.iter().any(|file| *file != Source::Stdin))
        {
            return Err(Stop::Refused(None, "-c and -t cannot be used together".to_owned()));
        }
        if self.drops_links && mode != Mode::Cat && !raw.force {
            drop_links(&mut files, name, raw.loudness)?;
        }
        let has_lists = !lists.is_empty();
        for (list, end) in lists {
            files.extend(listed(&list, end).map_err(|message| Stop::Refused(None, message))?);
        }
        if self.takes_stdin_once {
            let mut is_first = true;
            files.retain(|file| *file != Source::Stdin || std::mem::take(&mut is_first));
        }
        if has_lists || !files.is_empty() {
            raw.sources = files;
        }
        match raw.action {
            Action::Compress => (raw.most_to_compress, raw.adjusts) = (most_to_compress, adjusts),
            _ => raw.most_to_decompress = most_to_decompress,
        }
        raw.request().map_err(|message| Stop::Refused(None, message))
    }

    /// Selects the output format of this name, if the tool writes it.
    fn write(&self, name: &str, raw: &mut RawArguments) -> Result<(), String> {
        let written = self.writes.iter().find(|format| format.name() == name);
        let format = match (written, name) {
            (Some(format), _) => *format,
            (None, "auto") => self.writes.first().copied().unwrap_or(self.format),
            _ => {
                let known: Vec<_> = self.writes.iter().map(|format| format.name()).collect();
                let known = known.join(", ");
                return Err(format!("--format: abz writes {known} under this name, and not {name}"));
            }
        };
        let compression = &mut raw.compression;
        compression.format = format;
        // Keep a suffix from -S.
        if raw.suffix == self.format.suffix() {
            raw.suffix = format.suffix().into();
        }
        // As in zstd, a level that this format does not have becomes its highest one.
        compression.level = compression.level.min(*format.levels().end());
        Ok(())
    }

    fn help(&self, name: &str) -> Result<Asked, Stop> {
        let mut text = format!("Usage: {name} [OPTION]... [FILE]...\n\n");
        for flag in self.flags.iter().copied().flatten().filter(|flag| !flag.help.is_empty()) {
            let letter = flag.letters.chars().next().map_or("   ".to_owned(), |letter| format!("-{letter},"));
            let long = match flag.takes {
                Takes::Value => format!("--{}=X", flag.name),
                Takes::Attached => format!("--{}[=X]", flag.name),
                _ => format!("--{}", flag.name),
            };
            let (letter, long) =
                if flag.name.is_empty() { (letter.trim_end_matches(','), "") } else { (&*letter, &*long) };
            text += &format!("  {letter} {long:<18} {}\n", flag.help);
        }
        text += &format!(
            "\nWithout FILE, or if FILE is -, reads standard input and writes standard output.\n\
             This is abz under the name {name}: it uses all cores. `abz --help' describes what else it can do.\n"
        );
        tell(&text)
    }
}

fn version(name: &str) -> String {
    format!("{name} (abz) {}\n", env!("CARGO_PKG_VERSION"))
}

fn tell(text: &str) -> Result<Asked, Stop> {
    match print(|out| out.write_all(text.as_bytes())) {
        Ok(()) => Err(Stop::Printed),
        Err(problem) => Err(Stop::Refused(None, problem.to_string())),
    }
}

/// Applies an option to the arguments collected so far.
fn apply(means: Means, value: OsString, raw: &mut RawArguments) -> Result<(), String> {
    let text = value.to_string_lossy();
    match means {
        Means::Compress => raw.action = Action::Compress,
        // Testing and listing imply decompressing.
        Means::Decompress if raw.action == Action::Compress => raw.action = Action::Decompress,
        Means::Decompress | Means::Nothing => {}
        Means::Test => raw.action = Action::Test,
        Means::List => raw.action = Action::List,
        Means::Keep => raw.keep = true,
        Means::Remove => (raw.keep, raw.removes) = (false, true),
        Means::Long => {
            let log = if text.is_empty() { Ok(27) } else { text.parse() };
            let Ok(log @ 10..=31) = log else {
                return Err(format!("invalid window '{text}': expected 10 to 31"));
            };
            raw.compression.zstd.long = Some(log);
            raw.zstd.max_window = raw.zstd.max_window.max(1 << log);
        }
        Means::Dictionary => {
            let dictionary = dictionary(Path::new(&value));
            let dictionary =
                dictionary.map_err(|error| format!("the dictionary {text} cannot be used: {error}"))?;
            raw.compression.zstd.dictionary = Some(dictionary.clone());
            raw.zstd.dictionary = Some(dictionary);
        }
        Means::PatchFrom => {
            let reference = reference(Path::new(&value));
            let (reference, id) =
                reference.map_err(|error| format!("the file {text} cannot be used for a patch: {error}"))?;
            raw.patch_from = Some(id);
            raw.compression.zstd.patch_from = Some(reference.clone());
            raw.zstd.patch_from = Some(reference);
        }
        Means::Checksum => raw.compression.zstd.checksum = true,
        Means::NoChecksum => raw.compression.zstd.checksum = false,
        Means::Force => raw.force = true,
        Means::Recursive => raw.recursive = true,
        Means::Sync => raw.sync = true,
        Means::Rsyncable => raw.compression.rsyncable = true,
        Means::NoName => (raw.stores_names, raw.restores_names) = (false, false),
        Means::Name => (raw.stores_names, raw.restores_names) = (true, true),
        Means::Verbose => {
            raw.detailed = raw.loudness == Loudness::Verbose;
            raw.loudness = Loudness::Verbose;
        }
        Means::Quiet => raw.loudness = Loudness::Quiet,
        Means::Silent => raw.loudness = Loudness::Silent,
        Means::Suffix if text.is_empty() || text.contains('/') => {
            return Err(format!("invalid suffix '{text}'"));
        }
        Means::Suffix => raw.suffix = value,
        Means::Level => {
            let level = text.parse().map_err(|_| format!("invalid level '{text}'"))?;
            return apply(Means::LevelIs(level), OsString::new(), raw);
        }
        Means::LevelIs(level) => {
            let format = raw.compression.format;
            let (lowest, highest) = format.levels().into_inner();
            if !(lowest..=highest).contains(&level) {
                return Err(format!("abz has no level {level} for {format}: expected {lowest} to {highest}"));
            }
            raw.compression.level = level;
            raw.compression.fast = None;
            // As in xz, a level replaces the settings of an earlier filter.
            if raw.compression.lzma.tuning != Tuning::default() {
                (raw.compression.lzma.tuning, raw.compression.lzma.dictionary_size) =
                    (Tuning::default(), None);
            }
        }
        Means::Filter => filter(&text, raw).map_err(|message| format!("--lzma2={text}: {message}"))?,
        Means::QuietAboutNames => {
            raw.loudness = Loudness::Quiet;
            raw.behaviour.severities.no_suffix = Severity::Note;
        }
        Means::Fast => {
            let fast = if text.is_empty() { Ok(1) } else { text.parse() };
            let Ok(fast @ 1..=Compression::MAX_FAST) = fast else {
                return Err(format!("invalid level '{text}': expected 1 to {}", Compression::MAX_FAST));
            };
            raw.compression.fast = Some(fast);
        }
        Means::Threads => match text.parse() {
            Ok(workers @ 1..) => raw.compression.workers = workers.min(MOST_THREADS),
            Ok(0) => {
                raw.compression.workers = RawArguments::plain(raw.compression.format).compression.workers
            }
            _ => return Err(format!("invalid number of threads '{text}': expected 1 to {MOST_THREADS}")),
        },
        Means::Block => match parse_block_size(&format!("{text}K"))? {
            size if size > MAX_BLOCK => return Err("gzip blocks have at most 4M".into()),
            size => raw.compression.block_size = Some(size),
        },
        Means::MemberSize => raw.compression.block_size = Some(parse_block_size(&bytes(&text)?)?),
        Means::BlockSize => raw.compression.block_size = Some(parse_block_size(&binary(&text)?)?),
        Means::VolumeSize => match bytes(&text)?.parse() {
            Ok(size @ MIN_VOLUME..) => raw.volume_size = Some(size),
            _ => return Err(format!("invalid volume size '{text}': expected at least {MIN_VOLUME} bytes")),
        },
        Means::DictionarySize => {
            raw.compression.lzma.dictionary_size = Some(parse_dictionary_size(&bytes(&text)?)?);
        }
        Means::Ignored { most } => match text.parse() {
            Ok(number) if (1..=most).contains(&number) => {}
            _ => return Err(format!("invalid number '{text}': expected 1 to {most}")),
        },
        Means::MatchLength => match text.parse() {
            Ok(length @ 5..=273) => raw.compression.lzma.match_length = Some(length),
            _ => return Err(format!("invalid match length '{text}': expected 5 to 273")),
        },
        Means::Writes(format) => {
            raw.compression.format = format;
            raw.suffix = format.suffix().into();
        }
        Means::PassThrough(passes) => raw.passes_through = Some(passes),
        Means::Sparse => raw.sparse = Sparse::Everywhere,
        Means::NoSparse => raw.sparse = Sparse::Nowhere,
        Means::Check => {
            let check = Check::ALL.into_iter().find(|check| check.name() == text);
            let check = check.ok_or_else(|| format!("there is no check {text}"))?;
            raw.compression.lzma.check = check;
        }
        Means::ExcludeCompressed => raw.exclude_compressed = true,
        Means::Robot => raw.for_robots = true,
        Means::SingleStream => {
            raw.xz.single_stream = true;
            raw.behaviour.severities.garbage = None;
        }
        Means::IgnoreCheck => raw.xz.ignore_check = true,
        Means::Extreme => raw.compression.lzma.extreme = true,
        Means::Quieter if raw.loudness == Loudness::Quiet => raw.loudness = Loudness::Silent,
        Means::Quieter => raw.loudness = Loudness::Quiet,
        Means::NoWarn => raw.behaviour.statuses[0] = 0,
        Means::Recompress => raw.behaviour.severities.suffix = None,
        Means::TrailingError => {
            raw.behaviour.severities.garbage = Some(Severity::Damage);
            raw.lzip.padding = true;
        }
        Means::LooseTrailing => raw.lzip.loose_trailing = true,
        Means::EmptyError => raw.lzip.empty = true,
        Means::MarkingError => raw.lzip.marking = true,
        Means::Refused(reason) if reason.starts_with('-') => return Err(reason.to_owned()),
        Means::Refused(reason) => return Err(format!("{text}: {reason}")),
        Means::Stdout
        | Means::Ultra
        | Means::NoDictionaryId
        | Means::Output
        | Means::MemoryLimit { .. }
        | Means::NoAdjust
        | Means::Files
        | Means::Files0
        | Means::OutputFolder { .. }
        | Means::FormatIs
        | Means::InfoMemory
        | Means::Help
        | Means::Version
        | Means::License => {
            unreachable!("these are not settings")
        }
    }
    Ok(())
}

/// Applies the settings of a filter, such as `preset=6,dict=1MiB,lc=4`. They begin with those of the usual level.
fn filter(text: &str, raw: &mut RawArguments) -> Result<(), String> {
    let compression = &mut raw.compression;
    let (mut tuning, mut dictionary, mut preset) = (Tuning::default(), None, None);
    for setting in text.split(',').filter(|setting| !setting.is_empty()) {
        let (name, value) =
            setting.split_once('=').ok_or("options are NAME=VALUE pairs, separated by commas")?;
        let number = || value.parse().map_err(|_| format!("invalid number '{value}' of {name}"));
        match name {
            "preset" => {
                let (level, extreme) = value.strip_suffix('e').map_or((value, false), |level| (level, true));
                let level = level.parse().ok().filter(|level| *level <= 9);
                preset = Some((level.ok_or_else(|| format!("unsupported preset '{value}'"))?, extreme));
            }
            "dict" => dictionary = Some(parse_dictionary_size(&binary(value)?)?),
            "lc" => tuning.literal_context_bits = Some(number()?),
            "lp" => tuning.literal_position_bits = Some(number()?),
            "pb" => tuning.position_bits = Some(number()?),
            "mode" => {
                tuning.is_fast = Some(match value {
                    "fast" => true,
                    "normal" => false,
                    _ => return Err(format!("invalid mode '{value}': expected fast or normal")),
                })
            }
            "nice" => tuning.nice = Some(number()?),
            "mf" => {
                let finder = Finder::ALL.iter().find(|(name, _)| *name == value).map(|(_, finder)| *finder);
                tuning.finder = Some(finder.ok_or_else(|| format!("unknown match finder '{value}'"))?);
            }
            "depth" => tuning.depth = Some(number()?),
            _ => return Err(format!("there is no option '{name}'")),
        }
    }
    // As in xz, the level given before does not count.
    let (level, extreme) =
        preset.unwrap_or((RawArguments::plain(compression.format).compression.level, false));
    (compression.level, compression.lzma.extreme) = (level, extreme);
    (compression.lzma.tuning, compression.lzma.dictionary_size) = (tuning.checked()?, dictionary);
    Ok(())
}

/// Restricts the input to the format of this name.
fn read(name: &str, raw: &mut RawArguments) -> Result<(), String> {
    raw.behaviour.reads = Some(match name {
        "auto" => &[Format::Xz, Format::Lzma, Format::Lzip],
        "xz" => &[Format::Xz],
        "lzma" | "alone" => &[Format::Lzma],
        "lzip" => &[Format::Lzip],
        _ => {
            return Err(format!(
                "--format: abz reads auto, xz, lzma and lzip under this name, and not {name}"
            ));
        }
    });
    Ok(())
}

/// Removes symbolic links from the inputs, and prints which.
fn drop_links(files: &mut Vec<Source>, name: &str, loudness: Loudness) -> Result<(), Stop> {
    // The name of a pipe of the shell, as `<(command)` makes one, is a link to it.
    let is_link = |path: &Path| {
        fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink())
            && !fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo())
    };
    let all = files.len();
    files.retain(|file| match file {
        Source::File(path) if is_link(path) => {
            if loudness > Loudness::Quiet {
                let path = path.display();
                patient::tell(&format!("{name}: {path}: is a symbolic link: use -f to follow it\n"));
            }
            false
        }
        _ => true,
    });
    if files.is_empty() && all > 0 { Err(Stop::Failed) } else { Ok(()) }
}

/// Returns the files named in `list`, or on standard input if `list` is empty. Each name ends with `end`.
fn listed(list: &OsStr, end: u8) -> Result<Vec<Source>, String> {
    let (read, name) = match list.is_empty() {
        true => {
            let mut names = Vec::new();
            (Patient(io::stdin().lock()).read_to_end(&mut names).map(|_| names), "standard input".to_owned())
        }
        false => (fs::read(list), list.display().to_string()),
    };
    let names = read.map_err(|error| format!("the list {name} cannot be read: {error}"))?;
    let names = names.split(|&byte| byte == end).filter(|name| !name.is_empty());
    Ok(names.map(|name| Source::File(OsStr::from_bytes(name).into())).collect())
}

fn is_number(value: &OsString) -> bool {
    !value.is_empty() && value.as_encoded_bytes().iter().all(u8::is_ascii_digit)
}

/// Parses a memory limit in the notation of xz. Returns `None` for no limit.
fn memory(text: &str) -> Result<Option<u64>, String> {
    let Some(percent) = text.strip_suffix('%') else {
        let size = binary(text)?.parse().map_err(|_| format!("invalid size '{text}'"))?;
        return Ok(Some(size).filter(|size| *size > 0));
    };
    match (percent.parse::<u64>(), memory_there_is()) {
        (Ok(percent @ 1..=100), Some(bytes)) => Ok(Some(bytes / 100 * percent)),
        (Ok(1..=100), None) => Err("this system does not report its memory: use a size".to_owned()),
        _ => Err(format!("invalid size '{text}'")),
    }
}

/// Returns the size of the physical memory in bytes, if the system reports it.
fn memory_there_is() -> Option<u64> {
    let meminfo = fs::read_to_string("/proc/meminfo").ok()?;
    let kilobytes = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    kilobytes.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

/// Returns the output of xz's `--info-memory`: the physical memory, and the limits for both directions. abz has no
/// separate limit for several threads.
fn memory_info(limits: [Option<u64>; 2], threads: usize, for_robots: bool) -> String {
    let there_is = memory_there_is();
    let [compress, decompress] = limits;
    if for_robots {
        let numbers = [there_is, compress, decompress, decompress, compress].map(Option::unwrap_or_default);
        let columns: String = numbers.iter().map(|number| format!("{number}\t")).collect();
        return format!("{columns}{threads}\n");
    }
    let size = |bytes: Option<u64>, none: &str| match bytes {
        Some(bytes) => format!("{} MiB ({bytes} B)", bytes.div_ceil(1 << 20)),
        None => none.to_owned(),
    };
    let (there_is, disabled) = (size(there_is, "Unknown"), "Disabled");
    let (compress, decompress) = (size(compress, disabled), size(decompress, disabled));
    format!(
        "Hardware information:\n  Amount of physical memory (RAM):  {there_is}\n  Number of processor threads:      {threads}\n\n\
         Memory usage limits:\n  Compression:                      {compress}\n  Decompression:                    {decompress}\n  \
         Multi-threaded decompression:     {decompress}\n  Default for -T0:                  {compress}\n"
    )
}

/// Parses a size as xz and zstd do: K, k, Ki, KB and KiB are all 1024.
fn binary(text: &str) -> Result<String, String> {
    let at = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let unit = unit.to_ascii_lowercase();
    let shift = match unit.strip_suffix('b').unwrap_or(&unit) {
        "" if unit.is_empty() => 0,
        "k" | "ki" => 10,
        "m" | "mi" => 20,
        "g" | "gi" => 30,
        _ => return Err(format!("invalid size '{text}'")),
    };
    let size = number.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    size.map(|size| size.to_string()).ok_or_else(|| format!("invalid size '{text}'"))
}

/// Parses a size as lzip does: k is 1000, and Ki is 1024. Returns it without a unit.
fn bytes(text: &str) -> Result<String, String> {
    let at = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let factor: u64 = match unit.strip_suffix('B').unwrap_or(unit) {
        "" if unit.is_empty() => return Ok(text.to_owned()),
        "k" => 1000,
        "Ki" => 1 << 10,
        "M" => 1_000_000,
        "Mi" => 1 << 20,
        "G" => 1_000_000_000,
        "Gi" => 1 << 30,
        _ => return Err(format!("invalid size '{text}'")),
    };
    let size = number.parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
    size.map(|size| size.to_string()).ok_or_else(|| format!("invalid size '{text}'"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::messages::options::Spelling;

    /// Returns the meaning of an option for a tool.
    fn meant(tool: &Tool, spelling: Spelling) -> Option<Means> {
        let flags: Vec<&Flag> = tool.flags.iter().copied().flatten().collect();
        let read = words::read(&flags, [spelling.with(&1).into()]).ok()?;
        match &read[..] {
            [Word::Flag(means, value)] if value == "1" => Some(*means),
            _ => None,
        }
    }

    #[test]
    fn advice_names_the_option_that_a_tool_has_for_it() {
        for tool in TOOLS {
            let (name, options) = (tool.names[0].0, tool.options());
            let limits = |compressing| {
                move |means: Means| match means {
                    Means::MemoryLimit { compressing: true, .. } if compressing => true,
                    Means::MemoryLimit { decompressing: true, .. } => !compressing,
                    _ => false,
                }
            };
            let advised: [(Spelling, &dyn Fn(Means) -> bool); 5] = [
                (options.threads, &|means| means == Means::Threads),
                (options.window, &|means| means == Means::Long),
                (options.dictionary, &|means| means == Means::Dictionary),
                (options.memory_to_compress, &limits(true)),
                (options.memory_to_decompress, &limits(false)),
            ];
            for (spelling, is_it) in advised {
                let has_one = tool.flags.iter().copied().flatten().any(|flag| is_it(flag.means));
                let is_known = meant(tool, spelling).is_some_and(is_it);
                assert_eq!(is_known, has_one, "{name}: {spelling}");
                assert_eq!(matches!(spelling, Spelling::OfAbz(_)), !has_one, "{name}: {spelling}");
            }
        }
    }
}
