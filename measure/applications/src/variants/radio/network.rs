//! The program as a network of processes, in the crate `dsp`. Its filters see a window of the signal, so no sample is filtered
//! twice.

use std::io::{self, Write};

use dsp::{Executor, Run, fmradio, wifi};
use measure_programs::Output;
use measure_programs::radio::Input;

/// Runs with this many workers.
pub fn run(input: &'static Input, workers: usize, output: Output) -> Output {
    let run = Run::new(Executor::Workers(workers));
    let mut results = Results { output, headers: usize::from(input.radio().is_some()) };
    let mut to = dsp::Output::from_writer("results", &mut results);
    match input.radio() {
        Some(radio) => fmradio::receive(input.signal(), &mut to, radio, &run),
        None => {
            wifi::receive(input.signal(), &mut to, &run, |bad| panic!("the frames are good, but {bad:?}"))
                .map(|_| ())
        }
    }
    .expect("memory can be read and written");
    drop(to);
    results.output
}

/// Passes on what the program writes, without the header of the WAV file.
struct Results {
    output: Output,
    /// How many headers come first.
    headers: usize,
}

impl Write for Results {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.headers {
            0 => self.output.append(bytes),
            _ => self.headers -= 1,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
