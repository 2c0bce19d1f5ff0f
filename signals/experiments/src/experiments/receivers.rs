//! The receiver for 802.11a by tasks, by frames and by both, and the JPEG decoder over its bursts.

use dsp::wifi::{Split, receive_by};
use dsp::{Error, Executor, Input, Output, Result, Run, jpeg};

use super::rounds::{rounds, twice};
use super::{Effort, Line, Report};
use dsp::inputs::signal;

/// The sample rate of 802.11a.
const SAMPLES_PER_SECOND: f64 = 20e6;
const SAMPLE_BYTES: f64 = dsp::wifi::SAMPLE_BYTES as f64;

/// Receives a signal. A bad frame is an error.
pub(super) fn received(signal: &[u8], split: Split, run: &Run) -> Result<()> {
    let mut output = Output::from_writer("nowhere", std::io::sink());
    let received = receive_by(split, Input::from_reader("memory", signal), &mut output, run, |_| {})?;
    if received.bad > 0 || received.good == 0 {
        return Err(Error::new(format!(
            "{} frames were received, and {} are bad",
            received.good, received.bad
        )));
    }
    Ok(())
}

/// Decodes a picture.
pub(super) fn decoded(photo: &[u8], burst: usize, run: &Run) -> Result<()> {
    let mut output = Output::from_writer("nowhere", std::io::sink());
    jpeg::decode(Input::from_reader("the photo", photo), &mut output, burst, run)
}

/// The receiver with two workers, in each of its forms.
pub(super) fn wifi(effort: Effort, report: &mut Report, told: &mut impl FnMut(&str)) -> Result<()> {
    told("wifi");
    let signal = &signal(effort.microseconds)?[..];
    let with = |split, executor| received(signal, split, &Run::new(executor));
    let times = rounds(
        effort.rounds,
        &[
            &|| with(Split::Both, Executor::Inline),
            &|| twice(&|run| received(signal, Split::Both, run)),
            &|| with(Split::Both, Executor::Workers(1)),
            &|| with(Split::Task, Executor::Workers(2)),
            &|| with(Split::Data, Executor::Workers(2)),
            &|| with(Split::Both, Executor::Workers(2)),
        ],
    )?;
    let samples = signal.len() as f64 / SAMPLE_BYTES;
    report.text.push_str(
        "\n## 802.11a\n\nThe receiver with frames of 54 Mbit/s and noise at 30 dB. *Times real time* is how much faster than the \
         20 million samples a second of the air the receiver is. `task` has one process for each stage, `data` deals whole \
         frames to two processes, and `both` has two processes for each of the two dear stages.\n\n| form | times real time | \
         speed-up over the loop |\n|---|---|---|\n",
    );
    let forms = [
        ("loop", 0, 1.0),
        ("network, 1 worker", 2, 1.0),
        ("task, 2 workers", 3, 1.0),
        ("data, 2 workers", 4, 1.0),
        ("both, 2 workers", 5, 1.0),
        ("two loops at once (the ceiling)", 1, 2.0),
    ];
    for (name, form, inputs) in forms {
        let speed = inputs * samples / SAMPLES_PER_SECOND / times.seconds(form);
        report.text.push_str(&format!("| {name} | {speed:.2} | {:.2} |\n", inputs * times.faster(form, 0)));
    }
    Ok(())
}

/// The decoder over its bursts.
pub(super) fn jpeg(
    effort: Effort,
    photo: &[u8],
    report: &mut Report,
    told: &mut impl FnMut(&str),
) -> Result<()> {
    report.text.push_str("\n## JPEG\n\n");
    report.text.push_str(&format!(
        "A picture of {} kB, whose coefficients pass through the network in bursts of so many units (MCUs). The speed-up with \
         two workers over the loop.\n\n| burst | speed-up | ceiling |\n|---|---|---|\n",
        photo.len() / 1_000
    ));
    let names = [("2 workers", false), ("ceiling", true), ("loop", true)];
    let mut lines = names.map(|(name, is_dashed)| Line::new(name, is_dashed)).to_vec();
    let mut even = None;
    for power in (0..=12).step_by(if effort.is_quick { 3 } else { 1 }) {
        let burst = 1 << power;
        told(&format!("jpeg, bursts of {burst}"));
        let with = |executor| decoded(photo, burst, &Run::new(executor));
        let times = rounds(
            effort.rounds,
            &[&|| with(Executor::Inline), &|| twice(&|run| decoded(photo, burst, run)), &|| {
                with(Executor::Workers(2))
            }],
        )?;
        let (speed, ceiling) = (times.faster(2, 0), 2.0 * times.faster(1, 0));
        report.text.push_str(&format!("| {burst} | {speed:.2} | {ceiling:.2} |\n"));
        for (line, value) in lines.iter_mut().zip([speed, ceiling, 1.0]) {
            line.points.push((f64::from(burst as u32), value));
        }
        if speed >= 1.0 {
            even.get_or_insert(burst);
        } else {
            even = None;
        }
    }
    let even = even.map_or("with none of these bursts".into(), |burst| format!("from bursts of {burst} on"));
    report.text.push_str(&format!("\nThe network is at least as fast as the loop {even}.\n"));
    report.lines("jpeg", "JPEG: speed over the burst", "units in a burst", "speed-up over the loop", lines);
    Ok(())
}
