//! The forms of each program in `examples/cpp` print the same.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::compiler::{compiler, run, sparxx};

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the package is in `crates`")
}

/// Returns whether the compiler finds a header. If it does not, records that its programs are skipped.
fn has_header(header: &str) -> bool {
    let Some(mut compiler) = compiler() else { return false };
    let check = compiler
        .args(["-E", "-x", "c++", "-include", "cstdint", "-include", header, "/dev/null"])
        .stdout(Stdio::null());
    let found = check.stderr(Stdio::null()).status().is_ok_and(|status| status.success());
    if !found {
        abz_foreign::lack_header(header);
    }
    found
}

/// Compiles the forms of a program that can be compiled here.
fn forms(program: &str, folder: &Path, libraries: &[&str]) -> Vec<PathBuf> {
    let source = |form: &str| workspace().join(format!("examples/cpp/{program}_{form}.cpp"));
    let archive = Path::new(env!("CARGO_BIN_EXE_sparxx")).parent().expect("a program is in a folder");
    // The library beside the tests is built with them. Another one may be older.
    let archive = [archive.join("deps/libanabranch_c.a"), archive.join("libanabranch_c.a")];
    let archive = archive.into_iter().find(|archive| archive.is_file()).expect("the library was built");
    let mut built = Vec::new();
    for form in ["sequential", "annotated", "builder", "tbb", "fastflow"] {
        let mut command = match form {
            "annotated" => sparxx(folder),
            "tbb" if !has_header("oneapi/tbb/parallel_pipeline.h") => continue,
            "fastflow" if !has_header("ff/ff.hpp") => continue,
            _ => compiler().expect("there is a compiler"),
        };
        let path = folder.join(format!("{program}_{form}"));
        command.args(["-std=c++17", "-O1"]);
        match form {
            "annotated" => command.arg("-spar_file").arg(source(form)),
            "builder" => {
                command.arg("-I").arg(workspace().join("crates/capi/include")).arg(source(form)).arg(&archive)
            }
            "tbb" => command.arg(source(form)).arg("-ltbb"),
            _ => command.arg(source(form)),
        };
        command.args(libraries).args(["-pthread", "-ldl", "-lm", "-o"]).arg(&path);
        run(&mut command);
        built.push(path);
    }
    built
}

/// Runs the forms of a program on a file.
fn check(program: &str, input: &[u8], libraries: &[&str]) {
    if compiler().is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("input");
    std::fs::write(&file, input).expect("a file");
    let outputs: Vec<Vec<u8>> = forms(program, folder.path(), libraries)
        .iter()
        .map(|form| run(Command::new(form).stdin(File::open(&file).expect("the input"))).stdout)
        .collect();
    assert!(!outputs[0].is_empty() && outputs.iter().all(|output| *output == outputs[0]), "{program}");
}

#[test]
fn the_forms_of_the_log_filter_print_the_same() {
    let line = |number: u32| format!("10.0.0.{number} - - \"GET /{number}\" {} 12\n", 200 + number % 4 * 100);
    let log: String = (0..2_000).map(line).collect();
    check("log", log.as_bytes(), &[]);
}

#[test]
fn the_forms_of_the_frame_filter_print_the_same() {
    check("frames", b"", &[]);
}

/// Numbers that hardly compress, and are easily made.
fn numbers() -> Vec<u8> {
    (0..300_000u32).flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes()).collect()
}

/// Returns the input of a program that decompresses: the output of the sequential form of another example.
fn packed(program: &str, libraries: &[&str]) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let (source, path) =
        (workspace().join(format!("examples/cpp/{program}_sequential.cpp")), folder.path().join(program));
    let mut compile = compiler().expect("there is a compiler");
    run(compile.args(["-std=c++17", "-O1"]).arg(source).args(libraries).arg("-o").arg(&path));
    let file = folder.path().join("input");
    std::fs::write(&file, numbers()).expect("a file");
    run(Command::new(&path).stdin(File::open(&file).expect("the input"))).stdout
}

#[test]
fn the_forms_of_the_compressor_write_the_same() {
    if has_header("bzlib.h") {
        check("bzip2", &numbers(), &["-lbz2"]);
    }
}

#[test]
fn the_forms_of_the_decompressor_give_back_what_was_compressed() {
    if has_header("bzlib.h") {
        // Two files in one, as `cat` makes them.
        check("bunzip2", &packed("bzip2", &["-lbz2"]).repeat(2), &["-lbz2"]);
    }
}

/// This may take longer than 10 s: ten programs are linked, and the level of lzip that they share is slow.
#[test]
fn the_forms_for_lzip_write_the_same_both_ways() {
    if has_header("lzlib.h") {
        check("lzip", &numbers(), &["-llz"]);
        check("lunzip", &packed("lzip", &["-llz"]).repeat(3), &["-llz"]);
    }
}
