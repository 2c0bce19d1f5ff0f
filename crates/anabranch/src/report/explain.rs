//! What bounded the throughput, why, and what to do about it.

use anabranch_plan::quantity::{count, percent, times};
use anabranch_plan::{Limit, Machine, Plan, Prediction, Role};

use super::Report;

/// A prediction explains a run if the predicted time is at least this share of the measured time.
const EXPLAINS: f64 = 0.6;
/// From this share on, nothing is left to explain.
const EXPLAINS_WELL: f64 = 0.87;

impl Report {
    /// What bounded the throughput, why, what to do about it, and how much faster that would be, in a few
    /// sentences.
    ///
    /// If the costs of the stages explain the time, the sentences are those of the
    /// [prediction](Self::prediction). Otherwise they name the [busiest](Self::bottleneck) node, and say how
    /// much of the time the costs explain.
    ///
    /// If the items are too small to share, the sentences say so, how long the plain loop would take, and what handing over
    /// several items at once would give. What handing over costs on this machine is measured when this is asked first, in
    /// some milliseconds.
    pub fn explanation(&self) -> String {
        let Some(measured) = self.per_item() else {
            return "No item came, so nothing is known.".to_owned();
        };
        if let Some(advice) = self.too_small() {
            return advice;
        }
        match &self.prediction {
            Some(prediction) if prediction.per_item >= EXPLAINS * measured => {
                let mut text = format!("Bottleneck: {}", uncapitalized(&prediction.advice));
                if let Some(gain) = self.gain(prediction) {
                    text.push(' ');
                    text += &gain;
                }
                let share = prediction.per_item / measured;
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
        }
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

/// The sentence with a small first letter, for use after a colon.
fn uncapitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_lowercase().chain(letters).collect())
}
