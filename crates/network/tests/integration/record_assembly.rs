//! The instructions of a burst of 64 words on x86-64: no read-modify-write, one fence, and vector
//! instructions.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

const BURSTS: &str = r#"
use records::record::{Reader, Writer};

#[unsafe(no_mangle)]
pub fn write_burst(writer: &mut Writer<u64>, from: u64) -> bool {
    let Ok(mut slots) = writer.stall(64) else { return false };
    for slice in slots.slices_mut() {
        for (item, value) in slice.iter_mut().zip(from..) {
            *item = value;
        }
    }
    slots.commit();
    true
}

#[unsafe(no_mangle)]
pub fn read_burst(reader: &mut Reader<u64>) -> u64 {
    let items = reader.receive(64);
    let mut sum = 0u64;
    for slice in items.slices() {
        for &item in slice {
            sum = sum.wrapping_add(item);
        }
    }
    items.release();
    sum
}
"#;

/// The instructions of each function of [`BURSTS`], compiled against this crate as a release build would.
fn assembly() -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("record_assembly");
    fs::create_dir_all(&folder).unwrap();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let rustc = |arguments: &[&str], source: &Path| {
        let done = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()))
            .args(["--edition=2024", "-Copt-level=3", "-Ccodegen-units=1", "--cap-lints=allow", "--out-dir"])
            .arg(&folder)
            .args(arguments)
            .arg(source)
            .output()
            .expect("rustc runs");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    let extern_of = |name: &str| format!("{name}={}/lib{name}.rlib", folder.display());
    rustc(&["--crate-type=rlib", "--crate-name=anabranch_record"], &crates.join("record/src/lib.rs"));
    // Records alone: they need nothing else of this crate.
    let records = folder.join("records.rs");
    let path = crates.join("network/src/record/mod.rs");
    fs::write(&records, format!("#[path = {path:?}] pub mod record;")).unwrap();
    rustc(&["--crate-type=rlib", "--extern", &extern_of("anabranch_record")], &records);
    let source: PathBuf = folder.join("bursts.rs");
    fs::write(&source, BURSTS).unwrap();
    let library = format!("-Ldependency={}", folder.display());
    rustc(&["--crate-type=rlib", "--emit=asm", "--extern", &extern_of("records"), &library], &source);
    fs::read_to_string(folder.join("bursts.s")).unwrap()
}

fn instructions<'a>(assembly: &'a str, function: &str) -> Vec<&'a str> {
    let body = assembly.split_once(&format!("\n{function}:\n")).expect("the function is there").1;
    let body = body.split_once(".cfi_endproc").expect("it ends").0;
    body.lines().map(str::trim).filter(|line| !line.starts_with(['.', '#'])).collect()
}

/// A fence is `mfence` or, where that is faster, a locked *or* of 0 into the thread's own stack.
fn is_fence(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    matches!(words[..], ["mfence"] | ["lock", "orl", "$0,", "-64(%rsp)"])
}

#[test]
fn a_burst_has_no_read_modify_write_and_one_fence_and_is_vectorised() {
    let assembly = assembly();
    for function in ["write_burst", "read_burst"] {
        let instructions = instructions(&assembly, function);
        let text = instructions.join("\n");
        let count = |wanted: &dyn Fn(&str) -> bool| instructions.iter().filter(|line| wanted(line)).count();
        let locked = count(&|line| !is_fence(line) && (line.starts_with("lock") || line.starts_with("xchg")));
        assert_eq!(locked, 0, "{function} has a read-modify-write:\n{text}");
        let fences = count(&is_fence);
        assert!(fences <= 1, "{function} has {fences} fences:\n{text}");
        let packed = count(&|line| line.contains("paddq") && line.contains("xmm"));
        assert!(packed > 0, "{function} is not vectorised:\n{text}");
    }
}
