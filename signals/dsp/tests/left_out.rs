//! Prints in one line the tests that were skipped because a program is missing. Its name makes it run behind the
//! others. It has no harness, because cargo hides the output of other test programs.

fn main() {
    abz_foreign::tell();
}
