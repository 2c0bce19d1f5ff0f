//! What is in compressed files, for `--list`.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};

use abz::{Conduct, Error, Format, gzip, lzip, xz, zstd};
use serde_json::json;

use super::input::Input;
use super::options::{Options, Source};
use super::problem::Problem;
use super::progress::Progress;
use super::quote::quoted;
use super::status::Loudness;
use super::stdout::print;
use super::suffix;

/// Prints a line for each file and one for all of them, or a JSON array with an object for each file.
#[derive(Debug)]
pub(super) struct Listing<'a> {
    options: &'a Options,
    files: u64,
    compressed: u64,
    plain: u64,
}

/// What is told of one file.
struct Entry {
    format: Format,
    /// What it is made of, in a word.
    made_of: &'static str,
    compressed: u64,
    plain: u64,
    /// The name that its contents would get.
    name: OsString,
}

/// How much smaller a file is than its contents, in percent.
pub(super) fn saved(compressed: u64, plain: u64) -> f64 {
    if plain == 0 { 0.0 } else { 100.0 * (1.0 - compressed as f64 / plain as f64) }
}

impl<'a> Listing<'a> {
    pub(super) fn new(options: &'a Options) -> Self {
        Listing { options, files: 0, compressed: 0, plain: 0 }
    }

    /// Prints what is in `input`.
    pub(super) fn add(&mut self, input: &Input, progress: &Progress) -> Result<(), Problem> {
        let entry = self.look_at(input, progress)?;
        self.files += 1;
        self.compressed += entry.compressed;
        self.plain += entry.plain;
        progress.aside(|| match self.options.as_json {
            true => self.print_json(input, &entry),
            false => self.print_line(&entry),
        })
    }

    /// Where the members of a file say how long they are (gzip files of abz, BGZF, lzip, xz, most of zstd) nothing is
    /// decoded; any other file is, for nothing else tells its size: the number at the end of a gzip file is that of its last member, modulo
    /// 4 GiB.
    fn look_at(&self, input: &Input, progress: &Progress) -> Result<Entry, Problem> {
        let name = self.name(input);
        if let Some((format, plain)) = survey(input)? {
            let compressed = input.metadata.len();
            return Ok(Entry { format, made_of: "members", compressed, plain, name });
        }
        let problem = |error| Problem::of_run(&input.to_string(), "nothing", &error);
        let (format, reader) =
            Format::sniff(progress.of(&input.file)).map_err(|error| problem(Error::Read(error)))?;
        let decompression = self.options.decompression();
        let done = decompression.conduct(Conduct::default(), reader, io::sink()).map_err(problem)?;
        let compressed = done.garbage_at.unwrap_or(done.read);
        Ok(Entry {
            format: format.unwrap_or_default(),
            made_of: "stream",
            compressed,
            plain: done.written,
            name,
        })
    }

    fn name(&self, input: &Input) -> OsString {
        let stored = input.stored_name().filter(|_| self.options.naming.restores);
        match (&input.source, stored) {
            (_, Some(stored)) => stored,
            (Source::Stdin, None) => "-".into(),
            (Source::File(path), None) => {
                suffix::plain_path(path, self.options).as_deref().unwrap_or(path).into()
            }
        }
    }

    fn print_line(&self, entry: &Entry) -> Result<(), Problem> {
        print(|out| {
            if self.files == 1 && self.options.loudness > Loudness::Quiet {
                let head = if self.options.is_verbose() { "made of " } else { "" };
                writeln!(
                    out,
                    "{head}{:>19} {:>19} {:>6} uncompressed_name",
                    "compressed", "uncompressed", "ratio"
                )?;
            }
            self.write_line(out, entry.made_of, entry.compressed, entry.plain, &entry.name)
        })
    }

    fn write_line(
        &self,
        out: &mut dyn Write,
        made_of: &str,
        compressed: u64,
        plain: u64,
        name: &OsStr,
    ) -> io::Result<()> {
        if self.options.is_verbose() {
            write!(out, "{made_of:<8}")?;
        }
        writeln!(out, "{compressed:>19} {plain:>19} {:>5.1}% {}", saved(compressed, plain), quoted(name))
    }

    fn print_json(&self, input: &Input, entry: &Entry) -> Result<(), Problem> {
        let Entry { format, made_of, compressed, plain, name } = entry;
        let file = match &input.source {
            Source::Stdin => "-".to_owned(),
            Source::File(path) => path.display().to_string(),
        };
        let object = json!({
            "file": file,
            "format": format.name(),
            "made_of": made_of,
            "compressed_bytes": compressed,
            "uncompressed_bytes": plain,
            "uncompressed_name": name.to_string_lossy(),
        });
        let start = if self.files == 1 { "[" } else { "," };
        print(|out| write!(out, "{start}\n  {object}"))
    }

    /// Prints the sums, if there were several files; the end of the array, if it is one.
    pub(super) fn end(&self) -> Result<(), Problem> {
        match self.options.as_json {
            true if self.files == 0 => print(|out| writeln!(out, "[]")),
            true => print(|out| writeln!(out, "\n]")),
            false if self.files < 2 || self.options.loudness == Loudness::Quiet => Ok(()),
            false => print(|out| self.write_line(out, "", self.compressed, self.plain, "(totals)".as_ref())),
        }
    }
}

/// The format and the size of the contents, if the file says it.
fn survey(input: &Input) -> Result<Option<(Format, u64)>, Problem> {
    if !input.metadata.is_file() || input.source == Source::Stdin {
        return Ok(None);
    }
    let Some(format) = input.format() else { return Ok(None) };
    let mut file = &input.file;
    let plain = match format {
        Format::Gzip => gzip::Survey::of(&mut file).map(|survey| survey.map(|found| found.uncompressed)),
        Format::Lzip => lzip::Survey::of(&mut file).map(|survey| survey.map(|found| found.uncompressed)),
        Format::Xz => xz::Survey::of(&mut file).map(|survey| survey.map(|found| found.uncompressed)),
        Format::Zstd => zstd::Survey::of(&mut file).map(|survey| survey.map(|found| found.uncompressed)),
        _ => Ok(None),
    };
    let plain = plain.and_then(|plain| {
        io::Seek::rewind(&mut file)?;
        Ok(plain)
    });
    match plain {
        Ok(plain) => Ok(plain.map(|plain| (format, plain))),
        Err(error) => Err(Problem::of_file(input, "cannot be read", &error)),
    }
}
