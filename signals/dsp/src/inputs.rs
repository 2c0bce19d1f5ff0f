//! Signals and recordings for tests and measurements.

use crate::fmradio::{Tone, test_tone};
use crate::wifi::{Channel, Rate, Sending, send};
use crate::{Error, Executor, Input, Output, Result, Run};

/// Samples a second of the recordings of radio.
pub const RADIO_RATE: u32 = 250_000;
/// Bytes of a signal that the sequential receiver decodes in a microsecond at 54 Mbit/s, about.
const BYTES_IN_MICROSECOND: u64 = 5;

/// Returns samples for blocks of this size, for which a sequential transform takes about this time.
pub fn blocks(size: usize, microseconds: u64) -> Vec<u8> {
    // About 5 ns for a sample, most of which is reading and writing.
    let count = (microseconds as usize * 200).max(1).next_multiple_of(size);
    (0..2 * count as u32).flat_map(|n| ((n.wrapping_mul(2_654_435_761) >> 8) as f32).to_le_bytes()).collect()
}

/// Returns a recording for which a sequential receiver takes about this time.
///
/// # Errors
/// If the recording cannot be made.
pub fn recording(microseconds: u64) -> Result<Vec<u8>> {
    // The receiver is some 50 times faster than the station.
    tone(5e-5 * microseconds as f64)
}

/// Returns a recording of so many seconds.
///
/// # Errors
/// If the recording cannot be made.
pub fn tone(seconds: f64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut output = Output::from_writer("memory", &mut bytes);
    test_tone(&mut output, &Tone { hertz: 1_000.0, seconds, rate: RADIO_RATE, snr: Some(30.0) })?;
    output.finish()?;
    Ok(bytes)
}

/// Returns a signal of frames of 54 Mbit/s, for which a sequential receiver takes about this time.
///
/// # Errors
/// If the signal cannot be made.
pub fn signal(microseconds: u64) -> Result<Vec<u8>> {
    sent((BYTES_IN_MICROSECOND * microseconds) as usize, 0)
}

/// Returns frames of 54 Mbit/s with this number of bytes, in noise.
///
/// # Errors
/// If the signal cannot be made.
pub fn sent(count: usize, seed: u64) -> Result<Vec<u8>> {
    let bytes: Vec<u8> = (0..count as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let rate = Rate::of_mbps(54).ok_or_else(|| Error::new("802.11a has a rate of 54 Mbit/s"))?;
    let channel = Channel { snr_db: Some(30.0), seed, ..Channel::default() };
    let mut signal = Vec::new();
    let mut output = Output::from_writer("memory", &mut signal);
    let sending = Sending { channel, ..Sending::new(rate) };
    send(Input::from_reader("memory", bytes.as_slice()), &mut output, &sending, &Run::new(Executor::Inline))?;
    output.finish()?;
    Ok(signal)
}
