//! The output of `lzip -l`, and of `lzip -tv` for each member.

use std::io::{self, Write};

use abz::lzip::Contents;

/// The state of the list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    compressed: u64,
    uncompressed: u64,
    files: u64,
    detail: Detail,
    /// The next row follows the headings.
    begins: bool,
}

/// The amount of detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Detail {
    /// Nothing is printed; the exit status shows whether files are right.
    Nothing,
    Sizes,
    /// Also the dictionary, the number of members, and trailing bytes.
    More,
    /// Also each member.
    Members,
}

impl Table {
    pub(super) fn new(detail: Detail) -> Table {
        Table { compressed: 0, uncompressed: 0, files: 0, detail, begins: true }
    }

    /// Writes the row of a file.
    pub(super) fn add(&mut self, out: &mut dyn Write, name: &str, contents: &Contents) -> io::Result<()> {
        let members = &contents.members;
        let compressed = members.iter().map(|member| member.compressed).sum();
        let uncompressed = members.iter().map(|member| member.uncompressed).sum();
        self.files += 1;
        self.compressed += compressed;
        self.uncompressed = self.uncompressed.saturating_add(uncompressed);
        if self.detail == Detail::Nothing {
            return Ok(());
        }
        if self.begins {
            let more = if self.detail >= Detail::More { "   dict   memb  trail " } else { "" };
            writeln!(out, "{more}  uncompressed     compressed   saved  name")?;
            self.begins = false;
        }
        if self.detail >= Detail::More {
            let dictionary = members.iter().map(|member| member.dictionary).max().unwrap_or(0);
            write!(out, "{} {:>5} {:>6} ", size(dictionary), members.len(), contents.trailing)?;
        }
        writeln!(out, "{}  {name}", row(uncompressed, compressed))?;
        if self.detail == Detail::Members && members.len() > 1 {
            writeln!(out, " member      data_pos      data_size     member_pos    member_size")?;
            let mut at = 0;
            for (number, member) in (1..).zip(members) {
                let (data, offset) = (member.uncompressed, member.offset);
                writeln!(out, "{number:>6} {at:>14} {data:>14} {offset:>14} {:>14}", member.compressed)?;
                at += data;
            }
            self.begins = true;
        }
        Ok(())
    }

    /// Writes the totals, if there are several files.
    pub(super) fn end(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.files < 2 || self.detail == Detail::Nothing {
            return Ok(());
        }
        let before = if self.detail >= Detail::More { 22 } else { 0 };
        writeln!(out, "{:before$}{}  (totals)", "", row(self.uncompressed, self.compressed))
    }
}

fn row(uncompressed: u64, compressed: u64) -> String {
    let saved = match uncompressed {
        0 => "  -INF%".to_owned(),
        _ => format!("{:>6.2}%", 100.0 - 100.0 * compressed as f64 / uncompressed as f64),
    };
    format!("{uncompressed:>14} {compressed:>14} {saved}")
}

/// Formats a dictionary size as lzip does: in the largest unit that divides it.
fn size(bytes: u32) -> String {
    let (mut size, mut unit) = (bytes, "");
    for larger in ["Ki", "Mi", "Gi"] {
        if !(size > 9999 || size >= 1024 && size % 1024 == 0) {
            break;
        }
        (size, unit) = (size / 1024, larger);
    }
    format!("{size:>4} {unit}B")
}

/// Returns a line for each member of a tested file.
pub(crate) fn tested(name: &str, contents: &Contents) -> Vec<String> {
    let lines = contents.members.iter().map(|member| {
        let (compressed, data) = (member.compressed as f64, member.uncompressed as f64);
        match member.uncompressed {
            0 => format!("  {name}: no data compressed. ok"),
            _ => {
                let percent = 100.0 * compressed / data;
                let (ratio, saved) = (data / compressed, 100.0 - percent);
                format!("  {name}: {ratio:>6.3}:1, {percent:>5.2}% ratio, {saved:>5.2}% saved. ok")
            }
        }
    });
    lines.collect()
}
