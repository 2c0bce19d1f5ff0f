//! Rounds: in each round every contender runs once, one after another.
//!
//! What disturbs the machine disturbs all contenders of a round alike. Only times of the same round are
//! compared, and the result is the median of the rounds' ratios. Each round begins with another contender.

use std::thread;
use std::time::{Duration, Instant};

use crate::distance;
use crate::statistics::Summary;
use crate::work::{Digest, Work};

/// If two plain threads are less than this many times as fast as one, the round did not have two cores.
pub const TWO_CORES: f64 = 1.8;

/// How many rounds to measure, and how long at most.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// The measurement ends when this many rounds are kept.
    pub wanted: usize,
    /// The measurement fails with fewer kept rounds than this.
    pub least: usize,
    /// The time after which it gives up, including the first round.
    pub time: Duration,
}

/// A program that is measured, and the result that it must give.
#[allow(missing_debug_implementations)] // it is a closure
pub struct Contender<'a> {
    name: String,
    expected: Digest,
    sample: Box<dyn FnMut() -> (f64, Digest) + 'a>,
}

impl<'a> Contender<'a> {
    /// A contender whose sample is its time from start to end, in seconds.
    pub fn timed(name: impl Into<String>, expected: Digest, mut run: impl FnMut() -> Digest + 'a) -> Self {
        Self::sampled(name, expected, move || {
            let start = Instant::now();
            let digest = run();
            (start.elapsed().as_secs_f64(), digest)
        })
    }

    /// A contender that returns its own sample, in a unit of its choice.
    pub fn sampled(
        name: impl Into<String>,
        expected: Digest,
        sample: impl FnMut() -> (f64, Digest) + 'a,
    ) -> Self {
        Self { name: name.into(), expected, sample: Box::new(sample) }
    }
}

/// The speed of one plain thread, and of two that each do half of the items and share nothing.
#[derive(Debug, Clone, Copy)]
pub struct Ceiling {
    /// The work for each item.
    pub work: Work,
    /// How many items there are.
    pub items: u64,
}

impl Ceiling {
    fn one(self) -> Digest {
        self.work.fold(0..self.items)
    }

    fn two(self) -> Digest {
        let half = self.items / 2;
        thread::scope(|scope| {
            let helper = scope.spawn(move || self.work.fold(half..self.items));
            let first = self.work.fold(0..half);
            let second = helper.join().expect("plain work does not panic");
            first.then(second, self.items - half)
        })
    }

    fn contenders(self) -> [Contender<'static>; 2] {
        let expected = self.one();
        [
            Contender::timed("one plain thread", expected, move || self.one()),
            Contender::timed("two plain threads", expected, move || self.two()),
        ]
    }
}

/// If a cache line takes this many times as long in one round as in another, the cores were further apart.
const FURTHER: f64 = 2.0;

/// The samples of one round.
#[derive(Debug, Clone)]
pub struct Round {
    /// The times of one and of two plain threads, in seconds, if there is a ceiling.
    plain: Option<[f64; 2]>,
    /// The time in which a cache line goes from one core to another, in nanoseconds.
    hand_over: Option<f64>,
    /// The sample of each contender.
    pub samples: Vec<f64>,
}

impl Round {
    /// The time of one plain thread, in seconds.
    pub fn one(&self) -> f64 {
        self.plain.expect("measured against a ceiling")[0]
    }

    /// The time of two plain threads, in seconds.
    pub fn two(&self) -> f64 {
        self.plain.expect("measured against a ceiling")[1]
    }

    fn had_two_cores(&self) -> bool {
        self.plain.is_none_or(|[one, two]| one / two >= TWO_CORES)
    }
}

/// The rounds that were kept, and how many were dropped.
#[derive(Debug, Clone, Default)]
pub struct Rounds {
    kept: Vec<Round>,
    dropped: usize,
}

impl Rounds {
    /// The median and interval of a value of each round.
    pub fn summary(&self, of: impl Fn(&Round) -> f64) -> Summary {
        Summary::of(self.kept.iter().map(of))
    }

    /// The median of a value of each round, for remarks.
    pub fn median(&self, of: impl Fn(&Round) -> f64) -> f64 {
        self.summary(of).median
    }

    /// The time in which a cache line goes from one core to another, in nanoseconds. `None` if no round could measure it.
    pub fn hand_over(&self) -> Option<Summary> {
        Summary::of_some(self.kept.iter().filter_map(|round| round.hand_over))
    }

    /// The rounds in which the cores were near each other, and those in which they were further apart. `None` if they were
    /// equally far apart in all rounds.
    pub fn near_and_far(&self) -> Option<[Rounds; 2]> {
        let times = || self.kept.iter().filter_map(|round| round.hand_over);
        let (least, most) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
        if most < FURTHER * least {
            return None;
        }
        let between = (least * most).sqrt();
        let (near, far) = self
            .kept
            .iter()
            .cloned()
            .partition(|round: &Round| round.hand_over.is_some_and(|it| it < between));
        Some([near, far].map(|kept| Rounds { kept, dropped: 0 }))
    }

    /// How many rounds were kept and dropped.
    pub fn counts(&self) -> (usize, usize) {
        (self.kept.len(), self.dropped)
    }
}

/// Why there is no number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unmeasured {
    /// The time was up, and too few rounds had had two cores to themselves.
    Disturbed {
        /// How many rounds count.
        kept: usize,
        /// How many rounds had not two cores.
        dropped: usize,
        /// How many rounds must count.
        least: usize,
    },
    /// A contender did not give what the plain loop gives.
    Wrong {
        /// Its name.
        contender: String,
    },
    /// This system or this machine cannot measure it. The text says why.
    Impossible(String),
    /// The program to measure is not installed. The text says how to get it.
    NotInstalled(String),
}

/// Runs rounds until the budget is met or used up. The first round warms up and does not count.
///
/// # Errors
/// [`Unmeasured`] if too few rounds count, and at the first wrong result.
pub fn measure(
    budget: Budget,
    ceiling: Option<Ceiling>,
    contenders: Vec<Contender<'_>>,
) -> Result<Rounds, Unmeasured> {
    measure_watched(budget, ceiling, contenders, |_, _| {})
}

/// Like [`measure`]. Before each contender runs, `watch` gets its name and the number of the round, which is 0
/// for the round that warms up.
///
/// # Errors
/// The same as for [`measure`].
pub fn measure_watched(
    budget: Budget,
    ceiling: Option<Ceiling>,
    contenders: Vec<Contender<'_>>,
    mut watch: impl FnMut(&str, usize),
) -> Result<Rounds, Unmeasured> {
    let start = Instant::now();
    let plain = ceiling.map(Ceiling::contenders);
    let with_ceiling = plain.is_some();
    let mut all: Vec<Contender<'_>> = plain.into_iter().flatten().chain(contenders).collect();
    play(&mut all, 0, |name| watch(name, 0))?;
    let mut rounds = Rounds { kept: Vec::new(), dropped: 0 };
    while rounds.kept.len() < budget.wanted && start.elapsed() < budget.time {
        let number = rounds.kept.len() + rounds.dropped + 1;
        let first = (number - 1) % all.len();
        let mut samples = play(&mut all, first, |name| watch(name, number))?;
        let plain = with_ceiling.then(|| [samples.remove(0), samples.remove(0)]);
        let round = Round { plain, hand_over: distance::hand_over(), samples };
        if round.had_two_cores() {
            rounds.kept.push(round);
        } else {
            rounds.dropped += 1;
        }
    }
    match rounds.counts() {
        (kept, dropped) if kept < budget.least => {
            Err(Unmeasured::Disturbed { kept, dropped, least: budget.least })
        }
        _ => Ok(rounds),
    }
}

/// Runs one round, beginning with the contender `first`.
fn play(
    contenders: &mut [Contender<'_>],
    first: usize,
    mut watch: impl FnMut(&str),
) -> Result<Vec<f64>, Unmeasured> {
    let mut samples = vec![0.0; contenders.len()];
    for turn in 0..contenders.len() {
        let at = (first + turn) % contenders.len();
        let contender = &mut contenders[at];
        watch(&contender.name);
        let (sample, digest) = (contender.sample)();
        if digest != contender.expected {
            return Err(Unmeasured::Wrong { contender: contender.name.clone() });
        }
        samples[at] = sample;
    }
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    const SHORT: Budget = Budget { wanted: 3, least: 2, time: Duration::from_secs(60) };

    #[test]
    fn each_contender_goes_first_in_turn() {
        let order = RefCell::new(String::new());
        let contender = |name: &'static str| {
            let order = &order;
            Contender::sampled(name, Digest::EMPTY, move || {
                order.borrow_mut().push_str(name);
                (1.0, Digest::EMPTY)
            })
        };
        let contenders = vec![contender("a"), contender("b"), contender("c")];
        let rounds = measure(SHORT, None, contenders).unwrap();
        assert_eq!(rounds.counts(), (3, 0));
        assert_eq!(*order.borrow(), "abcabcbcacab");
    }

    #[test]
    fn a_wrong_result_is_no_measurement() {
        let wrong = Contender::timed("wrong", Digest::EMPTY, || Digest::EMPTY.with(1));
        let result = measure(SHORT, None, vec![wrong]);
        assert!(matches!(result, Err(Unmeasured::Wrong { contender }) if contender == "wrong"));
    }

    #[test]
    fn a_round_without_two_cores_is_dropped() {
        let round = |plain| Round { plain, hand_over: None, samples: vec![] };
        assert!(round(None).had_two_cores());
        assert!(round(Some([1.9, 1.0])).had_two_cores());
        assert!(!round(Some([1.7, 1.0])).had_two_cores());
    }

    #[test]
    fn rounds_with_near_cores_and_with_far_ones_are_told_apart() {
        let round = |hand_over| Round { plain: None, hand_over, samples: vec![] };
        let rounds =
            |times: &[f64]| Rounds { kept: times.iter().map(|&it| round(Some(it))).collect(), dropped: 1 };
        let counts =
            rounds(&[25.0, 165.0, 26.0, 163.0, 170.0]).near_and_far().map(|of| of.map(|it| it.counts()));
        assert_eq!(counts, Some([(2, 0), (3, 0)]));
        assert!(rounds(&[25.0, 31.0, 26.0]).near_and_far().is_none());
        assert!(Rounds { kept: vec![round(None)], dropped: 0 }.near_and_far().is_none());
    }

    #[test]
    fn too_few_rounds_are_said_to_be_too_few() {
        let quick = Contender::timed("quick", Digest::EMPTY, || Digest::EMPTY);
        let result = measure(Budget { time: Duration::ZERO, ..SHORT }, None, vec![quick]);
        assert!(matches!(result, Err(Unmeasured::Disturbed { kept: 0, dropped: 0, least: 2 })));
    }
}
