//! The type of a stream, its sources and ends, its settings, its plan, and its run.

mod account;
mod attached;
mod build;
mod choose;
pub mod contract;
mod defaults;
mod draft;
mod ends;
mod errors;
mod inner;
mod mode;
pub mod options;
mod pipeline;
mod run;
mod settings;
mod source;
mod sources;
mod summaries;

pub(crate) use account::{Account, Joins, Sent};
pub(crate) use attached::{Handed, Inner, Outside};
pub(crate) use defaults::Blocks;
pub use defaults::default_workers;
pub(crate) use draft::Draft;
pub use ends::Container;
pub(crate) use inner::{adopt, adopter, leave};
pub use mode::{Admit, Blend, May, Mode, Sure};
pub use pipeline::Pipeline;
pub(crate) use run::{Connect, connecting, set_up};
pub use settings::remark;
pub use source::{Source, Waits};
pub use sources::SendIterator;

use std::marker::PhantomData;

use anabranch_record::sync::Arc;

use crate::engine::{ErrorSlot, Upstream};

/// A streaming loop: a source, stages, and settings. The methods that are called *ends* run it.
///
/// A stage whose name has `serial` in it, or that depends on the order of the items, as `take`, `scan` and `chunks` do, runs for
/// one item at a time, in order, and may change the variables that it captures. The other stages run for several items at once.
/// The end sees what the plain loop would have given: the same items in the same order, and the same first error.
///
/// If an item is less than a microsecond of work, let parallel closures own (`move`) the variables that they
/// read. A variable on the stack may share a cache line with a variable that a serial stage changes, and is
/// then fetched again after each change.
///
/// Items pass through the stages by value, and so through the stacks of the threads. The threads that a run starts have room for
/// items of up to 128 KiB, also in a debug build. Put larger arrays into a `Box` or a `Vec`. The calling thread works too, and
/// needs 4 MiB of stack for such items, or 12 MiB in a debug build. A main thread has 8 MiB: in a debug build, it has room for items
/// of 64 KiB. The results of a stage are items too, such as the pairs of a [`zip`](Self::zip).
///
/// # The first twenty methods
///
/// A stream begins with an iterator: [`from_iter`](Self::from_iter), or [`try_from_iter`](Self::try_from_iter) if reading may fail.
/// [`map`](Self::map), [`filter`](Self::filter), [`filter_map`](Self::filter_map) and [`flat_map`](Self::flat_map) run on all cores,
/// [`try_map`](Self::try_map) may fail there, and [`map_init`](Self::map_init) keeps a buffer for each worker.
/// [`serial_map`](Self::serial_map) takes one item after the other, in order, so it may change variables. [`enumerate`](Self::enumerate),
/// [`zip`](Self::zip), [`take`](Self::take) and [`chunks`](Self::chunks) do what they do for an iterator or a slice.
/// [`workers`](Self::workers) and [`window`](Self::window) bound the threads and the items under way. The end runs it all:
/// [`for_each`](Self::for_each), [`try_for_each`](Self::try_for_each), [`collect`](Self::collect), [`fold`](Self::fold),
/// [`count`](Self::count).
///
/// ```
/// use std::io::{self, BufRead, Write};
/// use anabranch::Stream;
///
/// /// Writes the readings of a sensor that are out of bounds, with their lines, and returns the sum of all readings.
/// fn alarms(input: impl BufRead + Send, mut output: impl Write + Send) -> io::Result<i64> {
///     let mut sum = 0;
///     Stream::try_from_iter(input.lines())                     // reads one line after the other
///         .workers(4)
///         .window(1_000)                                       // 1,000 lines are under way at most
///         .enumerate()
///         .filter(|(_, line)| !line.starts_with('#'))          // on all workers
///         .try_map(|(at, line)| match line.parse::<i64>() {
///             Ok(reading) => Ok((at, reading)),
///             Err(error) => Err(io::Error::other(error)),      // ends the stream, behind the lines before
///         })
///         .serial_map(|(at, reading)| { sum += reading; (at, reading) }) // one after the other, in order
///         .filter_map(|(at, reading)| (reading > 90).then(|| format!("{at}: {reading}\n")))
///         .chunks(64)
///         .try_for_each(|lines| output.write_all(lines.concat().as_bytes()))?; // in order
///     Ok(sum)
/// }
///
/// let mut output = Vec::new();
/// assert_eq!(alarms(&b"# in degrees\n20\n95\n91\n"[..], &mut output)?, 206);
/// assert_eq!(output, b"2: 95\n3: 91\n");
/// # Ok::<(), io::Error>(())
/// ```
///
/// The end gives the plain result if nothing may fail, and a `Result` otherwise. Here are the other methods of the twenty:
///
/// ```
/// use anabranch::Stream;
///
/// let letters = || Stream::from_iter(["ab", "c"]).flat_map(|word| word.chars());
/// assert_eq!(letters().zip(1..).collect::<Vec<_>>(), [('a', 1), ('b', 2), ('c', 3)]);
/// assert_eq!(letters().take(2).count(), 2);
/// let doubled = letters().map_init(String::new, |buffer, letter| {
///     buffer.clear(); // its memory is used again
///     buffer.extend([letter, letter]);
///     buffer.len()
/// });
/// assert_eq!(doubled.fold(0, |sum, len| sum + len), 6);
/// let mut capitals = String::new();
/// letters().map(|letter| letter.to_ascii_uppercase()).for_each(|letter| capitals.push(letter));
/// assert_eq!(capitals, "ABC");
/// ```
///
/// # The type
///
/// The type of a stream says what its items and its errors are, and nothing else. So streams can be kept in fields, returned, and
/// built in an `if`. A stream whose calls may fail is a [`TryStream`].
///
/// ```
/// use std::io;
/// use anabranch::{Stream, TryStream};
///
/// struct Job<'a> {
///     numbers: Stream<'a, u64>,
///     lines: TryStream<'a, String, io::Error>,
/// }
///
/// fn squares<'a>(n: u64, odd: bool) -> Stream<'a, u64> {
///     let s = Stream::from_range(0..n).map(|x| x * x);
///     if odd { s.filter(|x| x % 2 == 1) } else { s.flat_map(|x| [x, x]) }
/// }
///
/// fn numbered<'a, T: Send + 'a, E: Send + 'a>(s: TryStream<'a, T, E>) -> TryStream<'a, (usize, T), E> {
///     s.enumerate()
/// }
///
/// let job = Job { numbers: squares(4, true), lines: Stream::try_from_iter(["a".to_owned()].map(Ok)) };
/// assert_eq!(job.numbers.collect::<Vec<_>>(), [1, 9]);
/// assert_eq!(numbered(job.lines).collect::<Vec<_>>()?, [(0, "a".to_owned())]);
/// # Ok::<(), io::Error>(())
/// ```
///
/// # Methods by what one wants to do
///
/// | to | methods |
/// |---|---|
/// | begin with an iterator or a slice | [`from_iter`](Self::from_iter), [`from_slice`](Self::from_slice), [`from_range`](Self::from_range), [`try_from_iter`](Self::try_from_iter) |
/// | begin with what other threads or tasks send | [`channel`](Self::channel); with the feature `futures` `from_async` and `try_from_async` |
/// | call a function for each item, at the end | [`for_each`](Self::for_each), [`try_for_each`](Self::try_for_each) |
/// | collect | [`collect`](Self::collect) |
/// | make one value of all items | [`fold`](Self::fold), [`try_fold`](Self::try_fold), [`reduce`](Self::reduce), [`sum`](Self::sum), [`count`](Self::count), [`min`](Self::min), [`max`](Self::max) |
/// | search | [`find`](Self::find), [`any`](Self::any), [`all`](Self::all) |
/// | go on with an iterator or an asynchronous stream | `into_iter`, [`with_iter`](Self::with_iter); with the feature `futures` `into_async` |
/// | change items on all cores | [`map`](Self::map), [`try_map`](Self::try_map), [`inspect`](Self::inspect) |
/// | drop items on all cores | [`filter`](Self::filter), [`filter_map`](Self::filter_map), [`try_filter_map`](Self::try_filter_map) |
/// | make several items of one on all cores | [`flat_map`](Self::flat_map), [`try_flat_map`](Self::try_flat_map), [`flatten`](Self::flatten), [`spread`](Self::spread) |
/// | keep a buffer or an encoder for each worker | [`map_init`](Self::map_init), [`try_map_init`](Self::try_map_init) |
/// | keep a state for each key | [`map_by_key`](Self::map_by_key), [`map_sharded`](Self::map_sharded), [`try_map_sharded`](Self::try_map_sharded) |
/// | use the results of other items | [`map_dependent`](Self::map_dependent), [`try_map_dependent`](Self::try_map_dependent) |
/// | keep one state, item by item in order | [`serial_map`](Self::serial_map), [`serial_filter_map`](Self::serial_filter_map), [`scan`](Self::scan), [`serial_flat_map`](Self::serial_flat_map), [`serial_spread`](Self::serial_spread) |
/// | do so with a function that may fail | [`try_serial_map`](Self::try_serial_map), [`try_serial_filter_map`](Self::try_serial_filter_map), [`try_serial_flat_map`](Self::try_serial_flat_map), [`try_serial_spread`](Self::try_serial_spread) |
/// | write a stage of your own, with a state and an end | [`operator`](Self::operator), [`try_operator`](Self::try_operator): [`Operator`](crate::Operator) |
/// | take a part | [`take`](Self::take), [`take_while`](Self::take_while), [`skip`](Self::skip), [`step_by`](Self::step_by), [`map_while`](Self::map_while) |
/// | put items together | [`chunks`](Self::chunks), [`chunk_by`](Self::chunk_by), [`ready_chunks`](Self::ready_chunks), [`chunks_timeout`](Self::chunks_timeout) |
/// | look at windows by count, time and gap | [`windows`](Self::windows), [`windows_by_key`](Self::windows_by_key), [`aggregate_windows`](Self::aggregate_windows), [`aggregate_windows_by_key`](Self::aggregate_windows_by_key) |
/// | add other items | [`enumerate`](Self::enumerate), [`zip`](Self::zip), [`chain`](Self::chain), [`interleave`](Self::interleave) |
/// | put several streams into one as their items come | [`select_all`](Self::select_all) |
/// | run branches beside each other | [`broadcast`](Self::broadcast), [`split`](Self::split); then `branch`, and [`zip`](crate::Branches::zip), [`merge`](crate::Branches::merge) or [`join`](crate::Branches::join) |
/// | let items go round again | [`feedback`](Self::feedback), [`feedback_from`](Self::feedback_from) |
/// | have workers that differ | [`farm`](Self::farm), [`try_farm`](Self::try_farm) |
/// | apply a chain of stages that is a value | [`through`](Self::through) |
/// | change the order | [`sorted_within_by_key`](Self::sorted_within_by_key), [`unordered`](Self::unordered) |
/// | change the error | [`map_err`](Self::map_err) |
/// | set threads | [`workers`](Self::workers), [`pool`](Self::pool), [`inline`](Self::inline) |
/// | give [options](crate::options) to the next stage | [`named`](Self::named), [`cost`](Self::cost), [`replicas`](Self::replicas), [`dedicated`](Self::dedicated) |
/// | bound the rate, and the time of a call | [`throttle`](Self::throttle); [`TimeLimit`](crate::TimeLimit) |
/// | give options to a source | [`Source`](crate::Source): a name, a thread of its own, items in blocks, a window in bytes |
/// | set bounds | [`window`](Self::window), [`burst`](Self::burst) |
/// | name the run | [`title`](Self::title) |
/// | stop a run, and look into it | [`cancel_by`](Self::cancel_by), [`watch`](Self::watch), [`count_bytes`](Self::count_bytes), [`report_to`](Self::report_to); with the feature `json` `trace` |
/// | look at what will run, and change it | [`plan`](Self::plan), [`explain`](Self::explain), [`with_plan`](Self::with_plan) |
/// | let passes choose | [`costs_from`](Self::costs_from), [`passes`](Self::passes) |
#[must_use = "a stream does nothing before its end"]
pub struct Stream<'env, T: Send, M: Mode = Sure, O = ()> {
    /// The code of the source and the stages, beside the plan.
    pub(crate) code: Box<dyn Upstream<T> + 'env>,
    /// The place in which the stages that are added put their error.
    pub(crate) errors: Arc<ErrorSlot<M::Error>>,
    /// The plan and its attachments. They are boxed because every call of the builder moves the stream.
    pub(crate) draft: Box<Draft<'env>>,
    pub(crate) mode: PhantomData<fn() -> (M, O)>,
}

/// A stream whose calls may fail with `E`.
///
/// ```
/// use std::io::{self, BufRead};
/// use anabranch::{Stream, TryStream};
///
/// fn lengths<'a>(input: impl BufRead + Send + 'a) -> TryStream<'a, usize, io::Error> {
///     Stream::try_from_iter(input.lines()).map(|line: String| line.len())
/// }
///
/// assert_eq!(lengths(&b"one\nthree\n"[..]).fold(0, usize::max)?, 5);
/// # Ok::<(), io::Error>(())
/// ```
pub type TryStream<'env, T, E> = Stream<'env, T, May<E>>;

impl<T: Send, M: Mode, O> std::fmt::Debug for Stream<'_, T, M, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let plan = &self.draft.outline.plan;
        let stages: Vec<&str> = plan.nodes.iter().map(|node| &*node.name).collect();
        f.debug_struct("Stream").field("stages", &stages).field("settings", &plan.settings).finish()
    }
}
