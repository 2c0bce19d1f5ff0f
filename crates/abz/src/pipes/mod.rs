//! Functions that the streams of all formats share.

pub(crate) mod access;
pub(crate) mod inputs;
pub(crate) mod parts;
pub(crate) mod steps;

use std::io::Read;
use std::iter;
use std::mem;
use std::ops::Deref;

use abz_codec::Block;
use anabranch::{Pool, Recycled, Recycler, Stream, TryStream};

use crate::error::Error;
use crate::formats::writes::Compression;
use crate::positional::WriteAt;
use crate::run_options::{RunOptions, at_work};

/// Begins a stream of `items`, with the settings that are the same for all pipelines.
pub(crate) fn begin<'a, T, I>(
    items: I,
    title: &str,
    workers: usize,
    window: usize,
    pool: Option<&'a Pool>,
) -> TryStream<'a, T, Error>
where
    T: Send + 'a,
    I: Iterator<Item = Result<T, Error>> + Send + 'a,
{
    let stream = Stream::try_from_iter(items)
        .name("read")
        .title(title)
        .name_end("write")
        .workers(at_work(workers))
        .window(window);
    match pool {
        Some(pool) => stream.pool(pool),
        None => stream,
    }
}

/// Cuts `input` into blocks, in buffers that are used again.
pub(crate) fn blocks<R: Read>(
    how: &Compression,
    input: R,
    buffers: Recycler<Vec<u8>>,
) -> impl Iterator<Item = Result<LentBlock, Error>> + use<R> {
    let mut blocks = how.blocks(input);
    iter::from_fn(move || {
        let mut home = buffers.take();
        let block = blocks.read_into(mem::take(&mut *home)).map_err(Error::of_input).transpose()?;
        Some(block.map(|block| LentBlock::new(block, home)))
    })
}

/// A block whose buffer goes back to its recycler.
pub(crate) struct LentBlock {
    block: Block,
    home: Recycled<Vec<u8>>,
}

impl LentBlock {
    /// Creates a block whose buffer goes back to that of `home`.
    pub(crate) fn new(block: Block, home: Recycled<Vec<u8>>) -> Self {
        LentBlock { block, home }
    }

    /// The same block, if more than this block was or will be in the file.
    pub(crate) fn in_larger_file(mut self) -> Self {
        self.block.whole = false;
        self
    }
}

impl Deref for LentBlock {
    type Target = Block;

    fn deref(&self) -> &Block {
        &self.block
    }
}

impl Drop for LentBlock {
    fn drop(&mut self) {
        *self.home = mem::take(&mut self.block.data);
    }
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

/// Writes the results of a stream with the writer of its format, and returns the size of the file in bytes. It is a
/// macro because the writer has to outlive the stream.
macro_rules! write_out {
    ($stream:expr, $options:expr, $output:expr, |$to:ident| $writer:expr) => {
        match $output {
            $crate::positional::Writing::Stream(output) => {
                let $to = $crate::count::Counted::new(output);
                let mut file = $writer;
                let write = |part| file.write(&part).map_err($crate::error::Error::Write);
                $crate::pipes::carry_out($stream, $options, write)?;
                let mut output = file.finish().map_err($crate::error::Error::Write)?;
                std::io::Write::flush(&mut output).map_err($crate::error::Error::Write)?;
                output.bytes
            }
            $crate::positional::Writing::Positional(sink) => {
                let ($to, mut end) = (Vec::new(), 0);
                let mut file = $writer;
                $crate::pipes::carry_out_at($stream, $options, sink, &mut end, |part| {
                    file.write(&part).map_err($crate::error::Error::Write)?;
                    Ok(std::mem::take(file.get_mut()))
                })?;
                let rest = file.finish().map_err($crate::error::Error::Write)?;
                sink.write_at(&rest, end).map_err($crate::error::Error::Write)?;
                end + rest.len() as u64
            }
        }
    };
}
pub(crate) use write_out;
