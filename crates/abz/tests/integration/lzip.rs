//! Features of lzip only.

use std::os::unix::fs::symlink;

use crate::support::{Folder, program, prose};

#[test]
fn under_its_name_what_can_be_decoded_of_a_damaged_member_is_put_out() {
    let folder = Folder::new();
    let data = prose(600_000);
    folder.write("x", &data);
    folder.abz(&["-Flzip", "-b200K", "x"]).exits(0);
    let whole = folder.read("x.lz");
    symlink(env!("CARGO_BIN_EXE_abz"), folder.path("lzip")).unwrap();
    // The damage is in the second of three members.
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 0x10;
    for (file, least, most) in
        [(damaged, 205_000, 400_000), (whole[..whole.len() / 2].to_vec(), 250_000, 350_000)]
    {
        folder.write("x.lz", &file);
        if file.len() == whole.len() {
            let by_its_own_name = folder.abz(&["-dc", "x.lz"]).stdout();
            assert_eq!(by_its_own_name.len(), 200 << 10, "no byte of a damaged member");
        }
        for threads in ["-n1", "-n3"] {
            let ran = program(folder.path("lzip")).args(["-cd", threads]).arg(folder.path("x.lz")).output();
            let ran = ran.unwrap();
            assert_eq!(ran.status.code(), Some(2));
            assert!((least..most).contains(&ran.stdout.len()), "{}", ran.stdout.len());
            // The output between the damage and its detection is arbitrary.
            assert!(ran.stdout[..least] == data[..least]);
        }
    }
}

#[test]
fn of_a_file_with_other_bytes_behind_its_members_the_sizes_are_listed_by_decoding_it() {
    let folder = Folder::new();
    let file = folder.abz_fed(&["-F", "lzip", "-b4K"], &prose(10_000)).exits(0).stdout();
    folder.write("trailing.lz", &[&file[..], b"garbage"].concat());
    let listed = String::from_utf8(folder.abz(&["-lv", "trailing.lz"]).stdout()).unwrap();
    let numbers: Vec<&str> = listed.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(numbers[..3], ["stream", &file.len().to_string()[..], "10000"]);
}
