//! The queues of the libraries, for the experiment about their capacity.

use std::sync::mpsc::sync_channel;
use std::thread;

use crossbeam_channel::bounded;
use measure_programs::experiments::queue::{Input, fold};
use measure_programs::{Output, Program};

/// Adds the queues.
pub fn add(programs: &mut Vec<Program>) {
    programs.push(Program::new("crossbeam", crossbeam));
    programs.push(Program::new("threads", threads));
}

fn crossbeam(input: &'static Input, _workers: usize, output: Output) -> Output {
    let (sender, receiver) = bounded(input.capacity);
    pass(input, move |item| sender.send(item).is_ok(), receiver, output)
}

fn threads(input: &'static Input, _workers: usize, output: Output) -> Output {
    let (sender, receiver) = sync_channel(input.capacity);
    pass(input, move |item| sender.send(item).is_ok(), receiver, output)
}

/// One thread sends, and this one receives.
fn pass(
    input: &'static Input,
    send: impl Fn(u64) -> bool + Send + 'static,
    items: impl IntoIterator<Item = u64>,
    mut output: Output,
) -> Output {
    let writer = thread::spawn(move || (0..input.items).all(send));
    let folded = items.into_iter().fold(0, fold);
    writer.join().expect("sending does not panic");
    output.write(&folded.to_le_bytes());
    output
}
