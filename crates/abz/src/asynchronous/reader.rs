//! An asynchronous reader that decompresses what it reads.

use std::io::{self, BufRead, Read};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncBufRead, AsyncRead, ReadBuf};

use crate::format::Format;
use crate::reader::{Reader, ReaderBuilder};

/// An asynchronous [`Reader`](crate::Reader).
///
/// The threads of a [pool](ReaderBuilder::pool) decode, after the first 128 KiB of the file, which the task decodes itself.
/// With [one worker](ReaderBuilder::workers), the task does all. It reads ahead as a `Reader` does, cannot seek, and has the
/// same errors.
///
/// ```
/// use abz::{AsyncReader, AsyncWriter};
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let mut writer = AsyncWriter::new(Vec::new())?;
/// writer.write_all(b"a branch of a river\n").await?;
/// writer.shutdown().await?;
/// let file = writer.into_inner();
///
/// let mut reader = AsyncReader::new(&file[..])?;
/// let mut text = String::new();
/// reader.read_to_string(&mut text).await?;
/// assert_eq!(text, "a branch of a river\n");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct AsyncReader<R> {
    reader: Reader<Polled<R>>,
}

impl<R: AsyncRead + Unpin> AsyncReader<R> {
    /// Decompresses what `inner` gives. The first read finds out the format.
    ///
    /// # Errors
    ///
    /// None with these settings. It returns a result as [`ReaderBuilder::build_async`] does.
    pub fn new(inner: R) -> io::Result<AsyncReader<R>> {
        ReaderBuilder::new().build_async(inner)
    }

    /// The format of the file; `None` before the first read has found it out.
    pub fn format(&self) -> Option<Format> {
        self.reader.has_format().then(|| self.reader.format())
    }

    /// The offset in the file of garbage after the last member; see [`Reader::garbage_at`](crate::Reader::garbage_at).
    pub fn garbage_at(&self) -> Option<u64> {
        self.reader.garbage_at()
    }

    /// The inner reader. Bytes may have been taken from it that were not yet decoded.
    pub fn get_ref(&self) -> &R {
        &self.reader.get_ref().inner
    }

    /// Returns the inner reader. Bytes that were taken from it and not yet decoded are lost.
    pub fn into_inner(self) -> R {
        self.reader.into_inner().inner
    }
}

impl ReaderBuilder {
    /// Creates an asynchronous reader that decompresses what `inner` gives. The first read finds out the format.
    ///
    /// # Errors
    ///
    /// If a setting is out of its range ([`InvalidInput`](io::ErrorKind::InvalidInput)). An [index](Self::index) is of no use
    /// to it.
    pub fn build_async<R: AsyncRead + Unpin>(self, inner: R) -> io::Result<AsyncReader<R>> {
        let reader = self.begin(Polled { inner, waker: Waker::noop().clone() }, None)?;
        Ok(AsyncReader { reader })
    }
}

impl<R: AsyncRead + Unpin> AsyncBufRead for AsyncReader<R> {
    fn poll_fill_buf(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let reader = &mut self.get_mut().reader;
        reader.set_waker(context.waker());
        reader.get_mut().waker.clone_from(context.waker());
        match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Poll::Pending,
            filled => Poll::Ready(filled),
        }
    }

    fn consume(self: Pin<&mut Self>, amount: usize) {
        self.get_mut().reader.consume(amount);
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for AsyncReader<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if buffer.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        self.as_mut()
            .poll_fill_buf(context)
            .map_ok(|available| {
                let len = available.len().min(buffer.remaining());
                buffer.put_slice(&available[..len]);
                len
            })
            .map_ok(|len| self.consume(len))
    }
}

/// An asynchronous reader as one that fails while it has no bytes.
#[derive(Debug)]
struct Polled<R> {
    inner: R,
    /// Wakes the task that reads.
    waker: Waker,
}

impl<R: AsyncRead + Unpin> Read for Polled<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut buffer = ReadBuf::new(buffer);
        let mut context = Context::from_waker(&self.waker);
        match Pin::new(&mut self.inner).poll_read(&mut context, &mut buffer) {
            Poll::Ready(Ok(())) => Ok(buffer.filled().len()),
            // It would be taken for a pause, after which nobody wakes the task.
            Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                Err(io::Error::other(error))
            }
            Poll::Ready(Err(error)) => Err(error),
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        }
    }
}
