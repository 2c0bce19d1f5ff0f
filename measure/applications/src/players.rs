//! Variants that take part in rounds, each in a process of its own.

use std::cell::RefCell;
use std::rc::Rc;

use measure_harness::energy::Meter;
use measure_harness::rounds::Contender;
use measure_harness::statistics::Summary;
use measure_harness::work::Digest;
use serde::{Deserialize, Serialize};

use crate::process::{Answer, Process};

/// What was measured of a variant with one setting.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Figures {
    /// The time of each round, in seconds. Times at the same place are of the same round.
    pub seconds: Vec<f64>,
    /// The median of the time to the first result, in seconds.
    pub first: f64,
    /// The median of the processor time, in seconds, if the system tells.
    pub processor: Option<f64>,
    /// The peak of the memory without the data, in bytes, if the system tells.
    pub memory: Option<f64>,
    /// The median of the energy of all processors during a run, in joules, if the kernel tells.
    #[serde(default)]
    pub energy: Option<f64>,
}

impl Figures {
    /// How many times as fast this is as another, in each round.
    pub fn against(&self, other: &Self) -> Summary {
        Summary::of(self.seconds.iter().zip(&other.seconds).map(|(own, other)| other / own))
    }

    /// The median time and its interval, in seconds.
    pub fn time(&self) -> Summary {
        Summary::of(self.seconds.iter().copied())
    }
}

/// A process that takes part.
#[derive(Debug)]
pub struct Player {
    name: String,
    expected: u64,
    process: RefCell<Process>,
    samples: RefCell<Vec<(Answer, Option<f64>)>>,
    meter: Option<Rc<Meter>>,
}

impl Player {
    /// The process must give the output with this hash.
    pub fn new(name: impl Into<String>, process: Process, expected: u64, meter: Option<Rc<Meter>>) -> Self {
        let (process, samples) = (RefCell::new(process), RefCell::default());
        Self { name: name.into(), expected, process, samples, meter }
    }

    /// A contender whose sample is its time in seconds.
    pub fn contender(&self) -> Contender<'_> {
        Contender::sampled(&self.name, Digest::of_number(self.expected), move || {
            let before = self.meter.as_ref().and_then(|meter| meter.read());
            match self.process.borrow_mut().run() {
                Ok(answer) => {
                    let energy = self.meter.as_ref().and_then(|meter| {
                        let after = meter.read()?;
                        Some(meter.joules(before.as_ref()?, &after))
                    });
                    self.samples.borrow_mut().push((answer, energy));
                    (answer.seconds, Digest::of_number(answer.hash))
                }
                // Counts as a wrong result.
                Err(_) => (f64::NAN, Digest::of_number(!self.expected)),
            }
        })
    }

    /// What the rounds that count have shown.
    pub fn figures(&self, rounds: usize) -> Figures {
        let samples = self.samples.borrow();
        // The round that warms up is not among those that count.
        let kept = &samples[samples.len() - rounds..];
        let median = |of: fn(&Answer) -> f64| Summary::of(kept.iter().map(|(answer, _)| of(answer))).median;
        let told = |number: f64| Some(number).filter(|number| number.is_finite());
        let energy: Option<Vec<f64>> = kept.iter().map(|&(_, energy)| energy).collect();
        Figures {
            seconds: kept.iter().map(|(answer, _)| answer.seconds).collect(),
            first: median(|answer| answer.first),
            processor: told(median(|answer| answer.processor)),
            memory: kept.last().and_then(|(answer, _)| told(answer.memory)),
            energy: energy.map(|all| Summary::of(all).median),
        }
    }
}
