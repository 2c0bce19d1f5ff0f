//! The command `dsp fmradio`.

use std::num::NonZeroU16;
use std::path::PathBuf;

use clap::Args;

use crate::command::Shared;
use crate::{Error, Result};

use super::{BANDS, History, Radio, Tone, receive, test_tone};

/// Receives FM radio: 8-bit I/Q samples in, a WAV file out
#[derive(Debug, Args)]
pub struct Arguments {
    /// The number of samples of the input per second
    #[arg(long, value_name = "HZ", default_value_t = 250_000)]
    rate: u32,
    /// The gains of the equaliser's six bands in dB, from the lowest band to the highest
    #[arg(long, value_name = "DB,..", value_delimiter = ',', allow_negative_numbers = true)]
    equaliser: Option<Vec<f32>>,
    /// The time constant of the de-emphasis in microseconds: 50, 75 in America, 0 for none
    #[arg(long, value_name = "US", default_value_t = 50)]
    de_emphasis: u16,
    /// The number of samples of audio in a burst
    #[arg(long, value_name = "SAMPLES", default_value = "256")]
    burst: NonZeroU16,
    /// Share the audio filter, which is the widest, between two processes
    #[arg(long)]
    double: bool,
    /// The place where the filters keep the items that they need again
    #[arg(long, value_enum, default_value = "records")]
    history: History,
    /// Make a test signal in place of receiving: a station that sends a tone of this frequency
    #[arg(long, value_name = "HZ")]
    test_tone: Option<f64>,
    /// How long the test signal is
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0, requires = "test_tone")]
    seconds: f64,
    /// The power of the test signal over that of its noise [default: no noise]
    #[arg(long, value_name = "DB", requires = "test_tone", allow_negative_numbers = true)]
    snr: Option<f64>,
    /// The input and the output; with --test-tone the output alone; - is standard input or output
    #[arg(value_names = ["IN", "OUT"], num_args = 1..=2, required = true)]
    files: Vec<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// If an argument is not possible, the input is cut off, or a file cannot be read or written.
pub fn run(arguments: &Arguments, shared: &Shared) -> Result<()> {
    if let Some(hertz) = arguments.test_tone {
        let [path] = &arguments.files[..] else {
            return Err(Error::new("--test-tone writes one file: dsp fmradio --test-tone HZ OUT"));
        };
        let mut output = shared.output(path)?;
        let Arguments { seconds, rate, snr, .. } = *arguments;
        test_tone(&mut output, &Tone { hertz, seconds, rate, snr })?;
        return output.finish();
    }
    let [from, to] = &arguments.files[..] else {
        return Err(Error::new("the output is missing: dsp fmradio IN OUT; - is standard output"));
    };
    let mut radio = Radio::new(arguments.rate)?
        .burst(arguments.burst.get().into())
        .de_emphasis(1e-6 * f64::from(arguments.de_emphasis))
        .doubled(arguments.double)
        .history(arguments.history);
    if let Some(gains) = &arguments.equaliser {
        radio = radio.gains(factors(gains)?);
    }
    let input = shared.input(from)?;
    let mut output = shared.output(to)?;
    let run = shared.run();
    receive(input, &mut output, &radio, &run)?;
    output.finish()?;
    shared.report(&run);
    Ok(())
}

/// Returns the factors for gains in dB.
fn factors(gains: &[f32]) -> Result<[f32; BANDS]> {
    let wrong =
        || Error::new(format!("--equaliser takes {BANDS} gains from -100 to 20 dB, as in 0,0,3,3,0,-6"));
    let gains: [f32; BANDS] = gains.try_into().map_err(|_| wrong())?;
    if !gains.iter().all(|gain| (-100.0..=20.0).contains(gain)) {
        return Err(wrong());
    }
    Ok(gains.map(|gain| 10f32.powf(gain / 20.0)))
}
