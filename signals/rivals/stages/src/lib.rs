//! The stages of signal programs as C functions.
//!
//! A scheduler in C++ calls the same stages as the networks of `dsp`, so that only the scheduling differs. One program
//! runs at a time.

#![deny(unsafe_op_in_unsafe_fn)]

use std::io::{self, Cursor, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use crc32fast::Hasher;
use dsp::fft::{self, Shape, Split};
use dsp::fmradio::{self, Radio};
use dsp::inputs;
use dsp::staged::Staged;
use dsp::{Error, Input, Output, Result};

/// A program that runs.
struct Running {
    stages: Box<dyn Staged>,
    /// A check sum of the output, if it was asked for.
    check: Option<Arc<Mutex<Hasher>>>,
}

static RUNNING: RwLock<Option<Running>> = RwLock::new(None);

/// The key of an input: the program, its size, and the microseconds.
type Purpose = (u64, u64, u64);

/// The input of the last program, which the next program may use again.
static INPUT: Mutex<Option<(Purpose, Arc<[u8]>)>> = Mutex::new(None);

/// The value that [`begin`] and [`finish`] return after a failure.
const FAILED: u64 = u64::MAX;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A writer that adds to a check sum.
struct Checked(Arc<Mutex<Hasher>>);

impl Write for Checked {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        locked(&self.0).update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Begins a program: 0 is block transforms of `size` samples, and 1 is FM radio in bursts of `size` samples of audio.
/// The loop takes about `microseconds` for its input. Blocks pass from stage to stage through `slots` slots. Returns
/// the number of blocks, or `UINT64_MAX` after a message.
// SAFETY of every `export_name`: the name begins with `dsp_`, so it clashes with no other symbol of the program.
#[unsafe(export_name = "dsp_begin")]
pub extern "C" fn begin(program: u64, size: u64, microseconds: u64, slots: u64, is_checked: bool) -> u64 {
    let purpose = (program, size, microseconds);
    match running(purpose, slots.max(1) as usize, is_checked) {
        Ok(running) => {
            let blocks = running.stages.blocks();
            *RUNNING.write().unwrap_or_else(PoisonError::into_inner) = Some(running);
            blocks
        }
        Err(error) => {
            eprintln!("{error}");
            FAILED
        }
    }
}

fn running(purpose: Purpose, slots: usize, is_checked: bool) -> Result<Running> {
    let bytes = input(purpose)?;
    let (count, input) = (bytes.len(), Input::from_reader("memory", Cursor::new(bytes)));
    let check = is_checked.then(Arc::default);
    let output = match &check {
        Some(check) => Output::from_writer("memory", Checked(Arc::clone(check))),
        None => Output::from_writer("nowhere", io::sink()),
    };
    let size = purpose.1 as usize;
    let stages: Box<dyn Staged> = match purpose.0 {
        0 => {
            let shape = Shape::new(size, Split::Data)?;
            Box::new(fft::Stages::new(input, count, output, &shape, slots)?)
        }
        _ => {
            let radio = Radio::new(inputs::RADIO_RATE)?.burst(size);
            Box::new(fmradio::Stages::new(input, count, output, &radio, slots)?)
        }
    };
    Ok(Running { stages, check })
}

fn input(purpose: Purpose) -> Result<Arc<[u8]>> {
    let mut last = locked(&INPUT);
    if let Some((has, bytes)) = &*last
        && *has == purpose
    {
        return Ok(Arc::clone(bytes));
    }
    let (program, size, microseconds) = purpose;
    let bytes: Arc<[u8]> = match program {
        0 => inputs::blocks(size as usize, microseconds).into(),
        1 => inputs::recording(microseconds)?.into(),
        _ => return Err(Error::new(format!("there is no program {program}"))),
    };
    *last = Some((purpose, Arc::clone(&bytes)));
    Ok(bytes)
}

/// Computes a block of a stage of the program that runs.
#[unsafe(export_name = "dsp_fire")]
pub extern "C" fn fire(stage: u64, block: u64) {
    if let Some(running) = &*RUNNING.read().unwrap_or_else(PoisonError::into_inner) {
        running.stages.fire(stage as usize, block);
    }
}

/// Ends the program when all stages have done all blocks. Returns the check sum of the output, 0 if there is none, or
/// `UINT64_MAX` after a message.
#[unsafe(export_name = "dsp_finish")]
pub extern "C" fn finish() -> u64 {
    let ended = RUNNING.write().unwrap_or_else(PoisonError::into_inner).take();
    let Some(Running { stages, check }) = ended else { return FAILED };
    match stages.finish() {
        Ok(()) => check.map_or(0, |check| locked(&check).clone().finalize().into()),
        Err(error) => {
            eprintln!("{error}");
            FAILED
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_in_turn_give_the_output_of_the_loop() {
        for (program, size, stages) in [(0, 256, 3), (1, 100, 12)] {
            let blocks = begin(program, size, 3_000, 3, true);
            for block in 0..blocks {
                (0..stages).for_each(|stage| fire(stage, block));
            }
            let found = finish();
            let (mut output, run) = (Vec::new(), dsp::Run::new(dsp::Executor::Inline));
            let bytes = input((program, size, 3_000)).unwrap();
            let mut to = Output::from_writer("memory", &mut output);
            let from = Input::from_reader("memory", &bytes[..]);
            match program {
                0 => fft::transform(from, &mut to, &Shape::new(256, Split::Data).unwrap(), &run),
                _ => fmradio::receive(from, &mut to, &Radio::new(inputs::RADIO_RATE).unwrap(), &run),
            }
            .unwrap();
            drop(to);
            assert_eq!(found, u64::from(crc32fast::hash(&output)), "program {program}");
        }
        assert_eq!((begin(7, 1, 1, 1, false), begin(0, 7, 1, 1, false), finish()), (FAILED, FAILED, FAILED));
    }
}
