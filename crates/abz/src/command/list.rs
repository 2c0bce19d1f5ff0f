//! What is in compressed files, for `--list`.

use std::fmt;
use std::io::{self, Write};

use abz::gzip::Survey;
use abz::{Conduct, Decompression};

use super::console::Loudness;
use super::input::Input;
use super::interrupt;
use super::options::{Options, Source};
use super::problem::Problem;
use super::progress::Progress;
use super::target;

/// Prints a line for each file, and one for all of them.
#[derive(Debug)]
pub(super) struct Listing<'a> {
    options: &'a Options,
    files: u64,
    compressed: u64,
    plain: u64,
}

/// What is told of one file.
struct Line<'a> {
    compressed: u64,
    plain: u64,
    name: &'a dyn fmt::Display,
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Line { compressed, plain, name } = self;
        write!(f, "{compressed:>19} {plain:>19} {:>5.1}% {name}", saved(*compressed, *plain))
    }
}

/// How much smaller a file is than its contents, in percent.
pub(super) fn saved(compressed: u64, plain: u64) -> f64 {
    if plain == 0 { 0.0 } else { 100.0 * (1.0 - compressed as f64 / plain as f64) }
}

impl<'a> Listing<'a> {
    pub(super) fn new(options: &'a Options) -> Self {
        Listing { options, files: 0, compressed: 0, plain: 0 }
    }

    /// Prints what is in `input`. Where its members say how long they are (gzip files of abz, BGZF) nothing is decoded;
    /// any other file is, for nothing else tells its size: the number at the end of a gzip file is that of its last
    /// member, modulo 4 GiB.
    pub(super) fn add(&mut self, input: &Input, progress: &Progress) -> Result<(), Problem> {
        let mut kind = "members";
        let (compressed, plain) = match survey(input)? {
            Some(survey) => (input.metadata.len(), survey.uncompressed),
            None => {
                kind = "stream";
                let decompression = Decompression { workers: self.options.compression.workers };
                let done = decompression
                    .conduct(Conduct::default(), progress.of(&input.file), io::sink())
                    .map_err(|error| Problem::of_run(&input.to_string(), "nothing", &error))?;
                (done.garbage_at.unwrap_or(done.read), done.written)
            }
        };
        self.files += 1;
        self.compressed += compressed;
        self.plain += plain;
        let stored = input.stored_name().filter(|_| self.options.naming.restores);
        let name = match (&input.source, stored) {
            (_, Some(stored)) => stored.to_string_lossy().into_owned(),
            (Source::Stdin, None) => "-".to_owned(),
            (Source::File(path), None) => {
                target::plain_path(path, self.options).as_deref().unwrap_or(path).display().to_string()
            }
        };
        let line = Line { compressed, plain, name: &name };
        let is_verbose = self.options.loudness == Loudness::Verbose;
        let write = |out: &mut dyn Write| {
            if self.files == 1 && self.options.loudness > Loudness::Quiet {
                let head = if is_verbose { "made of " } else { "" };
                writeln!(
                    out,
                    "{head}{:>19} {:>19} {:>6} uncompressed_name",
                    "compressed", "uncompressed", "ratio"
                )?;
            }
            if is_verbose {
                write!(out, "{kind:<8}")?;
            }
            writeln!(out, "{line}")
        };
        progress.aside(|| print(write))
    }

    /// Prints the sums, if there were several files.
    pub(super) fn end(&self) -> Result<(), Problem> {
        if self.files < 2 || self.options.loudness == Loudness::Quiet {
            return Ok(());
        }
        let line = Line { compressed: self.compressed, plain: self.plain, name: &"(totals)" };
        let indent = if self.options.loudness == Loudness::Verbose { "        " } else { "" };
        print(|out| writeln!(out, "{indent}{line}"))
    }
}

fn survey(input: &Input) -> Result<Option<Survey>, Problem> {
    if !input.metadata.is_file() || input.source == Source::Stdin {
        return Ok(None);
    }
    let mut file = &input.file;
    let survey = Survey::of(&mut file).and_then(|survey| {
        io::Seek::rewind(&mut file)?;
        Ok(survey)
    });
    survey.map_err(|error| Problem::of_file(input, "cannot be read", &error))
}

/// Writes to standard output.
pub(super) fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Problem> {
    let mut stdout = io::stdout().lock();
    write(&mut stdout).and_then(|()| stdout.flush()).map_err(|error| {
        interrupt::end_if_broken_pipe(&error);
        Problem::of_file("standard output", "cannot be written to", &error)
    })
}
