//! Files of `compress -H`, made here because no current program makes them, compared with GNU gzip.

use abz_codec::legacy::{Fault, lzh};

use crate::legacy::decode;
use crate::support::{Noise, prose, through};

/// A symbol of a file.
enum Symbol {
    Byte(u8),
    /// A copy of so many bytes, from so far before the next one; a distance of 1 is the last byte.
    Match(usize, usize),
}

/// A writer of bits, the highest first.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    len: usize,
}

impl Bits {
    fn put(&mut self, number: usize, width: usize) {
        for bit in (0..width).rev() {
            if self.len.is_multiple_of(8) {
                self.bytes.push(0);
            }
            *self.bytes.last_mut().unwrap() |= ((number >> bit & 1) as u8) << (7 - self.len % 8);
            self.len += 1;
        }
    }
}

/// Returns the code lengths of a complete code for the used symbols. A skewed code has lengths of up to 16.
fn code(used: &[bool], is_skewed: bool) -> Vec<u8> {
    let count = used.iter().filter(|used| **used).count();
    let floor = count.max(1).ilog2() as usize;
    let longer = 2 * (count - (1 << floor).min(count));
    let mut nth = 0;
    let length = |nth: usize| match is_skewed && (2..=17).contains(&count) {
        true => (nth + 1).min(count - 1),
        false => floor + usize::from(nth < longer),
    };
    let lengths = used.iter().map(|used| {
        nth += usize::from(*used);
        if *used { length(nth - 1) as u8 } else { 0 }
    });
    lengths.collect()
}

/// Returns the canonical words of a code.
fn words(lengths: &[u8]) -> Vec<usize> {
    let (mut words, mut next) = (vec![0; lengths.len()], 0);
    for length in 1..=16 {
        for symbol in (0..lengths.len()).filter(|&symbol| usize::from(lengths[symbol]) == length) {
            words[symbol] = next >> (16 - length);
            next += 1 << (16 - length);
        }
    }
    words
}

/// Returns the only used symbol, if there are not several.
fn only(used: &[bool]) -> Option<usize> {
    let first = used.iter().position(|used| *used).unwrap_or(0);
    (used.iter().filter(|used| **used).count() <= 1).then_some(first)
}

fn put_small_code(bits: &mut Bits, used: &[bool], lengths: &[u8], width: usize, pause: bool) {
    if let Some(only) = only(used) {
        bits.put(0, width);
        return bits.put(only, width);
    }
    let count = used.iter().rposition(|used| *used).unwrap() + 1;
    bits.put(count, width);
    let mut at = 0;
    while at < count {
        match usize::from(lengths[at]) {
            length @ 0..7 => bits.put(length, 3),
            length => {
                bits.put(7, 3);
                bits.put((1 << (length - 7 + 1)) - 2, length - 7 + 1);
            }
        }
        at += 1;
        if pause && at == 3 {
            let zeros = (0..3).take_while(|more| at + more < count && lengths[at + more] == 0).count();
            bits.put(zeros, 2);
            at += zeros;
        }
    }
}

fn distance_class(distance: usize) -> usize {
    if distance == 1 { 0 } else { (distance - 1).ilog2() as usize + 1 }
}

/// Returns a file of blocks with so many symbols each.
fn compressed(symbols: &[Symbol], block: usize, is_skewed: bool) -> Vec<u8> {
    let mut bits = Bits::default();
    for block in symbols.chunks(block) {
        let (mut used, mut classes) = ([false; 510], [false; 14]);
        for symbol in block {
            match symbol {
                Symbol::Byte(byte) => used[usize::from(*byte)] = true,
                Symbol::Match(len, distance) => {
                    (used[256 + len - 3], classes[distance_class(*distance)]) = (true, true);
                }
            }
        }
        let (lengths, distances) = (code(&used, is_skewed), code(&classes, is_skewed));
        bits.put(block.len(), 16);
        // The lengths in runs: the symbol for each, and a number of so many bits behind it.
        let mut runs = Vec::new();
        let count = used.iter().rposition(|used| *used).unwrap() + 1;
        let mut at = 0;
        while at < count {
            let zeros = lengths[at..count].iter().take_while(|length| **length == 0).count();
            let (run, taken) = match zeros {
                0 => ((usize::from(lengths[at]) + 2, 0, 0), 1),
                1 | 2 => ((0, 0, 0), 1),
                3..=18 => ((1, zeros - 3, 4), zeros),
                _ => ((2, zeros.saturating_sub(20), 9), zeros),
            };
            // There is no run of 19.
            let (run, taken) = if zeros == 19 { ((1, 15, 4), 18) } else { (run, taken) };
            runs.push(run);
            at += taken;
        }
        let mut kinds = [false; 19];
        runs.iter().for_each(|run| kinds[run.0] = true);
        if let Some(only) = only(&used) {
            put_small_code(&mut bits, &[true], &[0], 5, true);
            bits.put(0, 9);
            bits.put(only, 9);
        } else {
            let of_kinds = code(&kinds, is_skewed);
            put_small_code(&mut bits, &kinds, &of_kinds, 5, true);
            bits.put(count, 9);
            let words = words(&of_kinds);
            for (kind, more, width) in runs {
                bits.put(words[kind], if self::only(&kinds).is_some() { 0 } else { of_kinds[kind].into() });
                bits.put(more, width);
            }
        }
        put_small_code(&mut bits, &classes, &distances, 4, false);
        let (symbol_words, class_words) = (words(&lengths), words(&distances));
        let put = |bits: &mut Bits, words: &[usize], lengths: &[u8], used: &[bool], symbol: usize| {
            bits.put(words[symbol], if self::only(used).is_some() { 0 } else { lengths[symbol].into() });
        };
        for symbol in block {
            match symbol {
                Symbol::Byte(byte) => put(&mut bits, &symbol_words, &lengths, &used, (*byte).into()),
                Symbol::Match(len, distance) => {
                    put(&mut bits, &symbol_words, &lengths, &used, 256 + len - 3);
                    let class = distance_class(*distance);
                    put(&mut bits, &class_words, &distances, &classes, class);
                    if class > 1 {
                        bits.put(distance - 1 - (1 << (class - 1)), class - 1);
                    }
                }
            }
        }
    }
    bits.put(0, 16);
    [&lzh::MAGIC[..], &bits.bytes].concat()
}

/// Returns random bytes and matches, and their contents.
fn symbols(text: &[u8], noise: &mut Noise) -> (Vec<Symbol>, Vec<u8>) {
    let (mut symbols, mut data) = (Vec::new(), Vec::new());
    for &byte in text {
        symbols.push(Symbol::Byte(byte));
        data.push(byte);
        if noise.below(6) == 0 {
            let len = if noise.below(2) == 0 { 3 + noise.below(8) } else { 3 + noise.below(254) };
            let reach = (data.len().min(8192) >> noise.below(13)).max(1);
            let distance = 1 + noise.below(reach);
            symbols.push(Symbol::Match(len, distance));
            (0..len).for_each(|_| data.push(data[data.len() - distance]));
        }
    }
    (symbols, data)
}

#[test]
fn files_of_compress_h_are_read_as_gzip_reads_them() {
    let texts = [prose(8000), Noise::new(3).bytes(3000), b"a".to_vec(), vec![b'z'; 3000], vec![]];
    for (seed, text) in (0..).zip(texts) {
        let (symbols, data) = symbols(&text, &mut Noise::new(seed));
        for (block, is_skewed) in [(65_535, false), (700, true), (20, true), (3, false)] {
            let file = compressed(&symbols, block, is_skewed);
            for most in [1, 100, usize::MAX] {
                let (out, error) = decode::<lzh::Decoder>(&file, most);
                assert!(out == data && error.is_none(), "{seed} {block} {is_skewed}: {error:?}");
            }
            // Bytes behind the end are ignored; the end itself may be missing.
            assert_eq!(decode::<lzh::Decoder>(&[&file[..], b"more"].concat(), 99), (data.clone(), None));
            assert_eq!(decode::<lzh::Decoder>(&file[..file.len() - 2], 99), (data.clone(), None));
            if let Some(read) = through("gzip", &["-dc"], &file) {
                assert!(read == data, "{seed} {block} {is_skewed}");
            }
            if seed < 2 {
                let (out, error) = decode::<lzh::Decoder>(&file[..file.len() / 2], 10);
                assert!(data.starts_with(&out));
                // A cut between two blocks cannot be seen.
                let is_between = block < symbols.len() && error.is_none();
                assert!(is_between || error.unwrap().fault == Fault::Truncated);
            }
        }
    }
}

#[test]
fn changed_files_are_decoded_or_refused_however_they_arrive() {
    let (symbols, _) = symbols(&prose(500), &mut Noise::new(5));
    let whole = compressed(&symbols, 90, true);
    let rounds = std::env::var("ABZ_FUZZ_ROUNDS").map_or(1000, |rounds| rounds.parse().unwrap());
    for seed in 0..rounds {
        let (mut noise, mut file) = (Noise::new(seed), whole.clone());
        for _ in 0..1 + noise.below(3) {
            let at = noise.below(file.len());
            file[at] ^= 1 << noise.below(8);
        }
        file.truncate(file.len() - if noise.below(4) == 0 { noise.below(file.len()) } else { 0 });
        let (all, error) = decode::<lzh::Decoder>(&file, usize::MAX);
        assert_eq!(decode::<lzh::Decoder>(&file, 1 + noise.below(300)), (all, error), "seed {seed}");
    }
}
