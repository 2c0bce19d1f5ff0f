//! The receiver as a loop.

use crate::{Input, Output, Result, Run};

use super::filter::Filter;
use super::line::Line;
use super::samples::Samples;
use super::stages::{Demodulator, Mixer};
use super::wav::Wav;
use super::{BANDS, Radio};

pub(super) fn receive(input: Input<'_>, output: &mut Output<'_>, radio: &Radio, run: &Run) -> Result<()> {
    let filters = radio.filters();
    let rates = radio.rates(&filters);
    let meter = |name| run.meters().stage(name);
    let (read, channel, demodulate) = (meter("read"), meter("channel"), meter("demodulate"));
    let (audio, band, mix, write) = (meter("audio"), meter("band"), meter("mix"), meter("write"));

    let mut samples = Samples::new(input, rates.padding);
    let mut channels = [(); 2].map(|()| Filter::new(&filters.channel, radio.history));
    let demodulator = Demodulator::new(radio);
    let mut audio_filter = Filter::new(&filters.audio, radio.history);
    let mut bands: Vec<Filter> = filters.bands.iter().map(|fir| Filter::new(fir, radio.history)).collect();
    let mut mixer = Mixer::new(radio);
    let mut wav = Wav::new(output, radio.audio_rate())?;

    let mut parts = [Line::default(), Line::default()];
    let mut filtered = [Line::default(), Line::default()];
    let (mut angles, mut sound) = (Line::default(), Line::default());
    let mut equalised = vec![0.0; BANDS * rates.audio];
    let mut pcm = vec![0; rates.audio];
    loop {
        let [in_phase, quadrature] = &mut parts;
        let more = in_phase
            .append(rates.input, |i| quadrature.append(rates.input, |q| read.time(|| samples.fill(i, q))))?;
        if !more {
            break;
        }
        for ((part, filtered), filter) in parts.iter_mut().zip(&mut filtered).zip(&mut channels) {
            let sees = rates.input + filters.channel.reach();
            if part.has(sees) {
                filtered.append(rates.channel, |to| channel.time(|| filter.apply(part.seen(sees), to)));
                part.consume(rates.input);
            }
        }
        let [in_phase, quadrature] = &mut filtered;
        let sees = rates.channel + 1;
        if in_phase.has(sees) {
            let (i, q) = (in_phase.seen(sees), quadrature.seen(sees));
            angles.append(rates.channel, |to| demodulate.time(|| demodulator.apply(i, q, to)));
            in_phase.consume(rates.channel);
            quadrature.consume(rates.channel);
        }
        let sees = rates.channel + filters.audio.reach();
        if angles.has(sees) {
            sound.append(rates.audio, |to| audio.time(|| audio_filter.apply(angles.seen(sees), to)));
            angles.consume(rates.channel);
        }
        let sees = rates.audio + filters.bands[0].reach();
        if sound.has(sees) {
            for (filter, to) in bands.iter_mut().zip(equalised.chunks_exact_mut(rates.audio)) {
                band.time(|| filter.apply(sound.seen(sees), to));
            }
            sound.consume(rates.audio);
            mix.time(|| mixer.apply(&equalised, &mut pcm));
            let total = samples.total().map(|total| total.div_ceil(rates.ratio));
            write.time(|| wav.put(&pcm, total))?;
        }
    }
    wav.finish()
}
