//! How abz would run with more threads than this machine has cores: what the plan of a run with two threads predicts, and how many
//! times as fast as one thread these two were.

use anabranch_plan::{Machine, Overhead, Plan};
use measure_harness::rounds::{Rounds, Unmeasured};
use measure_harness::table::{Row, cells};
use measure_harness::target::{Target, Unit};
use serde::Deserialize;

/// The name for `--only`, and the markers of the table.
pub const SCALING: &str = "scaling";
/// The numbers of threads for which the table predicts.
const THREADS: [usize; 4] = [2, 4, 16, 64];
/// The number of threads that has a target.
const JUDGED: usize = 16;
/// The target with at least as many blocks as `MANY`.
const TARGET: f64 = 14.0;
const MANY: u64 = 64;
/// The target with fewer blocks, as a share of what their number allows.
const SHARE: f64 = 0.9;

/// What abz used for a file with one thread and with two.
#[derive(Debug, Deserialize)]
pub struct Scale {
    /// The size of the contents.
    mib: f64,
    one: Used,
    two: Used,
    /// What the run with two threads reports: its time, the number of items of its source, its stages and its plan, with the
    /// measured costs.
    run_ns: f64,
    items: f64,
    nodes: Vec<Stage>,
    plan: Plan,
}

/// What a process used. Times are in seconds.
#[derive(Debug, Deserialize)]
struct Used {
    wall: f64,
    processors: f64,
    /// The part of `processors` in the system.
    system: f64,
    /// The number of page faults.
    faults: f64,
}

/// A stage of the run.
#[derive(Debug, Deserialize)]
struct Stage {
    name: String,
    role: String,
    items: u64,
    busy_ns: f64,
    off_processor_ns: f64,
}

impl Stage {
    fn is_parallel(&self) -> bool {
        self.role == "parallel"
    }

    /// Its processor time.
    fn seconds(&self) -> f64 {
        1e-9 * (self.busy_ns - self.off_processor_ns)
    }

    /// The processor time of one item.
    fn each(&self) -> f64 {
        self.seconds() / self.items.max(1) as f64
    }
}

impl Scale {
    fn parallel(&self) -> impl Iterator<Item = &Stage> {
        self.nodes.iter().filter(|stage| stage.is_parallel())
    }

    fn serial(&self) -> impl Iterator<Item = &Stage> {
        self.nodes.iter().filter(|stage| !stage.is_parallel())
    }

    /// The number of pieces that threads can take at the same time: 1 if a serial stage does most of the work.
    fn blocks(&self) -> u64 {
        let busiest = self.nodes.iter().max_by(|a, b| a.seconds().total_cmp(&b.seconds()));
        busiest.filter(|stage| stage.is_parallel()).map_or(1, |stage| stage.items)
    }

    /// The number of threads whose speed this number of blocks allows: each thread takes whole blocks.
    fn allowed(&self, threads: usize) -> f64 {
        let blocks = self.blocks();
        blocks as f64 / blocks.div_ceil(threads as u64) as f64
    }

    /// The time in which the process starts and ends.
    fn around(&self) -> f64 {
        self.two.wall - 1e-9 * self.run_ns
    }

    /// The parts of the time with this number of threads that cannot be shorter, with their names, the longest first: each serial
    /// stage, and the blocks that a thread takes, after the first one was read and before the last one is written.
    fn bounds(&self, threads: usize) -> Vec<(String, f64)> {
        let mut bounds: Vec<_> =
            self.serial().map(|stage| (format!("`{}`", stage.name), stage.seconds())).collect();
        if self.blocks() > 1 {
            let ends: f64 = self.serial().map(Stage::each).sum();
            let parallel: f64 = self.parallel().map(Stage::seconds).sum();
            let name = format!("{} blocks on {threads} threads", self.blocks());
            bounds.push((name, parallel / self.allowed(threads) + ends));
        }
        bounds.sort_by(|a, b| b.1.total_cmp(&a.1));
        bounds
    }

    /// The time of the run that its plan predicts, in seconds. It takes the number of items to be large.
    fn by_plan(&self, threads: usize) -> f64 {
        let mut plan = self.plan.clone();
        let before = plan.settings.workers;
        // Windows grow with the threads: they have two items for each, or one for each and some that wait.
        let wider = |window: usize| {
            if window == 2 * before { 2 * threads } else { (threads + window).saturating_sub(before).max(1) }
        };
        plan.settings.workers = threads;
        for domain in &mut plan.domains {
            domain.window = wider(domain.window);
        }
        // The costs include passing items on.
        let machine = Machine::ample().overhead(Overhead { lane: 0.0, ..Overhead::MEASURED });
        plan.predict_on(&machine, threads).map_or(f64::NAN, |point| 1e-9 * point.per_item * self.items)
    }

    /// How many times as fast as one thread this number of threads is predicted to be.
    fn predicted(&self, threads: usize) -> f64 {
        let by_blocks = self.bounds(threads).first().map_or(0.0, |bound| bound.1);
        self.one.wall / (self.around() + self.by_plan(threads).max(by_blocks))
    }

    fn target(&self) -> f64 {
        if self.blocks() >= MANY { TARGET } else { SHARE * self.allowed(JUDGED) }
    }

    /// What bounds the speed with the number of threads that has a target.
    fn limit(&self) -> String {
        let millis = |seconds: f64| Unit::Milliseconds.show(1e3 * seconds);
        let bounds = self.bounds(JUDGED);
        let first = bounds.first().map_or(String::new(), |(name, time)| format!("{name} {}", millis(*time)));
        format!("{first}, start and end {}", millis(self.around()))
    }

    /// The time of both processes, in seconds.
    pub fn round(&self) -> f64 {
        self.one.wall + self.two.wall
    }

    /// The rows of the suite's table. The time of one thread, with which predictions are compared, is that of the rounds.
    pub fn rows(&mut self, title: &str, rounds: &Result<Rounds, Unmeasured>) -> [Row; 2] {
        if let Ok(rounds) = rounds {
            self.one.wall = rounds.median(|round| round.samples[1]);
        }
        let measured =
            Row::new(title, "measured with 2 threads", (Target::None, Unit::Times), rounds, |rounds| {
                let speed = rounds.summary(|round| round.samples[1] / round.samples[0]);
                (speed, format!("predicted {}", Unit::Times.show(self.predicted(2))))
            });
        let target = (Target::AtLeast(self.target()), Unit::Times);
        let what = format!("predicted with {JUDGED} threads");
        [measured, Row::single(title, what, target, self.predicted(JUDGED), self.limit())]
    }

    /// The line of the table of all actions and formats.
    pub fn line(&self, title: &str, [measured, predicted]: &[Row; 2]) -> String {
        let each = |seconds: f64| format!("{:.2}", 1e3 * seconds / self.mib);
        let stages = |stages: &mut dyn Iterator<Item = &'_ Stage>| {
            let all: Vec<_> =
                stages.map(|stage| format!("{} {}", stage.name, each(stage.seconds()))).collect();
            all.join(", ")
        };
        let all: f64 = self.nodes.iter().map(Stage::seconds).sum();
        let by_threads = THREADS.map(|threads| format!("{:.1}", self.predicted(threads)));
        let is_met = predicted.verdict() == "met";
        let judged = format!("{:.1}: {}", self.target(), predicted.verdict());
        let mut line = String::new();
        cells(
            &mut line,
            &[
                title.strip_prefix(SCALING).unwrap_or(title).trim(),
                &self.blocks().to_string(),
                &stages(&mut self.parallel()),
                &stages(&mut self.serial()),
                &each(self.two.processors - all),
                &each(self.two.processors - self.one.processors),
                &each(self.two.system),
                &format!("{:.0}", self.two.faults / self.mib),
                &by_threads.join(", "),
                &measured.median().map_or("-".into(), |times| format!("{times:.2}")),
                &if is_met { judged } else { format!("{judged} ({})", self.limit()) },
            ],
        );
        line
    }
}

/// The head of the table whose lines [`Scale::line`] makes.
pub fn head() -> String {
    let mut head = String::new();
    let names = [
        "what",
        "blocks",
        "parallel stages",
        "serial stages",
        "outside of stages",
        "more with 2 threads",
        "in the system",
        "page faults",
        "predicted with 2, 4, 16, 64 threads",
        "measured with 2",
        "target with 16",
    ];
    cells(&mut head, &names);
    cells(&mut head, &["---", "--:", "---", "---", "--:", "--:", "--:", "--:", "--:", "--:", "---"]);
    head
}

#[cfg(test)]
mod tests {
    use anabranch_plan::{ItemType, Node, Settings};

    use super::*;

    fn scale(blocks: u64, [read, encode, write]: [f64; 3]) -> Scale {
        let stage = |name: &str, role: &str, seconds: f64| Stage {
            name: name.into(),
            role: role.into(),
            items: blocks,
            busy_ns: 1e9 * seconds,
            off_processor_ns: 0.0,
        };
        let cost = |seconds: f64| (1e9 * seconds / blocks as f64) as u64;
        let mut plan = Plan::new(Settings::new(2, 4));
        plan.push(Node::source("read").cost(cost(read)));
        plan.then(ItemType::of::<u8>(), Node::parallel("encode").cost(cost(encode)));
        plan.then(ItemType::of::<u8>(), Node::sink("write").cost(cost(write)));
        let all = read + encode + write;
        let used = |wall| Used { wall, processors: all, system: 0.0, faults: 0.0 };
        Scale {
            mib: 1.0,
            one: used(all),
            two: used(all / 2.0),
            run_ns: 1e9 * all / 2.0,
            items: blocks as f64,
            nodes: vec![
                stage("read", "source", read),
                stage("encode", "parallel", encode),
                stage("write", "sink", write),
            ],
            plan,
        }
    }

    #[test]
    fn a_serial_stage_bounds_the_speed() {
        let scale = scale(1000, [0.2, 9.8, 0.0]);
        assert!((scale.predicted(2) - 2.0).abs() < 0.1);
        assert!((scale.predicted(64) - 50.0).abs() < 1.0, "{}", scale.predicted(64));
        assert_eq!(scale.target(), 14.0);
    }

    #[test]
    fn few_blocks_bound_the_speed() {
        let scale = scale(20, [0.0, 20.0, 0.0]);
        // One thread in four has two blocks, and the others wait for it.
        assert!((scale.predicted(16) - 10.0).abs() < 0.1, "{}", scale.predicted(16));
        assert_eq!(scale.target(), 9.0);
        assert!(scale.limit().starts_with("20 blocks on 16 threads 2000 ms"), "{}", scale.limit());
    }

    #[test]
    fn work_of_a_serial_stage_is_one_block() {
        assert_eq!(scale(100, [5.0, 1.0, 0.0]).blocks(), 1);
    }
}
