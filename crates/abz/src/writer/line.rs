//! A compression that is given its input in pieces: blocks are cut on the caller's thread, encoded by a pool, and joined on
//! the caller's thread.

use std::io;
use std::task::{Context, Poll, ready};

use anabranch::Offload;

use crate::error::Error;
use crate::pipes::cut::Cut;
use crate::pipes::encode::{Flushing, Join, MakeFlushing, Steps};
use crate::pipes::{Item, Maps};
use crate::threads::Threads;

/// A compression without the types of its blocks.
pub(crate) trait Encode: Send {
    /// Takes bytes from the front of `data`. It is ready when all are taken, and pending while as many blocks are being
    /// encoded as may be.
    fn poll_write(&mut self, context: &mut Context<'_>, data: &mut &[u8]) -> Poll<Result<(), Error>>;

    /// Encodes all that was written, so that [`bytes`](Self::bytes) can be decoded that far.
    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>>;

    /// Ends the file.
    fn poll_finish(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>>;

    /// The bytes of the file that are complete, for the caller to take.
    fn bytes(&mut self) -> &mut Vec<u8>;
}

/// A compression in the steps of a format.
pub(crate) struct EncodeLine {
    cut: Box<dyn Cut<Item>>,
    /// Makes encoders; `None` if the step that joins encodes.
    encoders: Option<Maps<'static>>,
    /// Makes encoders of blocks that were flushed, and the one that encoded the last block, if any did.
    make_flushing: Option<MakeFlushing<'static>>,
    flushing: Option<Flushing<'static>>,
    /// A block for it, which follows all those that are being encoded.
    flushed: Option<Item>,
    /// `None` once the file has ended.
    join: Option<Box<dyn Join<Item>>>,
    /// The last bytes of the file.
    end: Vec<u8>,
    /// The maximum number of blocks in memory at once.
    window: usize,
    /// The threads that encode; `None` if the caller's thread does.
    threads: Option<Threads>,
    /// The first block, while it is the only one. It needs no other thread.
    first: Option<Item>,
    /// From the second block on.
    farm: Option<Offload<Item, Result<Item, Error>>>,
}

impl EncodeLine {
    /// Begins a compression by `threads`, or by the caller alone.
    pub(crate) fn begin(
        steps: Steps<'static>,
        window: usize,
        threads: Option<Threads>,
    ) -> Result<Self, Error> {
        let Steps { cut, encoders, flushing: make_flushing, join } = steps;
        let threads = threads.filter(|_| encoders.is_some());
        let (join, first, farm, end) = (Some(join()?), None, None, Vec::new());
        let (flushing, flushed) = (None, None);
        Ok(EncodeLine {
            cut,
            encoders,
            make_flushing,
            flushing,
            flushed,
            join,
            end,
            window,
            threads,
            first,
            farm,
        })
    }

    fn join(&mut self) -> &mut dyn Join<Item> {
        &mut **self.join.as_mut().expect("nothing is added behind the end")
    }

    fn encode(&mut self, block: Item) -> Result<(), Error> {
        self.flushing = None;
        if self.farm.is_none() {
            if self.first.is_none() && self.threads.is_some() {
                self.first = Some(block);
                return Ok(());
            }
            self.farm =
                self.encoders.clone().zip(Threads::start(&mut self.threads)).map(|(encoders, threads)| {
                    Offload::through(self.window, |blocks| {
                        let blocks =
                            blocks.title("abz compress").pool(&threads.pool).workers(threads.workers);
                        blocks.map_with(move || encoders(), |encode, block| encode(block))
                    })
                });
        }
        for block in self.first.take().into_iter().chain([block]) {
            match &mut self.farm {
                Some(farm) => farm.offload(block),
                None => self.encode_here(block)?,
            }
        }
        while let Some(encoded) = self.farm.as_mut().and_then(Offload::try_get) {
            self.join().add(encoded?)?;
        }
        Ok(())
    }

    fn encode_here(&mut self, block: Item) -> Result<(), Error> {
        // An encoder stays on its thread, and this may move.
        let encoded = match &self.encoders {
            Some(encoders) => encoders()(block)?,
            None => block,
        };
        self.join().add(encoded)
    }

    /// Joins encoded blocks until at most `pending` are being encoded.
    fn poll_join(&mut self, context: &mut Context<'_>, pending: usize) -> Poll<Result<(), Error>> {
        while let Some(farm) = self.farm.as_mut().filter(|farm| farm.pending() > pending) {
            let Some(encoded) = ready!(farm.poll_get(context)) else { break };
            self.join().add(encoded?)?;
        }
        Poll::Ready(Ok(()))
    }

    /// Waits until another block can be encoded.
    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.poll_join(context, self.window - 1)
    }

    /// Encodes all that was written.
    fn poll_complete(&mut self, context: &mut Context<'_>, is_end: bool) -> Poll<Result<(), Error>> {
        loop {
            ready!(self.poll_room(context))?;
            // It may hold more than one block.
            let block = match self.cut.next(&mut io::empty())? {
                None if is_end => self.cut.rest(true)?.map(|block| (block, false)),
                None => self.cut.flush()?,
                Some(block) => Some((block, false)),
            };
            match block {
                Some((block, false)) => self.encode(block)?,
                Some((block, true)) => self.flushed = Some(block),
                None => break,
            }
        }
        if let Some(block) = self.first.take() {
            self.encode_here(block)?;
        }
        ready!(self.poll_join(context, 0))?;
        if let Some((block, make)) = self.flushed.take().zip(self.make_flushing.as_ref()) {
            let encoded = self.flushing.get_or_insert_with(make)(block)?;
            self.join().add(encoded)?;
        }
        Poll::Ready(Ok(()))
    }
}

impl Encode for EncodeLine {
    fn poll_write(&mut self, context: &mut Context<'_>, data: &mut &[u8]) -> Poll<Result<(), Error>> {
        while !data.is_empty() {
            ready!(self.poll_room(context))?;
            if let Some(block) = self.cut.next(data)? {
                self.encode(block)?;
            }
        }
        Poll::Ready(Ok(()))
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        ready!(self.poll_complete(context, false))?;
        Poll::Ready(self.join().flush())
    }

    fn poll_finish(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        ready!(self.poll_complete(context, true))?;
        self.farm = None;
        if let Some(join) = self.join.take() {
            self.end = join.finish()?;
        }
        Poll::Ready(Ok(()))
    }

    fn bytes(&mut self) -> &mut Vec<u8> {
        match &mut self.join {
            Some(join) => join.bytes(),
            None => &mut self.end,
        }
    }
}
