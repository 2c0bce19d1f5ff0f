//! An asynchronous writer that compresses what is written to it.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::AsyncWrite;

use crate::error::{Error, Failure};
use crate::writer::line::Encode;
use crate::writer::{WriterBuilder, check_size};

/// An asynchronous [`Writer`](crate::Writer).
///
/// The threads of a [pool](WriterBuilder::pool) encode blocks, one of them with [one worker](WriterBuilder::workers). The task
/// encodes none, unless the system has no thread, so that other tasks of its thread go on meanwhile. The bytes and the errors
/// are those of a `Writer`.
///
/// A file is complete after [`shutdown`], which shuts the inner writer down, too. A writer that is dropped before leaves its file
/// incomplete.
///
/// [`shutdown`]: https://docs.rs/tokio/1/tokio/io/trait.AsyncWriteExt.html#method.shutdown
///
/// ```
/// use abz::{Format, WriterBuilder};
/// use tokio::io::AsyncWriteExt;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let mut writer = WriterBuilder::new().format(Format::Zstd).build_async(Vec::new())?;
/// writer.write_all(b"a branch of a river\n").await?;
/// writer.shutdown().await?;
/// assert!(writer.into_inner().starts_with(&[0x28, 0xb5, 0x2f, 0xfd]));
/// # Ok(())
/// # }
/// ```
pub struct AsyncWriter<W> {
    inner: W,
    coding: Box<dyn Encode>,
    /// The number of complete bytes of the file that the inner writer has taken and `coding` still holds.
    taken: usize,
    /// The size of all contents in bytes, if it was stated, and of those that were written.
    stated: Option<u64>,
    written: u64,
    state: State,
    failure: Failure,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Some of what was written may not be readable yet.
    Writing,
    /// All of it is readable, once the inner writer has taken it.
    Flushed,
    Ended,
}

impl<W: AsyncWrite + Unpin> AsyncWriter<W> {
    /// Compresses to `inner`, as gzip at level 6. [`WriterBuilder::build_async`] has other formats and settings.
    ///
    /// # Errors
    ///
    /// None with these settings. It returns a result as [`WriterBuilder::build_async`] does.
    pub fn new(inner: W) -> io::Result<AsyncWriter<W>> {
        WriterBuilder::new().build_async(inner)
    }

    /// The inner writer. Bytes that were written to this writer may not have arrived there yet.
    pub fn get_ref(&self) -> &W {
        &self.inner
    }

    /// Returns the inner writer. The file is incomplete if this writer was not shut down.
    pub fn into_inner(self) -> W {
        self.inner
    }

    /// Writes the complete bytes of the file to the inner writer.
    fn poll_pass_on(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        loop {
            let bytes = self.coding.bytes();
            let rest = &bytes[self.taken..];
            if rest.is_empty() {
                bytes.clear();
                self.taken = 0;
                return Poll::Ready(Ok(()));
            }
            match ready!(Pin::new(&mut self.inner).poll_write(context, rest)).map_err(Error::Write)? {
                0 => return Poll::Ready(Err(Error::Write(io::ErrorKind::WriteZero.into()))),
                len => self.taken += len,
            }
        }
    }

    /// Calls `step`, unless an earlier call has failed, with all complete bytes of the file written. Records a failure.
    fn poll_with<T>(
        &mut self,
        context: &mut Context<'_>,
        step: impl FnOnce(&mut Self, &mut Context<'_>) -> Poll<Result<T, Error>>,
    ) -> Poll<io::Result<T>> {
        self.failure.begin_call()?;
        let done = match self.poll_pass_on(context) {
            Poll::Ready(Ok(())) => step(self, context),
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => Poll::Pending,
        };
        self.failure.end_call();
        done.map(|done| done.map_err(|error| self.failure.record(error)))
    }

    fn poll_take(&mut self, context: &mut Context<'_>, data: &[u8]) -> Poll<Result<usize, Error>> {
        if self.state == State::Ended {
            let message = "expected no contents behind the end of the file, found some";
            return Poll::Ready(Err(Error::Write(io::Error::new(io::ErrorKind::BrokenPipe, message))));
        }
        let mut rest = data;
        let taken = self.coding.poll_write(context, &mut rest);
        let len = data.len() - rest.len();
        if len > 0 {
            self.state = State::Writing;
            self.written += len as u64;
        }
        match taken {
            Poll::Ready(taken) => Poll::Ready(taken.map(|()| len)),
            Poll::Pending if len > 0 => Poll::Ready(Ok(len)),
            Poll::Pending => Poll::Pending,
        }
    }

    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        if self.state != State::Ended {
            check_size(self.stated, self.written)?;
            ready!(self.coding.poll_finish(context))?;
            self.state = State::Ended;
        }
        self.poll_pass_on(context)
    }
}

impl WriterBuilder {
    /// Creates an asynchronous writer that compresses to `inner`.
    ///
    /// # Errors
    ///
    /// As [`build`](Self::build).
    ///
    /// # Panics
    ///
    /// As [`build`](Self::build).
    pub fn build_async<W: AsyncWrite + Unpin>(self, inner: W) -> io::Result<AsyncWriter<W>> {
        let (coding, stated) = self.begin(true)?;
        let (state, failure) = (State::Writing, Failure::default());
        Ok(AsyncWriter { inner, coding, taken: 0, stated, written: 0, state, failure })
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for AsyncWriter<W> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        self.get_mut().poll_with(context, |writer, context| writer.poll_take(context, data))
    }

    /// Encodes all that was written, and flushes the inner writer, so that all of it can be decoded, as the `flush` of a
    /// [`Writer`](crate::Writer) does.
    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().poll_with(context, |writer, context| {
            if writer.state == State::Writing {
                ready!(writer.coding.poll_flush(context))?;
                writer.state = State::Flushed;
            }
            ready!(writer.poll_pass_on(context))?;
            Pin::new(&mut writer.inner).poll_flush(context).map_err(Error::Write)
        })
    }

    /// Ends the file, and shuts the inner writer down.
    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().poll_with(context, |writer, context| {
            ready!(writer.poll_end(context))?;
            Pin::new(&mut writer.inner).poll_shutdown(context).map_err(Error::Write)
        })
    }
}

impl<W: fmt::Debug> fmt::Debug for AsyncWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncWriter")
            .field("inner", &self.inner)
            .field("state", &self.state)
            .field("failure", &self.failure)
            .finish_non_exhaustive()
    }
}
