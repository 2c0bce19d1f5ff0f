//! xz in both directions, compared with liblzma's decoder and, if it is installed, with xz itself.
//!
//! Damaged files are tried for a second, or for the given time:
//!
//! ```text
//! ABZ_FUZZ_SECONDS=600 cargo test --release -p abz-codec --test integration xz
//! ```

use std::io::Cursor;
use std::time::{Duration, Instant};

use crate::support::parts::decode_pushed;
use crate::support::*;
use abz_codec::parts::{Scan, Scanned};
use abz_codec::xz::{
    Check, DecodeError, Encoder, Fault, Part, Scanner, Settings, StreamWriter, Survey, Tuning, is_lzma,
};
use liblzma::stream::{self, Action, CONCATENATED, Filters, LzmaOptions, Status, Stream};

fn settings(level: u32) -> Settings {
    Settings { level, extreme: false, dictionary_size: None, check: Check::Crc64, tuning: Tuning::default() }
}

fn encode_with(settings: Settings, data: &[u8], block_size: usize) -> Vec<u8> {
    let mut encoder = Encoder::new(settings);
    let mut stream = StreamWriter::new(Vec::new(), settings.check);
    for block in data.chunks(block_size) {
        stream.write(&encoder.encode_into(block, Vec::new()).unwrap()).unwrap();
    }
    stream.finish().unwrap()
}

fn encode(data: &[u8], level: u32, block_size: usize) -> Vec<u8> {
    encode_with(settings(level), data, block_size)
}

/// Returns a file of liblzma, whose only block states no sizes.
fn their_encode(mut stream: Stream, data: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(2 * data.len() + 1000);
    assert_eq!(stream.process_vec(data, &mut out, Action::Finish), Ok(Status::StreamEnd));
    out
}

fn decode(file: &[u8]) -> (Vec<u8>, Option<DecodeError>) {
    decode_pushed(Scanner::new(), file, || 100_000)
}

/// Decodes a file with liblzma. Returns the contents, and whether liblzma accepts the file.
fn their_decode(file: &[u8]) -> (Vec<u8>, bool) {
    let mut stream = Stream::new_auto_decoder(u64::MAX, CONCATENATED).unwrap();
    let mut out = Vec::new();
    loop {
        out.reserve(100_000);
        let rest = &file[stream.total_in() as usize..];
        match stream.process_vec(rest, &mut out, Action::Finish) {
            Ok(Status::StreamEnd) => return (out, stream.total_in() == file.len() as u64),
            Ok(Status::Ok) => {}
            _ => return (out, false),
        }
    }
}

/// Runs xz on `input`; `None` if it is not installed.
fn xz(arguments: &[&str], input: &[u8]) -> Option<Vec<u8>> {
    through("xz", arguments, input)
}

fn inputs() -> Vec<Vec<u8>> {
    vec![
        Vec::new(),
        b"a".to_vec(),
        prose(250_000),
        Noise::new(1).bytes(250_000),
        vec![0; 300_000],
        (0..=255).collect(),
    ]
}

#[test]
fn all_inputs_come_back_at_all_levels_and_block_sizes() {
    for data in inputs() {
        for level in 0..=9 {
            for block_size in [70_000, 250_000] {
                let file = encode(&data, level, block_size);
                assert_eq!(their_decode(&file), (data.clone(), true), "level {level}");
                let (out, error) = decode(&file);
                assert!(out == data && error.is_none(), "level {level}: {error:?}");
                let survey = Survey::of(&mut Cursor::new(&file)).unwrap().unwrap();
                let expected = Survey {
                    streams: 1,
                    blocks: data.len().div_ceil(block_size) as u64,
                    uncompressed: data.len() as u64,
                    checks: 1 << 4,
                    padding: 0,
                };
                assert_eq!(survey, expected);
            }
        }
        for arguments in [&["-c"][..], &["-c", "-T2", "--block-size=100000"], &["-c", "--format=lzma"]] {
            if let Some(file) = xz(arguments, &data) {
                let (out, error) = decode(&file);
                assert!(out == data && error.is_none(), "{arguments:?}: {error:?}");
            }
        }
        if let Some(listed) = xz(&["-dc"], &encode(&data, 2, 100_000)) {
            assert!(listed == data);
        }
    }
}

#[test]
fn all_checks_and_filters_are_read() {
    let data = [prose(30_000), Noise::new(3).bytes(10_000)].concat();
    for check in Check::ALL {
        let file = encode_with(Settings { check, extreme: true, ..settings(1) }, &data, 15_000);
        assert_eq!(their_decode(&file), (data.clone(), true), "{check}");
        assert_eq!(decode(&file), (data.clone(), None), "{check}");
    }
    type Push = fn(&mut Filters) -> &mut Filters;
    let pushes: [Push; 9] = [
        |filters| filters.delta_properties(&[3]).unwrap(),
        |filters| filters.x86(),
        |filters| filters.powerpc(),
        |filters| filters.ia64(),
        |filters| filters.arm(),
        |filters| filters.arm_thumb(),
        |filters| filters.sparc(),
        |filters| filters.arm64(),
        |filters| filters.riscv(),
    ];
    let options = LzmaOptions::new_preset(0).unwrap();
    for (number, push) in pushes.iter().enumerate() {
        for (check, one_more) in
            [(stream::Check::None, 0), (stream::Check::Crc32, 1), (stream::Check::Sha256, 2)]
        {
            let mut filters = Filters::new();
            push(&mut filters);
            for _ in 0..one_more {
                filters.delta_properties(&[0]).unwrap();
            }
            filters.lzma2(&options);
            let file = their_encode(Stream::new_stream_encoder(&filters, check).unwrap(), &data);
            assert_eq!(decode(&file), (data.clone(), None), "filter {number}, {one_more} more");
        }
    }
}

#[test]
fn streams_and_padding_are_one_file_and_garbage_behind_them_is_told() {
    let (one, other) = (prose(1000), prose(150_000));
    let unsized_file = their_encode(Stream::new_easy_encoder(1, stream::Check::Crc32).unwrap(), &other);
    let file = [&encode(&one, 6, 300)[..], &[0; 4], &unsized_file, &[0; 400], &encode(b"", 1, 1)].concat();
    let all = [&one[..], &other].concat();
    assert_eq!(their_decode(&file), (all.clone(), true));
    for file in [file.clone(), [&file[..], &[0; 8]].concat()] {
        assert_eq!(decode(&file), (all.clone(), None));
        let survey = Survey::of(&mut Cursor::new(&file)).unwrap().unwrap();
        assert_eq!((survey.streams, survey.blocks, survey.uncompressed), (3, 5, all.len() as u64));
    }
    for garbage in [&b"x"[..], b"\0", b"\0\0\0", b"garbage of some length", b"\0\0\0\0\0\0\0x", b"\xfd7zXY\0"]
    {
        let (out, error) = decode(&[&file[..], garbage].concat());
        let error = error.unwrap();
        assert_eq!((out.len(), &error.fault), (all.len(), &Fault::TrailingGarbage), "{garbage:?}");
        assert!(error.offset >= file.len() as u64);
    }
    for cut in [&b"\xfd"[..], b"\xfd7zXZ", b"\xfd7zXZ\0\0"] {
        let (out, error) = decode(&[&file[..], cut].concat());
        assert_eq!((out.len(), error.unwrap().fault), (all.len(), Fault::Truncated { inside: Part::Header }));
    }
}

#[test]
fn the_older_format_is_read() {
    for data in inputs() {
        let options = LzmaOptions::new_preset(6).unwrap();
        let file = their_encode(Stream::new_lzma_encoder(&options).unwrap(), &data);
        assert!(is_lzma(&file));
        assert_eq!(decode(&file), (data.clone(), None));
        for end in [5, 13, 14, file.len() / 2, file.len() - 1] {
            let (out, error) = decode(&file[..end]);
            assert!(data.starts_with(&out) && error.is_some(), "cut at {end}");
        }
        let (out, error) = decode(&[&file[..], b"x"].concat());
        assert_eq!((out, error.unwrap().fault), (data, Fault::TrailingGarbage));
    }
}

#[test]
fn large_blocks_and_those_without_sizes_are_streamed_in_small_chunks() {
    let data = vec![0; 9 << 20];
    let sized = encode_with(Settings { dictionary_size: Some(1 << 16), ..settings(1) }, &data, 1 << 30);
    let unsized_file = their_encode(Stream::new_easy_encoder(0, stream::Check::Crc64).unwrap(), &data);
    let file = [&sized[..], &encode(b"small", 6, 100), &unsized_file].concat();
    let (mut scanner, mut decoder, mut data) = (Scanner::new(), Scanner::new().decoder(), Vec::new());
    let (mut sizes, mut wholes, mut input) = (0, 0, &file[..]);
    while let Some(found) = scanner.next(&mut input, &mut data).unwrap() {
        match found {
            Scanned::Data => assert!(data.len() <= 256 << 10),
            Scanned::Whole(block) => {
                Scanner::decode_into(&mut decoder, &block, &mut data).unwrap();
                wholes += 1;
            }
        }
        sizes += data.len();
    }
    assert_eq!(scanner.finish(&mut data), Ok(None));
    assert_eq!((sizes, wholes), (5 + (18 << 20), 1));
}

#[test]
fn a_file_that_is_cut_anywhere_or_changed_in_any_bit_is_no_other_file() {
    let data = prose(1500);
    let unsized_file = their_encode(Stream::new_easy_encoder(1, stream::Check::Crc64).unwrap(), &data[..700]);
    let file = [&unsized_file[..], &encode(&data[700..], 6, 500)].concat();
    for end in 0..file.len() {
        let (out, error) = decode(&file[..end]);
        assert!(data.starts_with(&out), "cut at {end}");
        match error {
            None => assert_eq!(end, unsized_file.len()),
            Some(error) => {
                assert!(matches!(error.fault, Fault::Truncated { .. }), "cut at {end}: {error}");
                assert_eq!(error.offset, end as u64);
            }
        }
    }
    assert_eq!(decode(b"").1.unwrap().fault, Fault::Truncated { inside: Part::Header });
    for bit in 0..8 * file.len() {
        let mut file = file.clone();
        file[bit / 8] ^= 0x80 >> (bit % 8);
        let (out, error) = decode(&file);
        assert!(error.is_some(), "bit {bit}");
        // The data of a streamed block comes as it is decoded.
        assert!(data.starts_with(&out) || bit / 8 < unsized_file.len(), "bit {bit}: {error:?}");
    }
}

#[test]
fn errors_say_where_and_what() {
    let file = encode(&prose(300), 6, 100);
    let said = |at: usize, byte: u8| {
        let mut file = file.clone();
        file[at] ^= byte;
        decode(&file).1.unwrap().to_string()
    };
    assert!(said(0, 1).ends_with(r"expected `\xfd7zXZ\x00`, found \xfc7zXZ\x00"));
    assert!(
        said(8, 1).starts_with("stream 1, block 1: at byte 0: expected a stream's header with the CRC-32 ")
    );
    assert!(
        said(14, 1).starts_with("stream 1, block 1: at byte 12: expected a block's header with the CRC-32 ")
    );
    let text = said(file.len() - 1, 1);
    assert!(text.ends_with("expected the footer's magic bytes `YZ`, found something else"), "{text}");
    let (mut check, mut contents) = (file.clone(), file.clone());
    let end = 12 + 4 * (usize::from(file[12]) + 1);
    contents[end + 5] ^= 1;
    assert!(decode(&contents).1.unwrap().to_string().starts_with("stream 1, block 1: at byte "));
    let footer: [u8; 12] = *file.last_chunk().unwrap();
    let index = 4 * (u32::from_le_bytes([footer[4], footer[5], footer[6], footer[7]]) as usize + 1);
    let at = file.len() - 12 - index - 8;
    check[at] ^= 1;
    let text = decode(&check).1.unwrap().to_string();
    assert!(
        text.starts_with(&format!("stream 1, block 3: at byte {at}: expected contents with the CRC-64 ")),
        "{text}"
    );
}

#[test]
fn an_index_must_be_right() {
    // The blocks are in another order than in the index; nothing else is wrong.
    let data = [prose(100), prose(5000)].concat();
    let mut encoder = Encoder::new(settings(1));
    let blocks = [&data[..100], &data[100..]].map(|data| encoder.encode_into(data, Vec::new()).unwrap());
    let file = |order: [usize; 2]| {
        let mut stream = StreamWriter::new(Vec::new(), Check::Crc64);
        order.into_iter().for_each(|number| stream.write(&blocks[number]).unwrap());
        stream.finish().unwrap()
    };
    let (right, other) = (file([0, 1]), file([1, 0]));
    let blocks_len = 12 + blocks.each_ref().map(|block| block.len()).iter().sum::<usize>();
    let mixed = [&right[..blocks_len], &other[blocks_len..]].concat();
    assert_eq!(decode(&right), (data.clone(), None));
    let (out, error) = decode(&mixed);
    assert_eq!(out, data);
    let error = error.unwrap();
    assert_eq!(error.fault, Fault::Rule { expected: "the sizes of the blocks in the index" });
    assert!(!their_decode(&mixed).1);
}

#[test]
fn changed_files_give_an_error_or_what_the_reference_gives() {
    let number = |variable: &str| std::env::var(variable).ok().and_then(|value| value.parse().ok());
    let time = Duration::from_secs(number("ABZ_FUZZ_SECONDS").unwrap_or(1));
    let lzma = Stream::new_lzma_encoder(&LzmaOptions::new_preset(0).unwrap()).unwrap();
    let corpus = [
        encode(&prose(2000), 6, 700),
        encode_with(Settings { check: Check::None, ..settings(0) }, &Noise::new(2).bytes(500), 1000),
        encode(&vec![7; 50_000], 1, 20_000),
        their_encode(Stream::new_easy_encoder(1, stream::Check::Sha256).unwrap(), &prose(1000)),
        [encode(b"one", 1, 10), vec![0; 8], encode(b"", 3, 10), encode(b"two", 2, 2)].concat(),
        their_encode(lzma, &prose(700)),
    ];
    let mut seed = number("ABZ_FUZZ_SEED").unwrap_or(0);
    let start = Instant::now();
    while start.elapsed() < time {
        let mut noise = Noise::new(seed);
        let mut file = corpus[noise.below(corpus.len())].clone();
        for _ in 0..1 + noise.below(3) {
            let at = noise.below(file.len());
            match noise.below(6) {
                0 | 1 => file[at] ^= 1 << noise.below(8),
                2 => file[at] = noise.next() as u8,
                3 => file.truncate(at + 1),
                4 => drop(file.drain(at.min(file.len() - 1)..(at + 20).min(file.len() - 1))),
                _ => {
                    let piece = corpus[noise.below(corpus.len())].clone();
                    file.splice(at..at, piece);
                }
            }
        }
        // A header whose checksum is right gets further.
        if noise.below(2) == 0 && file.len() > 12 + 8 {
            let len = 4 * (usize::from(file[12]) + 1);
            if len >= 8 && file.len() > 12 + len {
                let checksum = libdeflater::crc32(&file[12..12 + len - 4]);
                file[12 + len - 4..12 + len].copy_from_slice(&checksum.to_le_bytes());
            }
        }
        let (out, error) = decode(&file);
        let most = [1, 10, 1000][noise.below(3)];
        let pushed = decode_pushed(Scanner::new(), &file, || 1 + noise.below(most));
        assert_eq!(pushed.1, error, "seed {seed}: in pieces of up to {most}");
        assert!(pushed.0 == out, "seed {seed}: in pieces of up to {most}");
        let (theirs, is_right) = their_decode(&file);
        match &error {
            None => assert!(is_right && out == theirs, "seed {seed}"),
            // liblzma accepts headers of the older format that no program writes.
            Some(error) if matches!(error.fault, Fault::Magic { .. }) => {
                assert!(out.is_empty(), "seed {seed}")
            }
            Some(error) => {
                let is_prefix = theirs.starts_with(&out) || out.starts_with(&theirs);
                assert!(is_prefix && !is_right, "seed {seed}: {error}");
                assert!(error.offset <= file.len() as u64, "seed {seed}: {error}");
            }
        }
        seed += 1;
    }
}
