//! The program as a compiler: its arguments, its exit status, and its files.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use sparxx::command::arguments::{Action, Word, parse};

use crate::compiler::{compiler, printed, run, sparxx};

const PROGRAM: &str = r#"#include "beside.h"
#include <cstdio>
int main() {
    long sum = 0;
    [[spar::ToStream]]
    for (int i = 0; i < COUNT; i++) {
        int twice = 0;
        [[spar::Stage, spar::Replicate(2)]] { twice = 2 * i; }
        [[spar::Stage]] { sum += twice; }
    }
    std::printf("%ld\n", sum);
}
"#;

/// A folder with a program in a folder of its own, with a header beside it.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("src")).expect("a folder");
    fs::create_dir(folder.path().join("tmp")).expect("a folder");
    fs::write(folder.path().join("src/main.cpp"), PROGRAM).expect("a file");
    fs::write(folder.path().join("src/beside.h"), "#define COUNT 100\n").expect("a file");
    // A header of the same name in the working directory must not be used.
    fs::write(folder.path().join("beside.h"), "#error wrong\n").expect("a file");
    folder
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).expect("it is there").next().is_none()
}

#[test]
fn objects_are_compiled_apart_and_dependencies_name_the_users_file() {
    if compiler().is_none() {
        return;
    }
    let folder = project();
    let tmp = folder.path().join("tmp");
    let mut compile = sparxx(folder.path());
    compile.env("TMPDIR", &tmp).args(["-O0", "-MD", "-MP", "-c", "-spar_file", "src/main.cpp"]);
    run(&mut compile);
    let dependencies = fs::read_to_string(folder.path().join("main.d")).expect("there are dependencies");
    assert!(dependencies.starts_with("main.o:") && dependencies.contains("src/main.cpp"), "{dependencies}");
    assert!(dependencies.contains("src/beside.h") && !dependencies.contains("sparxx-"), "{dependencies}");
    run(sparxx(folder.path()).env("TMPDIR", &tmp).args(["main.o", "-o", "program"]));
    assert_eq!(printed(&mut std::process::Command::new(folder.path().join("program"))), "9900\n");
    assert!(is_empty(&tmp), "files are left in {}", tmp.display());
}

#[test]
fn the_compilers_errors_are_at_the_users_place_and_its_status_is_ours() {
    let Some(_) = compiler() else { return };
    let folder = project();
    let tmp = folder.path().join("tmp");
    let wrong = PROGRAM.replace("twice = 2 * i", "twice = 2 * unknown_name");
    fs::write(folder.path().join("src/wrong.cpp"), wrong).expect("a file");
    let mut compile = sparxx(folder.path());
    let output =
        compile.env("TMPDIR", &tmp).args(["-c", "-spar_file", "src/wrong.cpp", "-o", "wrong.o"]).output();
    let output = output.expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    // The column is that of the translation. The line and the text are those of the user's file.
    assert!(said.contains("src/wrong.cpp:8:") && said.contains("unknown_name"), "{said}");
    assert!(!folder.path().join("wrong.o").exists() && is_empty(&tmp));
}

#[cfg(unix)]
#[test]
fn a_missing_or_failing_compiler_is_told_of() {
    let folder = project();
    let tmp = folder.path().join("tmp");
    let compile = |compiler: &str| {
        let mut compile = sparxx(folder.path());
        compile.env("TMPDIR", &tmp).env("CXX", compiler).args(["-spar_file", "src/main.cpp"]);
        compile.output().expect("it runs")
    };
    let missing = compile("no-such-compiler");
    assert_eq!(missing.status.code(), Some(1));
    let said = String::from_utf8_lossy(&missing.stderr);
    assert!(said.contains("there is no compiler `no-such-compiler`") && said.contains("CXX"), "{said}");
    let script = folder.path().join("compiler");
    // A shell reads it. A script that was just written cannot be run while a child of another test still has it open.
    fs::write(&script, "echo \"$@\" > words\nexit 42\n").expect("a file");
    let failing = compile(&format!("sh {} -first", script.display()));
    assert_eq!(failing.status.code(), Some(42));
    let words = fs::read_to_string(folder.path().join("words")).expect("the compiler was called");
    assert!(
        words.starts_with("-first ") && words.contains("/main.cpp") && words.contains(".a -pthread"),
        "{words}"
    );
    fs::write(&script, "kill -TERM $$\n").expect("a file");
    assert_eq!(compile(&format!("sh {}", script.display())).status.code(), Some(128 + 15));
    assert!(is_empty(&tmp), "files are left in {}", tmp.display());
}

#[test]
fn files_that_are_wrong_stop_the_compiler() {
    let folder = project();
    fs::write(folder.path().join("private.cpp"), "int x; // \u{10fe90}\n[[spar::Stage]]").expect("a file");
    fs::write(folder.path().join("misuse.cpp"), "void f() {\n    [[spar::Stage]] g();\n}\n").expect("a file");
    let said = |words: &[&str]| {
        let output =
            sparxx(folder.path()).env("CXX", "no-such-compiler").args(words).output().expect("it runs");
        assert_eq!(output.status.code(), Some(1), "{words:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(
        said(&["-spar_file", "private.cpp"])
            .contains("private.cpp: the file has the private character U+10FE90")
    );
    assert!(said(&["-spar_file", "absent.cpp"]).contains("cannot read absent.cpp"));
    let misuse = said(&["-spar_file", "misuse.cpp"]);
    assert!(misuse.starts_with("misuse.cpp:2:5: error: a stage is outside of every region\n"), "{misuse}");
    assert!(misuse.contains("    2 |     [[spar::Stage]] g();\n      |     ^~~~~~~~~~~~~~~\n"), "{misuse}");
    assert!(said(&["--check", "misuse.cpp"]).contains("1 error in misuse.cpp"));
    assert!(said(&["-spar_cluster"]).contains("not supported"));
    assert!(said(&["-spar_odd"]).contains("no such flag"));
    assert!(said(&["-spar_file"]).contains("needs a file"));
    assert!(said(&["--check"]).contains("no C++ file"));
}

#[test]
fn plans_and_translations_are_printed() {
    let folder = project();
    let text = printed(sparxx(folder.path()).args(["--plan", "src/main.cpp"]));
    assert!(text.contains("replicated stage") && text.contains("stage 2, line 9"), "{text}");
    assert!(printed(sparxx(folder.path()).args(["--plan=dot", "src/main.cpp"])).contains("digraph"));
    assert!(printed(sparxx(folder.path()).args(["--plan=svg", "src/main.cpp"])).contains("<svg"));
    let text = printed(sparxx(folder.path()).args(["-spar_print", "-spar_file", "src/main.cpp"]));
    assert!(text.contains("#include <anabranch/spar.hpp>") && !text.contains("[[spar"), "{text}");
    assert!(printed(sparxx(folder.path()).arg("--help")).contains("-spar_ondemand"));
    run(sparxx(folder.path()).args(["--check", "src/main.cpp"]));
}

#[cfg(unix)]
#[test]
fn a_link_calls_the_same_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let bin = folder.path().join("new/bin");
    for _ in 0..2 {
        run(sparxx(folder.path()).arg("--install-links").arg(&bin));
    }
    assert!(
        printed(std::process::Command::new(bin.join("spar++")).arg("-h")).contains("spar++ runs annotated")
    );
}

#[test]
fn sparx_words_are_understood_wherever_they_stand() {
    let words = |line: &str| parse(line.split(' ').map(OsString::from)).expect("it makes sense");
    let one = words("-std=c++1y -spar_ondemand -spar_blocking -spar_file x.cpp -c -o x.o");
    assert_eq!(
        (one.options.on_demand, one.options.is_blocking, one.options.is_ordered),
        (Some(1), true, true)
    );
    let texts: Vec<String> = one
        .words
        .iter()
        .map(|word| match word {
            Word::Source(path) => format!("source {}", path.display()),
            Word::Option(word) | Word::Input(word) => word.to_string_lossy().into_owned(),
        })
        .collect();
    assert_eq!(texts, ["-std=c++1y", "source x.cpp", "-c", "-o", "x.o"]);
    let other = words("-O3 x.cpp -spar_unordered -spar_ondemand 16 y.o -lbz2 -o x.cpp");
    assert_eq!((other.options.on_demand, other.options.is_ordered), (Some(16), false));
    assert_eq!(other.files, [Path::new("x.cpp")]);
    assert_eq!(words("--plan=svg x.cpp").action, Action::Plan(sparxx::command::arguments::Format::Svg));
    assert!(parse(["-spar_ondemand", "0"].map(OsString::from)).is_err());
}

/// Returns the output of a program of [`project`].
fn sum(program: &Path) -> String {
    printed(&mut std::process::Command::new(program))
}

const CMAKE: &str =
    "cmake_minimum_required(VERSION 3.13)\nproject(sum CXX)\nadd_executable(sum src/main.cpp)\n";

#[test]
fn cmake_takes_it_for_a_compiler_and_sees_changed_headers() {
    if compiler().is_none() || !abz_foreign::have("cmake") || !abz_foreign::have("make") {
        return;
    }
    let folder = project();
    fs::write(folder.path().join("CMakeLists.txt"), CMAKE).expect("a file");
    let cmake = |words: &[&str]| {
        let mut cmake = abz_foreign::command("cmake");
        cmake.current_dir(folder.path()).args(words);
        cmake
    };
    let named = format!("-DCMAKE_CXX_COMPILER={}", env!("CARGO_BIN_EXE_sparxx"));
    run(&mut cmake(&["-G", "Unix Makefiles", "-S", ".", "-B", "build", &named]));
    run(&mut cmake(&["--build", "build"]));
    assert_eq!(sum(&folder.path().join("build/sum")), "9900\n");
    fs::write(folder.path().join("src/beside.h"), "#define COUNT 10\n").expect("a file");
    // The header has to be newer than the program.
    let now = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
    let header =
        fs::File::options().append(true).open(folder.path().join("src/beside.h")).expect("the header");
    header.set_modified(now).expect("files have times");
    run(&mut cmake(&["--build", "build"]));
    assert_eq!(sum(&folder.path().join("build/sum")), "90\n");
}

#[test]
fn make_takes_it_for_a_compiler() {
    if compiler().is_none() || !abz_foreign::have("make") {
        return;
    }
    let folder = project();
    let makefile = "sum: main.o\n\t$(CXX) $(CXXFLAGS) -o $@ main.o\nmain.o: src/main.cpp\n\t$(CXX) $(CXXFLAGS) -c -o $@ src/main.cpp\n";
    fs::write(folder.path().join("Makefile"), makefile).expect("a file");
    let mut make = abz_foreign::command("make");
    // `make` hands CXX on to the programs that it calls.
    make.current_dir(folder.path()).arg(format!("CXX={}", env!("CARGO_BIN_EXE_sparxx"))).arg("CXXFLAGS=-O0");
    run(&mut make);
    assert_eq!(sum(&folder.path().join("sum")), "9900\n");
}

#[test]
fn a_region_in_a_header_is_warned_of() {
    if compiler().is_none() {
        return;
    }
    let folder = project();
    let header =
        "inline void nothing() {\n    [[spar::ToStream]]\n    for (;;) { [[spar::Stage]] { break; } }\n}\n";
    fs::create_dir(folder.path().join("include")).expect("a folder");
    fs::write(folder.path().join("include/region.h"), format!("#pragma once\n{header}")).expect("a file");
    fs::write(folder.path().join("src/plain.cpp"), "#include <region.h>\n#include \"beside.h\"\n")
        .expect("a file");
    let mut compile = sparxx(folder.path());
    let said = run(compile.args(["-Iinclude", "-w", "-c", "src/plain.cpp", "-o", "plain.o"])).stderr;
    let said = String::from_utf8_lossy(&said);
    assert!(said.starts_with("include/region.h:3:5: warning: headers are not translated"), "{said}");
    assert_eq!(said.matches("warning").count(), 1, "{said}");
}
