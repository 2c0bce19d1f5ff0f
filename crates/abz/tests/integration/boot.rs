//! The Linux kernel reads files of abz: an initramfs of concatenated archives in many formats.

use std::io::Read;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use crate::support::{Folder, fed, have, kernel, leave_out, noise, program, prose, send};

/// The init program. It prints the size and a checksum of each file in `/made`, and stops the machine.
const INIT: &str = r#"
#include <stdio.h>
#include <sys/reboot.h>
int main(void) {
    for (int n = 0; n < 100; n++) {
        char name[32];
        snprintf(name, sizeof name, "/made/%d", n);
        FILE *file = fopen(name, "rb");
        if (!file) continue;
        unsigned long size = 0, sum = 0;
        for (int byte; (byte = getc_unlocked(file)) != EOF; size++) sum = sum * 31 + byte;
        printf("made %d: %lu %lx\n", n, size, sum);
    }
    puts("init is done");
    fflush(stdout);
    return reboot(RB_POWER_OFF);
}
"#;

/// A cpio archive as in an initramfs, in the `newc` format of cpio(5).
fn archive(files: &[(&str, u32, &[u8])]) -> Vec<u8> {
    let mut archive = Vec::new();
    let mut put = |name: &str, mode: u32, data: &[u8]| {
        archive.extend(b"070701");
        let numbers = [0, mode, 0, 0, 1, 0, data.len() as u32, 0, 0, 0, 0, name.len() as u32 + 1, 0];
        numbers.iter().for_each(|number| archive.extend(format!("{number:08x}").bytes()));
        for part in [[name.as_bytes(), &[0]].concat(), data.to_vec()] {
            archive.extend(part);
            archive.resize(archive.len().next_multiple_of(4), 0);
        }
    };
    files.iter().for_each(|(name, mode, data)| put(name, *mode, data));
    put("TRAILER!!!", 0, b"");
    archive
}

/// The commands that make files the kernel can read: a name of abz, and options.
const WAYS: &[(&str, &[&str])] = &[
    ("abz", &[]),
    ("abz", &["-9", "-b64K"]),
    ("abz", &["--rsyncable"]),
    ("abz", &["-F", "bzip2"]),
    ("abz", &["-F", "xz", "--check", "crc32"]),
    ("abz", &["-F", "xz", "--check", "crc32", "-b300K"]),
    ("abz", &["-F", "zstd"]),
    ("abz", &["-F", "zstd", "-b256K"]),
    ("gzip", &["-n", "-9"]),
    ("pigz", &["-9"]),
    ("bzip2", &[]),
    ("lbzip2", &[]),
    ("xz", &["--check=crc32"]),
    ("xz", &["--format=lzma"]),
    ("zstd", &["-q"]),
    ("zstd", &["-q", "-19"]),
];

/// This may take longer than 10 s: a kernel boots in QEMU, without the help of the processor.
#[test]
fn the_kernel_unpacks_an_initramfs_of_every_format_that_it_knows() {
    let Some(kernel) = kernel() else { return };
    if !have("qemu-system-x86_64") || !have("cc") {
        return;
    }
    let folder = Folder::new();
    folder.write("init.c", INIT.as_bytes());
    let mut compile = program("cc");
    compile.args(["-O2", "-static", "-o", "init", "init.c"]).current_dir(folder.path(""));
    if !compile.output().unwrap().status.success() {
        return leave_out("a boot (the C library has no static form)");
    }
    let links = program(env!("CARGO_BIN_EXE_abz"))
        .args(["--install-links", "."])
        .current_dir(folder.path(""))
        .output();
    assert!(links.unwrap().status.success());

    let compressed = |(tool, options): (&str, &[&str]), data: &[u8]| {
        let tool = if tool == "abz" { env!("CARGO_BIN_EXE_abz").into() } else { folder.path(tool) };
        let mut command = program(tool);
        command.args(options).arg("-c");
        let output = fed(command, data);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let base = archive(&[("init", 0o100_755, &folder.read("init")), ("made", 0o040_755, b"")]);
    let mut initramfs = compressed(("pigz", &[]), &base);
    let mut expected = Vec::new();
    for (number, way) in WAYS.iter().enumerate() {
        let data = [prose(1_400_000 + number), noise(20_000, number as u64), vec![0; 50_000]].concat();
        let sum = data.iter().fold(0u64, |sum, &byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        expected.push(format!("made {number}: {} {sum:x}", data.len()));
        let part = archive(&[(&format!("made/{number}"), 0o100_644, &data)]);
        initramfs.extend(compressed(*way, &part));
    }
    folder.write("initramfs", &initramfs);

    // Emulation needs no support of the processor, so that the test also runs inside a virtual machine.
    let mut machine = program("qemu-system-x86_64");
    machine
        .args("-accel tcg -m 512 -display none -serial stdio -monitor none -nic none -no-reboot".split(' '));
    machine.arg("-kernel").arg(kernel).args([
        "-append",
        "console=ttyS0 panic=-1 quiet",
        "-initrd",
        "initramfs",
    ]);
    machine.current_dir(folder.path("")).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut machine = machine.spawn().unwrap();
    let (id, (done, is_done)) = (machine.id(), std::sync::mpsc::channel());
    // The machine stops by itself, unless it hangs.
    let watch = thread::spawn(move || {
        if is_done.recv_timeout(Duration::from_secs(300)).is_err() {
            send("KILL", id);
        }
    });
    let mut said = Vec::new();
    machine.stdout.take().unwrap().read_to_end(&mut said).unwrap();
    done.send(()).unwrap();
    machine.wait().unwrap();
    watch.join().unwrap();
    let said = String::from_utf8_lossy(&said);
    for (line, way) in expected.iter().zip(WAYS) {
        assert!(said.contains(line), "{way:?}: {line:?} is not in {said}");
    }
    assert!(said.contains("init is done"), "{said}");
}
