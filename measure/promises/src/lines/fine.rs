//! Pipelines of short items, where the cost of passing them counts.

use anabranch::Stream;

use super::Line;
use measure_harness::work::Running;

pub const LINES: &[Line] = &[
    Line::new("items of 1 us", "map", 0.55, |job| {
        job.run(job.replicated(Stream::from_iter(0..job.items).map(job.busy(1.0))), 0.0)
    }),
    Line::new("items of 250 ns", "map", 0.15, |job| {
        job.run(job.replicated(Stream::from_iter(0..job.items).map(job.busy(0.25))), 0.0)
    }),
    Line::new("items of 100 ns", "", 0.065, |job| {
        job.run(job.replicated(Stream::from_iter(0..job.items).map(job.busy(0.1))), 0.0)
    }),
    Line::new("two parallel stages of 500 ns, cheap serial stages between", "", 0.56, |job| {
        let (mut before, mut after) = (Running::default(), Running::default());
        let half = || job.busy(0.5);
        let stream = Stream::from_iter(0..job.items).serial_map(move |item| before.next(item)).name("number");
        let stream =
            job.replicated(stream.map(half()).name("parse")).serial_map(move |item| after.next(item));
        job.run(stream.name("sum").map(half()).name("encode"), 0.0)
    }),
    Line::new("slow sink, items of 2 us", "fold", 2.0, |job| {
        let stream = Stream::from_iter(job.source(0.1)).name("read").map(job.busy(1.0)).name("encode");
        job.run(job.replicated(stream), 2.0)
    }),
];
