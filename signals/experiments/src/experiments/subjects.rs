//! The programs that are compared with other schedulers frame by frame. The processes of the rivals use this too.

use crate::arrivals::Frames;
use dsp::by_frame::{ByFrame, InTurn};
use dsp::fft::{Shape, Split, transform, transform_by};
use dsp::fmradio::{Radio, receive, receive_by};
use dsp::wifi::{MOST_PAYLOAD, SAMPLE_BYTES, receive_frames_by};
use dsp::{Error, Executor, Input, Output, Result, Run, jpeg, wifi};

use super::rounds::seconds;
use dsp::inputs::{RADIO_RATE, blocks, sent, tone};

/// Samples of audio in a frame of radio: about 0.1 s.
const RADIO_FRAME: usize = 5_120;
/// The number of samples of a recording for a sample of audio.
const RADIO_RATIO: usize = 5;
/// Samples that a receiver for 802.11a reads at once. A frame with the gap behind it is a multiple of them.
const WIFI_BLOCK: usize = 2_048;
/// The fewest frames of a run.
const LEAST_FRAMES: f64 = 8.0;

/// A program that is compared with others frame by frame.
#[derive(Debug, Clone)]
pub struct Subject {
    program: Program,
    /// The words of a request to a rival.
    words: String,
    /// The number of bytes of a frame.
    frame_bytes: usize,
}

#[derive(Debug, Clone)]
enum Program {
    /// A frame is a burst of blocks.
    Fft(Shape),
    /// A frame is about 0.1 s of audio.
    Radio(Radio),
    /// A frame is a frame of the largest size at 54 Mbit/s.
    Wifi,
    /// A frame is a whole picture.
    Jpeg(Vec<u8>),
}

impl Subject {
    /// Returns the subject with this name: `fft SIZE`, `fmradio`, `wifi`, or `jpeg FILE`.
    ///
    /// # Errors
    /// If there is no such subject, or if the file cannot be read.
    pub fn of(words: &str) -> Result<Self> {
        let (program, frame_bytes) = match words.split_once(' ').unwrap_or((words, "")) {
            ("fft", size) => {
                let size = size.parse().map_err(|_| Error::new(format!("\"{size}\" is no size")))?;
                let shape = Shape::new(size, Split::Data)?;
                (Program::Fft(shape), SAMPLE_BYTES * shape.samples())
            }
            ("fmradio", "") => (Program::Radio(Radio::new(RADIO_RATE)?), 2 * RADIO_FRAME * RADIO_RATIO),
            ("wifi", "") => (Program::Wifi, wifi_frames(1)?.len()),
            ("jpeg", path) => {
                let file = std::fs::read(path).map_err(|error| Error::io(path, "cannot read", error))?;
                let bytes = file.len();
                (Program::Jpeg(file), bytes)
            }
            _ => return Err(Error::new(format!("there is no program \"{words}\""))),
        };
        Ok(Self { program, words: words.into(), frame_bytes })
    }

    /// Returns the words that name the subject.
    pub fn words(&self) -> &str {
        &self.words
    }

    /// Returns the number of frames for which the sequential form takes about this time, at least eight. It is measured for
    /// pictures, so it differs from call to call.
    ///
    /// # Errors
    /// If a picture cannot be decoded.
    pub fn count(&self, microseconds: u64) -> Result<usize> {
        let each = match &self.program {
            Program::Fft(shape) => shape.samples() as f64 / 200.0,
            Program::Radio(_) => 2_000.0,
            Program::Wifi => 1_000.0,
            Program::Jpeg(file) => {
                let mut output = Output::from_writer("nowhere", std::io::sink());
                let input = Input::from_reader("the picture", file.as_slice());
                1e6 * seconds(|| jpeg::decode(input, &mut output, 1, &Run::new(Executor::Inline)))?
            }
        };
        Ok((microseconds as f64 / each).max(LEAST_FRAMES).ceil() as usize)
    }

    /// Returns this number of frames.
    ///
    /// # Errors
    /// If the sequential form fails.
    pub fn frames(&self, count: usize) -> Result<Frames> {
        let bytes = match &self.program {
            Program::Fft(shape) => blocks(count * shape.samples(), 0),
            Program::Radio(_) => tone((count * RADIO_FRAME * RADIO_RATIO) as f64 / f64::from(RADIO_RATE))?,
            Program::Wifi => wifi_frames(count)?,
            Program::Jpeg(file) => file.repeat(count),
        };
        Frames::new(bytes, self.frame_bytes, |input, output| {
            self.run(input, output, &Run::new(Executor::Inline))
        })
    }

    /// Runs the program in the form of `run`.
    ///
    /// # Errors
    /// The errors of the program.
    pub fn run(&self, input: Input<'_>, output: &mut Output<'_>, run: &Run) -> Result<()> {
        match &self.program {
            Program::Fft(shape) => transform(input, output, shape, run),
            Program::Radio(radio) => receive(input, output, radio, run),
            Program::Wifi => wifi::receive(input, output, run, |_| {}).map(drop),
            Program::Jpeg(_) => Pictures(input, self.frame_bytes)
                .try_for_each(|picture| jpeg::decode(picture, output, jpeg::DEFAULT_BURST, run)),
        }
    }

    /// Runs the program with frames that `engine` computes side by side.
    ///
    /// # Errors
    /// The errors of the program.
    pub fn run_by(&self, engine: &impl ByFrame, input: Input<'_>, output: &mut Output<'_>) -> Result<()> {
        match &self.program {
            Program::Fft(shape) => transform_by(engine, input, output, shape),
            Program::Radio(radio) => receive_by(engine, input, output, radio, RADIO_FRAME),
            Program::Wifi => receive_frames_by(engine, input, output, |_| {}).map(drop),
            Program::Jpeg(_) => jpeg::decode_by(engine, Pictures(input, self.frame_bytes), output),
        }
    }

    /// Returns a check sum of the program's output for these frames.
    ///
    /// # Errors
    /// The errors of the program, or if its frames taken in turn give another result than its sequential form.
    pub fn check(&self, frames: &Frames) -> Result<u32> {
        let [mut inline, mut by_frame] = [Vec::new(), Vec::new()];
        let input = || Input::from_reader("frames", frames.bytes());
        self.run(input(), &mut Output::from_writer("memory", &mut inline), &Run::new(Executor::Inline))?;
        self.run_by(&InTurn, input(), &mut Output::from_writer("memory", &mut by_frame))?;
        if inline != by_frame {
            return Err(Error::new(format!("{}: its frames give another result than the loop", self.words)));
        }
        Ok(crc32fast::hash(&inline))
    }
}

/// Returns `count` frames of 802.11a, each in its own noise and with silence behind it.
fn wifi_frames(count: usize) -> Result<Vec<u8>> {
    let mut signal = Vec::new();
    for frame in 0..count {
        signal.extend(sent(MOST_PAYLOAD, frame as u64)?);
        // The receiver sees the end of a frame in the second block behind it.
        let end = signal.len() / SAMPLE_BYTES;
        signal.resize((end.next_multiple_of(WIFI_BLOCK) + 2 * WIFI_BLOCK) * SAMPLE_BYTES, 0);
    }
    Ok(signal)
}

/// An iterator over the pictures of an input, which has them one after the other, with the same number of bytes each.
struct Pictures<'a>(Input<'a>, usize);

impl Iterator for Pictures<'_> {
    type Item = Input<'static>;

    fn next(&mut self) -> Option<Input<'static>> {
        let mut file = vec![0; self.1];
        // An input in memory can be read.
        let read = self.0.fill(&mut file).ok()?;
        (read == file.len()).then(|| Input::from_reader("the picture", std::io::Cursor::new(file)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_side_by_side_give_the_result_of_the_loop() {
        let photo = format!("jpeg {}/../dsp/tests/integration/data/jpeg/420.jpg", env!("CARGO_MANIFEST_DIR"));
        for words in ["fft 256", "fft 8192", "fmradio", "wifi", &photo] {
            let subject = Subject::of(words).unwrap();
            let count = subject.count(0).unwrap();
            let frames = subject.frames(count).unwrap();
            assert_eq!((count, frames.count()), (8, 8), "{words}");
            assert_eq!(subject.words(), words);
            subject.check(&frames).unwrap();
        }
        assert!(
            Subject::of("fft 7").is_err() && Subject::of("mpi").is_err() && Subject::of("jpeg ?").is_err()
        );
    }
}
