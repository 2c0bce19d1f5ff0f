//! Decoding of pieces of one deflate stream without the pieces before. The result is a guess until those are decoded.
//!
//! pugz and rapidgzip decode a file on several threads in this way (Kerbiriou and Chikhi, 2019; Knespel and Brunst,
//! 2023).

use std::fmt;

use crate::inflate::{Inflate, MARKER, Pause, Start, WINDOW, find_block, resolve};

/// The size in bytes of the smallest piece that is worth a guess. Blocks have up to some tens of thousands of bytes,
/// and the first one of a piece does not begin at its start.
const LEAST: usize = 32 << 10;

/// The most memory that the contents of a guess take, in bytes.
const MOST: usize = 3 << 20;

/// The number of symbols that are decoded at once.
const STEP: usize = 64 << 10;

/// A guesser, which decodes pieces of deflate data. It keeps its buffers, so use one per worker for many pieces.
pub struct Guesser {
    symbols: Vec<u16>,
}

/// The contents of a piece of deflate data, if a block begins at the place that was assumed. A
/// [`Scanner`](super::Scanner) verifies that.
pub struct Guess {
    pub(super) start: Start,
    /// The number of bytes of the piece that were used.
    pub(super) taken: usize,
    symbols: Vec<u16>,
    data: Vec<u8>,
    pub(super) end: End,
}

/// The state of the decoder behind the contents.
pub(super) enum End {
    Symbols(Inflate<u16>),
    Bytes(Inflate<u8>),
}

/// The contents of a part of a stream, and the contents before them to which they refer.
pub struct Guessed {
    symbols: Vec<u16>,
    data: Vec<u8>,
    window: Vec<u8>,
}

impl Guesser {
    /// Creates a guesser.
    pub fn new() -> Self {
        Guesser { symbols: Vec::new() }
    }

    /// Decodes a piece of a file from the first place where a block seems to begin, as far as the memory allows.
    /// Returns `None` if there is no such place, or if the piece is short.
    pub fn guess(&mut self, piece: &[u8]) -> Option<Guess> {
        if piece.len() < LEAST {
            return None;
        }
        // Damaged data means that no block begins there. That is found out soon, unless the file itself is damaged.
        let (mut from, mut left) = (0, MOST);
        while let Some(start) = find_block(piece, from) {
            match self.decode(piece, start, &mut left) {
                Some(guess) => return Some(guess),
                None if left == 0 => return None,
                None => from = start.bit + 1,
            }
        }
        None
    }

    /// Decodes from the place `start` on; `None` if the data is damaged.
    fn decode(&mut self, piece: &[u8], start: Start, left: &mut usize) -> Option<Guess> {
        let mut inflate = Inflate::<u16>::new();
        inflate.begin_unknown_at((start.bit % 8) as u32);
        let (mut symbols, mut len) = (std::mem::take(&mut self.symbols), 0);
        let mut taken = (start.bit / 8) as usize;
        let mut is_over = false;
        while !is_over && !inflate.is_known() && 2 * (len + STEP) <= MOST {
            if symbols.len() < len + STEP {
                symbols.resize(len + STEP, 0);
            }
            let Ok(step) = inflate.step(&piece[taken..], &mut symbols[len..len + STEP]) else {
                *left = left.saturating_sub(2 * (len + STEP));
                self.symbols = symbols;
                return None;
            };
            (taken, len) = (taken + step.consumed, len + step.produced);
            is_over = matches!(step.pause, Pause::Starved | Pause::Ended);
        }
        symbols.truncate(len);
        let mut data = Vec::new();
        let end = if is_over || !inflate.is_known() {
            End::Symbols(inflate)
        } else {
            let mut inflate = inflate.resolve(&[]);
            let mut filled = 0;
            while !is_over && 2 * len + filled + STEP <= MOST {
                data.resize(filled + STEP, 0);
                let Ok(step) = inflate.step(&piece[taken..], &mut data[filled..]) else {
                    *left = left.saturating_sub(2 * len + filled + STEP);
                    self.symbols = symbols;
                    return None;
                };
                (taken, filled) = (taken + step.consumed, filled + step.produced);
                is_over = matches!(step.pause, Pause::Starved | Pause::Ended);
            }
            data.truncate(filled);
            End::Bytes(inflate)
        };
        Some(Guess { start, taken, symbols, data, end })
    }
}

impl Guess {
    /// Returns whether the guess refers only to a window of `window` bytes before it.
    pub(super) fn fits(&self, window: usize) -> bool {
        let least = u16::try_from(WINDOW - window.min(WINDOW)).expect("a window has 32 KiB");
        least == 0 || self.symbols.iter().all(|&symbol| symbol < MARKER || symbol - MARKER >= least)
    }

    /// Returns the decoder that continues behind the guess, and the contents of the guess. `before` is the window
    /// before it.
    pub(super) fn accept(self, before: &[u8]) -> (Inflate<u8>, Guessed) {
        let mut window = vec![0; WINDOW - before.len()];
        window.extend_from_slice(before);
        let inflate = match self.end {
            End::Symbols(inflate) => inflate.resolve(&window),
            End::Bytes(inflate) => inflate,
        };
        (inflate, Guessed { symbols: self.symbols, data: self.data, window })
    }
}

impl Guessed {
    /// Replaces the contents of `data` by those of the guess. Returns their CRC-32.
    pub fn resolve_into(&self, data: &mut Vec<u8>) -> u32 {
        data.clear();
        data.reserve(self.symbols.len() + self.data.len());
        resolve(&self.symbols, &self.window, data);
        data.extend_from_slice(&self.data);
        libdeflater::crc32(data)
    }
}

impl Default for Guesser {
    fn default() -> Self {
        Guesser::new()
    }
}

impl fmt::Debug for Guesser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guesser").finish_non_exhaustive()
    }
}

impl fmt::Debug for Guess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guess")
            .field("start", &self.start)
            .field("taken", &self.taken)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Guessed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guessed").finish_non_exhaustive()
    }
}
