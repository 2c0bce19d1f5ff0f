//! Programs whose frames rayon computes side by side.
//!
//! A request has the words `by-frame ENGINE COUNT PERIOD` and then the words of a subject. The engine is `rayon` or
//! `in-turn`. The input has the given number of frames. They arrive with a period of so many nanoseconds, or as soon as
//! they are asked for if the period is 0. The digest is a check sum of the output. The answer has one more number: the median
//! of the seconds from the arrival of a frame until it was done.

use std::collections::BTreeMap;
use std::iter::from_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dsp::by_frame::{ByFrame, InTurn};
use dsp::{Error, Result};
use measure_harness::rival::{Answer, number};
use rayon::ThreadPool;
use rayon::iter::{ParallelBridge, ParallelIterator};
use signals::arrivals::{Clock, Frames};
use signals::experiments::Subject;

/// Computes frames on the threads of a pool. Each thread takes a frame when it has none, so that no frame waits while a
/// thread is free; a frame that is done before those ahead of it waits for them.
pub struct Rayon<'p>(pub &'p ThreadPool);

/// The results that wait for earlier ones, and the function that writes them.
struct Order<R, W> {
    next: usize,
    held: BTreeMap<usize, R>,
    write: W,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ByFrame for Rayon<'_> {
    fn run<F: Send, S: Send, R: Send>(
        &self,
        mut read: impl FnMut() -> Result<Option<F>> + Send,
        state: impl Fn() -> S + Send + Sync,
        code: impl Fn(&mut S, F) -> R + Send + Sync,
        write: impl FnMut(R) -> Result<()> + Send,
    ) -> Result<()> {
        let failed: Mutex<Option<Error>> = Mutex::default();
        let fail = |error| {
            locked(&failed).get_or_insert(error);
        };
        let order = Mutex::new(Order { next: 0, held: BTreeMap::new(), write });
        let frames = from_fn(|| match read() {
            Ok(frame) => frame.filter(|_| locked(&failed).is_none()),
            Err(error) => {
                fail(error);
                None
            }
        });
        self.0.install(|| {
            frames.fuse().enumerate().par_bridge().for_each_init(&state, |state, (number, frame)| {
                let result = code(state, frame);
                let order = &mut *locked(&order);
                order.held.insert(number, result);
                while let Some(result) = order.held.remove(&order.next) {
                    order.next += 1;
                    if let Err(error) = (order.write)(result) {
                        fail(error);
                    }
                }
            });
        });
        failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }
}

/// The subject of the last request, with its frames and the check sum of its output.
#[derive(Default)]
pub struct Last(Option<(Subject, Frames, u32)>);

impl Last {
    /// Returns the answer to the words of a request behind the first one.
    pub fn answer(&mut self, pool: &ThreadPool, request: &[&str]) -> std::result::Result<Answer, String> {
        let [engine, _, _, program @ ..] = request else {
            return Err("a request has the words by-frame ENGINE COUNT PERIOD PROGRAM..".into());
        };
        let (count, period) = (number(request, 1)?, Duration::from_nanos(number(request, 2)?));
        let words = &program.join(" ");
        let told = |error: Error| error.to_string();
        let is_known = self
            .0
            .as_ref()
            .is_some_and(|(subject, frames, _)| (frames.count(), subject.words()) == (count, &**words));
        if !is_known {
            let subject = Subject::of(words).map_err(told)?;
            let frames = subject.frames(count).map_err(told)?;
            let mut output = Vec::new();
            subject
                .run_by(
                    &Rayon(pool),
                    dsp::Input::from_reader("frames", frames.bytes()),
                    &mut dsp::Output::from_writer("memory", &mut output),
                )
                .map_err(told)?;
            self.0 = Some((subject, frames, signals::experiments::check_sum(&output)));
        }
        let Some((subject, frames, check)) = &self.0 else { return Err("there is no subject".into()) };
        let clock = Clock::new(frames, period);
        let begin = Instant::now();
        let (input, mut output) = (clock.input(), clock.output());
        match *engine {
            "rayon" => subject.run_by(&Rayon(pool), input, &mut output),
            "in-turn" => subject.run_by(&InTurn, input, &mut output),
            _ => return Err(format!("there is no engine \"{engine}\"")),
        }
        .map_err(told)?;
        let seconds = begin.elapsed().as_secs_f64();
        drop(output);
        let latency = signals::arrivals::median(&clock.latencies().map_err(told)?);
        Ok(Answer { seconds, digest: u64::from(*check), more: vec![latency] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(request: &str) -> Vec<&str> {
        request.split_whitespace().collect()
    }

    #[test]
    fn frames_on_two_threads_give_the_result_of_the_loop() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let mut last = Last::default();
        let picture =
            format!("jpeg {}/../dsp/tests/integration/data/jpeg/420.jpg", env!("CARGO_MANIFEST_DIR"));
        for (words, count) in [("fft 1024", 9), ("fmradio", 8), ("wifi", 8), (&*picture, 11), (&*picture, 8)]
        {
            let subject = Subject::of(words).unwrap();
            let check = subject.check(&subject.frames(count).unwrap()).unwrap();
            for engine in ["rayon", "in-turn"] {
                let answer = last.answer(&pool, &words_of(&format!("{engine} {count} 0 {words}"))).unwrap();
                assert_eq!((answer.digest, answer.more.len()), (check.into(), 1), "{words}, {engine}");
            }
        }
        for request in
            ["", "rayon 0 0", "mpi 8 0 wifi", "rayon x 0 wifi", "rayon 8 0 fft 7", "rayon 0 0 wifi"]
        {
            assert!(last.answer(&pool, &words_of(request)).is_err(), "{request}");
        }
    }

    #[test]
    fn the_order_of_frames_is_kept_and_errors_end_the_run() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
        let (mut next, mut seen) = (0, Vec::new());
        let read = || {
            next += 1;
            Ok((next <= 100).then_some(next))
        };
        let write = |number: i32| {
            seen.push(number);
            Ok(())
        };
        Rayon(&pool).run(read, || (), |(), number| number * number, write).unwrap();
        assert_eq!(seen, (1..=100).map(|number| number * number).collect::<Vec<_>>());
        let read = || Err::<Option<i32>, _>(Error::new("gone"));
        assert!(Rayon(&pool).run(read, || (), |(), number| number, |_| Ok(())).is_err());
    }
}
