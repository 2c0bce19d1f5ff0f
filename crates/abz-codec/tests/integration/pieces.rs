//! zstd files that are one frame of several pieces.

use std::io::Cursor;

use abz_codec::parts::{Scan, Scanned};
use abz_codec::zstd::{
    Checksum, DecodeError, Decoding, Encoder, Encoding, Fault, FrameHeader, FrameWriter, Part, Scanner,
    Survey,
};
use abz_codec::{Blocks, access};

use crate::support::parts::decode_pushed;
use crate::support::{Noise, prose};

fn compress(data: &[u8], level: i32, piece: usize) -> Vec<u8> {
    compress_as(data, level, &Encoding::default(), piece, Some(data.len() as u64))
}

fn compress_as(data: &[u8], level: i32, encoding: &Encoding, piece: usize, contents: Option<u64>) -> Vec<u8> {
    let (mut encoder, mut checksum) = (Encoder::new(level, encoding), Checksum::new());
    let mut file = FrameWriter::new(Vec::new(), encoding.header(level, piece, contents), piece);
    for block in Blocks::new(data, piece) {
        let block = block.unwrap();
        let sum = checksum.add(&block.data);
        file.write(&encoder.encode_into(&block, Vec::new()).unwrap(), sum).unwrap();
    }
    file.finish().unwrap()
}

/// Decodes the file with one call of libzstd, which stops at the end of the first frame.
fn first_frame(file: &[u8], len: usize) -> Vec<u8> {
    let frame = zstd_safe::find_frame_compressed_size(file).unwrap();
    assert_eq!(frame, file.len(), "there is one frame, and nothing else");
    let mut data = Vec::with_capacity(len);
    let result = zstd_safe::DCtx::create().decompress(&mut data, file);
    result.unwrap_or_else(|code| panic!("{}", zstd_safe::get_error_name(code)));
    data
}

fn decode(file: &[u8], decoding: &Decoding) -> (Vec<u8>, Option<DecodeError>) {
    decode_pushed(Scanner::new(decoding), file, || usize::MAX)
}

#[track_caller]
fn comes_back(file: &[u8], data: &[u8]) {
    assert!(first_frame(file, data.len()) == data);
    assert!(decode(file, &Decoding::default()) == (data.to_vec(), None));
}

/// Returns contents for which the initial last offsets of a frame are useful at the start of a piece, and later.
fn of_small_offsets(noise: &mut Noise, len: usize) -> Vec<u8> {
    let mut data = Vec::new();
    while data.len() < len {
        let run = 1 + noise.below(60);
        match noise.below(9) {
            0 => data.extend(noise.bytes(run)),
            1 => data.extend(vec![noise.next() as u8; run]),
            2 => data.extend(prose(run)),
            3 => data.extend(noise.bytes(run % 9 + 1).repeat(run)),
            // A copy from a while ago, or from just before, with a change.
            kind => {
                let back = match kind {
                    4 => 1,
                    5 => 4,
                    6 => 8,
                    _ => 1 + noise.below(data.len().max(1)),
                };
                for _ in 0..run {
                    let byte = data.len().checked_sub(back).map_or(b'x', |at| data[at]);
                    data.push(byte);
                }
                if noise.below(2) == 0 {
                    data.push(noise.next() as u8);
                }
            }
        }
    }
    data.truncate(len);
    data
}

#[test]
fn pieces_of_any_contents_level_and_size_are_one_frame() {
    let rounds = std::env::var("ABZ_FUZZ_ROUNDS").map_or(40, |rounds| rounds.parse().unwrap());
    for seed in 0..rounds {
        let mut noise = Noise::new(seed);
        let most = [500, 20_000, 600_000][noise.below(3)];
        let len = 1 + noise.below(most);
        let data = of_small_offsets(&mut noise, len);
        let level = [-20, -1, 1, 2, 3, 4, 5, 6, 8, 9, 13, 16, 19][noise.below(13)];
        let most = [100, 5000, 300_000][noise.below(3)];
        let piece = 1 + noise.below(len.min(most));
        // Limits the number of pieces.
        let piece = piece.max(len / 300);
        let long = [None, None, Some(20)][noise.below(3)];
        let encoding = Encoding { long, ..Encoding::default() };
        let file = compress_as(&data, level, &encoding, piece, Some(len as u64));
        assert!(first_frame(&file, len) == data, "seed {seed}");
        assert!(decode(&file, &Decoding::default()) == (data, None), "seed {seed}");
    }
}

#[test]
fn what_is_alike_in_all_pieces_stays_small() {
    for data in [vec![0; 3_000_000], b"abcd".repeat(700_000), prose(3_000_000)] {
        for level in [1, 3, 6, 19] {
            let file = compress(&data, level, 400_000);
            comes_back(&file, &data);
            let mut frames = compress_as(
                &data,
                level,
                &Encoding { layout: abz_codec::zstd::Layout::Frames, ..Encoding::default() },
                400_000,
                None,
            );
            // A mark takes about as much as a header, a checksum and an entry of a table, and a little more.
            frames.extend([0; 8 * 200]);
            assert!(file.len() <= frames.len(), "level {level}: {} and {}", file.len(), frames.len());
        }
    }
}

#[test]
fn pieces_are_given_out_whole_unless_they_are_large() {
    let data = prose(1_000_000);
    let file = compress(&data, 3, 300_000);
    let pieces = |decoding: &Decoding| {
        let (mut scanner, mut data, mut rest, mut found) = (Scanner::new(decoding), Vec::new(), &file[..], 0);
        while let Some(next) = scanner.next(&mut rest, &mut data).unwrap() {
            found += usize::from(matches!(next, Scanned::Whole(_)));
        }
        found
    };
    assert_eq!(pieces(&Decoding::default()), 4);
    assert_eq!(pieces(&Decoding { max_whole: 299_999, ..Decoding::default() }), 0);
    for max_whole in [0, 300_000] {
        let decoding = Decoding { max_whole, ..Decoding::default() };
        for most in [1, 7, 1000] {
            let file = file.repeat(2);
            assert!(decode_pushed(Scanner::new(&decoding), &file, || most) == (data.repeat(2), None));
        }
    }
}

#[test]
fn the_header_says_the_size_where_it_is_known_and_the_marks_where_not() {
    let data = prose(100_000);
    for (contents, checksum) in [(Some(100_000), true), (None, true), (None, false)] {
        let encoding = Encoding { checksum, ..Encoding::default() };
        let file = compress_as(&data, 3, &encoding, 30_000, contents);
        let (header, _) = FrameHeader::parse(&file).unwrap().unwrap();
        assert_eq!((header.contents, header.checksum, header.window), (contents, checksum, 128 << 10));
        let survey = Survey::of(&mut Cursor::new(&file)).unwrap().unwrap();
        let expected = Survey { frames: 1, skippable: 0, uncompressed: Some(100_000), checksums: checksum };
        assert_eq!(survey, expected);
        comes_back(&file, &data);
    }
    let encoding = Encoding::default();
    let mut file = FrameWriter::new(Vec::new(), encoding.header(3, 1000, Some(2001)), 1000);
    let mut encoder = Encoder::new(3, &encoding);
    for block in Blocks::new(&data[..2000], 1000) {
        file.write(&encoder.encode_into(&block.unwrap(), Vec::new()).unwrap(), 0).unwrap();
    }
    assert!(file.finish().is_err(), "there is less than the header says");
}

#[test]
fn a_piece_is_decoded_by_itself() {
    let data = prose(250_000);
    let file = [compress(&data, 3, 100_000), compress(&data[..10], 3, 100_000)].concat();
    let parts = abz_codec::zstd::parts(&mut Cursor::new(&file)).unwrap().unwrap();
    assert_eq!(parts.len(), 4);
    let mut decoder = access::Decoder::default();
    for part in &parts {
        let (mut found, bytes) = (Vec::new(), part.bytes());
        let bytes = &file[bytes.start as usize..bytes.end as usize];
        decoder.decode_into(part, bytes, &mut found).unwrap();
        let whole = [&data[..], &data[..10]].concat();
        assert!(found == whole[part.contents.start as usize..part.contents.end as usize]);
        let mut damaged = bytes.to_vec();
        damaged[bytes.len() / 2] ^= 4;
        assert!(decoder.decode_into(part, &damaged, &mut found).is_err());
    }
}

#[test]
fn damage_is_found_and_nothing_of_a_damaged_piece_is_given_out() {
    let data = [prose(2500), Noise::new(1).bytes(1500)].concat();
    let file = compress(&data, 3, 1000);
    for bit in 0..8 * file.len() {
        let mut file = file.clone();
        file[bit / 8] ^= 1 << (bit % 8);
        let (out, error) = decode(&file, &Decoding::default());
        // Without the first mark the frame is decoded as any other, and the damaged mark may be taken for blocks.
        assert!(data.starts_with(&out) || (4..110).contains(&(bit / 8)), "bit {bit}");
        // The window and the first mark are not necessary for decoding, and such bits change neither.
        assert!(error.is_some() || out == data, "bit {bit}");
        if let Some(error) = error {
            assert!(
                error.place.start() <= Some(error.offset) && error.offset <= file.len() as u64,
                "bit {bit}: {error}"
            );
        }
    }
    for len in 0..file.len() {
        let (out, error) = decode(&file[..len], &Decoding::default());
        assert!(data.starts_with(&out));
        let error = error.unwrap();
        assert!(matches!(error.fault, Fault::Truncated { .. }), "{len}: {error}");
        assert_eq!(error.offset, len as u64);
    }
    let inside = decode(&file[..file.len() - 1], &Decoding::default()).1.unwrap().fault;
    assert_eq!(inside, Fault::Truncated { inside: Part::Checksum });
}

#[test]
fn pieces_that_are_missing_or_in_another_order_are_found_out_without_a_checksum_too() {
    let encoding = Encoding { checksum: false, ..Encoding::default() };
    let data = Noise::new(3).bytes(4000);
    let file = compress_as(&data, 3, &encoding, 1000, None);
    let parts = abz_codec::zstd::parts(&mut Cursor::new(&file)).unwrap().unwrap();
    let piece = |index: usize| {
        let bytes = parts[index].bytes();
        &file[bytes.start as usize..bytes.end as usize]
    };
    let (first, end) = (parts[0].bytes().start as usize, parts[3].bytes().end as usize);
    for order in [&[0, 2, 1, 3][..], &[0, 1, 2], &[0, 0, 1, 2, 3], &[1, 2, 3]] {
        let pieces: Vec<u8> = order.iter().flat_map(|&index| piece(index)).copied().collect();
        let file = [&file[..first], &pieces, &file[end..]].concat();
        let error = decode(&file, &Decoding::default()).1.expect("it is another file");
        assert!(error.to_string().contains("mark"), "{error}");
    }
}

#[test]
fn marks_that_are_cut_off_are_blocks_as_any_other() {
    // Several blocks of a byte repeated zero times, in frames with and without a size.
    for groups in [1, 24, 25, 26, 30] {
        for header in [&b"\x28\xb5\x2f\xfd\x20\x05"[..], b"\x28\xb5\x2f\xfd\0\x38"] {
            let file = [header, &b"\x02\0\0x".repeat(groups), b"\x29\0\0hello"].concat();
            for most in [1, 3, 1000] {
                let found = decode_pushed(Scanner::new(&Decoding::default()), &file, || most);
                assert_eq!(found, (b"hello".to_vec(), None));
            }
        }
    }
}
