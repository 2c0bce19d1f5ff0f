//! Pipelines of short items, where the cost of passing them counts.

use anabranch::Stream;

use super::Line;
use measure_harness::work::Running;

pub const LINES: &[Line] = &[
    Line::new("items of 1 us", "map", 0.55, |job| {
        job.run(Stream::from_iter(0..job.items).replicas(job.knobs.replicas).map(job.busy(1.0)), 0.0)
    }),
    Line::new("items of 250 ns", "map", 0.15, |job| {
        job.run(Stream::from_iter(0..job.items).replicas(job.knobs.replicas).map(job.busy(0.25)), 0.0)
    }),
    Line::new("items of 100 ns", "", 0.065, |job| {
        job.run(Stream::from_iter(0..job.items).replicas(job.knobs.replicas).map(job.busy(0.1)), 0.0)
    }),
    Line::new("two parallel stages of 500 ns, cheap serial stages between", "", 0.56, |job| {
        let (mut before, mut after) = (Running::default(), Running::default());
        let half = || job.busy(0.5);
        let stream =
            Stream::from_iter(0..job.items).named("number").serial_map(move |item| before.next(item));
        let stream = stream
            .named("parse")
            .replicas(job.knobs.replicas)
            .map(half())
            .named("sum")
            .serial_map(move |item| after.next(item));
        job.run(stream.named("encode").map(half()), 0.0)
    }),
    Line::new("slow sink, items of 2 us", "fold", 2.0, |job| {
        let stream = job.read(0.1).named("encode").replicas(job.knobs.replicas).map(job.busy(1.0));
        job.run(stream, 2.0)
    }),
];
