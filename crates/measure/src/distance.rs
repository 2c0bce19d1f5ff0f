//! How far apart two cores are: the time in which a cache line goes from one to the other.
//!
//! The host of a virtual machine may move its processors. If they share a cache, a line takes some 25 ns, and
//! otherwise six times as long. What threads hand to each other costs accordingly, so a number of small items means
//! little without this time.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, available_parallelism, yield_now};
use std::time::Instant;

/// How many times a cache line goes to the other core and back.
const TRIPS: u64 = 500;
/// The first trips do not count: both threads have to run first.
const FIRST_TRIPS: u64 = 20;
/// How many looks a thread takes before it lets others run. The other thread may have no core.
const LOOKS: u32 = 1 << 12;

/// A cache line that no other variable shares.
#[repr(align(128))]
struct Ball(AtomicU64);

/// The time in which a cache line goes from one core to another, in nanoseconds: the mean of 1,000 passes between two
/// threads, wherever the system runs these. `None` if the process may use one core only.
///
/// It takes less than a millisecond if both threads have a core.
pub fn hand_over() -> Option<f64> {
    if available_parallelism().map_or(1, usize::from) < 2 {
        return None;
    }
    let ball = Ball(AtomicU64::new(0));
    // One thread takes the passes with even numbers.
    let play = |mine: u64| {
        let mut began = Instant::now();
        for trip in 0..FIRST_TRIPS + TRIPS {
            if trip == FIRST_TRIPS {
                began = Instant::now();
            }
            let mut looks = 0;
            while ball.0.load(Ordering::Acquire) != 2 * trip + mine {
                looks += 1;
                if looks % LOOKS == 0 {
                    yield_now();
                }
                spin_loop();
            }
            ball.0.store(2 * trip + mine + 1, Ordering::Release);
        }
        began.elapsed().as_secs_f64() * 1e9 / (2 * TRIPS) as f64
    };
    Some(thread::scope(|scope| {
        let other = scope.spawn(|| play(1));
        let time = play(0);
        other.join().expect("it does not panic");
        time
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_takes_some_time() {
        assert!(hand_over().is_none_or(|nanos| nanos > 0.0));
    }
}
