//! The decisions of steps, which they read from the key of an item. Each program that runs a case needs them.

use crate::contract_support::planted::mix;

/// Whether a filter at `node` keeps an item with this key.
pub fn keeps(key: u64, node: usize) -> bool {
    !mix(key, node as u64).is_multiple_of(4)
}

/// The group of an item with this key: one of 3.
pub fn group(key: u64) -> u64 {
    key / 8 % 3
}

/// How many children an item has at `node`.
pub fn children(key: u64, node: usize) -> u64 {
    mix(key, node as u64) % 4
}

/// The time of the item with this number and key. It grows with the number.
pub fn time(number: u64, key: u64) -> u64 {
    4 * number + key % 4
}
