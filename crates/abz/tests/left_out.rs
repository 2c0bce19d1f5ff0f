//! Prints in one line which tests were left out because a program is missing. Its name makes it run after the others.
//! It has no harness, because cargo captures the output of tests with one.

fn main() {
    abz_foreign::tell();
}
