//! Translation of the command line of `abz` to a request.

use std::path::PathBuf;
use std::process::ExitCode;

use abz::gzip::Layout;
use abz::program::descriptors::{StandardStream, was_closed};
use abz::program::format_of_archive;
use abz::zstd::{self, DEFAULT_WINDOW_LIMIT, Decoding, Encoding};
use abz::{Compression, Format, Lzma, Setting, Span};
use clap::{CommandFactory, Parser};

use super::dialect;
use super::pages;
use super::raw_arguments::{Action, DEFAULT_INDEX_EVERY, RawArguments, dictionary, reference};
use crate::command::arguments::{Arguments, LICENSE, Zstd, with_long_levels};
use crate::command::messages::status::{Loudness, Status};
use crate::command::messages::stdout::print;
use crate::command::request::behaviour::OWN;
use crate::command::request::{Archiving, Asked, IoModes, Reporting, Source, Sparse};
use crate::command::system::file_id::FileId;
use crate::command::system::patient::tell;

/// The highest level of zstd that does not require `--ultra`.
const HIGHEST_WITHOUT_ULTRA: u32 = 19;

/// Reads the command line.
///
/// # Errors
///
/// The exit status, if help or an error message has been printed and there is nothing to do.
pub fn asked() -> Result<Asked, ExitCode> {
    dialect::asked().unwrap_or_else(|| own_asked().map_err(|status| OWN.exit_code(status)))
}

fn own_asked() -> Result<Asked, Status> {
    let arguments = Arguments::try_parse_from(with_long_levels(&Arguments::command(), std::env::args_os()));
    if let Ok(folder) = arguments.as_ref().map(|arguments| &arguments.messages.install_links)
        && let Some(folder) = folder
    {
        let problems = dialect::links::install(folder);
        problems.iter().for_each(|problem| tell(&format!("abz: {problem}\n")));
        return Err(if problems.is_empty() { Status::Success } else { Status::Error });
    }
    if let Ok(arguments) = &arguments
        && (arguments.messages.license || arguments.messages.generate.is_some())
    {
        let printed = print(|mut stdout| match arguments.messages.generate {
            Some(generated) => pages::write(generated, &mut stdout),
            None => stdout.write_all(LICENSE.as_bytes()),
        });
        return Err(match printed {
            Ok(()) => Status::Success,
            Err(problem) => {
                tell(&format!("abz: {problem}\n"));
                Status::Error
            }
        });
    }
    arguments.and_then(of_arguments).map_err(|error| {
        // If the message cannot be printed, the exit status has to show the error.
        let is_printed = error.print().is_ok() && !was_closed(StandardStream::Output);
        if error.use_stderr() || !is_printed { Status::Error } else { Status::Success }
    })
}

/// Checks and translates the parsed arguments.
fn of_arguments(arguments: Arguments) -> Result<Asked, clap::Error> {
    let Arguments { inputs, what, files, how, archive, access, messages } = arguments;
    let sources: Vec<_> = match inputs.is_empty() {
        true => vec![Source::Stdin],
        false => inputs
            .into_iter()
            .map(|file| if file.as_os_str() == "-" { Source::Stdin } else { Source::File(file) })
            .collect(),
    };
    let is_about_one = what.recover.is_some()
        || access.index && !what.decompress
        || access.range.is_some()
        || access.line_range.is_some()
        || files.checksum.is_some()
        || what.explain.is_some();
    if files.output.is_some() && is_about_one && (sources.len() > 1 || files.recursive) {
        return Err(mistake("--output names one file: it needs one input, or none"));
    }
    let is_plain = how.format.is_none()
        && archive.archive.as_ref().is_some_and(|output| {
            output.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("tar"))
        });
    let format = match (how.format, &archive.archive) {
        (Some(format), _) => format,
        (None, None) => Format::default(),
        (None, Some(_)) if is_plain => Format::default(),
        (None, Some(output)) => match format_of_archive(output) {
            Some(format) => format,
            None => {
                let message = "--archive: the name ends with no known format: use .tar.gz, .tar, or -F";
                return Err(mistake(message));
            }
        },
    };
    if archive.archive.is_some() && sources.contains(&Source::Stdin) {
        return Err(mistake("--archive needs the names of files and folders"));
    }
    let suffix = files.suffix.unwrap_or_else(|| format.suffix().into());
    if suffix.is_empty() || suffix.to_string_lossy().contains('/') {
        return Err(mistake("--suffix must be the end of a file's name, such as .gz"));
    }
    if messages.report_file.is_some() && messages.report_file == messages.trace {
        return Err(mistake("--report-file and --trace need different files"));
    }
    if what.list && (messages.report.is_some() || messages.trace.is_some()) {
        return Err(mistake("--report and --trace report on a run, and --list has none"));
    }
    if files.verify && (what.decompress || what.test || what.list) {
        return Err(mistake("--verify is for compressing; -t tests existing files"));
    }
    if what.json && !what.list && what.recover.is_none() {
        return Err(mistake("--json needs --list or --recover"));
    }
    if files.checksum.is_some() && what.list {
        return Err(mistake("--checksum needs the data, and --list does not decode it: use -t"));
    }
    let decodes = access.range.is_some() || access.line_range.is_some() || what.decompress || what.test;
    if access.index_file.is_some() && (!decodes || access.index) {
        let message = "--index-file names an index for --range, --line-range, -d and -t; --index makes one";
        return Err(mistake(message));
    }
    if access.index && (files.stdout || files.checksum.is_some()) && !what.decompress {
        let message = "--index without -d makes the index only: use -d for the data or its checksum";
        return Err(mistake(message));
    }
    if access.index_file.is_some() && sources.len() > 1 {
        return Err(mistake("--index-file is for one file: it needs one input"));
    }
    if access.index && sources.contains(&Source::Stdin) {
        return Err(mistake("--index needs the names of compressed files"));
    }
    let span = access.range.map(Span::Bytes).or(access.line_range.map(Span::Lines));
    let action = match (what.bench, what.list, what.test, what.decompress) {
        (true, ..) => Action::Bench,
        (_, true, ..) => Action::List,
        (_, _, true, _) => Action::Test,
        (_, _, _, true) => Action::Decompress,
        _ if access.index => Action::Index,
        _ if archive.extract || what.recover.is_some() || span.is_some() => Action::Decompress,
        _ => Action::Compress,
    };
    let (lowest, highest) = format.levels().into_inner();
    let level = how.level.of(lowest..=highest);
    let (level, fast) = match level.map(|level| (level < 0, level.unsigned_abs() as u32)) {
        None => (format.default_level(), None),
        Some((false, level)) => (level, None),
        Some((true, fast)) => (format.default_level(), Some(fast)),
    };
    if fast.is_some() && !format.has(Setting::Fast) {
        return Err(mistake(format!("--fast=N is for zstd: the lowest level of {format} is {lowest}")));
    }
    if !(lowest..=highest).contains(&level) {
        return Err(mistake(format!("the levels of {format} are {lowest} to {highest}")));
    }
    if format == Format::Zstd && level > HIGHEST_WITHOUT_ULTRA && !how.zstd.ultra {
        return Err(mistake(
            "the levels of zstd are 1 to 19; 20 to 22 need a lot of memory: allow it with --ultra",
        ));
    }
    let (zstd, decoding, patch_file) = of_zstd(how.zstd)?;
    if action == Action::Compress && !format.has(Setting::Zstd) && zstd != Encoding::default() {
        return Err(mistake(
            "--long, --dictionary, --patch-from, --frames and --no-check are for zstd: use -F zstd",
        ));
    }
    let lzma = Lzma {
        dictionary_size: how.dictionary_size,
        match_length: how.match_length,
        extreme: how.extreme,
        check: how.check.unwrap_or_default(),
        tuning: Default::default(),
    };
    let misplaced = [
        ("--dictionary-size is for lzip and xz", how.dictionary_size.is_some(), Setting::DictionarySize),
        ("--match-length is for lzip", how.match_length.is_some(), Setting::MatchLength),
        ("--extreme is for xz", how.extreme, Setting::Extreme),
        ("--check is for xz", how.check.is_some(), Setting::Check),
    ];
    for (message, is_given, setting) in misplaced {
        if is_given && !format.has(setting) {
            return Err(mistake(format!("{message}, not for {format}")));
        }
    }
    if how.rsyncable && !format.has(Setting::Rsyncable) {
        return Err(mistake("--rsyncable is not for bzip2, whose block size is fixed"));
    }
    for (option, is_given) in [("--bgzf", how.bgzf), ("--members", how.members)] {
        if is_given && !format.has(Setting::Layout) {
            return Err(mistake(format!("{option} is for gzip, not for {format}")));
        }
    }
    let (block_size, rsyncable) = (how.block_size, how.rsyncable);
    let layout = match (how.bgzf, how.members) {
        (true, _) => Layout::Bgzf,
        (_, true) => Layout::Members,
        _ => Layout::OneMember,
    };
    let mut compression = Compression {
        format,
        level,
        fast,
        block_size,
        rsyncable,
        layout,
        lzma,
        zstd,
        ..Compression::default()
    };
    if let Some(workers) = how.processes {
        compression.workers = workers;
    }
    let raw = RawArguments {
        action,
        explain: what.explain,
        as_json: what.json,
        recover: what.recover,
        sources,
        output: files.output.map(PathBuf::into_os_string),
        stdout: files.stdout,
        archiving: archive.archive.map(|output| Archiving {
            output,
            mtime: archive.mtime,
            owner: archive.owner,
            sparse: files.sparse,
        }),
        is_plain,
        extract: archive.extract.then(|| archive.directory.unwrap_or_else(|| ".".into())),
        span,
        index_file: access.index_file,
        index_every: access.index_every.unwrap_or(DEFAULT_INDEX_EVERY),
        indexes: access.index,
        keep: files.keep || access.index || what.recover.is_some() || files.output_dir_flat.is_some(),
        folder: files.output_dir_flat,
        force: files.force,
        recursive: files.recursive,
        exclude_compressed: files.exclude_compressed,
        sync: files.sync,
        sandbox: !files.no_sandbox,
        format_was_named: how.format.is_some(),
        bench_html: what.bench_html,
        sparse: if files.no_sparse { Sparse::Nowhere } else { Sparse::Files },
        whole_blocks: files.whole_blocks,
        verify: files.verify,
        checksum: files.checksum.is_some(),
        reporting: Reporting {
            report: messages.report,
            report_file: messages.report_file,
            trace: messages.trace,
            force: files.force,
        },
        stores_names: !files.no_name,
        restores_names: files.name,
        suffix,
        compression,
        most_to_compress: how.memlimit,
        // An explicit dictionary size is never reduced.
        adjusts: !how.no_adjust && how.dictionary_size.is_none(),
        most_to_decompress: how.memlimit,
        zstd: decoding,
        patch_from: patch_file,
        speculation: how.speculate.into(),
        io_modes: IoModes { input: how.input_io, output: how.output_io },
        loudness: match (messages.verbose, messages.quiet) {
            (true, _) => Loudness::Verbose,
            (false, true) => Loudness::Quiet,
            (false, false) => Loudness::Normal,
        },
        ..RawArguments::plain(format)
    };
    raw.request().map_err(mistake)
}

/// Returns the settings of zstd for both directions, and the identity of the reference file of patches.
fn of_zstd(how: Zstd) -> Result<(Encoding, Decoding, Option<FileId>), clap::Error> {
    let dictionary = match how.dictionary {
        Some(path) => Some(dictionary(&path).map_err(|error| {
            mistake(format!("the dictionary {} cannot be used: {error}", path.display()))
        })?),
        None => None,
    };
    let (patch_from, patch_file) = match how.patch_from {
        Some(path) => Some(reference(&path).map_err(|error| {
            mistake(format!("the file {} cannot be used for a patch: {error}", path.display()))
        })?),
        None => None,
    }
    .unzip();
    let layout = if how.frames { zstd::Layout::Frames } else { zstd::Layout::OneFrame };
    let max_window = DEFAULT_WINDOW_LIMIT.max(how.long.map_or(0, |log| 1 << log));
    Ok((
        Encoding {
            layout,
            long: how.long,
            checksum: !how.no_check,
            dictionary: dictionary.clone(),
            patch_from: patch_from.clone(),
        },
        Decoding { max_window, dictionary, patch_from, ..Decoding::default() },
        patch_file,
    ))
}

/// Returns the error for a mistake that clap's rules do not detect.
fn mistake(message: impl std::fmt::Display) -> clap::Error {
    Arguments::command().error(clap::error::ErrorKind::ValueValidation, message)
}
