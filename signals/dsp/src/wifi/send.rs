//! The sender: from bytes to samples.

use std::ops::ControlFlow::{Break, Continue};

use anabranch_network::Network;
use dsp_transforms::num_complex::Complex32;

use crate::{Input, Output, Result, Run};

use super::channel::Channel;
use super::encode::{Encoder, frame_samples};
use super::frame::{CHECK_BYTES, MOST_PAYLOAD, with_check};
use super::pieces::{gather, spread};
use super::rate::Rate;
use super::samples;

/// Samples without a signal between frames, before the first and behind the last: 16 µs (SIFS).
pub const GAP: usize = 320;

/// The settings of a sender.
#[derive(Debug, Clone, PartialEq)]
pub struct Sending {
    /// The rates of the frames, which take turns.
    pub rates: Vec<Rate>,
    /// The most bytes of a frame, without its check sequence: 1 to 4,091.
    pub payload: usize,
    /// The channel through which the signal goes.
    pub channel: Channel,
}

impl Sending {
    /// Creates settings for frames of one rate and the largest size, over a channel that changes nothing.
    pub fn new(rate: Rate) -> Self {
        Self { rates: vec![rate], payload: MOST_PAYLOAD, channel: Channel::default() }
    }
}

/// A frame that is to be sent.
#[derive(Debug)]
struct Job {
    index: u64,
    /// The index of its first sample, or of the gap before the first frame.
    first: u64,
    rate: Rate,
    payload: Vec<u8>,
}

/// Cuts the input into payloads.
struct Payloads<'a> {
    input: Input<'a>,
    sending: &'a Sending,
    index: u64,
    first: u64,
    is_over: bool,
}

impl Payloads<'_> {
    /// Returns the next frame. The one behind the last has no payload, and stands for the gap before the first frame if
    /// there are no others.
    fn next(&mut self) -> Result<Option<Job>> {
        if self.is_over {
            return Ok(None);
        }
        let mut payload = vec![0; self.sending.payload];
        let read = self.input.fill(&mut payload)?;
        payload.truncate(read);
        if read < self.sending.payload {
            self.is_over = true;
            if read == 0 && self.index > 0 {
                return Ok(None);
            }
        }
        let rate = self.sending.rates[(self.index % self.sending.rates.len() as u64) as usize];
        let job = Job { index: self.index, first: self.first, rate, payload };
        self.index += 1;
        self.first += job.samples() as u64;
        Ok(Some(job))
    }
}

impl Job {
    fn samples(&self) -> usize {
        let gap = if self.index == 0 { GAP } else { 0 };
        let frame = match self.payload.len() {
            0 => 0,
            bytes => frame_samples(bytes + CHECK_BYTES, self.rate) + GAP,
        };
        gap + frame
    }

    /// Returns the bytes of the samples.
    fn signal(&self, encoder: &mut Encoder, channel: &Channel) -> Vec<u8> {
        let mut signal = Vec::with_capacity(self.samples());
        if self.index == 0 {
            signal.resize(GAP, Complex32::default());
        }
        if !self.payload.is_empty() {
            // A scrambler's state must not be 0. It changes from frame to frame, as the standard requires.
            let seed = (self.index * 29 % 127 + 1) as u8;
            encoder.frame(&with_check(&self.payload), self.rate, seed, &mut signal);
            signal.resize(self.samples(), Complex32::default());
        }
        channel.apply(self.index, self.first, &mut signal);
        let mut bytes = Vec::new();
        samples::append(&signal, &mut bytes);
        bytes
    }
}

/// Sends all bytes of `input` in frames, and writes the samples to `output`, in the form that
/// [`receive`](super::receive()) reads. Returns the number of frames.
///
/// # Errors
/// If a file cannot be read or written.
///
/// # Panics
/// If there are no rates, or the payload's size is not possible.
pub fn send(input: Input<'_>, output: &mut Output<'_>, sending: &Sending, run: &Run) -> Result<u64> {
    assert!(!sending.rates.is_empty(), "frames have a rate");
    assert!((1..=MOST_PAYLOAD).contains(&sending.payload), "a payload has 1 to {MOST_PAYLOAD} bytes");
    let mut payloads = Payloads { input, sending, index: 0, first: 0, is_over: false };
    let stage = |name| run.meters().stage(name);
    let (reading, writing) = (stage("read"), stage("write"));
    let encoder = Encoder::new();
    if run.is_inline() {
        let (mut encoder, encoding, mut frames) = (encoder, stage("encode"), 0);
        while let Some(job) = reading.time(|| payloads.next())? {
            frames += u64::from(!job.payload.is_empty());
            let bytes = encoding.time(|| job.signal(&mut encoder, &sending.channel));
            writing.time(|| output.put(&bytes))?;
        }
        return Ok(frames);
    }

    let (copies, mut frames) = (run.workers(), 0);
    let mut net = Network::new();
    let (give_jobs, take_jobs) = spread::<Job>(&mut net, "frames", copies);
    let (give_bytes, take_bytes) = gather::<Vec<u8>>(&mut net, "samples", copies);
    let count = &mut frames;
    net.rule("read", (), give_jobs.produces(1), move |(), jobs| {
        let Some(job) = reading.time(|| payloads.next())? else { return Ok(Break(())) };
        *count += u64::from(!job.payload.is_empty());
        jobs.push(job);
        Ok(Continue(()))
    });
    for (take, give) in take_jobs.into_iter().zip(give_bytes) {
        let (mut encoder, meter) = (encoder.clone(), stage("encode"));
        net.rule("encode", take.consumes(1), give.produces(1), move |jobs, bytes| {
            let job = jobs.pop().ok_or_else(|| crate::Error::new("a firing has a frame"))?;
            bytes.push(meter.time(|| job.signal(&mut encoder, &sending.channel)));
            Ok(())
        });
    }
    net.rule("write", take_bytes.consumes(1), (), move |bytes, ()| {
        bytes.pop().map_or(Ok(()), |bytes| writing.time(|| output.put(&bytes)))
    });
    run.network(net)?;
    Ok(frames)
}
