//! Maps whose keys were hashed before: the shard of an item and its place in the shard's map need the same hash.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// A key and its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hashed<K> {
    pub(crate) hash: u64,
    pub(crate) key: K,
}

impl<K> Hash for Hashed<K> {
    #[inline]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u64(self.hash);
    }
}

/// Returns the hash that it is given.
#[derive(Debug, Default)]
pub(crate) struct Given(u64);

impl Hasher for Given {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("a hashed key writes its hash")
    }

    #[inline]
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// A map from hashed keys. Its order is not defined, so nothing may depend on it.
pub(crate) type Keys<K, V> = HashMap<Hashed<K>, V, BuildHasherDefault<Given>>;
