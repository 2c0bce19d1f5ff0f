//! The output of `pigz -l`.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::time::SystemTime;

use super::gzip::day_and_time;
use crate::command::system::quote::quoted;

/// The state of the list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    detail: Detail,
    has_head: bool,
}

/// The amount of detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    Nothing,
    Sizes,
    /// Also the method, the check and the time.
    More,
}

/// The values of a file.
pub(super) struct Row<'a> {
    /// The method, and the check in hexadecimal digits.
    pub(super) method: &'static str,
    pub(super) check: &'a str,
    /// The stored time.
    pub(super) time: Option<SystemTime>,
    /// The size of the deflate data in bytes.
    pub(super) compressed: u64,
    /// The size of the contents in bytes.
    pub(super) plain: u64,
    pub(super) name: &'a OsStr,
}

impl Table {
    pub(super) fn new(detail: Detail) -> Self {
        Table { detail, has_head: false }
    }

    /// Returns `true` if the method, the check and the time are printed.
    pub(super) fn tells_more(&self) -> bool {
        self.detail == Detail::More
    }

    /// Writes the row of a file. pigz prints no totals.
    pub(super) fn add(&mut self, out: &mut dyn Write, row: &Row<'_>) -> io::Result<()> {
        let tells_more = self.tells_more();
        if self.detail == Detail::Nothing {
            return Ok(());
        }
        if !self.has_head {
            self.has_head = true;
            let more = if tells_more { "method    check    timestamp    " } else { "" };
            writeln!(out, "{more}compressed   original reduced  name")?;
        }
        if tells_more {
            let time = row.time.map_or_else(|| "------ -----".to_owned(), date);
            write!(out, "{:<6}  {:>8}  {time}  ", row.method, row.check)?;
        }
        let saved = 100.0 * (row.plain as f64 - row.compressed as f64) / row.plain as f64;
        let name = shortened(row.name, if tells_more { 16 } else { 48 });
        writeln!(out, "{:>10} {:>10} {saved:>6.1}%  {}", row.compressed, row.plain, quoted(OsStr::new(&name)))
    }
}

/// Formats a time: with hour and minute for this year, otherwise with the year.
fn date(time: SystemTime) -> String {
    let (year, day, minute) = day_and_time(time);
    match year == day_and_time(SystemTime::now()).0 {
        true => format!("{day} {minute}"),
        false => format!("{day}  {year}"),
    }
}

/// Shortens a name to `most` characters.
fn shortened(name: &OsStr, most: usize) -> String {
    let name = name.to_string_lossy();
    match name.chars().count() > most {
        true => name.chars().take(most - 3).chain("...".chars()).collect(),
        false => name.into_owned(),
    }
}
