//! The suite of compressed files inside programs: `abz::Reader` and `abz::Writer`, beside the command and other crates.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::num::NonZero;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use abz::gzip::Layout;
use abz::{Compression, Format, Pool, Reader, ReaderBuilder, Writer, WriterBuilder};
use flate2::read::MultiGzDecoder;
use gzp::ZBuilder;
use gzp::deflate::Gzip;
use measure_harness::builds;
use measure_harness::rounds::{Budget, Contender, Unmeasured, measure as rounds};
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};
use measure_harness::work::Digest;

use crate::corpus::{corpus, done};
use crate::look::{Look, Measured};

const FORMATS: [Format; 5] = [Format::Gzip, Format::Bzip2, Format::Lzip, Format::Xz, Format::Zstd];
/// The groups of a file that another program wrote, of writers of other crates, and of readers that wait.
const OTHER: &str = "gzip -6";
const CRATES: &str = "crates";
const IDLE: &str = "idle";
/// The level at which the writers of other crates are compared.
const LEVEL: u8 = 6;
/// The number of workers of each of them, and of each reader that waits.
const WORKERS: NonZero<usize> = NonZero::new(2).expect("it is above 0");
/// The number of readers that wait.
const READERS: usize = 1000;
/// The size of the contents in bytes.
const CONTENTS: usize = 100 << 20;
/// The size of each read and write of a program, in bytes.
const PIECE: usize = 64 << 10;

/// The names of the groups.
pub fn names() -> Vec<String> {
    FORMATS.map(Format::name).into_iter().chain([OTHER, CRATES, IDLE]).map(String::from).collect()
}

/// Measures all formats.
pub fn measure(look: &Look) -> Measured {
    match files(look) {
        Ok(rows) => Measured { rows, ..Measured::default() },
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
    // Before anything else has taken memory that readers could use again.
    if look.at(IDLE) {
        rows.extend(idle(&text[..1 << 20])?);
    }
    for format in FORMATS.into_iter().filter(|format| look.at(format.name())) {
        let file = folder.join("file");
        let level = level_of(format);
        let flag = format!("-{level}");
        let how = ["-n", "-F", format.name(), &flag, "-c"];
        let made = command(&abz, &how, &plain).stdout(File::create(&file).map_err(told)?).status();
        if !made.is_ok_and(|status| status.success()) {
            return Err(format!("abz cannot make a file of {format}"));
        }
        let decompress = vec![reader(&file, len), process("abz -dc", &abz, &["-dc"], &file, len)];
        let what = format!("{format}: `Reader` to nowhere: of the time of `abz -dc`");
        rows.push(row(format.name(), &what, 103.0, look, decompress));
        let own = || WriterBuilder::new().format(format).level(level);
        let compress = vec![writer(own, &text), process("abz -c", &abz, &how, &plain, len)];
        let what = format!("{format}, level {level}: `Writer` to nowhere: of the time of `abz -c`");
        rows.push(row(format.name(), &what, 103.0, look, compress));
    }
    if look.at(OTHER) {
        let file = folder.join("text.gz");
        done(Command::new("gzip").args(["-6", "-k", "-f"]).arg(&plain))?;
        let decompress = vec![reader(&file, len), flate2(&file, len)];
        rows.push(row(
            OTHER,
            "a file of `gzip -6`: `Reader`: of the time of flate2 with zlib-rs",
            35.0,
            look,
            decompress,
        ));
    }
    if look.at(CRATES) {
        let level = u32::from(LEVEL);
        let gzip = move || WriterBuilder::new().level(level).workers(WORKERS.get());
        let contenders = vec![writer(gzip, &text), gzp(&text)];
        rows.push(row(
            CRATES,
            &format!("gzip, level {LEVEL}: `Writer`: of the time of gzp with zlib-rs"),
            80.0,
            look,
            contenders,
        ));
        let bgzf = move || {
            let settings = Compression { layout: Layout::Bgzf, level, ..Compression::default() };
            WriterBuilder::new().settings(settings).workers(WORKERS.get())
        };
        let contenders = vec![writer(bgzf, &text), noodles(&text)];
        rows.push(row(
            CRATES,
            &format!("BGZF, level {LEVEL}: `Writer`: of the time of noodles-bgzf"),
            80.0,
            look,
            contenders,
        ));
    }
    Ok(rows)
}

/// Measures the threads and the memory of many readers that were opened and not read. It makes them once, because later ones
/// would get the memory of the first.
fn idle(text: &[u8]) -> Result<[Row; 2], String> {
    let made = Writer::new(Vec::new()).and_then(|mut writer| {
        writer.write_all(text)?;
        writer.finish()
    });
    let file = made.map_err(|error| error.to_string())?;
    let before = taken()?;
    let pool = Arc::new(Pool::new(WORKERS.get()));
    let open = || ReaderBuilder::new().workers(WORKERS.get()).pool(&pool).build(&file[..]);
    let readers: Vec<_> =
        (0..READERS).map(|_| open().map_err(|error| error.to_string())).collect::<Result<_, _>>()?;
    let after = taken()?;
    drop(readers);
    let what = |of: &str| format!("{READERS} readers, opened and nothing read, on a pool of {WORKERS}: {of}");
    let [threads, bytes] = [0, 1].map(|at| after[at].saturating_sub(before[at]) as f64);
    let kilobytes = bytes / 1000.0 / READERS as f64;
    Ok([
        Row::single(IDLE, what("threads"), (Target::AtMost(2.0), Unit::Threads), threads, ""),
        Row::single(IDLE, what("memory of each"), (Target::AtMost(40.96), Unit::Kilobytes), kilobytes, ""),
    ])
}

/// The number of threads of this process, and the number of bytes of memory that it holds.
fn taken() -> Result<[u64; 2], String> {
    let status =
        fs::read_to_string("/proc/self/status").map_err(|error| format!("/proc/self/status: {error}"))?;
    let number = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok())
    };
    match (number("Threads:"), number("VmRSS:")) {
        (Some(threads), Some(kib)) => Ok([threads, kib << 10]),
        _ => {
            Err("expected the threads and the memory of this process in /proc/self/status, found none".into())
        }
    }
}

/// The level at which files of a format are written: the default, or a quicker one where that takes long.
fn level_of(format: Format) -> u32 {
    match format {
        Format::Lzip | Format::Xz => 1,
        _ => format.default_level(),
    }
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

fn writer<'a>(builder: impl Fn() -> WriterBuilder + 'a, text: &'a [u8]) -> Contender<'a> {
    writing("Writer", text, move || {
        let mut writer = builder().build(io::sink())?;
        write(&mut writer, text)?;
        writer.finish().map(drop)
    })
}

fn gzp(text: &[u8]) -> Contender<'_> {
    writing("gzp", text, move || {
        let level = gzp::Compression::new(LEVEL.into());
        let mut writer = ZBuilder::<Gzip, _>::new()
            .num_threads(WORKERS.get())
            .compression_level(level)
            .from_writer(io::sink());
        write(&mut writer, text)?;
        writer.finish().map(drop).map_err(io::Error::other)
    })
}

fn noodles(text: &[u8]) -> Contender<'_> {
    writing("noodles-bgzf", text, move || {
        let level = LEVEL.try_into().map_err(io::Error::other)?;
        let mut writer = noodles_bgzf::io::multithreaded_writer::Builder::default()
            .set_worker_count(WORKERS)
            .set_compression_level(level)
            .build_from_writer(io::sink());
        write(&mut writer, text)?;
        writer.finish().map(drop)
    })
}

fn writing<'a>(name: &str, text: &[u8], work: impl Fn() -> io::Result<()> + 'a) -> Contender<'a> {
    let len = text.len();
    Contender::timed(name, digest(len), move || digest(if work().is_ok() { len } else { 0 }))
}

/// Writes a text in pieces.
fn write(writer: &mut impl Write, text: &[u8]) -> io::Result<()> {
    text.chunks(PIECE).try_for_each(|piece| writer.write_all(piece))
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
