//! Damaged files: each gives an error with its place, never wrong data, never a panic, and never takes more memory than
//! an undamaged file.

use std::io::Cursor;

use crate::support::*;
use abz_codec::gzip::{
    DecodeError, Decoder, Encoder, Extent, Fault, Header, HeaderError, Index, IndexError, Layout, MAX_BLOCK,
    Part, Piece, Splitter,
};
use abz_codec::{Block, Place, gzip};

/// Checks that every prefix of `file` that is not a whole file of gzip members gives an error, and only a prefix of
/// `data`.
fn check_truncations(file: &[u8], data: &[u8], whole_at: &[usize]) {
    for end in 0..file.len() {
        let (out, error) = decode(&file[..end]);
        assert!(data.starts_with(&out), "cut at {end}");
        assert_eq!(error.is_none(), whole_at.contains(&end), "cut at {end}: {error:?}");
        let Some(DecodeError { place: Place::Member { number, start }, offset, fault, .. }) = error else {
            continue;
        };
        assert!(number >= 1 && start <= offset && offset == end as u64, "cut at {end}: offset {offset}");
        assert!(matches!(fault, Fault::Truncated { .. } | Fault::MissingMember), "cut at {end}: {fault}");
    }
}

#[test]
fn ours_cut_at_any_byte_is_found_truncated_even_between_members() {
    let data = prose(1000);
    check_truncations(&compress_with_origin(&data, 250, b"name", 1), &data, &[]);
    check_truncations(&compress(&data, 6, 1001), &data, &[]);
}

#[test]
fn a_foreign_file_cut_at_any_byte_is_found_truncated_except_between_members() {
    let data = prose(600);
    let (first, second) = (foreign(&data[..400]), foreign(&data[400..]));
    check_truncations(&[&first[..], &second].concat(), &data, &[first.len()]);
}

#[test]
fn a_member_that_is_alone_in_its_file_is_decoded_as_a_whole_and_nothing_else_is() {
    let data = prose(600);
    let file = foreign(&data);
    let (mut decoder, mut out) = (Decoder::new(), Vec::new());
    assert!(decoder.decode_alone(&file, &mut out) && out == data);
    for bit in 0..file.len() * 8 {
        let mut bad = file.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        // Some bits of the header are ignored.
        let is_whole = decoder.decode_alone(&bad, &mut out);
        assert!(!is_whole || out == data && decode(&bad).1.is_none(), "bit {bit}");
    }
    for cut in 0..file.len() {
        assert!(!decoder.decode_alone(&file[..cut], &mut out), "cut at {cut}");
    }
    let twice = [&file[..], &file].concat();
    let others =
        [compress(&data, 6, 100), compress_to_one(&data, 6, 100), twice, [&file[..], b"more"].concat()];
    for other in others {
        assert!(!decoder.decode_alone(&other, &mut out));
    }
    // The end of another member at the same place does not end this one.
    let lying = [&file[..], &[0; 20], &file[file.len() - 8..]].concat();
    assert!(!decoder.decode_alone(&lying, &mut out));
}

#[test]
fn no_flipped_bit_gives_wrong_data_without_an_error_nor_any_of_what_is_verified_first() {
    let data = prose(600);
    let ours = compress_with_origin(&data, 200, b"name", 1);
    let single = compress(&data, 6, 601);
    let foreign = foreign(&data);
    for (file, which) in [(&ours, "ours"), (&single, "one member"), (&foreign, "foreign")] {
        for bit in 0..file.len() * 8 {
            let mut file = file.clone();
            file[bit / 8] ^= 1 << (bit % 8);
            let (out, error) = decode(&file);
            // All data of a member without a size that can be decoded is given out, and then the error.
            let may_be_wrong = which == "foreign" && error.is_some();
            assert!(may_be_wrong || data.starts_with(&out), "{which}, bit {bit}: wrong data, {error:?}");
            assert!(error.is_some() || out == data, "{which}, bit {bit}: lost data without an error");
        }
    }
}

#[test]
fn no_flipped_bit_makes_an_index_lie() {
    let file = compress(&prose(600), 6, 200);
    let right = Index::read(&mut Cursor::new(&file)).unwrap();
    for bit in 0..file.len() * 8 {
        let mut file = file.clone();
        file[bit / 8] ^= 1 << (bit % 8);
        match Index::read(&mut Cursor::new(&file)) {
            Ok(None) | Err(IndexError::Damaged { .. }) => {}
            Ok(index) => assert_eq!(index, right, "bit {bit}"),
            Err(error) => panic!("bit {bit}: {error}"),
        }
    }
}

#[test]
fn an_index_that_does_not_reach_the_start_of_the_file_is_refused() {
    let file = compress(&prose(600), 6, 200);
    let joined = [&file[..], &file].concat();
    let error = Index::read(&mut Cursor::new(&joined)).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "index part at byte {}: expected the first member at byte 0 of the file, found {}",
            file.len() + error_part_offset(&file),
            file.len()
        )
    );
    let cut = &file[10..];
    assert!(matches!(Index::read(&mut Cursor::new(cut)), Err(IndexError::Damaged { .. })));
    for end in 0..file.len() {
        assert!(matches!(Index::read(&mut Cursor::new(&file[..end])), Ok(None)), "cut at {end}");
    }
}

fn error_part_offset(file: &[u8]) -> usize {
    let pieces = Splitter::new(file).map(|piece| piece.unwrap());
    let last = pieces.last().unwrap();
    let Piece::Member(part) = last else { panic!("a file of ours was streamed") };
    part.start() as usize
}

#[test]
fn what_is_no_gzip_file_is_told() {
    for (file, found) in [(&b"PK\x03\x04"[..], b'P'), (b"\0\0\0\0", 0), (b"x", b'x')] {
        let (out, error) = decode(file);
        let error = error.unwrap();
        assert!(out.is_empty() && error.offset == 0);
        assert_eq!(error.place, Place::Member { number: 1, start: 0 });
        assert!(
            matches!(error.fault, Fault::Header(HeaderError::Magic { expected: 0x1f, found: f }) if f == found)
        );
    }
    let (_, error) = decode(b"");
    assert!(matches!(error.unwrap().fault, Fault::Truncated { inside: Part::Header }));
}

#[test]
fn padding_with_zeros_is_silent_and_other_padding_is_told_after_the_data() {
    let data = prose(600);
    for file in [compress(&data, 6, 200), foreign(&data), compress(&data, 6, 1000)] {
        for zeros in [1, 2, 511, 300_000] {
            assert_eq!(decode_all(&[&file[..], &vec![0; zeros]].concat()), data);
        }
        let garbage: [&[u8]; 6] = [b"x", b"xyz", b"\0\0\0x", b"\x1fx", b"\0\x1f\x8b\x08", &[0xff; 300_000]];
        for garbage in garbage {
            let (out, error) = decode(&[&file[..], garbage].concat());
            let error = error.unwrap();
            assert_eq!(out, data);
            assert!(matches!(error.fault, Fault::TrailingGarbage), "{error}");
            assert_eq!(error.offset, file.len() as u64);
        }
        for partial in [&b"\x1f"[..], b"\x1f\x8b", b"\x1f\x8b\x08\0\0"] {
            let (out, error) = decode(&[&file[..], partial].concat());
            assert_eq!(out, data);
            assert!(matches!(error.unwrap().fault, Fault::Truncated { inside: Part::Header }));
        }
    }
}

#[test]
fn garbage_after_a_member_that_promised_another_is_an_error() {
    let block = Block { number: 0, data: prose(300), whole: false };
    let file = Encoder::new(6).layout(Layout::Members).encode(&block).unwrap().bytes;
    for garbage in [&b"xyz"[..], b"\0\0\0"] {
        let (out, error) = decode(&[&file[..], garbage].concat());
        assert_eq!(out, block.data);
        assert!(matches!(error.unwrap().fault, Fault::Header(HeaderError::Magic { .. })));
    }
}

/// Returns a member whose header may state a wrong extent. Its contents are `data` in any case.
fn lying(data: &[u8], compressed: impl FnOnce(u32) -> u32, uncompressed: u32) -> Vec<u8> {
    let block = Block { number: 0, data: data.to_vec(), whole: true };
    let mut file = Encoder::new(6).layout(Layout::Members).encode(&block).unwrap().bytes;
    let len = compressed(file.len() as u32);
    file[16..20].copy_from_slice(&len.to_le_bytes());
    file[20..24].copy_from_slice(&uncompressed.to_le_bytes());
    let (header, _) = Header::parse(&file).unwrap().unwrap();
    let extent = Extent { compressed: len, uncompressed: Some(uncompressed), more: false };
    assert_eq!(header.extent(), Some(extent));
    file
}

#[test]
fn a_header_that_is_wrong_about_the_size_is_no_fault() {
    let data = prose(500);
    let sizes: Vec<_> = [0, 1, 26, 36, 1_000_000].into_iter().chain((40..=500).step_by(13)).collect();
    for size in sizes {
        let file = lying(&data, |_| size, 500);
        // Alone, with padding, with another member behind it, and in pieces.
        let other =
            Encoder::new(6).encode(&Block { number: 0, data: data.clone(), whole: true }).unwrap().bytes;
        for (behind, twice) in [(&[][..], false), (&[0; 100], false), (&other, true), (&file, true)] {
            let file = [&file[..], behind].concat();
            let expected = if twice { data.repeat(2) } else { data.clone() };
            let (out, error) = decode(&file);
            assert!(error.is_none() && out == expected, "{size}: {error:?}");
            for len in [1, 3, 50] {
                let (out, error) = decode_pushed(&file, || len);
                assert!(error.is_none() && out == expected, "{size}, pieces of {len}: {error:?}");
            }
        }
    }
}

#[test]
fn any_extra_field_is_as_good_as_another() {
    let data = prose(20_000);
    let stream = foreign(&data)[10..].to_vec();
    let member = |extra: &[u8]| {
        let header = [0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 3];
        [&header[..], &(extra.len() as u16).to_le_bytes(), extra, &stream].concat()
    };
    let mut sizes: Vec<u16> = (0..=u16::MAX).step_by(997).collect();
    let right = member(b"BC\x02\0\0\0").len() as u16 - 1;
    // Some of the sizes end in the header of the next member, and some behind it.
    sizes.extend(right - 12..right + 24);
    sizes.extend([2 * right + 1, 3 * right + 2]);
    let mut noise = Noise::new(77);
    for size in sizes {
        let bgzf = [&b"BC\x02\0"[..], &size.to_le_bytes()].concat();
        // Our subfield with random numbers, marks of an unknown kind, and an index without entries.
        let ours = [&b"AB\x09\0"[..], &u32::from(size).to_le_bytes(), &noise.bytes(4), &[1]].concat();
        let marked = [&bgzf[..], b"AM\x01\0\x01"].concat();
        let index = [&b"AI\x08\0"[..], &noise.bytes(8)].concat();
        for extra in [bgzf, ours, marked, index, noise.bytes(30)] {
            let one = member(&extra);
            for (file, times) in [(one.clone(), 1), (one.repeat(3), 3)] {
                let (out, error) = decode(&file);
                assert!(error.is_none() && out == data.repeat(times), "{extra:x?}: {error:?}");
                let (out, error) = decode_pushed(&file, || 4099);
                assert!(error.is_none() && out == data.repeat(times), "{extra:x?}: {error:?}");
            }
        }
    }
}

#[test]
fn a_size_that_ends_among_zeros_is_found_out() {
    // Most of the deflate data of zeros is zeros.
    let data = vec![0; 100_000];
    let stream = foreign(&data)[10..].to_vec();
    let header = [0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255, 6, 0, b'B', b'C', 2, 0];
    for size in 0..stream.len() as u16 + 30 {
        let one = [&header[..], &size.to_le_bytes(), &stream].concat();
        for (file, times) in [(one.clone(), 1), ([&one[..], &[0; 50]].concat(), 1), (one.repeat(2), 2)] {
            let (out, error) = decode(&file);
            assert!(error.is_none() && out == data.repeat(times), "{size}: {error:?}");
        }
    }
}

#[test]
fn what_is_damaged_is_told_though_its_header_says_a_size() {
    let data = prose(5000);
    let file = compress(&data, 6, 1000);
    // Cut, and joined to another file: nothing of the block that was cut comes out.
    let members: Vec<_> = (1..file.len()).filter(|&at| file[at..].starts_with(&[0x1f, 0x8b, 8, 4])).collect();
    for at in [members[0] + 50, members[1] + 30, members[2] - 3] {
        let (out, error) = decode(&file[..at]);
        assert!(error.is_some() && out.len() % 1000 == 0 && data.starts_with(&out), "cut at {at}");
    }
}

#[test]
fn a_header_that_takes_the_next_member_for_its_own_does_not_swallow_it() {
    // Both members have the same contents, so the trailer of the second one fits the data of the first, too.
    let data = prose(500);
    let second = Encoder::new(6).encode(&Block { number: 0, data: data.clone(), whole: true }).unwrap().bytes;
    let file = [lying(&data, |len| len + second.len() as u32, 500), second.clone()].concat();
    let (out, error) = decode(&file);
    assert!(error.is_none() && out == data.repeat(2), "{error:?}");

    // The last trailer matches nothing, so the data between the two is not skipped either.
    let mut file = lying(&data, |len| len + 50, 500);
    file.extend(vec![b'x'; 50]);
    let end = file.len();
    file[end - 4..].copy_from_slice(&500u32.to_le_bytes());
    assert!(matches!(decode(&file).1.unwrap().fault, Fault::MemberSize { .. }));
}

#[test]
fn sizes_of_the_contents_that_disagree_are_found_out() {
    let data = prose(500);
    // The header is only an extra field; the trailer decides.
    let (out, error) = decode(&lying(&data, |len| len, 499));
    assert!(error.is_none() && out == data, "{error:?}");
    let mut file = lying(&data, |len| len, 499);
    let end = file.len();
    file[end - 4..].copy_from_slice(&498u32.to_le_bytes());
    let (out, error) = decode(&file);
    assert!(out.is_empty());
    assert!(matches!(error.unwrap().fault, Fault::Disagreement { header: 499, trailer: 498 }));
    for claimed in [0, 499, 501, MAX_BLOCK as u32] {
        let mut file = lying(&data, |len| len, claimed);
        let end = file.len();
        file[end - 4..].copy_from_slice(&claimed.to_le_bytes());
        let (out, error) = decode(&file);
        assert!(out.is_empty());
        let error = error.unwrap();
        assert_eq!(error.offset, end as u64 - 4);
        assert!(
            matches!(error.fault, Fault::Length { expected, found: 500 } if expected == claimed),
            "{error}"
        );
    }
}

#[test]
fn a_member_that_claims_to_be_huge_is_streamed_not_allocated() {
    let data = prose(500);
    for (compressed, uncompressed) in [(u32::MAX, 500), (100, u32::MAX), (100, MAX_BLOCK as u32 + 1)] {
        let file = lying(&data, |_| compressed, uncompressed);
        let pieces: Vec<_> = Splitter::new(&file[..]).collect();
        assert!(matches!(&pieces[..], [Ok(Piece::Data(out))] if *out == data));
    }
}

#[test]
fn a_bomb_expands_chunk_by_chunk() {
    let bomb = foreign(&vec![0; 100_000_000]);
    assert!(bomb.len() < 100_000);
    let mut total = 0;
    for piece in Splitter::new(&bomb[..]) {
        let Piece::Data(data) = piece.unwrap() else { panic!("a foreign member came whole") };
        assert!(data.len() <= 1 << 20 && data.capacity() <= 1 << 20);
        total += data.len();
    }
    assert_eq!(total, 100_000_000);

    // With the header of BGZF, whose members have at most 64 KiB.
    let mut header = Header { extra: b"BC\x02\0\0\0".to_vec(), ..Header::default() };
    let body = foreign(&vec![0; 50_000_000]).split_off(10);
    let size = (18 + body.len() - 1) as u16;
    header.extra[4..].copy_from_slice(&size.to_le_bytes());
    let mut file = Vec::new();
    header.write(&mut file);
    file.extend(body);
    assert_eq!(file.len(), usize::from(size) + 1, "it fits into 64 KiB");
    for piece in Splitter::new(&file[..]) {
        assert!(matches!(piece.unwrap(), Piece::Data(data) if data.len() <= 1 << 20));
    }
}

#[test]
fn the_first_error_ends_the_pieces() {
    let mut file = foreign(&prose(500));
    let last = file.len() - 1;
    file[last] ^= 1;
    file.extend(foreign(b"more"));
    let pieces: Vec<_> = Splitter::new(&file[..]).collect();
    assert!(matches!(&pieces[..], [Ok(Piece::Data(data)), Err(_)] if *data == prose(500)));
}

#[test]
fn errors_say_member_place_expectation_and_finding() {
    let data = prose(600);
    let mut file = compress(&data, 6, 200);
    let members: Vec<_> = Splitter::new(&file[..])
        .map(|piece| match piece.unwrap() {
            Piece::Member(member) => member,
            Piece::Data(_) => panic!("a file of ours was streamed"),
        })
        .collect();
    let crc_at = members[2].start() as usize - 8;
    let right = u32::from_le_bytes(file[crc_at..][..4].try_into().unwrap());
    file[crc_at] ^= 0xff;
    let (out, error) = decode(&file);
    assert_eq!(out, data[..200]);
    assert_eq!(
        error.unwrap().to_string(),
        format!(
            "member 2, which begins at byte {}: at byte {crc_at}: \
             expected contents with the CRC-32 {:08x}, found {right:08x}",
            members[1].start(),
            right ^ 0xff
        )
    );
    let io = std::io::read_to_string(gzip::Reader::new(&file[..])).unwrap_err();
    assert_eq!(io.kind(), std::io::ErrorKind::InvalidData);
    assert!(io.get_ref().unwrap().is::<DecodeError>());
}

#[test]
fn a_reader_that_fails_is_told_with_its_own_error() {
    struct Fails<'a>(&'a [u8]);
    impl std::io::Read for Fails<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            match self.0.read(buffer)? {
                0 => Err(std::io::Error::other("the cable fell out")),
                n => Ok(n),
            }
        }
    }
    for file in [compress(&prose(600), 6, 200), foreign(&prose(600))] {
        for end in [0, 1, 50, file.len() - 1, file.len()] {
            let error = Splitter::new(Fails(&file[..end])).find_map(Result::err).unwrap();
            assert!(matches!(error.fault, Fault::Io(_)), "{error}");
            assert!(error.to_string().ends_with("reading failed: the cable fell out"));
        }
    }
}
