//! gzip and `compress` files exchanged with other programs. The output is the same with any number of threads.

use crate::support::{Folder, have, noise, program, prose, through};

fn inputs() -> Vec<Vec<u8>> {
    vec![vec![], vec![b'x'], prose(70_001), noise(300_000, 3), [prose(300_000), noise(200_000, 4)].concat()]
}

#[test]
fn abz_reads_what_compress_writes_and_says_where_it_is_damaged() {
    if !have("compress") {
        return;
    }
    let folder = Folder::new();
    for data in inputs() {
        let file = through("compress", &["-c", "-f"], &data).expect("it is there");
        folder.write("x.Z", &file);
        for processes in ["-p1", "-p2"] {
            folder.abz(&["-dkf", processes, "x.Z"]).exits(0).says("");
            assert!(folder.read("x") == data);
            // With several inputs, one thread decompresses it.
            folder.abz(&["-dkfq", processes, "x.Z", "."]).exits(2).says("");
            assert!(folder.read("x") == data);
        }
    }
    let mut file = folder.read("x.Z");
    file[2] = 0x9f;
    folder.write("x.Z", &file);
    folder.abz(&["-t", "x.Z"]).exits(1).says(
        "abz: x.Z: at byte 2: expected a maximum code width of 9 to 16 bits, found 31; the file is damaged there: \
         get another copy (-dc writes what it can of the contents before)",
    );
}

#[test]
fn output_depends_on_nothing_but_input_level_and_block_size() {
    let folder = Folder::new();
    for data in inputs() {
        folder.write("x", &data);
        for level in 1..=9 {
            let level = format!("-{level}");
            for block_size in ["-b64K", "-b1M"] {
                let one = folder.abz(&["-cn", &level, block_size, "-p1", "x"]).exits(0).stdout();
                let piped = folder.abz_fed(&["-n", &level, block_size, "-p2"], &data).exits(0).stdout();
                // With several inputs, one thread compresses each small one.
                folder.abz(&["-kn", &level, block_size, "-p4", "x", "/dev/null"]).exits(2);
                let many = folder.read("x.gz");
                std::fs::remove_file(folder.path("x.gz")).unwrap();
                assert!(one == piped && one == many, "{level} {block_size} of {} bytes", data.len());
            }
        }
    }
}

#[test]
fn gzip_takes_the_name_and_the_time_that_are_stored() {
    if !have("gzip") {
        return;
    }
    let folder = Folder::new();
    folder.write("river.txt", &prose(1_000));
    folder.abz(&["river.txt"]).exits(0);
    std::fs::rename(folder.path("river.txt.gz"), folder.path("y.gz")).unwrap();
    let gzip = program("gzip").args(["-dN", "y.gz"]).current_dir(folder.path("")).status().unwrap();
    assert!(gzip.success());
    assert_eq!(folder.names(), ["river.txt"]);
}

#[test]
fn a_file_to_which_another_program_has_appended_within_its_member_is_read() {
    let folder = Folder::new();
    let data = prose(3_000_000);
    folder.write("x", &data);
    let file = folder.abz(&["-c", "x"]).exits(0).stdout();
    // Appends like zlib's gzappend: the empty last block loses its flag, and a stored block follows.
    let mut appended = file[..file.len() - 10].to_vec();
    appended.extend([0x02, 0x04, 5, 0, !5, 0xff]);
    appended.extend(b"more\n");
    let mut sum = flate2::Crc::new();
    sum.update(&data);
    sum.update(b"more\n");
    appended.extend(sum.sum().to_le_bytes());
    appended.extend(3_000_005u32.to_le_bytes());
    let expected = [&data[..], b"more\n"].concat();
    if let Some(read) = through("gzip", &["-dc"], &appended) {
        assert!(read == expected);
    }
    folder.write("y.gz", &appended);
    for processes in ["-p1", "-p3"] {
        assert!(folder.abz(&["-dc", processes, "y.gz"]).exits(0).says("").stdout() == expected);
    }
    assert!(folder.abz(&["--range", "2999990..", "y.gz"]).exits(0).stdout() == expected[2_999_990..]);
    let listed = String::from_utf8(folder.abz(&["-l", "y.gz"]).exits(0).stdout()).unwrap();
    assert!(listed.contains(" 3000005 "), "{listed}");
    folder.abz(&["-d", "y.gz"]).exits(0).says("");
    assert!(folder.read("y") == expected);
}
