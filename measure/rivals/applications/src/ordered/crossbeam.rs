//! Channels of crossbeam: one that all workers take from, one for the results, and a buffer that restores order.

use std::collections::VecDeque;
use std::thread;

use crossbeam_channel::bounded;

use super::Ordered;

/// How many items may wait in a channel.
const WAITING: usize = 256;

/// See above.
pub struct Crossbeam;

impl Ordered for Crossbeam {
    const NAME: &'static str = "crossbeam";

    fn map<T: Send + Sync + 'static, U: Send + 'static>(
        source: impl Iterator<Item = T> + Send + 'static,
        workers: usize,
        map: impl Fn(T) -> U + Send + Sync + Copy + 'static,
    ) -> impl Iterator<Item = U> + Send + 'static {
        let (items, tasks) = bounded::<(usize, T)>(WAITING);
        let (to_caller, results) = bounded::<(usize, U)>(WAITING);
        // A send fails if the other side has gone, and then there is nothing left to do.
        thread::spawn(move || source.enumerate().try_for_each(|task| items.send(task)));
        for _ in 0..workers {
            let (tasks, to_caller) = (tasks.clone(), to_caller.clone());
            thread::spawn(move || {
                tasks.into_iter().try_for_each(|(index, item)| to_caller.send((index, map(item))))
            });
        }
        // The results that came too early, by how far they are ahead of `next`.
        let (mut next, mut early) = (0, VecDeque::<Option<U>>::new());
        std::iter::from_fn(move || {
            while !matches!(early.front(), Some(Some(_))) {
                let (index, result) = results.recv().ok()?;
                let ahead = index - next;
                if ahead >= early.len() {
                    early.resize_with(ahead + 1, || None);
                }
                early[ahead] = Some(result);
            }
            next += 1;
            early.pop_front()?
        })
    }

    fn map_in_any_order<T: Send + Sync + 'static, U: Send + 'static>(
        source: impl Iterator<Item = T> + Send + 'static,
        workers: usize,
        map: impl Fn(T) -> U + Send + Sync + Copy + 'static,
    ) -> impl Iterator<Item = U> + Send + 'static {
        let (items, tasks) = bounded::<T>(WAITING);
        let (to_caller, results) = bounded::<U>(WAITING);
        thread::spawn(move || {
            let mut source = source;
            source.try_for_each(|item| items.send(item))
        });
        for _ in 0..workers {
            let (tasks, to_caller) = (tasks.clone(), to_caller.clone());
            thread::spawn(move || tasks.into_iter().try_for_each(|item| to_caller.send(map(item))));
        }
        results.into_iter()
    }
}
