//! What each stage of the plain loop takes and gives for each item.

use std::time::Instant;

/// Where the records of a stage are halved: more are not kept.
const MOST_RECORDS: usize = 1 << 15;

/// A stage, as the plain loop has run it.
#[derive(Debug)]
pub struct Stage {
    /// Its name.
    pub name: &'static str,
    /// How many items it has processed.
    pub items: u64,
    /// The time of all items together, in seconds.
    pub total: f64,
    /// The time of one item, in seconds, and the size of its result, in bytes: for every `step`-th item, in their order.
    pub records: Vec<(f64, usize)>,
    /// How many items there are from one record to the next.
    step: u64,
}

impl Stage {
    fn new(name: &'static str) -> Self {
        Self { name, items: 0, total: 0.0, records: Vec::new(), step: 1 }
    }

    fn add(&mut self, seconds: f64, bytes: usize) {
        if self.items.is_multiple_of(self.step) {
            if self.records.len() == MOST_RECORDS {
                let mut at = 0;
                self.records.retain(|_| {
                    at += 1;
                    at % 2 == 1
                });
                self.step *= 2;
            }
            if self.items.is_multiple_of(self.step) {
                self.records.push((seconds, bytes));
            }
        }
        self.items += 1;
        self.total += seconds;
    }
}

/// Measures the stages of a plain loop.
#[derive(Debug)]
pub struct Probe {
    stages: Vec<Stage>,
    /// How long it takes to read the clock twice, in seconds. It is subtracted from each time.
    pub clock: f64,
}

impl Default for Probe {
    fn default() -> Self {
        let reading = |_| Instant::now().elapsed().as_secs_f64();
        let mut readings: Vec<f64> = (0..1_001).map(reading).collect();
        readings.sort_by(f64::total_cmp);
        Self { stages: Vec::new(), clock: readings[500] }
    }
}

impl Probe {
    /// Calls a stage for one item. `bytes` tells the size of its result.
    pub fn stage<T>(
        &mut self,
        name: &'static str,
        call: impl FnOnce() -> T,
        bytes: impl FnOnce(&T) -> usize,
    ) -> T {
        let begin = Instant::now();
        let result = call();
        let seconds = begin.elapsed().as_secs_f64();
        self.add(name, seconds, bytes(&result));
        result
    }

    /// Asks a source for the next item. `bytes` tells its size.
    pub fn next<T>(
        &mut self,
        name: &'static str,
        source: &mut impl Iterator<Item = T>,
        bytes: impl FnOnce(&T) -> usize,
    ) -> Option<T> {
        let begin = Instant::now();
        let item = source.next();
        let seconds = begin.elapsed().as_secs_f64();
        let item = item?;
        self.add(name, seconds, bytes(&item));
        Some(item)
    }

    fn add(&mut self, name: &'static str, seconds: f64, bytes: usize) {
        let seconds = (seconds - self.clock).max(0.0);
        let at = self.stages.iter().position(|stage| stage.name == name).unwrap_or_else(|| {
            self.stages.push(Stage::new(name));
            self.stages.len() - 1
        });
        self.stages[at].add(seconds, bytes);
    }

    /// The stages in the order in which they were called first.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_spread_over_all_items() {
        let mut stage = Stage::new("a");
        let items = 5 * MOST_RECORDS;
        (0..items).for_each(|item| stage.add(0.5, item));
        assert_eq!((stage.items, stage.total), (items as u64, items as f64 / 2.0));
        assert_eq!(stage.step, 8);
        let sizes: Vec<usize> = stage.records.iter().map(|&(_, bytes)| bytes).collect();
        assert_eq!(sizes, (0..items).step_by(8).collect::<Vec<_>>());
    }

    #[test]
    fn a_stage_is_measured_where_it_is_called() {
        let mut probe = Probe::default();
        let mut source = 0..3;
        while let Some(item) = probe.next("source", &mut source, |_| 4) {
            let twice = probe.stage("double", || 2 * item, |_| 8);
            probe.stage("write", || assert_eq!(twice, 2 * item), |()| 0);
        }
        let all: Vec<_> = probe.stages().iter().map(|it| (it.name, it.items, it.records[0].1)).collect();
        assert_eq!(all, [("source", 3, 4), ("double", 3, 8), ("write", 3, 0)]);
    }
}
