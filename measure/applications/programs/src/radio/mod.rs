//! Receivers of radio: FM, and the wireless network 802.11a. Finding or cutting the frames of the signal is the source, receiving
//! them is the parallel stage, and the end depends on the order: the de-emphasis of FM goes through all samples, and a frame of
//! 802.11a is checked against its beginning.
//!
//! The stages are those of the crate `dsp`, which has these programs as networks of processes as well. The signals are made: a
//! station that sends a tone, and frames of 54 Mbit/s, both with noise.

mod observed;
mod sequential;
mod stages;

use dsp::fmradio::{self, Radio};
use dsp::inputs::{RADIO_RATE, recording, signal};
use dsp::wifi;

use crate::{About, Scale, Workload};

pub(crate) use observed::run as observed;
pub use sequential::run as sequential;
pub use stages::{Frame, Listener, Received};

/// The samples of audio that a frame of FM gives: 0.1 s.
const FRAME_AUDIO: usize = 5_000;

/// A signal, and what receives its frames.
#[derive(Debug)]
pub struct Input {
    samples: Vec<u8>,
    program: Program,
}

/// Which radio it is.
#[derive(Debug)]
enum Program {
    Fm(Radio, Box<fmradio::Receiver>),
    Wifi,
}

impl Workload for Input {
    const ABOUT: About = About {
        name: "radio",
        what: "receives FM radio, or the frames of a wireless network (802.11a)",
        item: "0.1 s of FM radio, or a frame of 4,091 bytes",
        unit: "MB",
        workloads: &["fm", "wifi"],
    };

    fn generate(name: &str, scale: Scale) -> Option<Self> {
        let microseconds = scale.choose(5_000, 50_000, 400_000);
        let (samples, program) = match name {
            "fm" => {
                let radio = Radio::new(RADIO_RATE).expect("a rate of receivers");
                let receiver = Box::new(fmradio::Receiver::new(&radio));
                (recording(microseconds), Program::Fm(radio, receiver))
            }
            "wifi" => (signal(microseconds), Program::Wifi),
            _ => return None,
        };
        Some(Self { samples: samples.expect("memory can be written"), program })
    }

    fn amount(&self) -> f64 {
        self.samples.len() as f64 / 1e6
    }
}

impl Input {
    /// The source: the frames of the signal.
    pub fn frames(&self) -> impl Iterator<Item = Frame> + Send {
        let (mut fm, mut wifi) = match &self.program {
            Program::Fm(radio, _) => (Some(fmradio::Frames::new(self.signal(), radio, FRAME_AUDIO)), None),
            Program::Wifi => (None, Some(wifi::Frames::new(self.signal()))),
        };
        std::iter::from_fn(move || {
            let fm = fm.as_mut().and_then(Iterator::next).map(|frame| frame.map(Frame::Fm));
            let frame = fm.or_else(|| wifi.as_mut()?.next().map(|frame| frame.map(Frame::Wifi)));
            frame.map(|frame| frame.expect("memory can be read"))
        })
    }

    /// The samples, for a program that receives all of them.
    pub fn signal(&self) -> dsp::Input<'_> {
        dsp::Input::from_reader("signal", self.samples.as_slice())
    }

    /// The radio for FM. `None` if the signal is one of 802.11a.
    pub fn radio(&self) -> Option<&Radio> {
        match &self.program {
            Program::Fm(radio, _) => Some(radio),
            Program::Wifi => None,
        }
    }
}
