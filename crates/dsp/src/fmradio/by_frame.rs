//! The receiver frame by frame, for schedulers that are no network.

use crate::by_frame::ByFrame;
use crate::{Input, Output, Result};

use super::stages::{Demodulator, Mixer};
use super::wav::Wav;
use super::{BANDS, Radio, samples};

/// A part of a recording: the samples of a frame, and those before it that the filters need again.
struct Frame {
    bytes: Vec<u8>,
    /// How many samples of audio it gives.
    audio: usize,
}

/// Receives a station, of which `engine` computes frames of `frame` samples of audio side by side.
///
/// The filters have no state but a window of their input, so a frame is computed from its own samples and the last ones of
/// the frame before: these are filtered twice. The de-emphasis behind the filters depends on all samples before, so the
/// mixer goes through the frames in turn. The result has the same bytes as that of the sequential form.
///
/// # Errors
/// As of [`receive`](super::receive).
pub fn receive_by(
    engine: &impl ByFrame,
    mut input: Input<'_>,
    output: &mut Output<'_>,
    radio: &Radio,
    frame: usize,
) -> Result<()> {
    let filters = radio.filters();
    let ratio = radio.rates(&filters).ratio as usize;
    let (channel_step, audio_step) = (radio.channel_step() as usize, radio.audio_step() as usize);
    let (frame, audio_reach, band_reach) = (frame.max(1), filters.audio.reach(), filters.bands[0].reach());
    // What a number of samples of audio are made of, from the audio back to the input.
    let angles_for = |audio: usize| (audio + band_reach) * audio_step + audio_reach;
    let station_for = |audio: usize| angles_for(audio) + 1;
    let input_for = |audio: usize| station_for(audio) * channel_step + filters.channel.reach();
    // The audio of a frame ends so many samples before the frame's end.
    let late = (input_for(0)).div_ceil(ratio);

    let mut wav = Wav::new(output, radio.audio_rate())?;
    // The samples from which the next frame's audio begins, the audio that was given, and all samples if they are known.
    let (mut held, mut given, mut read, mut is_over) = (Vec::new(), 0, 0_usize, false);
    let next = || -> Result<Option<Frame>> {
        loop {
            if is_over {
                let left = read.div_ceil(ratio) - given;
                if left == 0 {
                    return Ok(None);
                }
                let audio = left.min(frame);
                let mut bytes = std::mem::take(&mut held);
                let rest: Vec<u8> = bytes.get(2 * audio * ratio..).unwrap_or_default().to_vec();
                let whole = bytes.len().min(2 * input_for(audio));
                bytes.truncate(whole);
                (held, given) = (rest, given + audio);
                return Ok(Some(Frame { bytes, audio }));
            }
            let before = held.len();
            held.resize(before + 2 * frame * ratio, 0);
            let more = input.fill(&mut held[before..])?;
            if more % 2 == 1 {
                return Err(input.error_at(input.offset() - 1, "the input ends within a sample"));
            }
            held.truncate(before + more);
            read += more / 2;
            is_over = more < 2 * frame * ratio;
            let audio = (held.len() / 2 / ratio).saturating_sub(late);
            if is_over || audio == 0 {
                continue;
            }
            let bytes = held[..2 * input_for(audio)].to_vec();
            held.drain(..2 * audio * ratio);
            given += audio;
            return Ok(Some(Frame { bytes, audio }));
        }
    };
    let demodulator = Demodulator::new(radio);
    let code = |(): &mut (), Frame { bytes, audio }: Frame| -> (usize, Vec<f32>) {
        let [mut i, mut q] = [(); 2].map(|()| vec![0.0; input_for(audio)]);
        samples::split(&bytes, &mut i, &mut q);
        let [i, q] = [i, q].map(|part| {
            let mut station = vec![0.0; station_for(audio)];
            filters.channel.apply(&part, &mut station);
            station
        });
        let mut angles = vec![0.0; angles_for(audio)];
        demodulator.apply(&i, &q, &mut angles);
        let mut sound = vec![0.0; audio + band_reach];
        filters.audio.apply(&angles, &mut sound);
        let mut equalised = vec![0.0; BANDS * audio];
        for (fir, to) in filters.bands.iter().zip(equalised.chunks_exact_mut(audio)) {
            fir.apply(&sound, to);
        }
        (audio, equalised)
    };
    let (mut mixer, mut pcm) = (Mixer::new(radio), Vec::new());
    let write = |(audio, equalised): (usize, Vec<f32>)| {
        pcm.resize(audio, 0);
        mixer.apply(&equalised, &mut pcm);
        wav.put(&pcm, None)
    };
    engine.run(next, || (), code, write)?;
    wav.finish()
}
