//! The limit of the throughput, its reason and its remedy.

use std::time::Duration;

use anabranch_plan::quantity::{count, percent, times};
use anabranch_plan::{Limit, Machine, Plan, Prediction, Role};

use super::{NodeReport, Report};

/// A prediction explains a run if the predicted time is at least this share of the measured time.
const EXPLAINS: f64 = 0.6;
/// From this share on, nothing is left to explain.
const EXPLAINS_WELL: f64 = 0.87;
/// From this share of the time of the stages on, it is said that the stages had no core, or that the system does not tell.
const WORTH_TELLING: f64 = 0.1;

impl Report {
    /// Explains what bounded the throughput, why, what to do about it, and how much faster that would be, in a few
    /// sentences.
    ///
    /// If the costs of the stages explain the time, the sentences are those of the
    /// [prediction](Self::prediction). Otherwise they name the [busiest](Self::bottleneck) node, and say how
    /// much of the time the costs explain.
    ///
    /// If the stages were ready and had no core for a part of their time, the sentences say how much of it was work, waiting and
    /// neither. If the system does not tell waiting from having no core, they say that.
    ///
    /// If the items are too small to share, the sentences say so, how long the plain loop would take, and what handing over
    /// several items at once would give. The cost of handing over on this machine is measured when this is asked first, in
    /// some milliseconds.
    pub fn explanation(&self) -> String {
        let Some(measured) = self.per_item() else {
            return "No item came, so nothing is known.".to_owned();
        };
        if let Some(advice) = self.too_small() {
            return advice;
        }
        // With a core for each worker, what the stages had no core for lengthens the run alike.
        let stretch = if self.is_crowded() { 1.0 } else { 1.0 / (1.0 - self.shares().delayed).max(0.01) };
        let mut text = match &self.prediction {
            Some(prediction) if prediction.per_item * stretch >= EXPLAINS * measured => {
                let mut text = format!("Bottleneck: {}", uncapitalized(&prediction.advice));
                if let Some(gain) = self.gain(prediction) {
                    text.push(' ');
                    text += &gain;
                }
                let share = prediction.per_item * stretch / measured;
                if share < EXPLAINS_WELL {
                    text += &format!(
                        " That explains {} of the time; in the rest threads were starting, had nothing to do, or had no \
                         core because other programs ran.",
                        percent(share)
                    );
                }
                text
            }
            prediction => self.unexplained(prediction.as_ref(), measured),
        };
        if let Some(more) = self.without_cores() {
            text.push(' ');
            text += &more;
        }
        text
    }

    /// Says so if the stages had no core for a part of their time, or if the system does not tell it.
    fn without_cores(&self) -> Option<String> {
        let Shares { worked, waited, delayed, untold } = self.shares();
        if untold >= WORTH_TELLING {
            return Some(format!(
                "For {} of their time the stages had no core; this system does not tell whether they waited or other \
                 programs had the cores.",
                percent(untold)
            ));
        }
        if delayed < WORTH_TELLING {
            return None;
        }
        let why = if self.is_crowded() {
            let (workers, cores) = (count(self.plan.settings.workers, "worker"), count(self.cores, "core"));
            format!("There were {workers} on {cores}, or other programs had the cores")
        } else {
            "Other programs or threads had the cores".to_owned()
        };
        Some(format!(
            "{why}: of the time of the stages, {} was work, {} was waiting, and for {} they were ready and had no core. The \
             prediction leaves that out.",
            percent(worked),
            percent(waited),
            percent(delayed),
        ))
    }

    /// How the time of all stages is divided.
    fn shares(&self) -> Shares {
        let all: Duration = self.nodes.iter().map(|node| node.busy).sum();
        let share = |of: &dyn Fn(&NodeReport) -> Duration| {
            let sum: Duration = self.nodes.iter().map(of).sum();
            (sum.as_secs_f64() / all.as_secs_f64().max(1e-9)).min(1.0)
        };
        Shares {
            worked: share(&NodeReport::worked),
            waited: share(&NodeReport::waited),
            delayed: share(&|node| node.delayed.unwrap_or_default()),
            untold: share(&|node| if node.delayed.is_none() { node.off_processor } else { Duration::ZERO }),
        }
    }

    /// Whether the workers alone are more than the cores.
    fn is_crowded(&self) -> bool {
        self.plan.settings.workers > self.cores
    }

    /// The sentences for a run whose time the costs do not explain.
    fn unexplained(&self, prediction: Option<&Prediction>, measured: f64) -> String {
        let mut text = match self.bottleneck() {
            Some(node) => {
                let what = match node.role {
                    Role::Source => "the rest waits for its items",
                    Role::Parallel => "more cores would help",
                    _ => "it is serial, and more workers would not help",
                };
                format!("Bottleneck: `{}` ({} used); {what}.", node.name, percent(node.utilization))
            }
            None => {
                "Bottleneck: none. No stage was busy for half of the time: threads were starting, waiting or \
                     being woken, or other programs had the cores."
                    .to_owned()
            }
        };
        if let Some(prediction) = prediction {
            let share = percent((prediction.per_item / measured).min(1.0));
            text += &format!(" The costs of the stages explain {share} of the time.");
        }
        text
    }

    /// How much faster the remedy would make the run, by the same model.
    fn gain(&self, prediction: &Prediction) -> Option<String> {
        let workers = prediction.workers;
        let faster = |plan: &Plan, machine: &Machine, workers: usize| -> Option<String> {
            let better = plan.predict_on(machine, workers).ok()?;
            let gain = prediction.per_item / better.per_item;
            (gain >= 1.005).then(|| format!("{} times as fast", times(gain)))
        };
        let mut plan = self.costed.clone();
        let machine = self.machine();
        let node = prediction.bottleneck.0;
        let (what, gain) = match prediction.limit {
            Limit::Workers if workers < self.cores || self.is_mostly_waiting(node) => {
                (format!("With {}", count(2 * workers, "worker")), faster(&plan, &machine, 2 * workers)?)
            }
            Limit::Workers | Limit::Cores => {
                let cores = 2 * self.cores;
                let machine = Machine { cores, ..machine };
                let workers = workers.max(cores);
                let text = format!("With {} on {}", count(workers, "worker"), count(cores, "core"));
                (text, faster(&plan, &machine, workers)?)
            }
            Limit::Serial => {
                plan.nodes[node].cost = plan.nodes[node].cost.map(|cost| cost / 2);
                plan.nodes[node].waits = plan.nodes[node].waits.map(|waits| waits / 2);
                (
                    format!("With `{}` at half its cost", plan.nodes[node].name),
                    faster(&plan, &machine, workers)?,
                )
            }
            Limit::Replicas => {
                let unit = plan.nodes[node].unit;
                let more = |replicas: usize| 2 * replicas;
                for node in plan.nodes.iter_mut().filter(|node| node.unit == unit) {
                    node.replicas = node.replicas.map(more);
                }
                ("With twice the replicas".to_owned(), faster(&plan, &machine, workers)?)
            }
            Limit::Window => {
                let domain = plan.nodes[node].domain;
                plan.domains[domain].window *= 2;
                let window = plan.domains[domain].window;
                (format!("With a window of {window}"), faster(&plan, &machine, workers)?)
            }
            _ => return None,
        };
        Some(format!("{what} the run would be {gain}."))
    }

    fn is_mostly_waiting(&self, node: usize) -> bool {
        let node = &self.costed.nodes[node];
        node.waits.unwrap_or(0) > node.cost.unwrap_or(0) / 2
    }
}

/// Parts of the time of all stages, each from 0 to 1.
struct Shares {
    worked: f64,
    waited: f64,
    /// The stages were ready to run and had no core.
    delayed: f64,
    /// They had no core, and the system does not tell why.
    untold: f64,
}

/// The sentence with a small first letter, for use after a colon.
fn uncapitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_lowercase().chain(letters).collect())
}
