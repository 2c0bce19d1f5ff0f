//! The search for places where a part may begin, and the tries to decode one there.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read, Write};
use std::marker::PhantomData;

use abz_codec::salvage::{Part, Reason, Salvage};

use crate::error::Error;
use crate::positional::ReadAt;

/// The number of bytes searched at once.
const STRETCH: usize = 1 << 20;

/// The number of bytes that a try reads first, and the most that it reads at once.
const FIRST: usize = 512;
const MOST: usize = 256 << 10;

/// The maximum number of places that look like starts in the bytes that one try reads, including its own.
const CROWD: usize = 17;

/// An iterator over the places where parts may begin, as bit offsets in ascending order.
pub(super) struct Candidates<'a, S> {
    input: &'a dyn ReadAt,
    /// The bytes read last, up to byte `end` of the file.
    stretch: Vec<u8>,
    end: u64,
    /// The place found last, and the places not yet returned.
    last: Option<u64>,
    found: VecDeque<u64>,
    format: PhantomData<fn() -> S>,
}

impl<'a, S: Salvage> Candidates<'a, S> {
    pub(super) fn new(input: &'a dyn ReadAt) -> Self {
        Candidates {
            input,
            stretch: Vec::new(),
            end: 0,
            last: None,
            found: VecDeque::new(),
            format: PhantomData,
        }
    }

    fn look(&mut self) -> io::Result<()> {
        // Starts near the end of a stretch are found only with the bytes after it.
        let kept = self.stretch.len().min(S::LOOK);
        self.stretch.drain(..self.stretch.len() - kept);
        let more = STRETCH.min(usize::try_from(self.input.size() - self.end).unwrap_or(usize::MAX));
        self.stretch.resize(kept + more, 0);
        self.input.read_at(&mut self.stretch[kept..], self.end)?;
        let start = 8 * (self.end - kept as u64);
        self.end += more as u64;
        let mut found = Vec::new();
        S::candidates(&self.stretch, &mut found);
        let last = self.last;
        self.found.extend(found.iter().map(|bit| start + bit).filter(|&bit| Some(bit) > last));
        self.last = self.found.back().copied().or(last);
        Ok(())
    }
}

impl<S: Salvage> Iterator for Candidates<'_, S> {
    type Item = Result<u64, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.found.is_empty() && self.end < self.input.size() {
            if let Err(error) = self.look() {
                return Some(Err(Error::Read(error)));
            }
        }
        self.found.pop_front().map(Ok)
    }
}

/// The result of a try.
pub(super) enum Tried<N> {
    /// A part, and its contents.
    Part(Part<N>, Vec<u8>),
    /// No part.
    None(Reason),
    /// Undecided: the try takes too much memory or passes too many places, and has to be repeated without a limit.
    Open,
}

/// Tries places on one worker.
pub(super) struct Prober<'a, S: Salvage> {
    input: &'a dyn ReadAt,
    tool: S::Tool,
    hold: usize,
}

impl<'a, S: Salvage> Prober<'a, S> {
    pub(super) fn new(input: &'a dyn ReadAt, hold: usize) -> Self {
        Prober { input, tool: S::Tool::default(), hold }
    }

    pub(super) fn attempt(&mut self, start: u64) -> Result<Tried<S::Note>, Error> {
        let mut probe = Probe::<S>::new(self.input, start / 8, Some(CROWD));
        let mut held = Held { bytes: Vec::new(), limit: self.hold, is_full: false };
        let tried = S::attempt(&mut self.tool, (start % 8) as u32, &mut probe, &mut held);
        match tried {
            Err(_) if held.is_full => Ok(Tried::Open),
            Err(error) => Err(Error::Read(error)),
            Ok(Ok(part)) => Ok(Tried::Part(part, held.bytes)),
            Ok(Err(_)) if probe.is_cut => Ok(Tried::Open),
            Ok(Err(reason)) => Ok(Tried::None(reason)),
        }
    }
}

/// A reader of a file from some byte on, which ends where too many places look like starts.
pub(super) struct Probe<'a, S> {
    input: &'a dyn ReadAt,
    buffer: Vec<u8>,
    begin: usize,
    /// The offset in the file of the first byte after the buffer.
    end: u64,
    /// The number of bytes to read next.
    next: usize,
    /// How many more places may look like starts, if there is a limit.
    crowd: Option<usize>,
    /// The limit was exceeded.
    is_cut: bool,
    found: Vec<u64>,
    format: PhantomData<fn() -> S>,
}

impl<'a, S: Salvage> Probe<'a, S> {
    pub(super) fn new(input: &'a dyn ReadAt, start: u64, crowd: Option<usize>) -> Self {
        Probe {
            input,
            buffer: Vec::new(),
            begin: 0,
            end: start,
            next: FIRST,
            crowd,
            is_cut: false,
            found: Vec::new(),
            format: PhantomData,
        }
    }

    /// The offset of the first byte that was not read.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    fn read_on(&mut self) -> io::Result<()> {
        let len = self.next.min(usize::try_from(self.input.size() - self.end).unwrap_or(usize::MAX));
        self.buffer.resize(len, 0);
        self.begin = 0;
        self.input.read_at(&mut self.buffer, self.end)?;
        self.end += len as u64;
        self.next = MOST.min(2 * self.next);
        let Some(crowd) = &mut self.crowd else { return Ok(()) };
        self.found.clear();
        S::candidates(&self.buffer, &mut self.found);
        match self.found.get(*crowd) {
            Some(bit) => {
                self.buffer.truncate(bit.div_ceil(8) as usize);
                self.is_cut = true;
            }
            None => *crowd -= self.found.len(),
        }
        Ok(())
    }
}

impl<S: Salvage> BufRead for Probe<'_, S> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.begin == self.buffer.len() && !self.is_cut {
            self.read_on()?;
        }
        Ok(&self.buffer[self.begin..])
    }

    fn consume(&mut self, amount: usize) {
        self.begin += amount;
    }
}

impl<S: Salvage> Read for Probe<'_, S> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let len = self.fill_buf()?.read(bytes)?;
        self.consume(len);
        Ok(len)
    }
}

/// A writer that holds contents up to a limit.
struct Held {
    bytes: Vec<u8>,
    limit: usize,
    is_full: bool,
}

impl Write for Held {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.is_full |= self.bytes.len() + bytes.len() > self.limit;
        if self.is_full {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
