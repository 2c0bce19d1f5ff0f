//! Files of one member whose blocks have marks.

use std::io::{Cursor, Read};

use abz_codec::access::{self, Kind};
use abz_codec::gzip::{self, Encoder, Fault, Header, Index, Layout, Part, Salvager, Survey, Writer};
use abz_codec::salvage::Salvage;
use abz_codec::{Block, Blocks};

use crate::support::{Noise, compress, compress_to_one, decode, decode_pushed, prose};

/// The size of a mark in bytes.
const MARK: usize = 81;

/// Decodes a file with another reader, and checks that it is one member.
fn read_elsewhere(file: &[u8]) -> Vec<u8> {
    let mut data = Vec::new();
    let mut reader = flate2::bufread::GzDecoder::new(file);
    reader.read_to_end(&mut data).unwrap();
    assert!(reader.into_inner().is_empty(), "it is one member");
    data
}

fn inputs() -> Vec<Vec<u8>> {
    vec![
        b"a".to_vec(),
        prose(1000),
        prose(100_000),
        Noise::new(5).bytes(70_000),
        [prose(30_000), Noise::new(7).bytes(50_000), vec![0; 40_000]].concat(),
    ]
}

#[test]
fn one_member_comes_out_for_any_blocks_and_levels() {
    for data in inputs() {
        for block_size in [1000, 17_000, 1 << 20] {
            for level in [1, 6, 9, 12] {
                let file = compress_to_one(&data, level, block_size);
                assert!(read_elsewhere(&file) == data);
                let (out, error) = decode(&file);
                assert!(error.is_none() && out == data, "{error:?}");
                for len in [1, 7, MARK - 1, MARK, 5000] {
                    if data.len() / len > 2000 {
                        continue;
                    }
                    let (out, error) = decode_pushed(&file, || len);
                    assert!(error.is_none() && out == data, "{len}: {error:?}");
                }
            }
        }
    }
    for len in [1000, 2000] {
        let file = compress_to_one(&prose(len), 6, 1000);
        assert!(read_elsewhere(&file) == prose(len) && decode(&file).0 == prose(len));
    }
}

#[test]
fn no_member_has_an_extra_field_and_one_of_a_single_block_no_mark() {
    // The output of gzip for these contents, without a name.
    let hello = b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb\x48\xcd\xc9\xc9\x07\0\x86\xa6\x10\x36\x05\0\0\0";
    assert_eq!(compress_to_one(b"hello", 6, 100), hello);
    assert_eq!(compress_to_one(b"", 6, 100).len(), 20);
    for len in [0, 1, 999, 1000, 1001, 5000] {
        let file = compress_to_one(&prose(len), 6, 1000);
        let (header, header_len) = Header::parse(&file).unwrap().unwrap();
        assert!(header.extra.is_empty(), "{len}");
        assert_eq!(file[header_len..].starts_with(&[0x04, 0xc1, 0x01, 0x50]), len > 1000, "{len}");
        assert_eq!(gzip::tells_parts(&file), Some(len > 1000), "{len}");
    }
    let file = compress_to_one(&prose(5000), 6, 1000);
    let asks = (0..200).take_while(|&len| gzip::tells_parts(&file[..len]).is_none());
    assert_eq!(asks.count(), 10 + MARK);
}

#[test]
fn a_file_that_ends_in_its_first_mark_is_cut_and_one_that_only_begins_so_is_read() {
    let file = compress_to_one(&prose(5000), 6, 1000);
    for len in [10, 11, 15, 30, 10 + MARK - 1, 10 + MARK] {
        let (out, error) = decode(&file[..len]);
        assert!(out.is_empty(), "{len}");
        assert!(matches!(error.unwrap().fault, Fault::Truncated { inside: Part::Data }), "{len}");
    }
    // Without its first mark, the member is read as any other.
    let mut other = file.clone();
    other.drain(10..10 + MARK);
    let (out, error) = decode(&other);
    assert!(error.is_none() && out == prose(5000), "{error:?}");
}

#[test]
fn files_that_are_joined_are_read_as_one() {
    let (one, other) = (prose(50_000), Noise::new(3).bytes(20_000));
    let files = [
        compress_to_one(&one, 6, 7000),
        compress(&other, 6, 7000),
        compress_to_one(&other, 1, 3000),
        compress_to_one(&one, 6, 7000),
    ];
    let (out, error) = decode(&[&files.concat()[..], &[0; 100]].concat());
    assert!(error.is_none() && out == [&one[..], &other, &other, &one].concat(), "{error:?}");
}

#[test]
fn a_file_says_where_its_blocks_are() {
    let data = prose(100_000);
    let file = compress_to_one(&data, 6, 7000);
    let survey = Survey::of(&mut Cursor::new(&file)).unwrap();
    assert_eq!(survey, Some(Survey { members: 15, uncompressed: 100_000 }));
    assert!(Index::read(&mut Cursor::new(&file)).unwrap().is_none());
    let index = Index::of_marks(&mut Cursor::new(&file)).unwrap().unwrap();
    assert_eq!((index.uncompressed(), index.entries().len()), (100_000, 15));
    assert!(Index::of_marks(&mut Cursor::new(compress(&data, 6, 7000))).unwrap().is_none());

    let parts = abz_codec::gzip::parts(&mut Cursor::new(&file)).unwrap().unwrap();
    let (mut decoder, mut out) = (access::Decoder::default(), Vec::new());
    for part in &parts {
        assert_eq!(part.kind, Kind::GzipMembers);
        let (bytes, contents) = (part.bytes(), &part.contents);
        decoder.decode_into(part, &file[bytes.start as usize..bytes.end as usize], &mut out).unwrap();
        assert!(out == data[contents.start as usize..contents.end as usize]);
    }
    for span in
        [0..1, 0..100_000, 99_999..100_000, 98_000..98_001, 97_999..98_001, 5..100_005, 100_000..100_001]
    {
        let (parts, len) = abz_codec::gzip::parts_around(&mut Cursor::new(&file), &span).unwrap().unwrap();
        let contents = parts[0].contents.start..parts[parts.len() - 1].contents.end;
        assert_eq!(len, 100_000);
        let wanted = span.start.min(99_999)..span.end.min(100_000);
        assert!(contents.start <= wanted.start && contents.end >= wanted.end, "{span:?}");
        assert!(wanted.start - contents.start < 7000 && contents.end - wanted.end < 7000, "{span:?}");
    }
    // In a file that follows another one, the stated places are not those in the file.
    for joined in [[&file[..], &file].concat(), [&compress(&data, 6, 7000)[..], &file].concat()] {
        assert!(abz_codec::gzip::parts_around(&mut Cursor::new(&joined), &(0..1)).unwrap().is_none());
        assert_eq!(
            abz_codec::gzip::parts(&mut Cursor::new(&joined)).unwrap().unwrap().last().unwrap().contents.end,
            200_000
        );
    }
    // The sizes in the marks are compared with the trailer.
    for at in [file.len() - 1, file.len() - 5] {
        let mut bad = file.clone();
        bad[at] ^= 1;
        assert!(Survey::of(&mut Cursor::new(&bad)).unwrap().is_none());
        assert!(decode(&bad).1.is_some());
    }
}

#[test]
fn whatever_is_damaged_or_cut_is_told_and_nothing_of_that_block_comes_out() {
    let data = prose(6000);
    let file = compress_to_one(&data, 6, 1000);
    for len in 0..file.len() {
        let (out, error) = decode(&file[..len]);
        assert!(error.is_some() && data.starts_with(&out), "cut at {len}");
        assert!(matches!(error.unwrap().fault, Fault::Truncated { .. }), "cut at {len}");
    }
    let header = (0..file.len()).find(|&at| is_mark(&file[at..])).unwrap();
    for at in header..file.len() {
        for bit in 0..8 {
            let mut bad = file.clone();
            bad[at] ^= 1 << bit;
            let (out, error) = decode(&bad);
            let first_mark = at < header + MARK;
            match error {
                // As with any other member, wrong contents may come out before the error.
                Some(_) if first_mark => {}
                Some(_) => assert!(data.starts_with(&out) && out.len() % 1000 == 0, "byte {at}"),
                // These are bits that a decoder ignores. Without its first mark the member is like any other.
                None => assert!(out == data, "byte {at}, bit {bit}"),
            }
        }
    }
}

#[test]
fn marks_that_lie_are_not_believed() {
    let data = prose(5000);
    let blocks: Vec<_> = Blocks::new(&data[..], 1000).map(|block| block.unwrap()).collect();
    let encode = |block: &Block| Encoder::new(6).encode(block).unwrap();
    let file = |blocks: &[Block]| {
        let mut file = Writer::new(Vec::new(), Layout::OneMember);
        blocks.iter().for_each(|block| file.write(&encode(block)).unwrap());
        file.finish().unwrap()
    };
    let right = file(&blocks);
    let marks: Vec<_> = (0..right.len()).filter(|&at| is_mark(&right[at..])).collect();
    assert_eq!(marks.len(), 5);
    // Blocks are left out, repeated, or in another order.
    let part = |n: usize| &right[marks[n]..marks.get(n + 1).copied().unwrap_or(right.len() - 10)];
    let head = &right[..marks[0]];
    let end = &right[right.len() - 10..];
    for order in [&[0, 2, 3, 4][..], &[0, 1, 1, 2, 3, 4], &[0, 2, 1, 3, 4], &[0, 1, 2, 3], &[1, 0, 2, 3, 4]] {
        let parts: Vec<u8> = order.iter().flat_map(|&n| part(n)).copied().collect();
        let (out, error) = decode(&[head, &parts, end].concat());
        assert!(error.is_some(), "{order:?}: {}", out.len());
    }
    // A block of another file with suitable sizes.
    let other =
        file(&Blocks::new(&Noise::new(9).bytes(5000)[..], 1000).map(|b| b.unwrap()).collect::<Vec<_>>());
    let other_marks: Vec<_> = (0..other.len()).filter(|&at| is_mark(&other[at..])).collect();
    let foreign = &other[other_marks[1]..other_marks[2]];
    let mixed = [head, part(0), foreign, part(2), part(3), part(4), end].concat();
    assert!(matches!(decode(&mixed).1.unwrap().fault, Fault::Mark));
    // The old subfield without marks has no effect.
    let stream: Vec<u8> = {
        let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::new(6));
        std::io::Write::write_all(&mut encoder, &data).unwrap();
        encoder.finish().unwrap()
    };
    let trailer = &compress(&data, 6, 10_000);
    let plain = [head, &stream, &trailer[trailer.len() - 8..]].concat();
    assert!(decode(&plain).1.is_none() && decode(&plain).0 == data);
}

fn is_mark(bytes: &[u8]) -> bool {
    let mut found = Vec::new();
    Salvager::candidates(&bytes[..bytes.len().min(MARK)], &mut found);
    found.first() == Some(&0) && bytes[0] != 0x1f
}

#[test]
fn what_is_cut_by_its_contents_changes_around_a_change_and_nowhere_else() {
    let data = Noise::new(11).bytes(400_000);
    let file = |data: &[u8]| {
        let mut encoder = Encoder::new(6);
        let mut file = Writer::new(Vec::new(), Layout::OneMember).without_places();
        for block in Blocks::by_content(data, 64 << 10) {
            file.write(&encoder.encode(&block.unwrap()).unwrap()).unwrap();
        }
        file.finish().unwrap()
    };
    let (before, after) = (file(&data), file(&[b"new", &data[..]].concat()));
    assert!(read_elsewhere(&after) == [b"new", &data[..]].concat() && decode(&before).0 == data);
    let same = before.iter().rev().skip(8).zip(after.iter().rev().skip(8)).take_while(|(a, b)| a == b);
    assert!(same.count() > before.len() * 3 / 4);
}

/// Returns the file that zlib's `gzappend` makes of a file with marks: the empty last block is no longer the last one,
/// and more data follows its ten bits, which may refer to the contents before.
fn append(file: &[u8], data: &[u8], more: &[u8]) -> Vec<u8> {
    let window = &data[data.len().saturating_sub(32 << 10)..];
    let mut deflate = flate2::Compress::new(flate2::Compression::best(), false);
    let mut out = vec![0; 1 << 20];
    // The compressor has seen the window, and its output for the window is left out.
    deflate.compress(window, &mut out, flate2::FlushCompress::Sync).unwrap();
    let from = deflate.total_out() as usize;
    deflate.compress(more, &mut out[from..], flate2::FlushCompress::Finish).unwrap();
    let appended = &out[from..deflate.total_out() as usize];

    let end = file.len() - 8;
    assert_eq!(file[end - 2..end], [3, 0]);
    let mut whole = file[..end - 2].to_vec();
    // The empty block, whose ten bits are zeros except for the second one, and six bits behind it, three of which are
    // the header of an empty stored block.
    whole.extend([2, 0, 0, 0, 0xff, 0xff]);
    whole.extend(appended);
    let mut sum = flate2::Crc::new();
    sum.update(data);
    sum.update(more);
    whole.extend(sum.sum().to_le_bytes());
    whole.extend(((data.len() + more.len()) as u32).to_le_bytes());
    whole
}

#[test]
fn a_member_to_which_another_program_has_appended_is_read_to_its_end() {
    for (data, block_size) in [
        (prose(100_000), 30_000),
        (prose(100_000), 2000),
        (prose(40_000), 1),
        (Noise::new(2).bytes(5000), 4000),
    ] {
        let file = compress_to_one(&data, 6, block_size.max(data.len() / 50));
        for more in [data[data.len() - 3000..].to_vec(), b"a".to_vec(), vec![], vec![0; 600_000]] {
            let whole = append(&file, &data, &more);
            let expected = [&data[..], &more].concat();
            assert!(read_elsewhere(&whole) == expected);
            let (out, error) = decode(&whole);
            assert!(error.is_none() && out == expected, "{error:?}");
            for len in [1, 13, 4000] {
                let (out, error) = decode_pushed(&whole, || len);
                assert!(error.is_none() && out == expected, "{len}: {error:?}");
            }
            let (out, error) = decode(&[&whole[..], &file].concat());
            assert!(error.is_none() && out == [&expected[..], &data].concat(), "{error:?}");
            // Its size is not stated, and its marks do not cover all contents.
            assert_eq!(Survey::of(&mut Cursor::new(&whole)).unwrap(), None);
            assert!(abz_codec::gzip::parts(&mut Cursor::new(&whole)).unwrap().is_none());
            assert!(abz_codec::gzip::parts_around(&mut Cursor::new(&whole), &(0..1)).unwrap().is_none());
            // Damage is found at the end, and in the blocks before.
            let mut damaged = whole.clone();
            *damaged.last_mut().unwrap() ^= 1;
            assert!(matches!(decode(&damaged).1.unwrap().fault, Fault::Length { .. }));
            let len = damaged.len();
            damaged[len - 1] ^= 1;
            damaged[len - 8] ^= 1;
            assert!(matches!(decode(&damaged).1.unwrap().fault, Fault::Checksum { .. }));
            assert!(decode(&whole[..len - 9]).1.is_some());
        }
    }
}

#[test]
fn a_mark_that_says_something_wrong_is_nothing_to_any_reader_and_one_that_is_no_block_is_damage() {
    let data = prose(20_000);
    let file = compress_to_one(&data, 6, 3000);
    let marks: Vec<usize> = abz_codec::gzip::parts(&mut Cursor::new(&file))
        .unwrap()
        .unwrap()
        .iter()
        .map(|part| part.bytes().start as usize)
        .collect();
    for (number, at) in marks.into_iter().enumerate() {
        // Two literals with code lengths of 8 and 9 swap their lengths: the code stays complete.
        let bit = |n: usize| (at + 9 + n / 4, 1 << (2 * (n % 4)));
        let other =
            (1..).find(|&n| (file[bit(0).0] & bit(0).1 == 0) != (file[bit(n).0] & bit(n).1 == 0)).unwrap();
        let mut wrong = file.clone();
        for (byte, mask) in [bit(0), bit(other)] {
            wrong[byte] ^= mask;
        }
        assert!(read_elsewhere(&wrong) == data);
        let (out, error) = decode(&wrong);
        assert!(error.is_none() && out == data, "{error:?}");
        // One of the changes alone makes the code incomplete.
        let mut damaged = file.clone();
        damaged[bit(0).0] ^= bit(0).1;
        let (out, error) = decode(&damaged);
        assert!(matches!(error.unwrap().fault, Fault::Deflate) && out == data[..3000 * number]);
    }
}
