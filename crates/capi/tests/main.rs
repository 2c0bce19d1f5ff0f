//! The C and the C++ interface, from programs in C and C++ (`tests/c`, `tests/cpp`), which are compiled here.
//!
//! If there is no compiler, or if it has no sanitizer, a test prints in one line what it has skipped.

mod compiler;
mod install;

use compiler::{Language, Sanitizer, compile};

/// Compiles and runs a program, or prints what is skipped.
fn check(language: Language, source: &str, sanitizer: Option<Sanitizer>) {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("program");
    if compile(language, source, sanitizer, &program) {
        compiler::run(std::process::Command::new(&program).env("TSAN_OPTIONS", compiler::TSAN_OPTIONS));
    }
}

#[test]
fn a_c11_program_gets_what_the_header_says() {
    check(Language::C11, "c/api.c", None);
}

#[test]
fn a_c_program_that_is_compiled_as_cpp_gets_the_same() {
    check(Language::Cpp17, "c/api.c", None);
}

#[test]
fn the_contract_holds_from_cpp_under_address_sanitizer() {
    check(Language::Cpp17, "cpp/contract.cpp", Some(Sanitizer::Address));
}

#[test]
fn the_contract_holds_from_cpp_under_thread_sanitizer() {
    check(Language::Cpp17, "cpp/contract.cpp", Some(Sanitizer::Thread));
}
