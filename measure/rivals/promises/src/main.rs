//! Futures and a ring of tasks, with tokio.
//!
//! The words of a request are those of the function that answers it.
#![forbid(unsafe_code)]

mod futures;
mod ring;

use std::io;

use measure_harness::machine::locked_version;
use measure_harness::rival::serve;

fn main() -> io::Result<()> {
    let tokio = locked_version(include_str!("../../Cargo.lock"), "tokio");
    let forms = ["tokio", "tokio-polled", "ring"].map(|name| (name, tokio.clone()));
    serve(&forms, "", |words| match words.first() {
        Some(&"tokio") => futures::buffered(words),
        Some(&"tokio-polled") => futures::polled(words),
        Some(&"ring") => ring::answer(words),
        _ => Err(format!("no form is called \"{}\"", words.join(" "))),
    })
}
