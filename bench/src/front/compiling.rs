//! What annotations cost the compiler: a long function with and without them.

use std::fs;
use std::time::{Duration, Instant};

use super::programs::Programs;
use crate::rounds::{Budget, Contender, measure as play};
use crate::table::Row;
use crate::target::{Target, Unit};
use crate::work::Digest;

pub const GROUP: &str = "compile time";

/// A function of 500 lines has this many loops of 25 lines.
const LOOPS: usize = 20;

/// A program, and whether it has annotations.
pub const SOURCES: [(&str, bool); 2] = [("annotated500", true), ("plain500", false)];

/// A program with one function of 500 lines. With annotations it has as many as its loops need.
pub fn source(is_annotated: bool) -> String {
    let mark = |text: &'static str| if is_annotated { text } else { "" };
    let one = |number: usize| {
        let steps: String =
            (0..6).map(|step| format!("            word = word.rotate_left({step}) ^ {number};\n")).collect();
        format!(
            "    let mut total{number} = 0u64;\n    {to_stream}\n    for n in 0..limit {{\n\
             \x20       if n % 7 == 3 {{\n            continue;\n        }}\n\
             \x20       let start = n.wrapping_mul({number});\n        {replicate}\n\
             \x20       let word = {{\n            let mut word = start;\n{steps}            word\n        }};\n\
             \x20       {stage}\n        if word % 11 == 0 {{\n\
             \x20           return Err(format!(\"{{word}}\"));\n        }}\n\
             \x20       total{number} = total{number}.wrapping_add(word);\n    }}\n\
             \x20   all = all.wrapping_add(total{number});\n",
            to_stream = mark("#[to_stream]"),
            replicate = mark("#[stage(replicate)]"),
            stage = mark("#[stage]"),
        )
    };
    let body: String = (1..=LOOPS).map(one).collect();
    format!(
        "{stream}\nfn long(limit: u64) -> Result<u64, String> {{\n    let mut all = 0u64;\n{body}    Ok(all)\n}}\n\n\
         fn main() {{\n    println!(\"{{:?}}\", long(100));\n}}\n",
        stream = mark("#[anabranch::stream]"),
    )
}

pub fn measure(programs: &Programs, quick: bool) -> Vec<Row> {
    let compile = |name: &'static str| {
        Contender::sampled(name, Digest::EMPTY, move || {
            // Cargo rebuilds a file if its time has changed.
            let source = programs.source(name);
            let text = fs::read(&source).expect("a source that was written");
            fs::write(&source, text).expect("a source that can be written");
            let began = Instant::now();
            let built = programs.cargo(&["build", "--quiet", "--bin", name]).expect("cargo");
            assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
            (began.elapsed().as_secs_f64(), Digest::EMPTY)
        })
    };
    let wanted = if quick { 2 } else { 7 };
    let budget = Budget { wanted, least: 2, time: Duration::from_secs(60) };
    let rounds = play(budget, None, SOURCES.map(|(name, _)| compile(name)).into());
    let what = format!("a function of 500 lines with {LOOPS} annotated loops, debug: more than without");
    let row = Row::new(GROUP, what, (Target::AtMost(1_000.0), Unit::Milliseconds), &rounds, |rounds| {
        let [with, without] = [0, 1].map(|at| rounds.median(|round| round.samples[at]));
        let more = rounds.summary(|round| 1e3 * (round.samples[0] - round.samples[1]));
        (more, format!("{with:.2} s with annotations, {without:.2} s without"))
    });
    vec![row]
}

#[cfg(test)]
mod tests {
    use super::source;

    #[test]
    fn the_function_has_500_lines_and_a_few() {
        let text = source(true);
        let function = text.split("\n}\n").next().unwrap();
        assert_eq!(function.lines().count(), 20 * 25 + 4);
        assert_eq!(text.matches("#[to_stream]").count(), 20);
        assert!(!source(false).contains("#["));
    }
}
