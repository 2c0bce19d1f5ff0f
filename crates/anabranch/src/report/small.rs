//! Items that are too small to share: what handing them over costs, and what handing over several would give.

use anabranch_plan::quantity::{span, times};

use super::{NodeReport, Report};

/// Items that take longer than this in all stages together, in nanoseconds, are not too small.
const SMALL_NS: f64 = 1_000.0;
/// Fewer items say nothing about handing over: threads were starting.
const LEAST_ITEMS: u64 = 1_000;
/// A stream that is less than this many times as fast as the loop is not worth its threads.
const WORTH: f64 = 1.1;
/// Handing over is to cost at most this share of the loop.
const SHARE: f64 = 0.1;
/// The most items that are handed over at once.
const MOST_ITEMS: f64 = 1_024.0;
/// The time that two threads together need to hand an item without work from one unit to the next, in nanoseconds. With the
/// machines of `measure/RESULTS.md` it is 12 to 33.
const HANDING_NS: f64 = 30.0;
/// The time of an item without work if many are handed over at once, in nanoseconds.
const LEAST_NS: f64 = 3.0;

impl Report {
    /// Says so if the items were too small to share, and what handing over several at once would give.
    pub(super) fn too_small(&self) -> Option<String> {
        let measured = self.per_item()?;
        let units = self.nodes.len();
        let is_asked = self.plan.settings.workers > 1
            && self.source_items() >= LEAST_ITEMS
            && !self.plan.nodes.first()?.in_blocks
            && units > 1;
        let work_of =
            |node: &NodeReport| node.busy.saturating_sub(node.delayed.unwrap_or_default()).as_nanos() as f64;
        let work: f64 = self.nodes.iter().map(work_of).sum();
        let stages = work / self.source_items().max(1) as f64;
        if !is_asked || stages >= SMALL_NS || self.nodes.iter().any(|node| node.waits) {
            return None;
        }
        let handing = HANDING_NS * (units - 1) as f64;
        let at_once = self.cores.min(self.plan.settings.workers);
        let longest = self.nodes.iter().map(work_of).fold(0.0, f64::max);
        Small { measured, stages, handing, at_once, serial: longest / work.max(1.0) }.advice()
    }
}

/// Times of one item, in nanoseconds.
struct Small {
    /// Between two items, in the run.
    measured: f64,
    /// In all stages, with handing over.
    stages: f64,
    /// For handing it over between all stages, on all cores together.
    handing: f64,
    /// How many threads work at once.
    at_once: usize,
    /// The share of the longest stage in all stages.
    serial: f64,
}

impl Small {
    fn advice(&self) -> Option<String> {
        let Self { measured, stages, handing, at_once, serial } = *self;
        // The stages were measured with what handing over costs in them.
        let handed = handing.min(stages - 1.0).max(0.0);
        let alone = (stages - handed).max(1.0);
        if alone > measured * WORTH {
            return None;
        }
        let enough = (handing / (SHARE * alone)).clamp(2.0, MOST_ITEMS);
        let items = 1_u64 << (enough.log2().ceil() as u32);
        // The longest stage may be a serial one.
        let shared = alone * serial.max(1.0 / at_once as f64) + handing / items as f64 / at_once as f64;
        let shared = shared.max(LEAST_NS);
        let mut text = format!(
            "Items are too small to share: handing one over costs about {} of the {} that it takes in all stages. The plain \
             loop would take about {} where this run took {}.",
            span(handed),
            span(stages),
            span(alone),
            span(measured),
        );
        text += &format!(
            " Hand over {items} at once: by `Source::in_blocks` if the source never waits, and otherwise by `chunks({items})`."
        );
        if measured / shared >= WORTH {
            text += &format!(
                " An item would then take about {}, and the run be {} times as fast.",
                span(shared),
                times(measured / shared)
            );
        }
        Some(text)
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;
    use crate::report::ReportSlot;
    use crate::stream::Stream;

    #[test]
    fn items_without_work_are_too_small() {
        let small = Small { measured: 130.0, stages: 163.0, handing: 150.0, at_once: 2, serial: 0.6 };
        assert_eq!(
            small.advice().unwrap(),
            "Items are too small to share: handing one over costs about 150 ns of the 163 ns that it takes in all stages. The \
             plain loop would take about 13 ns where this run took 130 ns. Hand over 128 at once: by `Source::in_blocks` if the \
             source never waits, and otherwise by `chunks(128)`. An item would then take about 8.4 ns, and the run be 15.5 \
             times as fast."
        );
        // Whatever was measured, the numbers stay in their ranges.
        for handing in [0.0, 3.0, 1e9] {
            for stages in [0.0, 1.0, 900.0] {
                let small = Small { measured: 1_000.0, stages, handing, at_once: 2, serial: 1.0 };
                let said = small.advice().unwrap();
                assert!(!said.contains('-') && !said.contains("NaN"), "{said}");
            }
        }
    }

    #[test]
    fn items_whose_work_was_shared_are_not() {
        let shared = Small { measured: 300.0, stages: 600.0, handing: 150.0, at_once: 2, serial: 0.5 };
        assert_eq!(shared.advice(), None);
    }

    #[test]
    fn larger_items_are_not_measured() {
        let work = |n: u64| (0..2_000).fold(n, |sum, n| std::hint::black_box(sum ^ n));
        let stream = Stream::from_iter(0..2_000).workers(2).map(work);
        let slot = ReportSlot::new();
        stream.report_to(&slot).fold(0, |a, b| a ^ b);
        let report = slot.take().unwrap();
        assert_eq!(report.too_small(), None);
    }
}
