//! `--recover`: the undamaged parts of a damaged file are written, nothing else is, and each gap is reported.

use std::ops::Range;

use crate::support::{Folder, Random, damaged, have, noise, program, prose, rounds};
use abz::bzip2;
use abz::gzip::Layout;
use serde_json::Value;

/// A file of known parts.
struct Parts {
    suffix: &'static str,
    file: Vec<u8>,
    /// The range of each part in bits, and its contents.
    parts: Vec<(Range<u64>, Vec<u8>)>,
    /// The file records the size of missing contents, if no parts have moved.
    tells_sizes: bool,
    /// The file records these sizes in two places.
    has_index: bool,
}

/// Blocks of about `size` bytes of text, of noise and of mostly one byte, in turn.
fn blocks(count: usize, size: usize) -> Vec<Vec<u8>> {
    let block = |number: usize| match number % 3 {
        0 => prose(size - number),
        1 => noise(size - number, number as u64),
        _ => [noise(50, number as u64), vec![number as u8; size - number - 50]].concat(),
    };
    (0..count).map(block).collect()
}

fn joined(suffix: &'static str, members: Vec<(Vec<u8>, Vec<u8>)>, tells_sizes: bool) -> Parts {
    let (mut file, mut parts) = (Vec::new(), Vec::new());
    for (member, data) in members {
        let start = 8 * file.len() as u64;
        file.extend(member);
        parts.push((start..8 * file.len() as u64, data));
    }
    Parts { suffix, file, parts, tells_sizes, has_index: false }
}

fn lzip() -> Parts {
    let compression = |data: &[u8]| {
        let mut member = Vec::new();
        let lzip = abz::Compression { format: abz::Format::Lzip, level: 0, ..Default::default() };
        abz::compress(data, &mut member, &lzip).unwrap();
        member
    };
    joined("lz", blocks(9, 3000).into_iter().map(|data| (compression(&data), data)).collect(), true)
}

fn plain_gzip() -> Parts {
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;
    let member = |data: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::new(6));
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    };
    joined("gz", blocks(9, 3000).into_iter().map(|data| (member(&data), data)).collect(), false)
}

fn cut_by_extents(file: Vec<u8>) -> Parts {
    let mut parts = Vec::new();
    let mut at = 0;
    while at < file.len() {
        let (header, _) = abz::gzip::Header::parse(&file[at..]).unwrap().unwrap();
        let end = at + header.extent().unwrap().compressed as usize;
        let mut data = Vec::new();
        abz::decompress(&file[at..end], &mut data, &abz::Decompression::default()).ok();
        parts.push((8 * at as u64..8 * end as u64, data));
        at = end;
    }
    // Decoding a single member fails if its header says that another one follows, hence `ok`.
    Parts { suffix: "gz", file, parts, tells_sizes: true, has_index: false }
}

/// Returns a file of one member with marks.
fn marked_gzip(rsyncable: bool) -> Parts {
    let data = blocks(12, 4096).concat();
    let mut file = Vec::new();
    let compression = abz::Compression { block_size: Some(4096), rsyncable, ..Default::default() };
    abz::compress(&data[..], &mut file, &compression).unwrap();
    let index = abz::gzip::Index::of_marks(&mut std::io::Cursor::new(&file)).unwrap().unwrap();
    let part = |entry: &abz::gzip::Entry| {
        let contents = &data[entry.start as usize..][..entry.uncompressed as usize];
        (8 * entry.offset..8 * (entry.offset + u64::from(entry.compressed)), contents.to_vec())
    };
    let parts = index.entries().iter().map(part).collect();
    Parts { suffix: "gz", file, parts, tells_sizes: !rsyncable, has_index: true }
}

fn own_gzip(layout: Layout) -> Parts {
    let bgzf = layout == Layout::Bgzf;
    let size = if bgzf { 70_000 } else { 4096 };
    let data = blocks(if bgzf { 4 } else { 12 }, size).concat();
    let mut file = Vec::new();
    let block_size = (!bgzf).then_some(4096);
    abz::compress(&data[..], &mut file, &abz::Compression { layout, block_size, ..Default::default() })
        .unwrap();
    let mut parts = Parts { has_index: !bgzf, ..cut_by_extents(file) };
    let mut rest = &data[..];
    for (bits, contents) in &mut parts.parts {
        let trailer = &parts.file[bits.end as usize / 8 - 4..bits.end as usize / 8];
        let (taken, left) = rest.split_at(u32::from_le_bytes(trailer.try_into().unwrap()) as usize);
        *contents = taken.to_vec();
        rest = left;
    }
    assert!(rest.is_empty());
    parts
}

/// Two streams, whose blocks begin at any bit.
fn bzip2() -> Parts {
    let (mut file, mut contents) = (Vec::new(), Vec::new());
    let level = bzip2::Level::new(1).unwrap();
    for data in [blocks(5, 60_000).concat(), blocks(2, 100_000).concat()] {
        let (mut cutter, mut input) = (bzip2::Cutter::new(level), &data[..]);
        let mut encoder = bzip2::Encoder::new();
        let mut stream = bzip2::StreamWriter::new(Vec::new(), level);
        while let Some(packed) = cutter.next(&mut input).unwrap().or_else(|| cutter.rest()) {
            let block = encoder.encode_into(&packed, Vec::new()).unwrap();
            stream.write(&block).unwrap();
            let mut alone = bzip2::StreamWriter::new(Vec::new(), level);
            alone.write(&block).unwrap();
            let mut data = Vec::new();
            bzip2::decode(&alone.finish().unwrap()[..], &mut data).unwrap();
            contents.push(data);
        }
        file.extend(stream.finish().unwrap());
    }
    let magic_at = |bit: u64| {
        let bytes = file[bit as usize / 8..].iter().take(7);
        let word = bytes.fold(0, |word: u64, &byte| word << 8 | u64::from(byte));
        word >> (8 - bit % 8) & 0xffff_ffff_ffff
    };
    let bits = 0..8 * (file.len() as u64 - 7);
    let borders: Vec<u64> =
        bits.filter(|&bit| matches!(magic_at(bit), 0x3141_5926_5359 | 0x1772_4538_5090)).collect();
    let blocks = borders.windows(2).filter(|pair| magic_at(pair[0]) == 0x3141_5926_5359);
    let parts: Vec<_> = blocks.map(|pair| pair[0]..pair[1]).zip(contents.iter().cloned()).collect();
    assert_eq!(parts.len(), contents.len());
    Parts { suffix: "bz2", file, parts, tells_sizes: false, has_index: false }
}

fn is_touched(part: &Range<u64>, damage: &Range<u64>) -> bool {
    let bytes = part.start / 8..part.end.div_ceil(8);
    match damage.is_empty() {
        true => bytes.start < damage.start && damage.start < bytes.end,
        false => bytes.start < damage.end && damage.start < bytes.end,
    }
}

fn recovered(folder: &Folder, options: &[&str], name: &str) -> (Vec<u8>, Value, Option<i32>) {
    let plain = name.rsplit_once('.').unwrap().0;
    let ran = folder.abz(&[&["--recover", "--json", "-f"], options, &[name]].concat());
    assert!(!ran.stderr().contains("panicked"), "{}", ran.stderr());
    let (status, stderr) = (ran.status(), ran.stderr());
    let told: Value = serde_json::from_slice(&ran.stdout()).unwrap_or_else(|_| panic!("{stderr}"));
    let output = if told[0]["output"].is_null() { Vec::new() } else { folder.read(plain) };
    (output, told[0].clone(), status)
}

fn random_damage_costs_the_parts_that_it_touches(parts: &Parts) {
    let folder = Folder::new();
    let name = format!("x.{}", parts.suffix);
    let all: Vec<u8> = parts.parts.iter().flat_map(|(_, data)| data.clone()).collect();
    for seed in 0..rounds(60) {
        let mut random = Random(seed);
        let (damage, bytes, is_in_place) = damaged(&parts.file, &mut random);
        folder.write(&name, &bytes);
        let workers = ["-p1", "-p2", "-p4"][random.below(3) as usize];
        let (output, told, status) = recovered(&folder, &[workers], &name);
        let case = format!("{name}, seed {seed}, damage {damage:?}: {told:#}");

        // Untouched parts are in the output, in order. Touched parts may be, if the damage was harmless.
        let mut rest = &output[..];
        for (bits, data) in &parts.parts {
            match rest.strip_prefix(&data[..]) {
                Some(behind) => rest = behind,
                None => assert!(is_touched(bits, &damage), "{bits:?} is missing: {case}"),
            }
        }
        assert!(rest.is_empty(), "{} bytes too many: {case}", rest.len());
        let changed = bytes != parts.file;
        assert!(output == all || changed, "{case}");
        assert_eq!(status, Some(if told["gap_count"] == 0 { 0 } else { 1 }), "{case}");
        // A file truncated at the end of a member is a complete file.
        let is_right = output == all || status == Some(0) && folder.abz(&["-t", &name]).status() == Some(0);
        assert!(is_right || status == Some(1), "{case}");
        assert!(folder.read(&name) == bytes, "the damaged file was touched");

        // The gap lies at the damage.
        let gaps = told["gaps"].as_array().unwrap();
        let is_near = |gap: &Value| gap["end_byte"].as_u64().unwrap() + 16 >= damage.start;
        assert!(is_right || gaps.iter().any(is_near), "{case}");
        for gap in gaps {
            let (start, end) = (gap["start_byte"].as_u64().unwrap(), gap["end_byte"].as_u64().unwrap());
            let touched = parts.parts.iter().map(|(bits, _)| bits.start / 8..bits.end.div_ceil(8));
            let touched = touched.filter(|bytes| bytes.end >= damage.start && bytes.start <= damage.end);
            let least = touched.clone().map(|bytes| bytes.start).min().unwrap_or(damage.start);
            // The end of a stream and the header of the next one may lie there too.
            let most = bytes.len() as u64 - parts.file.len().saturating_sub(damage.end as usize) as u64;
            assert!(start + 16 >= least.min(damage.start) && start <= most.max(damage.start) + 16, "{case}");
            assert!(start <= end && end <= bytes.len() as u64, "{case}");
        }

        // A damaged size is not noticed if it is recorded only once.
        let size = |bits: &Range<u64>| bits.end / 8 - if parts.suffix == "lz" { 16 } else { 4 }..bits.end / 8;
        let hits_size = parts
            .parts
            .iter()
            .any(|(bits, _)| size(bits).start < damage.end && damage.start < size(bits).end);
        if parts.tells_sizes && is_in_place && (parts.has_index || !hits_size) {
            let (sparse, told, _) = recovered(&folder, &["--recover=sparse", workers], &name);
            let are_known =
                told["gaps"].as_array().unwrap().iter().all(|gap| !gap["missing_bytes"].is_null());
            if are_known && told["output"].is_string() {
                let differences = sparse.iter().zip(&all).filter(|(found, right)| found != right);
                assert!(sparse.len() == all.len(), "{case} and then {told:#}");
                assert!(differences.into_iter().all(|(found, _)| *found == 0), "{case}");
            }
        }
    }
}

#[test]
fn members_of_lzip_are_recovered() {
    random_damage_costs_the_parts_that_it_touches(&lzip());
}

#[test]
fn members_of_gzip_are_recovered() {
    random_damage_costs_the_parts_that_it_touches(&plain_gzip());
}

#[test]
fn own_members_of_gzip_are_recovered() {
    random_damage_costs_the_parts_that_it_touches(&own_gzip(Layout::Members));
}

#[test]
fn blocks_of_one_member_of_gzip_are_recovered() {
    random_damage_costs_the_parts_that_it_touches(&marked_gzip(false));
}

#[test]
fn blocks_of_one_member_that_are_cut_by_contents_are_recovered() {
    random_damage_costs_the_parts_that_it_touches(&marked_gzip(true));
}

#[test]
fn blocks_of_bgzf_are_recovered() {
    random_damage_costs_the_parts_that_it_touches(&own_gzip(Layout::Bgzf));
}

#[test]
fn blocks_of_bzip2_are_recovered() {
    random_damage_costs_the_parts_that_it_touches(&bzip2());
}

#[test]
fn each_gap_is_told_in_a_line_with_its_places() {
    let folder = Folder::new();
    let Parts { mut file, parts, .. } = lzip();
    let (lost, data) = &parts[4];
    let bytes = lost.start / 8..lost.end / 8;
    file[bytes.end as usize - 17] ^= 1;
    folder.write("x.lz", &file);
    let at: usize = parts[..4].iter().map(|(_, data)| data.len()).sum();
    let told = |end: &str| {
        let all: usize = parts.iter().map(|(_, data)| data.len()).sum();
        let (first, last, len) = (bytes.start, bytes.end - 1, bytes.end - bytes.start);
        let (missing, kept) = (data.len(), all - data.len());
        [
            format!("abz: x.lz: bytes {first} to {last} ({len} bytes): expected contents with the CRC-32 "),
            format!("; {missing} bytes are missing at byte {at} of the output{end}\n"),
            format!(
                "abz: x.lz: 8 parts of {kept} bytes recovered, 1 gap of {len} bytes; x is NOT complete\n"
            ),
        ]
    };
    for (option, end) in [("--recover", ""), ("--recover=sparse", ", and replaced by zeros")] {
        let stderr = folder.abz(&[option, "-f", "x.lz"]).exits(1).stderr();
        let [start, middle, last] = told(end);
        assert!(
            stderr.starts_with(&start) && stderr.contains(&middle) && stderr.ends_with(&last),
            "{stderr}"
        );
        assert_eq!(stderr.lines().count(), 2);
    }
    let mut expected: Vec<u8> = parts.iter().flat_map(|(_, data)| data.clone()).collect();
    expected[at..at + data.len()].fill(0);
    assert!(folder.read("x") == expected);
}

#[test]
fn the_damaged_file_and_what_exists_stay_as_they_are() {
    let folder = Folder::new();
    let mut parts = plain_gzip();
    folder.write("right.gz", &parts.file);
    folder.abz(&["--recover", "right.gz"]).exits(0).says("");
    assert!(
        folder.read("right") == parts.parts.iter().flat_map(|(_, data)| data.clone()).collect::<Vec<_>>()
    );

    parts.file[100] ^= 1;
    folder.write("x.gz", &parts.file);
    folder.write("x", b"mine");
    folder.abz(&["--recover", "x.gz"]).exits(2);
    assert_eq!(folder.read("x"), b"mine");
    let out = folder.abz(&["--recover", "-c", "x.gz"]).exits(1).stdout();
    folder.abz(&["--recover", "-o", "y", "x.gz"]).exits(1);
    assert!(folder.read("y") == out && out == folder.read("right")[parts.parts[0].1.len()..]);
    let ran = folder.abz(&["--recover", "-c", "--json", "x.gz"]).exits(1);
    let told: Value = serde_json::from_str(&ran.stderr()).unwrap();
    assert!(told[0]["parts"] == 8 && ran.stdout() == out);
    assert_eq!(folder.names(), ["right", "right.gz", "x", "x.gz", "y"]);
}

#[test]
fn of_a_file_in_which_nothing_is_whole_no_output_is_made() {
    let folder = Folder::new();
    for suffix in ["gz", "bz2", "lz"] {
        let name = format!("x.{suffix}");
        for bytes in [&b""[..], b"x", &noise(100_000, 3), b"LZIP\x01\x0c", b"BZh9", b"\x1f\x8b\x08\0"] {
            folder.write(&name, bytes);
            let told = folder.abz(&["--recover", &name]).exits(1).stderr();
            assert!(told.contains("no part of it is undamaged"), "{name}: {told}");
            assert_eq!(folder.names(), [name.as_str()]);
        }
        std::fs::remove_file(folder.path(&name)).unwrap();
    }
    folder.write("x.foo", &noise(1000, 1));
    folder.abz(&["--recover", "x.foo"]).exits(1);
    folder
        .abz(&["--recover", "-c", "x.foo"])
        .exits(1)
        .says("abz: x.foo: neither its start nor its name shows its format: use -F");
    folder.abz_fed(&["--recover"], b"\x1f\x8b").exits(1);
    folder.abz(&["--json", "x.foo"]).exits(1);
}

/// Incompressible data is stored unchanged, and it may be a compressed file.
#[test]
fn files_inside_of_a_damaged_part_are_not_taken_for_parts() {
    for inner in [Layout::Members, Layout::OneMember] {
        for outer in [Layout::Members, Layout::OneMember] {
            files_inside_are_not_taken_for_parts(inner, outer);
        }
    }
}

fn files_inside_are_not_taken_for_parts(inner: Layout, outer: Layout) {
    let folder = Folder::new();
    let compress = |layout, block_size, level, data: &[u8]| {
        let mut file = Vec::new();
        let block_size = Some(block_size);
        let compression = abz::Compression { block_size, layout, level, ..Default::default() };
        abz::compress(data, &mut file, &compression).unwrap();
        file
    };
    // Marks are compressible. With more of them, nothing would be stored.
    let stored = compress(inner, 32 << 10, 6, &noise(150_000, 3));
    let data = [noise(3000, 1), stored.clone(), noise(60_000, 2)].concat();
    let file = compress(outer, 64 << 10, 1, &data);
    let at = file.windows(1000).filter(|bytes| *bytes == &stored[stored.len() / 4..][..1000]).count();
    assert!(at > 0, "nothing is stored as it is");
    let borders = match outer {
        Layout::OneMember => {
            let index = abz::gzip::Index::of_marks(&mut std::io::Cursor::new(&file)).unwrap().unwrap();
            let bits = |entry: &abz::gzip::Entry| {
                (8 * entry.offset..8 * (entry.offset + u64::from(entry.compressed)), Vec::new())
            };
            index.entries().iter().map(bits).collect()
        }
        _ => cut_by_extents(file.clone()).parts,
    };
    // Damages the data of each part, and its header.
    for (bits, _) in &borders {
        for at in [20, 2, 0, (bits.end - bits.start) / 16] {
            let mut damaged = file.clone();
            damaged[(bits.start / 8 + at) as usize] ^= 0x41;
            folder.write("x.gz", &damaged);
            let (output, told, _) = recovered(&folder, &["--recover=sparse"], "x.gz");
            let same = output.iter().zip(&data).all(|(found, right)| found == right || *found == 0);
            assert!(output.len() == data.len() && same, "byte {at} of {bits:?}: {told:#}");
        }
    }
}

/// Files with many places that look like starts, each of which takes long to refuse.
#[test]
fn files_made_to_waste_time_take_little() {
    let folder = Folder::new();
    // Each header is followed by a stored block that contains the next header, so that a try runs to the end.
    let stored = |len: u16| [&b"\x00"[..], &len.to_le_bytes(), &(!len).to_le_bytes()].concat();
    let one = [b"\x1f\x8b\x08\0\0\0\0\0\0\x03".to_vec(), stored(10)].concat();
    folder.write("x.gz", &one.repeat(400_000));
    folder.abz(&["--recover", "x.gz"]).exits(1);
    folder.write("x.lz", &[&b"LZIP\x01\x1d\0"[..], &[0; 13]].concat().repeat(100_000));
    folder.abz(&["--recover", "x.lz"]).exits(1);
    let block = [&b"\x31\x41\x59\x26\x53\x59\0\0\0\0\0\0\0\0"[..], &[0xff; 20]].concat();
    folder.write("x.bz2", &block.repeat(50_000));
    folder.abz(&["--recover", "x.bz2"]).exits(1);
}

#[test]
fn blocks_are_those_of_bzip2recover() {
    if !have("bzip2recover") || !have("bzip2") {
        return;
    }
    let folder = Folder::new();
    let Parts { mut file, parts, .. } = bzip2();
    file[(parts[2].0.start / 8) as usize + 5000] ^= 4;
    folder.write("x.bz2", &file);
    let (output, _, _) = recovered(&folder, &[], "x.bz2");
    let mut command = program("bzip2recover");
    command.current_dir(folder.path("")).arg("x.bz2").output().unwrap();
    let mut theirs = Vec::new();
    for name in folder.names().iter().filter(|name| name.starts_with("rec")) {
        let decoded = program("bzip2").arg("-dc").arg(folder.path(name)).output().unwrap();
        if decoded.status.success() {
            theirs.extend(decoded.stdout);
        }
    }
    assert!(!theirs.is_empty() && output == theirs);
}
