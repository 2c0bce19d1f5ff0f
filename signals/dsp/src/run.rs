//! The form in which a program runs, its number of workers, and its reports.

use std::time::{Duration, Instant};

use anabranch::plan::{ItemType, Node, Plan, Settings};
use anabranch_network::Network;

use crate::{Error, Meters, Result};

/// The form of a program that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Executor {
    /// The sequential form, on the calling thread.
    Inline,
    /// The network, with this number of workers.
    Workers(usize),
}

/// The form in which a network is shown in place of being run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Explain {
    /// Lines of text.
    Text,
    /// A picture in the format SVG.
    Svg,
}

/// The settings of a program's run.
///
/// ```
/// use dsp::{Executor, Run};
///
/// let run = Run::new(Executor::Workers(2)).measured();
/// assert!(!run.is_inline());
/// ```
#[derive(Debug)]
pub struct Run {
    executor: Executor,
    explain: Option<Explain>,
    meters: Meters,
    begin: Instant,
}

impl Run {
    /// Creates a run in this form that shows nothing.
    pub fn new(executor: Executor) -> Self {
        Self { executor, explain: None, meters: Meters::new(false), begin: Instant::now() }
    }

    /// Measures the stages, for [`report`](Self::report).
    pub fn measured(mut self) -> Self {
        self.meters = Meters::new(true);
        self
    }

    /// Prints the network to standard output in place of running it.
    pub fn explained(mut self, explain: Explain) -> Self {
        self.explain = Some(explain);
        self
    }

    /// Returns whether the program is to run in its sequential form. A network that is to be shown is built.
    pub fn is_inline(&self) -> bool {
        self.executor == Executor::Inline && self.explain.is_none()
    }

    /// Returns the number of workers: 1 in the sequential form.
    pub fn workers(&self) -> usize {
        match self.executor {
            Executor::Inline => 1,
            Executor::Workers(workers) => workers,
        }
    }

    /// Returns the meters of the stages.
    pub fn meters(&self) -> &Meters {
        &self.meters
    }

    /// Runs a network, or shows it.
    ///
    /// # Errors
    /// The error of the process that has failed, or the error of the network itself.
    pub fn network(&self, net: Network<'_, Error>) -> Result<()> {
        let net = net.workers(self.workers());
        match self.explain {
            None => net.run().map_err(|error| match error.into_failure() {
                Ok((_, error)) => error,
                Err(error) => Error::new(error.to_string()),
            }),
            Some(_) => {
                self.show(&net.plan());
                Ok(())
            }
        }
    }

    /// Prints a network to standard output.
    pub fn show(&self, plan: &anabranch_network::Plan) {
        match self.explain {
            Some(Explain::Svg) => print!("{}", plan.to_svg()),
            Some(Explain::Text) | None => print!("{}", plan.explain()),
        }
    }

    /// Returns the measurements of the run as text: the time of each stage, and the bounds of the time with more
    /// workers. Empty if nothing was measured.
    pub fn report(&self) -> String {
        let stages = self.meters.reports();
        if stages.is_empty() {
            return String::new();
        }
        let wall = self.begin.elapsed();
        let total: Duration = stages.iter().map(|stage| stage.busy).sum();
        let mut text = format!(
            "{:.3} s in all, {:.3} s in {} stages, {}\n\n{:<16} {:>10} {:>12} {:>12} {:>7}\n",
            wall.as_secs_f64(),
            total.as_secs_f64(),
            stages.len(),
            match self.executor {
                Executor::Inline => "sequential form".into(),
                Executor::Workers(1) => "network with 1 worker".into(),
                Executor::Workers(workers) => format!("network with {workers} workers"),
            },
            "stage",
            "calls",
            "time",
            "a call",
            "share"
        );
        for stage in &stages {
            let each = stage.busy.as_nanos() as f64 / stage.calls.max(1) as f64;
            let share = 100.0 * stage.busy.as_secs_f64() / total.as_secs_f64().max(1e-9);
            text.push_str(&format!(
                "{:<16} {:>10} {:>10.3} s {:>9.2} us {share:>5.1} %\n",
                stage.name,
                stage.calls,
                stage.busy.as_secs_f64(),
                1e-3 * each,
            ));
        }
        text.push_str("\nworkers  predicted speed-up\n");
        for (workers, speed_up) in self.predicted([1, 2, 4, 8, 16]) {
            text.push_str(&format!("{workers:>7}  {speed_up:.2}\n"));
        }
        text
    }

    /// Returns the speed-up over one worker that the plan's model predicts from the measured stages, for each number of
    /// workers. Each stage counts as serial. Empty if nothing was measured.
    pub fn predicted(&self, workers: impl IntoIterator<Item = usize>) -> Vec<(usize, f64)> {
        let stages = self.meters.reports();
        let mut plan = Plan::new(Settings::new(1, 64));
        // One item of the plan is the whole run.
        for (at, stage) in stages.iter().enumerate() {
            let cost = stage.busy.as_nanos() as u64;
            let node = match at {
                0 => Node::source("stage"),
                _ if at + 1 == stages.len() => Node::sink("stage"),
                _ => Node::serial("stage"),
            };
            let node = node.named(stage.name.clone()).cost(cost.max(1));
            if at == 0 {
                plan.push(node)
            } else {
                plan.then(ItemType::of::<f32>(), node)
            };
        }
        let per_item = |workers| plan.predict(workers).ok().map(|prediction| prediction.per_item);
        let Some(one) = per_item(1) else { return Vec::new() };
        workers.into_iter().filter_map(|n| Some((n, one / per_item(n)?))).collect()
    }
}
