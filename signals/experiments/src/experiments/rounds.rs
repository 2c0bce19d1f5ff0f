//! Measurements in rounds.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use dsp::{Error, Executor, Result, Run};
use measure_harness::rounds::{Budget, Contender, Rounds, measure};
use measure_harness::work::Digest;

/// A program with its input. It runs in the form of the `Run`.
pub(super) type Program<'a> = dyn Fn(&Run) -> Result<()> + Sync + 'a;

/// The times of the forms of a program in seconds, in each round.
pub(super) struct Times(Rounds);

/// Measures some forms in turn, in this number of rounds.
pub(super) fn rounds(count: usize, forms: &[&dyn Fn() -> Result<()>]) -> Result<Times> {
    let timed: Vec<_> = forms.iter().map(|form| move || seconds(form)).collect();
    rounds_of(count, &timed.iter().map(|form| form as &dyn Fn() -> Result<f64>).collect::<Vec<_>>())
}

/// Returns the time of a form in seconds.
pub(super) fn seconds(form: impl FnOnce() -> Result<()>) -> Result<f64> {
    let begin = Instant::now();
    form()?;
    Ok(begin.elapsed().as_secs_f64())
}

/// Runs some forms in turn, in this number of rounds. Each returns its time in seconds.
pub(super) fn rounds_of(count: usize, forms: &[&dyn Fn() -> Result<f64>]) -> Result<Times> {
    let failed = RefCell::new(None);
    let contenders = forms.iter().map(|form| {
        Contender::sampled("a form", Digest::EMPTY, || match form() {
            Ok(seconds) => (seconds, Digest::EMPTY),
            Err(error) => {
                failed.replace(Some(error));
                (f64::NAN, Digest::EMPTY.with(1))
            }
        })
    });
    let budget = Budget { wanted: count, least: count, time: Duration::MAX };
    let rounds = measure(budget, None, contenders.collect());
    rounds.map(Times).map_err(|why| failed.take().unwrap_or_else(|| Error::new(why.to_string())))
}

impl Times {
    /// Returns the median time of a form in seconds.
    pub(super) fn seconds(&self, form: usize) -> f64 {
        self.0.median(|round| round.samples[form])
    }

    /// Returns how many times faster `form` is than `than`: the median of the rounds.
    pub(super) fn faster(&self, form: usize, than: usize) -> f64 {
        self.0.median(|round| round.samples[than] / round.samples[form])
    }
}

/// Runs the sequential form on two threads at once.
pub(super) fn twice(program: &Program<'_>) -> Result<()> {
    let once = || program(&Run::new(Executor::Inline));
    std::thread::scope(|scope| {
        let other = scope.spawn(once);
        let mine = once();
        mine.and(other.join().unwrap_or_else(|_| Err(Error::new("the sequential form has panicked"))))
    })
}
