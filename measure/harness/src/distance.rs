//! How far apart two cores are: the time in which a cache line goes from one to the other.
//!
//! The host of a virtual machine may move its processors. If they share a cache, a line takes some 25 ns, and
//! otherwise six times as long. What threads hand to each other costs accordingly, so a number of small items means
//! little without this time.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, available_parallelism, yield_now};
use std::time::{Duration, Instant};

/// How many times a cache line goes to the other core and back in a measurement.
const TRIPS: u64 = 200;
/// Of so many measurements, the shortest counts: it was disturbed least.
const MEASUREMENTS: u64 = 4;
/// How many looks a thread takes before it lets others run. The other thread may have no core.
const LOOKS: u32 = 1 << 10;
/// The time after which the threads give up, because other programs have the cores.
const PATIENCE: Duration = Duration::from_millis(20);

/// A cache line that no other variable shares.
#[repr(align(128))]
struct Ball(AtomicU64);

/// The time in which a cache line goes from one core to another, in nanoseconds: the mean of 400 passes between two
/// threads, wherever the system runs these. `None` if the process may use one core only, or if other programs have
/// the cores.
///
/// It takes less than a millisecond if both threads have a core, and 20 ms at most. `anabranch_network::measured_cores`
/// measures each pair of cores, with threads that stay on them.
pub fn hand_over() -> Option<f64> {
    if available_parallelism().map_or(1, usize::from) < 2 {
        return None;
    }
    let (ball, gives_up, start) = (Ball(AtomicU64::new(0)), AtomicBool::new(false), Instant::now());
    // One thread takes the passes with even numbers. Both threads have to run before the first measurement.
    let play = |mine: u64| {
        let (mut least, mut began) = (f64::INFINITY, start);
        for trip in 0..=TRIPS * MEASUREMENTS {
            let mut looks = 0;
            while ball.0.load(Ordering::Acquire) != 2 * trip + mine {
                looks += 1;
                if looks % LOOKS == 0 {
                    if gives_up.load(Ordering::Relaxed) || start.elapsed() > PATIENCE {
                        gives_up.store(true, Ordering::Relaxed);
                        return None;
                    }
                    yield_now();
                }
                spin_loop();
            }
            if trip % TRIPS == 0 {
                let now = Instant::now();
                if trip > 0 {
                    least = least.min((now - began).as_secs_f64() * 1e9 / (2 * TRIPS) as f64);
                }
                began = now;
            }
            ball.0.store(2 * trip + mine + 1, Ordering::Release);
        }
        Some(least)
    };
    thread::scope(|scope| {
        let other = scope.spawn(|| play(1));
        let time = play(0);
        other.join().expect("it does not panic").and(time)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_takes_some_time() {
        assert!(hand_over().is_none_or(|nanos| nanos > 0.0));
    }
}
