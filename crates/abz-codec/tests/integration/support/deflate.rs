//! Deflate data of all kinds (RFC 1951), including kinds that no encoder makes.

use super::Noise;

/// A writer of bits, from the lowest on.
#[derive(Default)]
pub struct Bits {
    pub bytes: Vec<u8>,
    pub len: usize,
}

impl Bits {
    pub fn put(&mut self, value: u32, len: u32) {
        for bit in 0..len {
            if self.len.is_multiple_of(8) {
                self.bytes.push(0);
            }
            *self.bytes.last_mut().unwrap() |= ((value >> bit & 1) as u8) << (self.len % 8);
            self.len += 1;
        }
    }

    fn align(&mut self) {
        self.len = 8 * self.bytes.len();
    }

    /// Puts a code, whose highest bit comes first.
    fn put_code(&mut self, (code, len): (u32, u32)) {
        (0..len).rev().for_each(|bit| self.put(code >> bit & 1, 1));
    }
}

/// Returns the codes of these lengths (section 3.2.2).
fn codes(lens: &[u8]) -> Vec<(u32, u32)> {
    let mut codes = vec![(0, 0); lens.len()];
    let mut code = 0;
    for len in 1..=15 {
        code <<= 1;
        for symbol in (0..lens.len()).filter(|&symbol| lens[symbol] == len) {
            codes[symbol] = (code, len.into());
            code += 1;
        }
    }
    codes
}

/// Returns the lengths of a complete code for `of` of `all` symbols, at least two, including `always`.
fn complete(noise: &mut Noise, all: usize, of: usize, longest: u8, always: Option<usize>) -> Vec<u8> {
    let mut leaves = vec![0];
    while leaves.len() < of.clamp(2, all) {
        // The last leaf is split more often, so that some codes are long.
        let at = if noise.below(2) == 0 { leaves.len() - 1 } else { noise.below(leaves.len()) };
        if leaves[at] < longest {
            leaves[at] += 1;
            leaves.push(leaves[at]);
        } else {
            let shortest = (0..leaves.len()).min_by_key(|&at| leaves[at]).unwrap();
            leaves[shortest] += 1;
            leaves.push(leaves[shortest]);
        }
    }
    let mut lens = vec![0; all];
    let mut free: Vec<usize> = (0..all).collect();
    if let Some(symbol) = always {
        free.swap_remove(symbol);
        lens[symbol] = leaves.swap_remove(noise.below(leaves.len()));
    }
    for len in leaves {
        lens[free.swap_remove(noise.below(free.len()))] = len;
    }
    lens
}

const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/// Puts the header of a dynamic block, without its type (section 3.2.7).
fn put_lengths(noise: &mut Noise, bits: &mut Bits, litlens: &[u8], distances: &[u8]) {
    bits.put(litlens.len() as u32 - 257, 5);
    bits.put(distances.len() as u32 - 1, 5);
    let of_lens = complete(noise, 19, 19, 7, None);
    bits.put(15, 4);
    ORDER.iter().for_each(|&symbol| bits.put(of_lens[symbol].into(), 3));
    let codes = codes(&of_lens);
    let lens = [litlens, distances].concat();
    let mut at = 0;
    while at < lens.len() {
        let same = lens[at..].iter().take_while(|&&len| len == lens[at]).count();
        let again = lens[at..].iter().take_while(|&&len| at > 0 && len == lens[at - 1]).count();
        at += match noise.below(3) {
            0 if lens[at] == 0 && same >= 11 => {
                bits.put_code(codes[18]);
                bits.put(same.min(138) as u32 - 11, 7);
                same.min(138)
            }
            0 if lens[at] == 0 && same >= 3 => {
                bits.put_code(codes[17]);
                bits.put(same.min(10) as u32 - 3, 3);
                same.min(10)
            }
            0 | 1 if again >= 3 => {
                bits.put_code(codes[16]);
                bits.put(again.min(6) as u32 - 3, 2);
                again.min(6)
            }
            _ => {
                bits.put_code(codes[usize::from(lens[at])]);
                1
            }
        };
    }
}

/// Returns a stream of blocks of all kinds, with valid matches if at most `window` bytes come before it.
pub fn stream(noise: &mut Noise, window: usize) -> Vec<u8> {
    let (mut bits, mut len) = (Bits::default(), window);
    let blocks = 1 + noise.below(5);
    for block in 1..=blocks {
        bits.put((block == blocks).into(), 1);
        let kind = noise.below(4).min(2) as u32;
        bits.put(kind, 2);
        let (litlens, distances) = match kind {
            0 => {
                bits.align();
                let data = {
                    let most = noise.pick(&[1, 10, 1000, 65536]);
                    noise.below(most)
                };
                bits.put(data as u32, 16);
                bits.put(!data as u32 & 0xffff, 16);
                (0..data).for_each(|_| bits.put(noise.next() as u32 & 0xff, 8));
                len += data;
                continue;
            }
            1 => {
                let mut litlens = vec![8; 288];
                litlens[144..256].fill(9);
                litlens[256..280].fill(7);
                (litlens, vec![5; 32])
            }
            _ => {
                let most = noise.pick(&[3, 30, 284]);
                let of = 2 + noise.below(most);
                let mut litlens = complete(noise, 286, of, 15, Some(256));
                let last = litlens.iter().rposition(|&len| len > 0).unwrap();
                litlens.truncate(last + 1);
                let mut distances = match noise.below(4) {
                    0 => vec![0],
                    1 => vec![0, 0, 1],
                    _ => {
                        let of = 2 + noise.below(28);
                        complete(noise, 30, of, 15, None)
                    }
                };
                let last = distances.iter().rposition(|&len| len > 0).unwrap_or(0);
                distances.truncate(last + 1);
                put_lengths(noise, &mut bits, &litlens, &distances);
                (litlens, distances)
            }
        };
        let (litlen_codes, distance_codes) = (codes(&litlens), codes(&distances));
        let used = |lens: &[u8], most: usize| -> Vec<usize> {
            (0..lens.len().min(most)).filter(|&symbol| lens[symbol] > 0).collect()
        };
        let (litlens, distances) = (used(&litlens, 286), used(&distances, 30));
        let most = noise.pick(&[2, 50, 5000]);
        for _ in 0..noise.below(most) {
            let symbol = litlens[noise.below(litlens.len())];
            if symbol < 256 {
                bits.put_code(litlen_codes[symbol]);
                len += 1;
            } else if symbol > 256 && !distances.is_empty() {
                let of = distances[noise.below(distances.len())];
                let extra = (of as u32 / 2).saturating_sub(1);
                let least = if of < 2 { 1 + of } else { ((2 + of % 2) << extra) + 1 };
                let more = if len < least { continue } else { (len - least).min((1 << extra) - 1) };
                bits.put_code(litlen_codes[symbol]);
                let (length_extra, base) = length(symbol);
                let length_more = noise.below(1 << length_extra);
                bits.put(length_more as u32, length_extra);
                bits.put_code(distance_codes[of]);
                bits.put(noise.below(more + 1) as u32, extra);
                len += base + length_more;
            }
        }
        bits.put_code(litlen_codes[256]);
    }
    bits.bytes
}

/// Returns the number of extra bits of a length, and the least length (section 3.2.5).
fn length(symbol: usize) -> (u32, usize) {
    match symbol {
        285 => (0, 258),
        257..265 => (0, symbol - 254),
        _ => {
            let extra = (symbol as u32 - 261) / 4;
            (extra, ((4 + (symbol - 261) % 4) << extra) + 3)
        }
    }
}
