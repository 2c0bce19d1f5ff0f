//! The action of `--list`.

mod gzip;
pub(super) mod lzip;
mod pigz;
mod xz;
mod zstd;

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};

use abz::lzip::{Contents, Strictness};
use abz::program::{RunOptions, contents, decompress_with, sniff};
use abz::{Error, Format};
use serde_json::json;

use super::input::Input;
use super::request::{List, Source, Talk};
use crate::command::messages::problem::{Problem, Severity};
use crate::command::messages::progress::Progress;
use crate::command::messages::status::Loudness;
use crate::command::messages::stdout::print;
use crate::command::request::behaviour::Lists;
use crate::command::system::quote::quoted;

/// Prints a line for each file and one for all of them, or a JSON array with an object for each file.
#[derive(Debug)]
pub(super) struct Listing<'a> {
    request: &'a List,
    talk: &'a Talk,
    files: u64,
    compressed: u64,
    plain: u64,
    /// The number of bytes of the last file that do not count in its ratio.
    overhead: u64,
    /// The list in the form of another tool.
    foreign: Foreign,
}

/// The list of the tool by whose name the program is called.
#[derive(Clone, Copy, Debug)]
enum Foreign {
    /// The list of gzip, which abz uses too.
    None,
    Lzip(lzip::Table),
    Pigz(pigz::Table),
    Xz(xz::Table),
    Zstd(zstd::Table),
}

/// The values of one file.
struct Entry {
    format: Format,
    /// The type of the file: `members` or `stream`.
    made_of: &'static str,
    compressed: u64,
    plain: u64,
    /// The name of the decompressed file.
    name: OsString,
    /// The first and last bytes, for standard input.
    ends: Option<gzip::Ends>,
}

/// Returns how much smaller a file is than its contents, in percent.
pub(super) fn saved(compressed: u64, plain: u64) -> f64 {
    if plain == 0 { 0.0 } else { 100.0 * (1.0 - compressed as f64 / plain as f64) }
}

impl<'a> Listing<'a> {
    pub(super) fn new(request: &'a List, talk: &'a Talk) -> Self {
        let foreign = match talk.behaviour.lists {
            Lists::Lzip => Foreign::Lzip(lzip::Table::new(match talk.loudness {
                Loudness::Silent => lzip::Detail::Nothing,
                Loudness::Verbose if request.form.detailed => lzip::Detail::Members,
                Loudness::Verbose => lzip::Detail::More,
                _ => lzip::Detail::Sizes,
            })),
            Lists::Pigz => Foreign::Pigz(pigz::Table::new(match talk.loudness {
                Loudness::Silent | Loudness::Quiet => pigz::Detail::Nothing,
                Loudness::Verbose => pigz::Detail::More,
                _ => pigz::Detail::Sizes,
            })),
            Lists::Xz => Foreign::Xz(xz::Table::new(request.form.for_robots)),
            Lists::Zstd => Foreign::Zstd(zstd::Table::new()),
            Lists::Own | Lists::Gzip => Foreign::None,
        };
        Listing { request, talk, files: 0, compressed: 0, plain: 0, overhead: 0, foreign }
    }

    /// Prints the row of `input`.
    pub(super) fn add(&mut self, input: &Input, progress: &Progress) -> Result<(), Problem> {
        let mut file = &input.file;
        let cannot = |error| Problem::of_file(input, "cannot be read", &error);
        match &mut self.foreign {
            Foreign::None | Foreign::Pigz(_) => {}
            Foreign::Lzip(table) => {
                let contents = lzip_contents(input, self.request.decompression.lzip)?;
                let contents = contents.ok_or_else(|| cannot_be_listed(input, Format::Lzip))?;
                if let Some(severity) = self.talk.behaviour.severities.garbage
                    && contents.trailing > 0
                {
                    let at = input.metadata.len() - contents.trailing;
                    return Err(Problem::trailing_garbage(severity, &input.to_string(), at));
                }
                let name = if input.source == Source::Stdin { "(stdin)".to_owned() } else { shown(input) };
                return progress.aside(|| print(|out| table.add(out, &name, &contents)));
            }
            Foreign::Xz(table) => {
                let survey = match is_surveyed(input, Format::Xz) {
                    true => abz::xz::Survey::of(&mut file).map_err(cannot)?,
                    false => None,
                };
                let survey = survey.ok_or_else(|| cannot_be_listed(input, Format::Xz))?;
                let (name, size) = (shown(input), input.metadata.len());
                return progress.aside(|| print(|out| table.add(out, &name, size, survey)));
            }
            Foreign::Zstd(table) => {
                let survey = match is_surveyed(input, Format::Zstd) {
                    true => abz::zstd::Survey::of(&mut file).map_err(cannot)?,
                    false => None,
                };
                let survey = survey.ok_or_else(|| cannot_be_listed(input, Format::Zstd))?;
                let (name, size) = (shown(input), input.metadata.len());
                return progress.aside(|| print(|out| table.add(out, &name, size, survey)));
            }
        }
        let entry = self.look_at(input, progress)?;
        if let Foreign::Pigz(table) = &mut self.foreign {
            let overhead = entry.ends.as_ref().map_or_else(|| gzip::overhead(input), gzip::Ends::overhead);
            let crc = match (&entry.ends, entry.format == Format::Gzip) {
                (Some(ends), true) => Some(ends.crc()),
                (None, true) if table.tells_more() => Some(gzip::last_crc(input).map_err(cannot)?),
                _ => None,
            };
            let check = crc.map_or_else(|| "--------".to_owned(), |crc| format!("{crc:08x}"));
            let methods = [(Format::Gzip, "gzip 8"), (Format::Zlib, "zlib 8"), (Format::Zip, "zip  8")];
            let method = methods.iter().find(|(format, _)| *format == entry.format);
            let method = method.map_or("lzw", |(_, method)| method);
            let name = input.stored_name().unwrap_or(entry.name);
            let (time, compressed) = (input.stored_time(), entry.compressed.saturating_sub(overhead));
            let row = pigz::Row { method, check: &check, time, compressed, plain: entry.plain, name: &name };
            return progress.aside(|| print(|out| table.add(out, &row)));
        }
        self.files += 1;
        self.compressed += entry.compressed;
        self.plain += entry.plain;
        self.overhead = match (self.is_of_gzip(), &entry.ends) {
            (false, _) => 0,
            (true, Some(ends)) => ends.overhead(),
            (true, None) => gzip::overhead(input),
        };
        let before = match (self.talk.is_verbose(), self.is_of_gzip()) {
            (false, _) => String::new(),
            (true, false) => format!("{:<8}", entry.made_of),
            (true, true) => gzip::columns(input, entry.format, entry.ends.as_ref())
                .map_err(|error| Problem::of_file(input, "cannot be read", &error))?,
        };
        progress.aside(|| match self.request.form.as_json {
            true => self.print_json(input, &entry),
            false => self.print_line(&before, &entry),
        })
    }

    /// Returns `true` for a list in the form of gzip, when called by that name.
    fn is_of_gzip(&self) -> bool {
        self.talk.behaviour.lists == Lists::Gzip
    }

    /// Determines the size of the contents. Nothing is decoded if the file records the sizes of its parts (gzip files
    /// of abz with several blocks, BGZF, lzip, xz, most of zstd). Any other file is decoded: the size at the end of a
    /// gzip file is that of the last member only, modulo 4 GiB.
    fn look_at(&self, input: &Input, progress: &Progress) -> Result<Entry, Problem> {
        let name = self.name(input);
        if let Some((format, plain)) = survey(input)? {
            let compressed = input.metadata.len();
            return Ok(Entry { format, made_of: "members", compressed, plain, name, ends: None });
        }
        let problem = |error| Problem::of_run(&input.to_string(), "nothing", &error);
        let mut noted = gzip::Noted::new(&input.file);
        let (format, reader) = sniff(progress.of(&mut noted)).map_err(|error| problem(Error::Read(error)))?;
        let mut how = self.request.decompression.clone();
        // Reading the file only once matters more than speed.
        how.lzip.late_flushes = true;
        let done = decompress_with(reader, io::sink(), &how, RunOptions::default()).map_err(problem)?;
        let compressed = done.garbage_at.or(done.padding_at).unwrap_or(done.read);
        Ok(Entry {
            format: format.unwrap_or_default(),
            made_of: "stream",
            compressed,
            plain: done.written,
            name,
            ends: (input.source == Source::Stdin).then(|| noted.ends()),
        })
    }

    fn name(&self, input: &Input) -> OsString {
        let stored = input.stored_name().filter(|_| self.request.restores_names);
        match (&input.source, stored) {
            (_, Some(stored)) => stored,
            (Source::Stdin, None) if self.is_of_gzip() => "stdout".into(),
            (Source::Stdin, None) => "-".into(),
            (Source::File(path), None) => {
                self.request.inputs.names.plain_path(path).as_deref().unwrap_or(path).into()
            }
        }
    }

    fn print_line(&self, before: &str, entry: &Entry) -> Result<(), Problem> {
        print(|out| {
            if self.files == 1 && self.talk.loudness > Loudness::Quiet {
                let head = match (self.talk.is_verbose(), self.is_of_gzip()) {
                    (false, _) => "",
                    (true, false) => "made of ",
                    (true, true) => gzip::HEAD,
                };
                writeln!(
                    out,
                    "{head}{:>19} {:>19} {:>6} uncompressed_name",
                    "compressed", "uncompressed", "ratio"
                )?;
            }
            self.write_line(out, before, entry.compressed, entry.plain, &entry.name)
        })
    }

    fn write_line(
        &self,
        out: &mut dyn Write,
        before: &str,
        compressed: u64,
        plain: u64,
        name: &OsStr,
    ) -> io::Result<()> {
        let saved = saved(compressed.saturating_sub(self.overhead), plain);
        writeln!(out, "{before}{compressed:>19} {plain:>19} {saved:>5.1}% {}", quoted(name))
    }

    fn print_json(&self, input: &Input, entry: &Entry) -> Result<(), Problem> {
        let Entry { format, made_of, compressed, plain, name, .. } = entry;
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

    /// Prints the totals if there are several files, or ends the JSON array.
    pub(super) fn end(&self) -> Result<(), Problem> {
        match &self.foreign {
            Foreign::None => {}
            Foreign::Pigz(_) => return Ok(()),
            Foreign::Lzip(table) => return print(|out| table.end(out)),
            Foreign::Xz(table) => return print(|out| table.end(out)),
            Foreign::Zstd(table) => return print(|out| table.end(out)),
        }
        match self.request.form.as_json {
            true if self.files == 0 => print(|out| writeln!(out, "[]")),
            true => print(|out| writeln!(out, "\n]")),
            false if self.files < 2 || self.talk.loudness == Loudness::Quiet => Ok(()),
            false => {
                let width = match (self.talk.is_verbose(), self.is_of_gzip()) {
                    (false, _) => 0,
                    (true, false) => 8,
                    (true, true) => gzip::HEAD.len(),
                };
                let before = " ".repeat(width);
                print(|out| self.write_line(out, &before, self.compressed, self.plain, "(totals)".as_ref()))
            }
        }
    }
}

/// Returns the members of an lzip file, as their trailers record them, or `None` if the file is damaged or a pipe.
///
/// # Errors
///
/// If the file cannot be read.
pub(super) fn lzip_contents(input: &Input, strictness: Strictness) -> Result<Option<Contents>, Problem> {
    if !input.metadata.is_file() {
        return Ok(None);
    }
    let mut file = &input.file;
    Contents::of(&mut file, strictness).map_err(|error| Problem::of_file(input, "cannot be read", &error))
}

/// Returns the name of an input, quoted for a terminal.
fn shown(input: &Input) -> String {
    match &input.source {
        Source::Stdin => "-".to_owned(),
        Source::File(path) => quoted(path.as_os_str()).to_string(),
    }
}

/// Returns `true` for a file of this format that is listed without decoding it.
fn is_surveyed(input: &Input, format: Format) -> bool {
    input.is_file() && input.format() == Some(format)
}

fn cannot_be_listed(input: &Input, format: Format) -> Problem {
    let reason = format!("cannot be listed: it is not a {format} file, or damaged");
    Problem::new(Severity::Damage, input, reason)
}

/// Returns the format and the size of the contents, if the file records it.
fn survey(input: &Input) -> Result<Option<(Format, u64)>, Problem> {
    if !input.metadata.is_file() || input.source == Source::Stdin {
        return Ok(None);
    }
    let Some(format) = input.format() else { return Ok(None) };
    let mut file = &input.file;
    let plain = contents(format, &mut file);
    let plain = plain.and_then(|plain| {
        io::Seek::rewind(&mut file)?;
        Ok(plain)
    });
    match plain {
        Ok(plain) => Ok(plain.map(|plain| (format, plain))),
        Err(error) => Err(Problem::of_file(input, "cannot be read", &error)),
    }
}
