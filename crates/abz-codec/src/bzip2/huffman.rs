//! Code lengths, and the choice of a code for each group of symbols.

use super::{GROUP, MAX_SYMBOLS, MAX_TABLES};

/// The length of the longest code that bzip2 writes, in bits. It reads codes of up to 20 bits.
const LONGEST: u32 = 17;

/// The number of times that the codes are recomputed from the groups that chose them.
const ROUNDS: usize = 4;

/// The cost of a symbol in a table that does not cover it, in the first round.
const DEAR: u16 = 15;

/// The code length of each symbol of an alphabet, in bits.
pub(super) type Lengths = [u8; MAX_SYMBOLS];

/// Several codes, and for each group of symbols the cheapest of them.
pub(super) struct Codes {
    pub(super) tables: Vec<Lengths>,
    pub(super) selectors: Vec<u8>,
}

/// Computes codes for `symbols` of an alphabet of `alphabet` symbols. The first codes each cover a range of the
/// alphabet with about the same frequency; they are improved by alternately choosing codes and counting symbols.
pub(super) fn codes(symbols: &[u16], alphabet: usize) -> Codes {
    let mut frequency = [0; MAX_SYMBOLS];
    for &symbol in symbols {
        frequency[usize::from(symbol)] += 1;
    }
    let tables = match symbols.len() {
        0..200 => 2,
        200..600 => 3,
        600..1200 => 4,
        1200..2400 => 5,
        _ => 6,
    };
    // The costs of a symbol in all tables lie side by side, so that they are added at once.
    let mut costs = partition(&frequency[..alphabet], tables, symbols.len());
    let mut codes = Codes { tables: vec![[0; MAX_SYMBOLS]; tables], selectors: Vec::new() };
    for _ in 0..ROUNDS {
        let mut counts = [[0; MAX_SYMBOLS]; MAX_TABLES];
        codes.selectors.clear();
        for group in symbols.chunks(GROUP) {
            let mut sums = [0u16; 8];
            for &symbol in group {
                for (sum, cost) in sums.iter_mut().zip(costs[usize::from(symbol)]) {
                    *sum += cost;
                }
            }
            let best = (0..tables).min_by_key(|&table| sums[table]).unwrap_or(0);
            codes.selectors.push(best as u8);
            for &symbol in group {
                counts[best][usize::from(symbol)] += 1;
            }
        }
        for (table, lengths) in codes.tables.iter_mut().enumerate() {
            code_lengths(&counts[table][..alphabet], &mut lengths[..alphabet]);
            for (cost, &length) in costs.iter_mut().zip(lengths.iter()) {
                cost[table] = length.into();
            }
        }
    }
    codes
}

/// Returns costs that give each table a range of the alphabet.
fn partition(frequency: &[u32], tables: usize, total: usize) -> [[u16; 8]; MAX_SYMBOLS] {
    let mut costs = [[DEAR; 8]; MAX_SYMBOLS];
    let (mut left, mut from) = (total as u32, 0);
    for table in (0..tables).rev() {
        let wanted = left / (table as u32 + 1);
        let (mut end, mut sum) = (from, 0);
        while sum < wanted && end < frequency.len() {
            sum += frequency[end];
            end += 1;
        }
        // Every second range ends before its share is reached, so that the shares are right on average.
        let is_inner = table != tables - 1 && table != 0;
        if end > from + 1 && is_inner && (tables - table).is_multiple_of(2) {
            end -= 1;
            sum -= frequency[end];
        }
        for cost in &mut costs[from..end] {
            cost[table] = 0;
        }
        left -= sum;
        from = end;
    }
    costs
}

/// Computes the lengths of a prefix code for symbols with these frequencies, of at most [`LONGEST`] bits each. Symbols
/// with the frequency 0 get a code too.
fn code_lengths(counts: &[u32], lengths: &mut [u8]) {
    let mut weights: Vec<u32> = counts.iter().map(|&count| count.max(1)).collect();
    let mut order: Vec<usize> = (0..counts.len()).collect();
    loop {
        order.sort_by_key(|&symbol| weights[symbol]);
        if tree_depths(&order, &weights, lengths) <= LONGEST {
            return;
        }
        for weight in &mut weights {
            *weight = *weight / 2 + 1;
        }
    }
}

/// Computes the depth of each symbol in Huffman's tree, and the largest; `order` has the symbols by weight, at least
/// two.
fn tree_depths(order: &[usize], weights: &[u32], lengths: &mut [u8]) -> u32 {
    // The leaves come first, in order, then the inner nodes, which are made in order too.
    let leaves = order.len();
    let mut nodes: Vec<u64> = order.iter().map(|&symbol| weights[symbol].into()).collect();
    let mut parents = vec![0; 2 * leaves - 1];
    let (mut leaf, mut inner) = (0, leaves);
    while nodes.len() < 2 * leaves - 1 {
        let mut least = || {
            let takes_leaf = leaf < leaves && nodes.get(inner).is_none_or(|&weight| nodes[leaf] <= weight);
            let next = if takes_leaf { &mut leaf } else { &mut inner };
            *next += 1;
            *next - 1
        };
        let (one, other) = (least(), least());
        (parents[one], parents[other]) = (nodes.len(), nodes.len());
        nodes.push(nodes[one] + nodes[other]);
    }
    let mut depths = vec![0u32; nodes.len()];
    for node in (0..nodes.len() - 1).rev() {
        depths[node] = depths[parents[node]] + 1;
    }
    for (&symbol, &depth) in order.iter().zip(&depths) {
        lengths[symbol] = depth as u8;
    }
    depths[..leaves].iter().copied().max().unwrap_or(0)
}

/// Returns the canonical codes of these lengths: in order of length, then of symbol.
pub(super) fn canonical(lengths: &[u8]) -> [u32; MAX_SYMBOLS] {
    let mut codes = [0; MAX_SYMBOLS];
    let mut code = 0;
    for length in 1..=LONGEST as u8 {
        for (symbol, _) in lengths.iter().enumerate().filter(|&(_, &of)| of == length) {
            codes[symbol] = code;
            code += 1;
        }
        code <<= 1;
    }
    codes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_lengths_fill_the_code_and_keep_the_bound() {
        let fibonacci = |n: usize| (0..n).fold((1u32, 1u32), |(a, b), _| (b, a + b)).0;
        let many: Vec<Vec<u32>> = vec![
            vec![0, 0],
            vec![5, 0, 0],
            (0..30).map(fibonacci).collect(),
            (0..258).map(|n| n * n).collect(),
        ];
        for counts in many {
            let mut lengths = vec![0; counts.len()];
            code_lengths(&counts, &mut lengths);
            assert!(lengths.iter().all(|&length| (1..=17).contains(&length)), "{lengths:?}");
            let filled: u32 = lengths.iter().map(|&length| 1 << (17 - length)).sum();
            assert_eq!(filled, 1 << 17, "{lengths:?}");
        }
    }
}
