//! Says in one line what the tests left out because a program is missing. It runs behind the others, by its name, and has no
//! harness, because cargo keeps what other test programs print.

fn main() {
    abz_foreign::tell();
}
