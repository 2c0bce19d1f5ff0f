//! One row, measured by a process of its own: only such a one tells what a run needs of memory.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use abz::{Compression, Decompression, Error, Format};
use serde_json::{Value, json};

use super::{Cost, MOST, Row};

/// The first argument of such a process, which no user gives.
const WORD: &str = "--bench-row";

/// A quick run is repeated for so long, and the best counts.
const PATIENCE: Duration = Duration::from_millis(300);

/// Measures a format and level on the file at `path`.
pub(super) fn row(path: &Path, format: Format, level: u32, workers: usize) -> io::Result<Row> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(WORD).args([format.name(), &level.to_string(), &workers.to_string()]).arg(path);
    let output = command.output()?;
    let said = || io::Error::other(String::from_utf8_lossy(&output.stderr).trim_end().to_owned());
    let told: Value = serde_json::from_slice(&output.stdout).map_err(|_| said())?;
    let cost = |key: &str| {
        let told = &told[key];
        Some(Cost { seconds: told["seconds"].as_f64()?, memory: told["memory"].as_u64() })
    };
    let row = || {
        let compressed = told["compressed"].as_u64()? as usize;
        Some(Row { format, level, compressed, compress: cost("compress")?, decompress: cost("decompress")? })
    };
    row().ok_or_else(said)
}

/// If this is such a process: does its work, and says whether that went well.
pub fn run() -> Option<bool> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != WORD {
        return None;
    }
    let mut word = || arguments.next()?.into_string().ok();
    let (format, level, workers) = (Format::named(&word()?)?, word()?.parse().ok()?, word()?.parse().ok()?);
    let compression = Compression { format, level, workers, ..Compression::default() };
    let path = arguments.next()?;
    let measured = measure(&compression, Path::new(&path));
    let told = measured.and_then(|told| writeln!(io::stdout(), "{told}").map_err(Error::Write));
    Some(told.inspect_err(|error| eprintln!("{error}")).is_ok())
}

fn measure(compression: &Compression, path: &Path) -> Result<Value, Error> {
    let mut data = Vec::new();
    File::open(path).and_then(|file| file.take(MOST).read_to_end(&mut data)).map_err(Error::Read)?;
    // Room that is there already is none that the run needs.
    let mut file = vec![1; data.len() + data.len() / 8 + 4096];
    let compress = cost(|| {
        file.clear();
        compression.run(&data[..], &mut file).map(drop)
    })?;
    let decompression = Decompression { workers: compression.workers, ..Decompression::default() };
    let decompress = cost(|| decompression.run(&file[..], io::sink()).map(drop))?;
    Ok(json!({ "compressed": file.len(), "compress": compress, "decompress": decompress }))
}

/// The best time of some runs, and the most memory of the first.
fn cost(mut run: impl FnMut() -> Result<(), Error>) -> Result<Value, Error> {
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
    Ok(json!({ "seconds": seconds, "memory": memory }))
}

/// How much memory the process has, in bytes; from here on the system notes anew how much it has at most.
fn resident_now() -> Option<u64> {
    fs::write("/proc/self/clear_refs", "5").ok()?;
    status("VmRSS:")
}

/// A number of kilobytes that Linux tells of this process, in bytes.
fn status(key: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
