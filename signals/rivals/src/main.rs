//! The synthetic benchmark of `dsp exploration`, one producer and one consumer, with task systems and channels; and
//! signal programs by frame, which `frames.rs` answers.
//!
//! The words of a request are the name of a form, the steps of work for each index, the number of indices, and the indices
//! in a burst. The digest is the sum that the consumer found.

mod channels;
mod frames;
mod tasks;

use std::io;

use measure_harness::machine::locked_version;
use measure_harness::rival::{Answer, number, serve};
use rayon::{ThreadPool, ThreadPoolBuilder};
use signals::exploration::{Work, produced};

/// The most indices between the producer and the consumer, unless two bursts are more. The same as in the network.
const HORIZON: usize = 1 << 14;

/// The task of a form.
#[derive(Debug, Clone, Copy)]
struct Task {
    work: Work,
    bursts: u64,
    burst: usize,
}

impl Task {
    /// Returns the most bursts between the producer and the consumer.
    fn slots(&self) -> usize {
        (HORIZON / self.burst).max(2)
    }

    /// Stores the numbers of a burst.
    fn store(&self, burst: u64, slots: &mut [u32]) {
        let first = burst * self.burst as u64;
        slots.iter_mut().zip(first..).for_each(|(slot, index)| *slot = produced(self.work, index));
    }
}

/// A form of the benchmark. It returns the sum that the consumer found.
type Form = fn(Task) -> u32;

const FORMS: [(&str, &str, Form); 3] = [
    ("rayon-join", "rayon", tasks::join),
    ("rayon-scope", "rayon", tasks::scope),
    ("crossbeam", "crossbeam-channel", channels::crossbeam),
];

fn main() -> io::Result<()> {
    // The caller's threads and rayon's own: a form uses either, so that two threads work.
    let pool = ThreadPoolBuilder::new().num_threads(2).build().expect("the system gives two threads");
    let version = |package| locked_version(include_str!("../Cargo.lock"), package);
    let mut forms: Vec<(&str, String)> =
        FORMS.iter().map(|&(name, package, _)| (name, version(package))).collect();
    forms.push(("by-frame", version("rayon")));
    let mut last = frames::Last::default();
    serve(&forms, "", |words| match words {
        ["by-frame", request @ ..] => last.answer(&pool, request),
        _ => answer(&pool, words),
    })
}

/// Returns the answer to a request.
fn answer(pool: &ThreadPool, words: &[&str]) -> Result<Answer, String> {
    let name = words.first().copied().unwrap_or_default();
    let (_, _, form) =
        FORMS.iter().find(|form| form.0 == name).ok_or_else(|| format!("no form is called \"{name}\""))?;
    let burst = number::<usize>(words, 3)?.max(1);
    let task = Task {
        work: Work::of_rounds(number(words, 1)?),
        bursts: number::<u64>(words, 2)?.div_ceil(burst as u64).max(1),
        burst,
    };
    let run = || u64::from(form(task));
    Ok(Answer::timed(|| if name.starts_with("rayon") { pool.install(run) } else { run() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_finds_the_sum_of_the_loop() {
        for (name, _, form) in FORMS {
            for burst in [1, 3, 64, 20_000] {
                let task = Task { work: Work::of_rounds(3), bursts: 70, burst };
                let loop_sum = (0..70 * burst as u64).fold(0u32, |sum, index| {
                    signals::exploration::consumed(task.work, sum, &[produced(task.work, index)])
                });
                assert_eq!(form(task), loop_sum, "{name}, bursts of {burst}");
            }
        }
    }

    #[test]
    fn a_bad_request_is_answered_with_a_reason() {
        let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        for request in
            [&["crossbeam", "1", "2"][..], &["mpi", "1", "1", "1"], &["crossbeam", "x", "1", "1"], &[]]
        {
            assert!(answer(&pool, request).is_err(), "{request:?}");
        }
        assert_eq!(answer(&pool, &["crossbeam", "0", "10", "5"]).unwrap().digest, 45);
    }
}
