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
    /// From the second block on, or from the first one if the caller's thread is not to encode.
    farm: Option<Offload<Job, Done>>,
    is_async: bool,
}

/// Work for another thread.
enum Job {
    /// Encodes a block by itself.
    Block(Item),
    /// Encodes a block that was flushed.
    Flushed(Flushing<'static>, Item),
    /// Adds a portion to a file whose step that joins encodes.
    Portion(Box<dyn Join<Item>>, Item),
}

/// The result of a job, with the encoder that the job was given.
enum Done {
    Block(Result<Item, Error>),
    Flushed(Flushing<'static>, Result<Item, Error>),
    Portion(Box<dyn Join<Item>>, Result<(), Error>),
}

impl EncodeLine {
    /// Begins a compression by `threads`, or by the caller alone. The caller encodes nothing if `is_async` is true.
    pub(crate) fn begin(
        steps: Steps<'static>,
        window: usize,
        threads: Option<Threads>,
        is_async: bool,
    ) -> Result<Self, Error> {
        let Steps { cut, encoders, flushing: make_flushing, join } = steps;
        let threads = threads.filter(|_| encoders.is_some() || is_async);
        // Portions are added one after the other.
        let window = if encoders.is_some() { window } else { 1 };
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
            is_async,
        })
    }

    fn join(&mut self) -> &mut dyn Join<Item> {
        &mut **self.join.as_mut().expect("nothing is added behind the end")
    }

    fn encode(&mut self, block: Item) -> Result<(), Error> {
        self.flushing = None;
        if self.farm.is_none() && self.first.is_none() && self.threads.is_some() && !self.is_async {
            self.first = Some(block);
            return Ok(());
        }
        self.start_farm();
        for block in self.first.take().into_iter().chain([block]) {
            match &mut self.farm {
                None => self.encode_here(block)?,
                Some(farm) if self.encoders.is_some() => farm.offload(Job::Block(block)),
                Some(farm) => {
                    let join = self.join.take().expect("one portion is added at a time");
                    farm.offload(Job::Portion(join, block));
                }
            }
        }
        while let Some(done) = self.farm.as_mut().and_then(Offload::try_get) {
            self.take(done)?;
        }
        Ok(())
    }

    /// Starts the threads, if there are any and they were not started.
    fn start_farm(&mut self) {
        if self.farm.is_none()
            && let Some(threads) = Threads::start(&mut self.threads)
        {
            let encoders = self.encoders.clone();
            self.farm = Some(Offload::through(self.window, |jobs| {
                let jobs = jobs.title("abz compress").pool(&threads.pool).workers(threads.workers);
                jobs.map_init(
                    move || encoders.as_ref().map(|encoders| encoders()),
                    |encode, job| match job {
                        Job::Block(block) => Done::Block(match encode {
                            Some(encode) => encode(block),
                            None => Ok(block),
                        }),
                        Job::Flushed(mut flushing, block) => {
                            let encoded = flushing(block);
                            Done::Flushed(flushing, encoded)
                        }
                        Job::Portion(mut join, portion) => {
                            let added = join.add(portion);
                            Done::Portion(join, added)
                        }
                    },
                )
            }));
        }
    }

    /// Takes what another thread has made.
    fn take(&mut self, done: Done) -> Result<(), Error> {
        match done {
            Done::Block(encoded) => self.join().add(encoded?),
            Done::Flushed(flushing, encoded) => {
                self.flushing = Some(flushing);
                self.join().add(encoded?)
            }
            Done::Portion(join, added) => {
                self.join = Some(join);
                added
            }
        }
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
            let Some(done) = ready!(farm.poll_get(context)) else { break };
            self.take(done)?;
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
            let mut flushing = self.flushing.take().unwrap_or_else(make);
            if self.is_async {
                self.start_farm();
            }
            match &mut self.farm {
                Some(farm) if self.is_async => {
                    farm.offload(Job::Flushed(flushing, block));
                    return self.poll_join(context, 0);
                }
                _ => {
                    let encoded = flushing(block);
                    self.take(Done::Flushed(flushing, encoded))?;
                }
            }
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
