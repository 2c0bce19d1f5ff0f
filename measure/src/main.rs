//! Measures Anabranch: what it promises, and the applications of its suite.
//!
//!     cargo run --release --manifest-path measure/Cargo.toml -- core --quick
//!     cargo run --release --manifest-path measure/Cargo.toml -- suite run --quick --out DIR
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1).peekable();
    match words.peek().map(String::as_str) {
        Some("suite") => measure_applications::main(words.skip(1)),
        // The suite starts this program for each variant of an application.
        Some("serve" | "observe" | "contract") => measure_applications::main(words),
        _ => measure_promises::main(words),
    }
}
