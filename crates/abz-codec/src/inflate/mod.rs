//! Deflate ([RFC 1951]) decoded step by step.
//!
//! [`Inflate`] takes input in pieces of any size, gives contents in pieces of any size, and knows at each moment at which bit
//! of the stream it is. It takes exactly what zlib takes. It can begin at any bit where a block does, with a window of what
//! comes before, or without: then it decodes into symbols of 16 bits, of which some are [markers](MARKER) that stand for bytes
//! of that window.
//!
//! [RFC 1951]: https://www.rfc-editor.org/rfc/rfc1951

pub(crate) mod bits;
pub(crate) mod history;
mod lengths;
mod search;
pub(crate) mod table;

use bits::Bits;
use history::History;
pub use history::{MARKER, Slot, WINDOW};
use lengths::Lengths;
pub use search::{Start, find_block};
use table::{DEEPER, END, LITERAL, SPECIAL, Tables, value};

use std::fmt;

use thiserror::Error;

use crate::system::{Loop, with_features};

/// The bits are no deflate data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("expected deflate data, found invalid bits")]
pub struct Damaged;

/// Decodes a deflate stream, into bytes or, where `T` is [`u16`], into bytes and markers.
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
    /// The block is the last one.
    is_last: bool,
    tables: Box<Tables>,
    lengths: Box<Lengths>,
    history: History<T>,
    /// Bits that were taken from the input and not used.
    held: (u64, u32),
    /// How many bytes were taken.
    taken: u64,
    /// What the last step wrote.
    produced: usize,
    /// It stops before blocks from this bit on.
    stop_at: u64,
    /// It has stopped there.
    stopped_at: u64,
}

/// What one step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Bytes of the input that were used.
    pub consumed: usize,
    /// Bytes or symbols that were written.
    pub produced: usize,
    /// Why it is over.
    pub pause: Pause,
}

/// Why a step is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// All input was used, and more is needed.
    Starved,
    /// There is no room for more.
    Full,
    /// The next bit begins a block at which it was to stop. The next step goes on there.
    Block,
    /// The stream has ended, and the next byte is behind it.
    Ended,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before the bits of the first byte that are not of this stream, so many.
    Skip(u32),
    /// Before a block.
    Block,
    /// In its header, before the lengths of stored data.
    StoredLen,
    /// In stored data, of which so many bytes are left.
    Stored(usize),
    /// In the header of a block with codes of its own.
    Lengths,
    /// In literals and matches.
    Symbols,
    /// There, with a literal that is not yet written.
    Literal(u8),
    /// There, with a match of which so much is not yet written.
    Match {
        distance: usize,
        len: usize,
    },
    Ended,
}

impl<T: Slot> Inflate<T> {
    /// A decoder at the start of a stream.
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

    /// Begins with another stream.
    pub fn reset(&mut self) {
        self.begin_at(0, &[]);
    }

    /// Begins at a block whose first bit is this one of the next byte of input, from 0 to 7, and which comes after `window`.
    pub fn begin_at(&mut self, bit: u32, window: &[T]) {
        (self.state, self.is_last) = (State::Block, false);
        self.history.set(window);
        (self.stop_at, self.stopped_at) = (u64::MAX, u64::MAX);
        (self.held, self.taken) = ((0, 0), 0);
        if bit > 0 {
            self.state = State::Skip(bit);
        }
    }

    /// Stops before each block that begins at this bit of the stream, counted from the first byte that was given, or behind it.
    pub fn stop_at(&mut self, bit: u64) {
        self.stop_at = bit;
    }

    /// How many bits of the input have been used.
    pub fn bit(&self) -> u64 {
        8 * self.taken - u64::from(self.held.1)
    }

    /// How many bits of the bytes that have been used are those of what comes next.
    pub(crate) fn bits_held(&self) -> u64 {
        self.held.1.into()
    }

    /// True if what was used so far cannot be the start of a stream, whatever follows. zlib finds that out some bits later, and so
    /// does a step; this is for those who have no more bits.
    pub(crate) fn is_hopeless(&self) -> bool {
        self.state == State::Lengths && self.lengths.are_hopeless()
    }

    /// Goes on behind other contents than these, of another kind.
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

    /// How many bytes or symbols the last step wrote, also if it found damage behind them.
    pub fn produced(&self) -> usize {
        self.produced
    }

    /// How many bytes of the input have been used, at least in part, or are held until more come.
    pub fn consumed(&self) -> u64 {
        self.taken
    }

    /// The last contents, as far as they are known and others may refer to them.
    pub fn window(&self) -> &[T] {
        self.history.last()
    }

    /// Decodes as much of `input` as fits into `output`. What it does not use has to come again, before what follows.
    ///
    /// # Errors
    ///
    /// If the bits are no deflate data. [`Inflate::consumed`] tells the end of what is wrong. What was written before it is
    /// right, and [`Inflate::produced`] tells how much it is.
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

    /// Decodes one symbol and gives what is to be done; `None` if it is not whole.
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
    /// Begins as [`begin_at`](Self::begin_at), where the window is not known: markers stand for it.
    pub fn begin_unknown_at(&mut self, bit: u32) {
        let markers: Vec<u16> = (MARKER..=u16::MAX).collect();
        self.begin_at(bit, &markers);
    }

    /// True if no marker is left that others may refer to.
    pub fn is_known(&self) -> bool {
        self.history.len() == WINDOW && self.history.last().iter().all(|&symbol| symbol < MARKER)
    }

    /// Goes on with bytes, now that the window is known that the markers stand for. It has [`WINDOW`] bytes, or `self`
    /// [is known](Self::is_known).
    pub fn resolve(self, window: &[u8]) -> Inflate<u8> {
        let mut contents = Vec::new();
        resolve(self.history.last(), window, &mut contents);
        self.with_history(&contents)
    }
}

/// Appends to `out` the bytes that symbols stand for, with this window of [`WINDOW`] bytes.
///
/// # Panics
///
/// If there are markers, and the window is shorter.
pub fn resolve(symbols: &[u16], window: &[u8], out: &mut Vec<u8>) {
    for symbols in symbols.chunks(64) {
        // Most have no markers; that is looked at, and they are copied, many at once.
        if symbols.iter().fold(0, |all, &symbol| all | symbol) < MARKER {
            out.extend(symbols.iter().map(|&symbol| symbol as u8));
        } else {
            out.extend(symbols.iter().map(|&symbol| match symbol.checked_sub(MARKER) {
                None => symbol as u8,
                Some(place) => window[usize::from(place)],
            }));
        }
    }
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
