//! The bits of a scan (T.81, F.2.2.5). A byte of ones is followed by a zero byte, or it begins a marker.

use crate::{Error, Result};

use super::huffman::Huffman;
use super::stream::Stream;

/// Reads the bits of a scan.
///
/// If the scan has no more bits, zeros follow, and [`check`](Self::check) returns an error. So one check for each block
/// is enough.
#[derive(Debug)]
pub(super) struct Bits<'a> {
    pub(super) stream: Stream<'a>,
    /// The next bits. The first is the highest.
    ahead: u64,
    count: u32,
    /// No bits follow those in `ahead`: a marker, or the end of the file.
    is_last: bool,
    fault: Option<&'static str>,
}

impl<'a> Bits<'a> {
    pub(super) fn new(stream: Stream<'a>) -> Self {
        Self { stream, ahead: 0, count: 0, is_last: false, fault: None }
    }

    /// Drops the remaining bits of the last byte, before a marker.
    pub(super) fn align(&mut self) {
        (self.ahead, self.count, self.is_last) = (0, 0, false);
    }

    /// Takes the marker for a restart.
    pub(super) fn restart(&mut self, number: u8) -> Result<()> {
        // All bits of the scan were taken, so the stream is at the marker, or the scan has surplus bits.
        let whole = self.count / 8;
        self.align();
        let bytes = self.stream.look(2)?;
        let expected = 0xd0 + number;
        match bytes {
            [0xff, marker, ..] if whole == 0 && *marker == expected => {
                self.stream.skip(2);
                Ok(())
            }
            [] | [_] => Err(self.stream.ended()),
            _ => Err(self
                .stream
                .error(format!("expected the restart marker FF {expected:02X}; the file is damaged"))),
        }
    }

    /// Makes at least 48 bits ready, if the scan has so many.
    #[inline]
    fn refill(&mut self) -> Result<()> {
        if self.count < 48 && !self.is_last { self.refill_slowly() } else { Ok(()) }
    }

    fn refill_slowly(&mut self) -> Result<()> {
        let bytes = self.stream.look(24)?;
        if let Some(next) = bytes.first_chunk::<8>() {
            let next = u64::from_be_bytes(*next);
            // A byte of ones is a zero byte of the complement.
            let ones = (!next).wrapping_sub(0x0101_0101_0101_0101) & next & 0x8080_8080_8080_8080;
            if ones == 0 {
                let taken = (64 - self.count) / 8;
                self.ahead |= next >> self.count;
                self.count += 8 * taken;
                // Bits of a byte that is not taken would be added twice.
                if self.count < 64 {
                    self.ahead &= !(u64::MAX >> self.count);
                }
                self.stream.skip(taken as usize);
                return Ok(());
            }
        }
        let mut used = 0;
        while self.count <= 56 {
            let (byte, length) = match bytes[used..] {
                [0xff, 0, ..] => (0xff, 2),
                [0xff, ..] | [] => {
                    self.is_last = true;
                    break;
                }
                [byte, ..] => (byte, 1),
            };
            self.ahead |= u64::from(byte) << (56 - self.count);
            self.count += 8;
            used += length;
        }
        self.stream.skip(used);
        Ok(())
    }

    /// Returns the next `count` bits, from 0 to 16, without taking them.
    #[inline]
    fn peek(&self, count: u32) -> u32 {
        (self.ahead >> 48) as u32 >> (16 - count)
    }

    #[inline]
    fn take(&mut self, count: u32) {
        if count > self.count {
            self.fault = Some("the scan ends early; the file is damaged or cut");
            (self.ahead, self.count) = (0, 0);
            return;
        }
        self.ahead <<= count;
        self.count -= count;
    }

    /// Takes the next symbol. Behind it at least 32 bits are ready, if the scan has so many.
    #[inline]
    pub(super) fn symbol(&mut self, table: &Huffman) -> Result<u8> {
        self.refill()?;
        let Some((length, symbol)) = table.find(self.peek(16)) else {
            self.fault = Some("a code that the Huffman table does not have; the file is damaged");
            return Ok(0);
        };
        self.take(length);
        Ok(symbol)
    }

    /// Takes the next `count` bits, from 0 to 16, as a number. The caller has taken a symbol just before.
    #[inline]
    pub(super) fn after_symbol(&mut self, count: u32) -> u32 {
        let bits = self.peek(count);
        self.take(count);
        bits
    }

    /// Takes the next `count` bits, from 0 to 16, as a number.
    #[inline]
    pub(super) fn number(&mut self, count: u32) -> Result<u32> {
        self.refill()?;
        Ok(self.after_symbol(count))
    }

    /// Takes `size` bits behind a symbol, and returns the number that they stand for (T.81, figure F.12).
    #[inline]
    pub(super) fn signed(&mut self, size: u32) -> i32 {
        let bits = self.after_symbol(size) as i32;
        let half = 1 << size >> 1;
        if bits < half { bits - (1 << size) + 1 } else { bits }
    }

    /// Records that the bits are not valid.
    #[cold]
    pub(super) fn damaged(&mut self, what: &'static str) {
        self.fault = self.fault.or(Some(what));
    }

    /// Returns the error of the bits that were read since the last call.
    #[inline]
    pub(super) fn check(&mut self) -> Result<()> {
        if self.fault.is_some() { Err(self.failed()) } else { Ok(()) }
    }

    #[cold]
    fn failed(&mut self) -> Error {
        match self.stream.look(1) {
            Err(error) => error,
            Ok([]) => self.stream.ended(),
            Ok(_) => self.stream.error(self.fault.unwrap_or("the file is damaged")),
        }
    }
}
