//! What the streams of the formats have in common.

pub(crate) mod access;
pub(crate) mod inputs;
pub(crate) mod parts;

use anabranch::{Pool, Stream, TryStream};

use crate::conduct::{Conduct, at_work};
use crate::error::Error;
use crate::places::WriteAt;

/// A stream of what is read, with what is the same for all pipelines.
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

/// The most items that are in memory at once: two for each worker, one in its hands and one that waits to be taken, or
/// to be written.
pub(crate) fn window(workers: usize) -> usize {
    2 * at_work(workers)
}

/// Runs a stream to its end, as `conduct` says.
pub(crate) fn carry_out<'a, T: Send + 'a>(
    stream: TryStream<'a, T, Error>,
    conduct: &Conduct<'_>,
    write: impl FnMut(T) -> Result<(), Error> + Send + 'a,
) -> Result<(), Error> {
    let Some(tell) = conduct.report else { return stream.try_for_each(write) };
    let stream = if conduct.traces { stream.trace() } else { stream };
    let (result, report) = stream.report().try_for_each(write);
    tell(&report);
    result
}

/// As [`carry_out`], with what `gather` makes of the results written by all workers, each to its place. `end` is where
/// the next one begins.
pub(crate) fn carry_out_at<'a, T: Send + 'a>(
    stream: TryStream<'a, T, Error>,
    conduct: &Conduct<'_>,
    places: &'a dyn WriteAt,
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
        .try_map(move |(at, bytes): (u64, Vec<u8>)| places.write_at(&bytes, at).map_err(Error::Write))
        .name("write at its place");
    carry_out(stream, conduct, |()| Ok(()))
}

/// Writes what a stream gives by a writer of its format, and gives the size of the file in bytes. It is no function, since the
/// writer has to live longer than the stream.
macro_rules! write_out {
    ($stream:expr, $conduct:expr, $output:expr, |$to:ident| $writer:expr) => {
        match $output {
            $crate::places::Writing::Stream(output) => {
                let $to = $crate::count::Counted::new(output);
                let mut file = $writer;
                let write = |part| file.write(&part).map_err($crate::error::Error::Write);
                $crate::pipes::carry_out($stream, $conduct, write)?;
                let mut output = file.finish().map_err($crate::error::Error::Write)?;
                std::io::Write::flush(&mut output).map_err($crate::error::Error::Write)?;
                output.bytes
            }
            $crate::places::Writing::Places(places) => {
                let ($to, mut end) = (Vec::new(), 0);
                let mut file = $writer;
                $crate::pipes::carry_out_at($stream, $conduct, places, &mut end, |part| {
                    file.write(&part).map_err($crate::error::Error::Write)?;
                    Ok(std::mem::take(file.get_mut()))
                })?;
                let rest = file.finish().map_err($crate::error::Error::Write)?;
                places.write_at(&rest, end).map_err($crate::error::Error::Write)?;
                end + rest.len() as u64
            }
        }
    };
}
pub(crate) use write_out;
