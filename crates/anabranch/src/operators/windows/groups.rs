//! A map from keys to values that keeps the order in which the keys came.

use super::keys::Hashed;

/// The value of a key.
pub(super) struct Group<K, V> {
    pub(super) key: Hashed<K>,
    /// The number of the key's first item.
    pub(super) first: u64,
    pub(super) value: V,
}

/// Values by key. They lie side by side in the order in which their keys came, so what comes out of a window needs no sorting.
///
/// A table of places, with open addressing and linear probing, finds them. A place has the lower half of a hash and a number, so
/// a look at the value is needed only if the hashes agree so far. A few values need no table.
pub(super) struct Groups<K, V> {
    groups: Vec<Group<K, V>>,
    /// The lower half of the hash, and 1 more than the number of the group. 0 is an empty place. The length is a power of two,
    /// or 0 while there are at most [`FEW`] groups.
    places: Vec<u64>,
}

/// The number of groups that are found without a table.
const FEW: usize = 4;
/// The least number of places.
const LEAST_PLACES: usize = 16;

impl<K, V> Default for Groups<K, V> {
    fn default() -> Self {
        Self { groups: Vec::new(), places: Vec::new() }
    }
}

fn half(hash: u64) -> u64 {
    hash & u64::from(u32::MAX)
}

impl<K: Eq, V> Groups<K, V> {
    /// The group of `key`. Without one, `make` is called for the values of a new one, and the result is `None`.
    #[inline]
    pub(super) fn get_or_insert(
        &mut self,
        key: Hashed<K>,
        make: impl FnOnce() -> (u64, V),
    ) -> Option<&mut Group<K, V>> {
        if 2 * self.groups.len() >= self.places.len() {
            if self.places.is_empty() && self.groups.len() < FEW {
                return self.get_or_insert_few(key, make);
            }
            self.grow();
        }
        let mask = self.places.len() - 1;
        let half = half(key.hash);
        let mut at = half as usize & mask;
        loop {
            let place = self.places[at];
            if place == 0 {
                break;
            }
            let number = (place & u64::from(u32::MAX)) as usize - 1;
            if place >> 32 == half && self.groups[number].key == key {
                return Some(&mut self.groups[number]);
            }
            at = (at + 1) & mask;
        }
        // `make` is the caller's code, and may panic. Nothing has changed so far.
        let (first, value) = make();
        self.groups.push(Group { key, first, value });
        self.places[at] = half << 32 | self.groups.len() as u64;
        None
    }

    /// As [`get_or_insert`](Self::get_or_insert), without a table.
    fn get_or_insert_few(
        &mut self,
        key: Hashed<K>,
        make: impl FnOnce() -> (u64, V),
    ) -> Option<&mut Group<K, V>> {
        match self.groups.iter().position(|group| group.key == key) {
            Some(at) => Some(&mut self.groups[at]),
            None => {
                let (first, value) = make();
                self.groups.push(Group { key, first, value });
                None
            }
        }
    }

    #[cold]
    fn grow(&mut self) {
        assert!(
            self.groups.len() < u32::MAX as usize / 2,
            "a window has more than 2 billion keys in a shard: let the windows be shorter"
        );
        let places = (2 * self.places.len()).max(LEAST_PLACES);
        self.places.clear();
        self.places.resize(places, 0);
        let mask = places - 1;
        for (number, group) in self.groups.iter().enumerate() {
            let half = half(group.key.hash);
            let mut at = half as usize & mask;
            while self.places[at] != 0 {
                at = (at + 1) & mask;
            }
            self.places[at] = half << 32 | (number as u64 + 1);
        }
    }

    /// Reads what lookups of keys with these hashes will read first. These reads do not wait for one another, as those of one
    /// lookup after another do where the map is larger than a cache.
    pub(super) fn warm(&self, hashes: impl Iterator<Item = u64>) -> u64 {
        const AT_ONCE: usize = 64;
        let (Some(mask), Some(last)) = (self.places.len().checked_sub(1), self.groups.len().checked_sub(1))
        else {
            return 0;
        };
        let mut numbers = [0; AT_ONCE];
        let mut read = 0;
        let mut hashes = hashes;
        loop {
            let mut count = 0;
            for (number, hash) in numbers.iter_mut().zip(hashes.by_ref()) {
                *number = self.places[half(hash) as usize & mask] as u32;
                count += 1;
            }
            for &number in &numbers[..count] {
                read ^= self.groups[(number as usize).saturating_sub(1).min(last)].first;
            }
            if count < AT_ONCE {
                return read;
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.groups.len()
    }

    /// Empties the map, in the order in which the keys came. Its memory is kept.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = Group<K, V>> {
        self.places.fill(0);
        self.groups.drain(..)
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn it_finds_what_a_map_finds_and_keeps_the_order() {
        for hashing in [|n: u64| n.wrapping_mul(0x9E37_79B9_7F4A_7C15), |n| n % 7, |_| u64::MAX] {
            let mut groups = Groups::default();
            let mut map = HashMap::new();
            let mut order = Vec::new();
            for round in 0..2 {
                for n in 0..3_000u64 {
                    let key = n * n % 701;
                    let hashed = Hashed { hash: hashing(key), key };
                    assert!(groups.warm([hashing(key), hashing(n)].into_iter()) <= 3_000);
                    match groups.get_or_insert(hashed, || (n, 1)) {
                        Some(group) => group.value += 1,
                        None => order.push(key),
                    }
                    *map.entry(key).or_insert(0) += 1;
                }
                assert_eq!(groups.len(), map.len(), "round {round}");
                let found: Vec<(u64, i32)> =
                    groups.drain().map(|group| (group.key.key, group.value)).collect();
                assert!(found.iter().map(|found| found.0).eq(order.drain(..)));
                assert!(found.iter().all(|(key, count)| map.remove(key) == Some(*count)));
                assert!(map.is_empty() && groups.len() == 0);
            }
        }
    }
}
