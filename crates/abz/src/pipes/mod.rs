//! Functions that the streams of all formats share.

pub(crate) mod access;
pub(crate) mod buffers;
pub(crate) mod cut;
pub(crate) mod decode;
pub(crate) mod encode;
pub(crate) mod inputs;
pub(crate) mod parts;

use std::any::Any;
use std::iter;
use std::marker::PhantomData;
use std::sync::Arc;

use anabranch::{Plan, Pool, ReportSlot, Source, TryStream};

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

/// Begins a stream of `items`, whose source is called `name`, with the settings that are the same for all pipelines.
fn begin<'a, T, I>(items: I, name: &str, title: &str, threads: Threads<'a>) -> TryStream<'a, T, Error>
where
    T: Send + 'a,
    I: Iterator<Item = Result<T, Error>> + Send + 'a,
{
    let stream = Source::try_new(items)
        .named(name)
        .into_stream()
        .title(title)
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

/// A stream that makes items in order, and maps them on any thread. The results have the type `T`, which the stream hides.
pub(crate) struct Pipe<'a, T> {
    stream: TryStream<'a, Item, Error>,
    results: PhantomData<fn() -> T>,
}

/// Makes the next item of a stream.
pub(crate) type Next<'a> = Box<dyn FnMut() -> Result<Option<Item>, Error> + Send + 'a>;

/// Makes the functions with which the threads of a stream map its items.
pub(crate) type Maps<'a> = Arc<dyn Fn() -> Map<'a> + Send + Sync + 'a>;

/// Maps items. It stays on the thread that made it.
pub(crate) type Map<'a> = Box<dyn FnMut(Item) -> Result<Item, Error> + 'a>;

/// Makes the functions that map items by `map`. Each has tables of its own, which `make` makes.
pub(crate) fn maps<'a, I: Any + Send, S: 'a, T: Any + Send>(
    make: impl Fn() -> S + Send + Sync + 'a,
    map: impl Fn(&mut S, I) -> Result<T, Error> + Clone + Send + Sync + 'a,
) -> Maps<'a> {
    Arc::new(move || {
        let (mut tables, map) = (make(), map.clone());
        Box::new(move |item| map(&mut tables, unhide(item)).map(hide))
    })
}

/// Makes a stream of hidden items: `next` makes them, and `maps` maps them if it is there. Both have names.
pub(crate) fn stream<'a>(
    title: &str,
    threads: Threads<'a>,
    (name, mut next): (&str, Next<'a>),
    maps: Option<(&str, Maps<'a>)>,
) -> TryStream<'a, Item, Error> {
    let stream = begin(iter::from_fn(move || next().transpose()), name, title, threads);
    match maps {
        Some((name, maps)) => stream.named(name).try_map_init(move || maps(), |map, item| map(item)),
        None => stream,
    }
}

impl<'a, T: Any + Send> Pipe<'a, T> {
    /// Creates a stream of `items`. Each thread maps some of them by a function of `maps`, which may be left out if items are
    /// of the type `T` themselves.
    pub(crate) fn new<I: Any + Send>(
        title: &str,
        threads: Threads<'a>,
        (name, mut items): (&str, impl Iterator<Item = Result<I, Error>> + Send + 'a),
        maps: Option<(&str, Maps<'a>)>,
    ) -> Self {
        let next = Box::new(move || Ok(items.next().transpose()?.map(hide)));
        Pipe { stream: stream(title, threads, (name, next), maps), results: PhantomData }
    }

    /// Runs the stream to its end, and reports as `options` asks.
    pub(crate) fn carry_out(
        self,
        options: &RunOptions<'_>,
        mut write: impl FnMut(T) -> Result<(), Error> + Send,
    ) -> Result<(), Error> {
        carry_out(self.stream, WRITE, options, &mut |item| write(unhide(item)))
    }

    /// Returns the plan of the stream.
    pub(crate) fn plan(self) -> Plan {
        self.stream.named(WRITE).plan()
    }
}

/// The name of the end of most streams.
pub(crate) const WRITE: &str = "write";

/// Runs a stream to its end, which is called `end`, and reports as `options` asks.
pub(crate) fn carry_out(
    stream: TryStream<'_, Item, Error>,
    end: &str,
    options: &RunOptions<'_>,
    write: &mut (dyn FnMut(Item) -> Result<(), Error> + Send),
) -> Result<(), Error> {
    let Some(tell) = options.report else { return stream.named(end).try_for_each(write) };
    let stream = if options.traces { stream.trace() } else { stream };
    let slot = ReportSlot::new();
    let result = stream.report_to(&slot).named(end).try_for_each(write);
    if let Some(report) = slot.take() {
        tell(&report);
    }
    result
}

/// As [`carry_out`], but all workers write the bytes that `gather` makes of each result, at their offsets. `end` is the
/// offset at which the next bytes begin, and `name` the name of the stream's end.
pub(crate) fn carry_out_at<'a>(
    stream: TryStream<'a, Item, Error>,
    name: &str,
    options: &RunOptions<'_>,
    sink: &'a dyn WriteAt,
    end: &'a mut u64,
    mut gather: impl FnMut(Item) -> Result<Vec<u8>, Error> + Send + 'a,
) -> Result<(), Error> {
    let stream = stream
        .named("place")
        .try_serial_map(move |item| {
            let bytes = gather(item)?;
            let at = *end;
            *end += bytes.len() as u64;
            Ok(hide((at, bytes)))
        })
        .named("write at its place")
        .try_map(move |item| {
            let (at, bytes): (u64, Vec<u8>) = unhide(item);
            sink.write_at(&bytes, at).map_err(Error::Write).map(hide)
        });
    carry_out(stream, name, options, &mut |_| Ok(()))
}
