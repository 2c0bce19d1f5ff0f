//! The synthetic benchmark of `dsp exploration`, one producer and one consumer, with task systems and channels; and
//! signal programs by frame, which `frames.rs` answers.
//!
//! After a line with the name and the version of each form, and one with the word `ready`, the program reads requests
//! of five words: the name of a form, the steps of work for each index, the number of indices, the indices in a burst,
//! and the number of rounds. It answers each with a line: the sum that the consumer found, and the nanoseconds for each
//! index of each round. An answer that begins with `failed` says why there is none.

mod channels;
mod frames;
mod tasks;
#[allow(dead_code, reason = "the calibration is done by the program that asks")]
#[path = "../../../signals/src/exploration/work.rs"]
mod work;

use std::io::BufRead;
use std::time::Instant;

use rayon::{ThreadPool, ThreadPoolBuilder};
use work::{Work, produced};

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
    ("rayon-join", "1", tasks::join),
    ("rayon-scope", "1", tasks::scope),
    ("crossbeam", "0.5", channels::crossbeam),
];

fn main() {
    // The caller's threads and rayon's own: a form uses either, so that two threads work.
    let pool = ThreadPoolBuilder::new().num_threads(2).build().expect("the system gives two threads");
    FORMS.iter().for_each(|(name, version, _)| println!("{name} {version}"));
    println!("by-frame 1\nready");
    let mut last = frames::Last::default();
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let answered = match line.strip_prefix("by-frame ") {
            Some(request) => last.answer(&pool, request),
            None => answer(&pool, &line),
        };
        match answered {
            Ok(answer) => println!("{answer}"),
            Err(reason) => println!("failed: {reason}"),
        }
    }
}

/// Returns the answer to a request.
fn answer(pool: &ThreadPool, line: &str) -> Result<String, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let &[name, steps, indices, burst, rounds] = words.as_slice() else {
        return Err("a request has five words: NAME STEPS INDICES BURST ROUNDS".into());
    };
    let number = |word: &str| word.parse::<u64>().map_err(|_| format!("\"{word}\" is no number"));
    let (_, _, form) =
        FORMS.iter().find(|form| form.0 == name).ok_or_else(|| format!("no form is called \"{name}\""))?;
    let steps = u32::try_from(number(steps)?).map_err(|_| "too many steps")?;
    let burst = number(burst)?.max(1);
    let task = Task {
        work: Work::of_rounds(steps),
        bursts: number(indices)?.div_ceil(burst).max(1),
        burst: usize::try_from(burst).map_err(|_| "the burst is too large")?,
    };
    let (mut sums, mut answer) = (Vec::new(), String::new());
    for _ in 0..number(rounds)?.max(1) {
        let begin = Instant::now();
        let sum = if name.starts_with("rayon") { pool.install(|| form(task)) } else { form(task) };
        let each = 1e9 * begin.elapsed().as_secs_f64() / (task.bursts * burst) as f64;
        sums.push(sum);
        answer.push_str(&format!(" {each}"));
    }
    if sums.iter().any(|&sum| sum != sums[0]) {
        return Err(format!("the rounds found different sums: {sums:?}"));
    }
    Ok(format!("{}{answer}", sums[0]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_finds_the_sum_of_the_loop() {
        for (name, _, form) in FORMS {
            for burst in [1, 3, 64, 20_000] {
                let task = Task { work: Work::of_rounds(3), bursts: 70, burst };
                let loop_sum = (0..70 * burst as u64)
                    .fold(0u32, |sum, index| work::consumed(task.work, sum, &[produced(task.work, index)]));
                assert_eq!(form(task), loop_sum, "{name}, bursts of {burst}");
            }
        }
    }

    #[test]
    fn a_bad_request_is_answered_with_a_reason() {
        let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        for request in ["", "crossbeam 1 2 3", "mpi 1 1 1 1", "crossbeam x 1 1 1"] {
            assert!(answer(&pool, request).is_err(), "{request}");
        }
        assert!(answer(&pool, "crossbeam 0 10 5 2").unwrap().starts_with("45 "));
    }
}
