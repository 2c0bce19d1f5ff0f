//! Decoding of pieces of one deflate stream without the pieces before. The result is a guess until those are decoded.
//!
//! pugz and rapidgzip decode a file on several threads in this way (Kerbiriou and Chikhi, 2019; Knespel and Brunst,
//! 2023).

use std::fmt;
use std::ops::{Deref, DerefMut};

use crate::inflate::{Inflate, MARKER, Pause, Start, WINDOW, find_block, resolve};

/// The size in bytes of the smallest piece that is worth a guess. Blocks have up to some tens of thousands of bytes,
/// and the first one of a piece does not begin at its start.
const LEAST: usize = 32 << 10;

/// The number of symbols of a buffer for [`Guess::of`]. They take 3 MiB, as far as they are used.
pub const SYMBOLS: usize = MOST / 2;

/// The most memory that the contents of a guess take, in bytes.
const MOST: usize = 3 << 20;

/// The number of symbols that are decoded at once.
const STEP: usize = 64 << 10;

/// The contents of a piece of deflate data, if a block begins at the place that was assumed. A
/// [`Scanner`](super::Scanner) verifies that.
pub struct Guess<S = Vec<u16>> {
    pub(super) start: Start,
    /// The number of bytes of the piece that were used.
    pub(super) taken: usize,
    /// The first `len` of these symbols are contents.
    symbols: S,
    len: usize,
    data: Vec<u8>,
    pub(super) end: End,
}

/// The state of the decoder behind the contents.
pub(super) enum End {
    Symbols(Inflate<u16>),
    Bytes(Inflate<u8>),
}

/// The contents of a part of a stream, and the contents before them to which they refer.
pub struct Guessed<S = Vec<u16>> {
    symbols: S,
    len: usize,
    data: Vec<u8>,
    window: Vec<u8>,
}

impl<S: DerefMut<Target = [u16]>> Guess<S> {
    /// Decodes a piece of a file from the first place where a block seems to begin, as far as the buffer `symbols` allows,
    /// whose contents are dropped. It has [`SYMBOLS`] symbols, or fewer if a part of the piece is enough. Returns `None` if
    /// there is no such place, or if the piece is short.
    pub fn of(piece: &[u8], mut symbols: S) -> Option<Self> {
        if piece.len() < LEAST {
            return None;
        }
        // Damaged data means that no block begins there. That is found out soon, unless the file itself is damaged.
        let (mut from, mut left) = (0, MOST);
        while let Some(start) = find_block(piece, from) {
            match decode(piece, start, &mut symbols, &mut left) {
                Some((taken, len, data, end)) => {
                    return Some(Guess { start, taken, symbols, len, data, end });
                }
                None if left == 0 => return None,
                None => from = start.bit + 1,
            }
        }
        None
    }

    /// Returns whether the guess refers only to a window of `window` bytes before it.
    pub(super) fn fits(&self, window: usize) -> bool {
        let least = u16::try_from(WINDOW - window.min(WINDOW)).expect("a window has 32 KiB");
        least == 0
            || self.symbols[..self.len].iter().all(|&symbol| symbol < MARKER || symbol - MARKER >= least)
    }

    /// Returns the decoder that continues behind the guess, and the contents of the guess. `before` is the window
    /// before it.
    pub(super) fn accept(self, before: &[u8]) -> (Inflate<u8>, Guessed<S>) {
        let mut window = vec![0; WINDOW - before.len()];
        window.extend_from_slice(before);
        let inflate = match self.end {
            End::Symbols(inflate) => inflate.resolve(&window),
            End::Bytes(inflate) => inflate,
        };
        (inflate, Guessed { symbols: self.symbols, len: self.len, data: self.data, window })
    }
}

/// Decodes from the place `start` on. Returns the number of bytes that were used, the number of symbols, the bytes after them,
/// and the state of the decoder; `None` if the data is damaged.
fn decode(
    piece: &[u8],
    start: Start,
    symbols: &mut [u16],
    left: &mut usize,
) -> Option<(usize, usize, Vec<u8>, End)> {
    let mut inflate = Inflate::<u16>::new();
    inflate.begin_unknown_at((start.bit % 8) as u32);
    let (mut taken, mut len) = ((start.bit / 8) as usize, 0);
    let mut is_over = false;
    while !is_over && !inflate.is_known() && len < symbols.len() {
        let room = STEP.min(symbols.len() - len);
        let Ok(step) = inflate.step(&piece[taken..], &mut symbols[len..len + room]) else {
            *left = left.saturating_sub(2 * (len + room));
            return None;
        };
        (taken, len) = (taken + step.consumed, len + step.produced);
        is_over = matches!(step.pause, Pause::Starved | Pause::Ended);
    }
    let mut data = Vec::new();
    if is_over || !inflate.is_known() {
        return Some((taken, len, data, End::Symbols(inflate)));
    }
    let mut inflate = inflate.resolve(&[]);
    let mut filled = 0;
    while !is_over && 2 * len + filled + STEP <= MOST {
        data.resize(filled + STEP, 0);
        let Ok(step) = inflate.step(&piece[taken..], &mut data[filled..]) else {
            *left = left.saturating_sub(2 * len + filled + STEP);
            return None;
        };
        (taken, filled) = (taken + step.consumed, filled + step.produced);
        is_over = matches!(step.pause, Pause::Starved | Pause::Ended);
    }
    data.truncate(filled);
    Some((taken, len, data, End::Bytes(inflate)))
}

impl<S: Deref<Target = [u16]>> Guessed<S> {
    /// Replaces the contents of `data` by those of the guess. Returns their CRC-32.
    pub fn resolve_into(&self, data: &mut Vec<u8>) -> u32 {
        data.clear();
        data.reserve(self.len + self.data.len());
        resolve(&self.symbols[..self.len], &self.window, data);
        data.extend_from_slice(&self.data);
        libdeflater::crc32(data)
    }
}

impl<S> fmt::Debug for Guess<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guess")
            .field("start", &self.start)
            .field("taken", &self.taken)
            .finish_non_exhaustive()
    }
}

impl<S> fmt::Debug for Guessed<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guessed").finish_non_exhaustive()
    }
}
