//! Block transforms and FM radio next to OpenMP tasks that depend on one another.

use dsp::fft::{Shape, Split};
use dsp::fmradio::Radio;
use dsp::{Error, Executor, Input, Output, Result, Run};

use super::programs::{received, transformed};
use super::rivals::Rivals;
use super::rounds::{rounds_of, seconds, twice};
use super::{Effort, Line, Report, check_sum};
use dsp::inputs::{RADIO_RATE, blocks, recording};

/// Slots through which bursts of radio pass from stage to stage, as many as the network's records have bursts.
const RADIO_SLOTS: usize = 16;

/// One line of a table: a program with its input, and the request to the rival.
struct Case<'a> {
    /// The text of the first column.
    label: String,
    /// The place of its point on the horizontal axis.
    at: f64,
    /// Runs the program.
    run: &'a (dyn Fn(&Run) -> Result<()> + Sync),
    /// The check sum of the loop's output.
    check: u32,
    /// The request to the rival.
    request: String,
}

pub(super) fn run(
    effort: Effort,
    rivals: &Rivals,
    report: &mut Report,
    told: &mut impl FnMut(&str),
) -> Result<()> {
    report.text.push_str(
        "\n## Next to OpenMP tasks with depend\n\nEach stage of each block is a task that depends on the tasks before it (gcc's \
         libgomp, two threads). The tasks call the stages of the network in Rust, so both sides do the same arithmetic, and their \
         outputs were compared by check sums. The numbers are speed-ups over the loop, with two workers or threads.\n",
    );
    let step = if effort.is_quick { 4 } else { 2 };
    report.text.push_str("\n### Block transforms next to OpenMP\n\n");
    let mut table = Table::new("samples of a block");
    for power in (8..=20).step_by(step) {
        let size = 1 << power;
        told(&format!("depend, fft, 2^{power}"));
        let bytes = blocks(size, effort.microseconds);
        let shape = Shape::new(size, Split::Data)?;
        let mut spectra = Vec::new();
        let run = Run::new(Executor::Inline);
        let mut output = Output::from_writer("memory", &mut spectra);
        dsp::fft::transform(Input::from_reader("memory", &bytes[..]), &mut output, &shape, &run)?;
        drop(output);
        let case = Case {
            label: format!("2^{power}"),
            at: size as f64,
            run: &|run| transformed(&bytes, shape, run),
            check: check_sum(&spectra),
            request: format!("fft {size} {} {}", effort.microseconds, shape.bursts_held(2)),
        };
        table.measure(effort, rivals, &case)?;
    }
    table.write(report, "depend-fft", "Block transforms next to OpenMP tasks");

    report.text.push_str("\n### FM radio next to OpenMP\n\n");
    let mut table = Table::new("samples of audio in a burst");
    let bytes = recording(effort.microseconds)?;
    let plain = Radio::new(RADIO_RATE)?;
    let mut audio = Vec::new();
    let mut output = Output::from_writer("memory", &mut audio);
    let run = Run::new(Executor::Inline);
    dsp::fmradio::receive(Input::from_reader("memory", &bytes[..]), &mut output, &plain, &run)?;
    drop(output);
    let check = check_sum(&audio);
    for power in (4..=12).step_by(if effort.is_quick { 3 } else { 1 }) {
        let burst = 1 << power;
        told(&format!("depend, fmradio, bursts of {burst}"));
        let radio = plain.clone().burst(burst);
        // The loop has the burst that is best for it.
        let code = |run: &Run| received(&bytes, if run.is_inline() { &plain } else { &radio }, run);
        let case = Case {
            label: burst.to_string(),
            at: burst as f64,
            run: &code,
            check,
            request: format!("fmradio {burst} {} {RADIO_SLOTS}", effort.microseconds),
        };
        table.measure(effort, rivals, &case)?;
    }
    table.write(report, "depend-fmradio", "FM radio next to OpenMP tasks");
    Ok(())
}

/// A table and its picture.
struct Table {
    across: &'static str,
    rows: String,
    /// The network, OpenMP, and the ceiling.
    lines: [Line; 3],
    /// The largest speed-ups of the network and of OpenMP.
    best: [f64; 2],
    absent: Option<String>,
}

impl Table {
    fn new(across: &'static str) -> Self {
        let line = |name: &str, is_dashed| Line::new(name, is_dashed);
        let lines = [line("network", false), line("OpenMP depend", false), line("ceiling", true)];
        Self { across, rows: String::new(), lines, best: [0.0; 2], absent: None }
    }

    fn measure(&mut self, effort: Effort, rivals: &Rivals, case: &Case<'_>) -> Result<()> {
        let (inline, workers) = (Run::new(Executor::Inline), || Run::new(Executor::Workers(2)));
        let rival = || -> Result<f64> {
            // Without the rival there is nothing to compare.
            let Ok(peer) = rivals.stages() else { return Ok(f64::NAN) };
            let answer = peer.borrow_mut().ask_settled(&case.request).map_err(Error::new)?;
            if answer.digest != u64::from(case.check) {
                return Err(Error::new(format!(
                    "{}: OpenMP gives another output than the loop",
                    case.request
                )));
            }
            Ok(answer.seconds)
        };
        let times = rounds_of(
            effort.rounds,
            &[
                &|| seconds(|| (case.run)(&inline)),
                &|| seconds(|| twice(case.run)),
                &|| seconds(|| (case.run)(&workers())),
                &rival,
            ],
        )?;
        self.absent = rivals.stages().err();
        let (ceiling, network) = (2.0 * times.faster(1, 0), times.faster(2, 0));
        self.lines[0].points.push((case.at, network));
        self.lines[2].points.push((case.at, ceiling));
        self.best[0] = self.best[0].max(network);
        let rival = if self.absent.is_none() {
            let speed = times.faster(3, 0);
            self.lines[1].points.push((case.at, speed));
            self.best[1] = self.best[1].max(speed);
            format!("{speed:.2} | {:.2}", times.faster(2, 3))
        } else {
            "- | -".into()
        };
        self.rows.push_str(&format!("| {} | {ceiling:.2} | {network:.2} | {rival} |\n", case.label));
        Ok(())
    }

    fn write(self, report: &mut Report, name: &str, title: &str) {
        let across = self.across;
        report.text.push_str(&format!(
            "| {across} | ceiling | network | OpenMP | network / OpenMP |\n|---|---|---|---|---|\n{}",
            self.rows
        ));
        report.text.push_str(&match self.absent {
            Some(reason) => format!("\nOpenMP is absent: {reason}.\n"),
            None => {
                let [network, openmp] = self.best;
                format!("\nThe best of the network is {network:.2}, and that of OpenMP {openmp:.2}.\n")
            }
        });
        let lines = self.lines.into_iter().filter(|line| !line.points.is_empty()).collect();
        let up = "speed-up over the loop";
        report.lines(name, title, across, up, lines);
    }
}
