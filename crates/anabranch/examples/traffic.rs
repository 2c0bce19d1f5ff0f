//! Windows over the requests of a server: requests of each path by minute, the slowest of the last hundred, and visits.
//!
//!     cargo run --release -p anabranch --example traffic

use anabranch::{CountWindows, SessionWindows, Stream, TimeWindows};

/// A line of a server's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// When it came, in seconds.
    pub second: i64,
    /// The user who asked.
    pub user: u32,
    /// The page that was asked for.
    pub path: u32,
    /// How long the answer took, in microseconds.
    pub micros: u64,
}

/// Requests that come about in order: some are up to four seconds late in the log, and a few much more.
pub fn sample(count: u64) -> Stream<'static, Request> {
    Stream::from_range(0..count).map(|n| {
        let mixed = n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
        let behind = if mixed.is_multiple_of(1_000) { 600 } else { (mixed % 5) as i64 };
        Request {
            second: n as i64 / 10 - behind,
            user: (mixed % 500) as u32,
            path: (mixed / 500 % 20) as u32,
            micros: 100 + mixed % 9_973,
        }
    })
}

/// For each minute and path: the second at which the minute begins, the path, and the number of requests. Also returns the
/// number of requests that came too late.
pub fn by_minute(requests: Stream<'_, Request>) -> (Vec<(i64, u32, u64)>, u64) {
    let mut late = 0;
    let minutes =
        TimeWindows::tumbling(60, |request: &Request| request.second).lateness(5).on_late(|_| late += 1);
    let counts = requests
        .aggregate_windows_by_key(|request| request.path, minutes, |_| 1, |a, b| a + b)
        .map(|window| (window.start, window.key, window.value))
        .collect();
    (counts, late)
}

/// The longest time of the last hundred answers, after each ten.
pub fn slowest(requests: Stream<'_, Request>) -> Vec<u64> {
    requests
        .aggregate_windows(CountWindows::sliding(100, 10), |request| request.micros, u64::max)
        .map(|window| window.value)
        .collect()
}

/// How many requests each visit has. A visit ends when its user has asked for nothing for a minute.
pub fn visits(requests: Stream<'_, Request>) -> Vec<(u32, usize)> {
    let visits = SessionWindows::new(60, |request: &Request| request.second).lateness(5);
    requests
        .windows_by_key(|request| request.user, visits)
        .map(|visit| (visit.key, visit.value.len()))
        .collect()
}

fn main() {
    let count = 100_000;
    let (minutes, late) = by_minute(sample(count));
    println!("{} counts by minute and path, {late} requests too late", minutes.len());
    let slowest = slowest(sample(count));
    println!("the last hundred answers took up to {} µs", slowest.last().unwrap_or(&0));
    let visits = visits(sample(count));
    let longest = visits.iter().max_by_key(|visit| visit.1);
    println!("{} visits, the longest by user and requests: {longest:?}", visits.len());
}
