//! Features of xz only, and of formats with dictionaries.

use crate::support::{Folder, fed, noise, program, prose};

#[test]
fn a_limit_of_memory_takes_fewer_threads_and_then_nothing() {
    let folder = Folder::new();
    let data = [prose(2_000_000), noise(1_000_000, 9)].concat();
    // One worker of lzip holds a block twice, before and after encoding. One worker of xz encodes a block as it is
    // read.
    for (format, least) in [("lzip", 46), ("xz", 43)] {
        let compress = |more: &[&str]| {
            let arguments = [&["-F", format, "-0", "-s", "3M", "-b", "3M", "-p4"], more].concat();
            folder.abz_fed(&arguments, &data)
        };
        let file = compress(&[]).exits(0).stdout();
        assert!(compress(&["--memlimit", "70M"]).exits(0).stdout() == file);
        let plan =
            String::from_utf8(compress(&["--memlimit", "70M", "--explain"]).exits(0).stdout()).unwrap();
        assert!(plan.contains("the caller's alone"), "{plan}");
        let said = compress(&["--memlimit", "40M"]).exits(1).stderr();
        assert!(said.contains(&format!("needs {least} MiB of memory with one thread")), "{said}");
        // The limits are too low for the whole block, and for its dictionary.
        for limit in ["8M", "100M"] {
            for processes in ["-p1", "-p4"] {
                let back = folder.abz_fed(&["-d", processes, "--memlimit", limit], &file).exits(0).stdout();
                assert!(back == data, "{format} {limit}");
            }
        }
        let said = folder.abz_fed(&["-d", "--memlimit", "3M"], &file).exits(1).stderr();
        assert!(said.contains("expected a dictionary that fits into the memory, found one of "), "{said}");
    }
}

#[test]
fn files_of_the_older_format_are_known_by_their_names_and_their_contents() {
    let folder = Folder::new();
    let old = "XQAAgAD//////////wA0GUnujekXiTozX/yyCYIv//3igAA=";
    let mut command = program("base64");
    command.arg("-d");
    folder.write("old.lzma", &fed(command, old.as_bytes()).stdout);
    folder.abz(&["-d", "old.lzma"]).exits(0).says("");
    assert_eq!(folder.read("old"), b"hello world\n");
}
