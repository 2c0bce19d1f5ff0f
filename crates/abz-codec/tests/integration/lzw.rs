//! Files of `compress`, compared with GNU gzip and with a simple encoder.

use std::collections::HashMap;
use std::io::Read;
use std::time::{Duration, Instant};

use crate::support::{Noise, command, fed, have, prose};
use abz_codec::lzw::{DecodeError, Decoder, Fault, Reader};

/// The settings of a file.
#[derive(Clone, Copy, Debug)]
struct Kind {
    /// The width of the widest codes in bits.
    bits: u8,
    /// The number of codes after which the table is cleared; `None` if the file has no clear code.
    clear_every: Option<usize>,
}

/// A writer of codes.
struct Codes {
    file: Vec<u8>,
    width: usize,
    group: u128,
    /// The number of codes in the group.
    len: usize,
}

impl Codes {
    fn new(flags: u8) -> Self {
        Codes { file: vec![0x1f, 0x9d, flags], width: 9, group: 0, len: 0 }
    }

    fn put(&mut self, code: u16) {
        self.group |= u128::from(code) << (self.len * self.width);
        self.len += 1;
        if self.len == 8 {
            self.widen_to(self.width);
        }
    }

    /// Pads the group, and continues with codes of another width.
    fn widen_to(&mut self, width: usize) {
        if self.len > 0 {
            self.file.extend(&self.group.to_le_bytes()[..self.width]);
        }
        (self.group, self.len, self.width) = (0, 0, width);
    }

    /// Ends the file, without padding.
    fn end(mut self) -> Vec<u8> {
        self.file.extend(&self.group.to_le_bytes()[..(self.len * self.width).div_ceil(8)]);
        self.file
    }
}

/// Compresses as `compress` does, but clears the table after a fixed number of codes.
fn encode(data: &[u8], kind: Kind) -> Vec<u8> {
    let (flag, first) = if kind.clear_every.is_some() { (0x80, 257) } else { (0, 256) };
    let (capacity, widest) = (1u32 << kind.bits, usize::from(kind.bits).max(10));
    let mut codes = Codes::new(kind.bits | flag);
    // The reader's table has one string less: it learns each string from the code behind it.
    let (mut table, mut size, mut written, mut rest) = (HashMap::new(), first, 0, data);
    while let [byte, after @ ..] = rest {
        let (mut code, mut after) = (u16::from(*byte), after);
        while let [byte, beyond @ ..] = after
            && let Some(&longer) = table.get(&(code, *byte))
        {
            (code, after) = (longer, beyond);
        }
        if size > 1 << codes.width && codes.width < widest {
            codes.widen_to(codes.width + 1);
        }
        if kind.clear_every.is_some_and(|every| written == every) {
            codes.put(256);
            codes.widen_to(9);
            table.clear();
            (size, written) = (first, 0);
            continue;
        }
        codes.put(code);
        written += 1;
        if let [byte, ..] = after
            && size < capacity
        {
            table.insert((code, *byte), size as u16);
        }
        // One string more than there is room for, so that the reader's table gets full, too.
        size = (size + 1).min(capacity + 1);
        rest = after;
    }
    codes.end()
}

/// Decodes a file that comes in pieces of the given lengths. Returns the contents before the first error, and the
/// error.
fn decode(mut file: &[u8], mut len: impl FnMut() -> usize) -> (Vec<u8>, Option<DecodeError>) {
    let (mut decoder, mut data, mut out) = (Decoder::new(), Vec::new(), Vec::new());
    while !file.is_empty() {
        let (mut piece, rest) = file.split_at(len().min(file.len()));
        file = rest;
        loop {
            match decoder.next(&mut piece, &mut data) {
                Ok(true) => out.extend_from_slice(&data),
                Ok(false) => break,
                Err(error) => return (out, Some(error)),
            }
        }
        assert!(piece.is_empty(), "it wants more and has not taken all");
    }
    loop {
        match decoder.finish(&mut data) {
            Ok(true) => out.extend_from_slice(&data),
            Ok(false) => return (out, None),
            Err(error) => return (out, Some(error)),
        }
    }
}

fn decode_whole(file: &[u8]) -> (Vec<u8>, Option<DecodeError>) {
    decode(file, || usize::MAX)
}

/// Runs a program on a file. Returns its output, and whether it succeeded; `None` if it is not installed.
fn through(program: &str, arguments: &[&str], file: &[u8]) -> Option<(Vec<u8>, bool)> {
    if !have(program) {
        return None;
    }
    let mut command = command(program);
    command.args(arguments);
    let output = fed(command, file);
    Some((output.stdout, output.status.success()))
}

fn gzip(file: &[u8]) -> Option<(Vec<u8>, bool)> {
    through("gzip", &["-dc"], file)
}

fn kinds() -> impl Iterator<Item = Kind> {
    let clears = [None, Some(50), Some(777), Some(70_000)];
    (9..=16).flat_map(move |bits| clears.map(|clear_every| Kind { bits, clear_every }))
}

fn inputs() -> Vec<Vec<u8>> {
    vec![vec![], vec![b'x'], vec![7; 100_000], prose(100_000), Noise::new(1).bytes(90_000)]
}

#[test]
fn files_of_every_width_are_decoded_as_gzip_decodes_them() {
    for kind in kinds() {
        for data in inputs() {
            let file = encode(&data, kind);
            let (out, error) = decode_whole(&file);
            assert_eq!(error, None, "{kind:?}, {} bytes", data.len());
            assert!(out == data, "{kind:?}, {} bytes", data.len());
            if let Some((theirs, is_right)) = gzip(&file) {
                assert!(is_right && theirs == data, "gzip: {kind:?}, {} bytes", data.len());
            }
        }
    }
}

#[test]
fn files_of_compress_are_decoded() {
    let data = [prose(600_000), Noise::new(2).bytes(300_000), prose(200_000)].concat();
    for bits in ["10", "12", "16"] {
        let Some((file, _)) = through("compress", &["-c", "-b", bits], &data) else { return };
        let (out, error) = decode_whole(&file);
        assert_eq!(error, None);
        assert!(out == data, "{bits} bits");
    }
}

#[test]
fn it_does_not_matter_in_which_pieces_a_file_comes() {
    let data = [prose(40_000), vec![0; 2_000_000]].concat();
    for kind in [Kind { bits: 12, clear_every: Some(3_000) }, Kind { bits: 16, clear_every: None }] {
        let file = encode(&data, kind);
        for most in [1, 2, 17, 1000, 100_000] {
            let mut noise = Noise::new(most as u64);
            let (out, error) = decode(&file, || 1 + noise.below(most));
            assert_eq!(error, None);
            assert!(out == data, "{kind:?}, pieces of up to {most}");
        }
        let mut out = Vec::new();
        Reader::new(&file[..]).read_to_end(&mut out).unwrap();
        assert!(out == data);
    }
}

#[test]
fn no_call_gives_out_more_than_it_says() {
    // Each code stands for a string that is a byte longer than the one before: 20 MB in 11 KB.
    let file = encode(&vec![0; 20_000_000], Kind { bits: 16, clear_every: None });
    let (mut decoder, mut data, mut total) = (Decoder::new(), Vec::new(), 0);
    let mut input = &file[..];
    while decoder.next(&mut input, &mut data).unwrap() {
        assert!(data.len() < (256 << 10) + (64 << 10));
        total += data.len();
    }
    while decoder.finish(&mut data).unwrap() {
        total += data.len();
    }
    assert_eq!(total, 20_000_000);
}

#[test]
fn a_file_that_was_cut_gives_what_there_is() {
    let data = prose(5_000);
    let file = encode(&data, Kind { bits: 16, clear_every: Some(400) });
    for len in 0..file.len() {
        let (out, error) = decode_whole(&file[..len]);
        assert!(data.starts_with(&out));
        let fault = error.map(|error| (error.offset, error.fault));
        assert_eq!(fault, (len < 3).then_some((len as u64, Fault::Truncated)));
    }
}

#[test]
fn errors_say_where_and_what() {
    let fault = |file: &[u8]| {
        let (out, error) = decode_whole(file);
        let error = error.expect("it is damaged");
        (out, error.offset, error.fault)
    };
    assert_eq!(fault(b"\x1f\x8b\x90a"), (vec![], 0, Fault::Magic { found: [0x1f, 0x8b] }));
    assert_eq!(fault(b"\x1f\x9d\x91a"), (vec![], 2, Fault::Width { found: 17 }));
    assert_eq!(fault(b"\x1f\x9d\x88a"), (vec![], 2, Fault::Width { found: 8 }));
    assert_eq!(fault(b"\x1f\x9d\xb0a"), (vec![], 2, Fault::ReservedFlags { found: 0xb0 }));
    let codes = |codes: &[u16]| {
        let mut file = Codes::new(0x90);
        codes.iter().for_each(|&code| file.put(code));
        file.end()
    };
    assert_eq!(fault(&codes(&[300])), (vec![], 3, Fault::Code { most: 255, found: 300 }));
    assert_eq!(fault(&codes(&[97, 98, 259])), (b"ab".to_vec(), 5, Fault::Code { most: 258, found: 259 }));
    let nine = [97, 98, 97, 98, 97, 98, 97, 98, 97, 400];
    assert_eq!(fault(&codes(&nine)), (b"ababababa".to_vec(), 13, Fault::Code { most: 265, found: 400 }));
    let error = Reader::new(&codes(&[300])[..]).read_to_end(&mut Vec::new()).unwrap_err();
    assert_eq!(error.to_string(), "at byte 3: expected a code of at most 255, found 300");
}

#[test]
fn changed_files_give_what_gzip_gives() {
    let seconds =
        std::env::var("ABZ_FUZZ_SECONDS").ok().map(|value| value.parse().expect("a number of seconds"));
    let (time, start) = (Duration::from_secs(seconds.unwrap_or(1)), Instant::now());
    let corpus: Vec<Vec<u8>> = kinds()
        .filter(|kind| kind.bits > 9)
        .map(|kind| encode(&[prose(3_000), vec![0; 3_000], Noise::new(3).bytes(1_000)].concat(), kind))
        .collect();
    let mut seed = 0;
    while start.elapsed() < time {
        let mut noise = Noise::new(seed);
        let mut file = corpus[noise.below(corpus.len())].clone();
        for _ in 0..1 + noise.below(3) {
            let at = 2 + noise.below(file.len() - 2);
            match noise.below(4) {
                0 => file[at] ^= 1 << noise.below(8),
                1 => file[at] = noise.next() as u8,
                2 => file.truncate(at + 1),
                _ => drop(file.drain(at..(at + 1 + noise.below(20)).min(file.len() - 1).max(at))),
            }
        }
        let (out, error) = decode_whole(&file);
        let (pushed, its_error) = decode(&file, || 1 + noise.below(50));
        assert!(pushed == out && its_error == error, "seed {seed}: in pieces");
        seed += 1;
        match error.as_ref().map(|error| &error.fault) {
            // gzip goes on with a warning, or has no table for so few bits.
            Some(Fault::ReservedFlags { .. } | Fault::Width { .. }) => continue,
            Some(Fault::Magic { .. }) => unreachable!("the magic bytes were not changed"),
            _ => {}
        }
        if let Some(error) = &error {
            assert!(error.offset <= file.len() as u64, "seed {seed}: {error}");
        }
        let Some((theirs, is_right)) = gzip(&file) else { return };
        // With a table for 9 bits and codes of 10, gzip accepts some codes that stand for nothing.
        if file[2] & 0x1f != 9 {
            assert!(out == theirs && is_right == error.is_none(), "seed {seed}: {error:?}");
        }
    }
    println!("{seed} files changed and decoded");
}
