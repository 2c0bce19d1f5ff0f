//! Measurements of the stages of a program.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Counts the calls of each stage of a program, and measures their time, if it is switched on.
#[derive(Debug, Default)]
pub struct Meters {
    /// `None` if nothing is measured.
    stages: Option<Mutex<Vec<Arc<Stage>>>>,
}

#[derive(Debug)]
struct Stage {
    name: String,
    calls: AtomicU64,
    nanoseconds: AtomicU64,
}

/// The measurements of a stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageReport {
    /// The name of the stage. The copies of a stage have the same name.
    pub name: String,
    /// The number of calls.
    pub calls: u64,
    /// The time of all calls together.
    pub busy: Duration,
}

/// Measures one stage.
#[derive(Debug, Clone)]
pub struct Meter(Option<Arc<Stage>>);

impl Meters {
    /// Creates meters that measure, if `is_on`.
    pub fn new(is_on: bool) -> Self {
        Self { stages: is_on.then(Mutex::default) }
    }

    /// Creates a meter for a stage, or for one of its copies.
    pub fn stage(&self, name: &str) -> Meter {
        Meter(self.stages.as_ref().map(|stages| {
            let stage = Arc::new(Stage {
                name: name.into(),
                calls: AtomicU64::new(0),
                nanoseconds: AtomicU64::new(0),
            });
            stages.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&stage));
            stage
        }))
    }

    /// Returns the measurements, in the order in which the meters were made. Empty if nothing is measured.
    pub fn reports(&self) -> Vec<StageReport> {
        let Some(stages) = &self.stages else { return Vec::new() };
        let stages = stages.lock().unwrap_or_else(PoisonError::into_inner);
        let report = |stage: &Arc<Stage>| StageReport {
            name: stage.name.clone(),
            calls: stage.calls.load(Relaxed),
            busy: Duration::from_nanos(stage.nanoseconds.load(Relaxed)),
        };
        stages.iter().map(report).collect()
    }
}

impl Meter {
    /// Calls `code`, and measures its time if the meters are switched on.
    #[inline]
    pub fn time<R>(&self, code: impl FnOnce() -> R) -> R {
        let Some(stage) = &self.0 else { return code() };
        let begin = Instant::now();
        let result = code();
        stage.calls.fetch_add(1, Relaxed);
        stage.nanoseconds.fetch_add(begin.elapsed().as_nanos() as u64, Relaxed);
        result
    }
}
