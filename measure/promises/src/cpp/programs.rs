//! Whole programs of `examples/cpp` on a file, next to the tools that people use.

use std::cell::Cell;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::build::Built;

use crate::corpus::corpus;
use crate::look::Look;
use measure_harness::rounds::{Budget, Contender, Unmeasured, measure as play};
use measure_harness::table::Row;
use measure_harness::target::{Target, Unit};
use measure_harness::work::Digest;

/// A program: its name, its libraries, the tool that makes its input, and the tool that does the same.
#[derive(Debug)]
pub struct Program {
    pub name: &'static str,
    libraries: &'static [&'static str],
    /// Bytes of text.
    text: u64,
    /// The command that makes the input of the text, if it is not the text itself.
    prepare: &'static [&'static str],
    tool: &'static [&'static str],
    package: &'static str,
}

const MIB: u64 = 1 << 20;
const FORMS: [&str; 5] = ["annotated", "builder", "tbb", "fastflow", "sequential"];
/// FastFlow's memory may be twice that of the annotated form or more.
const MEMORY: Target = Target::AtMost(50.0);

pub const PROGRAMS: [Program; 4] = [
    Program {
        name: "bzip2",
        libraries: &["-lbz2"],
        text: 64 * MIB,
        prepare: &[],
        tool: &["pbzip2", "-p2", "-c"],
        package: "pbzip2",
    },
    Program {
        name: "bunzip2",
        libraries: &["-lbz2"],
        text: 128 * MIB,
        prepare: &["pbzip2", "-p2", "-c"],
        tool: &["pbzip2", "-p2", "-dc"],
        package: "pbzip2",
    },
    Program {
        name: "lzip",
        libraries: &["-llz"],
        // 8 blocks, and 2 for a first look.
        text: 128 * MIB,
        prepare: &[],
        tool: &["plzip", "-n2", "-c"],
        package: "plzip",
    },
    Program {
        name: "lunzip",
        libraries: &["-llz"],
        text: 256 * MIB,
        prepare: &["plzip", "-n2", "-0", "-B", "4MiB", "-c"],
        tool: &["plzip", "-n2", "-dc"],
        package: "plzip",
    },
];

impl Program {
    /// Compares the forms with each other and with the tool.
    pub fn measure(&self, built: &Built, look: &Look) -> Vec<Row> {
        match self.compare(built, look) {
            Ok(rows) => rows,
            Err(why) => {
                let promise = (Target::None, Unit::Percent);
                vec![Row::without(self.name, "all forms", promise, Unmeasured::Impossible(why))]
            }
        }
    }

    fn compare(&self, built: &Built, look: &Look) -> Result<Vec<Row>, String> {
        let input = self.input(built, look)?;
        let mut rows = Vec::new();
        let mut commands: Vec<(&str, Vec<PathBuf>)> = Vec::new();
        for form in FORMS {
            match built.example(self.name, form, self.libraries) {
                Ok(program) => commands.push((form, vec![program])),
                Err(why) => rows.push(Row::without(
                    self.name,
                    form,
                    (Target::None, Unit::Times),
                    Unmeasured::Impossible(why),
                )),
            }
        }
        if commands.first().is_none_or(|(form, _)| *form != "annotated") {
            return Err("the annotated form was not built".into());
        }
        commands.push((self.tool[0], self.tool.iter().map(PathBuf::from).collect()));
        // The tools write the same content in other bytes, so only the forms are compared.
        let outputs = commands.iter().filter(|(name, _)| FORMS.contains(name));
        let outputs: Vec<Vec<u8>> =
            outputs.map(|(_, command)| output(command, &input)).collect::<Result<_, String>>()?;
        if let Some(at) = outputs.iter().position(|output| *output != outputs[0]) {
            return Err(format!(
                "WRONG RESULT: {} and {} do not write the same",
                commands[at].0, commands[0].0
            ));
        }
        drop(outputs);
        let peaks: Vec<Cell<f64>> = commands.iter().map(|_| Cell::new(f64::NAN)).collect();
        let contenders = commands.iter().zip(&peaks).map(|((name, command), peak)| {
            let input = &input;
            Contender::sampled(*name, Digest::EMPTY, move || match run(command, input) {
                Ok((seconds, peak_mib)) => {
                    peak.set(peak_mib);
                    (seconds, Digest::EMPTY)
                }
                Err(_) => (f64::NAN, Digest::of_number(1)),
            })
        });
        let (wanted, seconds) = if look.quick { (3, 200) } else { (7, 400) };
        let budget = Budget { wanted, least: 3, time: Duration::from_secs(seconds) };
        let rounds = play(budget, None, contenders.collect());
        for (at, (name, _)) in commands.iter().enumerate() {
            let peak = peaks[at].get();
            rows.push(if at == 0 {
                Row::new(self.name, *name, (Target::None, Unit::Milliseconds), &rounds, |rounds| {
                    (rounds.summary(|round| 1e3 * round.samples[0]), format!("{peak:.0} MiB"))
                })
            } else {
                let target = if *name == "sequential" { Target::None } else { Target::Rival };
                let what = format!("{name}: times the annotated form's time");
                Row::new(self.name, what, (target, Unit::Times), &rounds, |rounds| {
                    let wall = 1e3 * rounds.median(|round| round.samples[at]);
                    let times = rounds.summary(|round| round.samples[at] / round.samples[0]);
                    (times, format!("{wall:.0} ms, {peak:.0} MiB"))
                })
            });
        }
        if let Some(at) = commands.iter().position(|(name, _)| *name == "fastflow") {
            let (own, theirs) = (peaks[0].get(), peaks[at].get());
            let what = "annotated: memory, of FastFlow's".to_owned();
            let remark = format!("{own:.0} MiB, FastFlow {theirs:.0}");
            rows.push(Row::single(self.name, what, (MEMORY, Unit::Percent), 100.0 * own / theirs, remark));
        }
        rows.push(self.lines(built));
        Ok(rows)
    }

    /// The lines that each form has more than the sequential one.
    fn lines(&self, built: &Built) -> Row {
        let count = |form: &str| {
            let text = fs::read_to_string(built.source(self.name, form)).unwrap_or_default();
            text.lines()
                .filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with("//"))
                .count() as f64
        };
        let [annotated, builder, tbb, fastflow, sequential] = FORMS.map(count);
        let remark = format!(
            "builder {}, oneTBB {}, FastFlow {}",
            builder - sequential,
            tbb - sequential,
            fastflow - sequential
        );
        let fewest = (tbb.min(fastflow) - sequential).max(0.0);
        let what = "annotated: lines added to the sequential program".to_owned();
        Row::single(self.name, what, (Target::AtMost(fewest), Unit::Lines), annotated - sequential, remark)
    }

    /// The file that the forms read.
    fn input(&self, built: &Built, look: &Look) -> Result<PathBuf, String> {
        let bytes = if look.quick { self.text / 4 } else { self.text };
        let problem = |error: std::io::Error| error.to_string();
        let text = built.folder().join(format!("text-{bytes}"));
        if !text.exists() {
            let mut source = File::open(corpus(look)?.join("text")).map_err(problem)?.take(bytes);
            std::io::copy(&mut source, &mut File::create(&text).map_err(problem)?).map_err(problem)?;
        }
        if self.prepare.is_empty() {
            return Ok(text);
        }
        let packed = built.folder().join(format!("{}-{bytes}", self.name));
        if !packed.exists() {
            let mut make = Command::new(self.prepare[0]);
            make.args(&self.prepare[1..]).stdin(File::open(&text).map_err(problem)?);
            let made = make.stdout(File::create(&packed).map_err(problem)?).status();
            if !made.is_ok_and(|status| status.success()) {
                let _ = fs::remove_file(&packed);
                return Err(format!("{} is missing (Debian's package {})", self.prepare[0], self.package));
            }
        }
        Ok(packed)
    }
}

/// How often the memory of a process is looked at.
const LOOK: Duration = Duration::from_millis(4);

fn command(words: &[PathBuf], input: &Path) -> Result<Command, String> {
    let mut command = Command::new(&words[0]);
    let input = File::open(input).map_err(|error| format!("{}: {error}", input.display()))?;
    command.args(&words[1..]).stdin(input);
    Ok(command)
}

/// What a program writes.
fn output(words: &[PathBuf], input: &Path) -> Result<Vec<u8>, String> {
    let program = words[0].display();
    let ran = command(words, input)?.output().map_err(|error| format!("{program}: {error}"))?;
    if ran.status.success() { Ok(ran.stdout) } else { Err(format!("{program}: {}", ran.status)) }
}

/// Runs a program. Returns its time in seconds, and the most memory that it had in MiB.
fn run(words: &[PathBuf], input: &Path) -> Result<(f64, f64), String> {
    let problem = |error: std::io::Error| format!("{}: {error}", words[0].display());
    let began = Instant::now();
    let mut child = command(words, input)?.stdout(Stdio::null()).spawn().map_err(problem)?;
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    let mut peak_mib = f64::NAN;
    loop {
        if let Some(ended) = child.try_wait().map_err(problem)? {
            let seconds = began.elapsed().as_secs_f64();
            return if ended.success() {
                Ok((seconds, peak_mib))
            } else {
                Err(format!("{}: {ended}", words[0].display()))
            };
        }
        peak_mib = peak(&status).unwrap_or(peak_mib);
        std::thread::sleep(LOOK);
    }
}

/// The most memory that a process has had, in MiB.
fn peak(status: &Path) -> Option<f64> {
    let text = fs::read_to_string(status).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<f64>().ok()? / 1024.0)
}
