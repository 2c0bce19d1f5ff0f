//! How many times in a row a rule fires before another rule gets its turn.

use std::time::Instant;

/// The most firings of a turn whose length nobody has set.
const MOST: usize = 64;
/// How long a turn should take, in nanoseconds. It is long enough to make the hand-over cheap, and short enough
/// for other workers to take the rules that wait behind it.
const TURN_NS: f64 = 20_000.0;

/// The length of a rule's turns.
#[derive(Debug)]
pub(super) struct Turn {
    firings: usize,
    is_adaptive: bool,
    /// Whether the last turn was as long as it might be. Only then the next one is timed, so that rules that wait
    /// for each item do not read the clock.
    was_full: bool,
    began: Option<Instant>,
}

impl Turn {
    /// Turns of this many firings.
    pub(super) fn of(firings: usize) -> Self {
        Self { firings, is_adaptive: false, was_full: false, began: None }
    }

    /// Turns of up to 64 firings, and of about 20 us if the firings take long.
    pub(super) fn adaptive() -> Self {
        Self { firings: MOST, is_adaptive: true, was_full: false, began: None }
    }

    /// Begins a turn. Returns how many times the rule may fire.
    #[inline]
    pub(super) fn begin(&mut self) -> usize {
        // Under a model checker, runs must not depend on the clock.
        if self.is_adaptive && self.was_full && cfg!(not(shuttle)) {
            self.began = Some(Instant::now());
        }
        self.firings
    }

    /// Ends a turn, in which the rule has used up its firings if it `is_full`.
    #[inline]
    pub(super) fn end(&mut self, is_full: bool) {
        self.was_full = is_full;
        if let Some(began) = self.began.take()
            && is_full
        {
            let each = began.elapsed().as_nanos() as f64 / self.firings as f64;
            self.firings = ((TURN_NS / each.max(1.0)) as usize).clamp(1, MOST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_of_slow_firings_become_short_and_those_of_quick_ones_long() {
        let mut turn = Turn::adaptive();
        assert_eq!(turn.begin(), MOST);
        turn.end(true);
        turn.begin();
        turn.began = turn.began.and_then(|began| began.checked_sub(std::time::Duration::from_millis(64)));
        turn.end(true);
        assert_eq!(turn.begin(), 1);
        turn.end(true);
        turn.begin();
        turn.end(true);
        assert!(turn.begin() > 1);
        // A turn whose length was set keeps it.
        let mut turn = Turn::of(7);
        turn.begin();
        turn.end(true);
        assert_eq!((turn.begin(), turn.began), (7, None));
    }
}
