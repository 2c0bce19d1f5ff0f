//! Huffman codes (T.81, annex C and figure F.16).

/// The number of bits of a code that one look-up decodes.
const FAST_BITS: u32 = 9;

/// A Huffman table.
#[derive(Debug, Clone)]
pub(super) struct Huffman {
    /// For each prefix of a code, its length and its symbol; 0 if it is longer.
    fast: [u16; 1 << FAST_BITS],
    /// For each length, the first code that is longer, as 16 bits.
    ends: [u32; 18],
    /// For each length, the number to add to a code to get the index of its symbol.
    offsets: [i32; 17],
    symbols: Vec<u8>,
}

impl Huffman {
    /// Creates the table with `counts` codes of each length from 1 to 16, and these symbols. `None` if there are more
    /// codes than the lengths allow.
    pub(super) fn new(counts: &[u8; 16], symbols: &[u8]) -> Option<Self> {
        let mut table = Self {
            fast: [0; 1 << FAST_BITS],
            ends: [u32::MAX; 18],
            offsets: [0; 17],
            symbols: symbols.to_vec(),
        };
        let (mut code, mut place) = (0_u32, 0_usize);
        for length in 1..=16_u32 {
            table.offsets[length as usize] = place as i32 - code as i32;
            for _ in 0..counts[length as usize - 1] {
                let symbol = *symbols.get(place)?;
                if code >= 1 << length {
                    return None;
                }
                if length <= FAST_BITS {
                    let first = (code << (FAST_BITS - length)) as usize;
                    let entry = (length as u16) << 8 | u16::from(symbol);
                    table.fast[first..first + (1 << (FAST_BITS - length))].fill(entry);
                }
                code += 1;
                place += 1;
            }
            table.ends[length as usize] = code << (16 - length);
            code <<= 1;
        }
        Some(table)
    }

    /// Returns the length and the symbol of the code with which the 16 bits begin. `None` if there is no such code.
    #[inline]
    pub(super) fn find(&self, bits: u32) -> Option<(u32, u8)> {
        let entry = self.fast[(bits >> (16 - FAST_BITS)) as usize];
        if entry != 0 {
            return Some((u32::from(entry >> 8), entry as u8));
        }
        let length = (FAST_BITS + 1..=16).find(|length| bits < self.ends[*length as usize])?;
        let place = (bits >> (16 - length)) as i32 + self.offsets[length as usize];
        Some((length, *self.symbols.get(usize::try_from(place).ok()?)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_all_lengths_are_found() {
        // One code of each length: 0, 10, 110, and so on.
        let symbols: Vec<u8> = (1..=16).collect();
        let table = Huffman::new(&[1; 16], &symbols).unwrap();
        for length in 1..=16 {
            let code = ((1 << length) - 2) << (16 - length);
            assert_eq!(table.find(code & 0xffff), Some((length, length as u8)));
        }
        assert_eq!(table.find(0xffff), None);
    }

    #[test]
    fn too_many_codes_are_refused() {
        let mut counts = [0; 16];
        counts[0] = 3;
        assert!(Huffman::new(&counts, &[1, 2, 3]).is_none());
    }
}
