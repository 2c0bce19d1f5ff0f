//! Files of large parts: those that are small enough are decoded by all workers, the others by one.

use std::io::Read;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use abz_codec::parts::{Scan, Scanned};
use anabranch::{Apply, May, Pool, Recycled, Recycler, Stream};

use super::begin;
use super::inputs::{Input, Inputs};
use crate::Error;

/// The most parts of lzip or xz that are in memory at once: one for each worker, and one that waits to be written. They take many
/// times as long as what a worker waits for another.
pub(crate) fn window(workers: usize) -> usize {
    workers + 1
}

/// Decompresses what `input` gives, with so many parts in memory at once. Parts that come whole are decoded by all
/// workers; other parts in the stage that finds them, while other workers read and write.
pub(crate) fn decompress<'a, S, R>(
    scanner: S,
    (workers, window): (usize, usize),
    input: R,
    pool: Option<&'a Pool>,
) -> Stream<'a, impl Apply<Error, Out = Recycled<Vec<u8>>> + Send + use<'a, S, R>, May<Error>>
where
    S: Scan + Send + 'a,
    R: Read + Send + 'a,
    Error: From<S::Error>,
{
    let scanner = Arc::new(Mutex::new(scanner));
    let of_decoders = Arc::clone(&scanner);
    let spares = Recycler::new(window, Vec::new);
    let buffers = Recycler::new(window, Vec::new);
    begin(Inputs::new(input, window), "abz decompress", workers, window, pool)
        .try_serial_flat_map::<_, Error, _, _>(move |input| Parts {
            scanner: Arc::clone(&scanner),
            spares: spares.clone(),
            input,
            scanned: 0,
        })
        .name("split or decode")
        .try_map_with::<_, _, Error, _, _>(
            move || lock(&of_decoders).decoder(),
            move |decoder, part| match part {
                Part::Whole(whole, mut home) => {
                    let mut data = buffers.take();
                    S::decode_into(decoder, &whole, &mut data)?;
                    *home = S::into_bytes(whole);
                    Ok(data)
                }
                Part::Data(data) => Ok(data),
            },
        )
        .name("decode")
}

/// A scanner that panicked gives nothing more, so it may be asked for anything.
fn lock<S>(scanner: &Mutex<S>) -> MutexGuard<'_, S> {
    scanner.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A part of the file's contents.
enum Part<W> {
    /// Still compressed. Its bytes shall go to where the buffer came from.
    Whole(W, Recycled<Vec<u8>>),
    /// Decompressed.
    Data(Recycled<Vec<u8>>),
}

/// The parts that an input completes.
struct Parts<S> {
    /// Shared by the parts of one input after another: nobody waits for it but who makes a decoder.
    scanner: Arc<Mutex<S>>,
    spares: Recycler<Vec<u8>>,
    input: Input,
    scanned: usize,
}

impl<S: Scan> Iterator for Parts<S>
where
    Error: From<S::Error>,
{
    type Item = Result<Part<S::Whole>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut scanner = lock(&self.scanner);
        let bytes = self.input.bytes();
        let mut data = self.spares.take();
        let found = if bytes.is_empty() {
            scanner.finish(&mut data)
        } else {
            let mut rest = &bytes[self.scanned..];
            let found = scanner.next(&mut rest, &mut data);
            self.scanned = bytes.len() - rest.len();
            found
        };
        match found {
            Ok(None) => None,
            Ok(Some(Scanned::Whole(whole))) => Some(Ok(Part::Whole(whole, data))),
            Ok(Some(Scanned::Data)) => Some(Ok(Part::Data(data))),
            Err(error) => Some(Err(Error::from(error))),
        }
    }
}
