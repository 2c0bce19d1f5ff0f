//! Deflate compression of a few bytes, which libdeflate would store.

/// The largest size in bytes that is compressed here. libdeflate stores at most 51 bytes at level 1, and fewer at other
/// levels.
pub(super) const MOST: usize = 64;

/// The code of the end of a block, and that of the shortest match (RFC 1951, section 3.2.5).
const END: u32 = 256;
const SHORTEST: u32 = 257;

/// A literal or a match.
#[derive(Clone, Copy)]
enum Token {
    Literal(u8),
    /// A copy of `len` bytes that begin `distance` bytes before.
    Match {
        len: usize,
        distance: usize,
    },
}

/// Writes `data`, at most [`MOST`] bytes, to the front of `out` as the shortest stream of one block with fixed codes
/// (RFC 1951, section 3.2.6). Returns its size in bytes, or `None` if it is longer than `out`.
pub(super) fn deflate(data: &[u8], out: &mut [u8]) -> Option<usize> {
    let mut bits = Bits { out, filled: 0, len: 0, hold: 0 };
    // The last block, with fixed codes.
    bits.put(1, 1)?;
    bits.put(1, 2)?;
    let tokens = shortest(data);
    let mut at = 0;
    while at < data.len() {
        bits.put_token(tokens[at])?;
        at += tokens[at].len();
    }
    bits.put_symbol(END)?;
    bits.put(0, 7)?;
    Some(bits.filled)
}

/// Returns, for each place in the data, the first token of the shortest encoding of the rest.
fn shortest(data: &[u8]) -> [Token; MOST] {
    let mut tokens = [Token::Literal(0); MOST];
    let mut costs = [0; MOST + 1];
    for at in (0..data.len()).rev() {
        let mut take = |token: Token| {
            let cost = token.bits() + costs[at + token.len()];
            if costs[at] == 0 || cost < costs[at] {
                (costs[at], tokens[at]) = (cost, token);
            }
        };
        take(Token::Literal(data[at]));
        // The nearest match of a length takes the fewest bits.
        let mut longest = 2;
        for distance in 1..=at {
            let pairs = data[at..].iter().zip(&data[at - distance..]);
            let same = pairs.take_while(|(byte, before)| byte == before).count();
            (longest + 1..=same).for_each(|len| take(Token::Match { len, distance }));
            longest = longest.max(same);
        }
    }
    tokens
}

impl Token {
    /// Returns the number of bytes that the token stands for.
    fn len(self) -> usize {
        match self {
            Token::Literal(_) => 1,
            Token::Match { len, .. } => len,
        }
    }

    /// Returns the number of bits that the token takes.
    fn bits(self) -> u32 {
        match self {
            Token::Literal(byte) => symbol(byte.into()).1,
            Token::Match { len, distance } => {
                let ((code, _, extra), (_, _, far)) = (length_code(len), distance_code(distance));
                symbol(code).1 + extra + 5 + far
            }
        }
    }
}

/// Returns the code of a literal, a length or the end, the highest bit first, and the number of its bits.
fn symbol(symbol: u32) -> (u32, u32) {
    match symbol {
        0..=143 => (0x30 + symbol, 8),
        144..=255 => (0x190 + symbol - 144, 9),
        256..=279 => (symbol - 256, 7),
        _ => unreachable!("no longer match is in so few bytes"),
    }
}

/// Returns the code of a length, its extra bits and their number.
fn length_code(len: usize) -> (u32, u32, u32) {
    let more = len as u32 - 3;
    let extra = more.max(4).ilog2() - 2;
    (SHORTEST + 4 * extra + (more >> extra), more & ((1 << extra) - 1), extra)
}

/// Returns the code of a distance, its extra bits and their number.
fn distance_code(distance: usize) -> (u32, u32, u32) {
    let more = distance as u32 - 1;
    let extra = more.max(2).ilog2() - 1;
    (2 * extra + (more >> extra), more & ((1 << extra) - 1), extra)
}

/// A writer of bits, from the lowest of each byte on.
struct Bits<'a> {
    out: &'a mut [u8],
    /// The number of bytes that are written, and the bits behind them.
    filled: usize,
    len: u32,
    hold: u32,
}

impl Bits<'_> {
    fn put_token(&mut self, token: Token) -> Option<()> {
        match token {
            Token::Literal(byte) => self.put_symbol(byte.into()),
            Token::Match { len, distance } => {
                let (code, more, extra) = length_code(len);
                self.put_symbol(code)?;
                self.put(more, extra)?;
                let (code, more, extra) = distance_code(distance);
                self.put_code(code, 5)?;
                self.put(more, extra)
            }
        }
    }

    fn put_symbol(&mut self, number: u32) -> Option<()> {
        let (code, len) = symbol(number);
        self.put_code(code, len)
    }

    /// Puts a code, which begins with its highest bit (RFC 1951, section 3.1.1).
    fn put_code(&mut self, code: u32, len: u32) -> Option<()> {
        self.put(code.reverse_bits() >> (32 - len), len)
    }

    fn put(&mut self, value: u32, len: u32) -> Option<()> {
        self.hold |= value << self.len;
        self.len += len;
        while self.len >= 8 {
            *self.out.get_mut(self.filled)? = self.hold as u8;
            self.filled += 1;
            self.hold >>= 8;
            self.len -= 8;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn deflated(data: &[u8]) -> Vec<u8> {
        let mut out = [0; 2 * MOST];
        let len = deflate(data, &mut out).unwrap();
        out[..len].to_vec()
    }

    #[test]
    fn a_few_bytes_are_as_short_as_those_of_zlib() {
        assert_eq!(deflated(b""), super::super::EMPTY_DEFLATE);
        assert_eq!(deflated(b"hello"), b"\xcb\x48\xcd\xc9\xc9\x07\x00");
        assert_eq!(deflated(&[b'a'; MOST]).len(), 5);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back_and_never_longer_than_zlib_s_fixed_codes(
            data in proptest::collection::vec(prop_oneof![0u8..3, any::<u8>(), 140u8..150], 0..=MOST),
        ) {
            let stream = deflated(&data);
            let mut found = vec![0; data.len()];
            prop_assert_eq!(libdeflater::Decompressor::new().deflate_decompress(&stream, &mut found), Ok(data.len()));
            prop_assert_eq!(&found, &data);
            let mut theirs = Vec::with_capacity(1000);
            let mut zlib = flate2::Compress::new(flate2::Compression::new(9), false);
            zlib.compress_vec(&data, &mut theirs, flate2::FlushCompress::Finish).unwrap();
            let is_fixed = theirs[0] >> 1 & 3 == 1;
            prop_assert!(!is_fixed || stream.len() <= theirs.len(), "{} for {}", stream.len(), theirs.len());
        }
    }

    #[test]
    fn what_has_no_room_is_not_written() {
        assert_eq!(deflate(b"hello", &mut [0; 6]), None);
    }
}
