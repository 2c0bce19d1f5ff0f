//! Deflate data of all kinds, valid and damaged, in pieces of all sizes, compared with zlib-rs.

use abz_codec::inflate::{Damaged, Inflate, MARKER, Pause, Slot, WINDOW};
use flate2::{Compress, Compression, FlushCompress, Status};
use libdeflater::{CompressionLvl, Compressor};
use proptest::prelude::*;
use zlib_rs::InflateFlush;

use crate::support::deflate::stream;
use crate::support::*;

/// The contents, the number of bytes of input that they took, and the end: whether it came, or the data is damaged.
#[derive(Debug, PartialEq)]
struct Decoded {
    contents: Vec<u8>,
    consumed: u64,
    end: Result<bool, Damaged>,
}

/// Decodes with zlib-rs, a byte at a time, so that it takes no byte that it does not need.
fn oracle(stream: &[u8]) -> Decoded {
    let mut inflate = zlib_rs::Inflate::new(false, 15);
    let (mut contents, mut chunk) = (Vec::new(), vec![0; 300]);
    let mut end = Ok(false);
    'all: for byte in stream {
        let mut input = &[*byte][..];
        loop {
            let (taken, made) = (inflate.total_in(), inflate.total_out());
            let status = inflate.decompress(input, &mut chunk, InflateFlush::NoFlush);
            input = &input[(inflate.total_in() - taken) as usize..];
            let made = (inflate.total_out() - made) as usize;
            contents.extend_from_slice(&chunk[..made]);
            match status {
                Err(_) => end = Err(Damaged),
                Ok(zlib_rs::Status::StreamEnd) => end = Ok(true),
                Ok(_) if input.is_empty() && made < chunk.len() => continue 'all,
                Ok(_) => continue,
            }
            break 'all;
        }
    }
    Decoded { contents, consumed: inflate.total_in(), end }
}

/// Decodes with this crate, with input in pieces and output of these sizes.
fn decode(stream: &[u8], mut input_len: impl FnMut() -> usize, mut room: impl FnMut() -> usize) -> Decoded {
    let mut inflate = Inflate::<u8>::new();
    let (mut contents, mut at) = (Vec::new(), 0);
    loop {
        let input = &stream[at..stream.len().min(at + input_len())];
        let mut chunk = vec![0; room()];
        let step = match inflate.step(input, &mut chunk) {
            Err(damaged) => {
                // The contents in the output are valid, but their number is not returned.
                let consumed = inflate.consumed();
                contents.extend_from_slice(inflate.window());
                return Decoded { contents, consumed, end: Err(damaged) };
            }
            Ok(step) => step,
        };
        assert!(step.consumed <= input.len() && step.produced <= chunk.len());
        at += step.consumed;
        contents.extend_from_slice(&chunk[..step.produced]);
        match step.pause {
            Pause::Ended => return Decoded { contents, consumed: inflate.consumed(), end: Ok(true) },
            Pause::Starved => assert_eq!(step.consumed, input.len(), "all input is used"),
            Pause::Full => assert_eq!(step.produced, chunk.len(), "all room is used"),
            Pause::Block => unreachable!("it was not to stop"),
        }
        if at == stream.len() && step.pause == Pause::Starved {
            return Decoded { contents, consumed: at as u64, end: Ok(false) };
        }
    }
}

/// Checks that this crate decodes like zlib-rs, with pieces of all sizes.
pub fn check(stream: &[u8], seed: u64) {
    let theirs = oracle(stream);
    let mut noise = Noise::new(seed);
    for (most_input, most_room) in [(1 << 20, 1 << 22), (40, 700), (1, 1000), (1000, 3), (1, 1)] {
        if most_input * most_room < 1000 && stream.len() > 3000 {
            continue;
        }
        let mut other = Noise::new(seed + 1);
        let ours = decode(stream, || 1 + noise.below(most_input), || 1 + other.below(most_room));
        let place = format!("seed {seed}, input of {most_input}, room of {most_room}");
        assert_eq!((ours.consumed, &ours.end), (theirs.consumed, &theirs.end), "{place}");
        if ours.end.is_ok() {
            assert!(ours.contents == theirs.contents, "{place}");
        } else {
            assert!(ours.contents.ends_with(last(&theirs.contents)), "{place}");
        }
    }
}

fn last(contents: &[u8]) -> &[u8] {
    &contents[contents.len().saturating_sub(WINDOW)..]
}

/// Returns the streams of two encoders for these contents, at several levels, with flushes and without.
fn encoded(contents: &[u8]) -> Vec<Vec<u8>> {
    let mut streams = Vec::new();
    for level in [0, 1, 5, 9, 12] {
        let mut compressor = Compressor::new(CompressionLvl::new(level).unwrap());
        let mut stream = vec![0; compressor.deflate_compress_bound(contents.len())];
        let len = compressor.deflate_compress(contents, &mut stream).unwrap();
        stream.truncate(len);
        streams.push(stream);
    }
    for level in [0, 1, 6, 9] {
        for piece in [1 << 30, 700] {
            let mut compress = Compress::new(Compression::new(level), false);
            let mut stream = Vec::with_capacity(2 * contents.len() + 10_000);
            for piece in contents.chunks(piece) {
                assert_eq!(
                    compress.compress_vec(piece, &mut stream, FlushCompress::Sync).unwrap(),
                    Status::Ok
                );
            }
            let end = compress.compress_vec(&[], &mut stream, FlushCompress::Finish).unwrap();
            assert_eq!(end, Status::StreamEnd);
            streams.push(stream);
        }
    }
    streams
}

#[test]
fn what_encoders_make_is_decoded_as_zlib_does() {
    let mut noise = Noise::new(1);
    let far = [&noise.bytes(32_000)[..], &prose(3000), &vec![0; 70_000]].concat();
    let contents = [Vec::new(), b"x".to_vec(), prose(20_000), noise.bytes(9000), [&far[..], &far].concat()];
    for (seed, stream) in contents.iter().flat_map(|contents| encoded(contents)).enumerate() {
        check(&stream, seed as u64);
        // Bytes behind the end are not touched.
        check(&[&stream[..], b"behind"].concat(), seed as u64);
    }
}

#[test]
fn streams_that_no_encoder_makes_are_decoded_as_zlib_does() {
    for seed in 0..60 {
        let stream = stream(&mut Noise::new(seed), 0);
        check(&stream, seed);
        assert_eq!(oracle(&stream).end, Ok(true), "seed {seed}: the stream is right");
    }
}

#[test]
fn damage_is_told_at_the_byte_where_zlib_finds_it() {
    let corpus: Vec<Vec<u8>> =
        [encoded(&prose(700)), (0..30).map(|seed| stream(&mut Noise::new(seed), 0)).collect()].concat();
    let (mut damaged, mut noise) = (0, Noise::new(7));
    for seed in 0..1500 {
        let mut stream = corpus[noise.below(corpus.len())].clone();
        stream.truncate(4000);
        match noise.below(4) {
            0 => stream.truncate(noise.below(stream.len() + 1)),
            1 => stream.splice(0..0, [noise.next() as u8]).for_each(drop),
            _ => {
                let most = noise.pick(&[20, 4000]);
                let at = noise.below(stream.len().min(most));
                stream[at] ^= 1 << noise.below(8);
            }
        }
        check(&stream, seed);
        damaged += u32::from(oracle(&stream).end.is_err());
    }
    assert!(damaged > 300, "{damaged} of the streams were damaged");
}

#[test]
fn decoding_from_any_block_on_gives_what_comes_from_there_on() {
    for (seed, stream) in encoded(&prose(40_000))
        .into_iter()
        .chain((0..40).map(|seed| stream(&mut Noise::new(seed), 0)))
        .enumerate()
    {
        let all = oracle(&stream).contents;
        // The places at which blocks begin, in bits and in contents.
        let mut starts = Vec::new();
        let mut inflate = Inflate::<u8>::new();
        inflate.stop_at(1);
        let (mut at, mut len, mut chunk) = (0, 0, vec![0; 70_000]);
        loop {
            let step = inflate.step(&stream[at..], &mut chunk).unwrap();
            (at, len) = (at + step.consumed, len + step.produced);
            match step.pause {
                Pause::Block => starts.push((inflate.bit(), len)),
                Pause::Full => {}
                Pause::Starved => panic!("seed {seed}: the stream is whole"),
                Pause::Ended => break,
            }
        }
        assert_eq!(len, all.len());
        for &(bit, start) in starts.iter().step_by(1 + starts.len() / 20) {
            let window = last(&all[..start]);
            let known: Vec<u8> = from(&stream, bit, window);
            assert!(known == all[start..], "seed {seed}, bit {bit}");
            // Without the window, markers stand for its bytes.
            let markers: Vec<u16> = (0..WINDOW as u16).map(|place| MARKER + place).collect();
            let symbols: Vec<u16> = from(&stream, bit, &markers);
            let mut whole = vec![0; WINDOW - window.len()];
            whole.extend(window);
            let resolved: Vec<u8> = symbols
                .iter()
                .map(|&symbol| match symbol {
                    0..256 => symbol as u8,
                    _ => whole[usize::from(symbol - MARKER)],
                })
                .collect();
            assert!(resolved == all[start..], "seed {seed}, bit {bit}");
        }
    }
}

/// Decodes from bit `bit` on.
fn from<T: Slot>(stream: &[u8], bit: u64, window: &[T]) -> Vec<T> {
    let mut inflate = Inflate::<T>::new();
    inflate.begin_at((bit % 8) as u32, window);
    let (mut rest, mut contents, mut chunk) =
        (&stream[bit as usize / 8..], Vec::new(), vec![T::from(0); 50_000]);
    loop {
        let step = inflate.step(rest, &mut chunk).unwrap();
        rest = &rest[step.consumed..];
        contents.extend_from_slice(&chunk[..step.produced]);
        if step.pause == Pause::Ended {
            return contents;
        }
        assert_eq!(step.pause, Pause::Full);
    }
}

proptest! {
    #[test]
    fn any_bytes_are_what_they_are_for_zlib(bytes in proptest::collection::vec(any::<u8>(), 0..300), kind in 0..4u8) {
        // Few random bytes begin a block with dynamic codes.
        let mut stream = bytes;
        if let Some(first) = stream.first_mut() && kind < 3 {
            *first = *first & !7 | kind << 1;
        }
        check(&stream, 0);
    }
}
