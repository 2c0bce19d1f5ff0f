//! `abz::Writer`: its bytes are the command's, and what was flushed can be read.

use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fs, thread};

use abz::gzip::Layout;
use abz::{Compression, Decompression, Error, Format, Pool, Reader, Setting, Writer, WriterBuilder};
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use zstd_safe::{CCtx, DCtx, InBuffer, OutBuffer};

use crate::support::{Folder, Random, noise, prose, rounds};

/// Compresses `data` in random pieces.
fn write(settings: &Compression, data: &[u8], random: &mut Random) -> Vec<u8> {
    let mut writer = WriterBuilder::new().settings(settings.clone()).build(Vec::new()).unwrap();
    let mut rest = data;
    while !rest.is_empty() {
        let most = random.below(16);
        let len = 1 + random.below(1 << most) as usize;
        let (some, more) = rest.split_at(len.min(rest.len()));
        writer.write_all(some).unwrap();
        rest = more;
    }
    writer.finish().unwrap()
}

/// The contents of the start of a file, as far as they can be decoded.
fn contents(file: &[u8]) -> (Vec<u8>, Result<(), Error>) {
    let mut contents = Vec::new();
    let done = abz::decompress(file, &mut contents, &Decompression::default());
    (contents, done.map(drop))
}

/// The contents of the start of a file, as far as the decoder of the format's own library gives them. `None` for formats whose
/// library is not here.
fn contents_by_reference(settings: &Compression, file: &[u8]) -> Option<Vec<u8>> {
    let mut contents = Vec::new();
    match settings.format {
        Format::Gzip => drop(MultiGzDecoder::new(file).read_to_end(&mut contents)),
        Format::Zlib => drop(ZlibDecoder::new(file).read_to_end(&mut contents)),
        Format::Zstd => {
            let (mut decoder, mut input, mut chunk) =
                (DCtx::create(), InBuffer::around(file), vec![0; 1 << 17]);
            loop {
                let mut output = OutBuffer::around(&mut chunk[..]);
                decoder.decompress_stream(&mut output, &mut input).unwrap();
                contents.extend_from_slice(output.as_slice());
                if input.pos() == file.len() && output.as_slice().len() < output.capacity() {
                    break;
                }
            }
        }
        _ => return None,
    }
    Some(contents)
}

/// Settings of each format, with small blocks where the format has blocks.
fn settings() -> impl Iterator<Item = Compression> {
    let layouts = |format: Format| match format {
        Format::Gzip => vec![Layout::OneMember, Layout::Members, Layout::Bgzf],
        _ => vec![Layout::default()],
    };
    let each = move |(format, workers): (Format, usize)| {
        let block_size = format.has(Setting::BlockSize).then_some(5000);
        let rsyncable = if format.has(Setting::Rsyncable) { vec![false, true] } else { vec![false] };
        rsyncable.into_iter().flat_map(move |rsyncable| {
            layouts(format).into_iter().map(move |layout| Compression {
                format,
                level: *format.levels().start(),
                // BGZF has blocks of its own size.
                block_size: block_size.filter(|_| layout != Layout::Bgzf),
                rsyncable: rsyncable && layout != Layout::Bgzf,
                layout,
                workers,
                ..Compression::default()
            })
        })
    };
    Format::written().flat_map(|format| [(format, 1), (format, 3)]).flat_map(each)
}

#[test]
fn the_bytes_are_those_of_a_run_in_whatever_pieces_they_come() {
    let mut random = Random(5);
    for settings in settings() {
        let block = abz::program::block_len(&settings);
        for len in [0, 1, block - 1, block, block + 1, 3 * block, 3 * block + 77] {
            let data = [prose(len / 2), noise(len - len / 2, 3)].concat();
            let mut expected = Vec::new();
            abz::compress(&data[..], &mut expected, &settings).unwrap();
            assert!(write(&settings, &data, &mut random) == expected, "{len} bytes: {settings:?}");
        }
    }
}

#[test]
fn the_bytes_are_those_of_the_command_at_its_default_level() {
    let folder = Folder::new();
    let data = prose(3_000_000);
    for format in Format::written() {
        let command = folder.abz_fed(&["-n", "-c", "--format", format.name()], &data).exits(0).stdout();
        let mut writer = WriterBuilder::new().format(format).build(Vec::new()).unwrap();
        writer.write_all(&data).unwrap();
        assert!(writer.finish().unwrap() == command, "{format}");
    }
}

#[test]
fn a_stated_size_is_recorded_and_checked() {
    let data = prose(3_000_000);
    let len = data.len() as u64;
    for block_size in [None, Some(1 << 20)] {
        let settings = Compression { format: Format::Zstd, level: 3, block_size, ..Compression::default() };
        let settings = Compression { contents: Some(len), ..settings };
        let mut expected = Vec::new();
        abz::compress(&data[..], &mut expected, &settings).unwrap();
        assert!(write(&settings, &data, &mut Random(1)) == expected);
        for wrong in [len - 1, len + 1] {
            let settings = Compression { contents: Some(wrong), ..settings.clone() };
            let mut writer = WriterBuilder::new().settings(settings).build(Vec::new()).unwrap();
            writer.write_all(&data).unwrap();
            assert_eq!(writer.finish().map(drop).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        }
    }
}

/// An output whose bytes can be looked at.
#[derive(Clone, Default)]
struct Shared(Arc<std::sync::Mutex<Vec<u8>>>);

impl Shared {
    fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }
}

impl Write for Shared {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(data)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn what_was_flushed_can_be_decoded_and_a_dropped_writer_ends_its_file() {
    let mut random = Random(rounds(1));
    // The encoder of .lzma keeps what it still needs.
    for settings in settings().filter(|settings| settings.format != Format::Lzma) {
        for _ in 0..rounds(8) {
            let (shared, mut plain) = (Shared::default(), Vec::new());
            let contents_are_stated = random.below(4) == 0;
            let pieces: Vec<_> = (0..random.below(24))
                .map(|_| {
                    // Most are short lines of a log, some are as long as several blocks.
                    let most = if random.below(4) == 0 { 1 << random.below(15) } else { 60 };
                    let len = random.below(most) as usize;
                    (random.below(3), len, random.below(4) > 0)
                })
                .collect();
            let pieces = pieces.into_iter().map(|(kind, len, flushes)| match kind {
                0 => (vec![7; 3 * len], flushes),
                1 => (noise(len, 7 + len as u64), flushes),
                _ => (prose(len), flushes),
            });
            let pieces: Vec<_> = pieces.collect();
            let stated = pieces.iter().map(|(data, _)| data.len() as u64).sum();
            let contents_stated = Some(stated).filter(|_| contents_are_stated);
            let settings = Compression { contents: contents_stated, ..settings.clone() };
            let mut writer = WriterBuilder::new().settings(settings.clone()).build(shared.clone()).unwrap();
            let check = |plain: &[u8]| {
                let file = shared.bytes();
                assert!(contents(&file).0 == plain, "{} bytes: {settings:?}", plain.len());
                if let Some(theirs) = contents_by_reference(&settings, &file) {
                    assert!(theirs == plain, "{} bytes: {settings:?}", plain.len());
                }
            };
            for (data, flushes) in pieces {
                writer.write_all(&data).unwrap();
                plain.extend(data);
                if flushes {
                    writer.flush().unwrap();
                    check(&plain);
                }
            }
            drop(writer);
            check(&plain);
            contents(&shared.bytes()).1.unwrap_or_else(|error| panic!("{error}: {settings:?}"));
            let mut reader = Reader::new(Cursor::new(shared.bytes())).unwrap();
            for _ in 0..4 {
                let place = random.below(plain.len() as u64 + 1) as usize;
                let mut found = vec![0; 100.min(plain.len() - place)];
                reader.seek(SeekFrom::Start(place as u64)).unwrap();
                reader.read_exact(&mut found).unwrap();
                assert!(plain[place..].starts_with(&found), "at {place}: {settings:?}");
            }
        }
    }
}

/// Lines of a log, each with its time and some words.
fn log_lines(count: usize) -> Vec<Vec<u8>> {
    let mut random = Random(11);
    let words = ["river", "branch", "leaf", "main", "stream", "joined", "left", "again"];
    let mut word = || words[random.below(words.len() as u64) as usize];
    let line =
        |number| format!("2024-05-07T12:{:05} {} {} {}={}\n", number, word(), word(), word(), number % 97);
    (0..count).map(line).map(String::into_bytes).collect()
}

#[test]
fn lines_that_are_flushed_one_by_one_take_no_more_than_with_the_format_s_own_library() {
    let lines = log_lines(20_000);
    let ours = |format, before: &[u8]| {
        let mut writer = WriterBuilder::new().format(format).build(Vec::new()).unwrap();
        writer.write_all(before).unwrap();
        for line in &lines {
            writer.write_all(line).unwrap();
            writer.flush().unwrap();
        }
        writer.finish().unwrap().len()
    };
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    let (mut zstd, mut chunk, mut zstd_len) = (CCtx::create(), vec![0; 1 << 17], 0);
    for line in &lines {
        gzip.write_all(line).unwrap();
        gzip.flush().unwrap();
        let mut output = OutBuffer::around(&mut chunk[..]);
        zstd.compress_stream(&mut output, &mut InBuffer::around(line)).unwrap();
        assert_eq!(zstd.flush_stream(&mut output).unwrap(), 0);
        zstd_len += output.pos();
    }
    let theirs = [(Format::Gzip, gzip.finish().unwrap().len()), (Format::Zstd, zstd_len)];
    for (format, theirs) in theirs {
        // Other contents, whose blocks have marks, may be before the lines.
        let before = noise(6_000_000, 3);
        let (ours, later) = (ours(format, &[]), ours(format, &before) - before.len());
        assert!(ours <= theirs + theirs / 10, "{format}: {ours} bytes, {theirs} by the library");
        assert!(later <= theirs + theirs / 10 + 4000, "{format}: {later} bytes, {theirs} by the library");
    }
}

/// An output that has room for so many bytes.
#[derive(Debug)]
struct Small(usize);

impl Write for Small {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let len = data.len().min(self.0);
        self.0 -= len;
        if len == 0 && !data.is_empty() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn after_an_error_every_call_fails() {
    let data = noise(400_000, 1);
    for settings in settings() {
        let mut writer = WriterBuilder::new().settings(settings).build(Small(10_000)).unwrap();
        let written = writer.write_all(&data).and_then(|()| writer.flush());
        let Err(error) = written else {
            // All of it may still be in the encoder of .lzma.
            writer.finish().unwrap_err();
            continue;
        };
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert!(matches!(error.downcast::<Error>().unwrap(), Error::Write(_)));
        for again in [writer.write(&[1]).map(drop), writer.flush(), writer.finish().map(drop)] {
            let again = again.unwrap_err();
            assert_eq!(again.kind(), io::ErrorKind::StorageFull);
            assert!(matches!(again.downcast::<Error>().unwrap(), Error::Before(_)));
        }
    }
}

#[test]
fn a_panic_of_its_thread_writes_no_end() {
    let (shared, has_panicked) = (Shared::default(), AtomicBool::new(false));
    thread::scope(|scope| {
        let writing = scope.spawn(|| {
            let mut writer = Writer::new(shared.clone()).unwrap();
            writer.write_all(b"half of a text").unwrap();
            panic!("as a program may");
        });
        has_panicked.store(writing.join().is_err(), Ordering::Relaxed);
    });
    assert!(has_panicked.into_inner() && shared.bytes().is_empty());
}

/// An output that panics at one of its calls, after it has taken some bytes.
struct Panics {
    taken: Shared,
    calls_left: u64,
}

impl Panics {
    fn call(&mut self) {
        self.calls_left = self.calls_left.wrapping_sub(1);
        assert!(self.calls_left != 0, "as an output may");
    }
}

impl Write for Panics {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let half = data.len().div_ceil(2);
        self.taken.write_all(&data[..half])?;
        self.call();
        Ok(half)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.call();
        Ok(())
    }
}

#[test]
fn after_a_caught_panic_of_the_output_nothing_is_written() {
    let mut random = Random(9);
    for settings in settings() {
        let taken = Shared::default();
        let output = Panics { taken: taken.clone(), calls_left: 1 + random.below(6) };
        let mut writer = WriterBuilder::new().settings(settings.clone()).build(output).unwrap();
        let mut write = || {
            loop {
                writer.write_all(&noise(20_000, 3)).unwrap();
                if settings.format != Format::Lzma {
                    writer.flush().unwrap();
                }
            }
        };
        catch_unwind(AssertUnwindSafe(&mut write)).unwrap_err();
        let before = taken.bytes();
        for again in [writer.write(&[1]).map(drop), writer.flush()] {
            assert!(matches!(again.unwrap_err().downcast::<Error>().unwrap(), Error::Before(_)));
        }
        drop(writer);
        assert!(taken.bytes() == before, "{settings:?}");
    }
}

#[test]
fn many_writers_share_a_pool_and_borrow_their_outputs() {
    let pool = Arc::new(Pool::new(2));
    let data = prose(60_000);
    let mut outputs = vec![Vec::new(); 40];
    let make = |output| WriterBuilder::new().block_size(10_000).workers(2).pool(&pool).build(output).unwrap();
    let mut writers: Vec<_> = outputs.iter_mut().map(make).collect();
    for piece in data.chunks(7_000) {
        writers.iter_mut().for_each(|writer| writer.write_all(piece).unwrap());
    }
    // Half of them are dropped in the middle of their work.
    for (number, writer) in writers.into_iter().enumerate() {
        if number % 2 == 0 {
            writer.finish().unwrap();
        }
    }
    for output in outputs {
        let (found, done) = contents(&output);
        assert!(done.is_ok() && found == data);
    }
}

#[test]
fn a_name_says_the_format_and_a_wrong_setting_empties_no_file() {
    let folder = Folder::new();
    for format in Format::written() {
        let path = folder.path(&format!("name{}", format.suffix()));
        let mut writer = Writer::create(&path).unwrap();
        writer.write_all(b"a branch").unwrap();
        writer.finish().unwrap();
        let file = fs::read(path).unwrap();
        assert_eq!((Format::of(&file), contents(&file).0), (Some(format), b"a branch".to_vec()));
    }
    for name in ["name", "name.txt", "name.Z", "gz"] {
        let error = Writer::create(folder.path(name)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        assert!(error.to_string().contains(name), "{error}");
        assert!(!folder.path(name).exists());
    }
    folder.write("kept.gz", b"kept");
    let wrong = [
        WriterBuilder::new().level(13),
        WriterBuilder::new().level(0),
        WriterBuilder::new().format(Format::Pack),
        WriterBuilder::new().block_size(0),
        WriterBuilder::new().block_size(5 << 20),
        WriterBuilder::new().workers(0),
        WriterBuilder::new().memory_limit(1 << 20),
    ];
    for builder in wrong {
        let error = builder.create(folder.path("kept.gz")).unwrap_err();
        assert!(matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::OutOfMemory), "{error}");
        assert!(error.to_string().starts_with("expected "), "{error}");
    }
    assert_eq!(folder.read("kept.gz"), b"kept");
}
