//! Nonblocking standard streams: abz waits until they are ready.

use std::io::{PipeReader, PipeWriter, Read, Write};
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::ioctl_fionread;

use crate::support::{Folder, Ran, noise, program};

/// Makes a pipe. `end` makes one of its ends nonblocking.
fn pipe(end: impl Fn(&PipeReader, &PipeWriter) -> rustix::io::Result<()>) -> (PipeReader, PipeWriter) {
    let (reader, writer) = std::io::pipe().unwrap();
    end(&reader, &writer).unwrap();
    (reader, writer)
}

fn reader_waits_not(reader: &PipeReader, _: &PipeWriter) -> rustix::io::Result<()> {
    fcntl_setfl(reader, fcntl_getfl(reader)? | OFlags::NONBLOCK)
}

fn writer_waits_not(_: &PipeReader, writer: &PipeWriter) -> rustix::io::Result<()> {
    fcntl_setfl(writer, fcntl_getfl(writer)? | OFlags::NONBLOCK)
}

/// Waits until `is_so` is true for the number of bytes in the pipe.
fn wait_for(pipe: &PipeReader, is_so: impl Fn(u64) -> bool) {
    let began = Instant::now();
    while !is_so(ioctl_fionread(pipe).unwrap()) {
        assert!(began.elapsed() < Duration::from_secs(60), "nothing was read or written");
        thread::yield_now();
    }
}

/// Runs a program with nonblocking standard input and output, and returns its output. Each piece of input is written
/// once the one before has been read. Output is not read before the pipe is full or everything has been written.
fn run(tool: &Path, words: &[&str], input: &[u8]) -> (Ran, Vec<u8>) {
    let (reader, mut writer) = pipe(reader_waits_not);
    let (mut written, output) = pipe(writer_waits_not);
    let mut command = program(tool);
    command.args(words).stdin(reader.try_clone().unwrap()).stdout(output).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    // The command also holds an end of the pipe.
    drop(command);
    let all = thread::scope(|scope| {
        scope.spawn(move || {
            for piece in input.chunks(input.len() / 20 + 1) {
                // The child may have ended with an error.
                if writer.write_all(piece).is_err() {
                    return;
                }
                wait_for(&reader, |left| left == 0);
            }
        });
        wait_for(&written, |there| there >= 32 << 10);
        let mut all = Vec::new();
        written.read_to_end(&mut all).unwrap();
        all
    });
    (Ran(child.wait_with_output().unwrap()), all)
}

#[test]
fn standard_streams_that_do_not_wait_are_waited_for() {
    let (folder, data) = (Folder::new(), noise(400_000, 5));
    folder.abz(&["--install-links", "."]).exits(0);
    for format in abz::Format::written() {
        for threads in ["-p1", "-p2"] {
            let abz = Path::new(env!("CARGO_BIN_EXE_abz"));
            let (ran, compressed) = run(abz, &["-cF", format.name(), "-1", threads], &data);
            ran.exits(0).says("");
            let (ran, plain) = run(abz, &["-dc", threads], &compressed);
            ran.exits(0).says("");
            assert!(plain == data, "{}", format.name());
        }
    }
    for name in ["gzip", "pigz", "bzip2", "lbzip2", "lzip", "plzip", "xz", "zstd"] {
        let (ran, compressed) = run(&folder.path(name), &["-c"], &data);
        ran.exits(0).says("");
        let (ran, plain) = run(&folder.path(name), &["-dc"], &compressed);
        ran.exits(0).says("");
        assert!(plain == data, "{name}");
    }
}

#[test]
fn messages_and_lists_wait_for_their_readers() {
    let folder = Folder::new();
    folder.write("x", b"data");
    folder.abz(&["-k", "x"]).exits(0);
    let names = vec!["x.gz"; 3_000];
    for (words, is_told, least) in [(&["-l"][..], false, 60_000), (&["-tv"], true, 20_000)] {
        let (mut reader, writer) = pipe(writer_waits_not);
        let mut command = folder.command(&[words, &names].concat());
        let said = writer.try_clone().unwrap();
        match is_told {
            true => command.stdout(Stdio::null()).stderr(writer),
            false => command.stdout(writer).stderr(Stdio::inherit()),
        };
        // The pipe is almost full.
        (&said).write_all(&vec![b'\n'; (64 << 10) - 100]).unwrap();
        drop(said);
        let mut child = command.spawn().unwrap();
        drop(command);
        wait_for(&reader, |there| there > (64 << 10) - 100);
        let mut all = String::new();
        reader.read_to_string(&mut all).unwrap();
        assert!(child.wait().unwrap().success());
        let lines = all.lines().filter(|line| line.contains('x')).count();
        assert!(lines >= 3_000 && all.len() >= least, "{lines} lines of {}", all.len());
    }
}
