//! The shared parts of the shuttle models.
#![allow(dead_code, reason = "each test program uses a part of it")]

use anabranch_record::sync::{Condvar, Mutex, lock};
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, FailurePersistence, MaxSteps, Runner};

/// Runs `model` in `schedules` random schedules, and in as many with few preemptions at random places. The
/// latter find faults that need a thread to stand still for long. It is a failure if all threads wait for one
/// another, or if a run does not end.
pub fn check(schedules: usize, model: impl Fn() + Send + Sync + Clone + 'static) {
    let schedules = schedules * factor();
    run(RandomScheduler::new_from_seed(1, schedules), model.clone());
    run(PctScheduler::new_from_seed(2, 4, schedules), model);
}

fn run(scheduler: impl Scheduler + 'static, model: impl Fn() + Send + Sync + 'static) {
    let mut config = Config::new();
    config.stack_size = 1 << 17;
    config.max_steps = MaxSteps::FailAfter(200_000);
    config.failure_persistence = FailurePersistence::None;
    config.silence_warnings = true;
    Runner::new(scheduler, config).run(model);
}

/// The environment variable `SCHEDULES=10` runs ten times as many schedules.
fn factor() -> usize {
    std::env::var("SCHEDULES").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

/// A counter. Threads can wait for a count.
pub struct Gate {
    count: Mutex<u64>,
    changed: Condvar,
}

impl Gate {
    pub fn new() -> Self {
        Self { count: Mutex::new(0), changed: Condvar::new() }
    }

    pub fn pass(&self) {
        *lock(&self.count) += 1;
        self.changed.notify_all();
    }

    pub fn count(&self) -> u64 {
        *lock(&self.count)
    }

    pub fn wait_for(&self, count: u64) {
        let mut now = lock(&self.count);
        while *now < count {
            now = self.changed.wait(now).unwrap();
        }
    }
}
