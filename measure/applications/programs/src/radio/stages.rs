//! The stages behind the source.

use std::cell::RefCell;

use dsp::fmradio::{self, Audio, Bands};
use dsp::wifi::{self, Decoded, Decoder, Payloads};

use super::{Input, Program};

/// A frame of the signal.
#[derive(Debug)]
pub enum Frame {
    /// Of FM radio.
    Fm(fmradio::Frame),
    /// Of 802.11a.
    Wifi(wifi::Frame),
}

impl Frame {
    /// How many bytes of the signal it has.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Fm(frame) => frame.len(),
            Self::Wifi(frame) => frame.len(),
        }
    }
}

/// A frame that was received.
#[derive(Debug)]
pub enum Received {
    /// The bands of the equaliser.
    Fm(Bands),
    /// The bytes of a frame, which are not checked yet.
    Wifi(Decoded),
}

impl Received {
    /// How many bytes of memory it has, without what is around them.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Fm(bands) => bands.bytes(),
            Self::Wifi(frame) => frame.len(),
        }
    }
}

thread_local! {
    /// The decoder of a thread, with the memory that it uses again.
    static DECODER: RefCell<Decoder> = RefCell::new(Decoder::new());
}

impl Input {
    /// The parallel stage: receives a frame.
    pub fn receive(&self, frame: Frame) -> Received {
        match (frame, &self.program) {
            (Frame::Fm(frame), Program::Fm(_, receiver)) => Received::Fm(receiver.receive(&frame)),
            (Frame::Wifi(frame), _) => {
                Received::Wifi(DECODER.with_borrow_mut(|decoder| decoder.decode(frame)))
            }
            (Frame::Fm(_), Program::Wifi) => unreachable!("the frames are those of this signal"),
        }
    }

    /// A listener for the frames, from the first one on.
    pub fn listener(&self) -> Listener {
        let hears = match &self.program {
            Program::Fm(radio, _) => Hears::Audio(Audio::new(radio)),
            Program::Wifi => Hears::Payloads(Payloads::new()),
        };
        Listener { hears, bytes: Vec::new() }
    }
}

/// The serial stage at the end, which remembers what it needs of earlier frames.
#[derive(Debug, Clone)]
pub struct Listener {
    hears: Hears,
    bytes: Vec<u8>,
}

#[derive(Debug, Clone)]
enum Hears {
    Audio(Audio),
    Payloads(Payloads),
}

impl Listener {
    /// Takes the next frame, and returns its audio as samples of 16 bits, or its payload.
    pub fn hear(&mut self, received: Received) -> &[u8] {
        let Self { hears, bytes } = self;
        bytes.clear();
        match (hears, received) {
            (Hears::Audio(audio), Received::Fm(bands)) => {
                bytes.extend(audio.mix(&bands).iter().flat_map(|sample| sample.to_le_bytes()));
            }
            (Hears::Payloads(payloads), Received::Wifi(frame)) => {
                let put = |payload: &[u8]| {
                    bytes.extend_from_slice(payload);
                    Ok(())
                };
                let all_good = &mut |bad: &wifi::BadFrame| panic!("the frames are good, but {bad:?}");
                payloads.take(frame, put, all_good).expect("memory can be written");
            }
            (Hears::Audio(_), Received::Wifi(_)) | (Hears::Payloads(_), Received::Fm(_)) => {
                unreachable!("the frames are those of this signal")
            }
        }
        bytes
    }
}
