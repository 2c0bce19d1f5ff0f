//! The steps in which the files of all formats are encoded. A stream runs them, or a writer whose caller's thread cuts and
//! joins.

use std::any::Any;
use std::io::{self, Read, Write};
use std::marker::PhantomData;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anabranch::{Plan, TryStream};

use super::cut::Cut;
use super::{Item, Maps, Next, Threads, WRITE, carry_out, carry_out_at, hide, maps, unhide};
use crate::compression::Compressed;
use crate::count::Counted;
use crate::error::Error;
use crate::positional::{Reading, Writing};
use crate::run_options::RunOptions;

/// Joins encoded blocks to a file in memory, in order.
pub(crate) trait Join<E>: Send {
    /// Adds a block to the file.
    fn add(&mut self, encoded: E) -> Result<(), Error>;

    /// Makes the file readable so far, behind its last block. More blocks may follow.
    fn flush(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Ends the file, and returns the bytes that were not yet taken.
    fn finish(self: Box<Self>) -> Result<Vec<u8>, Error>;

    /// The bytes of the file that are complete, for the caller to take.
    fn bytes(&mut self) -> &mut Vec<u8>;
}

/// How a file of a format is encoded: its contents are cut into blocks, in order; any thread encodes a block; and the
/// results are joined, in order. The types of blocks and results are hidden.
pub(crate) struct Steps<'a> {
    pub(crate) cut: Box<dyn Cut<Item> + 'a>,
    /// Makes encoders; `None` if the step that joins encodes.
    pub(crate) encoders: Option<Maps<'a>>,
    /// Makes encoders of blocks that were flushed; `None` if each block is encoded by itself.
    pub(crate) flushing: Option<MakeFlushing<'a>>,
    pub(crate) join: MakeJoin<'a>,
}

/// Encodes blocks that were flushed, and that follow each other, with the contents before them.
pub(crate) type Flushing<'a> = Box<dyn FnMut(Item) -> Result<Item, Error> + Send + 'a>;

/// Makes encoders, each of which refers to no contents before its first block.
pub(crate) type MakeFlushing<'a> = Box<dyn Fn() -> Flushing<'a> + Send + 'a>;

/// Makes the step that joins.
type MakeJoin<'a> = Box<dyn FnOnce() -> Result<Box<dyn Join<Item> + 'a>, Error> + 'a>;

impl<'a> Steps<'a> {
    /// Creates the steps: `cut` makes blocks, each thread makes its tables by `make` and encodes blocks by `encode`, and the
    /// result of `join` joins what was encoded.
    pub(crate) fn new<B: Any + Send, T: 'a, E: Any + Send, J: Join<E> + 'a>(
        cut: impl Cut<B> + 'a,
        make: impl Fn() -> T + Send + Sync + 'a,
        encode: impl Fn(&mut T, B) -> Result<E, Error> + Clone + Send + Sync + 'a,
        join: impl FnOnce() -> Result<J, Error> + 'a,
    ) -> Self {
        Steps { encoders: Some(maps(make, encode)), ..Steps::portioned(cut, join) }
    }

    /// Creates the steps of a file that one thread encodes as its contents come: the result of `join` encodes portions of
    /// them.
    pub(crate) fn portioned<B: Any + Send, C: Any + Send, J: Join<C> + 'a>(
        cut: impl Cut<B> + 'a,
        join: impl FnOnce() -> Result<J, Error> + 'a,
    ) -> Self {
        let join: MakeJoin<'a> = Box::new(move || Ok(Box::new(Hidden::of(Box::new(join()?)))));
        Steps { cut: Box::new(Hidden::of(cut)), encoders: None, flushing: None, join }
    }

    /// Sets how blocks are encoded that were flushed. `encode` is told whether a block follows the one that it encoded last.
    pub(crate) fn flushing<B: Any + Send, T: Send + 'a, E: Any + Send>(
        mut self,
        make: impl Fn() -> T + Send + 'a,
        encode: impl Fn(&mut T, B, bool) -> Result<E, Error> + Clone + Send + 'a,
    ) -> Self {
        self.flushing = Some(Box::new(move || {
            let (mut tables, encode, mut follows) = (make(), encode.clone(), false);
            Box::new(move |block| {
                let encoded = encode(&mut tables, unhide(block), follows)?;
                follows = true;
                Ok(hide(encoded))
            })
        }));
        self
    }

    /// Encodes all of `input`, and writes the file to `output`.
    pub(crate) fn run(
        self,
        threads: Threads<'a>,
        options: &RunOptions<'_>,
        input: Reading<'a>,
        output: Writing<'_>,
    ) -> Result<Compressed, Error> {
        let read = Arc::<AtomicU64>::default();
        let input = (input.in_order(), Arc::clone(&read));
        let Steps { cut, encoders, join, .. } = self;
        let (mut join, next, end) = (join()?, blocks(cut, input), end_name(&encoders));
        let written = match output {
            Writing::Stream(output) => {
                let mut output = Counted::new(output);
                let mut put = |bytes: &mut Vec<u8>| {
                    let written = output.write_all(bytes).map_err(Error::Write);
                    bytes.clear();
                    written
                };
                let mut add = |encoded| {
                    join.add(encoded)?;
                    put(join.bytes())
                };
                match options.is_alone() {
                    true => alone(next, encoders, &mut add)?,
                    false => carry_out(stream(next, encoders, threads), end, options, &mut add)?,
                }
                put(&mut join.finish()?)?;
                output.flush().map_err(Error::Write)?;
                output.bytes
            }
            Writing::Positional(sink) => {
                let mut at = 0;
                carry_out_at(stream(next, encoders, threads), end, options, sink, &mut at, |encoded| {
                    join.add(encoded)?;
                    Ok(mem::take(join.bytes()))
                })?;
                let rest = join.finish()?;
                sink.write_at(&rest, at).map_err(Error::Write)?;
                at + rest.len() as u64
            }
        };
        Ok(Compressed { read: read.load(Ordering::Relaxed), written })
    }

    /// Returns the plan of [`run`](Self::run).
    pub(crate) fn plan(self, threads: Threads<'a>) -> Plan {
        let (end, next) =
            (end_name(&self.encoders), blocks(self.cut, (Box::new(io::empty()), Arc::default())));
        stream(next, self.encoders, threads).named(end).plan()
    }
}

/// The name of the end of a stream: without encoders, it encodes too.
fn end_name(encoders: &Option<Maps<'_>>) -> &'static str {
    if encoders.is_some() { WRITE } else { "encode and write" }
}

/// Returns the blocks of `input`. The number of bytes that were read goes to `read`.
fn blocks<'a>(
    mut cut: Box<dyn Cut<Item> + 'a>,
    (input, read): (Box<dyn Read + Send + 'a>, Arc<AtomicU64>),
) -> Next<'a> {
    let (mut input, mut is_over) = (Counted::new(input), false);
    Box::new(move || {
        if !is_over {
            let block = cut.next(&mut input);
            read.store(input.bytes, Ordering::Relaxed);
            match block? {
                None => is_over = true,
                block => return Ok(block),
            }
        }
        cut.rest(true)
    })
}

/// Returns a stream of encoded blocks.
fn stream<'a>(
    next: Next<'a>,
    encoders: Option<Maps<'a>>,
    threads: Threads<'a>,
) -> TryStream<'a, Item, Error> {
    super::stream("abz compress", threads, ("read", next), encoders.map(|encoders| ("encode", encoders)))
}

/// Does what the stream does on the calling thread. A stream costs as much as the other steps of a small file together.
fn alone(
    mut next: Next<'_>,
    encoders: Option<Maps<'_>>,
    write: &mut dyn FnMut(Item) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut encode = encoders.map(|encoders| encoders());
    while let Some(block) = next()? {
        write(match &mut encode {
            Some(encode) => encode(block)?,
            None => block,
        })?;
    }
    Ok(())
}

/// A step whose items have hidden types. They are of type `T`.
struct Hidden<S, T> {
    step: S,
    items: PhantomData<fn(T)>,
}

impl<S, T> Hidden<S, T> {
    fn of(step: S) -> Self {
        Hidden { step, items: PhantomData }
    }
}

impl<B: Any + Send, C: Cut<B>> Cut<Item> for Hidden<C, B> {
    fn next(&mut self, input: &mut dyn Read) -> Result<Option<Item>, Error> {
        Ok(self.step.next(input)?.map(hide))
    }

    fn rest(&mut self, is_end: bool) -> Result<Option<Item>, Error> {
        Ok(self.step.rest(is_end)?.map(hide))
    }

    fn flush(&mut self) -> Result<Option<(Item, bool)>, Error> {
        Ok(self.step.flush()?.map(|(block, keeps)| (hide(block), keeps)))
    }
}

impl<E: Any + Send, J: Join<E>> Join<Item> for Hidden<Box<J>, E> {
    fn add(&mut self, encoded: Item) -> Result<(), Error> {
        self.step.add(unhide(encoded))
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.step.flush()
    }

    fn finish(self: Box<Self>) -> Result<Vec<u8>, Error> {
        self.step.finish()
    }

    fn bytes(&mut self) -> &mut Vec<u8> {
        self.step.bytes()
    }
}
