//! A bar that shows how far a long run has come, on a terminal and nowhere else.

use std::fmt;
use std::io::{self, Read};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A run that is over sooner shows nothing.
const PATIENCE: Duration = Duration::from_millis(500);

/// Counts the bytes that are read of all inputs, and shows them if that takes long.
#[derive(Clone)]
pub(super) struct Progress {
    /// `None` where nothing may be shown.
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Nothing to be shown.
    pub(super) fn hidden() -> Self {
        Progress { bar: None }
    }

    /// Of inputs of `total` bytes, if that is known.
    pub(super) fn new(total: Option<u64>) -> Self {
        let bar = match total {
            Some(total) => ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden()),
            None => ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()),
        };
        let template = match total {
            Some(_) => {
                "{percent:>3}% [{bar:30}] {binary_bytes} of {binary_total_bytes}, {binary_bytes_per_sec}, {eta} left"
            }
            None => "{spinner} {binary_bytes}, {binary_bytes_per_sec}, {elapsed} so far",
        };
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style.progress_chars("=> "));
        let shown = bar.clone();
        let began = Instant::now();
        // Not a tick of the bar's own: nothing may be drawn before the time has come.
        let _ = std::thread::Builder::new().name("abz progress".into()).spawn(move || {
            std::thread::sleep(PATIENCE.saturating_sub(began.elapsed()));
            if !shown.is_finished() {
                shown.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
                shown.enable_steady_tick(Duration::from_millis(100));
            }
        });
        Progress { bar: Some(bar) }
    }

    /// A reader of which the bytes count.
    pub(super) fn of<R: Read>(&self, reader: R) -> Metered<R> {
        Metered { reader, progress: self.clone() }
    }

    /// So many bytes were read.
    pub(super) fn advance(&self, bytes: u64) {
        if let Some(bar) = &self.bar {
            bar.inc(bytes);
        }
    }

    /// Does `print` with the bar out of the way.
    pub(super) fn aside<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Takes the bar away.
    pub(super) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress").field("is_shown", &self.bar.is_some()).finish()
    }
}

/// A reader whose bytes count as progress.
#[derive(Debug)]
pub(super) struct Metered<R> {
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
