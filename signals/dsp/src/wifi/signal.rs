//! The SIGNAL field: rate and length of a frame (IEEE Std 802.11-2020, 17.3.4).

use std::fmt;

use super::rate::Rate;

/// The number of bits of the field.
pub const BITS: usize = 24;

/// The contents of the field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signal {
    /// The rate of the frame.
    pub rate: Rate,
    /// The bytes of the frame with its check sequence, from 1 to 4,095.
    pub bytes: usize,
}

/// The reason why a field is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignalError {
    /// The parity bit is wrong.
    Parity,
    /// The reserved bit or a tail bit is 1.
    Reserved,
    /// No rate has this code.
    Rate(u8),
    /// The length is 0.
    Empty,
}

impl fmt::Display for SignalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parity => f.write_str("the parity of its SIGNAL field is wrong"),
            Self::Reserved => f.write_str("bits of its SIGNAL field that must be 0 are 1"),
            Self::Rate(code) => write!(f, "its SIGNAL field has the rate {code:04b}, which means nothing"),
            Self::Empty => f.write_str("its SIGNAL field has the length 0"),
        }
    }
}

impl Signal {
    /// Returns the bits of the field, each a 0 or a 1.
    ///
    /// # Panics
    /// If the length is not possible.
    pub fn bits(self) -> [u8; BITS] {
        assert!((1..=super::rate::MOST_BYTES).contains(&self.bytes), "a frame has 1 to 4095 bytes");
        let mut bits = [0; BITS];
        for (at, bit) in bits[..4].iter_mut().enumerate() {
            *bit = self.rate.code() >> (3 - at) & 1;
        }
        for (at, bit) in bits[5..17].iter_mut().enumerate() {
            *bit = (self.bytes >> at & 1) as u8;
        }
        bits[17] = bits[..17].iter().fold(0, |parity, bit| parity ^ bit);
        bits
    }

    /// Reads the field. The first bit is the lowest of `bits`.
    ///
    /// # Errors
    /// If the field contradicts itself.
    pub fn read(bits: u32) -> Result<Self, SignalError> {
        let field = |from: u32, count: u32| bits >> from & ((1 << count) - 1);
        if field(0, 18).count_ones() % 2 != 0 {
            return Err(SignalError::Parity);
        }
        if field(4, 1) != 0 || field(18, 6) != 0 {
            return Err(SignalError::Reserved);
        }
        let code = (0..4).fold(0, |code, at| code << 1 | field(at, 1) as u8);
        let rate = Rate::of_code(code).ok_or(SignalError::Rate(code))?;
        match field(5, 12) as usize {
            0 => Err(SignalError::Empty),
            bytes => Ok(Self { rate, bytes }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(bits: &[u8]) -> u32 {
        bits.iter().rev().fold(0, |packed, bit| packed << 1 | u32::from(*bit))
    }

    #[test]
    fn what_is_written_is_read() {
        for rate in Rate::ALL {
            for bytes in [1, 100, 2_047, 4_095] {
                let signal = Signal { rate, bytes };
                assert_eq!(Signal::read(packed(&signal.bits())), Ok(signal));
            }
        }
    }

    #[test]
    fn every_single_wrong_bit_is_noticed() {
        let bits = packed(&Signal { rate: Rate::ALL[5], bytes: 100 }.bits());
        assert!((0..BITS).all(|bit| Signal::read(bits ^ 1 << bit).is_err()));
    }

    #[test]
    fn a_field_of_zeros_is_wrong() {
        assert_eq!(Signal::read(0), Err(SignalError::Rate(0)));
    }
}
