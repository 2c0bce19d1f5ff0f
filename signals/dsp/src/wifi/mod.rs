//! A modem for 802.11a: OFDM in 20 MHz at 6 to 54 Mbit/s (IEEE Std 802.11-2020, clause 17).
//!
//! [`send`](send()) cuts bytes into frames of at most 4,091 bytes, and gives each a check sequence and a preamble.
//! [`receive`](receive()) finds the frames in a signal, with any gap between them, and returns their bytes. The
//! rate may change from frame to frame. Signals are complex samples at 20 MHz, pairs of little-endian `f32`.
//!
//! A frame has no number. If a receiver does not recognise the preamble of a frame, it does not know that the frame
//! exists, and cannot report it.
//!
//! # The receiver's network
//!
//! `synchronise` goes through all samples. It finds the preambles, measures the frequency offset and the channel, and
//! reads the rate and the length of each frame. Behind it, groups of 16 symbols are independent of one another, so
//! copies of `demodulate` and of `decode` take turns with them. Between these, `join` sees two groups at a time and
//! gives each group parts of its neighbours. `write` checks the frames. [`Split`] determines whether stages have
//! copies, or whether copies of one process take whole frames.
//!
//! The receiver tolerates a frequency offset of 600 kHz, echoes within 0.5 µs, and a clock that is off by 20 ppm at 6
//! Mbit/s and by more in shorter frames.

mod channel;
mod code;
pub mod command;
mod decode;
mod demodulate;
mod encode;
pub mod error_rate;
mod frame;
mod frames;
mod interleaver;
mod mapping;
mod pieces;
mod preamble;
mod rate;
mod receive;
mod samples;
mod scrambler;
mod search;
mod send;
mod signal;
mod symbols;
mod synchronise;
mod viterbi;

pub use channel::{Channel, Noise, SAMPLE_RATE_HZ};
pub use decode::Received;
pub use encode::{Encoder, frame_samples};
pub use frame::{CHECK_BYTES, MOST_PAYLOAD};
pub use frames::{Decoded, Decoder, Frame, Frames, Payloads, receive_frames_by};
pub use mapping::Modulation;
pub use rate::Rate;
pub use receive::{Split, receive, receive_by};
pub use samples::SAMPLE_BYTES;
pub use send::{GAP, Sending, send};
pub use signal::SignalError;
pub use synchronise::{BadFrame, Fault};
