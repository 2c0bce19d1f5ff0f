//! Threads and channels of the standard library. Items are dealt to the workers in turn, so their results
//! are in order if they are taken in turn.

use std::sync::mpsc::sync_channel;
use std::thread;

use super::Ordered;

/// How many items may wait in a channel.
const WAITING: usize = 128;

/// See above.
pub struct Threads;

impl Ordered for Threads {
    const NAME: &'static str = "threads";

    fn map<T: Send + Sync + 'static, U: Send + 'static>(
        source: impl Iterator<Item = T> + Send + 'static,
        workers: usize,
        map: impl Fn(T) -> U + Send + Sync + Copy + 'static,
    ) -> impl Iterator<Item = U> + Send + 'static {
        let (mut to_workers, mut from_workers) = (Vec::new(), Vec::new());
        for _ in 0..workers {
            let (to_worker, items) = sync_channel::<T>(WAITING);
            let (to_caller, results) = sync_channel::<U>(WAITING);
            // A send fails if the other side has gone, and then there is nothing left to do.
            thread::spawn(move || items.into_iter().try_for_each(|item| to_caller.send(map(item))));
            to_workers.push(to_worker);
            from_workers.push(results);
        }
        thread::spawn(move || {
            source.zip(to_workers.iter().cycle()).try_for_each(|(item, to_worker)| to_worker.send(item))
        });
        let mut turn = 0;
        std::iter::from_fn(move || {
            let result = from_workers[turn].recv().ok();
            turn = (turn + 1) % from_workers.len();
            result
        })
    }

    fn map_in_any_order<T: Send + Sync + 'static, U: Send + 'static>(
        source: impl Iterator<Item = T> + Send + 'static,
        workers: usize,
        map: impl Fn(T) -> U + Send + Sync + Copy + 'static,
    ) -> impl Iterator<Item = U> + Send + 'static {
        let (to_caller, from_workers) = sync_channel::<U>(WAITING);
        let mut to_workers = Vec::new();
        for _ in 0..workers {
            let (to_worker, items) = sync_channel::<T>(WAITING);
            let to_caller = to_caller.clone();
            thread::spawn(move || items.into_iter().try_for_each(|item| to_caller.send(map(item))));
            to_workers.push(to_worker);
        }
        thread::spawn(move || {
            source.zip(to_workers.iter().cycle()).try_for_each(|(item, to_worker)| to_worker.send(item))
        });
        from_workers.into_iter()
    }
}
