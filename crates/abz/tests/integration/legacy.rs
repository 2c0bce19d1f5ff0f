//! The formats of `pack`, `compress -H`, zip with one file and zlib, with the binary.

use crate::support::{Folder, fed, have, program, prose, through};

/// "aab", packed.
const PACKED: &[u8] = b"\x1f\x1e\0\0\0\x03\x02\x01\0ab\xc4";

/// "aaa", of `compress -H`.
const PACKED_WITH_LZH: &[u8] = b"\x1f\xa0\0\x03\0\0\x06\x10\0\0\0";

/// "hello\n", stored in a zip archive, followed by a directory.
const ZIPPED: &[u8] =
    b"PK\x03\x04\x0a\0\0\0\0\0\0\0\0\0\x20\x30\x3a\x36\x06\0\0\0\x06\0\0\0\x01\0\0\0xhello\nPK\x01\x02";

#[test]
fn files_of_pack_are_read_under_any_name() {
    let folder = Folder::new();
    folder.write("x.z", PACKED);
    for processes in ["-p1", "-p3"] {
        assert_eq!(folder.abz(&["-dc", processes, "x.z"]).exits(0).says("").stdout(), b"aab");
    }
    folder.abz(&["-t", "x.z"]).exits(0).says("");
    folder.abz(&["-d", "x.z"]).exits(0).says("");
    assert_eq!(folder.names(), ["x"]);
    folder.write("cut.z", &PACKED[..PACKED.len() - 1]);
    let ran = folder.abz(&["-d", "cut.z"]).exits(1);
    assert!(
        ran.stderr().contains("cut.z: at byte 11: expected more of the compressed data"),
        "{}",
        ran.stderr()
    );
    assert_eq!(folder.names(), ["cut.z", "x"]);
}

#[test]
fn files_of_compress_h_are_read_under_any_name() {
    let folder = Folder::new();
    folder.write("x.Z", PACKED_WITH_LZH);
    for processes in ["-p1", "-p3"] {
        assert_eq!(folder.abz(&["-dc", processes, "x.Z"]).exits(0).says("").stdout(), b"aaa");
    }
    folder.abz(&["-t", "x.Z"]).exits(0).says("");
    folder.abz(&["-d", "x.Z"]).exits(0).says("");
    assert_eq!(folder.names(), ["x"]);
    folder.write("cut.Z", &PACKED_WITH_LZH[..6]);
    let ran = folder.abz(&["-d", "cut.Z"]).exits(1);
    assert!(ran.stderr().contains("at byte 6: expected more of the compressed data"), "{}", ran.stderr());
    assert_eq!(folder.names(), ["cut.Z", "x"]);
}

#[test]
fn an_archive_of_zip_with_one_file_is_read_and_one_with_more_is_refused() {
    let folder = Folder::new();
    folder.write("x.zip", ZIPPED);
    for processes in ["-p1", "-p3"] {
        assert_eq!(folder.abz(&["-dc", processes, "x.zip"]).exits(0).says("").stdout(), b"hello\n");
    }
    folder.abz(&["-d", "-o", "y", "x.zip"]).exits(0).says("");
    assert_eq!(folder.read("y"), b"hello\n");
    let two = [&ZIPPED[..37], ZIPPED].concat();
    folder.write("two.zip", &two);
    let ran = folder.abz(&["-dc", "two.zip"]).exits(1);
    assert!(ran.stderr().contains("unzip takes all of them"), "{}", ran.stderr());
    assert_eq!(ran.stdout(), b"hello\n");
    let mut damaged = ZIPPED.to_vec();
    damaged[33] ^= 1;
    folder.write("damaged.zip", &damaged);
    let ran = folder.abz(&["-t", "damaged.zip"]).exits(1);
    assert!(ran.stderr().contains("expected contents with the CRC-32 363a3020"), "{}", ran.stderr());
    if let Some(file) = through("pigz", &["-cK"], &prose(3_000_000)) {
        assert!(folder.abz_fed(&["-d"], &file).exits(0).says("").stdout() == prose(3_000_000));
    }
}

#[test]
fn zlib_and_zip_are_written_and_read_as_other_formats() {
    let folder = Folder::new();
    let data = prose(700_000);
    folder.write("x.tar", &data);
    for (format, suffix) in [("zlib", ".zz"), ("zip", ".zip")] {
        let name = format!("x.tar{suffix}");
        let mut made = Vec::new();
        for processes in ["-p1", "-p3"] {
            folder.abz(&["-kf", "-F", format, "-b128K", processes, "x.tar"]).exits(0).says("");
            made.push(folder.read(&name));
            assert!(folder.abz(&["-dc", processes, &name]).exits(0).says("").stdout() == data);
        }
        assert!(made[0] == made[1], "{format}");
        folder.abz(&["-dt", &name]).exits(0).says("");
        folder.abz(&["-df", &name]).exits(0).says("");
        assert!(folder.read("x.tar") == data);
        assert_eq!(folder.names(), ["x.tar"], "{format}");
        if let Some(read) = through("pigz", &["-dc"], &made[0]) {
            assert!(read == data, "{format}");
        }
        folder.abz(&["-F", format, "-b5M", "x.tar"]).exits(1);
        folder.abz(&["-F", format, "--bgzf", "x.tar"]).exits(1);
        let empty = folder.abz_fed(&["-F", format], b"").exits(0).stdout();
        assert_eq!(folder.abz_fed(&["-d"], &empty).exits(0).says("").stdout(), b"");
    }
    folder.abz(&["-k", "-F", "zip", "x.tar"]).exits(0);
    if have("unzip") {
        let mut unzip = program("unzip");
        unzip.args(["-Z1", "x.tar.zip"]).current_dir(folder.path(""));
        assert_eq!(fed(unzip, b"").stdout, b"x.tar\n");
    }
}

#[test]
fn bytes_behind_a_stream_of_zlib_are_told() {
    let folder = Folder::new();
    let stream = folder.abz_fed(&["-F", "zlib"], b"contents").exits(0).stdout();
    let twice = [&stream[..], b"more"].concat();
    for (behind, status) in [
        (&b"x"[..], 2),
        (b"more", 2),
        // The file starts like a stream, and is not one.
        (b"\x78\x9c and more", 2),
        (&stream[..stream.len() - 1], 2),
        (&stream, 1),
        (&twice, 1),
    ] {
        folder.write("x.zz", &[&stream[..], behind].concat());
        let ran = folder.abz(&["-dk", "x.zz"]).exits(status);
        assert!(ran.stderr().contains("at byte 16: expected the end of the file"), "{}", ran.stderr());
        assert_eq!(folder.names().len(), if status == 2 { 2 } else { 1 }, "{behind:?}");
        assert_eq!(folder.abz(&["-dc", "x.zz"]).exits(status).stdout(), b"contents");
        let _ = std::fs::remove_file(folder.path("x"));
    }
}
