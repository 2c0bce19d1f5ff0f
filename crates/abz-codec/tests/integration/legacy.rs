//! Files of `pack` and archives of `zip` with one file, compared with GNU gzip, if it is installed.

use std::io::Write;

use abz_codec::Place;
use abz_codec::legacy::{DecodeError, Fault, pack, zip, zlib};
use abz_codec::parts::Serial;

use crate::support::{Noise, prose, through};

/// Decodes a file that comes in pieces of at most `most` bytes. Returns the contents and the error.
pub fn decode<S: Serial<Error = DecodeError> + Default>(
    file: &[u8],
    most: usize,
) -> (Vec<u8>, Option<DecodeError>) {
    let (mut decoder, mut data, mut out) = (S::default(), Vec::new(), Vec::new());
    for piece in file.chunks(most) {
        let mut rest = piece;
        loop {
            match decoder.next(&mut rest, &mut data) {
                Ok(true) => out.extend_from_slice(&data),
                Ok(false) => break,
                Err(error) => return (out, Some(error)),
            }
        }
        assert!(rest.is_empty());
    }
    loop {
        match decoder.finish(&mut data) {
            Ok(true) => out.extend_from_slice(&data),
            Ok(false) => return (out, None),
            Err(error) => return (out, Some(error)),
        }
    }
}

/// Packs bytes, at least two of which differ, with a Huffman code.
pub fn packed(data: &[u8]) -> Vec<u8> {
    let mut weights = [0usize; 256];
    data.iter().for_each(|&byte| weights[usize::from(byte)] += 1);
    // Trees of symbols. Symbol 256 is the end, and no other symbol is lighter.
    let mut trees: Vec<(usize, Vec<(usize, usize)>)> = vec![(0, vec![(256, 0)])];
    trees.extend((0..256).filter(|&byte| weights[byte] > 0).map(|byte| (weights[byte], vec![(byte, 0)])));
    while trees.len() > 1 {
        trees.sort_by_key(|tree| std::cmp::Reverse(tree.0));
        let (one, other) = (trees.pop().unwrap(), trees.pop().unwrap());
        let leaves = one.1.into_iter().chain(other.1).map(|(symbol, depth)| (symbol, depth + 1)).collect();
        trees.push((one.0 + other.0, leaves));
    }
    let mut leaves = trees.pop().unwrap().1;
    // The end is the last of the longest codes.
    leaves.sort_by_key(|&(symbol, depth)| (depth, symbol));
    let longest = leaves.last().unwrap().1;
    assert_eq!(*leaves.last().unwrap(), (256, longest));
    let count = |len: usize| leaves.iter().filter(|leaf| leaf.1 == len).count();
    let mut file = vec![0x1f, 0x1e];
    file.extend((data.len() as u32).to_be_bytes());
    file.push(longest as u8);
    file.extend((1..=longest).map(|len| (count(len) - if len == longest { 2 } else { 0 }) as u8));
    file.extend(leaves.iter().filter(|leaf| leaf.0 < 256).map(|leaf| leaf.0 as u8));
    let mut codes = vec![(0u32, 0); 257];
    let mut inner = 0;
    for len in (1..=longest).rev() {
        let of_len = leaves.iter().filter(|leaf| leaf.1 == len);
        for (index, &(symbol, _)) in of_len.enumerate() {
            codes[symbol] = ((inner + index) as u32, len);
        }
        inner = (inner + count(len)) / 2;
    }
    let (mut bits, mut have) = (0u64, 0);
    for symbol in data.iter().map(|&byte| usize::from(byte)).chain([256]) {
        let (code, len) = codes[symbol];
        (bits, have) = (bits << len | u64::from(code), have + len);
        while have >= 8 {
            file.push((bits >> (have - 8)) as u8);
            have -= 8;
        }
    }
    if have > 0 {
        file.push((bits << (8 - have)) as u8);
    }
    file
}

/// Returns an archive with one file.
pub fn zipped(data: &[u8], is_stored: bool, descriptor: Option<bool>) -> Vec<u8> {
    let mut deflate = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    deflate.write_all(data).unwrap();
    let bytes = if is_stored { data.to_vec() } else { deflate.finish().unwrap() };
    let mut sum = flate2::Crc::new();
    sum.update(data);
    let numbers = [sum.sum(), bytes.len() as u32, data.len() as u32];
    let mut file = b"PK\x03\x04\x14\0".to_vec();
    file.extend([if descriptor.is_some() { 8 } else { 0 }, 0, if is_stored { 0 } else { 8 }, 0, 1, 2, 3, 4]);
    for number in numbers {
        file.extend(if descriptor.is_some() { [0; 4] } else { number.to_le_bytes() });
    }
    file.extend(b"\x05\0\x04\0x.txt\x01\0\0\0");
    file.extend(bytes);
    if let Some(has_mark) = descriptor {
        file.extend(if has_mark { &b"PK\x07\x08"[..] } else { b"" });
        numbers.iter().for_each(|number| file.extend(number.to_le_bytes()));
    }
    // A directory, as far as it is read.
    file.extend(b"PK\x01\x02");
    file.extend([0; 80]);
    file
}

fn inputs() -> Vec<Vec<u8>> {
    vec![prose(50_000), Noise::new(1).bytes(5000), b"ab".to_vec(), [vec![0; 700_000], prose(300)].concat()]
}

#[test]
fn files_of_pack_are_read_as_gzip_reads_them() {
    for data in inputs() {
        let file = packed(&data);
        for most in [1, 100, usize::MAX] {
            let (out, error) = decode::<pack::Decoder>(&file, most);
            assert!(out == data && error.is_none(), "{error:?}");
        }
        if let Some(read) = through("gzip", &["-dc"], &file) {
            assert!(read == data);
        }
        let (out, error) = decode::<pack::Decoder>(&file[..file.len() - 1], 10);
        assert!(data.starts_with(&out));
        assert_eq!(error.unwrap().fault, Fault::Truncated);
        let mut wrong = file.clone();
        wrong[5] ^= 1;
        assert!(matches!(decode::<pack::Decoder>(&wrong, 10).1.unwrap().fault, Fault::Length { .. }));
    }
}

#[test]
fn archives_of_zip_with_one_file_are_read() {
    for data in inputs() {
        for (is_stored, descriptor) in
            [(false, None), (true, None), (false, Some(true)), (false, Some(false))]
        {
            let file = zipped(&data, is_stored, descriptor);
            for most in [1, 100, usize::MAX] {
                let (out, error) = decode::<zip::Decoder>(&file, most);
                assert!(out == data && error.is_none(), "{is_stored} {descriptor:?}: {error:?}");
            }
            // gzip does not read an archive whose descriptor has no magic bytes.
            if descriptor != Some(false)
                && let Some(read) = through("gzip", &["-dc"], &file)
            {
                assert!(read == data);
            }
            for len in [3, 29, 40, file.len() - 110] {
                let (out, error) = decode::<zip::Decoder>(&file[..len.min(file.len() - 100)], 10);
                assert!(data.starts_with(&out) && error.is_some());
            }
        }
    }
    for (program, arguments) in [("pigz", &["-cK"][..]), ("zip", &["-q", "-", "-"])] {
        if let Some(file) = through(program, arguments, &prose(100_000)) {
            assert_eq!(decode::<zip::Decoder>(&file, 1000), (prose(100_000), None), "{program}");
        }
    }
}

#[test]
fn streams_of_zlib_are_read_however_they_arrive() {
    for mut data in inputs() {
        data.truncate(3000);
        for level in [0, 1, 6, 9] {
            let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::new(level));
            encoder.write_all(&data).unwrap();
            let file = encoder.finish().unwrap();
            assert!(zlib::is_zlib(&file));
            for most in [1, 100, usize::MAX] {
                assert_eq!(decode::<zlib::Decoder>(&file, most), (data.clone(), None));
            }
            for len in [0, 1, 2, file.len() / 2, file.len() - 1] {
                let (out, error) = decode::<zlib::Decoder>(&file[..len], 10);
                assert!(data.starts_with(&out));
                assert_eq!(error, Some(DecodeError::new(Place::Whole, len as u64, Fault::Truncated)));
            }
            let mut wrong = file.clone();
            *wrong.last_mut().unwrap() ^= 1;
            let error = decode::<zlib::Decoder>(&wrong, 10).1.unwrap();
            assert!(matches!(error.fault, Fault::Adler { .. }) && error.offset == file.len() as u64 - 4);
        }
    }
    let fault = |file: &[u8]| decode::<zlib::Decoder>(file, 1).1.unwrap().fault;
    assert!(matches!(fault(b"\x78\xbb\0\0\0\0"), Fault::Unsupported { .. }));
    assert!(matches!(fault(b"\x78\x9d\0\0"), Fault::Magic { .. }));
}

#[test]
fn what_is_behind_a_stream_of_zlib_is_told_behind_its_contents() {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::new(6));
    encoder.write_all(&prose(3000)).unwrap();
    let file = encoder.finish().unwrap();
    let mut damaged = file.clone();
    *damaged.last_mut().unwrap() ^= 1;
    let damaged_earlier = [&file[..200], &[0xff; 9], &file[209..]].concat();
    for (behind, fault) in [
        (&b"\0"[..], Fault::TrailingGarbage),
        (b"junk", Fault::TrailingGarbage),
        (b"\x78", Fault::TrailingGarbage),
        (&file[..300], Fault::TrailingGarbage),
        (&damaged, Fault::TrailingGarbage),
        (&damaged_earlier, Fault::TrailingGarbage),
        (&file, Fault::AnotherStream),
    ] {
        for most in [1, 7, usize::MAX] {
            let (out, error) = decode::<zlib::Decoder>(&[&file, behind].concat(), most);
            assert!(out == prose(3000));
            let offset = file.len() as u64;
            assert_eq!(error, Some(DecodeError::new(Place::Whole, offset, fault.clone())));
        }
    }
}

#[test]
fn what_is_not_read_of_an_archive_is_said() {
    let data = prose(1000);
    let file = zipped(&data, false, None);
    let fault = |file: &[u8]| decode::<zip::Decoder>(file, 100).1.unwrap();
    let (out, error) = decode::<zip::Decoder>(&[&file[..file.len() - 84], &file].concat(), 100);
    assert!(out == data);
    assert_eq!(
        (error.as_ref().unwrap().offset, &error.unwrap().fault),
        (file.len() as u64 - 84, &Fault::MoreFiles)
    );
    let changed = |at: usize, byte: u8| {
        let mut file = file.clone();
        file[at] = byte;
        fault(&file)
    };
    assert!(matches!(changed(6, 1).fault, Fault::Unsupported { .. }));
    assert!(matches!(changed(8, 12).fault, Fault::Unsupported { .. }));
    assert!(matches!(changed(14, !file[14]).fault, Fault::Checksum { .. }));
    assert!(matches!(changed(22, !file[22]).fault, Fault::Length { .. }));
    assert!(matches!(changed(0, b'Q').fault, Fault::Magic { .. }));
}
