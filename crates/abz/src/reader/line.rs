//! A decompression whose input the caller reads: the caller's thread reads and joins, and a pool splits and decodes.

use std::io::Read;
use std::mem;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use abz_codec::access::Part;
use anabranch::{AsyncItems, Recycler, Sender, Stream, TryStream};
use futures_core::Stream as _;

use crate::error::Error;
use crate::pipes::Item;
use crate::pipes::decode::{self, Contents, Decoder, Farm, Join, Sizes, Steps};
use crate::pipes::inputs::Input;
use crate::threads::Threads;

/// The number of bytes of a file that are decoded on the caller's thread before a pool takes over.
const ALONE: u64 = 128 << 10;

/// The number of bytes that a read must give for the next one to come before all results of it. The input may wait for an
/// answer to what it has sent, so a read after a shorter one may wait for ever.
const FULL: usize = 64 << 10;

/// The maximum number of pieces of input that were read and not yet split.
const INPUTS: usize = 4;

/// The number of decoded pieces that may wait for the caller, beside those that the format's window allows.
const WAITING: usize = 2;

/// A decompression whose input the caller reads.
pub(crate) trait Decode: Send {
    /// Replaces the contents of `data` by the next contents of the file, at least one byte. Returns `false` if there are no
    /// more. Reads as much of `input` as is needed, and some of it ahead. After an error of `input` that
    /// [passes](Error::is_passing), it can be called again if it [resumes](Self::resumes).
    fn poll_next(
        &mut self,
        context: &mut Context<'_>,
        input: &mut dyn Read,
        data: &mut Vec<u8>,
    ) -> Poll<Result<bool, Error>>;

    /// Returns true if it can go on after an error that passes.
    fn resumes(&self) -> bool {
        true
    }

    /// The parts that were found so far and can be decoded by themselves: all up to some place. `None` if it finds none.
    fn parts(&self) -> Option<&[Part]> {
        None
    }
}

/// A decompression in the steps of a format.
pub(crate) struct DecodeLine {
    join: Box<dyn Join<Item>>,
    inputs: Recycler<Vec<u8>>,
    /// The number of bytes that were read.
    read: u64,
    window: usize,
    /// The threads that split and decode after the first bytes; `None` if the caller's thread does all.
    threads: Option<Threads>,
    state: State,
    /// The size of the contents so far in bytes, and their parts.
    contents: u64,
    parts: Vec<Part>,
    /// The damage to report after the contents that were given out last.
    damage: Option<Error>,
}

enum State {
    Alone(Box<Alone>),
    Pooled(Pooled),
    /// All input was decoded.
    Ending,
}

/// The steps on the caller's thread.
struct Alone {
    farm: Farm<'static>,
    decode: Decoder<'static>,
    input: Option<Input>,
}

impl DecodeLine {
    /// Creates a decompression of a file from its start.
    pub(crate) fn new(steps: Steps<'static>, threads: Option<Threads>) -> Box<Self> {
        let Steps { farm, join, sizes: Sizes { inputs, window, .. }, .. } = steps;
        let decode = (farm.decoders)();
        let state = State::Alone(Box::new(Alone { farm, decode, input: None }));
        Box::new(DecodeLine {
            join,
            inputs,
            read: 0,
            window,
            threads,
            state,
            contents: 0,
            parts: Vec::new(),
            damage: None,
        })
    }

    /// Returns the next contents, perhaps none; `None` at the end.
    fn poll_step(
        &mut self,
        context: &mut Context<'_>,
        source: &mut dyn Read,
    ) -> Poll<Result<Option<Option<Contents>>, Error>> {
        let decoded = match &mut self.state {
            State::Alone(alone) => {
                let Alone { farm, decode, input } = &mut **alone;
                if let Some(some) = input {
                    match (farm.split)(some)? {
                        Some(piece) => decode(piece)?,
                        None if some.is_end() => {
                            self.state = State::Ending;
                            return Poll::Ready(Ok(Some(None)));
                        }
                        None => {
                            *input = None;
                            return Poll::Ready(Ok(Some(None)));
                        }
                    }
                } else if self.read >= ALONE && Threads::start(&mut self.threads).is_some() {
                    self.move_to_pool();
                    return Poll::Ready(Ok(Some(None)));
                } else {
                    let next = Input::read(source, self.inputs.take(), self.read)?;
                    self.read += next.left() as u64;
                    *input = Some(next);
                    return Poll::Ready(Ok(Some(None)));
                }
            }
            State::Pooled(pooled) => {
                match ready!(pooled.poll(context, source, (&self.inputs, &mut self.read)))? {
                    Some(decoded) => decoded,
                    None => {
                        self.state = State::Ending;
                        return Poll::Ready(Ok(Some(None)));
                    }
                }
            }
            State::Ending => return Poll::Ready(Ok(self.join.finish()?.map(Some))),
        };
        Poll::Ready(Ok(Some(self.join.next(decoded)?)))
    }

    fn move_to_pool(&mut self) {
        if let (Some(threads), State::Alone(alone)) =
            (&self.threads, mem::replace(&mut self.state, State::Ending))
        {
            self.state = State::Pooled(Pooled::new(alone.farm, self.window + WAITING, threads));
        }
    }
}

impl Decode for DecodeLine {
    fn poll_next(
        &mut self,
        context: &mut Context<'_>,
        input: &mut dyn Read,
        data: &mut Vec<u8>,
    ) -> Poll<Result<bool, Error>> {
        if let Some(damage) = self.damage.take() {
            return Poll::Ready(Err(damage));
        }
        while let Some(contents) = ready!(self.poll_step(context, input))? {
            let Some(contents) = contents else { continue };
            self.damage = contents.move_to(data);
            if data.is_empty() {
                continue;
            }
            let start = self.contents;
            self.contents += data.len() as u64;
            self.parts.extend(self.join.part(start..self.contents));
            return Poll::Ready(Ok(true));
        }
        Poll::Ready(Ok(false))
    }

    fn parts(&self) -> Option<&[Part]> {
        self.join.finds_parts().then_some(&*self.parts)
    }
}

/// The first two steps of a decompression, on a pool.
struct Pooled {
    /// `None` once the end of the file was posted.
    sender: Option<Sender<Input>>,
    results: AsyncItems<Result<Item, Error>>,
    progress: Arc<Progress>,
    /// The number of inputs posted, and of results taken.
    posted: usize,
    results_taken: usize,
    /// Whether the last read gave so many bytes that the next one will probably not wait.
    is_full: bool,
}

impl Pooled {
    fn new(farm: Farm<'static>, window: usize, threads: &Threads) -> Self {
        let progress = Arc::new(Progress::default());
        let (sender, stream) = Stream::channel(INPUTS);
        let source: TryStream<'static, Input, Error> = stream.into();
        let source = source.title("abz reader").workers(threads.workers).window(window);
        let seen = Arc::clone(&progress);
        let stream =
            decode::stream(source.pool(&threads.pool), farm, Box::new(move |is_piece| seen.note(is_piece)));
        let results = stream.into_async();
        Pooled { sender: Some(sender), results, progress, posted: 0, results_taken: 0, is_full: true }
    }

    /// Returns the next decoded piece; `None` at the end. Reads `source` into buffers of `inputs`, and counts the bytes.
    fn poll(
        &mut self,
        context: &mut Context<'_>,
        source: &mut dyn Read,
        (inputs, read): (&Recycler<Vec<u8>>, &mut u64),
    ) -> Poll<Result<Option<Item>, Error>> {
        loop {
            // Before the results and the counts are looked at, so that no change of them is missed.
            self.progress.tell(context.waker());
            if let Poll::Ready(result) = Pin::new(&mut self.results).poll_next(context) {
                self.results_taken += 1;
                return Poll::Ready(result.transpose());
            }
            let Some(sender) = self.sender.as_ref().filter(|_| self.may_read()) else { return Poll::Pending };
            let input = match Input::read(source, inputs.take(), *read) {
                Err(error) if error.is_passing() && !self.has_all() => {
                    // The pieces that were read before still have results.
                    self.is_full = false;
                    continue;
                }
                input => input?,
            };
            *read += input.left() as u64;
            self.is_full = input.left() >= FULL;
            self.posted += 1;
            let is_end = input.is_end();
            // The channel has room for all inputs that may be read ahead, and a stream that has failed takes none.
            let _ = sender.try_send(input);
            if is_end {
                self.sender = None;
            }
        }
    }

    /// Returns true if another read delays no result for ever.
    fn may_read(&self) -> bool {
        self.has_all() || self.is_full && self.ahead() < INPUTS
    }

    /// The number of inputs that were posted and not yet split.
    fn ahead(&self) -> usize {
        self.posted - self.progress.split.load(Ordering::Acquire)
    }

    /// Returns true if all results of what was read were taken.
    fn has_all(&self) -> bool {
        self.ahead() == 0 && self.progress.pieces.load(Ordering::Relaxed) == self.results_taken
    }
}

/// How far the pool has come, and whom to wake when it has come further.
#[derive(Default)]
struct Progress {
    /// The number of inputs that were split, and of the pieces that were found.
    split: AtomicUsize,
    pieces: AtomicUsize,
    waker: Mutex<Option<Waker>>,
}

impl Progress {
    /// Counts a piece, or an input that was split.
    fn note(&self, is_piece: bool) {
        if is_piece {
            self.pieces.fetch_add(1, Ordering::Relaxed);
        } else {
            self.split.fetch_add(1, Ordering::Release);
            let waker = self.lock().take();
            waker.iter().for_each(Waker::wake_by_ref);
        }
    }

    /// Wakes `waker` when the next input was split.
    fn tell(&self, waker: &Waker) {
        let old = self.lock().replace(waker.clone());
        drop(old);
    }

    fn lock(&self) -> MutexGuard<'_, Option<Waker>> {
        self.waker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
