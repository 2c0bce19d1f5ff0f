//! A fuzz test with mutated archives of all forms: each is read to its end or to an error, the result does not depend
//! on how the bytes arrive, and never more data comes out than went in. `ABZ_FUZZ_SECONDS` sets the time,
//! `ABZ_FUZZ_SEED` the first seed.

use std::io::{self, Read};
use std::time::{Duration, Instant};

use fastrand::Rng;

use super::entries::{Entries, Piece};

/// A reader that returns few bytes at a time.
struct Trickle<'a>(&'a [u8], Rng);

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = 1 + self.1.usize(..700);
        let len = most.min(buffer.len());
        self.0.read(&mut buffer[..len])
    }
}

/// Returns a header with its checksum. `pieces` holds the map, the flag and the size of an old GNU sparse file.
fn header(name: &str, kind: u8, size: usize, gnu: bool, pieces: &[u8]) -> Vec<u8> {
    let mut header = vec![0; 512];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[100..108].copy_from_slice(b"0000644\0");
    header[124..136].copy_from_slice(format!("{size:011o}\0").as_bytes());
    header[136..148].copy_from_slice(b"14371573620\0");
    header[156] = kind;
    header[257..265].copy_from_slice(if gnu { b"ustar  \0" } else { b"ustar\x0000" });
    header[386..386 + pieces.len()].copy_from_slice(pieces);
    put_checksum(&mut header);
    header
}

fn put_checksum(header: &mut [u8]) {
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
}

/// Returns `contents` padded to whole blocks.
fn padded(contents: &[u8]) -> Vec<u8> {
    let mut contents = contents.to_vec();
    contents.resize(contents.len().next_multiple_of(512), 0);
    contents
}

/// Returns `member` preceded by an extended header with these records.
fn extended(records: &[&str], member: Vec<u8>) -> Vec<u8> {
    let mut text = String::new();
    for record in records {
        let rest = record.len() + 2;
        let len = (1..).map(|digits| rest + digits).find(|len| len.to_string().len() + rest == *len);
        text += &format!("{} {record}\n", len.unwrap());
    }
    [header("x", b'x', text.len(), false, b""), padded(text.as_bytes()), member].concat()
}

/// Returns a map of the old GNU form, padded to `room` bytes.
fn old_map(numbers: &[u64], room: usize) -> Vec<u8> {
    let mut map: Vec<u8> =
        numbers.iter().flat_map(|number| format!("{number:011o}\0").into_bytes()).collect();
    map.resize(room, 0);
    map
}

/// Returns members of all forms, each with its extension headers.
fn members() -> Vec<Vec<u8>> {
    let data = [b'd'; 700];
    let plain = |name: &str, kind| [header(name, kind, data.len(), false, b""), padded(&data)].concat();
    let mut old = old_map(&[512, 100, 1024, 100, 4096, 100, 8192, 100], 96);
    old.push(1);
    old.extend(b"00000100000\0");
    let more = padded(&[&old_map(&[10_000, 300], 504)[..], &[0]].concat());
    let version_1 = padded(b"2\n0\n200\n5000\n500\n");
    vec![
        plain("file", b'0'),
        // It has no data, whatever its header says.
        header("folder/", b'5', 700, false, b""),
        header("link", b'2', 0, false, b""),
        header("hard", b'1', 10, false, b""),
        [header("././@LongLink", b'L', 600, true, b""), padded(&[b'n'; 600]), plain("short", b'0')].concat(),
        [
            header("././@LongLink", b'K', 300, true, b""),
            padded(&[b'k'; 300]),
            header("to", b'2', 0, true, b""),
        ]
        .concat(),
        [header("old", b'S', data.len(), true, &old), more, padded(&data)].concat(),
        extended(&["path=another", "mtime=12.5", "size=700"], plain("other", b'0')),
        extended(
            &[
                "GNU.sparse.size=9000",
                "GNU.sparse.numblocks=2",
                "GNU.sparse.offset=0",
                "GNU.sparse.numbytes=200",
                "GNU.sparse.offset=5000",
                "GNU.sparse.numbytes=500",
            ],
            plain("sparse00", b'0'),
        ),
        extended(
            &[
                "GNU.sparse.size=9000",
                "GNU.sparse.name=a",
                "GNU.sparse.map=0,200,5000,500",
                "GNU.sparse.numblocks=2",
            ],
            plain("sparse01", b'0'),
        ),
        extended(
            &["GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=b", "GNU.sparse.realsize=9000"],
            [header("sparse10", b'0', 512 + data.len(), false, b""), version_1, padded(&data)].concat(),
        ),
    ]
}

/// The result of reading an archive: the name, problem, holes and data of each member, and the error at the end.
type Contents = (Vec<(Vec<u8>, Option<String>, Vec<u64>, Vec<u8>)>, Option<String>);

fn read(archive: impl Read) -> Contents {
    let (mut entries, mut found) = (Entries::new(archive), Vec::new());
    loop {
        let entry = match entries.next() {
            Ok(Some(entry)) => entry,
            Ok(None) => return (found, None),
            Err(error) => return (found, Some(error.to_string())),
        };
        let (mut holes, mut data, mut len) = (Vec::new(), Vec::new(), 0u64);
        let ended = loop {
            match entries.next_piece() {
                Ok(Some(Piece::Hole(hole))) => {
                    len = len.checked_add(hole).expect("a file has fewer bytes");
                    holes.push(hole);
                }
                Ok(Some(Piece::Data(bytes))) => {
                    len = len.checked_add(bytes.len() as u64).expect("a file has fewer bytes");
                    data.extend_from_slice(bytes);
                }
                Ok(None) => break None,
                Err(error) => break Some(error.to_string()),
            }
        };
        found.push((entry.name, entry.problem, holes, data));
        if ended.is_some() {
            return (found, ended);
        }
    }
}

fn check(archive: &[u8], seed: u64) {
    let whole = read(archive);
    let data: usize = whole.0.iter().map(|(_, _, _, data)| data.len()).sum();
    assert!(data <= archive.len(), "seed {seed}: {data} bytes of {}", archive.len());
    assert_eq!(read(Trickle(archive, Rng::with_seed(seed))), whole, "seed {seed}");
}

/// Returns a mutated archive, usually with the checksums of its headers corrected.
fn mutate(noise: &mut Rng, members: &[Vec<u8>]) -> Vec<u8> {
    let mut archive = Vec::new();
    for _ in 0..=noise.usize(..3) {
        let mut member = members[noise.usize(..members.len())].clone();
        for _ in 0..noise.usize(..4) {
            let at = noise.usize(..member.len());
            match noise.usize(..6) {
                0 => member[at] = noise.u8(..),
                1 => member[at] ^= 1 << noise.usize(..8),
                // Mostly digits, since headers hold many numbers.
                2 => member[at] = b"0179,\n=\x80\xff"[noise.usize(..9)],
                3 => {
                    let end = (at + 1 + noise.usize(..12)).min(member.len());
                    member[at..end].fill(b"7\x000\xff"[noise.usize(..4)]);
                }
                4 => {
                    // Copies bytes from one place to another.
                    let from = noise.usize(..member.len());
                    let len = (1 + noise.usize(..24)).min(member.len() - at.max(from));
                    member.copy_within(from..from + len, at);
                }
                _ => drop(member.drain(at..(at + 1 + noise.usize(..600)).min(member.len()))),
            }
            if member.is_empty() {
                break;
            }
        }
        if noise.usize(..8) > 0 {
            for block in member.chunks_exact_mut(512).filter(|block| block[257..].starts_with(b"ustar")) {
                put_checksum(block);
            }
        }
        archive.extend(member);
    }
    if noise.usize(..4) > 0 {
        archive.extend([0; 1024]);
    }
    archive
}

#[test]
fn archives_of_all_forms_are_read_and_changed_ones_do_no_harm() {
    let members = members();
    let (found, ended) = read(&members.concat()[..]);
    let problems: Vec<_> = found.iter().filter_map(|(_, problem, ..)| problem.as_ref()).collect();
    assert!(found.len() == members.len() && ended.is_none() && problems.is_empty(), "{problems:?} {ended:?}");
    let holes = found.iter().filter(|(_, _, holes, _)| !holes.is_empty()).count();
    assert_eq!(holes, 4, "of each form of sparse files there is one");

    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let time = number("ABZ_FUZZ_SECONDS").map_or(Duration::from_millis(300), Duration::from_secs);
    let first = number("ABZ_FUZZ_SEED").unwrap_or(0);
    let (start, mut seed) = (Instant::now(), first);
    while seed == first || start.elapsed() < time {
        check(&mutate(&mut Rng::with_seed(seed), &members), seed);
        seed += 1;
    }
    println!("{} archives", seed - first);
}
