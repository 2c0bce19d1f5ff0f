//! Prints one line about tests that were skipped because a program is missing. It runs after the other test programs,
//! by its name, and has no harness, because cargo captures the output of those.

fn main() {
    abz_foreign::tell();
}
