//! The C and the C++ interface, from programs in C and C++ (`tests/c`, `tests/cpp`), which are compiled here.
//!
//! If there is no compiler, or if it has no sanitizer, a test skips the parts that need it, and the last line of the
//! crate's tests says so.

mod compiler;
mod install;

use std::process::Command;

use compiler::{Language, Sanitizer, compile};

/// Compiles and runs a program, if there is a compiler.
fn check(compiler: Option<Command>, language: Language, source: &str, sanitizer: Option<Sanitizer>) {
    let Some(compiler) = compiler else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("program");
    if compile(compiler, language, source, sanitizer, &program) {
        compiler::run(Command::new(&program).env("TSAN_OPTIONS", compiler::TSAN_OPTIONS));
    }
}

#[test]
fn a_c11_program_gets_what_the_header_says() {
    check(Language::C11.compiler(), Language::C11, "c/api.c", None);
}

#[test]
fn a_c_program_that_is_compiled_as_cpp_gets_the_same() {
    check(Language::Cpp17.compiler(), Language::Cpp17, "c/api.c", None);
}

#[test]
fn the_contract_holds_from_cpp_under_address_sanitizer() {
    check(Language::Cpp17.compiler(), Language::Cpp17, "cpp/contract.cpp", Some(Sanitizer::Address));
}

#[test]
fn the_contract_holds_from_cpp_under_thread_sanitizer() {
    check(Language::Cpp17.compiler(), Language::Cpp17, "cpp/contract.cpp", Some(Sanitizer::Thread));
}

#[test]
fn clang_compiles_both_and_the_contract_holds() {
    check(Language::C11.clang(), Language::C11, "c/api.c", None);
    check(Language::Cpp17.clang(), Language::Cpp17, "cpp/contract.cpp", None);
}
