//! A compression that is given its input in pieces: blocks are cut on the caller's thread, encoded by a pool, and joined on
//! the caller's thread.

use std::io;
use std::mem;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use anabranch::{Offload, Recycler};

use super::cut::Cut;
use crate::error::Error;
use crate::threads::Threads;

/// How a format is written, block by block.
pub(crate) struct Coding<B, E> {
    pub(crate) cut: Box<dyn Cut<B>>,
    pub(crate) encoders: Encoders<B, E>,
    pub(crate) join: Box<dyn Join<E>>,
    /// The maximum number of blocks in memory at once.
    pub(crate) window: usize,
}

/// Encodes blocks on the thread that made it.
pub(crate) type Encoder<B, E> = Box<dyn FnMut(B) -> Result<E, Error>>;

/// Makes encoders of blocks, on any thread.
pub(crate) type Encoders<B, E> = Arc<dyn Fn() -> Encoder<B, E> + Send + Sync>;

/// Makes encoders that use `tables`, which are kept while no block is encoded.
pub(crate) fn kept<T, B, E>(tables: Recycler<T>, encode: fn(&mut T, B) -> Result<E, Error>) -> Encoders<B, E>
where
    T: Send + 'static,
    B: 'static,
    E: 'static,
{
    Arc::new(move || {
        let tables = tables.clone();
        Box::new(move |block| encode(&mut tables.take(), block))
    })
}

/// Joins encoded blocks, in order.
pub(crate) trait Join<E>: Send {
    /// Adds a block to the file.
    fn add(&mut self, encoded: E) -> Result<(), Error>;

    /// Makes the file readable so far, behind its last block. More blocks may follow.
    fn flush(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Ends the file.
    fn finish(&mut self) -> Result<(), Error>;

    /// The bytes of the file that are complete, for the caller to take.
    fn bytes(&mut self) -> &mut Vec<u8>;
}

/// The writer of a file of blocks, to memory.
pub(crate) trait File: Send + Sized {
    /// An encoded block.
    type Block;

    /// Adds a block.
    fn add(&mut self, block: Self::Block) -> io::Result<()>;

    /// Ends the file, and returns the bytes that were not yet taken.
    fn finish(self) -> io::Result<Vec<u8>>;

    /// The bytes that were not yet taken.
    fn bytes(&mut self) -> &mut Vec<u8>;
}

/// Joins blocks by the writer of their format, where each block ends at a byte.
pub(crate) enum Joined<F> {
    Open(F),
    Ended(Vec<u8>),
}

impl<F> Joined<F> {
    pub(crate) fn new(file: F) -> Self {
        Joined::Open(file)
    }
}

impl<F: File> Join<F::Block> for Joined<F> {
    fn add(&mut self, block: F::Block) -> Result<(), Error> {
        match self {
            Joined::Open(file) => file.add(block).map_err(Error::Write),
            Joined::Ended(_) => unreachable!("nothing is added behind the end"),
        }
    }

    fn finish(&mut self) -> Result<(), Error> {
        if let Joined::Open(file) = mem::replace(self, Joined::Ended(Vec::new())) {
            *self = Joined::Ended(file.finish().map_err(Error::Write)?);
        }
        Ok(())
    }

    fn bytes(&mut self) -> &mut Vec<u8> {
        match self {
            Joined::Open(file) => file.bytes(),
            Joined::Ended(bytes) => bytes,
        }
    }
}

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

impl<B: Send + 'static, E: Send + 'static> Coding<B, E> {
    /// Begins a compression by `threads`, or by the caller alone.
    pub(crate) fn begin(self, threads: Option<Threads>) -> Box<dyn Encode> {
        Box::new(Line { coding: self, threads, first: None, farm: None })
    }

    /// Starts to encode blocks on `threads`.
    fn farm(&self, threads: &Threads) -> Farm<B, E> {
        let encoders = Arc::clone(&self.encoders);
        Offload::through(self.window, |blocks| {
            let blocks = blocks.title("abz compress").pool(&threads.pool).workers(threads.workers);
            blocks.map_with(move || encoders(), |encode, block| encode(block))
        })
    }
}

struct Line<B: Send + 'static, E: Send + 'static> {
    coding: Coding<B, E>,
    threads: Option<Threads>,
    /// The first block, while it is the only one. It needs no other thread.
    first: Option<B>,
    /// Encodes blocks, from the second one on.
    farm: Option<Farm<B, E>>,
}

/// Encodes blocks on a pool.
type Farm<B, E> = Offload<B, Result<E, Error>>;

impl<B: Send + 'static, E: Send + 'static> Line<B, E> {
    fn encode(&mut self, block: B) -> Result<(), Error> {
        if self.farm.is_none() {
            if self.first.is_none() && self.threads.is_some() {
                self.first = Some(block);
                return Ok(());
            }
            self.farm = Threads::start(&mut self.threads).map(|threads| self.coding.farm(threads));
        }
        for block in self.first.take().into_iter().chain([block]) {
            match &mut self.farm {
                Some(farm) => farm.offload(block),
                None => self.encode_here(block)?,
            }
        }
        while let Some(encoded) = self.farm.as_mut().and_then(Offload::try_get) {
            self.coding.join.add(encoded?)?;
        }
        Ok(())
    }

    fn encode_here(&mut self, block: B) -> Result<(), Error> {
        let encoded = (self.coding.encoders)()(block)?;
        self.coding.join.add(encoded)
    }

    /// Joins encoded blocks until at most `pending` are being encoded.
    fn poll_join(&mut self, context: &mut Context<'_>, pending: usize) -> Poll<Result<(), Error>> {
        while let Some(farm) = self.farm.as_mut().filter(|farm| farm.pending() > pending) {
            let Some(encoded) = ready!(farm.poll_get(context)) else { break };
            self.coding.join.add(encoded?)?;
        }
        Poll::Ready(Ok(()))
    }

    /// Waits until another block can be encoded.
    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.poll_join(context, self.coding.window - 1)
    }

    /// Encodes all that was written.
    fn poll_complete(&mut self, context: &mut Context<'_>, is_end: bool) -> Poll<Result<(), Error>> {
        loop {
            ready!(self.poll_room(context))?;
            match self.coding.cut.rest(is_end)? {
                Some(block) => self.encode(block)?,
                None => break,
            }
        }
        if let Some(block) = self.first.take() {
            self.encode_here(block)?;
        }
        self.poll_join(context, 0)
    }
}

impl<B: Send + 'static, E: Send + 'static> Encode for Line<B, E> {
    fn poll_write(&mut self, context: &mut Context<'_>, data: &mut &[u8]) -> Poll<Result<(), Error>> {
        while !data.is_empty() {
            ready!(self.poll_room(context))?;
            if let Some(block) = self.coding.cut.push(data)? {
                self.encode(block)?;
            }
        }
        Poll::Ready(Ok(()))
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        ready!(self.poll_complete(context, false))?;
        Poll::Ready(self.coding.join.flush())
    }

    fn poll_finish(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        ready!(self.poll_complete(context, true))?;
        self.farm = None;
        Poll::Ready(self.coding.join.finish())
    }

    fn bytes(&mut self) -> &mut Vec<u8> {
        self.coding.join.bytes()
    }
}
