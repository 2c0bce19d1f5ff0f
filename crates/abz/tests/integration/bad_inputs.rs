//! The real binary with damaged and wrong input files.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::process::Stdio;

use crate::support::{Folder, Ran, have, noise, program, prose, through};
use abz::gzip::{Extent, Header, Index};

/// Compresses `data` with abz, to members of `block_size` bytes.
fn ours(data: &[u8], block_size: usize) -> Vec<u8> {
    let mut file = Vec::new();
    let layout = abz::gzip::Layout::Members;
    let block_size = Some(block_size);
    let compression = abz::Compression { block_size, layout, workers: 1, ..Default::default() };
    abz::compress(data, &mut file, &compression).unwrap();
    file
}

/// Compresses `data` with abz, to one member with blocks of `block_size` bytes.
fn in_one_member(data: &[u8], block_size: usize) -> Vec<u8> {
    let mut file = Vec::new();
    let compression = abz::Compression { block_size: Some(block_size), workers: 1, ..Default::default() };
    abz::compress(data, &mut file, &compression).unwrap();
    file
}

/// A member as other programs write it: one stream that does not record its size.
fn foreign(data: &[u8]) -> Vec<u8> {
    without_extent(&ours(data, abz::gzip::MAX_BLOCK))
}

/// Replaces the header of the only member of `file`. Only the magic bytes of the old header have to be right.
fn with_header(header: &[u8], file: &[u8]) -> Vec<u8> {
    let (_, len) = Header::parse(file).unwrap().unwrap();
    [header, &file[len..]].concat()
}

fn without_extent(file: &[u8]) -> Vec<u8> {
    let mut header = Vec::new();
    Header::default().write(&mut header);
    with_header(&header, file)
}

/// Decompresses many files in one call. Returns the names, without their suffix, of those for which there is output.
fn accepted(folder: &Folder, names: &[String]) -> BTreeSet<String> {
    let arguments = ["-dkqf"].into_iter().chain(names.iter().map(String::as_str));
    let ran = folder.abz(&arguments.collect::<Vec<_>>());
    assert!(ran.status().is_some(), "ended by a signal: {}", ran.stderr());
    assert!(!ran.stderr().contains("panicked"), "{}", ran.stderr());
    folder.names().into_iter().filter(|name| !name.ends_with(".gz")).collect()
}

#[test]
fn a_file_cut_at_any_byte_gives_an_error_and_no_file() {
    let data = prose(3_000);
    for whole in [ours(&data, 1_000), in_one_member(&data, 1_000), ours(&data, 1 << 20), foreign(&data)] {
        let folder = Folder::new();
        let names: Vec<String> = (0..=whole.len()).map(|len| format!("{len:05}.gz")).collect();
        for (len, name) in names.iter().enumerate() {
            folder.write(name, &whole[..len]);
        }
        let accepted = accepted(&folder, &names);
        assert_eq!(accepted, BTreeSet::from([format!("{:05}", whole.len())]));
        assert!(folder.read(accepted.first().unwrap()) == data);
    }
}

#[test]
fn a_flipped_bit_gives_an_error_or_the_same_data() {
    let data = prose(600);
    for (kind, whole) in [("ours", ours(&data, 300)), ("foreign", foreign(&data))] {
        let folder = Folder::new();
        let bits = whole.len() * 8;
        let names: Vec<String> = (0..bits).map(|bit| format!("{bit:05}.gz")).collect();
        for (bit, name) in names.iter().enumerate() {
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            folder.write(name, &damaged);
        }
        let accepted = accepted(&folder, &names);
        for name in &accepted {
            assert!(folder.read(name) == data, "{kind}: bit {name} gave other data");
        }
        // Sizes in headers need not be right.
        assert!(accepted.len() < bits / 3, "{kind}: {} of {bits} bits do not matter", accepted.len());
        if kind == "foreign" && have("python3") {
            // Python ignores the flags that the RFC reserves (bits 5 to 7 of byte 3), although the RFC requires an
            // error.
            let reserved = (29..32).map(|bit| format!("{bit:05}"));
            let python = &accepted_by_python(&folder) - &reserved.collect();
            assert_eq!(accepted, python, "abz and Python do not agree");
        }
    }
}

/// The names, without their suffix, of the files that Python's gzip decompresses.
fn accepted_by_python(folder: &Folder) -> BTreeSet<String> {
    let script = "\
import glob, gzip
for name in glob.glob('*.gz'):
    try:
        gzip.decompress(open(name, 'rb').read())
        print(name[:-3])
    except Exception:
        pass
";
    let python = program("python3").args(["-c", script]).current_dir(folder.path("")).output().unwrap();
    assert!(python.status.success(), "{}", String::from_utf8_lossy(&python.stderr));
    String::from_utf8(python.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// Each row has the name of the case, the file, the exit status of `-d`, and a part of the message.
#[test]
fn each_bad_input_gives_its_status_and_its_message() {
    let data = prose(2_000);
    let (one, two) = (ours(&data, 1 << 20), ours(&data, 1_000));
    let stream = foreign(&data);
    let changed = |at: usize, to: u8| {
        let mut file = stream.clone();
        file[at] = to;
        file
    };
    let from_end = |file: &[u8], back: usize| {
        let mut file = file.to_vec();
        let at = file.len() - back;
        file[at] ^= 0x55;
        file
    };
    let lies = |by: i64, uncompressed: u32, more: bool| {
        let compressed = (one.len() as i64 + by) as u32;
        relabelled(&one, Extent { compressed, uncompressed: Some(uncompressed), more })
    };
    let right = data.len() as u32;
    let huge_name = [&[0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3][..], &vec![b'n'; 10_000_000]].concat();
    let second_header = [&stream[..], &[0x1f, 0x8b, 8]].concat();
    let table: Vec<(&str, Vec<u8>, i32, &str)> = vec![
        ("an empty file", vec![], 1, "the file was cut short"),
        ("one byte", vec![0x1f], 1, "the file was cut short"),
        (
            "another format",
            b"\x04\x22\x4d\x18 lz4, say".to_vec(),
            1,
            "expected the gzip magic bytes 1f 8b, found 04 for 1f",
        ),
        ("zeros only", vec![0; 1000], 1, "expected the gzip magic bytes 1f 8b"),
        ("an unknown method", changed(2, 7), 1, "method"),
        ("a reserved flag", changed(3, 0x20), 1, "flag"),
        ("a wrong checksum", from_end(&stream, 8), 1, "CRC-32"),
        ("a wrong size", from_end(&stream, 4), 1, "expected contents of"),
        ("a wrong checksum in a member of known size", from_end(&one, 8), 1, "CRC-32"),
        ("a header without an end", huge_name, 1, "expected a header of at most"),
        ("half a second header", second_header, 1, "the file was cut short"),
        ("trailing zeros", [&stream[..], &[0; 512]].concat(), 0, ""),
        ("trailing garbage", [&stream[..], b"xyz"].concat(), 2, "found bytes that are not compressed"),
        ("garbage for a promised member", [&lies(0, right, true)[..], b"xyz"].concat(), 1, "member 2"),
        ("a promised member that is missing", lies(0, right, true), 1, "the file was cut short"),
        // Extra fields may hold anything.
        ("a compressed size too small", lies(-5, right, false), 0, ""),
        ("a compressed size too large", lies(5, right, false), 0, ""),
        ("a compressed size of nothing", lies(-(one.len() as i64), right, false), 0, ""),
        ("an uncompressed size that is wrong", lies(0, right + 1, false), 0, ""),
        ("sizes of 4 GiB: not believed", lies(i64::from(u32::MAX / 2), u32::MAX, false), 0, ""),
        ("a lost index", two[..two.len() - index_len(&two)].to_vec(), 1, "the file was cut short"),
    ];
    for (what, file, status, part) in table {
        for arguments in [&["-dk", "-p1", "x.gz"][..], &["-dk", "-p2", "x.gz"], &["-t", "x.gz"]] {
            let folder = Folder::new();
            folder.write("x.gz", &file);
            let ran = folder.abz(arguments);
            let said = ran.stderr();
            assert_eq!(ran.status(), Some(status), "{what}: {said}");
            assert!(said.contains(part) && said.is_empty() == part.is_empty(), "{what}: {said}");
            let left = folder.names();
            if status == 1 || arguments[0] == "-t" {
                assert_eq!(left, ["x.gz"], "{what}");
            } else {
                assert_eq!(left, ["x", "x.gz"], "{what}");
                assert!(folder.read("x") == data, "{what}");
            }
        }
    }
}

#[test]
fn a_header_with_a_wrong_size_is_told_of_with_v_and_is_no_fault() {
    let (folder, data) = (Folder::new(), prose(3_000_000));
    let one = foreign(&data);
    let (_, len) = Header::parse(&one).unwrap().unwrap();
    // A header like that of BGZF, whose blocks are much smaller.
    let header = [0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 3, 6, 0, b'B', b'C', 2, 0, 7, 77];
    let file = [&one[..], &header, &one[len..], &one].concat();
    folder.write("x.gz", &file);
    let said = "member 2 does not have the size in its header";
    for workers in ["-p1", "-p2"] {
        let ran = folder.abz(&["-dkfv", workers, "x.gz"]).exits(0);
        assert!(ran.stderr().contains(said), "{}", ran.stderr());
        assert!(folder.read("x") == data.repeat(3));
        assert!(folder.abz(&["-dkf", workers, "x.gz"]).exits(0).stderr().is_empty());
        // The same holds for making an index and for using it.
        for how in [&["-f", "--index-every", "256K"][..], &[]] {
            let ran = folder.abz(&[&["-dcv", "--index", workers, "x.gz"], how].concat()).exits(0);
            assert!(ran.stderr().contains(said), "{}", ran.stderr());
            assert!(ran.stdout() == data.repeat(3));
        }
        assert!(folder.abz_fed(&["-dc", workers], &file).exits(0).stdout() == data.repeat(3));
    }
    folder.abz(&["-t", "x.gz"]).exits(0);
    let listed = folder.abz(&["-l", "x.gz"]).exits(0).stdout();
    assert!(String::from_utf8_lossy(&listed).contains(" 9000000 "));
}

/// A file of one member with a changed extent in its header.
fn relabelled(file: &[u8], extent: Extent) -> Vec<u8> {
    let (mut header, _) = Header::parse(file).unwrap().unwrap();
    // Subfield AB: two letters, the length, then the numbers.
    header.extra[4..8].copy_from_slice(&extent.compressed.to_le_bytes());
    header.extra[8..12].copy_from_slice(&extent.uncompressed.unwrap().to_le_bytes());
    header.extra[12] = extent.more.into();
    let mut bytes = Vec::new();
    header.write(&mut bytes);
    with_header(&bytes, file)
}

/// Returns the size of the last member of `file`, which is its index.
fn index_len(file: &[u8]) -> usize {
    let index = Index::read(&mut std::io::Cursor::new(file)).unwrap().expect("there is an index");
    let members: u64 = index.entries().iter().map(|entry| u64::from(entry.compressed)).sum();
    file.len() - members as usize
}

#[test]
fn an_index_that_lies_changes_neither_the_data_nor_the_list() {
    let folder = Folder::new();
    let data = prose(5_000);
    let mut file = ours(&data, 1_000);
    let index = file.len() - index_len(&file);
    let table = index + 10 + 2 + 13 + 4 + 8;
    file[table] ^= 0xff;
    file[table + 4] ^= 0x0f;
    folder.write("x.gz", &file);
    assert!(folder.abz(&["-dc", "x.gz"]).exits(0).stdout() == data);
    let listed = String::from_utf8(folder.abz(&["-l", "x.gz"]).exits(0).stdout()).unwrap();
    assert!(listed.contains(" 5000 "), "{listed}");
}

#[test]
fn sizes_in_a_list_are_those_of_all_members() {
    let folder = Folder::new();
    let data = prose(5_000);
    folder.write("ours.gz", &ours(&data, 1_000));
    folder.write("streams.gz", &[foreign(&data), foreign(&data)].concat());
    folder.write("damaged.gz", &foreign(&data)[..100]);
    let ran = folder.abz(&["-l", "ours.gz", "streams.gz", "damaged.gz"]).exits(1);
    assert!(ran.stderr().starts_with("abz: damaged.gz: member 1"), "{}", ran.stderr());
    let listed = String::from_utf8(ran.stdout()).unwrap();
    let columns: Vec<Vec<&str>> = listed.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!((columns[1][1], columns[1][3]), ("5000", "ours"));
    assert_eq!((columns[2][1], columns[2][3]), ("10000", "streams"));
    assert_eq!((columns[3][1], columns[3][3]), ("15000", "(totals)"));
}

#[test]
fn header_fields_of_every_kind_are_read_over() {
    let folder = Folder::new();
    let data = prose(2_000);
    let plain = foreign(&data);
    let long = vec![b'x'; 60_000];
    let fields: [(u8, Vec<u8>); 4] = [
        (8, [b"name".as_slice(), &[0]].concat()),
        (16, [long.as_slice(), &[0]].concat()),
        (4, [&60_000u16.to_le_bytes()[..], &long].concat()),
        (4 | 8, [&[4, 0, b'A', b'B', 0, 0][..], b"name\0"].concat()),
    ];
    for (flags, field) in fields {
        let header = [&[0x1f, 0x8b, 8, flags, 1, 2, 3, 4, 0, 255][..], &field].concat();
        folder.write("x.gz", &with_header(&header, &plain));
        assert!(folder.abz(&["-dc", "x.gz"]).exits(0).stdout() == data, "flags {flags}");
        if let Some(back) = through("gzip", &["-dc"], &folder.read("x.gz")) {
            assert!(back == data);
        }
    }
}

#[test]
fn a_stored_name_cannot_lead_out_of_the_folder() {
    let folder = Folder::new();
    let data = prose(100);
    for (stored, restored) in [("../../evil", "evil"), ("/etc/evil", "evil"), ("..", "x"), ("a/", "x")] {
        let header = [&[0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 255][..], stored.as_bytes(), &[0]].concat();
        folder.write("x.gz", &with_header(&header, &foreign(&data)));
        folder.abz(&["-dN", "x.gz"]).exits(0);
        assert_eq!(folder.names(), [restored], "{stored}");
        fs::remove_file(folder.path(restored)).unwrap();
    }
}

// Memory

/// The peak memory of a child process in KiB, or 0 if the system does not tell it.
fn most_memory(child: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{child}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Reads all output of `abz` with `arguments`. Returns its size in bytes and the peak memory in KiB.
fn read_all(folder: &Folder, arguments: &[&str]) -> (u64, u64) {
    let mut child = folder.command(arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let (mut buffer, mut total, mut most) = (vec![0; 1 << 20], 0, 0);
    // The reader sleeps first, so that as much output as possible piles up.
    std::thread::sleep(std::time::Duration::from_millis(200));
    loop {
        most = most.max(most_memory(child.id()));
        match stdout.read(&mut buffer).unwrap() {
            0 => break,
            read => total += read as u64,
        }
    }
    assert!(child.wait().unwrap().success());
    (total, most)
}

/// This may take longer than 10 s: memory is bounded only if files are many times as large.
#[test]
fn memory_is_bounded_whatever_comes_in_or_goes_out() {
    let folder = Folder::new();
    let size = 128 << 20;
    folder.write("zeros", &vec![0; size]);
    folder.write("noise", &noise(1 << 20, 1).repeat(40));
    for name in ["zeros", "noise"] {
        folder.abz(&["-k", "-1", name]).exits(0);
        fs::write(folder.path(&format!("{name}.one.gz")), stream_of(&folder.read(name))).unwrap();
    }
    for arguments in [
        &["-dc", "-p2", "zeros.gz"][..],
        &["-dc", "-p2", "zeros.one.gz"],
        &["-dc", "-p2", "noise.gz"],
        &["-dc", "-p2", "noise.one.gz"],
        &["-c", "-p2", "zeros"],
        &["-c", "-p2", "noise"],
    ] {
        let (total, most) = read_all(&folder, arguments);
        assert!(total > 0 && most < 32 << 10, "{arguments:?}: {most} KiB");
    }
}

/// One member made by flate2, which does not record its size.
fn stream_of(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, data).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_stream_that_goes_wrong_late_gives_what_is_right_and_says_where() {
    let folder = Folder::new();
    let data = noise(3 << 20, 5);
    let mut file = stream_of(&data);
    let at = file.len() - 8;
    file[at] ^= 1;
    folder.write("x.gz", &file);
    let ran: Ran = folder.abz(&["-dc", "x.gz"]).exits(1);
    let said = ran.stderr();
    assert!(said.contains("member 1") && said.contains(&format!("at byte {at}")), "{said}");
    assert!(data.starts_with(&ran.stdout()));
    folder.abz(&["-d", "x.gz"]).exits(1);
    assert_eq!(folder.names(), ["x.gz"]);
}
