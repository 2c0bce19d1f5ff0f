//! Functions that the streams of all formats share.

pub(crate) mod access;
pub(crate) mod cut;
pub(crate) mod decode;
pub(crate) mod encode;
pub(crate) mod inputs;
pub(crate) mod parts;

use std::any::Any;

use anabranch::{Pool, Stream, TryStream};

use crate::error::Error;
use crate::positional::WriteAt;
use crate::run_options::{RunOptions, at_work};

/// The settings of a stream.
#[derive(Clone, Copy)]
pub(crate) struct Threads<'a> {
    pub(crate) workers: usize,
    /// The maximum number of items in memory at once.
    pub(crate) window: usize,
    pub(crate) pool: Option<&'a Pool>,
}

/// Begins a stream of `items`, with the settings that are the same for all pipelines.
pub(crate) fn begin<'a, T, I>(items: I, title: &str, threads: Threads<'a>) -> TryStream<'a, T, Error>
where
    T: Send + 'a,
    I: Iterator<Item = Result<T, Error>> + Send + 'a,
{
    let stream = Stream::try_from_iter(items)
        .name("read")
        .title(title)
        .name_end("write")
        .workers(at_work(threads.workers))
        .window(threads.window);
    match threads.pool {
        Some(pool) => stream.pool(pool),
        None => stream,
    }
}

/// An item whose type is hidden, so that the streams of all formats share their code.
pub(crate) type Item = Box<dyn Any + Send>;

/// Hides the type of an item.
pub(crate) fn hide<T: Any + Send>(item: T) -> Item {
    Box::new(item)
}

/// Returns an item whose type was hidden.
pub(crate) fn unhide<T: Any>(item: Item) -> T {
    *item.downcast().expect("a step takes what the step before it gives")
}

/// The maximum number of items in memory at once: two for each worker that is at work, of which one is being processed
/// and one waits.
pub(crate) fn window(workers: usize) -> usize {
    2 * at_work(workers)
}

/// Runs a stream to its end, and reports as `options` asks.
pub(crate) fn carry_out<'a, T: Send + 'a>(
    stream: TryStream<'a, T, Error>,
    options: &RunOptions<'_>,
    write: impl FnMut(T) -> Result<(), Error> + Send + 'a,
) -> Result<(), Error> {
    let Some(tell) = options.report else { return stream.try_for_each(write) };
    let stream = if options.traces { stream.trace() } else { stream };
    let (result, report) = stream.report().try_for_each(write);
    tell(&report);
    result
}

/// As [`carry_out`], but all workers write the bytes that `gather` makes of each result, at their offsets. `end` is the
/// offset at which the next bytes begin.
pub(crate) fn carry_out_at<'a, T: Send + 'a>(
    stream: TryStream<'a, T, Error>,
    options: &RunOptions<'_>,
    sink: &'a dyn WriteAt,
    end: &'a mut u64,
    mut gather: impl FnMut(T) -> Result<Vec<u8>, Error> + Send + 'a,
) -> Result<(), Error> {
    let stream = stream
        .try_serial(move |item| {
            let bytes = gather(item)?;
            let at = *end;
            *end += bytes.len() as u64;
            Ok((at, bytes))
        })
        .name("place")
        .try_map(move |(at, bytes): (u64, Vec<u8>)| sink.write_at(&bytes, at).map_err(Error::Write))
        .name("write at its place");
    carry_out(stream, options, |()| Ok(()))
}
