//! The pipelines, a file for each format.

pub(crate) mod access;
pub(crate) mod bzip2;
pub(crate) mod gzip;
mod inputs;
pub(crate) mod lzip;
pub(crate) mod parts;
pub(crate) mod serial;
pub(crate) mod xz;
pub(crate) mod zstd;

use anabranch::{Apply, May, Pool, Stream};

use crate::conduct::Conduct;
use crate::{Error, Format, WriteAt};

/// A stream of what is read, with what is the same for all pipelines.
pub(crate) fn begin<'a, T, I>(
    items: I,
    title: &str,
    workers: usize,
    window: usize,
    pool: Option<&'a Pool>,
) -> Stream<'a, impl Apply<Error, Out = T> + Send + use<'a, T, I>, May<Error>>
where
    T: Send + 'a,
    I: Iterator<Item = Result<T, Error>> + Send + 'a,
{
    let stream = Stream::try_from_iter(items)
        .name("read")
        .title(title)
        .name_end("write")
        .workers(workers)
        .window(window);
    match pool {
        Some(pool) => stream.pool(pool),
        None => stream,
    }
}

/// The most items that are in memory at once: two for each worker, one in its hands and one that waits to be taken, or
/// to be written.
pub(crate) fn window(workers: usize) -> usize {
    2 * workers
}

/// Of a format that is read only there is no pipeline to compress.
pub(crate) fn not_written(format: Format) -> ! {
    panic!("{format} is read, and not written")
}

/// Runs a stream to its end, as `conduct` says.
pub(crate) fn carry_out<'a, U: Apply<Error> + Send>(
    stream: Stream<'a, U, May<Error>>,
    conduct: &Conduct<'_>,
    write: impl FnMut(U::Out) -> Result<(), Error> + Send + 'a,
) -> Result<(), Error> {
    let Some(tell) = conduct.report else { return stream.try_for_each(write) };
    let stream = if conduct.traces { stream.trace() } else { stream };
    let (result, report) = stream.report().try_for_each(write);
    tell(&report);
    result
}

/// As [`carry_out`], with what `gather` makes of the results written by all workers, each to its place. `end` is where
/// the next one begins.
pub(crate) fn carry_out_at<'a, U: Apply<Error> + Send + 'a>(
    stream: Stream<'a, U, May<Error>>,
    conduct: &Conduct<'_>,
    places: &'a dyn WriteAt,
    end: &'a mut u64,
    mut gather: impl FnMut(U::Out) -> Result<Vec<u8>, Error> + Send + 'a,
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
