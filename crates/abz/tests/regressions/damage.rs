//! Damaged files, and files with something after their end.

use crate::support::{Folder, have, noise, prose, through};

/// Issue 62: `abz -dc` of a file with a wrong trailer wrote nothing, and all when it read a pipe.
#[test]
fn a_wrong_checksum_withheld_what_gzip_and_zstd_write() {
    for tool in ["gzip", "zstd"] {
        if !have(tool) {
            continue;
        }
        let mut file = through(tool, &["-qc"], &prose(200_000)).unwrap();
        let last = file.len() - 5;
        file[last + if tool == "zstd" { 2 } else { 0 }] ^= 1;
        let folder = Folder::new();
        folder.write("x", &file);
        assert!(folder.abz(&["-dc", "x"]).exits(1).stdout() == prose(200_000), "{tool}: from a file");
        assert!(folder.abz_fed(&["-dc"], &file).exits(1).stdout() == prose(200_000), "{tool}: from a pipe");
    }
}

/// Issue 62: of a zstd file that was cut in a stored block, nothing was written.
#[test]
fn a_cut_stored_block_of_zstd_was_lost() {
    let folder = Folder::new();
    let file = folder.abz_fed(&["-F", "zstd", "-c"], &noise(3000, 1)).exits(0).stdout();
    folder.write("x.zst", &file[..file.len() - 100]);
    let written = folder.abz(&["-dc", "x.zst"]).exits(1).stdout();
    assert!(written.len() > 2800 && noise(3000, 1).starts_with(&written));
}

/// Issue 62: zeros after the end, with which tapes fill their blocks, were garbage in some formats.
#[test]
fn zeros_after_the_end_were_garbage() {
    for format in ["gzip", "bzip2", "lzip", "xz", "zstd", "lzma", "zlib"] {
        let folder = Folder::new();
        let mut file = folder.abz_fed(&["-F", format, "-c"], b"river").exits(0).stdout();
        file.extend([0; 400]);
        folder.write("x", &file);
        assert!(folder.abz(&["-dc", "x"]).exits(0).says("").stdout() == b"river", "{format}");
        assert!(folder.abz_fed(&["-dc"], &file).exits(0).says("").stdout() == b"river", "{format}");
        file.push(1);
        assert!(folder.abz_fed(&["-dc"], &file).exits(2).stdout() == b"river", "{format}");
    }
}
