//! `capi install --prefix DIR`: installs the C and C++ library.

use std::path::PathBuf;
use std::process::ExitCode;

use anabranch_c::install::Installation;

const USAGE: &str = "\
Installs Anabranch for C and C++: headers, a static and a shared library, a CMake package, a pkg-config file.

Usage: capi install --prefix DIR

The libraries are those that were built with this program: cargo run --release -p capi -- install --prefix DIR
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let prefix = match words[..] {
        ["install", "--prefix", prefix] => PathBuf::from(prefix),
        ["install", one] if one.starts_with("--prefix=") => PathBuf::from(&one["--prefix=".len()..]),
        ["--help" | "-h" | "help"] => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    let built = std::env::current_exe().ok().and_then(|program| Some(program.parent()?.to_owned()));
    match (Installation { built: built.unwrap_or_default(), prefix }).install() {
        Ok(files) => {
            files.iter().for_each(|file| println!("{}", file.display()));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("capi: {error}");
            ExitCode::FAILURE
        }
    }
}
