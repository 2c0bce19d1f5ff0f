//! Compressed files give their contents again: with this crate, as whole members and streamed, and with another
//! decoder.

use std::io::{Cursor, Read};

use crate::support::*;
use abz_codec::gzip::{Header, Index, MAX_BLOCK, Member, Piece, Reader, Splitter};
use abz_codec::{Block, gzip};
use proptest::prelude::*;

fn members(file: &[u8]) -> Vec<Member> {
    Splitter::new(file)
        .map(|piece| match piece.unwrap() {
            Piece::Member(member) => member,
            Piece::Data(_) => panic!("a file of ours was streamed"),
        })
        .collect()
}

fn any_data() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..2000),
        (0usize..20_000).prop_map(prose),
        (0usize..20_000, any::<u8>()).prop_map(|(len, byte)| vec![byte; len]),
    ]
}

proptest! {
    #[test]
    fn ours_comes_back_by_all_roads(data in any_data(), level in 1u32..=12, block_size in 1usize..6000) {
        let block_size = block_size.max(data.len() / 50);
        let file = compress(&data, level, block_size);
        prop_assert_eq!(&decode_all(&file), &data);
        prop_assert_eq!(&oracle(&file).unwrap(), &data);
        let mut read = Vec::new();
        Reader::new(&file[..]).read_to_end(&mut read).unwrap();
        prop_assert_eq!(&read, &data);
    }

    #[test]
    fn files_joined_are_their_contents_joined(parts in proptest::collection::vec((any_data(), any::<bool>()), 1..5)) {
        let make = |(data, ours): &(Vec<u8>, bool)| if *ours { compress(data, 6, 700) } else { foreign(data) };
        let file: Vec<u8> = parts.iter().flat_map(make).collect();
        let data: Vec<u8> = parts.iter().flat_map(|(data, _)| data.clone()).collect();
        prop_assert_eq!(decode_all(&file), data);
    }

    #[test]
    fn the_index_says_what_the_members_are(data in any_data(), block_size in 1usize..6000) {
        let block_size = block_size.max(data.len() / 50);
        let file = compress(&data, 1, block_size);
        let index = Index::read(&mut Cursor::new(&file)).unwrap();
        let members = members(&file);
        if data.len() < block_size {
            prop_assert_eq!(index, None);
            prop_assert_eq!(members.len(), 1);
            return Ok(());
        }
        let index = index.unwrap();
        prop_assert_eq!(index.uncompressed(), data.len() as u64);
        prop_assert_eq!(index.entries().len(), members.len() - 1);
        for (entry, member) in index.entries().iter().zip(&members) {
            prop_assert_eq!(entry.offset, member.start());
            prop_assert_eq!(entry.compressed as usize, member.bytes().len());
            prop_assert_eq!(entry.uncompressed as usize, member.uncompressed_len());
            prop_assert_eq!(index.containing(entry.start), Some(entry));
        }
        prop_assert_eq!(index.containing(data.len() as u64), None);
    }
}

#[test]
fn an_empty_input_is_a_valid_file_of_one_member() {
    let file = compress(b"", 6, 1000);
    assert_eq!(members(&file).len(), 1);
    assert_eq!(oracle(&file).unwrap(), b"");
}

#[test]
fn a_file_of_one_block_is_one_member_without_an_index() {
    let file = compress(b"water", 6, 6);
    assert_eq!(members(&file).len(), 1);
    assert_eq!(compress(b"water", 6, 5), file);
    assert_eq!(members(&compress(b"water", 6, 4)).len(), 3, "with an index");
}

#[test]
fn more_members_than_a_part_of_the_index_holds_make_a_chain_of_parts() {
    let data = prose(2 * gzip::PART_MEMBERS + 5);
    let file = compress(&data, 1, 1);
    assert_eq!(decode_all(&file), data);
    let index = Index::read(&mut Cursor::new(&file)).unwrap().unwrap();
    assert_eq!(index.entries().len(), data.len());
    assert_eq!(index.uncompressed(), data.len() as u64);
    let parts = members(&file).iter().filter(|member| member.uncompressed_len() == 0).count();
    assert_eq!(parts, 3);
}

#[test]
fn a_full_last_part_is_followed_by_an_empty_one() {
    let data = prose(gzip::PART_MEMBERS);
    let file = compress(&data, 1, 1);
    let index = Index::read(&mut Cursor::new(&file)).unwrap().unwrap();
    assert_eq!(index.entries().len(), data.len());
}

#[test]
fn only_the_first_member_tells_name_and_time() {
    let file = compress_with_origin(&prose(3000), 1000, b"river.txt", 1_700_000_000);
    let headers: Vec<_> =
        members(&file).iter().map(|member| Header::parse(member.bytes()).unwrap().unwrap().0).collect();
    assert_eq!(headers[0].name.as_deref(), Some(&b"river.txt"[..]));
    assert_eq!(headers[0].mtime, 1_700_000_000);
    assert!(headers[1..].iter().all(|header| header.name.is_none() && header.mtime == 0));
}

#[test]
fn a_name_that_a_header_cannot_hold_is_cut() {
    for (name, stored) in [
        (&b"a\0b"[..], Some(&b"a"[..])),
        (b"\0", None),
        (b"", None),
        (&[b'n'; 5000], Some(&[b'n'; gzip::MAX_NAME])),
    ] {
        let file = compress_with_origin(b"x", 10, name, 0);
        let (header, _) = Header::parse(&file).unwrap().unwrap();
        assert_eq!(header.name.as_deref(), stored);
    }
}

#[test]
fn an_encoder_remembers_nothing() {
    let block = |number, len| Block { number, data: prose(len), whole: false };
    let mut used = gzip::Encoder::new(6);
    for (number, len) in [(0, 5000), (1, 0), (2, 90_000), (3, 17)] {
        let block = block(number, len);
        assert_eq!(used.encode(&block), gzip::Encoder::new(6).encode(&block));
    }
}

#[test]
fn headers_of_every_kind_are_streamed_past() {
    let data = prose(5000);
    let mut deflate = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::new(6));
    std::io::Write::write_all(&mut deflate, &data).unwrap();
    let deflate = deflate.finish().unwrap();
    for flags in 0..32u8 {
        let header = Header {
            text: flags & 1 != 0,
            checksum: flags & 2 != 0,
            extra: if flags & 4 != 0 { b"XY\x03\0abcnot a subfield".to_vec() } else { Vec::new() },
            name: (flags & 8 != 0).then(|| b"name".to_vec()),
            comment: (flags & 16 != 0).then(|| b"comment".to_vec()),
            ..Header::default()
        };
        let mut file = Vec::new();
        header.write(&mut file);
        file.extend(&deflate);
        file.extend(crc_of(&data).to_le_bytes());
        file.extend((data.len() as u32).to_le_bytes());
        assert_eq!(decode_all(&file), data, "flags {flags}");
        assert_eq!(decode_all(&[&file[..], &file].concat()), [&data[..], &data].concat());
    }
}

fn crc_of(data: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(data);
    crc.sum()
}

#[test]
fn bgzf_comes_as_whole_members() {
    // The format of the SAM specification, section 4.1.1; the last member is its end-of-file marker.
    let mut file = Vec::new();
    for data in [&b"anabranch\n"[..], b""] {
        let mut member = foreign(data);
        let deflate = member.split_off(10);
        let mut header = Header { extra: b"BC\x02\0\0\0".to_vec(), ..Header::default() };
        let mut bytes = Vec::new();
        header.write(&mut bytes);
        let size = (bytes.len() + deflate.len() - 1) as u16;
        header.extra[4..].copy_from_slice(&size.to_le_bytes());
        header.write(&mut file);
        file.extend(deflate);
    }
    let marker = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\x06\0BC\x02\0\x1b\0\x03\0\0\0\0\0\0\0\0\0";
    assert!(file.ends_with(marker));
    let members = members(&file);
    assert_eq!(members.len(), 2);
    assert_eq!(decode_all(&file), b"anabranch\n");
}

#[test]
fn the_largest_block_is_a_whole_member() {
    let data = vec![7; MAX_BLOCK];
    let file = compress(&data, 1, MAX_BLOCK + 1);
    assert_eq!(members(&file).len(), 1);
    assert!(decode_all(&file) == data);
}

#[test]
fn a_long_foreign_member_comes_in_chunks() {
    let data = [prose(700_000), Noise::new(1).bytes(700_000), vec![0; 3_000_000]].concat();
    let file = foreign(&data);
    let pieces: Vec<_> = Splitter::new(&file[..]).map(|piece| piece.unwrap()).collect();
    assert!(pieces.len() >= 4);
    assert!(pieces.iter().all(|piece| matches!(piece, Piece::Data(data) if data.len() <= 1 << 20)));
    assert!(decode_all(&file) == data);
}

#[test]
fn bytes_that_trickle_in_give_the_same_data() {
    struct Trickle<'a>(&'a [u8]);
    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let n = buffer.len().min(1);
            self.0.read(&mut buffer[..n])
        }
    }
    let data = prose(3000);
    for file in [compress_with_origin(&data, 700, b"n", 1), foreign(&data)] {
        let mut out = Vec::new();
        Reader::new(Trickle(&file)).read_to_end(&mut out).unwrap();
        assert_eq!(out, data);
    }
}
