//! The command lines of other tools: called by the name of one, the program takes that tool's options.
//!
//! Each tool is a table, in a file of its own; what the options do is the same for all, and is here. What a tool has and
//! abz cannot do is refused: an option is ignored only where what comes out is the same.

mod bzip2;
mod gzip;
pub(super) mod links;
mod words;

use std::ffi::{OsStr, OsString};
use std::path::Path;

use abz::Format;
use abz::gzip::MAX_BLOCK;

use self::words::{Flag, Takes, Word};
use super::arguments::{LICENSE, parse_block_size};
use super::console::{Loudness, Status};
use super::list::print;
use super::manners::Manners;
use super::options::{Action, Destination, Naming, Options, Source};

/// The tools whose names are known.
static TOOLS: [&Tool; 4] = [&gzip::GZIP, &gzip::PIGZ, &bzip2::BZIP2, &bzip2::LBZIP2];

/// A tool, as far as its users see a difference.
struct Tool {
    /// Its names, and what it does under each if it is not told.
    names: &'static [(&'static str, Mode)],
    format: Format,
    manners: Manners,
    /// Its options, and those that it shares with others.
    flags: &'static [&'static [Flag]],
    /// Variables of the environment with options that come before those of the command line.
    variables: &'static [&'static str],
    /// Which options these may have.
    allows: fn(Means) -> bool,
}

/// What a tool does if it is not told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Compress,
    Decompress,
    /// Decompress to standard output.
    Cat,
}

/// What an option means, however the tool calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Means {
    Compress,
    Decompress,
    Test,
    List,
    Stdout,
    Keep,
    Force,
    Recursive,
    Suffix,
    NoName,
    Name,
    Sync,
    Rsyncable,
    Level,
    LevelIs(u32),
    Threads,
    /// A size in KiB.
    Block,
    Verbose,
    Quiet,
    Silent,
    License,
    Help,
    Version,
    /// It may be said, and nothing else comes out of it.
    Nothing,
    /// abz cannot do it, and what it can instead.
    Refused(&'static str),
}

/// Why no work is done.
enum Stop {
    Told,
    /// The help may help.
    Mistake(String),
    Refused(String),
}

/// The options of the tool by whose name the program is called, if it is a known one; or the status to exit with, if
/// there is nothing to do.
pub(super) fn options() -> Option<Result<Options, Status>> {
    let mut arguments = std::env::args_os();
    let called = arguments.next()?;
    let (tool, name, mode) = find(Path::new(&called).file_name()?)?;
    let options = tool.read(name, mode, arguments, |variable| std::env::var_os(variable));
    Some(options.map_err(|stop| match stop {
        Stop::Told => Status::Success,
        Stop::Mistake(message) => {
            eprintln!("{name}: {message}\nTry `{name} --help' for more information.");
            Status::Error
        }
        Stop::Refused(message) => {
            eprintln!("{name}: {message}");
            Status::Error
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
    ) -> Result<Options, Stop> {
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
        words.extend(words::read(&flags, arguments).map_err(Stop::Mistake)?);

        let mut options = Options::plain(self.format);
        options.manners = Manners { name, ..self.manners };
        let mut stdout = mode == Mode::Cat;
        if mode != Mode::Compress {
            options.action = Action::Decompress;
        }
        let mut files = Vec::new();
        for word in words {
            match word {
                Word::File(file) if file == "-" => files.push(Source::Stdin),
                Word::File(file) => files.push(Source::File(file.into())),
                Word::Flag(Means::Stdout, _) => stdout = true,
                Word::Flag(Means::Help, _) => return self.help(name),
                Word::Flag(Means::Version, _) => return tell(&version(name)),
                Word::Flag(Means::License, _) => return tell(&format!("{}\n{LICENSE}", version(name))),
                Word::Flag(means, value) => apply(means, value, &mut options).map_err(Stop::Refused)?,
            }
        }
        if !files.is_empty() {
            options.sources = files;
        }
        options.destination = match options.action {
            Action::Test | Action::List => Destination::Nowhere,
            _ if stdout => Destination::Stdout,
            _ => Destination::Beside,
        };
        options.keep |= options.destination != Destination::Beside;
        Ok(options)
    }

    fn help(&self, name: &str) -> Result<Options, Stop> {
        let mut text = format!("Usage: {name} [OPTION]... [FILE]...\n\n");
        for flag in self.flags.iter().copied().flatten().filter(|flag| !flag.help.is_empty()) {
            let letter = flag.letters.chars().next().map_or("   ".to_owned(), |letter| format!("-{letter},"));
            let long = match flag.takes {
                Takes::Value => format!("--{}=X", flag.name),
                _ => format!("--{}", flag.name),
            };
            let (letter, long) =
                if flag.name.is_empty() { (letter.trim_end_matches(','), "") } else { (&*letter, &*long) };
            text += &format!("  {letter} {long:<18} {}\n", flag.help);
        }
        text += &format!(
            "\nWith no FILE, or when FILE is -, from standard input to standard output.\n\
             This is abz under the name {name}: it uses all cores. `abz --help' tells what else it can do.\n"
        );
        tell(&text)
    }
}

fn version(name: &str) -> String {
    format!("{name} (abz) {}\n", env!("CARGO_PKG_VERSION"))
}

fn tell(text: &str) -> Result<Options, Stop> {
    match print(|out| out.write_all(text.as_bytes())) {
        Ok(()) => Err(Stop::Told),
        Err(problem) => Err(Stop::Refused(problem.to_string())),
    }
}

/// Does to the options what one of the tool's means.
fn apply(means: Means, value: OsString, options: &mut Options) -> Result<(), String> {
    let text = value.to_string_lossy();
    match means {
        Means::Compress => options.action = Action::Compress,
        // To test and to list are to decompress too.
        Means::Decompress if options.action == Action::Compress => options.action = Action::Decompress,
        Means::Decompress | Means::Nothing => {}
        Means::Test => options.action = Action::Test,
        Means::List => options.action = Action::List,
        Means::Keep => options.keep = true,
        Means::Force => options.force = true,
        Means::Recursive => options.recursive = true,
        Means::Sync => options.sync = true,
        Means::Rsyncable => options.compression.rsyncable = true,
        Means::NoName => options.naming = Naming { stores: false, restores: false },
        Means::Name => options.naming = Naming { stores: true, restores: true },
        Means::Verbose => options.loudness = Loudness::Verbose,
        Means::Quiet => options.loudness = Loudness::Quiet,
        Means::Silent => options.loudness = Loudness::Silent,
        Means::Suffix if text.is_empty() || text.contains('/') => {
            return Err(format!("invalid suffix '{text}'"));
        }
        Means::Suffix => options.suffix = value,
        Means::Level => {
            let level = text.parse().map_err(|_| format!("invalid level '{text}'"))?;
            return apply(Means::LevelIs(level), OsString::new(), options);
        }
        Means::LevelIs(level) => {
            let format = options.compression.format;
            let (lowest, highest) = (format.lowest_level(), format.highest_level());
            if !(lowest..=highest).contains(&level) {
                return Err(format!("abz has no level {level} of {format}: {lowest} to {highest}"));
            }
            options.compression.level = level;
        }
        Means::Threads => match text.parse() {
            Ok(workers @ 1..=1024) => options.compression.workers = workers,
            Ok(0) => {
                options.compression.workers = Options::plain(options.compression.format).compression.workers
            }
            _ => return Err(format!("invalid number of threads '{text}': expected 1 to 1024")),
        },
        Means::Block => match parse_block_size(&format!("{text}K"))? {
            size if size > MAX_BLOCK => return Err("the blocks of gzip have 4M at most".into()),
            size => options.compression.block_size = Some(size),
        },
        Means::Refused(reason) => return Err(reason.to_owned()),
        Means::Stdout | Means::Help | Means::Version | Means::License => {
            unreachable!("these are not settings")
        }
    }
    Ok(())
}
