//! Pipelines with stages that wait for something outside, and need no core while they wait.

use std::thread::sleep;
use std::time::Duration;

use anabranch::Source;

use super::{Line, nap};
use measure_harness::work::Running;

pub const LINES: &[Line] = &[
    Line::new("source that waits", "receive", 280.0, |job| {
        let stream = Source::new((0..job.items).map(nap(200)))
            .named("receive")
            .into_stream()
            .named("encode")
            .replicas(job.knobs.replicas)
            .map(job.busy(60.0));
        job.run(stream, 2.0)
    })
    .waiting(),
    Line::new("source that waits for blocks of 16", "receive", 66.0, |job| {
        let source = (0..job.items).inspect(|item| {
            if item % 16 == 0 {
                sleep(Duration::from_millis(1));
            }
        });
        let stream = Source::new(source)
            .named("receive")
            .into_stream()
            .named("encode")
            .replicas(job.knobs.replicas)
            .map(job.busy(20.0));
        job.run(stream, 1.0)
    })
    .waiting(),
    Line::new("parallel stage that waits, 16 workers", "fetch", 130.0, |job| {
        let mut sum = Running::default();
        let stream = Source::new(job.source(1.0))
            .named("list")
            .into_stream()
            .named("fetch")
            .replicas(job.knobs.replicas)
            .map(nap(2_000));
        job.run(stream.named("number").serial_map(move |item| sum.next(item)), 5.0)
    })
    .waiting()
    .with(16),
    Line::new("parallel stage that waits, 4 replicas of 16 workers", "fetch", 270.0, |job| {
        let mut sum = Running::default();
        let stream = Source::new(job.source(1.0))
            .named("list")
            .into_stream()
            .named("fetch")
            .replicas(4)
            .map(nap(1_000));
        let stream = stream
            .named("number")
            .serial_map(move |item| sum.next(item))
            .named("encode")
            .replicas(job.knobs.replicas)
            .map(job.busy(20.0));
        job.run(stream, 1.0)
    })
    .waiting()
    .with(16),
    Line::new("serial stage that waits, 4 workers", "commit", 370.0, |job| {
        let stream = job.read(1.0).named("encode").replicas(job.knobs.replicas).map(job.busy(100.0));
        job.run(stream.named("commit").serial_map(nap(300)), 1.0)
    })
    .waiting()
    .with(4),
    Line::new("sink that waits, 4 workers", "fold", 370.0, |job| {
        let stream = job.read(1.0).named("encode").replicas(job.knobs.replicas).map(job.busy(100.0));
        job.run_into(stream, nap(300))
    })
    .waiting()
    .with(4),
];
