//! Programs that other schedulers run, by stages and by frame, give the output of their sequential forms.

use std::io::{self, Cursor, Write};
use std::sync::{Arc, Mutex};

use dsp::by_frame::InTurn;
use dsp::fft::{self, Shape, Split};
use dsp::fmradio::{self, Radio};
use dsp::staged::Staged;
use dsp::wifi::{self, Rate, Sending};
use dsp::{Executor, Input, Output, Result, Run};

use crate::random::Random;

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Calls each stage with a block as soon as the slots allow it, the last stages first.
fn fired(stages: &dyn Staged, count: usize, slots: u64) {
    let mut done = vec![0; count];
    while done[count - 1] < stages.blocks() {
        for stage in (0..count).rev() {
            let before = if stage == 0 { stages.blocks() } else { done[stage - 1] };
            if done[stage] < before && done[stage] < done[count - 1] + slots {
                stages.fire(stage, done[stage]);
                done[stage] += 1;
            }
        }
    }
}

fn bytes(count: usize) -> Vec<u8> {
    let mut random = Random::new(5);
    (0..count).map(|_| (random.next() >> 16) as u8 & 0x3f).collect()
}

fn written(code: impl FnOnce(&mut Output<'_>) -> Result<()>) -> Vec<u8> {
    let mut bytes = Vec::new();
    code(&mut Output::from_writer("memory", &mut bytes)).unwrap();
    bytes
}

#[test]
fn stages_and_frames_of_transforms_give_what_the_loop_gives() {
    for blocks in [0, 1, 33, 64] {
        let bytes = bytes(blocks * 256 * 8);
        let shape = Shape::new(256, Split::Data).unwrap();
        let input = || Input::from_reader("memory", Cursor::new(bytes.clone()));
        let expected = written(|output| fft::transform(input(), output, &shape, &Run::new(Executor::Inline)));
        let shared = Shared::default();
        let output = Output::from_writer("memory", shared.clone());
        let stages = fft::Stages::new(input(), bytes.len(), output, &shape, 3).unwrap();
        fired(&stages, 3, 3);
        stages.finish().unwrap();
        assert!(*shared.0.lock().unwrap() == expected, "{blocks} blocks by stages");
        let by_frame = written(|output| fft::transform_by(&InTurn, input(), output, &shape));
        assert!(by_frame == expected, "{blocks} blocks by frame");
    }
    let shape = Shape::new(256, Split::Data).unwrap();
    let nowhere = || Output::from_writer("nowhere", io::sink());
    let input = || Input::from_reader("memory", Cursor::new(vec![0; 9]));
    assert!(fft::Stages::new(input(), 9, nowhere(), &shape, 1).is_err());
    assert_eq!(fft::transform_by(&InTurn, input(), &mut nowhere(), &shape).unwrap_err().offset(), Some(0));
}

#[test]
fn stages_and_frames_of_radio_give_what_the_loop_gives() {
    for (rate, samples) in [(250_000, 0), (250_000, 1), (250_000, 64_000), (1_000_000, 70_001)] {
        let bytes = bytes(2 * samples);
        let radio = Radio::new(rate).unwrap().burst(96);
        let input = || Input::from_reader("memory", Cursor::new(bytes.clone()));
        let expected =
            written(|output| fmradio::receive(input(), output, &radio, &Run::new(Executor::Inline)));
        let shared = Shared::default();
        let output = Output::from_writer("memory", shared.clone());
        let stages = fmradio::Stages::new(input(), bytes.len(), output, &radio, 4).unwrap();
        fired(&stages, 12, 4);
        stages.finish().unwrap();
        assert!(*shared.0.lock().unwrap() == expected, "{samples} samples by stages");
        for frame in [1_000, 5_000, 1 << 20] {
            let by_frame = written(|output| fmradio::receive_by(&InTurn, input(), output, &radio, frame));
            assert!(by_frame == expected, "{samples} samples by frames of {frame}");
        }
    }
}

#[test]
fn frames_of_wifi_give_what_the_loop_gives() {
    let sending = Sending { payload: 700, ..Sending::new(Rate::of_mbps(36).unwrap()) };
    let payload = bytes(3_000);
    let inline = Run::new(Executor::Inline);
    let mut signal = written(|output| {
        wifi::send(Input::from_reader("memory", payload.as_slice()), output, &sending, &inline).map(drop)
    });
    // One bad frame, and the last one is cut off.
    signal[9_000 * 8 / 2..9_000 * 8 / 2 + 4_000].fill(0);
    signal.truncate(signal.len() - 5_600);
    let input = || Input::from_reader("memory", signal.as_slice());
    let (mut told, mut told_by) = (Vec::new(), Vec::new());
    let (mut count, mut count_by) = Default::default();
    let expected = written(|output| {
        count = wifi::receive(input(), output, &inline, |bad| told.push(bad.clone()))?;
        Ok(())
    });
    let found = written(|output| {
        count_by = wifi::receive_frames_by(&InTurn, input(), output, |bad| told_by.push(bad.clone()))?;
        Ok(())
    });
    assert!(found == expected && count == count_by && told == told_by, "{count:?} and {count_by:?}");
    assert!(count.good > 1 && count.bad > 1, "{count:?}");
}
