//! The programs: each form against the loop and the ceiling.

use dsp::fft::{Shape, Split, transform};
use dsp::fmradio::{History, Radio, receive};
use dsp::kernels::{DEFAULT_BURST, Kernel, Task};
use dsp::{Executor, Input, Output, Result, Run, jpeg, wifi};

use super::rounds::{Program, Times, rounds, twice};
use super::{Effort, Line, Report, receivers};
use dsp::inputs::{blocks, recording, signal};

pub(super) fn transformed(bytes: &[u8], shape: Shape, run: &Run) -> Result<()> {
    transform(
        Input::from_reader("memory", bytes),
        &mut Output::from_writer("nowhere", std::io::sink()),
        &shape,
        run,
    )
}

/// Transforms by data, by stages, and by both, for each size.
pub(super) fn transforms(effort: Effort, report: &mut Report, told: &mut impl FnMut(&str)) -> Result<()> {
    report.text.push_str(
        "\n## Block transforms\n\nThe speed-up of the network with two workers over the loop, with reading and writing of \
         memory. `data` deals whole blocks to two processes, `pipeline` cuts a transform into three stages, and `both` \
         has two processes for each stage.\n\n| size | loop, a sample | ceiling | data, 1 worker | data | pipeline | both \
         |\n|---|---|---|---|---|---|---|\n",
    );
    let step = if effort.is_quick { 4 } else { 2 };
    let names = ["data", "pipeline", "both"];
    let mut lines: Vec<Line> = names.iter().map(|&name| Line::new(name, false)).collect();
    lines.push(Line::new("ceiling", true));
    for power in (8..=20).step_by(step) {
        told(&format!("fft, 2^{power}"));
        let size = 1 << power;
        let bytes = blocks(size, effort.microseconds);
        let shape = |split| Shape::new(size, split);
        let [data, pipeline, both] = [shape(Split::Data)?, shape(Split::Pipeline)?, shape(Split::Both)?];
        let with = |shape: Shape, executor| transformed(&bytes, shape, &Run::new(executor));
        let times = rounds(
            effort.rounds,
            &[
                &|| with(data, Executor::Inline),
                &|| twice(&|run| transformed(&bytes, data, run)),
                &|| with(data, Executor::Workers(1)),
                &|| with(data, Executor::Workers(2)),
                &|| with(pipeline, Executor::Workers(2)),
                &|| with(both, Executor::Workers(2)),
            ],
        )?;
        let ceiling = 2.0 * times.faster(1, 0);
        let each = 1e9 * times.seconds(0) / (bytes.len() / 8) as f64;
        report.text.push_str(&format!(
            "| 2^{power} | {each:.2} ns | {ceiling:.2} | {:.2} | {:.2} | {:.2} | {:.2} |\n",
            times.faster(2, 0),
            times.faster(3, 0),
            times.faster(4, 0),
            times.faster(5, 0)
        ));
        for (line, form) in lines.iter_mut().zip([3, 4, 5]) {
            line.points.push((size as f64, times.faster(form, 0)));
        }
        lines[3].points.push((size as f64, ceiling));
    }
    report.lines(
        "fft",
        "Block transforms with two workers",
        "samples of a block",
        "speed-up over the loop",
        lines,
    );
    Ok(())
}

pub(super) fn received(bytes: &[u8], radio: &Radio, run: &Run) -> Result<()> {
    receive(
        Input::from_reader("memory", bytes),
        &mut Output::from_writer("nowhere", std::io::sink()),
        radio,
        run,
    )
}

/// The receiver's variants, and its bursts.
pub(super) fn radio(effort: Effort, report: &mut Report, told: &mut impl FnMut(&str)) -> Result<()> {
    told("fmradio");
    let bytes = recording(effort.microseconds)?;
    let plain = Radio::new(250_000)?;
    let doubled = plain.clone().doubled(true);
    let rings = plain.clone().history(History::Rings);
    let with = |radio: &Radio, executor| received(&bytes, radio, &Run::new(executor));
    let times = rounds(
        effort.rounds,
        &[
            &|| with(&plain, Executor::Inline),
            &|| twice(&|run| received(&bytes, &plain, run)),
            &|| with(&plain, Executor::Workers(1)),
            &|| with(&plain, Executor::Workers(2)),
            &|| with(&doubled, Executor::Workers(2)),
            &|| with(&rings, Executor::Inline),
            &|| with(&rings, Executor::Workers(2)),
        ],
    )?;
    let speed = |form| bytes.len() as f64 / 2.0 / 250_000.0 / times.seconds(form);
    report.text.push_str(
        "\n## FM radio\n\nA recording with 250,000 samples per second. *Times real time* is how much faster than the station \
         the receiver is.\n\n| form | times real time | speed-up over the loop |\n|---|---|---|\n",
    );
    let forms = [
        ("loop", 0),
        ("network, 1 worker", 2),
        ("network, 2 workers", 3),
        ("network, 2 workers, two audio filters", 4),
        ("loop, ring buffers", 5),
        ("network, 2 workers, ring buffers", 6),
    ];
    for (name, form) in forms {
        report.text.push_str(&format!("| {name} | {:.0} | {:.2} |\n", speed(form), times.faster(form, 0)));
    }
    report.text.push_str(&format!(
        "| two loops at once (the ceiling) | {:.0} | {:.2} |\n",
        2.0 * speed(1),
        2.0 * times.faster(1, 0)
    ));

    let mut line = Line::new("2 workers", false);
    let mut even = Line::new("loop", true);
    for power in (2..=12).step_by(if effort.is_quick { 2 } else { 1 }) {
        told(&format!("fmradio, bursts of {}", 1 << power));
        let radio = plain.clone().burst(1 << power);
        let times = rounds(
            effort.rounds,
            &[&|| with(&plain, Executor::Inline), &|| with(&radio, Executor::Workers(2))],
        )?;
        line.points.push(((1 << power) as f64, times.faster(1, 0)));
        even.points.push(((1 << power) as f64, 1.0));
    }
    report.lines(
        "fmradio",
        "FM radio: speed over the burst",
        "samples of audio in a burst",
        "speed-up over the loop",
        vec![line, even],
    );
    Ok(())
}

/// Measures every program with each number of workers, next to the predictions of the plan's model.
pub(super) fn workers(
    effort: Effort,
    photo: &[u8],
    report: &mut Report,
    told: &mut impl FnMut(&str),
) -> Result<()> {
    let processors = anabranch::default_workers().max(2);
    let counts: Vec<usize> = [1, 2, 4, 8, 16].into_iter().filter(|&count| count <= processors).collect();
    report.text.push_str(
        "\n## Every program with each number of workers\n\nThe speed-up over the loop. The prediction is that of the plan's \
         model from the times of the stages of one run. The ceiling is for two threads.\n\n| program | ceiling |",
    );
    counts.iter().for_each(|count| report.text.push_str(&format!(" {count} workers | predicted |")));
    report.text.push_str(&format!("\n|---|---|{}\n", "---|---|".repeat(counts.len())));
    let (bytes, samples) = (recording(effort.microseconds)?, blocks(4_096, effort.microseconds));
    let signal = signal(effort.microseconds)?;
    let shape = Shape::new(4_096, Split::Data)?;
    let radio = Radio::new(250_000)?;
    let fft = |run: &Run| transformed(&samples, shape, run);
    let fmradio = |run: &Run| received(&bytes, &radio, run);
    let mut programs: Vec<(String, Box<Program<'_>>)> =
        vec![("fft, 4,096 samples".into(), Box::new(fft)), ("fmradio".into(), Box::new(fmradio))];
    programs.push((
        "wifi, 54 Mbit/s".into(),
        Box::new(|run: &Run| receivers::received(&signal, wifi::Split::Both, run)),
    ));
    programs.push(("jpeg".into(), Box::new(|run: &Run| receivers::decoded(photo, jpeg::DEFAULT_BURST, run))));
    for kernel in Kernel::ALL {
        let blocks = enough(&kernel, effort.microseconds)?;
        let code = move |run: &Run| kernel.run(&Task { blocks, burst: DEFAULT_BURST }, run).map(drop);
        programs.push((kernel.name.into(), Box::new(code)));
    }
    for (name, program) in &programs {
        told(&format!("{name}, workers"));
        let program = &**program;
        let networks: Vec<_> =
            counts.iter().map(|&count| move || program(&Run::new(Executor::Workers(count)))).collect();
        let inline = || program(&Run::new(Executor::Inline));
        let both = || twice(program);
        let mut forms: Vec<&dyn Fn() -> Result<()>> = vec![&inline, &both];
        forms.extend(networks.iter().map(|network| network as &dyn Fn() -> Result<()>));
        let times: Times = rounds(effort.rounds, &forms)?;
        let measured = Run::new(Executor::Workers(1)).measured();
        program(&measured)?;
        let predicted = measured.predicted(counts.iter().copied());
        report.text.push_str(&format!("| {name} | {:.2} |", 2.0 * times.faster(1, 0)));
        for (at, (_, predicted)) in predicted.iter().enumerate() {
            report.text.push_str(&format!(" {:.2} | {predicted:.2} |", times.faster(2 + at, 0)));
        }
        report.text.push('\n');
    }
    Ok(())
}

/// Returns the number of blocks that a kernel's loop computes in about this time.
fn enough(kernel: &Kernel, microseconds: u64) -> Result<u64> {
    let wanted = 1e-6 * microseconds as f64;
    let mut blocks = 1;
    loop {
        let begin = std::time::Instant::now();
        kernel.run(&Task { blocks, burst: DEFAULT_BURST }, &Run::new(Executor::Inline))?;
        let seconds = begin.elapsed().as_secs_f64();
        if seconds > wanted / 8.0 || blocks > 1 << 30 {
            return Ok((blocks as f64 * wanted / seconds).ceil() as u64);
        }
        blocks *= 2;
    }
}
