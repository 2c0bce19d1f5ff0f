//! Measurements in rounds.

use std::time::Instant;

use dsp::{Error, Executor, Result, Run};

/// A program with its input. It runs in the form of the `Run`.
pub(super) type Program<'a> = dyn Fn(&Run) -> Result<()> + Sync + 'a;

/// The times of the forms of a program in seconds: the outer index is the form, the inner one the round.
pub(super) struct Times(Vec<Vec<f64>>);

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
    let mut times = vec![Vec::new(); forms.len()];
    for _ in 0..count {
        for (form, times) in forms.iter().zip(&mut times) {
            times.push(form()?);
        }
    }
    Ok(Times(times))
}

impl Times {
    /// Returns the times of forms that were measured round by round.
    pub(super) fn of<const FORMS: usize>(rounds: &[[f64; FORMS]]) -> Self {
        Self((0..FORMS).map(|form| rounds.iter().map(|round| round[form]).collect()).collect())
    }

    /// Returns the median time of a form in seconds.
    pub(super) fn seconds(&self, form: usize) -> f64 {
        median(self.0[form].clone())
    }

    /// Returns how many times faster `form` is than `than`: the median of the rounds.
    pub(super) fn faster(&self, form: usize, than: usize) -> f64 {
        median(self.0[than].iter().zip(&self.0[form]).map(|(than, form)| than / form).collect())
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
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
