//! Channels and a reorder buffer, written by hand: one thread for the source, and one for each worker. The
//! caller takes the results and restores their order.

use std::collections::VecDeque;
use std::thread;

use crossbeam_channel::bounded;

use crate::Job;
use crate::work::Digest;

/// At most `setting` items wait in each channel.
pub fn each(job: Job) -> u64 {
    let source = 0..job.items;
    let map = move |item| job.work.run(item);
    let mut digest = Digest::EMPTY;
    ordered(source, map, job.threads, job.setting, |item| digest = digest.with(item));
    digest.number()
}

/// Chunks of `setting` items.
pub fn chunks(job: Job) -> u64 {
    let source = chunked(job.items, job.setting);
    let map = move |mut chunk: Vec<u64>| {
        chunk.iter_mut().for_each(|item| *item = job.work.run(*item));
        chunk
    };
    let mut digest = Digest::EMPTY;
    ordered(source, map, job.threads, 16, |chunk: Vec<u64>| {
        digest = chunk.into_iter().fold(digest, Digest::with)
    });
    digest.number()
}

/// The items in vectors of `size`.
pub fn chunked(items: u64, size: usize) -> impl Iterator<Item = Vec<u64>> + Send + 'static {
    let mut items = 0..items;
    std::iter::from_fn(move || {
        let chunk: Vec<u64> = items.by_ref().take(size).collect();
        (!chunk.is_empty()).then_some(chunk)
    })
}

fn ordered<T: Send, U: Send>(
    source: impl Iterator<Item = T> + Send,
    map: impl Fn(T) -> U + Sync,
    threads: usize,
    capacity: usize,
    mut sink: impl FnMut(U),
) {
    let (to_workers, tasks) = bounded::<(usize, T)>(capacity);
    let (from_workers, results) = bounded::<(usize, U)>(capacity);
    thread::scope(|scope| {
        scope.spawn(move || {
            for task in source.enumerate() {
                to_workers.send(task).expect("workers stay to the end");
            }
        });
        for _ in 0..threads {
            let (tasks, from_workers, map) = (tasks.clone(), from_workers.clone(), &map);
            scope.spawn(move || {
                for (index, item) in tasks {
                    from_workers.send((index, map(item))).expect("the sink stays to the end");
                }
            });
        }
        drop((tasks, from_workers));
        // The results that came too early, by how far they are ahead of `next`.
        let (mut next, mut early) = (0, VecDeque::<Option<U>>::new());
        for (index, result) in results {
            let ahead = index - next;
            if ahead >= early.len() {
                early.resize_with(ahead + 1, || None);
            }
            early[ahead] = Some(result);
            while let Some(Some(_)) = early.front() {
                sink(early.pop_front().flatten().expect("seen just now"));
                next += 1;
            }
        }
    });
}
