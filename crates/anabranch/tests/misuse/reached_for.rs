//! What users of iterators and of other libraries reach for.

use anabranch::{Stream, Unmet};

/// Iterators collect results so.
fn results() -> Result<Vec<u32>, std::num::ParseIntError> {
    Stream::from_iter(["1", "2"]).map(|word| word.parse::<u32>()).collect::<Result<Vec<_>, _>>()
}

/// A branch with several results for an item.
fn zipped() -> usize {
    let branches = Stream::from_iter(0..9u32).broadcast().branch(|numbers| numbers);
    branches.branch(|numbers| numbers.flat_map(|n| [n, n])).zip().count()
}

/// Branches of different types.
fn joined() -> usize {
    let branches = Stream::from_iter(0..9u32).split_if(|n| n % 2 == 0);
    branches.branch(|even| even).branch(|odd| odd.map(|n| n.to_string())).join().count()
}

/// A stream with another error.
fn needing() -> Result<usize, String> {
    let numbers = Stream::from_iter(0..9u64).try_map(|n| if n < 9 { Ok(n) } else { Err("nine".to_owned()) });
    numbers.map_needing(8, |_, _| [], |n, _| n).count()
}

/// The type of a stream that a function returns.
fn numbers() -> Stream<'static, u64> {
    Stream::from_iter(0..9u64)
}

fn main() {
    let _: Option<Unmet> = None;
}
