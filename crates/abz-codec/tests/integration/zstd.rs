//! Zstandard, compared with the `zstd` and `pzstd` of this system, if they are installed, and with libzstd's own
//! decoder for damaged files.

use std::io::Cursor;
use std::time::{Duration, Instant};

use crate::support::parts::decode_pushed;
use crate::support::{Noise, prose, through};
use abz_codec::parts::{Scan, Scanned};
use abz_codec::zstd::{
    Checksum, DecodeError, Decoding, Dictionary, Encoder, Encoding, Fault, FrameHeader, FrameWriter, Layout,
    Part, Scanner, SeekTable, Survey, is_zstd,
};
use abz_codec::{Block, Blocks, Place};

fn compress_as(data: &[u8], level: i32, encoding: &Encoding, frame_size: usize) -> Vec<u8> {
    let (mut encoder, mut checksum) = (Encoder::new(level, encoding), Checksum::new());
    let header = encoding.header(level, frame_size, Some(data.len() as u64));
    let mut file = FrameWriter::new(Vec::new(), header, frame_size);
    for block in Blocks::new(data, frame_size) {
        let block = block.unwrap();
        let sum = checksum.add(&block.data);
        file.write(&encoder.encode_into(&block, Vec::new()).unwrap(), sum).unwrap();
    }
    file.finish().unwrap()
}

fn compress(data: &[u8], frame_size: usize) -> Vec<u8> {
    compress_as(data, 3, &Encoding::default(), frame_size)
}

/// Compresses to a frame for each block.
fn compress_to_frames(data: &[u8], frame_size: usize) -> Vec<u8> {
    let encoding = Encoding { layout: Layout::Frames, ..Encoding::default() };
    compress_as(data, 3, &encoding, frame_size)
}

fn decode(file: &[u8], decoding: &Decoding) -> (Vec<u8>, Option<DecodeError>) {
    decode_pushed(Scanner::new(decoding), file, || usize::MAX)
}

fn decode_all(file: &[u8]) -> Vec<u8> {
    let (out, error) = decode(file, &Decoding::default());
    assert!(error.is_none(), "{}", error.unwrap());
    out
}

fn fault(file: &[u8]) -> Fault {
    decode(file, &Decoding::default()).1.expect("it is damaged").fault
}

/// Decodes a file with libzstd, byte by byte, so that it gives all contents before a fault. It accepts windows of up to
/// 2^`window_log` bytes.
fn oracle(file: &[u8], window_log: u32) -> (Vec<u8>, bool) {
    let (mut out, mut context) = (Vec::new(), zstd_safe::DCtx::create());
    context.set_parameter(zstd_safe::DParameter::WindowLogMax(window_log)).unwrap();
    let mut chunk = vec![0; 1 << 17];
    let (mut at, mut hint, mut is_full) = (0, 1, false);
    while at < file.len() || is_full {
        let mut input = zstd_safe::InBuffer::around(&file[at..file.len().min(at + 1)]);
        let mut output = zstd_safe::OutBuffer::around(&mut chunk[..]);
        match context.decompress_stream(&mut output, &mut input) {
            Ok(more) => hint = more,
            Err(_) => return (out, false),
        }
        (at, is_full) = (at + input.pos(), output.pos() == output.capacity());
        out.extend_from_slice(output.as_slice());
    }
    (out, hint == 0)
}

fn inputs() -> Vec<Vec<u8>> {
    let mut noise = Noise::new(5);
    vec![vec![], vec![b'x'], vec![0; 1_000_000], prose(300_000), noise.bytes(200_000)]
}

#[test]
fn what_was_encoded_is_decoded_at_all_levels_sizes_and_kinds() {
    for data in inputs() {
        for level in [-5, 1, 3, 9, 19, 22] {
            for frame in [70_000, 1 << 20] {
                let file = compress_as(&data, level, &Encoding::default(), frame);
                assert!(decode_all(&file) == data, "level {level}");
            }
        }
        let encoding = Encoding { checksum: false, long: Some(24), ..Encoding::default() };
        assert!(decode_all(&compress_as(&data, 3, &encoding, 100_000)) == data);
    }
}

#[test]
fn the_same_bytes_are_encoded_whatever_was_encoded_before() {
    let data = prose(200_000);
    let block = |number, whole| Block { number, data: data.clone(), whole };
    for block in [block(0, true), block(0, false), block(7, false)] {
        let mut used = Encoder::new(3, &Encoding::default());
        for (number, data) in (0..).zip(inputs()).filter(|(_, data)| !data.is_empty()) {
            used.encode_into(&Block { number, data, whole: number == 1 }, Vec::new()).unwrap();
        }
        let fresh = Encoder::new(3, &Encoding::default()).encode_into(&block, Vec::new()).unwrap();
        assert!(used.encode_into(&block, vec![b'x'; 10]).unwrap() == fresh);
    }
}

#[test]
fn a_file_of_several_frames_ends_with_the_table_of_the_seekable_format() {
    let data = prose(250_000);
    let file = compress_to_frames(&data, 100_000);
    let table = SeekTable::read(&mut Cursor::new(&file)).unwrap().unwrap();
    let contents: Vec<_> = table.entries().iter().map(|entry| entry.contents).collect();
    assert_eq!(contents, [100_000, 100_000, 50_000]);
    let first = &file[..table.entries()[0].compressed as usize];
    assert!(decode_all(first) == data[..100_000]);
    let survey = Survey::of(&mut Cursor::new(&file)).unwrap();
    assert_eq!(
        survey,
        Some(Survey { frames: 3, skippable: 1, uncompressed: Some(250_000), checksums: true })
    );

    let single = compress(&data, 1 << 20);
    assert!(SeekTable::read(&mut Cursor::new(single)).unwrap().is_none(), "its header says all");
}

#[test]
fn zstd_reads_ours_and_we_read_what_zstd_and_pzstd_write() {
    for data in inputs() {
        for (level, frame) in [(1, 50_000), (3, 1 << 20), (19, 100_000)] {
            let file = compress_as(&data, level, &Encoding::default(), frame);
            for program in ["zstd", "pzstd"] {
                if let Some(back) = through(program, &["-dcq"], &file) {
                    assert!(back == data, "{program} read {} bytes of {}", back.len(), data.len());
                }
            }
        }
        let size = format!("--stream-size={}", data.len());
        for (program, arguments) in [
            ("zstd", &["-cq"][..]),
            ("zstd", &["-cq", "-1", "--no-check"]),
            ("zstd", &["-cq", "-T2", "-19", &size]),
            ("zstd", &["-cq", "--fast=3", "--long=25"]),
            ("pzstd", &["-cq", "-p2"]),
        ] {
            let Some(file) = through(program, arguments, &data) else { continue };
            assert!(is_zstd(&file));
            let back = decode_all(&file);
            assert!(back == data, "{program} {arguments:?}: {} bytes of {}", back.len(), data.len());
            let twice = [&file[..], &compress(&data, 50_000), &file].concat();
            assert!(decode_all(&twice) == data.repeat(3), "{program} {arguments:?}");
        }
    }
}

#[test]
fn frames_of_pzstd_are_given_out_whole_and_a_stream_is_not() {
    let whole = |file: &[u8]| {
        let (mut scanner, mut data, mut rest, mut frames) =
            (Scanner::new(&Decoding::default()), Vec::new(), file, 0);
        while let Some(found) = scanner.next(&mut rest, &mut data).unwrap() {
            frames += usize::from(matches!(found, Scanned::Whole(_)));
        }
        frames
    };
    let data = prose(300_000);
    assert_eq!(whole(&compress(&data, 100_000)), 3);
    assert_eq!(whole(&compress_to_frames(&data, 100_000)), 3);
    if let Some(file) = through("pzstd", &["-cq", "-p2"], &data) {
        assert!(whole(&file) > 0);
    }
    if let Some(file) = through("zstd", &["-cq"], &data) {
        assert_eq!(whole(&file), 0, "it does not say how large it is");
    }
}

#[test]
fn skippable_frames_are_skipped_wherever_they_are() {
    let skippable = |kind: u8, len: usize| {
        [&[0x50 | kind, 0x2a, 0x4d, 0x18][..], &(len as u32).to_le_bytes(), &vec![b's'; len]].concat()
    };
    let file = compress(b"water", 100);
    let parts = [skippable(0, 0), file.clone(), skippable(15, 1000), skippable(0, 4), file, skippable(3, 1)];
    let whole = parts.concat();
    assert!(is_zstd(&whole));
    for len in 1..20 {
        let (out, error) = decode_pushed(Scanner::new(&Decoding::default()), &whole, || len);
        assert_eq!((&out[..], error), (&b"waterwater"[..], None));
    }
    assert_eq!(decode_all(&skippable(7, 9)), b"");
    assert_eq!(Survey::of(&mut Cursor::new(&whole)).unwrap().unwrap().uncompressed, Some(10));
}

#[test]
fn dictionaries_serve_both_ways_and_a_missing_or_wrong_one_is_named() {
    let data = prose(3000);
    let raw = Dictionary::new(&prose(20_000)[..10_000]).unwrap();
    assert_eq!(raw.id(), 0);
    let encoding = Encoding { dictionary: Some(raw.clone()), ..Encoding::default() };
    let decoding = Decoding { dictionary: Some(raw), ..Decoding::default() };
    for frame in [100, 10_000] {
        let file = compress_as(&data, 3, &encoding, frame);
        assert_eq!(decode(&file, &decoding), (data.clone(), None));
        // The same, streamed.
        let streamed = Decoding { max_whole: 0, ..decoding.clone() };
        assert_eq!(decode_pushed(Scanner::new(&streamed), &file, || 7), (data.clone(), None));
    }
    assert!(Dictionary::new(b"\x37\xa4\x30\xec\x01\0\0\0 nothing").is_err());

    let folder = tempfile();
    let samples: Vec<String> = (0..200)
        .map(|n| {
            let path = folder.join(n.to_string());
            std::fs::write(&path, prose(1000 + n)).unwrap();
            path.display().to_string()
        })
        .collect();
    let name = folder.join("dictionary").display().to_string();
    let mut arguments = vec!["-q", "--train", "--maxdict=10000", "-o", &name];
    arguments.extend(samples.iter().map(String::as_str));
    if through("zstd", &arguments, b"").is_some() {
        let trained = Dictionary::new(&std::fs::read(&name).unwrap()).unwrap();
        let id = trained.id();
        assert!(id > 0);
        let theirs = through("zstd", &["-qc", "-D", &name], &data).unwrap();
        let encoding = Encoding { dictionary: Some(trained.clone()), ..Encoding::default() };
        let ours = compress_as(&data, 3, &encoding, 1000);
        assert!(through("zstd", &["-dqc", "-D", &name], &ours).unwrap() == data);
        let decoding = Decoding { dictionary: Some(trained), ..Decoding::default() };
        for file in [&ours, &theirs] {
            assert_eq!(decode(file, &decoding), (data.clone(), None));
            assert_eq!(fault(file), Fault::Dictionary { needed: id, given: None });
            let wrong =
                Decoding { dictionary: Some(Dictionary::new(b"raw").unwrap()), ..Decoding::default() };
            let found = decode(file, &wrong).1.unwrap();
            assert_eq!(found.fault, Fault::Dictionary { needed: id, given: Some(0) });
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// Creates a folder for this process.
fn tempfile() -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("abz-codec-zstd-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn a_large_window_is_refused_unless_it_is_allowed() {
    // A frame without a size, a window of 2^28 bytes, and an empty last block.
    let file = b"\x28\xb5\x2f\xfd\x00\x90\x01\0\0";
    let (header, _) = FrameHeader::parse(file).unwrap().unwrap();
    assert_eq!((header.window, header.contents), (1 << 28, None));
    assert_eq!(fault(file), Fault::Window { needed: 1 << 28, limit: 128 << 20 });
    let decoding = Decoding { max_window: 1 << 28, ..Decoding::default() };
    assert_eq!(decode(file, &decoding), (vec![], None));
    // A frame with this window whose header states a size of one byte needs no window.
    let file = b"\x28\xb5\x2f\xfd\x80\x90\x01\0\0\0\x09\0\0a";
    let (header, _) = FrameHeader::parse(file).unwrap().unwrap();
    assert_eq!((header.window, header.contents), (1 << 28, Some(1)));
    assert_eq!(decode(file, &Decoding::default()), (b"a".to_vec(), None));
    if let Some(theirs) = through("zstd", &["-dc"], file) {
        assert_eq!(theirs, b"a");
    }
}

#[test]
fn a_file_cut_anywhere_gives_the_data_before_and_says_what_is_missing() {
    let data = prose(5000);
    let whole = compress_to_frames(&data, 2000);
    let table = SeekTable::read(&mut Cursor::new(&whole)).unwrap().unwrap();
    let ends: Vec<usize> = table
        .entries()
        .iter()
        .scan(0, |end, entry| {
            *end += entry.compressed as usize;
            Some(*end)
        })
        .collect();
    for streamed in [false, true] {
        let decoding = Decoding { max_whole: if streamed { 0 } else { 1 << 20 }, ..Decoding::default() };
        for len in 0..whole.len() {
            let (out, error) = decode_pushed(Scanner::new(&decoding), &whole[..len], || 100);
            assert!(data.starts_with(&out), "{len}");
            let frames = ends.iter().filter(|&&end| end <= len).count();
            assert!(out.len() >= (2000 * frames).min(5000));
            match error {
                None => assert!(ends.contains(&len), "{len}"),
                Some(error) => {
                    assert!(matches!(error.fault, Fault::Truncated { .. }), "{len}: {error}");
                    assert_eq!(error.offset, len as u64);
                }
            }
        }
    }
    assert_eq!(fault(b""), Fault::Truncated { inside: Part::Header });
    assert_eq!(fault(&whole[..ends[0] - 1]), Fault::Truncated { inside: Part::Checksum });
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let data = Noise::new(1).bytes(5000);
    let file = compress(&data, 6000);
    let error = |file: &[u8], decoding: &Decoding| decode(file, decoding).1.unwrap();
    for max_whole in [0, 1 << 20] {
        let decoding = Decoding { max_whole, ..Decoding::default() };
        let mut other = file.clone();
        *other.last_mut().unwrap() ^= 1;
        let found = error(&other, &decoding);
        assert_eq!(found.offset, file.len() as u64 - 4);
        assert!(matches!(found.fault, Fault::Checksum { .. }), "{found}");
        // Noise is stored, so its bytes may be anything; only the checksum detects the change.
        let mut other = file.clone();
        other[1000] ^= 1;
        assert!(matches!(error(&other, &decoding).fault, Fault::Checksum { .. }));
        // A block of the reserved kind, behind a header of 7 bytes.
        let mut other = file.clone();
        other[7] |= 6;
        let found = error(&other, &decoding);
        assert!(matches!(found.fault, Fault::Header { .. }) && found.offset == 7, "{found}");
        let behind = error(&[&file[..], b"garbage"].concat(), &decoding);
        assert_eq!((behind.fault, behind.offset), (Fault::TrailingGarbage, file.len() as u64));
        // An undamaged frame before it is not lost.
        let (out, found) = decode(&[&file[..], &other].concat(), &decoding);
        assert!(out == data && matches!(found.unwrap().place, Place::Frame { number: 2, .. }));
    }
    assert_eq!(fault(b"PK"), Fault::Magic { found: b"PK".to_vec() });
    assert_eq!(fault(b"\x1f\x8b\x08\0\0"), Fault::Magic { found: b"\x1f\x8b\x08\0".to_vec() });
}

fn corpus() -> Vec<Vec<u8>> {
    let unchecked = Encoding { checksum: false, ..Encoding::default() };
    let mut files = vec![
        compress(&prose(1500), 400),
        compress_as(&prose(1500), 19, &unchecked, 1500),
        compress_as(&prose(1500), 19, &unchecked, 1501),
        compress(&[Noise::new(2).bytes(300), vec![7; 3000]].concat(), 1000),
        compress(&vec![0; 300_000], 150_000),
        compress_to_frames(&prose(1500), 400),
    ];
    files.extend(through("zstd", &["-cq"], &prose(2000)));
    files.extend(through("pzstd", &["-cq"], &prose(2000)));
    files
}

fn mutate(noise: &mut Noise, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut file = corpus[noise.below(corpus.len())].clone();
    for _ in 0..1 + noise.below(3) {
        let at = noise.below(file.len().max(1));
        match noise.below(6) {
            _ if file.is_empty() => {}
            0..=2 => file[at] ^= 1 << noise.below(8),
            3 => file[at] = noise.next() as u8,
            4 => file.truncate(at),
            _ => {
                let other = &corpus[noise.below(corpus.len())];
                let from = noise.below(other.len());
                file.splice(at..at, other[from..].iter().copied());
            }
        }
    }
    file
}

#[test]
fn changed_files_give_an_error_or_what_libzstd_gives() {
    let time = std::env::var("ABZ_FUZZ_SECONDS").map_or(1, |seconds| seconds.parse().unwrap());
    let (corpus, start, mut seed) = (corpus(), Instant::now(), 0);
    while start.elapsed() < Duration::from_secs(time) {
        let mut noise = Noise::new(seed);
        let file = mutate(&mut noise, &corpus);
        let (out, error) = decode(&file, &Decoding::default());
        let most = [1, 10, 100, 1000][noise.below(4)];
        let pushed = decode_pushed(Scanner::new(&Decoding::default()), &file, || 1 + noise.below(most));
        assert!(pushed == (out.clone(), error.clone()), "seed {seed}: {:?}, {error:?}", pushed.1);
        // A frame that is decoded as a whole needs no window, so the size of its window does not matter. Its contents
        // are small, and other frames take little memory, too.
        let with_window = |log| {
            let max_window = 1u64 << log;
            let streamed = decode(&file, &Decoding { max_whole: 0, max_window, ..Decoding::default() });
            (streamed, oracle(&file, log))
        };
        let (streamed, (theirs, is_right)) = match with_window(27) {
            ((_, Some(DecodeError { fault: Fault::Window { .. }, .. })), _) if error.is_none() => {
                with_window(31)
            }
            found => found,
        };
        // Marks detect more damage than libzstd, which only has the frame's checksum, if there is one.
        let has_marks =
            file.windows(7).any(|bytes| bytes == b"\x02\0\0\x01\x02\0\0" || bytes == b"\x02\0\0\x02\x02\0\0");
        let is_of_marks = has_marks && error.is_some();
        // If a frame has two faults, the decoders may report different ones.
        assert!(
            is_of_marks || streamed.1.is_some() == error.is_some(),
            "seed {seed}: {error:?}, {:?}",
            streamed.1
        );
        let agrees = |other: &[u8]| other.starts_with(&out) || is_of_marks && out.starts_with(other);
        assert!(agrees(&streamed.0), "seed {seed}");
        match &error {
            None => assert!(is_right && out == theirs, "seed {seed}"),
            Some(error) => {
                assert!((!is_right || is_of_marks) && agrees(&theirs), "seed {seed}: {error}");
                assert!(
                    error.place.start() <= Some(error.offset) && error.offset <= file.len() as u64,
                    "seed {seed}"
                );
            }
        }
        if let Ok(Some(survey)) = Survey::of(&mut Cursor::new(&file))
            && error.is_none()
        {
            assert!(survey.uncompressed.is_none_or(|len| len == out.len() as u64), "seed {seed}");
        }
        let _ = SeekTable::read(&mut Cursor::new(&file));
        seed += 1;
    }
    println!("{seed} files changed and decoded");
}
