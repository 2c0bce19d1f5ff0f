//! The C and the C++ interface, from programs in C and C++ (`tests/c`, `tests/cpp`), which are compiled here.
//!
//! If there is no compiler, or if it has no sanitizer, a test skips the parts that need it, and the last line of the
//! crate's tests says so.

mod cases;
mod compiler;
mod contract_support;
mod generator;
mod install;

use std::process::Command;

use compiler::{Language, Sanitizer, compile};

/// The program that checks the contract from C++.
const CONTRACT: &str = "cpp/contract.cpp";

/// Compiles and runs a program, if there is a compiler. The program of the contract runs the cases of the generator too.
fn check(compiler: Option<Command>, language: Language, source: &str, sanitizer: Option<Sanitizer>) {
    let Some(compiler) = compiler else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("program");
    if compile(compiler, language, source, sanitizer, &program) {
        compiler::run(Command::new(&program).env("TSAN_OPTIONS", compiler::TSAN_OPTIONS));
        if source == CONTRACT {
            cases::hold(&program);
        }
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

/// This may take longer than 10 s: a compiler takes most of it for the templates, with the checks of the sanitizer.
#[test]
fn the_contract_holds_from_cpp_under_address_sanitizer() {
    check(Language::Cpp17.compiler(), Language::Cpp17, CONTRACT, Some(Sanitizer::Address));
}

/// This may take longer than 10 s: a compiler takes most of it for the templates, with the checks of the sanitizer.
#[test]
fn the_contract_holds_from_cpp_under_thread_sanitizer() {
    check(Language::Cpp17.compiler(), Language::Cpp17, CONTRACT, Some(Sanitizer::Thread));
}

/// The number of the first line of `main`.
const FIRST_LINE: usize = 5;

/// Compiles the lines of a program's `main` without making code. Returns what the compiler says, or `None` if it takes them.
fn refused(mut compiler: Command, arguments: &[&str], lines: &str) -> Option<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("program.cpp");
    let program = format!(
        "#include <anabranch.hpp>\n#include <anabranch/recycler.hpp>\n#include <anabranch/spar.hpp>\nint main() {{\n{lines}\n}}\n"
    );
    std::fs::write(&source, program).expect("a program");
    let include = compiler::here().join("include");
    compiler.args(["-std=c++17", "-fsyntax-only"]).args(arguments).env("LC_ALL", "C").arg("-I").arg(include);
    let output = compiler.arg(source).output().expect("the compiler runs");
    (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

fn cpp_compilers() -> impl Iterator<Item = fn() -> Option<Command>> {
    let usual: fn() -> Option<Command> = || Language::Cpp17.compiler();
    let clang: fn() -> Option<Command> = || Language::Cpp17.clang();
    [usual, clang].into_iter()
}

/// Calls of each method. They have no warning.
const EVERYTHING: &str = r#"
    std::vector<int> numbers{1, 2, 3};
    anabranch::report report;
    anabranch::cancel_token token;
    auto all = anabranch::from(numbers).in_blocks().window_bytes(9, [](int) { return 1u; }).map([](int n) { return n + 1L; })
        .filter([](const long &n) { return n > 1; }).inspect([](long) {}).name("seen").replicate(2).unordered()
        .filter_map([](long n) { return std::optional<long>(n); })
        .map_init([] { return 3L; }, [](long &state, long n) { return state + n; }).take_while([](long) { return true; })
        .serial_map([](long n) { return n; }).serial_filter_map([](long n) { return std::optional<long>(n); })
        .workers(2).window(3).burst(1).spin().title("all").cancel_by(token).report(report).trace()
        .on_progress([](anabranch::progress) {}).collect();
    anabranch::from(std::vector<short>{1, 2}).run_inline().for_each([](short) {});
    auto sum = anabranch::iota(0, 10).fold(0, [](int a, int b) { return a + b; });
    auto found = anabranch::from_fn([] { return std::optional<int>(); }).find([](int n) { return n == 2; });
    auto started = anabranch::sent<int>().map([](int n) { return n; }).start([](int) {});
    started.send(sum + (found ? 1 : 0));
    started.finish();
    return all.empty() || anabranch::iota(0, 1).count() == 2 ? 1 : 0;
"#;

#[test]
fn the_headers_have_no_warnings() {
    let warnings =
        ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wsign-conversion", "-Werror"];
    for compiler in cpp_compilers() {
        let said = compiler().and_then(|compiler| refused(compiler, &warnings, EVERYTHING));
        assert_eq!(said, None);
    }
}

#[test]
fn what_does_not_fit_is_refused_in_plain_words() {
    let stages = [
        ("map(", ")", "", true),
        ("filter(", ")", "", true),
        ("inspect(", ")", "", true),
        ("filter_map(", ")", "", true),
        ("map_init([] { return 1; }, ", ")", "int, ", true),
        ("serial_map(", ")", "", false),
        ("serial_filter_map(", ")", "", false),
        ("take_while(", ")", "", false),
        ("for_each(", ")", "", false),
    ];
    let stream = "anabranch::iota(0, 3).";
    let large = "struct large { char bytes[200000]; }; anabranch::sent<large>().start([](const large &) {});";
    let mut cases = vec![(large.to_owned(), "at most 128 KiB")];
    for (before, after, first, is_parallel) in stages {
        let call = |function: &str| format!("{stream}{before}{}{after};", function.replace("FIRST", first));
        if is_parallel {
            cases.push((
                call("[n = 0](FIRST int item) mutable { return n += item; }"),
                "several items at once",
            ));
        }
        cases.push((call("[](FIRST int &item) { return item; }"), "takes its item by T &"));
        cases.push((
            call("[](FIRST const std::string &text) { return text; }"),
            "cannot be called with the items",
        ));
    }
    // All are refused in one call of a compiler, which tells each of them if it is told to.
    let lines: String = cases.iter().map(|(lines, _)| format!("{{ {lines} }}\n")).collect();
    for compiler in cpp_compilers() {
        let refused =
            |arguments: &[&str], lines: &str| compiler().map(|compiler| refused(compiler, arguments, lines));
        let Some(without_limit) = refused(&["-ferror-limit=0"], "") else { return };
        let arguments: &[&str] =
            if without_limit.is_none() { &["-w", "-ferror-limit=0"] } else { &["-w", "-fmax-errors=0"] };
        let said = refused(arguments, &lines).flatten().expect("the compiler refuses them");
        for (at, (line, words)) in cases.iter().enumerate() {
            let place = format!("program.cpp:{}:", FIRST_LINE + at);
            assert!(said.contains(&place), "{line} is not refused:\n{said}");
            let is_asked = |(_, others): &&(String, &str)| others == words;
            let told = said.lines().filter(|said| said.contains("error: static") && said.contains(words));
            assert_eq!(told.count(), cases.iter().filter(is_asked).count(), "{words}:\n{said}");
        }
        let said = refused(&["-fno-exceptions"], "").flatten().expect("the compiler refuses it");
        assert!(said.contains("needs exceptions"), "{said}");
    }
}

#[test]
fn clang_compiles_both_and_the_contract_holds() {
    check(Language::C11.clang(), Language::C11, "c/api.c", None);
    check(Language::Cpp17.clang(), Language::Cpp17, CONTRACT, None);
}
