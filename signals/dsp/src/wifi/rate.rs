//! The eight rates of 802.11a: how many bits a symbol carries, and how they are coded (IEEE Std 802.11-2020,
//! table 17-4).

use super::code::Puncturing;
use super::mapping::Modulation;

/// Data carriers of a symbol.
pub const CARRIERS: usize = 48;

/// The most bytes that a frame carries with its check sequence: the length field has 12 bits.
pub const MOST_BYTES: usize = 4_095;

/// A rate of 802.11a.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// Mbit/s.
    mbps: u8,
    /// The first four bits of the SIGNAL field. The first bit is the highest.
    code: u8,
    modulation: Modulation,
    puncturing: Puncturing,
}

const fn rate(mbps: u8, code: u8, modulation: Modulation, puncturing: Puncturing) -> Rate {
    Rate { mbps, code, modulation, puncturing }
}

impl Rate {
    /// All rates, from the slowest to the fastest.
    pub const ALL: [Self; 8] = [
        rate(6, 0b1101, Modulation::Bpsk, Puncturing::Half),
        rate(9, 0b1111, Modulation::Bpsk, Puncturing::ThreeQuarters),
        rate(12, 0b0101, Modulation::Qpsk, Puncturing::Half),
        rate(18, 0b0111, Modulation::Qpsk, Puncturing::ThreeQuarters),
        rate(24, 0b1001, Modulation::Qam16, Puncturing::Half),
        rate(36, 0b1011, Modulation::Qam16, Puncturing::ThreeQuarters),
        rate(48, 0b0001, Modulation::Qam64, Puncturing::TwoThirds),
        rate(54, 0b0011, Modulation::Qam64, Puncturing::ThreeQuarters),
    ];

    /// The rate of the SIGNAL field, 6 Mbit/s.
    pub const SIGNAL: Self = Self::ALL[0];

    /// Returns the rate of `mbps` Mbit/s, if 802.11a has it.
    pub fn of_mbps(mbps: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|rate| rate.mbps == mbps)
    }

    /// Returns the rate with these four bits in the SIGNAL field, if there is one.
    pub fn of_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|rate| rate.code == code)
    }

    /// Returns the rate in Mbit/s.
    pub fn mbps(self) -> u8 {
        self.mbps
    }

    /// Returns the four bits of the SIGNAL field for this rate. The first bit is the highest.
    pub fn code(self) -> u8 {
        self.code
    }

    /// Returns the mapping of bits to points.
    pub fn modulation(self) -> Modulation {
        self.modulation
    }

    /// Returns the coded bits that are sent.
    pub fn puncturing(self) -> Puncturing {
        self.puncturing
    }

    /// Returns the number of coded bits in a symbol (N_CBPS).
    pub fn coded_bits(self) -> usize {
        CARRIERS * self.modulation.bits()
    }

    /// Returns the number of data bits in a symbol (N_DBPS).
    pub fn data_bits(self) -> usize {
        let (data, coded) = self.puncturing.ratio();
        self.coded_bits() * data / coded
    }

    /// Returns the number of symbols of a frame of `bytes` bytes, without the SIGNAL field.
    pub fn symbols(self, bytes: usize) -> usize {
        end_of_data(bytes).div_ceil(self.data_bits())
    }

    /// Returns the index of the rate in [`ALL`](Self::ALL).
    pub fn index(self) -> usize {
        Self::ALL.iter().position(|rate| rate.mbps == self.mbps).expect("every rate is one of them")
    }
}

/// Bits before the bytes of a frame: the SERVICE field.
pub const SERVICE_BITS: usize = 16;

/// Bits that bring the encoder back to state 0.
pub const TAIL_BITS: usize = 6;

/// Returns the number of bits of a frame of `bytes` bytes, up to the end of its tail. The encoder is in state 0 there.
pub fn end_of_data(bytes: usize) -> usize {
    SERVICE_BITS + 8 * bytes + TAIL_BITS
}
