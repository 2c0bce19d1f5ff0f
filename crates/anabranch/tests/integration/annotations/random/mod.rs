//! Random annotated functions against their plain forms: equal, or refused by the compiler.
//!
//! A group of functions is one program. The compiler says which of them it refuses, the others run. A
//! function that is right should not be refused: see `MOST_REFUSED`.
//!
//!     ANNOTATED=20000 cargo test -p anabranch --test integration annotated_functions -- --ignored --nocapture

mod draw;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;

use crate::compiler;
use draw::{Program, program};

/// The code that every program has.
const BEGINNING: &str = r#"#![allow(warnings)]
use anabranch::stream;
pub fn mix(a: u64, b: u64) -> u64 { (a.rotate_left(5) ^ b).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 7 }
pub fn work(n: u64) -> u64 { (0..n % 700).fold(n, |all, k| std::hint::black_box(mix(all, k))) }
pub fn look(n: &u64) -> u64 { *n }
pub fn touch(n: &mut u64, x: u64) -> u64 { *n = mix(*n, x); *n }
pub fn grow(list: &mut Vec<u64>, x: u64) -> u64 { list.push(x); x }
pub fn with(mut list: Vec<u64>, x: u64) -> Vec<u64> { list.push(x); list }
pub fn check(fails: bool, x: u64) -> Result<(), u64> { if fails { Err(x) } else { Ok(()) } }
pub struct Guard<'v>(pub &'v mut Vec<u64>);
impl Drop for Guard<'_> { fn drop(&mut self) { self.0.push(1); } }
pub struct Wrapped<'v>(pub &'v mut Vec<u64>);
type Run = fn(u64, &mut u64, &mut Vec<u64>, &mut std::ops::Range<u64>) -> Result<u64, u64>;
fn compare(name: &str, annotated: Run, plain: Run) {
    for seed in 0..4 {
        let run = |run: Run| {
            let (mut p, mut q, mut r) = (seed, vec![seed, 3], seed..40);
            let result = run(seed, &mut p, &mut q, &mut r);
            // After an error the source may have run ahead.
            (result, result.is_ok().then_some((p, q, r)))
        };
        let (annotated, plain) = (run(annotated), run(plain));
        if annotated != plain {
            println!("{name} {seed}: {annotated:?} instead of {plain:?}");
        }
    }
}
"#;

/// The macros that the functions call.
const MACROS: &str = "macro_rules! peek { ($e:expr) => { $e } }\n\
    macro_rules! bump { ($n:ident, $x:expr) => {{ $n = mix($n, $x); $n }} }\n\
    macro_rules! pushed { ($v:expr, $x:expr) => {{ $v.push($x); $x }} }\n";

/// How many of a hundred right functions may be refused.
const MOST_REFUSED: usize = 5;

/// The result of a group of functions.
#[derive(Debug, Default)]
struct Found {
    /// Functions that the compiler accepted and that ran.
    run: usize,
    /// Right functions that the compiler accepted, and that it refused.
    right: usize,
    refused: Vec<u64>,
    /// Functions that the compiler refused, and that could have done something else than the loop.
    wrong: usize,
    /// Functions that are no functions without annotations either.
    invalid: usize,
    /// Functions that the compiler accepted although the drawing took them for wrong.
    accepted: Vec<u64>,
    differences: String,
}

/// Both forms of a function, and on how many lines the annotated one is.
fn both(number: u64, Program { text, .. }: &Program) -> (String, String) {
    let annotated = text.replace("FUNCTION", "#[stream]\npub fn annotated");
    let plain = text.replace("FUNCTION", "#[stream(off)]\npub fn plain");
    let form = |name: &str, text: String| {
        format!("mod {name}{number} {{\nuse super::*;\nuse anabranch::stream;\n{MACROS}{text}}}\n")
    };
    (form("annotated", annotated), form("plain", plain))
}

/// Compiles and runs the functions with these numbers.
fn group(numbers: impl Iterator<Item = u64>, name: &str) -> Found {
    let folder = compiler::folder("annotated");
    let source = folder.join(format!("{name}.rs"));
    let mut left: Vec<(u64, Program)> = numbers.map(|number| (number, program(number))).collect();
    let mut found = Found::default();
    loop {
        let mut text = BEGINNING.to_owned();
        // The lines at which the forms begin.
        let mut begins = Vec::new();
        let mut main = String::new();
        for (number, program) in &left {
            let (annotated, plain) = both(*number, program);
            for form in [annotated, plain] {
                begins.push(text.lines().count() + 1);
                text += &form;
            }
            writeln!(main, "compare(\"{number}\", annotated{number}::annotated, plain{number}::plain);")
                .unwrap();
        }
        begins.push(text.lines().count() + 1);
        write!(text, "fn main() {{\n{main}}}\n").unwrap();
        fs::write(&source, text).unwrap();
        let output = compiler::build(&source, &folder);
        if output.status.success() {
            break;
        }
        let said = String::from_utf8(output.stderr).expect("the compiler writes UTF-8");
        let lines =
            said.lines().filter_map(|line| line.split_once(": error")?.0.rsplit(':').nth(1)?.parse().ok());
        let forms: BTreeSet<usize> =
            lines.map(|line: usize| begins.partition_point(|&begin| begin <= line) - 1).collect();
        assert!(forms.iter().any(|&form| form < 2 * left.len()), "no function is at fault:\n{said}");
        let mut at = 0;
        left.retain(|(number, program)| {
            let (is_refused, is_invalid) = (forms.contains(&(2 * at)), forms.contains(&(2 * at + 1)));
            at += 1;
            match (is_refused, is_invalid, program.is_right) {
                (false, false, _) => return true,
                (_, true, _) => found.invalid += 1,
                (true, false, true) => found.refused.push(*number),
                (true, false, false) => found.wrong += 1,
            }
            false
        });
    }
    found.run = left.len();
    found.right = left.iter().filter(|(_, program)| program.is_right).count();
    found.accepted =
        left.iter().filter(|(_, program)| !program.is_right).map(|(number, _)| *number).collect();
    found.differences = compiler::run(&source, &folder, &[]);
    found
}

/// Checks what was found.
fn hold(found: &Found) {
    assert!(found.differences.is_empty(), "annotated and plain functions differ:\n{}", found.differences);
    let right = found.right + found.refused.len();
    assert!(right > 0 && found.wrong > 0, "right and wrong functions are drawn: {found:?}");
    assert!(found.refused.len() * 100 <= right * MOST_REFUSED, "too many are refused: {found:?}");
}

#[test]
fn annotated_functions_are_their_plain_forms_or_refused() {
    hold(&group(40..64, "few"));
}

#[test]
#[ignore = "compiles and runs ANNOTATED functions, 2,000 by default, beginning with ANNOTATED_FROM"]
fn many_annotated_functions_are_their_plain_forms_or_refused() {
    const GROUP: u64 = 250;
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |value| value.parse().expect("a number"))
    };
    let (from, count) = (number("ANNOTATED_FROM", 0), number("ANNOTATED", 2_000));
    let mut all = Found::default();
    for begin in (from..from + count).step_by(GROUP as usize) {
        let found = group(begin..(begin + GROUP).min(from + count), "many");
        all.run += found.run;
        all.right += found.right;
        all.wrong += found.wrong;
        all.invalid += found.invalid;
        all.refused.extend(found.refused);
        all.accepted.extend(found.accepted);
        all.differences += &found.differences;
        println!(
            "to {}: {} run, {} of them right; refused: {} right and {} wrong; {} are no functions; differences: {}",
            begin + GROUP,
            all.run,
            all.right,
            all.refused.len(),
            all.wrong,
            all.invalid,
            all.differences.lines().count(),
        );
    }
    println!("right and refused: {:?}\ntaken for wrong and accepted: {:?}", all.refused, all.accepted);
    hold(&all);
}
