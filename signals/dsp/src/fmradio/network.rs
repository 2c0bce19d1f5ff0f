//! The receiver as a network of firing rules.

use std::ops::ControlFlow::{Break, Continue};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use anabranch_network::{All, Dealt, Fill, Horizon, Network, Reader, Writer};

use crate::filter::Fir;
use crate::slices::Joined;
use crate::{Error, Input, Output, Result, Run};

use super::filter::Filter;
use super::samples::Samples;
use super::stages::{Demodulator, Mixer};
use super::wav::Wav;
use super::{BANDS, History, Radio, Rates};

/// The number of bursts that a record holds, besides the items that its reader sees beyond one burst. A worker that is
/// woken then has work for longer than the wake-up took.
const BURSTS: usize = 16;
/// The number of copies of the audio filter, if it is doubled.
const COPIES: usize = 2;

pub(super) fn receive(input: Input<'_>, output: &mut Output<'_>, radio: &Radio, run: &Run) -> Result<()> {
    let filters = radio.filters();
    let rates = radio.rates(&filters);
    // The length of the audio. It is stored before the burst with the last sample is committed, so that the end
    // of the network sees it in time.
    let total = AtomicU64::new(u64::MAX);
    let mut wav = Wav::new(output, radio.audio_rate())?;
    let mut net = Network::new();
    let mut lay = Lay { net: &mut net, run, radio, rates };

    let horizon = |name, burst: usize, reach: usize| Horizon::of(BURSTS * burst + reach).named(name);
    let reach = filters.channel.reach();
    let (give_i, i) = lay.net.record(horizon("in-phase", rates.input, reach));
    let (give_q, q) = lay.net.record(horizon("quadrature", rates.input, reach));
    lay.read(Samples::new(input, rates.padding), give_i, give_q, &total);
    let (give, station_i) = lay.net.record(horizon("station in-phase", rates.channel, 1));
    lay.channel(&filters.channel, i, give);
    let (give, station_q) = lay.net.record(horizon("station quadrature", rates.channel, 1));
    lay.channel(&filters.channel, q, give);

    let is_doubled = radio.is_doubled && radio.history == History::Records;
    let copies = if is_doubled { COPIES } else { 1 };
    let angles = horizon("angles", copies * rates.channel, filters.audio.reach());
    let (give, angles) = lay.net.broadcast(angles, copies);
    lay.demodulate(station_i, station_q, give);
    let sound = horizon("sound", copies * rates.audio, filters.bands[0].reach());
    let (gives, sounds) = lay.net.shared(sound, Dealt::of(copies, rates.audio), All::of(BANDS));
    for (turn, (take, give)) in angles.into_iter().zip(gives).enumerate() {
        lay.audio(&filters.audio, take, (turn, copies), give);
    }
    let (gives, bands) = lay.net.merge(horizon("bands", BANDS * rates.audio, 0), BANDS, rates.audio);
    for ((filter, take), give) in filters.bands.iter().zip(sounds).zip(gives) {
        lay.band(filter, take, give);
    }
    let (give, pcm) = lay.net.record(horizon("pcm", rates.audio, 0));
    lay.mix(bands, give);
    lay.write(pcm, &mut wav, &total);
    run.network(net)?;
    wav.finish()
}

/// Adds the stages to the network.
struct Lay<'n, 'env> {
    net: &'n mut Network<'env, Error>,
    run: &'n Run,
    radio: &'n Radio,
    rates: Rates,
}

impl<'env> Lay<'_, 'env> {
    fn read(
        &mut self,
        mut samples: Samples<'env>,
        give_i: Writer<f32>,
        give_q: Writer<f32>,
        total: &'env AtomicU64,
    ) {
        let (rates, meter) = (self.rates, self.run.meters().stage("read"));
        let (mut joined_i, mut joined_q) = (Joined::new(), Joined::new());
        let outputs = (give_i.produces(rates.input), give_q.produces(rates.input));
        self.net.rule("read", (), outputs, move |(), (i, q)| {
            let mut more = Ok(false);
            joined_i.write(i, |i| joined_q.write(q, |q| more = meter.time(|| samples.fill(i, q))));
            if let Some(read) = samples.total() {
                total.store(read.div_ceil(rates.ratio), Relaxed);
            }
            Ok(if more? { Continue(()) } else { Break(()) })
        });
    }

    fn channel(&mut self, fir: &Fir, take: Reader<f32>, give: Writer<f32>) {
        let mut code = self.filter("channel", fir);
        let (take, give) = (take.consumes(self.rates.input), give.produces(self.rates.channel));
        let take = take.peeks(self.rates.input + fir.reach());
        let mut joined = Joined::new();
        self.net.rule("channel", take, give, move |from, to| {
            joined.read(from, |from| code(from, to));
            Ok(())
        });
    }

    fn demodulate(&mut self, take_i: Reader<f32>, take_q: Reader<f32>, give: Writer<f32>) {
        let (demodulator, meter) = (Demodulator::new(self.radio), self.run.meters().stage("demodulate"));
        let burst = self.rates.channel;
        let inputs = (take_i.consumes(burst).peeks(burst + 1), take_q.consumes(burst).peeks(burst + 1));
        let (mut joined_i, mut joined_q, mut joined) = (Joined::new(), Joined::new(), Joined::new());
        self.net.rule("demodulate", inputs, give.produces(burst), move |(i, q), to| {
            joined_i.read(i, |i| {
                joined_q.read(q, |q| joined.write(to, |to| meter.time(|| demodulator.apply(i, q, to))));
            });
            Ok(())
        });
    }

    /// Adds an audio filter that computes one of `copies` bursts, and takes turns with the others. It sees their
    /// bursts, too.
    fn audio(
        &mut self,
        fir: &Fir,
        take: Reader<f32, All>,
        (turn, copies): (usize, usize),
        give: Writer<f32>,
    ) {
        let mut code = self.filter("audio", fir);
        let burst = self.rates.channel;
        let take = take.consumes(copies * burst).peeks((turn + 1) * burst + fir.reach());
        let sees = turn * burst..(turn + 1) * burst + fir.reach();
        let mut joined = Joined::new();
        self.net.rule("audio", take, give.produces(self.rates.audio), move |from, to| {
            joined.read(from, |from| code(&from[sees.clone()], to));
            Ok(())
        });
    }

    fn band(&mut self, fir: &Fir, take: Reader<f32, All>, give: Writer<f32>) {
        let mut code = self.filter("band", fir);
        let burst = self.rates.audio;
        let take = take.consumes(burst).peeks(burst + fir.reach());
        let mut joined = Joined::new();
        self.net.rule("band", take, give.produces(burst), move |from, to| {
            joined.read(from, |from| code(from, to));
            Ok(())
        });
    }

    /// The code of a filter: from the items that it sees to its slots.
    fn filter(&self, name: &str, fir: &Fir) -> impl FnMut(&[f32], &mut Fill<'_, f32>) + Send + 'env {
        let (mut filter, meter) = (Filter::new(fir, self.radio.history), self.run.meters().stage(name));
        let mut joined = Joined::new();
        move |from: &[f32], to: &mut Fill<'_, f32>| {
            joined.write(to, |to| meter.time(|| filter.apply(from, to)));
        }
    }

    fn mix(&mut self, take: Reader<f32>, give: Writer<i16>) {
        let (mut mixer, meter) = (Mixer::new(self.radio), self.run.meters().stage("mix"));
        let (take, give) = (take.consumes(BANDS * self.rates.audio), give.produces(self.rates.audio));
        let (mut before, mut after) = (Joined::new(), Joined::new());
        self.net.rule("mix", take, give, move |bands, pcm| {
            before.read(bands, |bands| after.write(pcm, |pcm| meter.time(|| mixer.apply(bands, pcm))));
            Ok(())
        });
    }

    fn write(&mut self, take: Reader<i16>, wav: &'env mut Wav<'_, '_>, total: &'env AtomicU64) {
        let meter = self.run.meters().stage("write");
        let mut joined = Joined::new();
        self.net.rule("write", take.consumes(self.rates.audio), (), move |pcm, ()| {
            let (total, mut put) = (total.load(Relaxed), Ok(()));
            joined.read(pcm, |pcm| put = meter.time(|| wav.put(pcm, Some(total))));
            put
        });
    }
}
