//! An error in an annotation is reported at the user's own token, and says what to write instead.
//!
//! After a change of the messages, run `MISUSE=overwrite cargo test -p anabranch --test integration misuse`
//! and read the difference.

use std::io::Write;
use std::path::Path;
use std::{env, fs};

use crate::compiler;

/// The version of the compiler whose output is in the files next to the programs. Other versions may print
/// our messages in another layout, and have other messages of their own.
const RUSTC: &str = "1.95";

/// The messages of the compiler, without the lines that only count the errors, and without those that name lines of this
/// crate or files of this machine.
fn errors(stderr: &str) -> String {
    let stderr = without_our_places(stderr);
    let is_count = |block: &&str| {
        ["error: aborting due to", "For more information", "Some errors have detailed"]
            .iter()
            .any(|start| block.starts_with(start))
    };
    let blocks: Vec<&str> = stderr.split("\n\n").map(str::trim_end).collect();
    blocks.into_iter().filter(|block| !block.is_empty() && !is_count(block)).collect::<Vec<_>>().join("\n\n")
        + "\n"
}

/// The lines of a text that neither point into this crate nor name files that the compiler wrote.
fn without_our_places(stderr: &str) -> String {
    let lines: Vec<&str> = stderr.lines().collect();
    let points_here = |line: &str| line.trim_start().starts_with("--> crates/anabranch/src/");
    let mut kept = String::new();
    for (at, line) in lines.iter().enumerate() {
        let leads_here = lines.get(at + 1).is_some_and(|next| points_here(next));
        let names_files = line.contains("the full name for the type has been written to")
            || line.contains("consider using `--verbose` to print the full type name");
        if !leads_here && !points_here(line) && !names_files {
            kept += line;
            kept += "\n";
        }
    }
    kept
}

/// The errors of the macro among the compiler's messages: what is wrong, and where.
fn our_errors(errors: &str) -> Vec<(&str, &str)> {
    let ours = errors.split("\n\n").filter(|block| block.starts_with("error: "));
    ours.map(|block| {
        let place = block.lines().find_map(|line| line.trim_start().strip_prefix("--> "));
        (block.lines().next().unwrap_or_default(), place.unwrap_or_default())
    })
    .collect()
}

#[test]
fn each_misuse_has_a_message_that_leads_back() {
    let overwrites = env::var_os("MISUSE").is_some_and(|value| value == "overwrite");
    let is_known = compiler::version() == RUSTC;
    let (programs, folder) = (Path::new("tests/misuse"), compiler::folder("misuse"));
    let mut differences = String::new();
    let mut count = 0;
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(programs)).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        count += 1;
        let program = programs.join(path.file_name().expect("a file"));
        let output = compiler::compile(&program, &folder);
        let said = errors(&String::from_utf8(output.stderr).expect("the compiler writes UTF-8"));
        assert!(!output.status.success(), "{} compiles", program.display());
        let expectation = path.with_extension("stderr");
        if overwrites {
            fs::write(&expectation, &said).unwrap();
        }
        let expected = fs::read_to_string(&expectation).unwrap_or_default();
        let is_same = if is_known { said == expected } else { our_errors(&said) == our_errors(&expected) };
        if !is_same {
            differences += &format!("{}:\n{said}\ninstead of\n{expected}\n", program.display());
        }
    }
    assert!(count > 0, "there are programs");
    assert!(differences.is_empty(), "{differences}");
    if !is_known {
        // Written directly, because the output of a test that passes is not shown.
        let said =
            format!("misuse: checked without the layout of messages, which is that of rustc {RUSTC}\n");
        std::io::stdout().write_all(said.as_bytes()).unwrap();
    }
}
