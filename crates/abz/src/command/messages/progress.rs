//! A progress bar for long runs on a terminal.

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use rustix::termios::tcgetwinsize;

use crate::command::system::patient::tell;

/// The bar appears after this time.
const PATIENCE: Duration = Duration::from_millis(500);

/// The time between updates.
const TICK: Duration = Duration::from_millis(100);

/// The width of the bar itself in columns.
const BAR_COLUMNS: usize = 30;

/// The assumed width of a terminal that does not report it, in columns.
const USUAL_COLUMNS: usize = 80;

/// Counts the processed bytes of all inputs, and shows them in a bar.
#[derive(Clone)]
pub(crate) struct Progress {
    /// `None` if no bar is shown.
    bar: Option<Arc<Bar>>,
}

impl Progress {
    /// Creates a progress without a bar.
    pub(crate) fn hidden() -> Self {
        Progress { bar: None }
    }

    /// Creates a bar for inputs of `total` bytes, if that is known.
    pub(crate) fn new(total: Option<u64>) -> Self {
        let (began, done) = (Instant::now(), AtomicU64::new(0));
        let bar = Arc::new(Bar { began, total, done, screen: Mutex::new(Screen::default()) });
        let shown = Arc::downgrade(&bar);
        // If the thread cannot be started, no bar is shown.
        let _ = thread::Builder::new().name("abz progress".into()).spawn(move || show(&shown));
        Progress { bar: Some(bar) }
    }

    /// Returns a reader whose bytes count as processed.
    pub(crate) fn of<R: Read>(&self, reader: R) -> Metered<R> {
        Metered { reader, progress: self.clone() }
    }

    /// Counts `bytes` more processed bytes.
    pub(crate) fn advance(&self, bytes: u64) {
        if let Some(bar) = &self.bar {
            bar.done.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    /// Returns the number of processed bytes.
    pub(crate) fn position(&self) -> u64 {
        self.bar.as_ref().map_or(0, |bar| bar.done.load(Ordering::Relaxed))
    }

    /// Resets the number of processed bytes, after results have been dropped.
    pub(crate) fn set_back(&self, position: u64) {
        if let Some(bar) = &self.bar {
            bar.done.store(position, Ordering::Relaxed);
        }
    }

    /// Runs `print` while the bar is hidden.
    pub(crate) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        let Some(bar) = &self.bar else { return print() };
        let mut screen = bar.screen();
        screen.clear();
        print()
    }

    /// Removes the bar.
    pub(crate) fn end(&self) {
        if let Some(bar) = &self.bar {
            let mut screen = bar.screen();
            screen.clear();
            screen.is_over = true;
        }
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress").field("is_shown", &self.bar.is_some()).finish()
    }
}

/// Updates a bar until it is removed.
fn show(bar: &Weak<Bar>) {
    thread::sleep(PATIENCE);
    while let Some(bar) = bar.upgrade() {
        let mut screen = bar.screen();
        if screen.is_over {
            return;
        }
        let done = bar.done.load(Ordering::Relaxed);
        screen.draw(|columns| line(done, bar.total, bar.began.elapsed(), columns));
        drop(screen);
        drop(bar);
        thread::sleep(TICK);
    }
}

struct Bar {
    began: Instant,
    total: Option<u64>,
    /// The number of processed bytes.
    done: AtomicU64,
    screen: Mutex<Screen>,
}

impl Bar {
    fn screen(&self) -> MutexGuard<'_, Screen> {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The line of the terminal that shows the bar.
#[derive(Debug, Default)]
struct Screen {
    /// The number of columns last drawn; 0 if the bar is hidden.
    drawn: usize,
    is_over: bool,
}

impl Screen {
    /// Replaces the shown line by `line`, which gets the number of columns.
    fn draw(&mut self, line: impl FnOnce(usize) -> String) {
        let columns = columns();
        // Some terminals wrap at the last column.
        let line = line(columns.saturating_sub(1));
        let erased = erased(self.drawn, columns);
        self.drawn = line.len();
        tell(&(erased + &line));
    }

    fn clear(&mut self) {
        if self.drawn > 0 {
            tell(&erased(self.drawn, columns()));
            self.drawn = 0;
        }
    }
}

/// Returns the width of the terminal in columns.
fn columns() -> usize {
    let size = tcgetwinsize(io::stderr()).map_or(0, |size| size.ws_col.into());
    if size == 0 { USUAL_COLUMNS } else { size }
}

/// Returns the control sequence that erases a drawn line. If the terminal has become narrower, the line occupies
/// several lines, except in xterm, which cuts it off.
fn erased(drawn: usize, columns: usize) -> String {
    let above = drawn.saturating_sub(1) / columns.max(1);
    match above {
        1.. if std::env::var_os("XTERM_VERSION").is_none() => format!("\r\x1b[{above}A\x1b[J"),
        _ => "\r\x1b[J".into(),
    }
}

/// Returns the text of the bar. Parts that do not fit in `columns` are left out, from the right.
fn line(done: u64, total: Option<u64>, elapsed: Duration, columns: usize) -> String {
    let rate = done as f64 / elapsed.as_secs_f64().max(0.001);
    let speed = format!("{}/s", size(rate as u64));
    let mut parts = Vec::new();
    match total {
        None => parts.extend([size(done), speed, format!("{} so far", clock(elapsed))]),
        Some(total) => {
            let share = if total == 0 { 1.0 } else { (done as f64 / total as f64).min(1.0) };
            let filled = (share * BAR_COLUMNS as f64) as usize;
            let arrow = if filled < BAR_COLUMNS { ">" } else { "" };
            let bar = "=".repeat(filled) + arrow;
            parts.push(format!("{:>3.0}%", (100.0 * share).floor()));
            parts.push(format!(" [{bar:BAR_COLUMNS$}] {} of {}", size(done), size(total)));
            parts.push(speed);
            // The remaining time is unknown at the start.
            let left = total.saturating_sub(done) as f64 / rate;
            if let Ok(left) = Duration::try_from_secs_f64(left)
                && done > 0
            {
                parts.push(format!("{} left", clock(left)));
            }
        }
    }
    let mut line = String::new();
    for part in parts {
        let joint = if line.is_empty() || part.starts_with(' ') { "" } else { ", " };
        if line.len() + joint.len() + part.len() > columns {
            break;
        }
        line = line + joint + &part;
    }
    line
}

/// Formats a number of bytes with a suitable unit.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut size = bytes as f64;
    let mut name = "B";
    for unit in UNITS {
        if size < 1000.0 {
            break;
        }
        (size, name) = (size / 1024.0, unit);
    }
    match name {
        "B" => format!("{bytes} B"),
        _ => format!("{size:.2} {name}"),
    }
}

/// Formats a time in hours, minutes and seconds.
fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds}s"),
        (0, _) => format!("{minutes}:{seconds:02}"),
        _ => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

/// A reader whose bytes count as processed.
#[derive(Debug)]
pub(crate) struct Metered<R> {
    reader: R,
    progress: Progress,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.progress.advance(read as u64);
        Ok(read)
    }
}

impl<R: Seek> Seek for Metered<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.reader.seek(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_has_what_there_is_room_for() {
        let line = |columns| line(30 << 20, Some(100 << 20), Duration::from_secs(3), columns);
        let full = " 30% [=========>                    ] 30.00 MiB of 100.00 MiB, 10.00 MiB/s, 7s left";
        assert_eq!(line(200), full);
        assert_eq!(line(full.len()), full);
        assert_eq!(line(full.len() - 1), full[..full.len() - ", 7s left".len()]);
        assert_eq!(line(20), " 30%");
        assert_eq!(line(3), "");
        for columns in 0..100 {
            assert!(line(columns).len() <= columns);
        }
    }

    #[test]
    fn before_anything_is_done_no_end_is_promised() {
        let line = line(0, Some(100 << 20), Duration::from_secs(3), 100);
        assert_eq!(line, "  0% [>                             ] 0 B of 100.00 MiB, 0 B/s");
    }

    #[test]
    fn sizes_and_times_are_for_people() {
        let said = [0, 999, 1000, 1 << 20, 10_000 << 20].map(size);
        assert_eq!(said, ["0 B", "999 B", "0.98 KiB", "1.00 MiB", "9.77 GiB"]);
        let said = [0, 59, 60, 3599, 3600, 100_000].map(|seconds| clock(Duration::from_secs(seconds)));
        assert_eq!(said, ["0s", "59s", "1:00", "59:59", "1:00:00", "27:46:40"]);
        let unknown = line(5 << 20, None, Duration::from_secs(5), 100);
        assert_eq!(unknown, "5.00 MiB, 1.00 MiB/s, 5s so far");
    }

    #[test]
    fn a_line_is_taken_away_from_as_many_lines_as_it_has_become() {
        assert_eq!(erased(79, 80), "\r\x1b[J");
        assert_eq!(erased(80, 80), "\r\x1b[J");
        if std::env::var_os("XTERM_VERSION").is_none() {
            assert_eq!(erased(81, 80), "\r\x1b[1A\x1b[J");
            assert_eq!(erased(79, 20), "\r\x1b[3A\x1b[J");
        }
    }
}
