//! Bit-error rates of 802.11a over the ratio of signal to noise, next to theory.

use dsp::wifi::Rate;
use dsp::wifi::error_rate::{measure, uncoded, union_bound};
use dsp::{Error, Result};

use super::{Axes, Effort, Line, Plot, Report};

/// The rates whose demodulator is measured, one for each modulation, and the range of ratios in dB.
const UNCODED: [(u8, f64, f64); 4] = [(6, 0.0, 10.0), (12, 3.0, 13.0), (24, 9.0, 19.0), (54, 15.0, 25.0)];
/// The rates whose decoder is measured next to the union bound, and the ratios.
const CODED: [(u8, f64, f64); 4] = [(6, -1.5, 1.5), (9, 1.5, 4.5), (12, 1.5, 4.5), (18, 4.5, 7.5)];
/// Ratios of each rate.
const STEPS: usize = 6;
/// The approximate time of a frame of the largest size, in microseconds.
const MICROSECONDS_OF_FRAME: u64 = 4_000;
/// The number of wrong bits that is enough for a measurement.
const ENOUGH: u64 = 1_000;

pub(super) fn run(effort: Effort, report: &mut Report, told: &mut impl FnMut(&str)) -> Result<()> {
    // A long effort gives more frames, and so smaller rates.
    let most_frames = (40 * effort.microseconds / MICROSECONDS_OF_FRAME).max(1);
    report.text.push_str(
        "\n## Bit-error rates of 802.11a\n\nFrames of the largest size in white noise; the receiver knows the channel and where \
         the frames begin. The ratio of signal to noise is that of a point's mean energy to the noise density. *Demodulator* \
         counts coded bits whose soft bits have the wrong sign, next to the exact rate of the modulation. *Decoder* counts data \
         bits, next to the union bound over all wrong paths, which is an upper bound and close to the truth where it is below \
         1e-4. Soft bits have 31 levels. One that is rounded to 0 counts as a 0, so that the demodulator has up to twice the wrong signs \
         of theory where these are rare; the decoder takes it as unknown. The decoder decodes groups of symbols one by one.\n",
    );
    for (name, title, rates) in [
        ("errors-demodulator", "Demodulator: wrong coded bits", UNCODED),
        ("errors-decoder", "Decoder: wrong data bits", CODED),
    ] {
        let is_coded = name == "errors-decoder";
        report.text.push_str(&format!(
            "\n### {title}\n\n| Mbit/s | ratio | bits | wrong | share | theory | share / theory |\n|---|---|---|---|---|---|---|\n"
        ));
        let mut lines = Vec::new();
        for (mbps, from, to) in rates {
            let rate = Rate::of_mbps(mbps)
                .ok_or_else(|| Error::new(format!("802.11a has no rate of {mbps} Mbit/s")))?;
            let (mut measured, mut theory) = (Vec::new(), Vec::new());
            for step in 0..STEPS {
                let ratio = from + (to - from) * step as f64 / (STEPS - 1) as f64;
                told(&format!("wrong bits, {mbps} Mbit/s, {ratio:.1} dB"));
                let (bits, wrong) = counted(rate, ratio, is_coded, most_frames);
                let expected =
                    if is_coded { union_bound(rate, ratio) } else { uncoded(rate.modulation(), ratio) };
                let share = wrong as f64 / bits as f64;
                report.text.push_str(&format!(
                    "| {mbps} | {ratio:.1} dB | {bits} | {wrong} | {share:.2e} | {expected:.2e} | {:.2} |\n",
                    share / expected
                ));
                measured.push((ratio, share));
                // Far from the true value, the bound exceeds any probability.
                theory.push((ratio, expected.min(0.5)));
            }
            let what = if is_coded { "bound" } else { "theory" };
            lines.push(Line { name: format!("{mbps} Mbit/s"), points: measured, is_dashed: false });
            lines.push(Line { name: format!("{mbps} Mbit/s, {what}"), points: theory, is_dashed: true });
        }
        let plot = Plot {
            title: title.into(),
            axes: Axes::LinearLog,
            across: "energy of a point over the noise density, dB",
            up: "share of wrong bits",
            lines,
        };
        report.picture(name, &plot);
    }
    Ok(())
}

/// Returns the number of bits that were sent, and of wrong ones, in as many frames as it takes for enough wrong bits.
fn counted(rate: Rate, ratio: f64, is_coded: bool, most_frames: u64) -> (u64, u64) {
    let (mut bits, mut wrong, mut frames) = (0, 0, 0);
    while frames < most_frames && wrong < ENOUGH {
        let count = measure(rate, ratio, 1, 1 + frames);
        let (more, more_wrong) =
            if is_coded { (count.bits, count.wrong) } else { (count.coded_bits, count.wrong_coded) };
        (bits, wrong, frames) = (bits + more, wrong + more_wrong, frames + 1);
    }
    (bits, wrong)
}
