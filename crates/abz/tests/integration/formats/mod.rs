//! The guarantees of every format that is written, checked with the real binary and with other programs of the format.
//! Each function checks one guarantee. The table has the differences between formats.

mod table;

use table::{BZIP2, Format, GZIP, LZIP, XZ, ZSTD};

use crate::support::{Folder, fed, have, noise, program, prose, tells_of_bad_files, through, within_memory};

/// Makes a test of each guarantee for each format, so that the name of a failed test has both.
macro_rules! keep_their_promises {
    (@ $format:ident [$($promise:ident)*]) => {
        $(#[test] fn $promise() { super::$promise(&super::$format); })*
    };
    ($promises:tt: $($module:ident $format:ident)*) => {
        $(mod $module { keep_their_promises!(@ $format $promises); })*
    };
}

keep_their_promises! {
    [
        a_file_is_replaced_by_its_compressed_self_and_back
        other_programs_read_what_abz_writes
        what_other_programs_write_is_read
        the_same_bytes_come_out_for_any_number_of_processes_and_they_are_those_of_a_small_file
        names_of_archives_are_known
        the_format_is_that_of_the_content_whatever_the_name_is
        tar_users_get_along_with_it
        what_is_wrong_is_said_and_nothing_of_it_is_kept
        what_follows_a_file_and_holds_another_one_is_refused
        options_of_another_format_are_mistakes
        a_bomb_is_decompressed_in_bounded_memory
    ]:
    gzip GZIP
    bzip2 BZIP2
    lzip LZIP
    xz XZ
    zstd ZSTD
}

/// The options that choose a format, followed by `options`.
fn with<'a>(format: &Format, options: &[&'a str]) -> Vec<&'a str> {
    [&["-F", format.name], options].concat()
}

fn a_file_is_replaced_by_its_compressed_self_and_back(format: &Format) {
    let (folder, data) = (Folder::new(), prose(format.several_blocks.1));
    let compressed = format!("x{}", format.suffix);
    folder.write("x", &data);
    folder.abz(&[&with(format, format.quick)[..], &["x"]].concat()).exits(0).says("");
    assert_eq!(folder.names(), [&compressed[..]]);
    assert!(folder.read(&compressed).starts_with(format.magic));
    folder.abz(&["-t", &compressed]).exits(0).says("");
    folder.abz(&["-d", &compressed]).exits(0).says("");
    assert_eq!(folder.names(), ["x"]);
    assert!(folder.read("x") == data);
}

fn other_programs_read_what_abz_writes(format: &Format) {
    let folder = Folder::new();
    for data in (format.inputs)() {
        for options in format.option_sets {
            let file = folder.abz_fed(&with(format, options), &data).exits(0).stdout();
            for (program, arguments) in format.readers {
                if let Some(back) = through(program, arguments, &file) {
                    assert!(
                        back == data,
                        "{program} read {} bytes of {} ({options:?})",
                        back.len(),
                        data.len()
                    );
                }
            }
        }
    }
}

fn what_other_programs_write_is_read(format: &Format) {
    let folder = Folder::new();
    for data in (format.inputs)() {
        let size = format!("--stream-size={}", data.len());
        for (program, arguments) in format.writers {
            let known =
                |argument: &&'static str| if *argument == "--stream-size" { &size } else { *argument };
            let arguments: Vec<&str> = arguments.iter().map(known).collect();
            let Some(file) = through(program, &arguments, &data) else { continue };
            for processes in ["-p1", "-p3"] {
                let back = folder.abz_fed(&["-dc", processes], &file).exits(0).says("").stdout();
                assert!(back == data, "of {program} {arguments:?} abz read {} bytes", back.len());
            }
            // Two concatenated files are a valid file, except in the `.lzma` format that xz also writes.
            if file.starts_with(format.magic) {
                let [between, behind] = format.padding.map(|len| vec![0; len]);
                let twice = [&file[..], &between, &file, &behind].concat();
                let back = folder.abz_fed(&["-d"], &twice).exits(0).says("").stdout();
                assert!(back == data.repeat(2), "two files of {program} {arguments:?}");
            }
        }
    }
}

fn the_same_bytes_come_out_for_any_number_of_processes_and_they_are_those_of_a_small_file(format: &Format) {
    let folder = Folder::new();
    let (options, len) = format.several_blocks;
    folder.write("x", &prose(len));
    let of = |processes| {
        folder.abz(&[&with(format, options)[..], &["-c", processes, "x"]].concat()).exits(0).stdout()
    };
    let one = of("-p1");
    assert!(of("-p2") == one && of("-p5") == one);
    // Several small files are compressed by one thread each.
    folder.write("y", &prose(1000));
    folder.write("z", &prose(1001));
    let each = |name| folder.abz(&with(format, &["-c", name])).exits(0).stdout();
    let both = folder.abz(&with(format, &["-c", "y", "z"])).exits(0).stdout();
    assert!(both == [each("y"), each("z")].concat());
    assert!(folder.abz_fed(&["-d"], &both).exits(0).stdout() == [prose(1000), prose(1001)].concat());
}

fn names_of_archives_are_known(format: &Format) {
    let folder = Folder::new();
    let (short, data) = (format.archive_suffix, prose(10_000));
    let (made, other) = (format!("archive.tar{short}"), format!("other{short}"));
    folder.write("archive.tar", &data);
    folder.abz(&with(format, &["-S", short, "-k", "archive.tar"])).exits(0);
    assert!(folder.abz(&["-d", "-o", "-", &made]).exits(0).stdout() == data);
    std::fs::rename(folder.path(&made), folder.path(&other)).unwrap();
    folder.abz(&["-dk", &other]).exits(0).says("");
    assert_eq!(folder.names(), ["archive.tar", "other.tar", &other[..]]);
    folder.abz(&["-df", &other]).exits(0).says("");
    assert_eq!(folder.names(), ["archive.tar", "other.tar"]);
    assert!(folder.read("other.tar") == data);
}

fn the_format_is_that_of_the_content_whatever_the_name_is(format: &Format) {
    let (folder, data) = (Folder::new(), prose(10_000));
    let file = folder.abz_fed(&with(format, format.small_blocks), &data).exits(0).stdout();
    let file = [format.before, &file].concat();
    let name = if format.name == "gzip" { "misnamed.xz" } else { "misnamed.gz" };
    folder.write(name, &file);
    assert!(folder.abz(&["-dc", name]).exits(0).stdout() == data);
    let listed = || {
        let listed = String::from_utf8(folder.abz(&["-lv", name]).exits(0).stdout()).unwrap();
        let line: Vec<_> = listed.lines().nth(1).unwrap().split_whitespace().map(str::to_owned).collect();
        line[..3].to_vec()
    };
    assert_eq!(listed(), [format.listed_by, &file.len().to_string(), "10000"]);
    let plan = String::from_utf8(folder.abz(&["-d", "--explain", name]).exits(0).stdout()).unwrap();
    assert!(plan.contains(format.stage), "{plan}");
    // With -f, uncompressed files are copied, and compressed ones are decompressed.
    folder.write("plain", &data);
    assert!(folder.abz(&["-dcf", name]).exits(0).stdout() == data);
    assert!(folder.abz(&["-dcf", "plain"]).exits(0).stdout() == data);
    // Listing decodes nothing if the file records the sizes.
    if let Some(at) = format.unlisted_byte {
        let mut damaged = file.clone();
        damaged[at] ^= 1;
        folder.write(name, &damaged);
        assert_eq!(listed(), [format.listed_by, &file.len().to_string(), "10000"]);
        folder.abz(&["-t", name]).exits(1);
    }
}

fn tar_users_get_along_with_it(format: &Format) {
    let folder = Folder::new();
    if !have("tar") {
        return;
    }
    folder.write("x", &prose(100_000));
    let (abz, name) = (env!("CARGO_BIN_EXE_abz"), format!("x.tar{}", format.suffix));
    let tar = |arguments: &[&str]| {
        let mut command = program("tar");
        command.current_dir(folder.path("")).args(arguments);
        fed(command, b"")
    };
    let made = tar(&["-I", &format!("{abz} -F {}", format.name), "-cf", &name, "x"]);
    assert!(made.status.success());
    assert!(folder.read(&name).starts_with(format.magic));
    assert!(tar(&["-I", abz, "-xOf", &name]).stdout == prose(100_000));
}

fn what_is_wrong_is_said_and_nothing_of_it_is_kept(format: &Format) {
    let folder = Folder::new();
    let file = folder.abz_fed(&with(format, format.damaged), &prose(250_000)).exits(0).stdout();
    let mut flipped = file.clone();
    flipped[file.len() / 2] ^= 4;
    let (missing, cut) = format.cut;
    let garbage = [&file[..], b"garbage"].concat();
    let mut cases = vec![
        ("cut", file[..file.len() - missing].to_vec(), 1, cut),
        ("a bit", flipped, 1, "the file is damaged there: get another copy"),
        ("garbage behind", garbage, 2, "found bytes that are not compressed; they were ignored"),
    ];
    cases.extend(format.bad.iter().map(|(what, bytes, said)| (*what, bytes(&file), 1, *said)));
    tells_of_bad_files(&folder, &format!("x{}", format.suffix), cases);
}

fn what_follows_a_file_and_holds_another_one_is_refused(format: &Format) {
    let (folder, data, name) = (Folder::new(), prose(3000), format!("x{}", format.suffix));
    let file = folder.abz_fed(&with(format, &[]), &data).exits(0).stdout();
    let other = folder.abz_fed(&with(format, &[]), &prose(500)).exits(0).stdout();
    // zstd has no padding.
    let zeros = [&vec![0; 1000 * format.padding[1].min(1)][..], b"garbage"].concat();
    for between in [b"garbage".to_vec(), noise(300_000, 5), zeros] {
        let hidden = [&file[..], &between, &other].concat();
        folder.write(&name, &hidden);
        let start = format!("at byte {}; the file is damaged", file.len() + between.len());
        for processes in ["-p1", "-p2", "-p4"] {
            let ran = folder.abz(&["-d", processes, &name]).exits(1);
            let start = if format.name == "bzip2" { "the start of a block" } else { &start };
            assert!(ran.stderr().contains(start), "{}", ran.stderr());
            assert_eq!(folder.names(), [&name[..]]);
            folder.abz(&["-t", processes, &name, &name]).exits(1);
            assert!(folder.abz_fed(&["-dc", processes], &hidden).exits(1).stdout() == data);
            // Bytes that only begin like another file are not one.
            let begun = [&file[..], &between, &format.magic[..2], b" and more"].concat();
            assert!(folder.abz_fed(&["-dc", processes], &begun).exits(2).stdout() == data);
        }
    }
}

fn options_of_another_format_are_mistakes(format: &Format) {
    let folder = Folder::new();
    folder.write("x", b"x");
    for (arguments, said) in format.mistakes {
        let ran = folder.abz(arguments).exits(1);
        assert!(ran.stderr().contains(said), "{arguments:?}: {}", ran.stderr());
    }
    assert_eq!(folder.names(), ["x"]);
}

fn a_bomb_is_decompressed_in_bounded_memory(format: &Format) {
    let Some(bomb) = &format.bomb else { return };
    let folder = Folder::new();
    let file = folder.abz_fed(&with(format, bomb.options), &vec![0; 100_000_000]).exits(0).stdout();
    assert!(file.len() < bomb.most, "{}", file.len());
    within_memory(bomb.kib, &file.repeat(bomb.times), 100_000_000 * bomb.times);
}
