//! A decompression of parts of a file, each by itself.

use std::io;

use abz_codec::access::{Decoder, Part};

use anabranch::Offload;

use crate::decompression::Decompression;
use crate::error::Error;
use crate::pipes::{access, window};
use crate::threads::Threads;

/// The number of parts that are decoded on the caller's thread before a pool takes over. Whoever reads a little at each of
/// many places does not need the parts behind it.
const ALONE: usize = 2;

/// Decodes consecutive parts of a file, in order.
pub(super) struct ByParts {
    /// The number of the next part; `None` while the file is decoded otherwise.
    next: Option<usize>,
    settings: Decompression,
    decoder: Option<Decoder>,
    /// The compressed bytes of a part.
    bytes: Vec<u8>,
    /// The number of parts that were decoded on the caller's thread.
    alone: usize,
    threads: Option<Threads>,
    farm: Option<Farm>,
}

/// Decodes parts, given with their bytes, on a pool.
type Farm = Offload<(Part, Vec<u8>), Result<Vec<u8>, Error>>;

impl ByParts {
    pub(super) fn new(settings: &Decompression, threads: Option<Threads>) -> Self {
        let settings = settings.clone();
        ByParts { next: None, settings, decoder: None, bytes: Vec::new(), alone: 0, threads, farm: None }
    }

    /// Begins with the part of a number.
    pub(super) fn begin(&mut self, number: usize) {
        self.stop();
        self.next = Some(number);
    }

    pub(super) fn stop(&mut self) {
        (self.next, self.alone, self.farm) = (None, 0, None);
    }

    /// Returns true between [`begin`](Self::begin) and [`stop`](Self::stop).
    pub(super) fn has_begun(&self) -> bool {
        self.next.is_some()
    }

    /// Replaces the contents of `data` by those of the next one of all known `parts`. Returns `false` if there are no more.
    /// `read` reads the bytes at an offset in the file.
    pub(super) fn next(
        &mut self,
        parts: &[Part],
        mut read: impl FnMut(u64, &mut [u8]) -> io::Result<()>,
        data: &mut Vec<u8>,
    ) -> Result<bool, Error> {
        let Some(next) = &mut self.next else { return Ok(false) };
        if self.farm.is_none() && self.alone >= ALONE {
            self.farm = Threads::start(&mut self.threads).map(|threads| farm(&self.settings, threads));
        }
        let (Some(farm), Some(threads)) = (&mut self.farm, &self.threads) else {
            let Some(part) = parts.get(*next) else { return Ok(false) };
            access::read_part(read, part, &mut self.bytes)?;
            *next += 1;
            self.alone += 1;
            let decoder = self.decoder.get_or_insert_with(|| self.settings.part_decoder());
            decoder.decode_into(part, &self.bytes, data)?;
            return Ok(true);
        };
        let window = window(threads.workers);
        while farm.pending() < window
            && let Some(part) = parts.get(*next)
        {
            let mut bytes = Vec::new();
            match access::read_part(&mut read, part, &mut bytes) {
                // The file has no bytes yet. The parts that were read have contents.
                Err(error) if error.is_passing() && farm.pending() > 0 => break,
                read => read?,
            }
            *next += 1;
            farm.offload((part.clone(), bytes));
        }
        let Some(decoded) = farm.get() else { return Ok(false) };
        *data = decoded?;
        Ok(true)
    }
}

/// Starts to decode parts on `threads`.
fn farm(settings: &Decompression, threads: &Threads) -> Farm {
    let settings = settings.clone();
    Offload::through(window(threads.workers), |parts| {
        let parts = parts.title("abz reader").pool(&threads.pool).workers(threads.workers);
        parts.map_init(
            move || settings.part_decoder(),
            |decoder, (part, bytes): (Part, Vec<u8>)| {
                let mut data = Vec::new();
                decoder.decode_into(&part, &bytes, &mut data)?;
                Ok(data)
            },
        )
    })
}
