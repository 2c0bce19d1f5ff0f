//! Decoding of LZMA data with sync flush markers, step by step.
//!
//! lzlib writes such a marker where its caller flushes a member that goes on (`LZ_compress_sync_flush`). It is a match
//! of three bytes at the greatest distance; a match of two bytes at that distance ends the data. All bytes that the
//! range coder has held back follow the marker. Then the range coder starts again, with all other state unchanged. lzip
//! and lzlib read such members. liblzma takes each marker for the end of the data, so these members are decoded here.
//! The source is *Lzip Compressed Format*: section 3 describes the markers, and the reference decoder everything else.

mod model;

use model::{Coder, Context, Model, SHORTEST_MATCH, State, Symbol};

use super::error::Fault;
use crate::memory::grow;

/// The distance of a marker, and the lengths of both kinds of marker.
const MARKER: u32 = u32::MAX;
const END: u32 = SHORTEST_MATCH;
const SYNC_FLUSH: u32 = SHORTEST_MATCH + 1;
/// The size of the window at first, in bytes. No dictionary is smaller.
const FIRST_WINDOW: usize = 4 << 10;
/// The number of bytes with which the range coder starts. The first of them is ignored.
const START: usize = 5;
/// The largest number of bytes that a symbol takes.
const LONGEST_SYMBOL: usize = 21;

/// A decoder of the LZMA data of one member.
pub(super) struct Flushed {
    model: Box<Model>,
    range: u32,
    code: u32,
    /// Whether the range coder starts with the next bytes.
    is_beginning: bool,
    /// The first bytes of a symbol, or of a start of the range coder, that is not complete yet.
    held: Vec<u8>,
    /// The largest size of the window in bytes.
    dictionary: usize,
    /// The last bytes of the contents: all of them until there are as many as the dictionary has, and then a ring
    /// buffer.
    window: Vec<u8>,
    past: Past,
    consumed: u64,
    produced: u64,
    has_more: bool,
}

/// The state that depends on the symbols before.
#[derive(Clone, Copy, Default)]
struct Past {
    state: State,
    /// The last four distances, the latest first.
    distances: [u32; 4],
    /// The index of the next byte in the window.
    at: usize,
    /// Whether the window has its full size and was filled once.
    is_full: bool,
    /// The number of bytes of the last match that did not fit.
    left: usize,
}

/// The result of a step.
pub(super) struct Step {
    /// The number of bytes of the output that were written.
    pub(super) produced: usize,
    /// Whether the data has ended, right before the rest of the input.
    pub(super) ended: bool,
}

/// The reason why decoding has stopped.
enum Pause {
    /// The output is full.
    Full,
    /// All of the input was taken, and more is needed.
    Starved,
    /// The data has ended.
    Ended,
}

/// The bytes of one symbol.
struct Whole {
    bytes: [u8; LONGEST_SYMBOL],
    len: usize,
}

impl Flushed {
    /// Creates a decoder of data with a dictionary of `dictionary` bytes.
    pub(super) fn new(dictionary: u32) -> Self {
        Flushed {
            dictionary: dictionary as usize,
            model: Box::new(Model::new()),
            range: 0,
            code: 0,
            is_beginning: true,
            held: Vec::new(),
            window: Vec::new(),
            past: Past::default(),
            consumed: 0,
            produced: 0,
            has_more: false,
        }
    }

    /// Decodes as much of `input` as fits into `output`, and removes the processed bytes from the front of `input`.
    ///
    /// # Errors
    ///
    /// If the data is damaged, or if the system does not provide the memory of the window. [`consumed`](Self::consumed)
    /// and [`produced`](Self::produced) tell how far the decoder came.
    pub(super) fn step(&mut self, input: &mut &[u8], mut output: &mut [u8]) -> Result<Step, Fault> {
        let before = self.produced;
        loop {
            self.make_window()?;
            let (start, room) = (self.past.at, output.len());
            let pause = self.decode(input, start.saturating_add(room).min(self.window.len()));
            let (filled, rest) = output.split_at_mut(self.past.at - start);
            filled.copy_from_slice(&self.window[start..self.past.at]);
            self.produced += filled.len() as u64;
            output = rest;
            if self.past.at == self.dictionary {
                (self.past.at, self.past.is_full) = (0, true);
            }
            let pause = pause?;
            self.has_more = matches!(pause, Pause::Full);
            if !self.has_more || output.is_empty() {
                let ended = matches!(pause, Pause::Ended);
                return Ok(Step { produced: (self.produced - before) as usize, ended });
            }
        }
    }

    /// Enlarges the window if it is full and may grow.
    fn make_window(&mut self) -> Result<(), Fault> {
        let len = self.window.len();
        if self.past.at < len {
            return Ok(());
        }
        let len = (4 * len).clamp(FIRST_WINDOW, self.dictionary);
        Ok(grow(&mut self.window, len)?)
    }

    /// Returns whether the last step may have stopped only because the output was full.
    pub(super) fn has_more(&self) -> bool {
        self.has_more
    }

    /// Returns the number of bytes of the data that were taken.
    pub(super) fn consumed(&self) -> u64 {
        self.consumed
    }

    /// Returns the number of bytes of contents that were decoded.
    pub(super) fn produced(&self) -> u64 {
        self.produced
    }

    /// Decodes until the window is filled up to `limit`.
    fn decode(&mut self, input: &mut &[u8], limit: usize) -> Result<Pause, Fault> {
        self.past.repeat(&mut self.window, limit);
        loop {
            if self.is_beginning && !self.begin(input) {
                return Ok(Pause::Starved);
            }
            if self.past.at == limit {
                return Ok(Pause::Full);
            }
            let marker = if self.held.is_empty() && input.len() >= LONGEST_SYMBOL {
                self.symbols(input, limit, LONGEST_SYMBOL)?
            } else if let Some(symbol) = self.next_symbol(input) {
                self.symbols(&mut &symbol.bytes[..symbol.len], limit, usize::MAX)?
            } else {
                return Ok(Pause::Starved);
            };
            match marker {
                None => {}
                // The last bytes of the range coder must make its code zero.
                Some(_) if self.code != 0 => return Err(Fault::Lzma),
                Some(END) => return Ok(Pause::Ended),
                Some(SYNC_FLUSH) => self.is_beginning = true,
                Some(_) => return Err(Fault::Lzma),
            }
        }
    }

    /// Takes the bytes with which the range coder starts. Returns `false` if there are not enough yet.
    fn begin(&mut self, input: &mut &[u8]) -> bool {
        let missing = (START - self.held.len()).min(input.len());
        self.hold(input, missing);
        let Some(&[_, code @ ..]) = self.held.first_chunk::<START>() else { return false };
        (self.range, self.code) = (u32::MAX, u32::from_be_bytes(code));
        self.held.clear();
        self.is_beginning = false;
        true
    }

    fn hold(&mut self, input: &mut &[u8], len: usize) {
        let (taken, rest) = input.split_at(len);
        self.held.extend_from_slice(taken);
        *input = rest;
        self.consumed += len as u64;
    }

    /// Takes the bytes of the next symbol. If there are not enough, holds the available ones and returns `None`.
    fn next_symbol(&mut self, input: &mut &[u8]) -> Option<Whole> {
        let had = self.held.len();
        let more = input.len().min(LONGEST_SYMBOL - had);
        let mut whole = Whole { bytes: [0; LONGEST_SYMBOL], len: had + more };
        whole.bytes[..had].copy_from_slice(&self.held);
        whole.bytes[had..whole.len].copy_from_slice(&input[..more]);
        // The symbol is read without learning, so that it can be read again.
        let bytes = &whole.bytes[..whole.len];
        let mut coder = Coder::<false> { range: self.range, code: self.code, bytes, is_starved: false };
        let symbol = self.model.symbol(&mut coder, &self.past.context(&self.window));
        if let Symbol::Match { distance: MARKER, .. } = symbol {
            coder.normalize();
        }
        if coder.is_starved {
            self.hold(input, more);
            return None;
        }
        let rest = coder.bytes.len();
        whole.len -= rest;
        *input = &input[more - rest..];
        self.held.clear();
        // These bytes are counted again when the symbol is read.
        self.consumed -= had as u64;
        Some(whole)
    }

    /// Decodes one symbol, and more while there are `enough` bytes and the window has room up to `limit`. Stops behind
    /// a marker and returns its length.
    fn symbols(&mut self, input: &mut &[u8], limit: usize, enough: usize) -> Result<Option<u32>, Fault> {
        let mut coder = Coder::<true> { range: self.range, code: self.code, bytes: input, is_starved: false };
        // Local copies, because the processor keeps in registers only what no reference reaches.
        let (model, window) = (&mut *self.model, &mut self.window[..]);
        let mut past = self.past;
        let found = loop {
            let symbol = model.symbol(&mut coder, &past.context(window));
            if let Symbol::Match { len, distance: MARKER } = symbol {
                coder.normalize();
                break Ok(Some(len));
            }
            if past.apply(window, symbol, limit).is_err() {
                break Err(Fault::Lzma);
            }
            if coder.bytes.len() < enough || past.at == limit {
                break Ok(None);
            }
        };
        self.past = past;
        self.consumed += (input.len() - coder.bytes.len()) as u64;
        (self.range, self.code, *input) = (coder.range, coder.code, coder.bytes);
        found
    }
}

impl Past {
    #[inline(always)]
    fn context(&self, window: &[u8]) -> Context<impl Fn() -> u8> {
        Context {
            state: self.state,
            position: self.at,
            previous: self.behind(window, 0),
            matched: || self.behind(window, self.distances[0]),
        }
    }

    /// Returns the byte at a distance; 0 if that is before the start of the contents.
    #[inline(always)]
    fn behind(&self, window: &[u8], distance: u32) -> u8 {
        let distance = distance as usize;
        let at = if distance < self.at { self.at } else { self.at + window.len() };
        window[at - 1 - distance]
    }

    /// Appends the bytes of a symbol, which must be no marker.
    #[inline(always)]
    fn apply(&mut self, window: &mut [u8], symbol: Symbol, limit: usize) -> Result<(), Fault> {
        let len = match symbol {
            Symbol::Literal(byte) => {
                window[self.at] = byte;
                self.at += 1;
                self.state = self.state.literal();
                return Ok(());
            }
            Symbol::Byte => {
                self.state = self.state.byte();
                1
            }
            Symbol::Match { len, distance } => {
                self.distances = [distance, self.distances[0], self.distances[1], self.distances[2]];
                self.state = self.state.matched();
                len
            }
            Symbol::Repetition { len, which } => {
                let [a, b, c, d] = self.distances;
                self.distances = match which {
                    0 => [a, b, c, d],
                    1 => [b, a, c, d],
                    2 => [c, a, b, d],
                    _ => [d, a, b, c],
                };
                self.state = self.state.repetition();
                len
            }
        };
        let there = if self.is_full { window.len() } else { self.at };
        if self.distances[0] as usize >= there {
            return Err(Fault::Lzma);
        }
        self.left = len as usize;
        self.repeat(window, limit);
        Ok(())
    }

    /// Appends the rest of a match, up to `limit`.
    #[inline(always)]
    fn repeat(&mut self, window: &mut [u8], limit: usize) {
        let len = self.left.min(limit - self.at);
        self.left -= len;
        let (distance, to) = (self.distances[0] as usize + 1, self.at);
        self.at += len;
        if distance <= to && len <= distance {
            window.copy_within(to - distance..to - distance + len, to);
            return;
        }
        let size = window.len();
        let mut from = if distance <= to { to - distance } else { to + size - distance };
        for at in to..to + len {
            window[at] = window[from];
            from = if from + 1 == size { 0 } else { from + 1 };
        }
    }
}
