//! `abz::AsyncReader` and `abz::AsyncWriter`: their contents and bytes are those of `Reader` and `Writer`, however the inner
//! reader and writer pause.

use std::cell::Cell;
use std::io::{self, Cursor, ErrorKind, Read, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use abz::{
    AsyncReader, AsyncWriter, Compression, Format, Pool, Reader, ReaderBuilder, Setting, WriterBuilder,
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::runtime::{Builder, Runtime};
use tokio::time::error::Elapsed;
use tokio::time::timeout;

use crate::support::{Random, files, noise, prose, rounds};

/// How long a step may take before it counts as a hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// Awaits a future. An error says that it hangs.
async fn within<T>(future: impl Future<Output = T>) -> Result<T, Elapsed> {
    timeout(PATIENCE, future).await
}

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap()
}

/// Bytes that come, or go, a few at a time, with pauses. One in ten pauses lasts until another task has run.
struct Pausing {
    bytes: Cursor<Vec<u8>>,
    random: Random,
    most: u64,
}

impl Pausing {
    fn new(bytes: Vec<u8>, random: &mut Random) -> Self {
        let most = 1 << [3, 9, 14, 18, 20][random.below(5) as usize];
        // Very short reads of a large file take too long.
        let most = most.max(bytes.len() as u64 / 2000 + 1);
        Pausing { bytes: Cursor::new(bytes), random: Random(random.next()), most }
    }

    fn len(&mut self, context: &mut Context<'_>) -> Poll<usize> {
        match self.random.below(20) {
            0 => {
                let waker = context.waker().clone();
                tokio::spawn(async move { waker.wake() });
                Poll::Pending
            }
            1..10 => {
                context.waker().wake_by_ref();
                Poll::Pending
            }
            _ => Poll::Ready(1 + self.random.below(self.most) as usize),
        }
    }
}

impl AsyncRead for Pausing {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.len(context).map(|len| {
            let mut some = vec![0; len.min(buffer.remaining())];
            let len = Read::read(&mut self.bytes, &mut some)?;
            buffer.put_slice(&some[..len]);
            Ok(())
        })
    }
}

impl AsyncWrite for Pausing {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.len(context).map(|len| Write::write(&mut self.bytes, &data[..len.min(data.len())]))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.len(context).map(|_| Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.len(context).map(|_| Ok(()))
    }
}

/// A builder of each format, with small blocks where the format has blocks.
fn builders() -> impl Iterator<Item = (Format, WriterBuilder)> {
    Format::written().map(|format| {
        let builder = WriterBuilder::new().format(format).level(*format.levels().start());
        (format, if format.has(Setting::BlockSize) { builder.block_size(30_000) } else { builder })
    })
}

/// `ABZ_SOAK=1000` makes a thousand times as many runs.
#[test]
fn contents_are_those_of_a_reader() {
    let (runtime, pool) = (runtime(), Arc::new(Pool::new(2)));
    let data = [prose(700_000), noise(100_000, 7), vec![b'x'; 900_000]].concat();
    let mut forms: Vec<_> = files(&data).into_iter().map(|(name, file)| (name.to_owned(), file)).collect();
    for (format, builder) in builders() {
        let mut writer = builder.build(Vec::new()).unwrap();
        writer.write_all(&data).unwrap();
        forms.push((format.to_string(), writer.finish().unwrap()));
    }
    for (name, file) in forms {
        let mut random = Random(3);
        for round in 0..rounds(3) {
            let builder = ReaderBuilder::new().workers(1 + (round % 3) as usize).pool(&pool);
            let is_cut = random.below(3) == 0;
            let len = if is_cut { file.len() * 3 / 4 } else { file.len() };
            let mut reader = builder.build_async(Pausing::new(file[..len].to_vec(), &mut random)).unwrap();
            assert_eq!(reader.format(), None);
            let mut found = Vec::new();
            let read = runtime.block_on(within(reader.read_to_end(&mut found)));
            let read = read.unwrap_or_else(|_| panic!("{name}: hangs"));
            match read {
                Ok(_) => assert!(!is_cut && found == data, "{name}: {} bytes", found.len()),
                Err(error) => {
                    assert!(is_cut && data.starts_with(&found), "{name}: {error}");
                    let again = runtime.block_on(reader.read_u8()).unwrap_err();
                    assert!(again.to_string().contains("an earlier call has failed"), "{name}: {again}");
                }
            }
            assert!(reader.format().is_some());
        }
    }
}

/// `ABZ_SOAK=1000` makes a thousand times as many runs.
#[test]
fn bytes_are_those_of_a_writer_and_a_flush_makes_them_readable() {
    let (runtime, pool) = (runtime(), Arc::new(Pool::new(2)));
    let data = [prose(300_000), noise(20_000, 7), vec![b'x'; 100_000]].concat();
    for (format, builder) in builders() {
        let mut plain = builder.clone().build(Vec::new()).unwrap();
        plain.write_all(&data).unwrap();
        let plain = plain.finish().unwrap();
        let mut random = Random(5);
        for round in 0..rounds(4) {
            let builder = builder.clone().workers(1 + (round % 3) as usize).pool(&pool);
            let flushes = random.below(2) == 0 && format != Format::Lzma;
            let written = runtime.block_on(within(async {
                let mut writer = builder.build_async(Pausing::new(Vec::new(), &mut random))?;
                let mut rest = &data[..];
                while !rest.is_empty() {
                    let most = random.below(18);
                    let (some, more) = rest.split_at(rest.len().min(1 + random.below(1 << most) as usize));
                    writer.write_all(some).await?;
                    rest = more;
                    if flushes && random.below(40) == 0 {
                        writer.flush().await?;
                        let so_far = writer.get_ref().bytes.get_ref();
                        let mut found = vec![0; data.len() - rest.len()];
                        Reader::new(&so_far[..])?.read_exact(&mut found)?;
                        assert!(data.starts_with(&found), "{format}");
                    }
                }
                writer.shutdown().await?;
                writer.shutdown().await?;
                let behind = writer.write_all(b"more").await.unwrap_err();
                assert_eq!(behind.kind(), ErrorKind::BrokenPipe, "{format}");
                Ok::<_, io::Error>(writer.into_inner().bytes.into_inner())
            }));
            let written = written.unwrap_or_else(|_| panic!("{format}: hangs")).unwrap();
            if flushes {
                let mut found = Vec::new();
                Reader::new(&written[..]).unwrap().read_to_end(&mut found).unwrap();
                assert!(found == data, "{format}");
            } else {
                assert!(written == plain, "{format}");
            }
        }
    }
}

/// Both ends on one thread, which waits for neither of them.
#[test]
fn a_connection_carries_many_files_on_one_thread() {
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    let data = Arc::new([prose(900_000), noise(300_000, 1)].concat());
    let all = async {
        let mut tasks = Vec::new();
        for (_, builder) in builders().chain(builders()) {
            let (ours, theirs) = tokio::io::duplex(5000);
            let (sent, expected) = (Arc::clone(&data), Arc::clone(&data));
            tasks.push(tokio::spawn(async move {
                let mut writer = builder.workers(2).build_async(ours).unwrap();
                writer.write_all(&sent).await.unwrap();
                writer.shutdown().await.unwrap();
            }));
            tasks.push(tokio::spawn(async move {
                let mut reader = ReaderBuilder::new().workers(2).build_async(theirs).unwrap();
                let mut found = Vec::new();
                reader.read_to_end(&mut found).await.unwrap();
                assert!(found == *expected);
            }));
        }
        for task in tasks {
            task.await.unwrap();
        }
    };
    runtime.block_on(within(all)).expect("all files arrive");
}

#[test]
fn what_is_dropped_in_the_middle_leaves_nothing_behind() {
    let (runtime, data) = (runtime(), prose(2_000_000));
    let mut writer = WriterBuilder::new().block_size(20_000).build(Vec::new()).unwrap();
    writer.write_all(&data).unwrap();
    let file = writer.finish().unwrap();
    runtime.block_on(async {
        for len in (0..data.len()).step_by(150_000) {
            let mut reader = AsyncReader::new(&file[..]).unwrap();
            reader.read_exact(&mut vec![0; len]).await.unwrap();
            drop(reader);
            let mut writer = AsyncWriter::new(tokio::io::sink()).unwrap();
            writer.write_all(&data[..len]).await.unwrap();
        }
    });
}

#[test]
fn a_wrong_size_and_a_failing_writer_are_errors_for_ever() {
    runtime().block_on(async {
        let (format, level) = (Format::Zstd, Format::Zstd.default_level());
        let settings = Compression { format, level, contents: Some(10), ..Compression::default() };
        let builder = WriterBuilder::new().settings(settings);
        let mut writer = builder.build_async(Vec::new()).unwrap();
        writer.write_all(b"five5").await.unwrap();
        let error = writer.shutdown().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().contains("expected 10 bytes of contents"), "{error}");

        let mut room = [0; 100];
        let mut writer = AsyncWriter::new(Cursor::new(&mut room[..])).unwrap();
        let failed = async {
            writer.write_all(&noise(2_000_000, 3)).await?;
            writer.shutdown().await
        };
        assert_eq!(failed.await.unwrap_err().kind(), ErrorKind::WriteZero);
        let again = writer.flush().await.unwrap_err();
        assert!(again.to_string().contains("an earlier call has failed"), "{again}");
    });
}

/// Writes `data` in a task, and counts how often another task of its thread goes on meanwhile.
fn ticks_while_it_writes(format: Format, workers: usize, data: &[u8]) -> u32 {
    let runtime = Builder::new_current_thread().build().unwrap();
    let over = Cell::new(false);
    let write = async {
        let builder = WriterBuilder::new().format(format).workers(workers);
        let mut writer = builder.build_async(Vec::new()).unwrap();
        writer.write_all(data).await.unwrap();
        if format != Format::Lzma {
            writer.flush().await.unwrap();
            writer.write_all(&data[..99]).await.unwrap();
        }
        writer.shutdown().await.unwrap();
        over.set(true);
        writer.into_inner()
    };
    let count = async {
        let mut ticks = 0;
        while !over.get() {
            ticks += 1;
            tokio::task::yield_now().await;
        }
        ticks
    };
    let (file, ticks) = runtime.block_on(async { tokio::join!(write, count) });
    let mut found = Vec::new();
    Reader::new(&file[..]).unwrap().read_to_end(&mut found).unwrap();
    assert!(found.starts_with(data), "{format}");
    ticks
}

#[test]
fn other_tasks_of_its_thread_go_on_while_blocks_are_encoded() {
    let data = noise(1 << 17, 3);
    for format in Format::written() {
        for workers in [1, 2] {
            // The output takes all bytes at once, so a task that encodes itself lets the other one begin when all is over. On a
            // busy machine the blocks may be encoded before the task looks for them.
            let goes_on = (0..50).any(|_| ticks_while_it_writes(format, workers, &data) > 0);
            assert!(goes_on, "{format} {workers}");
        }
    }
}
