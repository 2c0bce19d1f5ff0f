//! A source that needs a runtime: the timers of tokio tick, and a stream handles what they bring in chunks.
//!
//!     cargo run --release --example ticks

use std::time::Duration;

use anabranch::Stream;
use tokio::runtime::Builder;

/// The numbers from 0 to `count`, one each `period`.
pub fn ticks(count: u32, period: Duration) -> impl futures::Stream<Item = u32> {
    // The timers are created when the stream is polled, which is inside of the runtime.
    futures::stream::unfold(0, move |n| async move {
        if n == count {
            return None;
        }
        tokio::time::sleep(period).await;
        Some((n, n + 1))
    })
}

/// Sums of the squares of the ticks that came within `time`, at most `most` of them in each.
///
/// # Errors
/// If the runtime cannot be created.
pub fn sums(count: u32, period: Duration, most: usize, time: Duration) -> std::io::Result<Vec<u32>> {
    // A runtime with a thread of its own: it drives the timers while the stream does something else.
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_time().build()?;
    let squares = Stream::from_async(ticks(count, period)).on(runtime.handle()).map(|n| n * n);
    Ok(squares.chunks_timeout(most, time).map(|chunk| chunk.into_iter().sum::<u32>()).collect())
}

fn main() -> std::io::Result<()> {
    let sums = sums(100, Duration::from_millis(2), 16, Duration::from_millis(10))?;
    println!("{} sums: {sums:?}", sums.len());
    Ok(())
}
