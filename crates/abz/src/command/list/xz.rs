//! The output of `xz -l`, also with `--robot`.

use std::io::{self, Write};

use abz::xz;

/// The values of a file, or the totals.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Row {
    survey: xz::Survey,
    compressed: u64,
}

/// The state of the list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    total: Row,
    files: u64,
    is_for_robots: bool,
}

impl Table {
    pub(super) fn new(is_for_robots: bool) -> Table {
        Table { total: Row::default(), files: 0, is_for_robots }
    }

    /// Writes the row of a file.
    pub(super) fn add(
        &mut self,
        out: &mut dyn Write,
        name: &str,
        compressed: u64,
        survey: xz::Survey,
    ) -> io::Result<()> {
        let row = Row { survey, compressed };
        self.files += 1;
        let total = &mut self.total;
        total.compressed += compressed;
        total.survey.streams += survey.streams;
        total.survey.blocks += survey.blocks;
        total.survey.uncompressed = total.survey.uncompressed.saturating_add(survey.uncompressed);
        total.survey.checks |= survey.checks;
        total.survey.padding += survey.padding;
        match self.is_for_robots {
            true => writeln!(out, "name\t{name}\nfile\t{}", row.for_robots()),
            false => {
                if self.files == 1 {
                    writeln!(out, "Strms  Blocks   Compressed Uncompressed  Ratio  Check   Filename")?;
                }
                writeln!(out, "{} {name}", row.for_people())
            }
        }
    }

    /// Writes the totals, if there are any to write.
    pub(super) fn end(&self, out: &mut dyn Write) -> io::Result<()> {
        match (self.is_for_robots, self.files) {
            (true, files) => writeln!(out, "totals\t{}\t{files}", self.total.for_robots()),
            (false, 0 | 1) => Ok(()),
            (false, files) => {
                writeln!(out, "{}\n{} {files} files", "-".repeat(79), self.total.for_people())
            }
        }
    }
}

impl Row {
    fn for_people(&self) -> String {
        let Row { survey, compressed } = self;
        let (ratio, checks) = (self.ratio(), self.checks());
        let (compressed, uncompressed) = (size(*compressed), size(survey.uncompressed));
        let (streams, blocks) = (survey.streams, survey.blocks);
        format!("{streams:>5} {blocks:>7}  {compressed:>11}  {uncompressed:>11}  {ratio:>5}  {checks:<7}")
    }

    fn for_robots(&self) -> String {
        let Row { survey: xz::Survey { streams, blocks, uncompressed, padding, .. }, compressed } = self;
        let (ratio, checks) = (self.ratio(), self.checks());
        format!("{streams}\t{blocks}\t{compressed}\t{uncompressed}\t{ratio}\t{checks}\t{padding}")
    }

    fn ratio(&self) -> String {
        match self.compressed as f64 / self.survey.uncompressed as f64 {
            ratio if ratio <= 9.999 => format!("{ratio:.3}"),
            // This includes infinity.
            _ => "---".to_owned(),
        }
    }

    /// Returns the names of the checks, as xz writes them.
    fn checks(&self) -> String {
        let checks = (0..16).filter(|check| self.survey.checks & 1 << check != 0);
        let names = checks.map(|check| match check {
            0 => "None".to_owned(),
            1 => "CRC32".to_owned(),
            4 => "CRC64".to_owned(),
            10 => "SHA-256".to_owned(),
            other => format!("Unknown-{other}"),
        });
        names.collect::<Vec<_>>().join(",")
    }
}

/// Formats a size as xz does: in bytes up to 9999.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 10_000 {
        return format!("{bytes} B");
    }
    let mut size = bytes as f64 / 1024.0;
    let mut units = UNITS.into_iter();
    let mut unit = units.next().unwrap_or_default();
    while size > 9999.9
        && let Some(next) = units.next()
    {
        (size, unit) = (size / 1024.0, next);
    }
    format!("{size:.1} {unit}")
}
