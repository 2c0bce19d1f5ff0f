//! Called by the name of another tool, abz mentions that tool's options in messages, and its own where the tool has
//! none.

use std::os::unix::fs::symlink;

use crate::support::{Folder, Ran, fed, noise, program, prose};

/// Runs `abz` as another tool.
fn run(folder: &Folder, name: &str, words: &[&str]) -> Ran {
    let link = folder.path(name);
    if !link.exists() {
        symlink(env!("CARGO_BIN_EXE_abz"), &link).unwrap();
    }
    let mut command = program(&link);
    command.args(words).current_dir(folder.path(""));
    Ran(fed(command, b""))
}

#[test]
fn advice_names_the_options_of_the_tool() {
    let folder = Folder::new();
    folder.write("f", &[prose(300_000), noise(3_000_000, 3)].concat());
    folder.abz(&["-k", "-F", "xz", "-6", "f"]).exits(0);
    // The header of this frame requires a window of 2^29 bytes.
    folder.write("wide.zst", b"\x28\xb5\x2f\xfd\0\x98\x09\0\0x");
    for (name, words, advice) in [
        ("xz", &["-t", "-M", "2MiB", "f.xz"][..], "; fewer threads take less (-T1); if that is not enough"),
        ("zstd", &["-t", "wide.zst"], "; if there is memory for that, allow it with --long=29"),
        (
            "zstd",
            &["-t", "-M", "2MiB", "wide.zst"],
            "; if there is memory for that, allow it with --memory=513M",
        ),
        ("abz", &["-t", "wide.zst"], "; if there is memory for that, allow it with --long=29"),
        (
            "abz",
            &["-t", "--memlimit=2M", "wide.zst"],
            "; if there is memory for that, allow it with --memlimit=513M",
        ),
    ] {
        let told = run(&folder, name, words).exits(1).stderr();
        assert!(told.starts_with(&format!("{name}: ")) && told.contains(advice), "{told}");
    }
}

#[test]
fn units_of_xz_and_zstd_are_multiples_of_1024() {
    let folder = Folder::new();
    folder.write("f", &prose(3_000_000));
    for unit in ["1M", "1MiB", "1024K", "1024KiB", "1024kB", "1048576", "1m"] {
        let size = format!("--block-size={unit}");
        let file = run(&folder, "xz", &["-0", "-c", &size, "f"]).exits(0).says("").stdout();
        folder.write("f.xz", &file);
        let list = run(&folder, "xz", &["--robot", "-l", "f.xz"]).exits(0).stdout();
        let list = String::from_utf8(list).unwrap();
        assert!(list.contains("\nfile\t1\t3\t"), "{unit}: {list}");
        run(&folder, "zstd", &["-c", "-B1MiB", "f"]).exits(0);
    }
    for limit in ["100000K", "100MiB", "1GiB", "50%"] {
        run(&folder, "xz", &["-0", "-c", "-M", limit, "f"]).exits(0).says("");
    }
    let told = run(&folder, "xz", &["-c", "-M", "5Q", "f"]).exits(1).stderr();
    assert!(told.starts_with("xz: invalid size '5Q'"), "{told}");
}

#[test]
fn what_goes_to_standard_output_is_told_as_gzip_does() {
    let folder = Folder::new();
    folder.write("f", &[b'x'; 10_000]);
    for words in [["-cv", "f"], ["-cv9", "f"]] {
        let told = run(&folder, "gzip", &words).exits(0).stderr();
        assert!(
            told.starts_with("f:") && told.trim_end().ends_with('%') && told.lines().count() == 1,
            "{told}"
        );
    }
    let told = run(&folder, "gzip", &["-kv", "f"]).exits(0).stderr();
    assert!(told.trim_end().ends_with("% -- created f.gz"), "{told}");
}
