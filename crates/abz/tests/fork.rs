//! Readers and writers in a process that was forked from one that has readers and writers.
//!
//! A program of its own, because it forks while no other test holds a lock.

#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "the standard library has no fork")]

use std::io::{Read, Write};

unsafe extern "C" {
    safe fn fork() -> i32;
    safe fn _exit(status: i32) -> !;
    safe fn waitpid(process: i32, status: Option<&mut i32>, options: i32) -> i32;
    safe fn alarm(seconds: u32) -> u32;
}

/// Starts a writer on the threads of the process, and gives it some blocks.
fn begin(text: &[u8]) -> abz::Writer<Vec<u8>> {
    let mut writer =
        abz::WriterBuilder::new().format(abz::Format::Gzip).workers(2).build(Vec::new()).unwrap();
    writer.write_all(text).unwrap();
    writer
}

/// Whether what the writer has made reads as what it was given.
fn reads_back(writer: abz::Writer<Vec<u8>>, text: &[u8]) -> bool {
    let file = writer.finish().unwrap();
    let mut read = Vec::new();
    let mut reader = abz::ReaderBuilder::new().workers(2).build(&file[..]).unwrap();
    reader.read_to_end(&mut read).unwrap();
    read == text
}

#[test]
fn a_forked_process_has_threads_of_its_own() {
    let text: Vec<u8> = (0..400_000u32).flat_map(|n| (n.wrapping_mul(n) >> 3).to_le_bytes()).collect();
    for _ in 0..5 {
        let running = begin(&text);
        let child = fork();
        if child == 0 {
            alarm(120); // ends a child that hangs
            let is_right = reads_back(begin(&text), &text);
            // The writer of the parent cannot go on here, and its drop returns.
            let goes_on = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| running.finish().is_ok()));
            _exit(i32::from(!is_right) + 2 * i32::from(goes_on.unwrap_or(false)));
        }
        let mut status = -1;
        assert_eq!(waitpid(child, Some(&mut status), 0), child);
        assert_eq!(status, 0, "14 means that the child hung");
        assert!(reads_back(running, &text));
    }
}
