//! Tables of finite state entropy codes (RFC 8878, section 4.1).

use super::bits::Reader;

/// A state of a decoder: its symbol, and the way to the next state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct State {
    symbol: u8,
    /// The number of bits to read and add to `base`.
    bits: u8,
    base: u16,
}

/// The states of a code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Table {
    /// The logarithm to base 2 of the number of states.
    log: u32,
    states: Vec<State>,
}

impl Table {
    /// Creates a code of one symbol, which takes no bits.
    pub(super) fn single(symbol: u8) -> Table {
        Table { log: 0, states: vec![State { symbol, bits: 0, base: 0 }] }
    }

    /// Creates the code for symbols with these counts. A count of -1 means less than one. The absolute values of the
    /// counts add up to 2 to the power of `log`.
    pub(super) fn new(counts: &[i16], log: u32) -> Table {
        let size = 1usize << log;
        let mut states = vec![State::default(); size];
        let mut next: Vec<u32> = counts.iter().map(|count| u32::from(count.unsigned_abs())).collect();
        let mut high = size;
        for (symbol, _) in counts.iter().enumerate().filter(|(_, count)| **count == -1) {
            high -= 1;
            states[high].symbol = symbol as u8;
        }
        let step = (size >> 1) + (size >> 3) + 3;
        let mut at = 0;
        for (symbol, &count) in counts.iter().enumerate() {
            for _ in 0..count.max(0) {
                states[at].symbol = symbol as u8;
                loop {
                    at = (at + step) % size;
                    if at < high {
                        break;
                    }
                }
            }
        }
        for state in &mut states {
            let next = &mut next[usize::from(state.symbol)];
            state.bits = (log - next.ilog2()) as u8;
            state.base = ((*next << state.bits) as usize - size) as u16;
            *next += 1;
        }
        Table { log, states }
    }

    /// Parses the description of a code at the start of `bytes`. Returns the code and the length of the description in
    /// bytes; `None` if it is not valid, or if its `log` or a symbol is too high.
    pub(super) fn parse(bytes: &[u8], highest_log: u32, highest_symbol: usize) -> Option<(Table, usize)> {
        let mut at = 0;
        let bits = |at: usize, count: u32| {
            let number = (at / 8..at / 8 + 4)
                .rev()
                .fold(0, |number, index| number << 8 | u32::from(bytes.get(index).copied().unwrap_or(0)));
            (number >> (at % 8)) & ((1 << count) - 1)
        };
        let log = bits(at, 4) + LOWEST_LOG;
        at += 4;
        if log > highest_log {
            return None;
        }
        let mut counts: Vec<i16> = Vec::new();
        let mut left = (1u32 << log) + 1;
        while left > 1 {
            let (width, more) = width(left);
            let low = bits(at, width - 1);
            let mut number = low;
            at += width as usize - 1;
            if low >= more {
                number = low | bits(at, 1) << (width - 1);
                at += 1;
                if number >= 1 << (width - 1) {
                    number -= more;
                }
            }
            let count = number as i16 - 1;
            left = left.checked_sub(u32::from(count.unsigned_abs()))?;
            counts.push(count);
            if count == 0 {
                loop {
                    let zeros = bits(at, 2);
                    at += 2;
                    counts.extend((0..zeros).map(|_| 0));
                    if zeros < 3 {
                        break;
                    }
                    if counts.len() > highest_symbol {
                        return None;
                    }
                }
            }
            if counts.len() > highest_symbol + 1 {
                return None;
            }
        }
        let len = at.div_ceil(8);
        (left == 1 && len <= bytes.len()).then(|| (Table::new(&counts, log), len))
    }

    /// Reads the state with which a stream begins.
    pub(super) fn begin(&self, reader: &mut Reader<'_>) -> Option<u16> {
        reader.read(self.log).map(|state| state as u16)
    }

    /// Reads the state that follows `state`.
    pub(super) fn next(&self, state: u16, reader: &mut Reader<'_>) -> Option<u16> {
        let State { bits, base, .. } = self.states[usize::from(state)];
        reader.read(bits.into()).map(|more| base + more as u16)
    }

    pub(super) fn symbol(&self, state: u16) -> u8 {
        self.states[usize::from(state)].symbol
    }

    /// Returns a state for `symbol` that can lead to `next`, if that is given; `None` if the code has none.
    pub(super) fn state(&self, symbol: u8, next: Option<u16>) -> Option<u16> {
        let leads = |state: &State| {
            let reached = state.base..=state.base + ((1u16 << state.bits) - 1);
            state.symbol == symbol && next.is_none_or(|next| reached.contains(&next))
        };
        self.states.iter().position(leads).map(|state| state as u16)
    }

    /// Returns the bits that lead from a state to the next, and their number.
    pub(super) fn bits_between(&self, state: u16, next: u16) -> (u32, u32) {
        let State { bits, base, .. } = self.states[usize::from(state)];
        (u32::from(next - base), bits.into())
    }

    /// Returns the symbols of the code.
    #[cfg(test)]
    pub(super) fn symbols(&self) -> std::collections::BTreeSet<u8> {
        self.states.iter().map(|state| state.symbol).collect()
    }

    /// Returns the number of bits of a state at the start of a stream.
    pub(super) fn log(&self) -> u32 {
        self.log
    }
}

/// The logarithm to base 2 of the smallest number of states.
const LOWEST_LOG: u32 = 5;

/// The logarithm to base 2 of the largest number of states of a code for offsets.
pub(super) const HIGHEST_OFFSET_LOG: u32 = 8;

/// Returns the largest number of bits of the next count in a description, if the counts from there on and one more add
/// up to `left`; and the number below which one bit less is enough.
fn width(left: u32) -> (u32, u32) {
    let width = left.ilog2() + 1;
    (width, (1 << width) - 1 - left)
}

/// Returns counts for symbols that occur this often, and the logarithm to base 2 of their sum. A symbol that does not
/// occur has the count 0, and the last one occurs. At least two symbols do, and at most 32.
pub(super) fn fit(occurrences: &[u32]) -> (Vec<i16>, u32) {
    let total: u32 = occurrences.iter().sum();
    // More states describe the frequencies better, but the description becomes longer.
    let log = total.ilog2().saturating_sub(2).clamp(LOWEST_LOG, HIGHEST_OFFSET_LOG);
    let mut counts: Vec<i16> = occurrences
        .iter()
        .map(|&count| ((u64::from(count) << log) / u64::from(total)).max(u64::from(count > 0)) as i16)
        .collect();
    let mut missing = (1i16 << log) - counts.iter().sum::<i16>();
    while missing != 0 {
        let most = counts.iter_mut().max().expect("there are symbols");
        *most += missing.signum();
        missing -= missing.signum();
    }
    (counts, log)
}

/// Returns the description of the code with these counts, none of which is less than one. The last count is not 0.
pub(super) fn describe(counts: &[i16], log: u32) -> Vec<u8> {
    let (mut bytes, mut at) = (Vec::new(), 0);
    let mut write = |number: u32, count: u32| {
        for bit in 0..count {
            bytes.resize(at / 8 + 1, 0u8);
            bytes[at / 8] |= ((number >> bit & 1) as u8) << (at % 8);
            at += 1;
        }
    };
    write(log - LOWEST_LOG, 4);
    let mut left = (1u32 << log) + 1;
    let mut counts = counts.iter().copied().peekable();
    while let Some(count) = counts.next() {
        let (width, more) = width(left);
        let number = count as u32 + 1;
        match number {
            low if low < more => write(low, width - 1),
            high if high >= 1 << (width - 1) => write(high + more, width),
            between => write(between, width),
        }
        left -= count as u32;
        if count == 0 {
            let mut zeros = 0;
            while counts.next_if_eq(&0).is_some() {
                zeros += 1;
            }
            for _ in 0..zeros / 3 {
                write(3, 2);
            }
            write(zeros % 3, 2);
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::super::bits::Writer;
    use super::*;

    #[test]
    fn a_code_is_described_as_it_is_and_has_no_other_symbol() {
        let few = |at: &[usize]| {
            let mut occurrences = vec![0; at.iter().max().unwrap() + 1];
            at.iter().for_each(|&at| occurrences[at] += 1);
            occurrences
        };
        let skewed = |symbol: u32| if symbol % 5 == 2 { 0 } else { 1 + (symbol * symbol * 37) % 901 };
        let cases = (0..31)
            .flat_map(|low| (low + 1..32).map(move |high| few(&[low, high, high])))
            .chain((2..33).map(|count| vec![1; count]))
            .chain((5..32).map(|count| (0..count).map(skewed).chain([1]).collect()))
            .chain([vec![1_000_000, 1], [vec![1; 31], vec![131_000]].concat()]);
        for occurrences in cases {
            let (counts, log) = fit(&occurrences);
            assert_eq!(counts.iter().sum::<i16>(), 1 << log, "{occurrences:?}");
            assert!(counts.iter().zip(&occurrences).all(|(&count, &occurs)| (count > 0) == (occurs > 0)));
            let description = describe(&counts, log);
            let (table, len) = Table::parse(&description, HIGHEST_OFFSET_LOG, 31).unwrap();
            assert_eq!((&table, len), (&Table::new(&counts, log), description.len()), "{occurrences:?}");
            assert!(Table::parse(&description[..len - 1], HIGHEST_OFFSET_LOG, 31).is_none());
            assert!(Table::parse(&description, HIGHEST_OFFSET_LOG, counts.len() - 2).is_none());
        }
    }

    #[test]
    fn states_are_found_that_lead_to_the_next() {
        let counts = [8, -1, 3, 0, 0, 0, 0, 0, 0, 20];
        let table = Table::new(&counts, 5);
        let message = [0, 9, 9, 2, 1, 0, 9, 2];
        let mut writer = Writer::behind(&[], 0);
        let mut next = None;
        for symbol in message.into_iter().rev() {
            let state = table.state(symbol, next).unwrap();
            if let Some(next) = next {
                let (bits, count) = table.bits_between(state, next);
                writer.write(bits, count);
            }
            next = Some(state);
        }
        writer.write(next.unwrap().into(), table.log());
        let bytes = writer.finish();
        let mut reader = Reader::new(&bytes).unwrap();
        let mut state = table.begin(&mut reader).unwrap();
        for (at, symbol) in message.into_iter().enumerate() {
            assert_eq!(table.symbol(state), symbol);
            if at + 1 < message.len() {
                state = table.next(state, &mut reader).unwrap();
            }
        }
        assert_eq!(reader.left(), 0);
        assert_eq!(table.state(5, None), None);
    }
}
