//! Readers and writers that fail at every byte, for every format. The output before the failure is right, the error is
//! that of the reader or writer, and nothing hangs.

use std::io::{self, Read, Write};

use crate::support::prose;
use abz::{Compression, Decompression, Error, Format, Setting};

const WORKERS: usize = 2;

/// A reader that gives `left` bytes of the data, then an error.
struct Failing<'a> {
    data: &'a [u8],
    left: usize,
}

impl Read for Failing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // Small pieces make the failure come while work is under way.
        let len = buffer.len().min(self.left).min(700);
        if len == 0 {
            return Err(io::Error::other("the disk is gone"));
        }
        self.left -= len;
        self.data.read(&mut buffer[..len])
    }
}

/// A writer that takes `room` bytes, then gives an error.
struct Full {
    taken: Vec<u8>,
    room: usize,
}

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = bytes.len().min(self.room - self.taken.len());
        if len == 0 && !bytes.is_empty() {
            return Err(io::Error::other("the disk is full"));
        }
        self.taken.extend_from_slice(&bytes[..len]);
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn compression(format: Format) -> Compression {
    // Blocks of bzip2 are always larger than the data.
    let block_size = format.has(Setting::BlockSize).then_some(4096);
    Compression { format, level: 1, block_size, workers: WORKERS, ..Compression::default() }
}

fn decompression() -> Decompression {
    Decompression { workers: WORKERS, ..Decompression::default() }
}

fn compressed(format: Format, data: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    abz::compress(data, &mut file, &compression(format)).unwrap();
    file
}

/// The offsets at which to fail: all near both ends and near the borders of blocks, and some between.
fn places(len: usize) -> impl Iterator<Item = usize> {
    let is_border = |at: usize| (at + 4) % 4096 < 8;
    (0..len).filter(move |&at| at < 100 || at + 100 >= len || is_border(at) || at % 23 == 0)
}

#[test]
fn a_writer_that_fails_while_compressing_has_what_comes_before() {
    let data = prose(9_000);
    for format in Format::written() {
        let file = compressed(format, &data);
        for room in places(file.len()) {
            let mut output = Full { taken: Vec::new(), room };
            let result = abz::compress(&data[..], &mut output, &compression(format));
            let Err(Error::Write(error)) = result else { panic!("{format}, {room}: {result:?}") };
            assert_eq!(error.to_string(), "the disk is full");
            assert!(output.taken == file[..room], "{format}, {room}");
        }
    }
}

#[test]
fn a_writer_that_fails_while_decompressing_has_what_comes_before() {
    let data = prose(9_000);
    for format in Format::written() {
        let file = compressed(format, &data);
        for room in places(data.len()) {
            let mut output = Full { taken: Vec::new(), room };
            let result = abz::decompress(&file[..], &mut output, &decompression());
            let Err(Error::Write(error)) = result else { panic!("{format}, {room}: {result:?}") };
            assert_eq!(error.to_string(), "the disk is full");
            assert!(output.taken == data[..room], "{format}, {room}");
        }
    }
}

#[test]
fn a_reader_that_fails_while_compressing_is_told() {
    let data = prose(9_000);
    for format in Format::written() {
        let file = compressed(format, &data);
        for left in places(data.len()) {
            let mut output = Vec::new();
            let result = abz::compress(Failing { data: &data, left }, &mut output, &compression(format));
            let Err(Error::Read(error)) = result else { panic!("{format}, {left}: {result:?}") };
            assert_eq!(error.to_string(), "the disk is gone");
            assert!(file.starts_with(&output), "{format}, {left}");
        }
    }
}

#[test]
fn a_reader_that_fails_while_decompressing_is_told() {
    let data = prose(9_000);
    for format in Format::written() {
        let file = compressed(format, &data);
        for left in places(file.len()) {
            let mut output = Vec::new();
            let result = abz::decompress(Failing { data: &file, left }, &mut output, &decompression());
            let Err(Error::Read(error)) = result else { panic!("{format}, {left}: {result:?}") };
            assert_eq!(error.to_string(), "the disk is gone");
            assert!(data.starts_with(&output), "{format}, {left}");
        }
    }
}

#[test]
fn a_file_that_is_cut_is_an_error_and_what_comes_before_is_right() {
    let data = prose(9_000);
    for format in Format::written() {
        let file = compressed(format, &data);
        for len in places(file.len()) {
            let mut output = Vec::new();
            let result = abz::decompress(&file[..len], &mut output, &decompression());
            // A file without an index that is cut between two members is a valid file.
            let is_another = match format.name() {
                "lzip" => output.len() % 4096 == 0,
                // The directory after the contents is not read.
                "zip" => output == data,
                "zstd" => output.len() % 4096 == 0 || output == data,
                _ => false,
            };
            assert!(result.is_err() || is_another, "{format}, {len} of {}", file.len());
            assert!(data.starts_with(&output), "{format}, {len}");
        }
    }
}
