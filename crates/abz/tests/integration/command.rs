//! The real binary, used as from a shell.

use std::fs::{self, File, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant, SystemTime};

use crate::support::{Folder, Ran, fed, have, have_full_device, leave_out, program, prose, send};

// Round trips

#[test]
fn a_file_is_replaced_by_its_compressed_self_and_back() {
    let folder = Folder::new();
    let data = prose(3_000_000);
    folder.write("x", &data);
    folder.abz(&["x"]).exits(0).says("");
    assert_eq!(folder.names(), ["x.gz"]);
    assert!(folder.read("x.gz").len() < data.len() / 3);
    folder.abz(&["-t", "x.gz"]).exits(0).says("");
    folder.abz(&["-d", "x.gz"]).exits(0).says("");
    assert_eq!(folder.names(), ["x"]);
    assert!(folder.read("x") == data);
}

#[test]
fn gzip_and_python_read_what_abz_writes_and_the_other_way_round() {
    let folder = Folder::new();
    for data in [prose(2_500_000), prose(1), Vec::new()] {
        folder.write("x", &data);
        folder.abz(&["-kf", "x"]).exits(0);
        if have("gzip") {
            let read = program("gzip").arg("-dc").arg(folder.path("x.gz")).output().unwrap();
            assert!(read.stdout == data);
            let made = program("gzip").arg("-c").arg(folder.path("x")).output().unwrap().stdout;
            assert!(folder.abz_fed(&["-d"], &made).exits(0).stdout() == data);
        }
        if have("python3") {
            let script = "import gzip, sys; sys.stdout.buffer.write(gzip.open(sys.argv[1]).read())";
            let read = program("python3").args(["-c", script]).arg(folder.path("x.gz")).output().unwrap();
            assert!(read.stdout == data);
        }
    }
}

#[test]
fn the_same_bytes_come_out_for_any_number_of_processes() {
    let folder = Folder::new();
    folder.write("x", &prose(2_000_000));
    let one = folder.abz(&["-c", "-b64K", "-p1", "x"]).exits(0).stdout();
    for processes in ["-p2", "-p5"] {
        assert!(folder.abz(&["-c", "-b64K", processes, "x"]).exits(0).stdout() == one);
    }
    for processes in ["-p1", "-p2", "-p5"] {
        assert!(folder.abz_fed(&["-d", processes], &one).exits(0).stdout() == prose(2_000_000));
    }
}

#[test]
fn standard_input_goes_to_standard_output() {
    let folder = Folder::new();
    for data in [prose(2_500_000), Vec::new()] {
        for name in [&[][..], &["-"]] {
            let file = folder.abz_fed(name, &data).exits(0).says("").stdout();
            let arguments = [&["-d"], name].concat();
            assert!(folder.abz_fed(&arguments, &file).exits(0).says("").stdout() == data);
        }
    }
    assert!(folder.names().is_empty());
}

#[test]
fn levels_differ_and_the_last_one_counts() {
    let folder = Folder::new();
    let data = prose(500_000);
    let size = |arguments: &[&str]| folder.abz_fed(arguments, &data).exits(0).stdout().len();
    assert!(size(&["-1"]) > size(&["-6"]) && size(&["-6"]) > size(&["-9"]));
    assert_eq!(size(&[]), size(&["-6"]));
    assert_eq!(size(&["-1", "-9"]), size(&["--best"]));
    assert_eq!(size(&["--fast"]), size(&["-1"]));
}

#[test]
fn many_files_are_taken_one_after_another() {
    let folder = Folder::new();
    let names: Vec<String> = (0..20).map(|n| format!("f{n:02}")).collect();
    for (n, name) in names.iter().enumerate() {
        folder.write(name, &prose(n * 1000));
    }
    let arguments: Vec<&str> = names.iter().map(String::as_str).collect();
    folder.abz(&arguments).exits(0).says("");
    assert!(folder.names().iter().all(|name| name.ends_with(".gz")));
    let all = [&["-dc"], &arguments[..]].concat();
    assert!(folder.abz(&all).exits(0).stdout() == (0..20).flat_map(|n| prose(n * 1000)).collect::<Vec<_>>());
    folder.abz(&[&["-d"], &arguments[..]].concat()).exits(0).says("");
    assert_eq!(folder.names(), names);
}

#[test]
fn a_bad_file_among_many_does_not_stop_the_others() {
    let folder = Folder::new();
    for name in ["a", "c"] {
        folder.write(name, b"good");
    }
    folder.abz(&["a", "c"]).exits(0);
    folder.write("b.gz", b"not gzip");
    folder.abz(&["-d", "a.gz", "b.gz", "missing.gz", "c.gz"]).exits(1);
    assert_eq!(folder.names(), ["a", "b.gz", "c"]);
}

#[test]
fn outputs_of_small_and_large_files_come_in_the_order_of_the_command_line() {
    let folder = Folder::new();
    let data: Vec<Vec<u8>> = [10, 3_000_000, 0, 500, 1_500_000, 20].map(prose).into();
    let names: Vec<String> = (0..data.len()).map(|n| format!("f{n}")).collect();
    for (name, data) in names.iter().zip(&data) {
        folder.write(name, data);
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for processes in ["-p1", "-p2", "-p6"] {
        let file = folder.abz(&[&["-c", processes], &names[..]].concat()).exits(0).stdout();
        assert!(folder.abz_fed(&["-dc", processes], &file).exits(0).stdout() == data.concat());
    }
}

#[test]
fn folders_are_walked_only_when_asked_and_links_in_them_are_not_followed() {
    let folder = Folder::new();
    fs::create_dir_all(folder.path("d/e")).unwrap();
    for name in ["d/a", "d/e/b", "d/e/.abz-left.tmp", "out"] {
        folder.write(name, b"data");
    }
    symlink("../out", folder.path("d/link")).unwrap();
    symlink("..", folder.path("d/e/up")).unwrap();
    folder.abz(&["-r", "d"]).exits(0).says("");
    let found = |name: &str| folder.path(name).exists();
    assert!(found("d/a.gz") && found("d/e/b.gz") && found("out") && found("d/e/.abz-left.tmp"));
    assert!(!found("d/a") && !found("d/link.gz"));
    // With -r, compressed files are skipped silently, and with -dr uncompressed ones are.
    folder.write("d/new", b"data");
    folder.abz(&["-r", "d"]).exits(0).says("");
    folder.write("d/plain", b"data");
    folder.abz(&["-dr", "d"]).exits(0).says("");
    assert!(found("d/a") && found("d/e/b") && found("d/new") && found("d/plain") && !found("d/a.gz"));
}

// Names

#[test]
fn names_and_times_are_stored_unless_told_otherwise_and_given_back_when_asked() {
    let folder = Folder::new();
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_500_000_000);
    folder.write("x", b"data");
    File::options().write(true).open(folder.path("x")).unwrap().set_modified(time).unwrap();
    let anonymous = folder.abz(&["-cn", "x"]).exits(0).stdout();
    let (header, _) = abz::gzip::Header::parse(&anonymous).unwrap().unwrap();
    assert_eq!((header.name, header.mtime), (None, 0));
    assert_eq!(folder.abz_fed(&["-c"], b"data").exits(0).stdout(), anonymous, "a pipe has neither");

    folder.abz(&["x"]).exits(0);
    fs::rename(folder.path("x.gz"), folder.path("y.gz")).unwrap();
    File::options().write(true).open(folder.path("y.gz")).unwrap().set_modified(SystemTime::now()).unwrap();
    assert!(String::from_utf8(folder.abz(&["-lN", "y.gz"]).exits(0).stdout()).unwrap().ends_with(" x\n"));
    folder.abz(&["-dk", "y.gz"]).exits(0);
    folder.abz(&["-dN", "y.gz"]).exits(0);
    assert_eq!(folder.names(), ["x", "y"]);
    let modified = |name| fs::metadata(folder.path(name)).unwrap().modified().unwrap();
    assert_eq!(modified("x"), time);
    assert_ne!(modified("y"), time);
}

#[test]
fn suffixes_are_taken_off_and_known() {
    let folder = Folder::new();
    folder.write("x", b"data");
    folder.abz(&["-S", ".foo", "x"]).exits(0);
    assert_eq!(folder.names(), ["x.foo"]);
    folder
        .abz(&["-d", "x.foo"])
        .exits(2)
        .says("abz: x.foo: unknown suffix, expected .gz -- ignored (use -c, or -o FILE)");
    folder.abz(&["-d", "-S", ".foo", "x"]).exits(0);
    assert_eq!(folder.names(), ["x"]);

    folder.abz(&["x"]).exits(0);
    folder
        .abz(&["x.gz"])
        .exits(0)
        .says("abz: x.gz: already has the suffix of a compressed file -- unchanged");
    assert_eq!(folder.names(), ["x.gz"]);
    fs::rename(folder.path("x.gz"), folder.path("x.tgz")).unwrap();
    folder.abz(&["-d", "x.tgz"]).exits(0);
    assert_eq!(folder.names(), ["x.tar"]);
    folder.abz(&["-S", "", "x.tar"]).exits(1);
    assert_eq!(folder.names(), ["x.tar"]);
}

#[test]
fn output_goes_where_it_is_told_and_the_input_stays() {
    let folder = Folder::new();
    folder.write("x", b"data");
    folder.abz(&["-o", "y.anything", "x"]).exits(0);
    folder.abz(&["-d", "-o", "z", "y.anything"]).exits(0);
    assert_eq!(folder.names(), ["x", "y.anything", "z"]);
    assert_eq!(folder.read("z"), b"data");
    folder.abz_fed(&["-o", "from-stdin"], b"data").exits(0);
    assert_eq!(folder.abz(&["-d", "-o", "-", "from-stdin"]).exits(0).stdout(), b"data");
    folder.abz(&["-c", "-o", "w", "x"]).exits(1);
    folder.abz(&["-o", "/dev/null", "x"]).exits(0);
    assert_eq!(folder.names(), ["from-stdin", "x", "y.anything", "z"]);
}

#[test]
fn an_existing_file_is_not_overwritten_without_force() {
    let folder = Folder::new();
    folder.write("x", b"new");
    folder.write("x.gz", b"old");
    folder.abz(&["x"]).exits(2).says("abz: x.gz: already exists -- not overwritten (use -f to overwrite it)");
    assert_eq!((folder.read("x"), folder.read("x.gz")), (b"new".to_vec(), b"old".to_vec()));
    symlink("nowhere", folder.path("y.gz")).unwrap();
    folder.write("y", b"new");
    folder.abz(&["y"]).exits(2);
    folder.abz(&["-f", "x"]).exits(0).says("");
    assert_eq!(folder.names(), ["x.gz", "y", "y.gz"]);
    assert_eq!(folder.abz(&["-dc", "x.gz"]).exits(0).stdout(), b"new");
}

#[test]
fn what_is_no_plain_file_is_left_alone() {
    let folder = Folder::new();
    folder.write("file", b"data");
    symlink("file", folder.path("link")).unwrap();
    folder.abz(&["link"]).exits(1).says("abz: link: is a symbolic link: use -f to follow it, or -c");
    fs::create_dir(folder.path("folder")).unwrap();
    folder
        .abz(&["folder"])
        .exits(2)
        .says("abz: folder: is a directory -- ignored (use -r to process the files in it)");
    folder.abz(&["-q", "folder"]).exits(2).says("");
    folder.abz(&["-k", "/dev/null"]).exits(2);
    fs::hard_link(folder.path("file"), folder.path("other")).unwrap();
    folder.abz(&["file"]).exits(2);
    assert_eq!(folder.names(), ["file", "folder", "link", "other"]);

    assert!(!folder.abz(&["-c", "link"]).exits(0).stdout().is_empty());
    folder.abz(&["-fk", "file"]).exits(0);
    folder
        .abz(&["missing"])
        .exits(1)
        .says("abz: missing: cannot be opened: No such file or directory (os error 2)");
}

// Attributes

#[test]
fn mode_and_time_are_taken_over_and_told_in_the_file() {
    let folder = Folder::new();
    folder.write("x", b"data");
    let time = SystemTime::UNIX_EPOCH + Duration::from_millis(1_500_000_000_250);
    File::options().write(true).open(folder.path("x")).unwrap().set_modified(time).unwrap();
    fs::set_permissions(folder.path("x"), Permissions::from_mode(0o640)).unwrap();
    let before = fs::metadata(folder.path("x")).unwrap();
    folder.abz(&["x"]).exits(0);
    let after = fs::metadata(folder.path("x.gz")).unwrap();
    assert_eq!(after.mode() & 0o7777, 0o640);
    assert_eq!(after.modified().unwrap(), time);
    assert_eq!((after.uid(), after.gid()), (before.uid(), before.gid()));
    let (header, _) = abz::gzip::Header::parse(&folder.read("x.gz")).unwrap().unwrap();
    assert_eq!((header.name.as_deref(), header.mtime), (Some(&b"x"[..]), 1_500_000_000));
    folder.abz(&["-d", "x"]).exits(0);
    let back = fs::metadata(folder.path("x")).unwrap();
    assert_eq!((back.mode() & 0o7777, back.modified().unwrap()), (0o640, time));
}

#[test]
fn special_bits_are_never_lost_in_silence() {
    for (mode, what) in [
        (0o4755, "set-user-ID on execution"),
        (0o2755, "set-group-ID on execution"),
        (0o1644, "a file with the sticky bit"),
    ] {
        let folder = Folder::new();
        let set = |name: &str| fs::set_permissions(folder.path(name), Permissions::from_mode(mode)).unwrap();
        let mode_of = |name: &str| fs::metadata(folder.path(name)).unwrap().mode() & 0o7777;
        folder.write("x", b"data");
        folder.abz(&["-k", "x"]).exits(0).says("");
        set("x");
        set("x.gz");
        let advice = "its output would not be: use -k to keep it, or -f";
        for (arguments, name) in [(&["x"][..], "x"), (&["-d", "x.gz"], "x.gz"), (&["-r", "."], "./x")] {
            let ran = folder.abz(arguments).exits(2);
            assert!(ran.stderr().contains(&format!("abz: {name}: is {what} -- ignored ({advice})")));
            assert_eq!((mode_of("x"), mode_of("x.gz")), (mode, mode));
        }
        // An input that is kept keeps its special bits.
        folder.abz(&["-kfq", "x"]).exits(0).says("");
        assert_eq!((mode_of("x"), mode_of("x.gz")), (mode, mode & 0o777));
        folder.abz(&["-c", "x"]).exits(0).says("");
        folder.abz(&["-f", "x"]).exits(0).says(&format!("abz: x.gz: is not {what} any more"));
        assert_eq!(mode_of("x.gz"), mode & 0o777);
        set("x.gz");
        folder.abz(&["-df", "x.gz"]).exits(0).says(&format!("abz: x: is not {what} any more"));
        assert_eq!((folder.names(), mode_of("x")), (vec!["x".to_owned()], mode & 0o777));
    }
}

// Errors

/// A gzip file of abz with several blocks.
fn members() -> Vec<u8> {
    let mut file = Vec::new();
    let compression = abz::Compression { block_size: Some(50_000), workers: 1, ..Default::default() };
    abz::compress(&prose(500_000)[..], &mut file, &compression).unwrap();
    file
}

#[test]
fn a_truncated_file_is_an_error_and_leaves_nothing_behind() {
    let folder = Folder::new();
    let file = members();
    for len in [0, 1, 20, 5_000, file.len() / 2, file.len() - 1] {
        folder.write("x.gz", &file[..len]);
        for processes in ["-p1", "-p2"] {
            let ran = folder.abz(&["-d", processes, "x.gz"]).exits(1);
            let said = ran.stderr();
            assert!(said.starts_with("abz: x.gz: member "), "{said}");
            assert!(said.contains(&format!("at byte {len}: expected ")), "{said}");
            assert!(
                said.ends_with(
                    "the file was cut short: get all of it (-dc writes what it can of the contents)\n"
                ),
                "{said}"
            );
            assert_eq!(folder.names(), ["x.gz"]);
        }
        folder.abz(&["-t", "x.gz"]).exits(1);
        let given = folder.abz(&["-dc", "x.gz"]).exits(1).stdout();
        let whole = folder.abz(&["-dc", "--whole-blocks", "x.gz"]).exits(1).stdout();
        assert!(prose(500_000).starts_with(&given) && given.starts_with(&whole));
        assert!(whole.len().is_multiple_of(50_000) && given.len() - whole.len() < 50_000);
    }
    assert_eq!(folder.read("x.gz").len(), file.len() - 1);
}

#[test]
fn a_damaged_member_is_named_and_none_of_it_is_given() {
    let folder = Folder::new();
    let mut file = members();
    let at = file.len() / 2;
    file[at] ^= 0x10;
    folder.write("x.gz", &file);
    let ran = folder.abz(&["-d", "x.gz"]).exits(1);
    let said = ran.stderr();
    let expected =
        "the file is damaged there: get another copy (-dc writes what it can of the contents before)\n";
    assert!(said.starts_with("abz: x.gz: member ") && said.ends_with(expected), "{said}");
    assert_eq!(folder.names(), ["x.gz"]);
    let given = folder.abz(&["-dc", "x.gz"]).exits(1).stdout();
    assert!(prose(500_000).starts_with(&given) && given.len().is_multiple_of(50_000) && !given.is_empty());
}

#[test]
fn what_is_not_gzip_is_told() {
    let folder = Folder::new();
    folder.write("x.gz", b"GIF89a");
    folder.abz(&["-d", "x.gz"]).exits(1).says(
        "abz: x.gz: member 1, which begins at byte 0: at byte 0: expected the gzip magic bytes 1f 8b, \
         found 47 for 1f; abz does not support the format of this file",
    );
    folder.abz_fed(&["-t"], b"GIF").exits(1);
}

#[test]
fn trailing_zeros_are_silent_and_trailing_garbage_is_a_warning() {
    let folder = Folder::new();
    let file = members();
    folder.write("x.gz", &[&file[..], &[0; 10_000]].concat());
    folder.abz(&["-d", "x.gz"]).exits(0).says("");
    folder.write("x.gz", &[&file[..], b"garbage"].concat());
    folder.abz(&["-df", "x.gz"]).exits(2).says(&format!(
        "abz: x.gz: at byte {}: expected the end of the file, found bytes that are not compressed; they were ignored, \
         all before them is right",
        file.len()
    ));
    assert_eq!(folder.names(), ["x"]);
    assert!(folder.read("x") == prose(500_000));
}

#[test]
fn a_full_device_is_told_with_what_to_do() {
    if !have_full_device() {
        return;
    }
    let folder = Folder::new();
    folder.write("x", &prose(500_000));
    let full = || File::options().write(true).open("/dev/full").unwrap();
    for arguments in [&["-c", "x"][..], &["-c", "-p1", "x"], &["-c", "-b4K", "-p3", "x"]] {
        let output = folder.command(arguments).stdout(full()).output().unwrap();
        Ran(output).exits(1).says(
            "abz: standard output: writing failed: No space left on device (os error 28); make room there, or write \
             elsewhere",
        );
    }
    folder.abz(&["-o", "/dev/full", "x"]).exits(1);
    assert_eq!(folder.names(), ["x"]);
}

#[test]
fn a_closed_pipe_ends_it_silently_as_it_does_all_programs() {
    use std::os::unix::process::ExitStatusExt;
    let folder = Folder::new();
    folder.write("x", &prose(3_000_000));
    folder.abz(&["-k", "x"]).exits(0);
    for arguments in [&["-dc", "x.gz"][..], &["-dc", "-p1", "x.gz"], &["-c", "x"]] {
        let mut child =
            folder.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = [0; 10];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let output = child.wait_with_output().unwrap();
        let sigpipe = 13;
        assert_eq!(output.status.signal(), Some(sigpipe));
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
}

#[test]
fn a_folder_that_cannot_be_written_to_keeps_the_input() {
    let folder = Folder::new();
    folder.write("x", b"data");
    folder
        .abz(&["-o", "no/folder/x.gz", "x"])
        .exits(1)
        .says("abz: no/folder/x.gz: cannot be created: there is no folder no/folder; create it first");
    folder.write("file", b"");
    folder
        .abz(&["-o", "file/x.gz", "x"])
        .exits(1)
        .says("abz: file/x.gz: cannot be created: Not a directory (os error 20)");
    fs::remove_file(folder.path("file")).unwrap();
    assert_eq!(folder.names(), ["x"]);
}

/// Returns whether this process, and therefore its children, ignores a signal.
fn is_ignored(number: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask >> (number - 1) & 1 == 1)
}

#[test]
fn an_interrupted_run_leaves_only_its_input() {
    use std::os::unix::process::ExitStatusExt;
    for (signal, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        if is_ignored(number) {
            // The command ignores the signal too, as under nohup.
            continue;
        }
        let folder = Folder::new();
        let mut child = folder.command(&["-o", "out.gz"]).stdin(Stdio::piped()).spawn().unwrap();
        // The child makes its temporary file and waits for more input. Waiting for the child would close its input, so
        // take it out.
        let mut input = child.stdin.take().unwrap();
        input.write_all(&prose(5_000_000)).unwrap();
        let began = Instant::now();
        while folder.names().is_empty() {
            assert!(began.elapsed() < Duration::from_secs(60), "no output was begun");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_ne!(folder.names(), ["out.gz"]);
        send(signal, child.id());
        assert_eq!(child.wait().unwrap().signal(), Some(number));
        drop(input);
        assert!(folder.names().is_empty(), "SIG{signal} left {:?}", folder.names());
    }
}

// Messages

#[test]
fn verbose_tells_what_was_done() {
    let folder = Folder::new();
    folder.write("x", &[b'a'; 100_000]);
    folder.abz(&["-v", "x"]).exits(0).says("x: 99.9% -- replaced with x.gz");
    folder.abz(&["-tv", "x.gz"]).exits(0).says("x.gz: OK");
    folder.abz(&["-dkv", "x.gz"]).exits(0).says("x.gz: 99.9% -- created x");
}

#[test]
fn help_and_mistakes_exit_as_gzip_does() {
    let folder = Folder::new();
    assert!(!folder.abz(&["--help"]).exits(0).stdout().is_empty());
    assert!(!folder.abz(&["-V"]).exits(0).stdout().is_empty());
    assert!(!folder.abz(&["-L"]).exits(0).stdout().is_empty());
    folder.abz(&["--no-such-option"]).exits(1);
    folder.abz(&["-b128", "x"]).exits(1);
    folder.abz(&["-p0", "x"]).exits(1);
}

#[test]
fn the_manual_and_the_completions_know_every_option_of_the_help() {
    let folder = Folder::new();
    let said =
        |arguments: &[&str]| String::from_utf8(folder.abz(arguments).exits(0).says("").stdout()).unwrap();
    let help = said(&["--help"]);
    assert!(help.lines().count() < 50 && help.lines().all(|line| line.len() <= 100), "one screen: {help}");
    let options: Vec<&str> = help
        .split_whitespace()
        .filter(|word| word.starts_with("--"))
        .map(|word| word.trim_end_matches(',').split('[').next().unwrap_or(word))
        .collect();
    assert!(options.len() > 20, "{options:?}");
    let manual = said(&["--generate", "man"]);
    for option in &options {
        assert!(manual.contains(&option.replace('-', "\\-")), "{option} is not in the manual");
    }
    for section in ["SYNOPSIS", "DESCRIPTION", "EXAMPLES", "EXIT STATUS", "FILES"] {
        assert!(manual.contains(&format!("\n.SH {section}\n")), "{section}");
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let completions = said(&["--generate", shell]);
        for option in &options {
            assert!(completions.contains(option.trim_start_matches('-')), "{shell} does not know {option}");
        }
    }
    if have("bash") {
        folder.write("completions", said(&["--generate", "bash"]).as_bytes());
        let checked = program("bash").arg("-n").arg(folder.path("completions")).status().unwrap();
        assert!(checked.success());
        // The words of a line, the last of which is to be completed, and what is proposed; nothing leaves files to bash.
        for (words, proposed) in [
            ("abz ''", ""),
            ("abz -k '['", ""),
            ("abz -d no", ""),
            ("abz --deco", "--decompress"),
            ("abz -F x", "xz"),
            ("abz --format = l", "lzip lzma"),
            ("abz --format = ''", "gzip bzip2 lzip xz zstd zlib zip lzma"),
            ("abz --format =", "gzip bzip2 lzip xz zstd zlib zip lzma"),
            ("abz --input-io = m", "mmap"),
        ] {
            let script = format!(
                "source completions; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
                 _abz abz \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\"; echo \"${{COMPREPLY[@]}}\""
            );
            let output = program("bash").current_dir(folder.path("")).args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stdout).trim_end(), proposed, "{words}");
        }
    }
}

#[test]
fn the_pages_name_only_options_that_there_are() {
    // Options of other programs and of `measure`, which the pages name.
    let of_others = ["--lzma", "--only", "--robot", "--train", "--zstd"];
    let completions = Folder::new().abz(&["--generate", "bash"]).exits(0).stdout();
    let completions = String::from_utf8(completions).unwrap();
    let is_in_option = |letter: char| letter == '-' || letter.is_ascii_lowercase();
    let known: Vec<&str> = completions.split(|letter| !is_in_option(letter)).collect();
    for page in ["README.md", "../../book/src/installing.md"] {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(page)).unwrap();
        // Code inside of sentences: between two backticks of one line.
        let code = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
        let of_abz = code.filter(|code| code.starts_with("--") || code.starts_with("abz "));
        let options = of_abz.flat_map(|code| code.split(|letter| !is_in_option(letter)));
        let mut named = 0;
        for option in options.filter(|option| option.starts_with("--") && option.len() > 2) {
            assert!(known.contains(&option) || of_others.contains(&option), "{page} names {option}");
            named += 1;
        }
        assert!(named > 1, "{page} names {named} options");
    }
}

#[test]
fn whoever_sits_at_the_terminal_is_asked_before_a_file_is_overwritten() {
    if !have("script") {
        return;
    }
    for (answer, arguments, status, is_overwritten) in [
        ("y\n", "-k", 0, true),
        ("Yes\n", "-k", 0, true),
        ("n\n", "-k", 2, false),
        ("\n", "-k", 2, false),
        ("y\n", "-kq", 2, false),
    ] {
        let folder = Folder::new();
        folder.write("x", b"new");
        folder.write("x.gz", b"old");
        let mut command = program("script");
        let line = format!("{} {arguments} x", env!("CARGO_BIN_EXE_abz"));
        command.args(["-qec", &line, "/dev/null"]).current_dir(folder.path(""));
        let ended = fed(command, answer.as_bytes());
        if String::from_utf8_lossy(&ended.stderr).contains("failed to create pseudo-terminal") {
            return leave_out("questions at a terminal (none can be made here)");
        }
        let said = String::from_utf8_lossy(&ended.stdout);
        assert_eq!(ended.status.code(), Some(status), "{answer:?} {said}");
        assert_eq!(folder.read("x.gz") != b"old", is_overwritten, "{answer:?} {said}");
        let question = "abz: x.gz already exists; overwrite it (y or n)? ";
        assert_eq!(said.contains(question), arguments == "-k", "{said}");
    }
}
