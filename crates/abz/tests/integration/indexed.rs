//! Files of one large member decoded by their index, and indices made while decoding. Output and messages are the same
//! as without an index.

use std::fs;
use std::io::Cursor;

use abz::program::{RunOptions, decompress_indexed, decompress_indexing};
use abz::{Decompression, Index};
use abz_codec::access::Part;
use abz_codec::gzip::{PartDecoder, Refusal, find_parts};
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder};

use crate::support::{Folder, Random, damaged, files, noise, prose, rounds};

const SPACING: u64 = 64 << 10;

/// One member like those of gzip.
fn member(data: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(6));
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// 1,000,123 bytes of text and of incompressible data.
fn mixed() -> Vec<u8> {
    [prose(400_000), noise(200_000, 7), prose(400_123)].concat()
}

/// Returns several large members with small ones between them, and their contents.
fn members() -> (Vec<u8>, Vec<u8>) {
    let (mut file, mut contents) = (Vec::new(), Vec::new());
    for data in [&mixed()[..], b"", b"a few bytes", &prose(300_000), &noise(100_000, 3), b"and more"] {
        file.extend(member(data));
        contents.extend_from_slice(data);
    }
    (file, contents)
}

/// The parts of a file, with their checksums and windows.
fn parts_of(file: &[u8]) -> Vec<Part> {
    find_parts(file, SPACING).unwrap().parts
}

/// An index with these parts that fits the file.
fn index_of(file: &[u8], parts: Vec<Part>) -> Index {
    let contents = parts.last().map_or(0, |last| last.contents.end);
    Index::new(&mut Cursor::new(file), parts, contents, contents).unwrap()
}

/// Decodes a file by an index. Returns whether the index was right, or the error, and the output.
fn by_index(file: &[u8], index: &Index) -> (Result<Option<bool>, String>, Vec<u8>) {
    let mut out = Vec::new();
    let decompression = Decompression { workers: 3, ..Decompression::default() };
    let done = decompress_indexed(&file, index, &mut out, &decompression, RunOptions::default());
    let done = done.map(|done| {
        done.map(|(done, is_right)| {
            assert_eq!((done.read, done.written), (file.len() as u64, out.len() as u64));
            is_right
        })
    });
    (done.map_err(|error| error.to_string()), out)
}

#[test]
fn an_index_made_on_the_way_is_that_made_alone_and_the_data_is_all_of_it() {
    let data = mixed();
    let (several, contents) = members();
    let more = [("one member", member(&data), &data), ("several members", several, &contents)];
    let files = files(&data).into_iter().map(|(what, file)| (what, file, &data));
    for (what, file, data) in files.chain(more) {
        let folder = Folder::new();
        folder.write("f.gz", &file);
        for processes in ["-p1", "-p3"] {
            let how = ["-q", "--index", "--index-every", "64K", processes];
            folder.abz(&[&how[..], &["-o", "alone", "f.gz"]].concat()).exits(0).says("");
            let ran = folder.abz(&[&how[..], &["-d", "f.gz"]].concat()).exits(0).says("");
            assert!(ran.stdout().is_empty() && &folder.read("f") == data, "{what}");
            assert_eq!(folder.names(), ["alone", "f", "f.gz", "f.gz.abzi"]);
            assert!(folder.read("alone") == folder.read("f.gz.abzi"), "{what}");
            // A second run uses the existing index, or makes a new one with -f.
            assert!(&folder.abz(&[&how[..], &["-dc", "f.gz"]].concat()).exits(0).says("").stdout() == data);
            let told = folder.abz(&[&["-v"], &how[1..], &["-dcf", "f.gz"]].concat()).exits(0).stderr();
            assert!(told.contains("-- created f.gz.abzi"), "{what}: {told}");
            for name in ["alone", "f", "f.gz.abzi"] {
                fs::remove_file(folder.path(name)).unwrap();
            }
        }
    }
}

#[test]
fn a_large_member_is_decoded_by_all_threads_once_it_has_an_index() {
    let (file, contents) = members();
    let folder = Folder::new();
    folder.write("f.gz", &file);
    folder.abz(&["-t", "--index-file", "none", "f.gz"]).exits(1);
    folder.abz(&["--index", "--index-every", "64K", "f.gz"]).exits(0);
    let is_used = |arguments: &[&str]| {
        let ran = folder.abz(&[&["--report=json"], arguments].concat()).exits(0);
        let (told, out) = (ran.stderr(), ran.stdout());
        assert!(out.is_empty() || out == contents);
        told.contains("read and decode")
    };
    assert!(is_used(&["-dc", "-p2", "f.gz"]) && is_used(&["-t", "-p3", "f.gz"]));
    assert!(is_used(&["-dc", "-p3", "--checksum", "f.gz"]));
    // The index is not used by one thread, or for a file that is read as a stream.
    assert!(!is_used(&["-t", "-p1", "f.gz"]) && !is_used(&["-t", "-p2", "--input-io", "stream", "f.gz"]));
    fs::rename(folder.path("f.gz.abzi"), folder.path("else")).unwrap();
    assert!(!is_used(&["-t", "-p2", "f.gz"]) && is_used(&["-t", "-p2", "--index-file", "else", "f.gz"]));
    // The output has its usual name.
    folder.abz(&["-d", "-p2", "--index-file", "else", "f.gz"]).exits(0).says("");
    assert_eq!(folder.names(), ["else", "f"]);
}

#[test]
fn an_index_that_lies_changes_nothing() {
    let (file, contents) = members();
    let right = parts_of(&file);
    let (done, out) = by_index(&file, &index_of(&file, right.clone()));
    assert!(done == Ok(Some(true)) && out == contents, "{done:?}");
    let mut lies: Vec<(&str, Vec<Part>)> = Vec::new();
    let mut lie = |what, change: &dyn Fn(&mut Vec<Part>)| {
        let mut parts = right.clone();
        change(&mut parts);
        lies.push((what, parts));
    };
    // Other preceding contents, with the checksum of the part as decoded with them.
    lie("another window", &|parts| {
        let mut window = DeflateEncoder::new(Vec::new(), Compression::new(1));
        std::io::Write::write_all(&mut window, &noise(32 << 10, 9)).unwrap();
        let window = window.finish().unwrap();
        let known = parts[2].known.as_mut().unwrap();
        known.window = window;
        let bytes = parts[2].bytes();
        let mut data = Vec::new();
        for crc32 in [0, 1] {
            parts[2].known.as_mut().unwrap().crc32 = crc32;
            let part = &file[bytes.start as usize..bytes.end as usize];
            assert_eq!(PartDecoder::new().decode_into(&parts[2], part, &mut data), Err(Refusal::Wrong));
        }
        let mut crc = flate2::Crc::new();
        crc.update(&data);
        parts[2].known.as_mut().unwrap().crc32 = crc.sum();
        let part = &file[bytes.start as usize..bytes.end as usize];
        assert!(PartDecoder::new().decode_into(&parts[2], part, &mut data).is_ok(), "it is a good lie");
    });
    lie("a part is left out", &|parts| drop(parts.remove(2)));
    lie("the first is left out", &|parts| drop(parts.remove(0)));
    lie("the last is left out", &|parts| drop(parts.pop()));
    lie("the last of a member is left out", &|parts| parts.truncate(3));
    lie("one is there twice", &|parts| parts.insert(2, parts[2].clone()));
    lie("two are in another order", &|parts| parts.swap(2, 3));
    lie("a bit more", &|parts| parts[2].bits.end += 1);
    lie("a bit later", &|parts| parts[2].bits.start += 1);
    lie("fewer contents", &|parts| parts[2].contents.end -= 1);
    lie("more contents", &|parts| parts[2].contents.end += 1);
    lie("another checksum", &|parts| parts[2].known.as_mut().unwrap().crc32 ^= 1);
    lie("a window that is none", &|parts| parts[2].known.as_mut().unwrap().window = vec![0xff; 50]);
    lie("no window", &|parts| parts[2].known.as_mut().unwrap().window.clear());
    for (what, parts) in lies {
        let (done, out) = by_index(&file, &index_of(&file, parts));
        assert!(done == Ok(Some(false)) && out == contents, "{what}: {done:?}");
    }
    // An index that claims a large part is not used, and takes no memory for it.
    let mut large = right.clone();
    large.last_mut().unwrap().contents.end += 17 << 20;
    assert_eq!(by_index(&file, &index_of(&file, large)), (Ok(None), Vec::new()));
    // Any change to an index with a corrected checksum does no harm either.
    let index = index_of(&file, right).to_bytes();
    let mut random = Random(21);
    for round in 0..rounds(60) {
        let mut bytes = index[..index.len() - 4].to_vec();
        let at = 48 + random.below(bytes.len() as u64 - 48) as usize;
        bytes[at] = random.next() as u8;
        let mut crc = flate2::Crc::new();
        crc.update(&bytes);
        bytes.extend(crc.sum().to_le_bytes());
        let Ok(index) = Index::parse(&bytes) else { continue };
        let (done, out) = by_index(&file, &index);
        assert!(done.is_ok() && (done == Ok(None) || out == contents), "round {round}, byte {at}: {done:?}");
    }
}

#[test]
fn damage_is_told_as_without_an_index() {
    let (file, _) = members();
    let parts = parts_of(&file);
    let mut random = Random(4);
    let decompression = Decompression { workers: 3, ..Decompression::default() };
    for round in 0..rounds(40) {
        let (_, file, _) = damaged(&file, &mut random);
        let size = 8 * file.len() as u64;
        let parts: Vec<_> = parts.iter().filter(|part| part.bits.end <= size).cloned().collect();
        if parts.is_empty() {
            continue;
        }
        let (done, out) = by_index(&file, &index_of(&file, parts));
        let mut right = Vec::new();
        let expected = abz::decompress(&file[..], &mut right, &decompression);
        match (done, expected) {
            (Ok(_), Ok(_)) => assert!(out == right, "round {round}"),
            (done, expected) => {
                assert_eq!(done.err(), expected.err().map(|error| error.to_string()), "round {round}")
            }
        }
        // The amount of output depends on the parts.
        assert!(out.starts_with(&right) || right.starts_with(&out), "round {round}");

        // The same holds for making an index.
        let mut out = Vec::new();
        let done = decompress_indexing(&file, SPACING, &mut out, &decompression, RunOptions::default());
        let expected = abz::decompress(&file[..], std::io::sink(), &decompression);
        assert!(out.starts_with(&right), "round {round}: {} of {} bytes", out.len(), right.len());
        match (done, expected) {
            (Ok((done, _)), Ok(expected)) => {
                assert!((done.written, done.garbage_at) == (expected.written, expected.garbage_at));
                assert!(out == right, "round {round}");
            }
            (done, expected) => {
                let error = done.err().map(|error| error.to_string());
                assert_eq!(error, expected.err().map(|error| error.to_string()), "round {round}");
            }
        }
    }
}

#[test]
fn what_was_decoded_before_damage_is_written_where_an_index_shall_be_made() {
    let data = prose(700_000);
    let right = member(&data);
    // A damaged trailer, a truncated file, and an invalid block after valid ones.
    let mut trailer = right.clone();
    *trailer.last_mut().unwrap() ^= 1;
    let cut = right[..right.len() - 9].to_vec();
    let mut deflate = DeflateEncoder::new(right[..10].to_vec(), Compression::new(6));
    std::io::Write::write_all(&mut deflate, &data).unwrap();
    std::io::Write::flush(&mut deflate).unwrap();
    let block = [deflate.get_ref(), &[7; 100][..]].concat();
    for (what, file, len) in
        [("trailer", trailer, data.len()), ("cut", cut, data.len() - 300), ("block", block, data.len())]
    {
        let folder = Folder::new();
        folder.write("f.gz", &file);
        let expected = folder.abz(&["-dc", "--speculate=always", "-p3", "f.gz"]).exits(1);
        let ran = folder.abz(&["-dc", "--index", "-p3", "f.gz"]).exits(1);
        assert_eq!(ran.stderr(), expected.stderr(), "{what}");
        let (out, expected) = (ran.stdout(), expected.stdout());
        assert!(out.len() >= len && data.starts_with(&out), "{what}: {} bytes", out.len());
        assert!(out.starts_with(&expected), "{what}");
        assert_eq!(folder.names(), ["f.gz"]);
    }
}

#[test]
fn what_is_behind_the_last_member_and_a_changed_file_are_told_of_as_ever() {
    let data = mixed();
    let folder = Folder::new();
    for (what, behind) in [("nothing", &b""[..]), ("padding", &[0; 700]), ("garbage", b"\0\0and more")] {
        let file = [&member(&data), behind].concat();
        folder.write("f.gz", &file);
        let [told, status] = match what {
            "garbage" => ["expected the end of the file", "2"],
            _ => ["", "0"],
        };
        let status = status.parse().unwrap();
        for arguments in [&["-dc", "--index", "--index-every", "64K"][..], &["-dc"], &["-t"]] {
            let ran = folder.abz(&[arguments, &["-p2", "f.gz"]].concat()).exits(status);
            assert!(ran.stderr().contains(told), "{what}: {}", ran.stderr());
            assert!(arguments == ["-t"] || ran.stdout() == data, "{what}");
        }
        // The index now belongs to another file. That is no error, and the index is not overwritten.
        folder.write("f.gz", &member(&data[..900_000]));
        assert!(folder.abz(&["-dc", "-p2", "f.gz"]).exits(0).says("").stdout() == data[..900_000]);
        let told = folder.abz(&["-dcv", "-p2", "f.gz"]).exits(0).stderr();
        assert!(told.contains("f.gz was changed since"), "{told}");
        let ran = folder.abz(&["-dc", "--index", "f.gz"]).exits(2);
        assert!(ran.stderr().contains("f.gz.abzi: already exists -- not overwritten"), "{}", ran.stderr());
        // It is an error if the index was named.
        let ran = folder.abz(&["-t", "--index-file", "f.gz.abzi", "f.gz"]).exits(2);
        assert!(ran.stderr().contains("was changed since"), "{}", ran.stderr());
        folder.abz(&["-d", "--index", "-f", "f.gz"]).exits(0).says("");
        assert_eq!(folder.names(), ["f", "f.gz", "f.gz.abzi"]);
        for name in ["f", "f.gz.abzi"] {
            fs::remove_file(folder.path(name)).unwrap();
        }
    }
    // The index does not check the damaged byte.
    let mut file = member(&data);
    folder.write("f.gz", &file);
    folder.abz(&["--index", "--index-every", "64K", "f.gz"]).exits(0);
    let at = (file.len() - 4096) * 10 / 31 + 4096 + 1000;
    file[at] ^= 0x10;
    folder.write("f.gz", &file);
    let with = folder.abz(&["-t", "-p2", "f.gz"]).exits(1).stderr();
    fs::remove_file(folder.path("f.gz.abzi")).unwrap();
    assert_eq!(folder.abz(&["-t", "-p2", "f.gz"]).exits(1).stderr(), with);
}

#[test]
fn an_index_that_lies_is_told_of_and_the_data_is_right() {
    let data = mixed();
    let file = member(&data);
    let folder = Folder::new();
    folder.write("f.gz", &file);
    let mut parts = parts_of(&file);
    parts.remove(3);
    folder.write("f.gz.abzi", &index_of(&file, parts).to_bytes());
    let ran = folder.abz(&["-dc", "-p2", "f.gz"]).exits(0);
    let told = "abz: f.gz: its index is wrong about where its parts are: it is not used: make a new one with abz --index -f";
    assert_eq!(ran.stderr().trim_end(), told);
    assert!(ran.stdout() == data);
}

#[test]
fn a_right_index_of_a_file_that_is_not_decoded_in_parts_is_not_called_wrong() {
    let folder = Folder::new();
    let data = mixed();
    let (first, second) = data.split_at(data.len() / 2);
    let ours = |how: &[&str], data: &[u8]| folder.abz_fed(&[&["-c"], how].concat(), data).exits(0).stdout();
    // Members of abz and of other programs, in different orders.
    let marked = [ours(&["-b64K"], first), ours(&["-b64K"], second)].concat();
    let behind = [member(first), ours(&["-b64K"], second)].concat();
    let before = [ours(&["-b64K"], first), member(second)].concat();
    let several = [member(first), ours(&["--members", "-b64K"], second)].concat();
    let bgzf = [member(first), ours(&["--bgzf"], second)].concat();
    let empty = [member(first), member(b"").repeat(100), member(second)].concat();
    // Empty blocks at the end of a member.
    let mut flushed = member(b"")[..10].to_vec();
    let mut deflate = DeflateEncoder::new(&mut flushed, Compression::new(6));
    std::io::Write::write_all(&mut deflate, first).unwrap();
    std::io::Write::flush(&mut deflate).unwrap();
    deflate.finish().unwrap();
    flushed.truncate(flushed.len() - 2);
    flushed.extend([0, 0, 0, 0xff, 0xff].repeat(300));
    flushed.extend([1, 0, 0, 0xff, 0xff]);
    flushed.extend(&member(first)[member(first).len() - 8..]);
    flushed.extend(member(second));
    for (what, file) in [
        ("two of gzip", marked),
        ("one of ours behind another one", behind),
        ("one of ours before another one", before),
        ("our members", several),
        ("BGZF", bgzf),
        ("many empty members", empty),
        ("many empty blocks", flushed),
    ] {
        folder.write("f.gz", &file);
        folder.abz(&["--index", "-f", "--index-every", "64K", "f.gz"]).exits(0);
        for processes in ["-p1", "-p3"] {
            let ran = folder.abz(&["-dc", processes, "f.gz"]).exits(0);
            assert_eq!(ran.stderr(), "", "{what}");
            assert!(ran.stdout() == data, "{what}");
            assert_eq!(folder.abz(&["-t", processes, "f.gz"]).exits(0).stderr(), "", "{what}");
        }
        let index = Index::parse(&folder.read("f.gz.abzi")).unwrap();
        let (done, out) = by_index(&file, &index);
        assert!(done != Ok(Some(false)) && done.is_ok(), "{what}: {done:?}");
        assert!(out == data || done == Ok(None), "{what}");
    }
}

#[test]
fn explain_says_whether_and_which_index_is_used() {
    let folder = Folder::new();
    folder.write("f.gz", &member(&mixed()));
    folder.write("g.gz", &folder.abz_fed(&["-b64K"], &mixed()).exits(0).stdout());
    folder.write("h.gz", &member(&mixed()[1..]));
    let explain = |more: &[&str], name: &str| {
        let ran = folder.abz(&[&["-d", "--explain"], more, &[name]].concat()).exits(0).says("");
        String::from_utf8(ran.stdout()).unwrap()
    };
    // The plan does not mention a missing index.
    let without = explain(&["-p3"], "f.gz");
    assert!(!without.contains("index"), "{without}");
    for name in ["f.gz", "g.gz"] {
        folder.abz(&["-q", "--index", "--index-every", "64K", name]).exits(0);
    }
    fs::copy(folder.path("f.gz.abzi"), folder.path("other")).unwrap();
    fs::copy(folder.path("f.gz.abzi"), folder.path("h.gz.abzi")).unwrap();
    let used = |name: &str| format!("The index {name} is used: all workers decode parts of the file.");
    let plan = explain(&["-p3"], "f.gz");
    assert!(plan.contains("read and decode") && plan.contains(&used("f.gz.abzi")), "{plan}");
    assert!(explain(&["-p3", "--index-file", "other"], "f.gz").contains(&used("other")));
    // The index is of no use, or belongs to another file.
    let one = explain(&["-p1"], "f.gz");
    assert!(one.contains("The index f.gz.abzi is not used, because one worker alone"), "{one}");
    let ours = explain(&["-p3"], "g.gz");
    assert!(ours.contains("The index g.gz.abzi is not used: it helps with a gzip member that"), "{ours}");
    let wrong = explain(&["-p3"], "h.gz");
    assert!(wrong.contains("h.gz.abzi: belongs to another file"), "{wrong}");
    folder.write("other", b"no index");
    let ran = folder.abz(&["-d", "--explain", "-p3", "--index-file", "missing", "f.gz"]).exits(1);
    assert!(ran.stderr().contains("missing: cannot be read"), "{}", ran.stderr());
}
