//! The command `dsp wifi`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::command::Shared;
use crate::{Error, Result};

use super::{Channel, MOST_PAYLOAD, Rate, SAMPLE_BYTES, Sending, Split};

/// A modem for 802.11a
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    direction: Direction,
}

#[derive(Debug, Subcommand)]
enum Direction {
    /// Bytes to a signal: complex samples at 20 MHz (little-endian f32 pairs)
    Send {
        /// The rate in Mbit/s: 6, 9, 12, 18, 24, 36, 48 or 54. The frames take turns with several rates
        #[arg(long, value_name = "RATE", value_delimiter = ',', required = true)]
        mbps: Vec<u8>,
        /// The most bytes of a frame
        #[arg(long, value_name = "BYTES", default_value_t = MOST_PAYLOAD)]
        payload: usize,
        /// The ratio of signal to noise in dB [default: no noise]
        #[arg(long, value_name = "DB", allow_negative_numbers = true)]
        snr: Option<f64>,
        /// How much the carrier is higher than the receiver expects, in Hz
        #[arg(long, value_name = "HZ", default_value_t = 0.0, allow_negative_numbers = true)]
        offset: f64,
        /// The number with which the noise begins
        #[arg(long, value_name = "N", default_value_t = 0)]
        seed: u64,
        /// The file with the bytes; - is standard input
        input: PathBuf,
        /// The file for the signal; - is standard output
        output: PathBuf,
    },
    /// A signal to the bytes of its frames. Bad frames are left out and named
    Receive {
        /// How the network shares the work
        #[arg(long, value_enum, default_value = "data")]
        split: Split,
        /// The file with the signal; - is standard input
        input: PathBuf,
        /// The file for the bytes; - is standard output
        output: PathBuf,
    },
}

/// Runs the command.
///
/// # Errors
/// If an option has a value that is not possible, a file cannot be read or written, or a frame is bad.
pub fn run(arguments: &Arguments, shared: &Shared) -> Result<()> {
    let run = shared.run();
    match &arguments.direction {
        Direction::Send { mbps, payload, snr, offset, seed, input, output } => {
            let rates = mbps.iter().map(|mbps| rate(*mbps)).collect::<Result<_>>()?;
            if !(1..=MOST_PAYLOAD).contains(payload) {
                return Err(Error::new(format!(
                    "a frame cannot have {payload} bytes: --payload must be a number from 1 to {MOST_PAYLOAD}"
                )));
            }
            if !offset.is_finite() || snr.is_some_and(|snr| !snr.is_finite()) {
                return Err(Error::new("--snr and --offset must be finite numbers"));
            }
            let channel = Channel { snr_db: *snr, offset_hz: *offset, seed: *seed, ..Channel::default() };
            let sending = Sending { rates, payload: *payload, channel };
            let input = shared.input(input)?;
            let mut output = shared.output(output)?;
            super::send(input, &mut output, &sending, &run)?;
            output.finish()?;
            shared.report(&run);
            Ok(())
        }
        Direction::Receive { split, input, output } => {
            let input = shared.input(input)?;
            let name = input.name().to_owned();
            let mut output = shared.output(output)?;
            let received = super::receive_by(*split, input, &mut output, &run, |bad| {
                let byte = bad.first * SAMPLE_BYTES as u64;
                eprintln!("dsp: {name}: frame {} at byte {byte} is left out: {}", bad.index, bad.fault);
            })?;
            output.finish()?;
            shared.report(&run);
            if received.bad > 0 {
                return Err(Error::new(format!(
                    "{name}: {} of {} frames are bad and were left out; the output has the others",
                    received.bad,
                    received.bad + received.good
                )));
            }
            Ok(())
        }
    }
}

fn rate(mbps: u8) -> Result<Rate> {
    Rate::of_mbps(mbps).ok_or_else(|| {
        let all = Rate::ALL.map(|rate| rate.mbps().to_string()).join(", ");
        Error::new(format!("802.11a has no rate of {mbps} Mbit/s: --mbps must be one of {all}"))
    })
}
