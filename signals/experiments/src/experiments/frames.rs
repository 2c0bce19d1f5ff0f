//! The programs next to rayon by frame: how fast they are, and how long a frame takes.

use std::io::Write;
use std::time::Duration;

use crate::arrivals::{Clock, Frames, median};
use dsp::{Error, Executor, Input, Output, Result, Run};

use super::rivals::Rivals;
use super::rounds::{Times, rounds_of, seconds, twice};
use super::{Effort, Report, Subject};

/// The time between frames that arrive, as a multiple of the time that the loop takes for one.
const PERIOD: f64 = 1.25;

/// Seconds of a run, and of a frame from its arrival until it was done.
type Measured = (f64, f64);

/// The forms that are measured in a round.
#[derive(Clone, Copy)]
enum Form {
    /// Frames that are there when they are asked for; the time is that of the run in seconds.
    Loop,
    LoopsAtOnce,
    Network,
    Rayon,
    LoopOfRival,
    /// Frames that arrive one after the other; the time is that of a frame in seconds.
    LoopLatency,
    NetworkLatency,
    NetworkLatencyOfThree,
    RayonLatency,
    /// Frames that are there when they are asked for; the time is that of a frame in seconds.
    NetworkQueued,
    RayonQueued,
}

pub(super) fn run(
    effort: Effort,
    rivals: &Rivals,
    photo: &[u8],
    report: &mut Report,
    told: &mut impl FnMut(&str),
) -> Result<()> {
    report.text.push_str(&format!(
        "\n## Next to rayon by frame\n\nrayon's `par_bridge` gives each of two threads a whole frame, and the results are put in \
         order. A frame of the transforms is a burst of blocks. One of 802.11a has 4,091 bytes at 54 Mbit/s; frames are found one \
         after the other and decoded side by side. One of FM radio is 0.1 s of audio: the filters see the end of the frame before \
         again, which is computed twice, and the de-emphasis goes through the frames in turn. One of JPEG is a whole picture, \
         because its entropy code has one beginning; the network decodes one picture after the other. The outputs were compared \
         by check sums.\n\n*Speed-up* is that over the loop, with all frames there at once. *Time of a frame* is that from its \
         arrival until everything is written that the loop writes before it asks for the next frame; frames arrive every {PERIOD} \
         times the time that the loop takes for one, so they do not queue. A worker of the network \
         waits for the next frame in the rule that reads, so there is a column with a third worker; rayon has two threads.\n"
    ));
    let mut file = tempfile::NamedTempFile::new()
        .map_err(|error| Error::io("a temporary file", "cannot create", error))?;
    file.write_all(photo).map_err(|error| Error::io("the photo", "cannot copy", error))?;
    let photo = format!("jpeg {}", file.path().display());
    let (mut speeds, mut latencies) = (String::new(), String::new());
    for (label, words) in [
        ("fft, 4,096 samples", "fft 4096"),
        ("fft, 65,536 samples", "fft 65536"),
        ("wifi, 54 Mbit/s", "wifi"),
        ("fmradio", "fmradio"),
        ("jpeg", &photo),
    ] {
        told(&format!("{label}, by frame"));
        let subject = Subject::of(words)?;
        let frames = subject.frames(subject.count(effort.microseconds)?)?;
        let times = measured(effort, rivals, &subject, &frames)?;
        let faster = |form: Form, than: Form| times.faster(form as usize, than as usize);
        let ceiling = 2.0 * faster(Form::LoopsAtOnce, Form::Loop);
        let network = faster(Form::Network, Form::Loop);
        let each = 1e6 * times.seconds(Form::Loop as usize) / frames.count() as f64;
        let time = |form: Form| format!("{:.0} µs", 1e6 * times.seconds(form as usize));
        let (rayon, rayon_latency) = match rivals.by_frame() {
            Ok(_) => (
                format!(
                    "{:.2} | {:.2} | {:.2}",
                    faster(Form::Rayon, Form::Loop),
                    faster(Form::Network, Form::Rayon),
                    faster(Form::LoopOfRival, Form::Loop)
                ),
                format!(
                    "{} | {:.2} | {} | {} | {:.2}",
                    time(Form::RayonLatency),
                    faster(Form::RayonLatency, Form::NetworkLatency),
                    time(Form::NetworkQueued),
                    time(Form::RayonQueued),
                    faster(Form::RayonQueued, Form::NetworkQueued)
                ),
            ),
            Err(_) => ("- | - | -".into(), format!("- | - | {} | - | -", time(Form::NetworkQueued))),
        };
        speeds.push_str(&format!("| {label} | {each:.0} µs | {ceiling:.2} | {network:.2} | {rayon} |\n"));
        let inline = time(Form::LoopLatency);
        let [two, three] = [Form::NetworkLatency, Form::NetworkLatencyOfThree].map(time);
        latencies.push_str(&format!("| {label} | {inline} | {two} | {three} | {rayon_latency} |\n"));
    }
    report.text.push_str(&format!(
        "\n### Speed-up by frame\n\n| program | loop, a frame | ceiling | network | rayon | network / rayon | loop in the \
         rival's build |\n|---|---|---|---|---|---|---|\n{speeds}\n### Time of a frame\n\n*Queued* is the time of a frame when all frames are there at once.\n\n| program | loop | network | with three \
         workers | rayon | network / rayon | network, queued | rayon, queued | network / rayon |\n|---|---|---|---|---|---|---|---|---|\n{latencies}"
    ));
    if let Err(reason) = rivals.by_frame() {
        report.text.push_str(&format!("\nrayon is absent: {reason}.\n"));
    }
    Ok(())
}

fn measured(effort: Effort, rivals: &Rivals, subject: &Subject, frames: &Frames) -> Result<Times> {
    let check = subject.check(frames)?;
    let run = |executor, period| {
        timed(frames, period, |input, output| subject.run(input, output, &Run::new(executor)))
    };
    let inline = |period| run(Executor::Inline, period);
    let rival = |engine: &str, period: Duration| -> Result<Measured> {
        let Ok(peer) = rivals.by_frame() else { return Ok((f64::NAN, f64::NAN)) };
        let (count, words) = (frames.count(), subject.words());
        let request = format!("by-frame {engine} {count} {} {words}", period.as_nanos());
        let answer = peer.borrow_mut().ask_settled(&request).map_err(Error::new)?;
        match answer.more[..] {
            [latency] if answer.digest == u64::from(check) => Ok((answer.seconds, latency)),
            [_] => Err(Error::new(format!("{words}: {engine} gives {} and the loop {check}", answer.digest))),
            _ => Err(Error::new(format!("\"{request}\" was answered with \"{answer}\""))),
        }
    };
    // The first runs of both sides prepare their memory.
    rival("rayon", Duration::ZERO)?;
    run(Executor::Workers(2), Duration::ZERO)?;
    let (first, second) = (inline(Duration::ZERO)?.0, inline(Duration::ZERO)?.0);
    let period = Duration::from_secs_f64(PERIOD * first.min(second) / frames.count() as f64);
    let once = |run: &Run| {
        let mut output = Output::from_writer("nowhere", std::io::sink());
        subject.run(Input::from_reader("frames", frames.bytes()), &mut output, run)
    };
    let network = |workers, period| run(Executor::Workers(workers), period);
    // The same order as that of `Form`.
    rounds_of(
        effort.rounds,
        &[
            &|| Ok(inline(Duration::ZERO)?.0),
            &|| seconds(|| twice(&once)),
            &|| Ok(network(2, Duration::ZERO)?.0),
            &|| Ok(rival("rayon", Duration::ZERO)?.0),
            &|| Ok(rival("in-turn", Duration::ZERO)?.0),
            &|| Ok(inline(period)?.1),
            &|| Ok(network(2, period)?.1),
            &|| Ok(network(3, period)?.1),
            &|| Ok(rival("rayon", period)?.1),
            &|| Ok(network(2, Duration::ZERO)?.1),
            &|| Ok(rival("rayon", Duration::ZERO)?.1),
        ],
    )
}

/// Runs a program with frames that arrive with this period.
fn timed(
    frames: &Frames,
    period: Duration,
    program: impl FnOnce(Input<'_>, &mut Output<'_>) -> Result<()>,
) -> Result<Measured> {
    let clock = Clock::new(frames, period);
    let mut output = clock.output();
    let seconds = seconds(|| program(clock.input(), &mut output))?;
    drop(output);
    Ok((seconds, median(&clock.latencies()?)))
}
