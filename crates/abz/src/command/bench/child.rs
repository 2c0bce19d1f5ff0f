//! Measurement of one row by two child processes: one compresses, the other decompresses. Only a process that did
//! nothing else shows how much memory a run needs. If no process can be started, this one measures.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use abz::program::format_named;
use abz::{Compression, Decompression, Error, Format};
use serde_json::{Value, json};

use super::measured::{Cost, MOST, Row};

/// The first argument of a child process. The format, the level and the number of threads follow, and to compress a
/// file. The compressing child writes the compressed file to standard output; the decompressing one reads it from
/// standard input. Both write their cost to standard error.
const WORD: &str = "--bench-row";

/// A run is repeated for this long, and the shortest time is used.
const PATIENCE: Duration = Duration::from_millis(300);

/// Measures a format and level on the file at `path`.
pub(super) fn row(path: &Path, format: Format, level: u32, workers: usize) -> io::Result<Row> {
    let words = [format.name().to_owned(), level.to_string(), workers.to_string()];
    let compression = Compression { format, level, workers, ..Compression::default() };
    let decompression = Decompression { workers, ..Decompression::default() };
    let (compress, file) = match child(&words, Some(path.as_os_str()), &[])? {
        Some(made) => (parse_cost(&made.stderr)?, made.stdout),
        None => compress(&compression, path).map_err(io::Error::other)?,
    };
    let decompress = match child(&words, None, &file)? {
        Some(read) => parse_cost(&read.stderr)?,
        None => decompress(&decompression, &file).map_err(io::Error::other)?,
    };
    Ok(Row { format, level, compressed: file.len(), compress, decompress })
}

/// Runs a child process and returns its output, or `None` if none can be started.
fn child(words: &[String], path: Option<&OsStr>, input: &[u8]) -> io::Result<Option<Output>> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(WORD).args(words).args(path);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let Ok(mut child) = command.spawn() else { return Ok(None) };
    let mut stdin = child.stdin.take().expect("it is piped");
    // The child reads all input before it writes. If it does not, its error message says why.
    let _ = stdin.write_all(input);
    drop(stdin);
    child.wait_with_output().map(Some)
}

fn parse_cost(said: &[u8]) -> io::Result<Cost> {
    let result: Option<Value> = serde_json::from_slice(said).ok();
    let seconds = result.as_ref().and_then(|result| result["seconds"].as_f64());
    match (result, seconds) {
        (Some(result), Some(seconds)) => Ok(Cost { seconds, memory: result["memory"].as_u64() }),
        _ => Err(io::Error::other(String::from_utf8_lossy(said).trim_end().to_owned())),
    }
}

/// Does the work of a child process, if this is one, and returns whether it succeeded.
pub fn run() -> Option<bool> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != WORD {
        return None;
    }
    let mut word = || arguments.next()?.into_string().ok();
    let (format, level, workers) = (format_named(&word()?)?, word()?.parse().ok()?, word()?.parse().ok()?);
    let result = match arguments.next() {
        Some(path) => {
            let compression = Compression { format, level, workers, ..Compression::default() };
            compress(&compression, Path::new(&path)).and_then(|(cost, file)| {
                io::stdout().write_all(&file).map_err(Error::Write)?;
                Ok(cost)
            })
        }
        None => {
            let mut file = Vec::new();
            let read = io::stdin().read_to_end(&mut file).map_err(Error::Read);
            read.and_then(|_| decompress(&Decompression { workers, ..Decompression::default() }, &file))
        }
    };
    match &result {
        Ok(Cost { seconds, memory }) => eprintln!("{}", json!({ "seconds": seconds, "memory": memory })),
        Err(error) => eprintln!("{error}"),
    }
    Some(result.is_ok())
}

fn compress(compression: &Compression, path: &Path) -> Result<(Cost, Vec<u8>), Error> {
    let mut data = Vec::new();
    File::open(path).and_then(|file| file.take(MOST).read_to_end(&mut data)).map_err(Error::Read)?;
    // The buffer is allocated before the measurement, so that it does not count.
    let mut file = vec![1; data.len() + data.len() / 8 + 4096];
    let cost = cost(|| {
        file.clear();
        abz::compress(&data[..], &mut file, compression).map(drop)
    })?;
    Ok((cost, file))
}

fn decompress(decompression: &Decompression, file: &[u8]) -> Result<Cost, Error> {
    cost(|| abz::decompress(file, io::sink(), decompression).map(drop))
}

/// Returns the shortest time of several runs, and the peak memory of the first.
fn cost(mut run: impl FnMut() -> Result<(), Error>) -> Result<Cost, Error> {
    let began = Instant::now();
    let before = resident_now();
    let mut seconds = f64::INFINITY;
    let mut memory = None;
    while seconds.is_infinite() || began.elapsed() < PATIENCE {
        let start = Instant::now();
        run()?;
        seconds = seconds.min(start.elapsed().as_secs_f64());
        memory = memory.or_else(|| Some(status("VmHWM:")?.saturating_sub(before?)));
    }
    Ok(Cost { seconds, memory })
}

/// Returns the resident memory of the process in bytes, and resets the system's record of its peak.
fn resident_now() -> Option<u64> {
    fs::write("/proc/self/clear_refs", "5").ok()?;
    status("VmRSS:")
}

/// Returns a value of `/proc/self/status` in bytes.
fn status(key: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
