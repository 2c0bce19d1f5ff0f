//! The translator: how long a long file takes, and how large a program becomes.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::build::Built;

use measure_harness::rounds::{Budget, Contender, Unmeasured, measure as play};
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};
use measure_harness::work::Digest;

pub const GROUP: &str = "translator";

/// The file has this many functions of 25 lines.
const FUNCTIONS: usize = 200;

pub fn measure(built: &Built) -> Vec<Row> {
    vec![translation(built), size(built)]
}

/// A file of 5,000 lines, in which every tenth function has an annotated loop.
fn source() -> String {
    let function = |number: usize| {
        let mark = |text: &'static str| if number.is_multiple_of(10) { text } else { "// a comment" };
        let steps: String =
            (0..13).map(|step| format!("        word = word * {step}u + {number}u;\n")).collect();
        format!(
            "unsigned long sum{number}(unsigned long limit) {{\n    unsigned long sum = 0;\n    {}\n    for (unsigned long n = \
             0; n < limit; n++) {{\n        unsigned long word = n;\n        {}\n        {{\n{steps}        }}\n        {}\n        \
             sum += word;\n    }}\n    return sum;\n}}\n",
            mark("[[spar::ToStream]]"),
            mark("[[spar::Stage, spar::Input(word), spar::Output(word), spar::Replicate()]]"),
            mark("[[spar::Stage, spar::Input(word), spar::Output(sum)]]"),
        )
    };
    (0..FUNCTIONS).map(function).collect::<String>() + "int main() { return sum0(9) == 0; }\n"
}

fn translation(built: &Built) -> Row {
    let file = built.folder().join("long.cpp");
    let text = source();
    let promise = (Target::AtMost(50.0), Unit::Milliseconds);
    let what = format!("a file of {} lines, to the C++ that is compiled", text.lines().count());
    if let Err(error) = fs::write(&file, text) {
        return Row::without(GROUP, what, promise, Unmeasured::Impossible(error.to_string()));
    }
    let run = || {
        let began = Instant::now();
        let mut translate = Command::new(built.translator());
        let ended = translate.args(["-spar_print", "-spar_file"]).arg(&file).stdout(Stdio::null()).status();
        let digest = Digest::of_number(u64::from(!ended.is_ok_and(|status| status.success())));
        (began.elapsed().as_secs_f64(), digest)
    };
    let budget = Budget { wanted: 21, least: 7, time: Duration::from_secs(20) };
    let rounds = play(budget, None, vec![Contender::sampled("sparxx", Digest::of_number(0), run)]);
    Row::new(GROUP, what, promise, &rounds, |rounds| {
        let regions = FUNCTIONS / 10;
        (rounds.summary(|round| 1e3 * round.samples[0]), format!("{regions} regions; the whole process"))
    })
}

fn size(built: &Built) -> Row {
    let promise = (Target::AtMost(700.0), Unit::Kilobytes);
    let what = "a stripped program of one region, above the sequential one".to_owned();
    let stripped = |form: &str| {
        let program = built.example("log", form, &[])?;
        let out = program.with_extension("stripped");
        let ended = Command::new("strip").arg("-o").arg(&out).arg(&program).status();
        if !ended.is_ok_and(|status| status.success()) {
            return Err("strip failed (Debian's package binutils)".to_owned());
        }
        fs::metadata(&out).map(|file| file.len() as f64 / 1e3).map_err(|error| error.to_string())
    };
    match (stripped("annotated"), stripped("sequential")) {
        (Ok(with), Ok(plain)) => Row::single(
            GROUP,
            what,
            promise,
            with - plain,
            format!("{with:.0} kB, {plain:.0} without annotations"),
        ),
        (Err(why), _) | (_, Err(why)) => Row::without(GROUP, what, promise, Unmeasured::Impossible(why)),
    }
}
