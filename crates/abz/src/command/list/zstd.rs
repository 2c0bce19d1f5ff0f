//! The output of `zstd -l`.

use std::io::{self, Write};

use abz::zstd;

/// The state of the list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    total: zstd::Survey,
    compressed: u64,
    files: u64,
}

impl Table {
    pub(super) fn new() -> Table {
        let total = zstd::Survey { uncompressed: Some(0), checksums: true, ..Default::default() };
        Table { total, compressed: 0, files: 0 }
    }

    /// Writes the row of a file.
    pub(super) fn add(
        &mut self,
        out: &mut dyn Write,
        name: &str,
        compressed: u64,
        survey: zstd::Survey,
    ) -> io::Result<()> {
        self.files += 1;
        self.compressed += compressed;
        let total = &mut self.total;
        total.frames += survey.frames;
        total.skippable += survey.skippable;
        total.checksums &= survey.checksums;
        let both = total.uncompressed.zip(survey.uncompressed);
        total.uncompressed = both.and_then(|(total, len)| total.checked_add(len));
        if self.files == 1 {
            writeln!(out, "Frames  Skips  Compressed  Uncompressed  Ratio  Check  Filename")?;
        }
        writeln!(out, "{}  {:>5}  {name}", row(&survey, compressed), check(&survey))
    }

    /// Writes the totals, if there are several files.
    pub(super) fn end(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.files < 2 {
            return Ok(());
        }
        let check = if self.total.checksums { "XXH64" } else { "" };
        let row = row(&self.total, self.compressed);
        writeln!(out, "{} \n{row}  {check:>5}  {} files", "-".repeat(65), self.files)
    }
}

fn row(survey: &zstd::Survey, compressed: u64) -> String {
    let frames = survey.frames + survey.skippable;
    let (number, unit) = size(compressed);
    let row = format!("{frames:>6}  {:>5}  {number:>6}{unit:>4}", survey.skippable);
    let Some(uncompressed) = survey.uncompressed else { return format!("{row}{:21}", "") };
    let (number, unit) = size(uncompressed);
    let ratio = if compressed == 0 { 0.0 } else { uncompressed as f64 / compressed as f64 };
    format!("{row}  {number:>8}{unit:>4}  {ratio:>5.3}")
}

fn check(survey: &zstd::Survey) -> &'static str {
    if survey.checksums { "XXH64" } else { "None" }
}

/// Formats a size as zstd does: with three digits and a unit.
fn size(bytes: u64) -> (String, &'static str) {
    const UNITS: [&str; 6] = [" KiB", " MiB", " GiB", " TiB", " PiB", " EiB"];
    let (mut size, mut unit) = (bytes as f64, " B");
    for next in UNITS {
        if size < 1024.0 {
            break;
        }
        (size, unit) = (size / 1024.0, next);
    }
    let digits = match size {
        size if size >= 100.0 || size == bytes as f64 => 0,
        size if size >= 10.0 => 1,
        size if size > 1.0 => 2,
        _ => 3,
    };
    (format!("{size:.digits$}"), unit)
}
