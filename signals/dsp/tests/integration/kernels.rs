//! The kernels: the network gives the result of the loop, and DES is that of the standard.

use dsp::kernels::des::encrypt;
use dsp::kernels::{Digest, Kernel, Task};
use dsp::{Executor, Run};

use crate::command::{dsp, message};

#[test]
fn networks_give_the_digests_of_the_loops() {
    for kernel in Kernel::ALL {
        for burst in [1, 3] {
            let task = Task { blocks: 30, burst };
            let expected = kernel.run(&task, &Run::new(Executor::Inline)).unwrap();
            assert_ne!(expected, Digest::EMPTY);
            for workers in [1, 2, 3] {
                let found = kernel.run(&task, &Run::new(Executor::Workers(workers))).unwrap();
                assert_eq!(found, expected, "{}, bursts of {burst}, {workers} workers", kernel.name);
            }
        }
        // Another number of blocks is another result.
        let more = kernel.run(&Task { blocks: 31, burst: 1 }, &Run::new(Executor::Inline)).unwrap();
        assert_ne!(more, kernel.run(&Task { blocks: 30, burst: 1 }, &Run::new(Executor::Inline)).unwrap());
    }
}

#[test]
fn des_gives_known_answers() {
    for (key, block, expected) in [
        (0x1334_5779_9bbc_dff1, 0x0123_4567_89ab_cdef, 0x85e8_1354_0f0a_b405),
        (0x0e32_9232_ea6d_0d73, 0x8787_8787_8787_8787, 0),
        (0, 0, 0x8ca6_4de9_c1b1_23a7),
    ] {
        assert_eq!(encrypt(key, block), expected, "{key:016x}, {block:016x}");
    }
}

#[test]
fn command_writes_a_row_for_each_kernel() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["kernels", "--blocks", "20", "--rounds", "1", "--only", "des,bitonic"];
    let output = dsp(&arguments, folder.path(), b"");
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let names: Vec<_> = text.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, ["des", "bitonic"], "{text}{}", message(&output));
    let wrong = dsp(&["kernels", "--only", "none"], folder.path(), b"");
    assert_eq!(wrong.status.code(), Some(1));
    assert!(message(&wrong).contains("there is no kernel \"none\""), "{}", message(&wrong));
}
