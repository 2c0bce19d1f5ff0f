//! The experiments. Each takes less than two seconds with a system that keeps the contract.

use std::fmt;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, set_hook};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::watch::Watch;
use super::{Failure, System};
use crate::used::{forget_peak, memory, peak, processor_seconds};

/// How many workers a system has.
pub const WORKERS: usize = 4;

/// The item that fails, and the number of results before it.
const BROKEN: u64 = 20;
/// Memory is bounded if no more items than this are inside, however many there are.
const BOUND: u64 = 8_192;
/// Memory for a million items is bounded if it grows by at most so many bytes.
const BOUND_BYTES: u64 = 8 << 20;
/// The share of one processor that a waiting system may take.
const IDLE: f64 = 0.01;

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Experiment {
    /// Whether results come in the order of the items.
    Order,
    /// Whether the first error is the loop's.
    Error,
    /// Whether a panic reaches the caller.
    Panic,
    /// How many items are inside if the sink is slow.
    SlowSink,
    /// How many items are inside behind a slow item.
    SlowItem,
    /// Processor time while there is nothing to do.
    Idle,
    /// How long the first result is held back.
    Promptness,
    /// What happens after the sink has failed.
    Stop,
    /// Memory over a million items.
    Memory,
}

impl Experiment {
    /// All experiments.
    pub const ALL: [Self; 9] = [
        Self::Order,
        Self::Error,
        Self::Panic,
        Self::SlowSink,
        Self::SlowItem,
        Self::Idle,
        Self::Promptness,
        Self::Stop,
        Self::Memory,
    ];

    /// The name, as the column of the table has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Order => "order",
            Self::Error => "first error",
            Self::Panic => "panic",
            Self::SlowSink => "slow sink",
            Self::SlowItem => "slow item",
            Self::Idle => "idle",
            Self::Promptness => "promptness",
            Self::Stop => "stop",
            Self::Memory => "memory",
        }
    }

    /// The name without spaces, for command lines.
    pub fn word(self) -> String {
        self.name().replace(' ', "-")
    }

    /// The experiment with this word.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|experiment| experiment.word() == word)
    }

    /// What is done, and what keeps the contract.
    pub fn what(self) -> &'static str {
        match self {
            Self::Order => "20,000 items of uneven work. Kept: no result is out of place.",
            Self::Error => {
                "Ten runs. In five, item 20 fails after 50 ms and item 21 fails at once. In the others, all items from \
                 20 on fail at once. Kept: the run returns the error of item 20 after exactly 20 results."
            }
            Self::Panic => "Item 20 panics (in C++: throws). Kept: the caller gets the payload, unchanged.",
            Self::SlowSink => {
                "20,000 items, and a sink that computes for 50 µs with each. The number: the most items inside. Kept: at most \
                 8,192."
            }
            Self::SlowItem => {
                "Item 0 takes 0.3 s, and the other 49,999 take nothing. The number: the most items inside. Kept: at \
                 most 8,192."
            }
            Self::Idle => {
                "An item every 50 ms for 1 s. The number: processor time. Kept: less than 1 % of a core."
            }
            Self::Promptness => {
                "An item every 20 ms. The number: for how many later items the first result had to wait. Kept: none."
            }
            Self::Stop => {
                "The sink fails at result 100 of 2,000,000. The number: items that were pulled and never came out. \
                 Kept: at most 8,192, and none is pulled after the run has returned."
            }
            Self::Memory => "1,000,000 items. The number: growth of the process. Kept: at most 8 MiB.",
        }
    }
}

/// What an experiment has shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Whether the contract is kept.
    pub is_kept: bool,
    /// The number, with a few words.
    pub number: String,
}

impl Finding {
    fn new(is_kept: bool, number: impl Into<String>) -> Self {
        Self { is_kept, number: number.into() }
    }

    /// Reads a finding that was displayed.
    pub fn parse(line: &str) -> Option<Self> {
        let (word, number) = line.split_once(' ')?;
        let is_kept = match word {
            "kept" => true,
            "broken" => false,
            _ => return None,
        };
        Some(Self::new(is_kept, number))
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", if self.is_kept { "kept" } else { "broken" }, self.number)
    }
}

/// Makes an experiment with a system.
pub fn examine<S: System>(experiment: Experiment) -> Finding {
    match experiment {
        Experiment::Order => order::<S>(),
        Experiment::Error => error::<S>(),
        Experiment::Panic => panic::<S>(),
        Experiment::SlowSink => slow_sink::<S>(),
        Experiment::SlowItem => slow_item::<S>(),
        Experiment::Idle => idle::<S>(),
        Experiment::Promptness => promptness::<S>(),
        Experiment::Stop => stop::<S>(),
        Experiment::Memory => memory_of::<S>(),
    }
}

/// Up to about 4 µs of work.
fn uneven(item: u64) -> u64 {
    let steps = item.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 53;
    (0..steps).fold(item, |state, step| black_box(state.rotate_left(7) ^ step));
    item
}

fn order<S: System>() -> Finding {
    const ITEMS: u64 = 20_000;
    let (watch, misplaced) = (Watch::new(), &*Box::leak(Box::new(AtomicU64::new(0))));
    let ended = S::run(
        watch.source(ITEMS, None),
        WORKERS,
        |item| Ok(uneven(item)),
        |result| {
            misplaced.fetch_add(u64::from(watch.result() != result), SeqCst);
            Ok(())
        },
    );
    let (misplaced, missing) = (misplaced.load(SeqCst), ITEMS.abs_diff(watch.out()));
    let lost = if missing > 0 { format!(", {missing} missing") } else { String::new() };
    Finding::new(
        ended.is_ok() && misplaced == 0 && missing == 0,
        format!("{} misplaced{lost}", thousands(misplaced)),
    )
}

fn error<S: System>() -> Finding {
    fn one_fails_first(item: u64) -> Result<u64, Failure> {
        match item {
            BROKEN => {
                sleep(Duration::from_millis(50));
                Err(item)
            }
            21 => Err(item),
            _ => Ok(item),
        }
    }
    fn all_fail(item: u64) -> Result<u64, Failure> {
        if item < BROKEN { Ok(item) } else { Err(item) }
    }
    const RUNS: usize = 10;
    let (mut right, mut wrong) = (0, String::new());
    for run in 0..RUNS {
        let watch = Watch::new();
        let stage = if run % 2 == 0 { one_fails_first } else { all_fail };
        let sink = |_| {
            watch.result();
            Ok(())
        };
        let ended = S::run(watch.source(1_000, None), WORKERS, stage, sink);
        match (ended, watch.out()) {
            (Err(BROKEN), BROKEN) => right += 1,
            (Err(item), out) => wrong = format!("error {item} after {out} results"),
            (Ok(()), out) => wrong = format!("no error, {out} results"),
        }
    }
    if right == RUNS {
        Finding::new(true, "error 20 after 20 results")
    } else {
        Finding::new(false, format!("{wrong} ({right} of {RUNS} right)"))
    }
}

fn panic<S: System>() -> Finding {
    #[derive(Debug)]
    struct Payload(u64);
    set_hook(Box::new(|_| {}));
    let watch = Watch::new();
    let ended = catch_unwind(AssertUnwindSafe(|| {
        S::run(
            watch.source(200, None),
            WORKERS,
            |item| if item == BROKEN { panic_any(Payload(item)) } else { Ok(item) },
            |_| {
                watch.result();
                Ok(())
            },
        )
    }));
    match ended.map_err(|payload| payload.downcast::<Payload>()) {
        Err(Ok(payload)) if payload.0 == BROKEN => {
            Finding::new(true, format!("arrives after {} results", watch.out()))
        }
        Err(_) => Finding::new(false, format!("another payload, after {} results", watch.out())),
        Ok(_) => Finding::new(false, format!("lost: the run ends after {} of 200 results", watch.out())),
    }
}

fn most_inside(watch: &Watch, of: u64) -> Finding {
    let is_all = if watch.out() == of { "" } else { ", results missing" };
    Finding::new(
        watch.most() <= BOUND && watch.out() == of,
        format!("{} of {} inside{is_all}", thousands(watch.most()), thousands(of)),
    )
}

fn slow_sink<S: System>() -> Finding {
    const ITEMS: u64 = 20_000;
    let watch = Watch::new();
    let _ = S::run(watch.source(ITEMS, None), WORKERS, Ok, |_| {
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_micros(50) {}
        watch.result();
        Ok(())
    });
    most_inside(watch, ITEMS)
}

fn slow_item<S: System>() -> Finding {
    const ITEMS: u64 = 50_000;
    let watch = Watch::new();
    let stage = |item| {
        if item == 0 {
            sleep(Duration::from_millis(300));
        }
        Ok(item)
    };
    let sink = |_| {
        watch.result();
        Ok(())
    };
    let _ = S::run(watch.source(ITEMS, None), WORKERS, stage, sink);
    most_inside(watch, ITEMS)
}

fn idle<S: System>() -> Finding {
    let watch = Watch::new();
    let (begin, before) = (Instant::now(), processor_seconds());
    let _ = S::run(watch.source(21, Some(Duration::from_millis(50))), WORKERS, Ok, |_| Ok(()));
    let share = processor_seconds().zip(before).map(|(after, before)| after - before);
    let share = share.map(|used| used / begin.elapsed().as_secs_f64());
    let number = share.map_or("not told".into(), |share| format!("{:.1} % of a core", 100.0 * share));
    Finding::new(share.is_some_and(|share| share < IDLE), number)
}

fn promptness<S: System>() -> Finding {
    let (watch, held) = (Watch::new(), &*Box::leak(Box::new(AtomicU64::new(u64::MAX))));
    let _ = S::run(watch.source(40, Some(Duration::from_millis(20))), WORKERS, Ok, |result| {
        if result == 0 {
            held.store(watch.pulled() - 1, SeqCst);
        }
        Ok(())
    });
    match held.load(SeqCst) {
        u64::MAX => Finding::new(false, "no result"),
        0 => Finding::new(true, "waits for 0 items"),
        held => Finding::new(false, format!("waits for {held} of 39 items")),
    }
}

fn stop<S: System>() -> Finding {
    const AT: u64 = 100;
    let watch = Watch::new();
    let sink = |_| if watch.result() + 1 < AT { Ok(()) } else { Err(AT) };
    let ended = S::run(watch.source(2_000_000, None), WORKERS, Ok, sink);
    let returned = watch.pulled();
    sleep(Duration::from_millis(100));
    let later = watch.pulled() - returned;
    let wasted = watch.pulled() - watch.out().min(watch.pulled());
    let text = if later > 0 { format!(", {} of them later", thousands(later)) } else { String::new() };
    Finding::new(
        ended == Err(AT) && wasted <= BOUND && later == 0,
        format!("{} too many{text}", thousands(wasted)),
    )
}

fn memory_of<S: System>() -> Finding {
    let watch = Watch::new();
    forget_peak();
    let before = memory();
    let _ = S::run(watch.source(1_000_000, None), WORKERS, Ok, |_| {
        watch.result();
        Ok(())
    });
    let grown = peak().zip(before).map(|(peak, before)| peak.saturating_sub(before));
    let is_all = if watch.out() == 1_000_000 { "" } else { ", results missing" };
    let number = grown
        .map_or("not told".into(), |bytes| format!("{:.1} MiB{is_all}", bytes as f64 / f64::from(1 << 20)));
    Finding::new(grown.is_some_and(|bytes| bytes <= BOUND_BYTES) && is_all.is_empty(), number)
}

/// A number with commas.
fn thousands(number: u64) -> String {
    if number < 1_000 {
        return number.to_string();
    }
    format!("{},{:03}", thousands(number / 1_000), number % 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Loop;

    #[test]
    fn the_plain_loop_keeps_the_contract() {
        // The experiments about time and memory need a process of their own, and a quiet machine.
        for experiment in [
            Experiment::Order,
            Experiment::Error,
            Experiment::SlowSink,
            Experiment::SlowItem,
            Experiment::Stop,
        ] {
            let finding = examine::<Loop>(experiment);
            assert!(finding.is_kept, "{experiment:?}: {finding}");
            assert_eq!(Finding::parse(&finding.to_string()), Some(finding));
        }
    }

    #[test]
    fn every_experiment_is_found_by_its_word() {
        assert!(Experiment::ALL.iter().all(|one| Experiment::of_word(&one.word()) == Some(*one)));
        assert_eq!(thousands(1_002_003), "1,002,003");
    }
}
