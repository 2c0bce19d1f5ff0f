//! Frames that arrive one after the other, and the time that each takes to pass through a program.
//!
//! All frames of a signal have the same number of bytes. A program reads them through [`Clock::input`] and writes
//! through [`Clock::output`]. The first bytes of a frame can be read at its arrival time. A frame is done when the
//! program has written all bytes that its sequential form writes before it asks for the next frame.

use std::io::{self, Read, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use dsp::{Error, Input, Output, Result};
use measure_harness::statistics::Summary;

/// A signal of frames.
#[derive(Debug, Clone)]
pub struct Frames {
    bytes: Vec<u8>,
    frame_bytes: usize,
    /// For each frame, the number of bytes of the output that are written when it is done.
    done_at: Vec<u64>,
    /// The number of bytes of the whole output.
    all: u64,
}

impl Frames {
    /// Cuts `bytes` into frames of `frame_bytes`. Runs `sequential` to find the output of each frame.
    ///
    /// # Errors
    /// The error of `sequential`, or if there are no whole frames.
    pub fn new(
        bytes: Vec<u8>,
        frame_bytes: usize,
        sequential: impl FnOnce(Input<'_>, &mut Output<'_>) -> Result<()>,
    ) -> Result<Self> {
        if frame_bytes == 0 || bytes.is_empty() || !bytes.len().is_multiple_of(frame_bytes) {
            return Err(Error::new(format!("{} bytes are no frames of {frame_bytes} bytes", bytes.len())));
        }
        let mut frames = Self { bytes, frame_bytes, done_at: Vec::new(), all: 0 };
        let clock = Clock::new(&frames, Duration::ZERO);
        let mut output = clock.output();
        sequential(clock.input(), &mut output)?;
        drop(output);
        let Notes { asked_at, written, .. } = clock.notes.into_inner().unwrap_or_default();
        if asked_at.len() != frames.count() + 1 {
            return Err(Error::new("the sequential form does not read all frames"));
        }
        (frames.done_at, frames.all) = (asked_at[1..].to_vec(), written);
        Ok(frames)
    }

    /// Returns the number of frames.
    pub fn count(&self) -> usize {
        self.bytes.len() / self.frame_bytes
    }

    /// Returns the signal.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// One run of a program with frames that arrive at their times.
#[derive(Debug)]
pub struct Clock<'a> {
    frames: &'a Frames,
    period: Duration,
    begin: Instant,
    notes: Mutex<Notes>,
}

#[derive(Debug, Default)]
struct Notes {
    /// The arrival time of each frame.
    arrived: Vec<Instant>,
    /// The number of bytes that were written when each frame was asked for, and at the end of the input.
    asked_at: Vec<u64>,
    /// The number of bytes that were written.
    written: u64,
    /// The time at which each frame was done.
    done: Vec<Instant>,
}

/// The delay by which a sleep may end too late. The rest of a wait is spent in a loop.
const LATE: Duration = Duration::from_micros(100);

impl<'a> Clock<'a> {
    /// Creates a run in which a frame arrives in each period. With a period of 0 each frame is there when it is asked
    /// for.
    pub fn new(frames: &'a Frames, period: Duration) -> Self {
        Self { frames, period, begin: Instant::now(), notes: Mutex::default() }
    }

    /// Returns the signal, to be read from its beginning.
    pub fn input(&self) -> Input<'_> {
        Input::from_reader("frames", Arriving { clock: self, at: 0 })
    }

    /// Returns the output for the results.
    pub fn output(&self) -> Output<'_> {
        Output::from_writer("results", Leaving { clock: self })
    }

    /// Returns the time of each frame from its arrival until it was done. Frames for which the sequential form writes
    /// nothing are left out.
    ///
    /// # Errors
    /// If the program has written less or more than its sequential form.
    pub fn latencies(self) -> Result<Vec<Duration>> {
        let Notes { arrived, written, done, .. } = self.notes.into_inner().unwrap_or_default();
        if written != self.frames.all || done.len() > arrived.len() {
            let all = self.frames.all;
            return Err(Error::new(format!("{written} bytes were written in place of {all}")));
        }
        let mut before = 0;
        let mut latencies = Vec::new();
        for ((arrived, done), &at) in arrived.into_iter().zip(done).zip(&self.frames.done_at) {
            if at > before {
                latencies.push(done.saturating_duration_since(arrived));
            }
            before = at;
        }
        Ok(latencies)
    }

    /// Waits for a frame.
    fn wait(&self, frame: usize) {
        if self.period.is_zero() {
            return;
        }
        let when = self.begin + self.period * frame as u32;
        if let Some(long) = when.saturating_duration_since(Instant::now()).checked_sub(LATE) {
            thread::sleep(long);
        }
        while Instant::now() < when {
            std::hint::spin_loop();
        }
    }
}

/// Returns the median of the times in seconds, or 0 if there are none.
pub fn median(times: &[Duration]) -> f64 {
    Summary::of_some(times.iter().map(Duration::as_secs_f64)).map_or(0.0, |times| times.median)
}

/// The input of the program.
struct Arriving<'a> {
    clock: &'a Clock<'a>,
    at: usize,
}

impl Read for Arriving<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let Frames { bytes, frame_bytes, .. } = self.clock.frames;
        let (frame, within) = (self.at / frame_bytes, self.at % frame_bytes);
        if within == 0 {
            let is_end = self.at == bytes.len();
            if !is_end {
                self.clock.wait(frame);
            }
            let mut notes = locked(&self.clock.notes);
            if notes.asked_at.len() == frame {
                let written = notes.written;
                notes.asked_at.push(written);
                if !is_end {
                    notes.arrived.push(Instant::now());
                }
            }
        }
        let count = into.len().min(frame_bytes - within).min(bytes.len() - self.at);
        into[..count].copy_from_slice(&bytes[self.at..][..count]);
        self.at += count;
        Ok(count)
    }
}

/// The output of the program.
struct Leaving<'a> {
    clock: &'a Clock<'a>,
}

impl Write for Leaving<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut notes = locked(&self.clock.notes);
        notes.written += bytes.len() as u64;
        while let Some(&at) = self.clock.frames.done_at.get(notes.done.len()) {
            if at > notes.written {
                break;
            }
            notes.done.push(Instant::now());
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes each byte one byte late.
    fn delayed(mut input: Input<'_>, output: &mut Output<'_>) -> Result<()> {
        let (mut before, mut byte) = (None, [0]);
        while input.fill(&mut byte)? == 1 {
            if let Some(before) = before.replace(byte[0]) {
                output.put(&[before])?;
            }
        }
        output.put(&before.map_or(vec![], |last| vec![last]))
    }

    #[test]
    fn a_frame_is_done_when_the_loop_would_ask_for_the_next() {
        let frames = Frames::new((0..12).collect(), 4, delayed).unwrap();
        assert_eq!((frames.count(), &frames.done_at[..], frames.all), (3, &[3, 7, 11][..], 12));
        let clock = Clock::new(&frames, Duration::ZERO);
        let mut output = clock.output();
        delayed(clock.input(), &mut output).unwrap();
        drop(output);
        assert_eq!(clock.latencies().unwrap().len(), 3);
    }

    #[test]
    fn frames_wait_for_their_times() {
        let frames = Frames::new(vec![7; 30], 10, delayed).unwrap();
        let clock = Clock::new(&frames, Duration::from_millis(2));
        let begin = Instant::now();
        let mut output = clock.output();
        delayed(clock.input(), &mut output).unwrap();
        drop(output);
        assert!(begin.elapsed() >= Duration::from_millis(4));
        assert_eq!(clock.latencies().unwrap().len(), 3);
    }

    #[test]
    fn a_program_that_writes_too_little_is_no_rival() {
        let frames = Frames::new(vec![7; 8], 4, delayed).unwrap();
        let clock = Clock::new(&frames, Duration::ZERO);
        clock.input().fill(&mut [0; 8]).unwrap();
        assert!(clock.latencies().is_err());
        assert!(Frames::new(vec![7; 8], 4, |_, _| Ok(())).is_err());
        assert!(Frames::new(vec![7; 9], 4, delayed).is_err());
    }
}
