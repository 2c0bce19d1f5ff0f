//! A list that grows while other threads read it.

use std::sync::OnceLock;

use anabranch_record::sync::{Mutex, lock};

/// The number of entries in the first board is 2 to this power. Each further board has twice as many.
const FIRST: u32 = 4;
const BOARDS: usize = 40;

/// A list whose entries never move, so that a reader needs no lock. Entries are added at the end.
pub(super) struct Shelf<T> {
    boards: [OnceLock<Box<[OnceLock<T>]>>; BOARDS],
    /// How many entries were added. Locked while one is added.
    len: Mutex<usize>,
}

impl<T> Shelf<T> {
    pub(super) fn new() -> Self {
        Self { boards: [const { OnceLock::new() }; BOARDS], len: Mutex::new(0) }
    }

    /// Adds the entry that `make` creates for its index.
    pub(super) fn add(&self, make: impl FnOnce(usize) -> T) -> usize {
        let mut len = lock(&self.len);
        let index = *len;
        let (board, at) = place(index);
        let slots = self.boards[board]
            .get_or_init(|| (0..1usize << (board as u32 + FIRST)).map(|_| OnceLock::new()).collect());
        let _ = slots[at].set(make(index));
        *len += 1;
        index
    }

    pub(super) fn len(&self) -> usize {
        *lock(&self.len)
    }

    /// The entry with this index. `None` if it was not added yet.
    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<&T> {
        let (board, at) = place(index);
        self.boards.get(board)?.get()?.get(at)?.get()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len()).filter_map(|index| self.get(index))
    }
}

/// The board of an entry, and its place on the board.
#[inline]
fn place(index: usize) -> (usize, usize) {
    let number = index + (1 << FIRST);
    let board = number.ilog2() - FIRST;
    (board as usize, number - (1 << (board + FIRST)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_keep_their_index_and_their_place() {
        let shelf = Shelf::new();
        let mut places = Vec::new();
        for n in 0..1_000 {
            assert!(shelf.get(n).is_none());
            assert_eq!(shelf.add(|index| index + 7), n);
            places.push(std::ptr::from_ref(shelf.get(n).unwrap()));
        }
        assert_eq!(shelf.len(), 1_000);
        assert!(shelf.iter().copied().eq(7..1_007));
        assert!(
            places.iter().enumerate().all(|(n, place)| *place == std::ptr::from_ref(shelf.get(n).unwrap()))
        );
    }
}
