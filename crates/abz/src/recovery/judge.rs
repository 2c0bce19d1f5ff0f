//! The judge of a recovery: it receives tries in order, writes parts, and reports gaps.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use abz_codec::salvage::{Part, Reason, Salvage};

use super::outcome::{Gap, Recovered, To};
use super::search::{Probe, Tried};
use crate::error::Error;
use crate::positional::Along;
use crate::positional::ReadAt;

/// How many times tries without a limit may read the whole file, in total.
const PATIENCE: u64 = 16;

/// The maximum expansion of any format. A gap that claims more contents for its size is not trusted.
const MOST_EXPANSION: u64 = 1 << 14;

/// The number of bytes shown of data that is no part.
const SHOWN: u64 = 8;

/// Decides for each place whether a part there is written.
pub(super) struct Judge<'a, 'o, S: Salvage> {
    input: &'a dyn ReadAt,
    to: To<'o>,
    tool: S::Tool,
    state: S::State,
    fill: bool,
    /// The bit up to which everything has been written or reported.
    at: u64,
    /// The bit at which a damaged part ends; nothing before it is looked at.
    skip: u64,
    /// The bit before which no place is tried.
    passed: &'a AtomicU64,
    /// The damage at `at`, if it is known.
    reason: Option<Reason>,
    /// The offset up to which tries without a limit have read, and how many bytes before it they may read again.
    furthest: u64,
    patience: u64,
    done: Recovered,
}

impl<'a, 'o, S: Salvage> Judge<'a, 'o, S> {
    pub(super) fn new(
        input: &'a dyn ReadAt,
        to: To<'o>,
        fill: bool,
        passed: &'a AtomicU64,
    ) -> Result<Self, Error> {
        let mut file = Along::new(input);
        let mut state = S::begin(&mut file).map_err(Error::Read)?;
        let at = S::pass(&mut state, &mut file, 0).map_err(Error::Read)?;
        Ok(Judge {
            input,
            to,
            tool: S::Tool::default(),
            state,
            fill,
            at,
            skip: 0,
            passed,
            reason: None,
            furthest: 0,
            patience: PATIENCE.saturating_mul(input.size()),
            done: Recovered::default(),
        })
    }

    /// Takes the result of the try at `start`. Results come in order.
    pub(super) fn take(&mut self, start: u64, tried: Tried<S::Note>) -> Result<(), Error> {
        if start < self.at.max(self.skip) {
            return Ok(());
        }
        match tried {
            Tried::Part(part, contents) => self.accept(start, &part, Some(contents)),
            Tried::None(reason) => self.refuse(start, reason),
            Tried::Open => match self.look_closely(start)? {
                Ok(part) => self.accept(start, &part, None),
                Err(reason) => self.refuse(start, reason),
            },
        }
    }

    /// Tries to decode a part at `start` without a limit.
    fn look_closely(&mut self, start: u64) -> Result<Result<Part<S::Note>, Reason>, Error> {
        if start / 8 < self.furthest && self.patience == 0 {
            return Ok(
                Err("expected fewer places that look like the start of a part, found too many".into()),
            );
        }
        let mut probe = Probe::<S>::new(self.input, start / 8, None);
        let tried = S::attempt(&mut self.tool, (start % 8) as u32, &mut probe, &mut io::sink());
        let again = probe.end().min(self.furthest).saturating_sub(start / 8);
        self.patience = self.patience.saturating_sub(again);
        self.furthest = self.furthest.max(probe.end());
        tried.map_err(Error::Read)
    }

    /// Writes a part. Decodes it again if its `contents` were not kept.
    fn accept(&mut self, start: u64, part: &Part<S::Note>, contents: Option<Vec<u8>>) -> Result<(), Error> {
        if start > self.at {
            if !S::admits(&self.state, start, &part.note) {
                return Ok(());
            }
            self.gap(start)?;
        }
        let written = match contents {
            Some(contents) => {
                self.to.output.write_all(&contents).map_err(Error::Write)?;
                contents.len() as u64
            }
            None => self.write_again(start)?,
        };
        self.done.parts += u64::from(written > 0);
        self.done.bytes += written;
        S::note(&mut self.state, &part.note);
        let mut file = Along::new(self.input);
        let end = start / 8 * 8 + part.end;
        self.at = S::pass(&mut self.state, &mut file, end).map_err(Error::Read)?;
        self.passed.fetch_max(self.at, Ordering::Relaxed);
        self.doubt(end, false);
        Ok(())
    }

    fn write_again(&mut self, start: u64) -> Result<u64, Error> {
        let mut probe = Probe::<S>::new(self.input, start / 8, None);
        let mut outlet = Outlet { output: self.to.output, written: 0, error: None };
        let tried = S::attempt(&mut self.tool, (start % 8) as u32, &mut probe, &mut outlet);
        match (outlet.error, tried) {
            (Some(error), _) => Err(Error::Write(error)),
            (None, Err(error)) => Err(Error::Read(error)),
            (None, Ok(Err(reason))) => {
                let reason = format!("the file changed while it was read: {reason}");
                Err(Error::Read(io::Error::new(io::ErrorKind::InvalidData, reason)))
            }
            (None, Ok(Ok(_))) => Ok(outlet.written),
        }
    }

    fn refuse(&mut self, start: u64, reason: Reason) -> Result<(), Error> {
        if start == self.at {
            self.reason = Some(reason);
        }
        let mut file = Along::new(self.input);
        if let Some(end) = S::extent(&mut file, start).map_err(Error::Read)? {
            self.skip = end;
            self.passed.fetch_max(end, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Reports the gap before `end`, and continues there.
    fn gap(&mut self, end: u64) -> Result<(), Error> {
        let gap = self.at..end;
        let bytes = (gap.end - gap.start) / 8;
        let mut file = Along::new(self.input);
        let missing = match bytes < S::LEAST {
            true => Some(0),
            false => S::missing(&self.state, &mut file, &gap).map_err(Error::Read)?,
        };
        let missing = missing.filter(|&missing| missing <= bytes.saturating_mul(MOST_EXPANSION));
        let reason = match self.reason.take() {
            Some(reason) => reason,
            None => self.unlike(gap.start / 8)?,
        };
        let at = self.done.bytes + self.done.filled;
        let filled = missing.filter(|_| self.fill).unwrap_or(0);
        io::copy(&mut io::Read::take(io::repeat(0), filled), &mut self.to.output).map_err(Error::Write)?;
        self.done.filled += filled;
        self.done.lost += gap.end.div_ceil(8) - gap.start / 8;
        self.done.gaps += 1;
        (self.to.tell)(Gap { bits: gap, at, missing, filled, reason });
        S::note_gap(&mut self.state);
        self.at = end;
        Ok(())
    }

    /// Describes the bytes at `offset`, where no part begins.
    fn unlike(&self, offset: u64) -> Result<Reason, Error> {
        let mut bytes = [0; SHOWN as usize];
        let len = (self.input.size() - offset).min(SHOWN) as usize;
        self.input.read_at(&mut bytes[..len], offset).map_err(Error::Read)?;
        let mut reason = format!("expected {}, found", S::EXPECTED);
        for byte in &bytes[..len] {
            let _ = write!(reason, " {byte:02x}");
        }
        Ok(reason.into())
    }

    /// Reports if the parts up to `end` are undamaged but do not fit together.
    fn doubt(&mut self, end: u64, is_end: bool) {
        if let Some(reason) = S::doubt(&mut self.state, is_end) {
            let at = self.done.bytes + self.done.filled;
            self.done.gaps += 1;
            (self.to.tell)(Gap { bits: end..end, at, missing: None, filled: 0, reason });
        }
    }

    /// Reports the gap at the end of the file, if there is one, and returns the result.
    pub(super) fn finish(mut self) -> Result<Recovered, Error> {
        let size = self.input.size();
        if self.at < 8 * size {
            self.gap(8 * size)?;
        } else if size == 0 {
            self.reason = Some(format!("expected {}, found the end of the file", S::EXPECTED).into());
            self.gap(0)?;
        } else {
            self.doubt(self.at, true);
        }
        self.to.output.flush().map_err(Error::Write)?;
        Ok(self.done)
    }
}

/// A writer that keeps errors of the output apart from those of the input.
struct Outlet<'a> {
    output: &'a mut (dyn Write + Send),
    written: u64,
    error: Option<io::Error>,
}

impl Write for Outlet<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Err(error) = self.output.write_all(bytes) {
            let kind = error.kind();
            self.error = Some(error);
            return Err(kind.into());
        }
        self.written += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
