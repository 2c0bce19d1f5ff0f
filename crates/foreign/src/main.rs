//! Prints the Debian packages whose programs the tests compare with, for `apt-get install`.
#![forbid(unsafe_code)]

fn main() {
    println!("{}", abz_foreign::packages().into_iter().collect::<Vec<_>>().join(" "));
}
