//! Annotated programs print the same as without annotations.

use std::path::Path;
use std::process::Command;

use crate::compiler::{compiler, printed, run, sparxx};

const CONSTRUCTS: &str = include_str!("programs/constructs.cpp");

/// Compiles the constructs with these flags, and runs them for several numbers of workers.
fn check(flags: &[&str]) {
    let Some(compiler) = compiler() else { return };
    check_with(compiler, sparxx, flags);
}

fn check_with(mut sequential: Command, sparxx: impl Fn(&Path) -> Command, flags: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("constructs.cpp"), CONSTRUCTS).expect("a file");
    let words = ["-std=c++17", "-O0", "-w", "constructs.cpp", "-o", "sequential"];
    run(sequential.current_dir(folder.path()).args(words));
    let expected = printed(&mut Command::new(folder.path().join("sequential")));
    let mut translate = sparxx(folder.path());
    translate.args(flags).args(["-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", "-Wno-attributes"]);
    let said = run(translate.args(["-spar_file", "constructs.cpp", "-o", "parallel"]));
    assert!(said.stderr.is_empty(), "{}", String::from_utf8_lossy(&said.stderr));
    for workers in ["1", "2", "4"] {
        let mut program = Command::new(folder.path().join("parallel"));
        let given = printed(program.env("SPAR_NUM_WORKERS", workers).env("ANABRANCH_WORKERS", workers));
        assert_eq!(given, expected, "{flags:?} {workers}");
    }
}

#[test]
fn every_construct_gives_what_the_loop_gives() {
    check(&[]);
}

#[test]
fn every_construct_gives_what_the_loop_gives_on_demand() {
    check(&["-spar_ordered", "-spar_ondemand", "2", "-spar_blocking"]);
}

#[test]
fn a_program_for_an_older_standard_is_compiled_for_the_one_that_it_needs() {
    if compiler().is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let text = r#"
#include <iostream>
int main() {
    long sum = 0;
    [[spar::ToStream]] for (int i = 0; i < 100; i++) {
        long n = i;
        [[spar::Stage, spar::Input(n), spar::Output(n), spar::Replicate(2)]] { n = n * n; }
        [[spar::Stage, spar::Input(n)]] { sum += n; }
    }
    std::cout << sum << " " << __cplusplus / 100 << "\n";
}
"#;
    std::fs::write(folder.path().join("squares.cpp"), text).expect("a file");
    for (standard, used) in [
        ("-std=c++1y", Some("-std=c++17")),
        ("-std=gnu++11", Some("-std=gnu++17")),
        ("--std=c++14", Some("-std=c++17")),
        ("-ansi", Some("-std=c++17")),
        ("-std=c++17", None),
        ("-O0", None),
    ] {
        let said = run(sparxx(folder.path()).args([standard, "-spar_file", "squares.cpp", "-o", "squares"]));
        let said = String::from_utf8_lossy(&said.stderr).into_owned();
        match used {
            Some(used) => {
                let expected = format!("is compiled with {used} and not with {standard}\n");
                assert!(said.ends_with(&expected) && said.lines().count() == 1, "{said}");
            }
            None => assert_eq!(said, ""),
        }
        assert_eq!(printed(&mut Command::new(folder.path().join("squares"))), "328350 2017\n", "{standard}");
    }
}

#[test]
fn every_construct_gives_what_the_loop_gives_with_clang() {
    if abz_foreign::have("clang++") {
        let sparxx = |folder: &Path| {
            let mut command = sparxx(folder);
            command.env("CXX", "clang++");
            command
        };
        check_with(Command::new("clang++"), sparxx, &[]);
    }
}

const UNORDERED: &str = r#"
#include <iostream>
#include <vector>
int main() {
    std::vector<int> seen(500);
    int sum = 0;
    [[spar::ToStream]]
    for (int i = 0; i < 500; i++) {
        int twice = 0;
        [[spar::Stage, spar::Input(i), spar::Output(twice), spar::Replicate(4)]] { twice = 2 * i; }
        [[spar::Stage, spar::Input(twice), spar::Output(sum)]] { sum += twice; }
    }
    std::cout << sum << std::endl;
    int count = 0;
    [[spar::ToStream]]
    for (int i = 0; i < 3; i++) {
        [[spar::Stage, spar::Input(i), spar::Replicate(count)]] { (void)i; }
    }
}
"#;

#[test]
fn order_can_be_given_up_and_no_replicas_are_told_of_at_run_time() {
    if compiler().is_none() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("u.cpp"), UNORDERED).expect("a file");
    run(sparxx(folder.path()).args(["-spar_unordered", "-O0", "-spar_file", "u.cpp", "-o", "u"]));
    let output = Command::new(folder.path().join("u")).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "249500\n");
    assert!(said.contains("u.cpp:17: spar::Replicate has to be 1 to 65536, and is 0"), "{said}");
}
