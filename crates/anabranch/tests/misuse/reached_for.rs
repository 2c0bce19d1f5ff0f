//! Names that users of iterators and of other libraries reach for.

use anabranch::{Stream, Unmet};

/// Iterators collect results so.
fn results() -> Result<Vec<u32>, std::num::ParseIntError> {
    Stream::from_iter(["1", "2"]).map(|word| word.parse::<u32>()).collect::<Result<Vec<_>, _>>()
}

/// Branches of different types.
fn joined() -> usize {
    let branches = Stream::from_iter(0..9u32).split(|n: &u32| (n % 2) as usize);
    branches.branch(|even| even).branch(|odd| odd.map(|n| n.to_string())).join().count()
}

/// A stream with another error.
fn needing() -> Result<usize, String> {
    let numbers = Stream::from_iter(0..9u64).try_map(|n| if n < 9 { Ok(n) } else { Err("nine".to_owned()) });
    numbers.map_dependent(8, |_, _| [], |n, _| n).count()
}

fn main() {
    let _: Option<Unmet> = None;
}
