//! A process that runs rivals, one run at a time.

use std::collections::BTreeMap;
use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::exploration::{Sample, Task};
use dsp::{Error, Result};
use measure_harness::process::Process;

/// A run that takes longer than this has failed.
const PATIENCE: Duration = Duration::from_secs(60);
/// A pause that is long enough for the threads of the previous run to go to sleep.
const SETTLE: Duration = Duration::from_millis(2);

/// A process that runs rivals.
#[derive(Debug)]
pub(in super::super) struct Peer {
    process: Process,
    /// The rivals that it can run, with their versions.
    pub(super) versions: BTreeMap<String, String>,
}

impl Peer {
    /// Starts a process, and waits until it has told the rivals that it knows.
    pub(super) fn start(command: Command) -> Result<Self> {
        let mut process = Process::start(command).map_err(Error::new)?;
        let versions = process.versions(PATIENCE).map_err(Error::new)?;
        Ok(Self { process, versions })
    }

    /// Runs a rival once, with at least one burst and this number of indices, rounded up to whole bursts.
    pub(super) fn run(&mut self, name: &str, task: &Task, indices: u64) -> Result<Sample> {
        let indices = indices.max(1).next_multiple_of(task.burst as u64);
        let request = format!("{name} {} {indices} {} 1", task.work.rounds(), task.burst);
        let (sum, nanoseconds) = self.timed(&request)?;
        Ok(Sample { nanoseconds, indices, sums: vec![sum] })
    }

    /// Sends a request whose answer is a check sum and the nanoseconds of each round. Returns those of the median
    /// round.
    pub(in super::super) fn timed(&mut self, request: &str) -> Result<(u32, f64)> {
        let line = self.ask(request)?;
        answer(&line).ok_or_else(|| Error::new(format!("\"{request}\" was answered with \"{line}\"")))
    }

    /// Sends a request, and returns the answer.
    pub(in super::super) fn ask(&mut self, request: &str) -> Result<String> {
        thread::sleep(SETTLE);
        let line = self.process.ask(request, PATIENCE);
        let line = line.map_err(|error| Error::new(format!("{request}: {error}")))?;
        thread::sleep(SETTLE);
        Ok(line)
    }
}

/// Reads an answer: the sum, and the nanoseconds for each index of each round. The result has the median round.
fn answer(line: &str) -> Option<(u32, f64)> {
    let mut words = line.split_whitespace();
    let sum = words.next()?.parse().ok()?;
    let mut times = words.map(|word| word.parse().ok()).collect::<Option<Vec<f64>>>()?;
    times.sort_by(f64::total_cmp);
    let time = *times.get(times.len() / 2)?;
    (time.is_finite() && time > 0.0).then_some((sum, time))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exploration::{Shape, Work};

    #[test]
    fn an_answer_is_a_sum_and_the_times_of_the_rounds() {
        assert_eq!(answer("4137402874 8.5 7.25 9"), Some((4_137_402_874, 8.5)));
        assert_eq!(answer("0 17.0625"), Some((0, 17.0625)));
        for wrong in ["", "7", "7 x", "7 1 x", "4294967296 1", "-1 1", "failed: no", "7 0", "7 inf", "7 NaN"]
        {
            assert_eq!(answer(wrong), None, "{wrong}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_process_tells_its_rivals_and_answers() {
        let script = "echo 'one 1.5'; echo 'two 2 and more'; echo ready; read line; echo \"7 $(echo $line | wc -w)\"; \
                      read line; echo \"failed: no $line\"";
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let mut peer = Peer::start(command).unwrap();
        let versions: Vec<_> = peer.versions.iter().map(|(name, version)| (&**name, &**version)).collect();
        assert_eq!(versions, [("one", "1.5"), ("two", "2 and more")]);
        let (shape, work) = (Shape::of(1, 1), Work::of_rounds(3));
        let task = Task { shape, work, indices: 100, burst: 16, horizon: 64, is_pinned: false };
        let sample = peer.run("one", &task, 50).unwrap();
        assert_eq!(sample, Sample { nanoseconds: 5.0, indices: 64, sums: vec![7] });
        let told = peer.run("two", &task, 100).unwrap_err().to_string();
        assert!(told.contains("was answered with \"failed: no two 3 112 16 1\""), "{told}");
        // The process has ended.
        assert!(peer.run("one", &task, 1).is_err() && peer.run("one", &task, 1).is_err());
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let told = Peer::start(Command::new("./no-such-rivals")).unwrap_err().to_string();
        assert!(told.contains("no-such-rivals"), "{told}");
    }
}
