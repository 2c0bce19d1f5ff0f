//! `abz::Reader`: reading and seeking in it are those of the plain contents, in every format.

use std::io::{self, BufRead, Cursor, ErrorKind, Read, Seek, SeekFrom, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{fs, thread};

use abz::gzip::Layout;
use abz::{Compression, Error, Format, Pool, Reader, ReaderBuilder, Setting, Writer, WriterBuilder};
use flate2::write::GzEncoder;

use crate::support::{Folder, Random, files, noise, prose, rounds};

/// A file that gives as many bytes at a time as it likes, pauses, and fails while it is told to. It must not be read after
/// its end.
struct Uneven {
    file: Cursor<Vec<u8>>,
    random: Random,
    most: u64,
    has_ended: bool,
    /// How many more times it pauses. A part that is read at its place is read again from its start after a pause.
    pauses_left: u64,
    fails: Arc<AtomicBool>,
}

impl Uneven {
    fn new(file: &[u8], random: &mut Random) -> Self {
        let most = [9, 12, 15, 17, 20][random.below(5) as usize];
        let (file, random) = (Cursor::new(file.to_vec()), Random(random.next()));
        Uneven { file, random, most: 1 << most, has_ended: false, pauses_left: 12, fails: Arc::default() }
    }

    fn fail(&mut self) -> io::Result<()> {
        match self.fails.load(Ordering::Relaxed) && self.random.below(4) == 0 {
            true => Err(io::Error::other("a disk that fails")),
            false => Ok(()),
        }
    }
}

impl Read for Uneven {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        assert!(!self.has_ended, "it was read again after its end");
        self.fail()?;
        match self.random.below(30) {
            0..3 => return Err(ErrorKind::Interrupted.into()),
            pause @ 3..5 if self.pauses_left > 0 => {
                self.pauses_left -= 1;
                return Err([ErrorKind::WouldBlock, ErrorKind::TimedOut][pause as usize - 3].into());
            }
            _ => {}
        }
        let len = buffer.len().min(1 + self.random.below(self.most) as usize);
        let read = self.file.read(&mut buffer[..len])?;
        self.has_ended = read == 0 && len > 0;
        Ok(read)
    }
}

impl Seek for Uneven {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        // The size is asked for from the end.
        if !matches!(to, SeekFrom::Start(_)) {
            self.fail()?;
        }
        self.has_ended = false;
        self.file.seek(to)
    }
}

/// Makes a call again while the file pauses.
fn again<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            result => return result,
        }
    }
}

/// Files with these contents, of each format, and of some programs that record less than this crate does.
fn forms(data: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut forms: Vec<_> = files(data).into_iter().map(|(name, file)| (name.to_owned(), file)).collect();
    for format in Format::written() {
        for block_size in [None, Some(20_000)] {
            let block_size = block_size.filter(|_| format.has(Setting::BlockSize));
            let level = *format.levels().start();
            let how = Compression { format, level, block_size, ..Compression::default() };
            let mut writer = WriterBuilder::new().settings(how).build(Vec::new()).unwrap();
            writer.write_all(data).unwrap();
            forms.push((format!("{format} {block_size:?}"), writer.finish().unwrap()));
        }
    }
    let (first, second) = data.split_at(data.len() / 3);
    let mut two = Vec::new();
    for part in [first, second] {
        let mut encoder = GzEncoder::new(&mut two, flate2::Compression::new(6));
        encoder.write_all(part).unwrap();
        encoder.finish().unwrap();
    }
    forms.push(("gzip, two members without marks".to_owned(), two));
    forms
}

/// Does `steps` random calls on a reader of `file`, and the same on a reader of its contents.
#[track_caller]
fn same(name: &str, mut reader: Reader<Uneven>, data: &[u8], random: &mut Random, steps: u64) {
    let mut plain = Cursor::new(data);
    let fails = Arc::clone(&reader.get_ref().fails);
    for step in 0..steps {
        let most = 1 + random.below(17);
        let len = 1 + random.below(1 << most) as usize;
        match random.below(8) {
            0..3 => {
                let (mut found, mut expected) = (Vec::new(), Vec::new());
                again(|| (&mut reader).take((len - found.len()) as u64).read_to_end(&mut found))
                    .unwrap_or_else(|error| panic!("{name}: {error}"));
                (&mut plain).take(len as u64).read_to_end(&mut expected).unwrap();
                assert!(found == expected, "{name}: step {step}, {len} bytes");
            }
            3 => {
                again(|| reader.fill_buf().map(drop)).unwrap_or_else(|error| panic!("{name}: {error}"));
                let held = reader.fill_buf().unwrap();
                let len = held.len().min(len);
                let rest = plain.fill_buf().unwrap();
                assert_eq!(held.is_empty(), rest.is_empty(), "{name}: step {step}");
                assert!(held[..len] == rest[..len], "{name}: step {step}");
                reader.consume(len);
                plain.consume(len);
            }
            4 => {
                let (found, expected) = (reader.stream_position().unwrap(), plain.stream_position().unwrap());
                assert_eq!(found, expected, "{name}: step {step}");
            }
            kind => {
                let size = data.len() as i64;
                // Some are refused: those before the start.
                let refused = -1 - random.below(1 << 40) as i64;
                let past_end = [0, 9, 1 << 40][random.below(40).saturating_sub(37) as usize];
                let target = random.below(size as u64 + 1) as i64 + past_end;
                let target = if kind != 5 && random.below(4) == 0 { refused } else { target };
                let to = match kind {
                    5 => SeekFrom::Start(target as u64),
                    6 => SeekFrom::End(target - size),
                    _ => SeekFrom::Current(target - plain.position() as i64),
                };
                let (may_fail, is_within) = (random.below(3) == 0, random.below(3) == 0);
                fails.store(may_fail, Ordering::Relaxed);
                let found = again(|| if is_within { reader.seek_within(to) } else { reader.seek(to) });
                fails.store(false, Ordering::Relaxed);
                match found {
                    Ok(found) if is_within => {
                        assert_eq!(found, target.clamp(0, size) as u64, "{name}: step {step}, {to:?}");
                        plain.set_position(found);
                    }
                    Ok(found) => assert_eq!(found, plain.seek(to).unwrap(), "{name}: step {step}"),
                    Err(error) if error.kind() == ErrorKind::InvalidInput => {
                        plain.seek(to).unwrap_err();
                    }
                    Err(error) => assert!(may_fail, "{name}: {error}"),
                }
                assert_eq!(reader.stream_position().unwrap(), plain.position(), "{name}: step {step}");
            }
        }
    }
}

/// `ABZ_SOAK=1000` makes a thousand times as many calls.
#[test]
fn reading_and_seeking_are_those_of_the_contents() {
    let pool = Arc::new(Pool::new(2));
    let data = [prose(900_000), noise(200_000, 7), vec![b'x'; 2_500_000], prose(300_000)].concat();
    for (name, file) in forms(&data) {
        let mut random = Random(11);
        for round in 0..rounds(6) {
            let builder = ReaderBuilder::new().workers(1 + (round % 3) as usize).pool(&pool);
            let reader = builder.build(Uneven::new(&file, &mut random)).unwrap();
            same(&name, reader, &data, &mut random, 12);
        }
    }
}

#[test]
fn a_seek_to_the_end_of_a_damaged_file_leaves_what_is_before_the_damage() {
    let data = prose(2_000_000);
    for (name, mut file) in forms(&data) {
        let cut = file.len() / 2;
        file.truncate(cut);
        for workers in [1, 3] {
            let Ok(mut reader) = ReaderBuilder::new().workers(workers).build(Cursor::new(&file)) else {
                continue;
            };
            let mut some = vec![0; 1000];
            if reader.read_exact(&mut some).is_err() {
                continue; // it is one part
            }
            for _ in 0..2 {
                // A file that tells its size may not be read to its end.
                let _ = reader.seek(SeekFrom::End(0)).map(|_| reader.seek(SeekFrom::Start(1000)).unwrap());
                assert_eq!(reader.stream_position().unwrap(), 1000, "{name}");
            }
            reader.read_exact(&mut some).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(some == data[1000..2000], "{name}");
        }
    }
}

#[test]
fn a_reader_needs_no_more_than_a_reader() {
    let data = prose(3_000_000);
    for (name, file) in forms(&data) {
        // Borrowed, and without seeking.
        let mut reader = Reader::new(&file[..]).unwrap();
        let mut found = Vec::new();
        reader.read_to_end(&mut found).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(found == data, "{name}");
        assert_eq!(reader.read(&mut [0; 9]).unwrap(), 0, "{name}");
        assert!(reader.into_inner().is_empty(), "{name}");
    }
}

#[test]
fn an_index_tells_where_the_parts_are() {
    let folder = Folder::new();
    let data = prose(9_000_000);
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::new(6));
    encoder.write_all(&data).unwrap();
    let file = encoder.finish().unwrap();
    folder.write("one.gz", &file);
    let mut reader = Reader::open(folder.path("one.gz")).unwrap();
    reader.seek(SeekFrom::Start(5_000_000)).unwrap();
    let index = reader.index().unwrap();
    let mut some = [0; 100];
    reader.read_exact(&mut some).unwrap();
    assert!(some[..] == data[5_000_000..5_000_100]);
    folder.write("one.abzi", &index.to_bytes());

    let mut reader = ReaderBuilder::new().index(folder.path("one.abzi")).open(folder.path("one.gz")).unwrap();
    for place in [8_999_900, 0, 4_000_000] {
        reader.seek(SeekFrom::Start(place)).unwrap();
        reader.read_exact(&mut some).unwrap();
        assert!(some[..] == data[place as usize..][..100]);
    }
    assert_eq!(reader.index().unwrap(), index);

    folder.write("two.gz", &[&file[..], &file[..]].concat());
    let mut reader = ReaderBuilder::new().index(folder.path("one.abzi")).open(folder.path("two.gz")).unwrap();
    let error =
        reader.seek(SeekFrom::Start(100)).and_then(|_| reader.seek(SeekFrom::Start(9_000_000))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidData);
    assert!(error.to_string().contains("the index of this file"), "{error}");
    folder.write("none.abzi", b"no index");
    let error = ReaderBuilder::new().index(folder.path("none.abzi")).open(folder.path("one.gz")).unwrap_err();
    assert!(error.to_string().contains("none.abzi"), "{error}");
}

#[test]
fn a_file_of_no_format_is_refused_with_what_was_found() {
    let folder = Folder::new();
    let cases = [
        (&b""[..], "an empty file", ErrorKind::UnexpectedEof),
        (b"BZ", "a file that ends after `BZ`", ErrorKind::UnexpectedEof),
        (b"BZip", "a file that begins with `BZip`", ErrorKind::InvalidData),
        (b"plain text\n", "`plain text\\n`", ErrorKind::InvalidData),
    ];
    for (data, found, kind) in cases {
        let error = Reader::new(data).unwrap_err();
        assert_eq!(error.kind(), kind);
        assert!(error.to_string().contains(found), "{error}");
        folder.write("file", data);
        let error = Reader::open(folder.path("file")).unwrap_err();
        assert!(error.to_string().contains("/file: "), "{error}");
    }
    assert_eq!(Reader::open(folder.path("nothing")).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(ReaderBuilder::new().workers(0).build(&b""[..]).unwrap_err().kind(), ErrorKind::InvalidInput);
}

/// A file that ends within the first bytes of its format is told as any other that was cut, and not as one of no format.
#[test]
fn a_file_that_ends_anywhere_says_that_its_end_is_missing() {
    // The contents of a zip file are whole before its directory, and the numbers before that have one of two sizes.
    for format in Format::written().filter(|&format| format != Format::Zip) {
        let how = Compression { format, level: format.default_level(), ..Compression::default() };
        let mut file = Vec::new();
        abz::compress(&prose(100)[..], &mut file, &how).unwrap();
        for len in 0..file.len() {
            let read = |mut reader: Reader<&[u8]>| reader.read_to_end(&mut Vec::new());
            let Err(error) = Reader::new(&file[..len]).and_then(read) else {
                panic!("{format}: {len} bytes")
            };
            assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "{format}, {len} of {}: {error}", file.len());
        }
    }
}

#[test]
fn a_damaged_file_gives_its_contents_up_to_the_damage_and_then_errors_for_ever() {
    let data = prose(2_000_000);
    for (name, mut file) in forms(&data) {
        let cut = file.len() - file.len() / 4;
        let is_cut = name.len() % 2 == 0;
        if is_cut {
            file.truncate(cut);
        } else {
            file[cut..].iter_mut().for_each(|byte| *byte ^= 0x55);
        }
        for workers in [1, 3] {
            let mut reader = ReaderBuilder::new().workers(workers).build(&file[..]).unwrap();
            let mut found = Vec::new();
            let Err(error) = reader.read_to_end(&mut found) else { panic!("{name}: no error") };
            assert!(
                matches!(
                    error.kind(),
                    ErrorKind::InvalidData | ErrorKind::UnexpectedEof | ErrorKind::OutOfMemory
                ),
                "{name}: {error}"
            );
            assert!(error.get_ref().is_some_and(|inner| inner.is::<Error>()), "{name}");
            // The damaged bytes themselves may be decoded before their checksum comes.
            let right = found.iter().zip(&data).take_while(|(found, right)| found == right).count();
            assert!(!is_cut || right == found.len(), "{name}: {right} of {}", found.len());
            let again = reader.read(&mut [0; 10]).unwrap_err();
            assert!(again.to_string().contains("an earlier call has failed"), "{name}: {again}");
        }
    }
}

/// A connection whose peer waits for an answer to each message.
#[test]
fn what_has_come_is_given_before_more_is_read() {
    for workers in [1, 2] {
        let (mut ours, theirs) = io::pipe().unwrap();
        let (answers, mut answer) = io::pipe().unwrap();
        let peer = thread::spawn(move || {
            let mut answers = answers;
            let mut writer = Writer::new(theirs).unwrap();
            for number in 0..40_000u32 {
                // Enough at first that a pool takes over.
                let text = if number == 0 { noise(600_000, 5) } else { number.to_le_bytes().to_vec() };
                writer.write_all(&text).unwrap();
                writer.flush().unwrap();
                answers.read_exact(&mut [0]).unwrap();
                if number == 300 {
                    break;
                }
            }
            writer.finish().unwrap();
        });
        let mut reader = ReaderBuilder::new().workers(workers).build(&mut ours).unwrap();
        reader.read_exact(&mut vec![0; 600_000]).unwrap();
        answer.write_all(&[0]).unwrap();
        for number in 1..=300u32 {
            let mut message = [0; 4];
            reader.read_exact(&mut message).unwrap();
            assert_eq!(u32::from_le_bytes(message), number);
            answer.write_all(&[0]).unwrap();
        }
        assert_eq!(reader.read(&mut [0]).unwrap(), 0);
        peer.join().unwrap();
    }
}

#[test]
fn a_thousand_readers_share_two_threads() {
    let pool = Arc::new(Pool::new(2));
    let data = prose(600_000);
    let mut writer = WriterBuilder::new().block_size(50_000).pool(&pool).build(Vec::new()).unwrap();
    writer.write_all(&data).unwrap();
    let file = writer.finish().unwrap();
    let threads = || fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    let before = threads();
    let make = || ReaderBuilder::new().workers(2).pool(&pool).build(&file[..]).unwrap();
    let mut readers: Vec<_> = (0..1000).map(|_| make()).collect();
    // Other tests of this process start and end threads of their own, so only many more would be wrong.
    assert!(threads() < before + 500);
    for (number, reader) in readers.iter_mut().enumerate().filter(|(number, _)| number % 50 == 0) {
        let mut some = vec![0; 1000 * (number + 1).min(500)];
        reader.read_exact(&mut some).unwrap();
        assert!(data.starts_with(&some));
    }
    readers.truncate(500); // some in the middle of their work
    let mut rest = Vec::new();
    readers[50].read_to_end(&mut rest).unwrap();
    assert!(data.ends_with(&rest));
}

#[test]
fn bytes_behind_the_file_are_told() {
    for format in [Format::Gzip, Format::Lzip] {
        let mut writer = WriterBuilder::new().format(format).build(Vec::new()).unwrap();
        writer.write_all(b"a branch").unwrap();
        let mut file = writer.finish().unwrap();
        let end = file.len() as u64;
        file.extend(b"garbage");
        let mut reader = Reader::new(&file[..]).unwrap();
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), reader.garbage_at()), ("a branch", Some(end)), "{format}");
    }
    let bgzf = WriterBuilder::new()
        .settings(Compression { layout: Layout::Bgzf, ..Compression::default() })
        .build(Vec::new())
        .and_then(Writer::finish)
        .unwrap();
    assert_eq!(Reader::new(&bgzf[..]).unwrap().read(&mut [0]).unwrap(), 0);
}
