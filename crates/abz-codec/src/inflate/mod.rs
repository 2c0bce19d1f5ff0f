//! Decoding of deflate ([RFC 1951]) step by step.
//!
//! [`Inflate`] takes input in pieces of any size, gives contents in pieces of any size, and always knows its place in
//! the stream to the bit. It accepts exactly what zlib accepts. It can begin at any bit at which a block begins, with
//! or without the window before it. Without the window it decodes into symbols of 16 bits, some of which are
//! [markers](MARKER) that stand for bytes of that window.
//!
//! [RFC 1951]: https://www.rfc-editor.org/rfc/rfc1951

pub(crate) mod bits;
mod damaged;
pub(crate) mod history;
mod lengths;
mod search;
pub(crate) mod table;

use bits::Bits;
pub use damaged::Damaged;
use history::History;
pub use history::{MARKER, Slot, WINDOW};
use lengths::Lengths;
pub use search::{Start, find_block};
use table::{DEEPER, END, LITERAL, SPECIAL, Tables, value};

use std::fmt;

use crate::system::{Loop, with_features};

/// A decoder of a deflate stream, into bytes or, if `T` is [`u16`], into bytes and markers.
///
/// ```
/// use abz_codec::inflate::{Inflate, Pause};
///
/// let mut inflate = Inflate::<u8>::new();
/// let mut contents = [0; 10];
/// let step = inflate.step(b"\xcb\x48\xcd\xc9\xc9\x07\0, and more", &mut contents)?;
/// assert_eq!((step.pause, step.consumed), (Pause::Ended, 7));
/// assert_eq!(&contents[..step.produced], b"hello");
/// # Ok::<(), abz_codec::inflate::Damaged>(())
/// ```
pub struct Inflate<T> {
    state: State,
    /// Whether the current block is the last one.
    is_last: bool,
    tables: Box<Tables>,
    lengths: Box<Lengths>,
    history: History<T>,
    /// The bits that were taken from the input and not used.
    held: (u64, u32),
    /// The number of bytes that were taken.
    taken: u64,
    /// The number of symbols that the last step wrote.
    produced: usize,
    /// The first bit of the stream from which on it stops before blocks.
    stop_at: u64,
    /// The bit at which it has stopped.
    stopped_at: u64,
}

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The number of bytes of the input that were used.
    pub consumed: usize,
    /// The number of bytes or symbols that were written.
    pub produced: usize,
    /// The reason why the step ended.
    pub pause: Pause,
}

/// The reason why a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// All input was used, and more is needed.
    Starved,
    /// The output is full.
    Full,
    /// The next bit begins a block at which it was to stop. The next step continues there.
    Block,
    /// The stream has ended. The next byte is behind it.
    Ended,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before the first block; so many bits of the first byte do not belong to the stream.
    Skip(u32),
    /// Before a block.
    Block,
    /// In the header of a stored block, before its length.
    StoredLen,
    /// In a stored block, of which so many bytes are left.
    Stored(usize),
    /// In the header of a block with dynamic codes.
    Lengths,
    /// In the literals and matches of a block.
    Symbols,
    /// In a block, with a literal that is not written yet.
    Literal(u8),
    /// In a block, with a match whose last `len` bytes are not written yet.
    Match {
        distance: usize,
        len: usize,
    },
    Ended,
}

impl<T: Slot> Inflate<T> {
    /// Creates a decoder at the start of a stream.
    pub fn new() -> Self {
        Inflate {
            state: State::Block,
            is_last: false,
            tables: Box::new(Tables::new()),
            lengths: Box::new(Lengths::new()),
            history: History::new(),
            held: (0, 0),
            taken: 0,
            produced: 0,
            stop_at: u64::MAX,
            stopped_at: u64::MAX,
        }
    }

    /// Begins another stream.
    pub fn reset(&mut self) {
        self.begin_at(0, &[]);
    }

    /// Begins at a block whose first bit is bit `bit`, 0 to 7, of the next byte of input. `window` is the contents
    /// before it.
    pub fn begin_at(&mut self, bit: u32, window: &[T]) {
        (self.state, self.is_last) = (State::Block, false);
        self.history.set(window);
        (self.stop_at, self.stopped_at) = (u64::MAX, u64::MAX);
        (self.held, self.taken) = ((0, 0), 0);
        if bit > 0 {
            self.state = State::Skip(bit);
        }
    }

    /// Makes it stop before each block that begins at bit `bit` of the stream or behind it, counted from the first byte
    /// of input.
    pub fn stop_at(&mut self, bit: u64) {
        self.stop_at = bit;
    }

    /// Returns the number of bits of the input that have been used.
    pub fn bit(&self) -> u64 {
        8 * self.taken - u64::from(self.held.1)
    }

    /// Returns the number of bits in the used bytes that are not decoded yet.
    pub(crate) fn bits_held(&self) -> u64 {
        self.held.1.into()
    }

    /// Returns whether the bits used so far cannot begin a stream, whatever follows. zlib finds that out some bits
    /// later, and so does a step; this is for callers that have no more bits.
    pub(crate) fn is_hopeless(&self) -> bool {
        self.state == State::Lengths && self.lengths.are_hopeless()
    }

    /// Continues with other contents as the history.
    fn with_history<U: Slot>(self, contents: &[U]) -> Inflate<U> {
        let mut history = History::new();
        history.set(contents);
        Inflate {
            state: self.state,
            is_last: self.is_last,
            tables: self.tables,
            lengths: self.lengths,
            history,
            held: self.held,
            taken: self.taken,
            produced: self.produced,
            stop_at: u64::MAX,
            stopped_at: u64::MAX,
        }
    }

    /// Returns the number of bytes or symbols that the last step wrote, even if it found damage behind them.
    pub fn produced(&self) -> usize {
        self.produced
    }

    /// Returns the number of bytes of the input that have been used, at least in part, or are held until more come.
    pub fn consumed(&self) -> u64 {
        self.taken
    }

    /// Returns the last contents, as far as they are known and later data may refer to them.
    pub fn window(&self) -> &[T] {
        self.history.last()
    }

    /// Decodes as much of `input` as fits into `output`. Bytes that are not used must come again, before the following
    /// ones.
    ///
    /// # Errors
    ///
    /// If the bits are no deflate data. [`Inflate::consumed`] returns where the invalid bits end. The contents before
    /// them are written, and [`Inflate::produced`] returns how many they are.
    pub fn step(&mut self, input: &[u8], output: &mut [T]) -> Result<Step, Damaged> {
        let mut bits = Bits::new(input, self.held);
        let mut at = 0;
        let pause = self.run(&mut bits, output, &mut at);
        self.history.push(&output[..at]);
        if pause != Ok(Pause::Starved) {
            bits.give_back();
        }
        self.held = bits.held();
        self.taken += bits.at as u64;
        self.produced = at;
        Ok(Step { consumed: bits.at, produced: at, pause: pause? })
    }

    fn run(&mut self, bits: &mut Bits<'_>, out: &mut [T], at: &mut usize) -> Result<Pause, Damaged> {
        loop {
            match self.state {
                State::Skip(len) => {
                    if bits.peek(len).is_none() {
                        return Ok(Pause::Starved);
                    }
                    bits.take(len);
                    self.state = State::Block;
                }
                State::Block => {
                    let bit = 8 * (self.taken + bits.at as u64) - u64::from(bits.count);
                    if bit >= self.stop_at && bit != self.stopped_at && !self.is_last {
                        self.stopped_at = bit;
                        return Ok(Pause::Block);
                    }
                    if self.is_last {
                        bits.align();
                        self.state = State::Ended;
                        continue;
                    }
                    let Some(header) = bits.peek(3) else { return Ok(Pause::Starved) };
                    bits.take(3);
                    self.is_last = header & 1 == 1;
                    match header >> 1 {
                        0 => {
                            bits.align();
                            self.state = State::StoredLen;
                        }
                        1 => {
                            self.tables.set_fixed();
                            self.state = State::Symbols;
                        }
                        2 => {
                            self.lengths.begin();
                            self.state = State::Lengths;
                        }
                        _ => return Err(Damaged),
                    }
                }
                State::StoredLen => {
                    let Some(lens) = bits.peek(32) else { return Ok(Pause::Starved) };
                    bits.take(32);
                    let len = lens & 0xffff;
                    if lens >> 16 != len ^ 0xffff {
                        return Err(Damaged);
                    }
                    self.state = State::Stored(len as usize);
                }
                State::Stored(0) => self.state = State::Block,
                State::Stored(len) => {
                    bits.give_back();
                    let len_now = len.min(out.len() - *at).min(bits.bytes.len() - bits.at);
                    if len_now == 0 {
                        return Ok(if *at == out.len() { Pause::Full } else { Pause::Starved });
                    }
                    bits.hold = 0;
                    let data = &bits.bytes[bits.at..][..len_now];
                    let places = out[*at..][..len_now].iter_mut();
                    places.zip(data).for_each(|(place, &byte)| *place = byte.into());
                    *at += len_now;
                    bits.at += len_now;
                    self.state = State::Stored(len - len_now);
                }
                State::Lengths => {
                    if !self.lengths.read(bits)? {
                        return Ok(Pause::Starved);
                    }
                    let (litlens, distances) = self.lengths.get();
                    self.tables.set(litlens, distances)?;
                    self.state = State::Symbols;
                }
                State::Symbols => {
                    if Loop::<T>::is_ready(bits, out.len() - *at) {
                        let (tables, history) = (&*self.tables, &self.history);
                        if with_features(Loop { tables, history, bits, out, at })? {
                            self.state = State::Block;
                            continue;
                        }
                    }
                    match self.symbol(bits, *at)? {
                        Some(state) => self.state = state,
                        None => return Ok(Pause::Starved),
                    }
                }
                State::Literal(literal) => {
                    let Some(place) = out.get_mut(*at) else { return Ok(Pause::Full) };
                    *place = literal.into();
                    *at += 1;
                    self.state = State::Symbols;
                }
                State::Match { distance, len } => {
                    if *at == out.len() {
                        return Ok(Pause::Full);
                    }
                    let len_now = len.min(out.len() - *at);
                    if distance > *at {
                        self.history.copy(out, *at, distance, len_now);
                    } else {
                        for to in *at..*at + len_now {
                            out[to] = out[to - distance];
                        }
                    }
                    *at += len_now;
                    self.state = match len - len_now {
                        0 => State::Symbols,
                        len => State::Match { distance, len },
                    };
                }
                State::Ended => return Ok(Pause::Ended),
            }
        }
    }

    /// Decodes one symbol and returns the next state; `None` if the symbol is incomplete.
    fn symbol(&self, bits: &mut Bits<'_>, at: usize) -> Result<Option<State>, Damaged> {
        bits.fill();
        let (mut hold, mut left) = (bits.hold, bits.count);
        let mut entry = self.tables.litlen(hold);
        if entry & (LITERAL | SPECIAL | DEEPER) == SPECIAL | DEEPER {
            entry = self.tables.litlen_deeper(entry, hold);
        }
        if entry & LITERAL != 0 {
            let len = entry & 63;
            if left < len {
                return Ok(None);
            }
            bits.take(len);
            return Ok(Some(State::Literal((entry >> 16) as u8)));
        }
        let mut used = entry & 63;
        if left < used {
            return Ok(None);
        }
        if entry & SPECIAL != 0 {
            bits.take(used);
            return if entry & END != 0 { Ok(Some(State::Block)) } else { Err(Damaged) };
        }
        let len = value(entry, hold);
        (hold, left) = (hold >> used, left - used);
        let mut entry = self.tables.distance(hold);
        if entry & DEEPER != 0 {
            entry = self.tables.distance_deeper(entry, hold);
        }
        if left < entry & 63 {
            return Ok(None);
        }
        used += entry & 63;
        bits.take(used);
        if entry & SPECIAL != 0 {
            return Err(Damaged);
        }
        let distance = value(entry, hold);
        if distance > at + self.history.len() {
            return Err(Damaged);
        }
        Ok(Some(State::Match { distance, len }))
    }
}

impl Inflate<u16> {
    /// Begins as [`begin_at`](Self::begin_at) does, but with an unknown window, for which markers stand.
    pub fn begin_unknown_at(&mut self, bit: u32) {
        let markers: Vec<u16> = (MARKER..=u16::MAX).collect();
        self.begin_at(bit, &markers);
    }

    /// Returns whether later data can no longer refer to markers.
    pub fn is_known(&self) -> bool {
        self.history.len() == WINDOW && self.history.last().iter().all(|&symbol| symbol < MARKER)
    }

    /// Continues with bytes, with the window that the markers stand for. It must have [`WINDOW`] bytes, unless the
    /// window of `self` [is known](Self::is_known).
    pub fn resolve(self, window: &[u8]) -> Inflate<u8> {
        let mut contents = Vec::new();
        resolve(self.history.last(), window, &mut contents);
        self.with_history(&contents)
    }
}

/// Appends the bytes that the symbols stand for to `out`. The window must have [`WINDOW`] bytes.
///
/// # Panics
///
/// If there are markers, and the window is shorter.
pub fn resolve(symbols: &[u16], window: &[u8], out: &mut Vec<u8>) {
    let mut bytes: Option<Box<[u8; 1 << 16]>> = None;
    out.reserve(symbols.len());
    for symbols in symbols.chunks(64) {
        // Chunks without markers are copied many symbols at once.
        if symbols.iter().fold(0, |all, &symbol| all | symbol) < MARKER {
            out.extend(symbols.iter().map(|&symbol| symbol as u8));
        } else {
            // Bytes and markers alternate at random, so a branch for each would cost more than the rest.
            let bytes = bytes.get_or_insert_with(|| bytes_of_symbols(window));
            out.extend(symbols.iter().map(|&symbol| bytes[usize::from(symbol)]));
        }
    }
}

/// Returns the byte that each symbol stands for.
fn bytes_of_symbols(window: &[u8]) -> Box<[u8; 1 << 16]> {
    let mut bytes = Box::new([0; 1 << 16]);
    (0..=u8::MAX).zip(&mut bytes[..]).for_each(|(byte, place)| *place = byte);
    bytes[usize::from(MARKER)..].copy_from_slice(window);
    bytes
}

impl<T: Slot> Default for Inflate<T> {
    fn default() -> Self {
        Inflate::new()
    }
}

impl<T> fmt::Debug for Inflate<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inflate")
            .field("state", &self.state)
            .field("taken", &self.taken)
            .finish_non_exhaustive()
    }
}
