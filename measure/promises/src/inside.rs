//! The suite of compressed files inside programs: `abz::Reader` and `abz::Writer`, beside the command and flate2.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use abz::{Format, Reader, Writer};
use flate2::read::MultiGzDecoder;
use measure_harness::builds;
use measure_harness::rounds::{Budget, Contender, Unmeasured, measure as rounds};
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};
use measure_harness::work::Digest;

use crate::corpus::{corpus, done};
use crate::look::{Look, Measured};

const FORMATS: [Format; 5] = [Format::Gzip, Format::Bzip2, Format::Lzip, Format::Xz, Format::Zstd];
/// The group of a file that another program wrote.
const OTHER: &str = "gzip -6";
/// The size of the contents in bytes.
const CONTENTS: usize = 100 << 20;
/// The size of each read and write of a program, in bytes.
const PIECE: usize = 64 << 10;

/// The names of the groups.
pub fn names() -> Vec<String> {
    FORMATS.map(Format::name).into_iter().chain([OTHER]).map(String::from).collect()
}

/// Measures all formats.
pub fn measure(look: &Look) -> Measured {
    match files(look) {
        Ok(rows) => Measured { rows, notes: Vec::new() },
        Err(why) => Measured::impossible("inside", why),
    }
}

fn files(look: &Look) -> Result<Vec<Row>, String> {
    let abz = builds::anabranch(&["abz"])?.join("abz");
    let folder = builds::folder().join("inside");
    let told = |error: io::Error| format!("{}: {error}", folder.display());
    fs::create_dir_all(&folder).map_err(told)?;
    let text = fs::read(corpus(look)?.join("text")).map_err(told)?;
    let len = if look.quick { CONTENTS / 8 } else { CONTENTS };
    let text: Vec<u8> = text.iter().copied().cycle().take(len).collect();
    let plain = folder.join("text");
    fs::write(&plain, &text).map_err(told)?;
    let mut rows = Vec::new();
    for format in FORMATS.into_iter().filter(|format| look.at(format.name())) {
        let file = folder.join("file");
        let how = ["-n", "-F", format.name(), "-c"];
        let made = command(&abz, &how, &plain).stdout(File::create(&file).map_err(told)?).status();
        if !made.is_ok_and(|status| status.success()) {
            return Err(format!("abz cannot make a file of {format}"));
        }
        let decompress = vec![reader(&file, len), process("abz -dc", &abz, &["-dc"], &file, len)];
        rows.push(row(
            format.name(),
            "`Reader` to nowhere: of the time of `abz -dc`",
            103.0,
            look,
            decompress,
        ));
        let compress = vec![writer(format, &text), process("abz -c", &abz, &how, &plain, len)];
        rows.push(row(format.name(), "`Writer` to nowhere: of the time of `abz -c`", 103.0, look, compress));
    }
    if look.at(OTHER) {
        let file = folder.join("text.gz");
        done(Command::new("gzip").args(["-6", "-k", "-f"]).arg(&plain))?;
        let decompress = vec![reader(&file, len), flate2(&file, len)];
        rows.push(row(OTHER, "`Reader`: of the time of flate2 with zlib-rs", 35.0, look, decompress));
    }
    Ok(rows)
}

/// Compares the first contender with the second.
fn row(group: &str, what: &str, target: f64, look: &Look, contenders: Vec<Contender<'_>>) -> Row {
    let (wanted, least, seconds) = if look.quick { (5, 3, 30) } else { (15, 7, 120) };
    let budget = Budget { wanted, least, time: Duration::from_secs(seconds) };
    let rounds: Result<_, Unmeasured> = rounds(budget, None, contenders);
    Row::new(group, what, (Target::AtMost(target), Unit::Percent), &rounds, |rounds| {
        let own = rounds.median(|round| round.samples[0]);
        let share = rounds.summary(|round| 100.0 * round.samples[0] / round.samples[1]);
        (share, format!("{:.0} ms", own * 1e3))
    })
}

fn command(program: &Path, arguments: &[&str], file: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).arg(file);
    command
}

/// A process that reads a file. The digest is that of the size of the contents, which the others count.
fn process<'a>(
    name: &'a str,
    program: &'a Path,
    arguments: &'a [&'a str],
    file: &'a Path,
    len: usize,
) -> Contender<'a> {
    Contender::timed(name, digest(len), move || {
        let status = command(program, arguments, file).stdout(Stdio::null()).status();
        digest(if status.is_ok_and(|status| status.success()) { len } else { 0 })
    })
}

fn reader(file: &Path, len: usize) -> Contender<'_> {
    Contender::timed("Reader", digest(len), move || digest(Reader::open(file).map_or(0, count)))
}

fn flate2(file: &Path, len: usize) -> Contender<'_> {
    Contender::timed("flate2", digest(len), move || {
        digest(File::open(file).map_or(0, |file| count(MultiGzDecoder::new(file))))
    })
}

fn writer(format: Format, text: &[u8]) -> Contender<'_> {
    Contender::timed("Writer", digest(text.len()), move || {
        let written = Writer::builder().format(format).new(io::sink()).and_then(|mut writer| {
            text.chunks(PIECE).try_for_each(|piece| writer.write_all(piece))?;
            writer.finish()
        });
        digest(if written.is_ok() { text.len() } else { 0 })
    })
}

/// Reads to the end, and counts the bytes.
fn count(mut reader: impl Read) -> usize {
    let (mut piece, mut len) = (vec![0; PIECE], 0);
    while let Ok(read @ 1..) = reader.read(&mut piece) {
        len += read;
    }
    len
}

fn digest(len: usize) -> Digest {
    Digest::EMPTY.with(len as u64)
}
