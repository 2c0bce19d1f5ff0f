//! Pipelines with stages that wait for something outside, and need no core while they wait.

use std::thread::sleep;
use std::time::Duration;

use anabranch::Stream;

use super::{Line, nap};
use measure_harness::work::Running;

pub const LINES: &[Line] = &[
    Line::new("source that waits", "receive", 280.0, |job| {
        let stream = Stream::from_iter((0..job.items).map(nap(200))).name("receive").map(job.busy(60.0));
        job.run(job.replicated(stream.name("encode")), 2.0)
    })
    .waiting(),
    Line::new("source that waits for blocks of 16", "receive", 66.0, |job| {
        let source = (0..job.items).inspect(|item| {
            if item % 16 == 0 {
                sleep(Duration::from_millis(1));
            }
        });
        let stream = Stream::from_iter(source).name("receive").map(job.busy(20.0)).name("encode");
        job.run(job.replicated(stream), 1.0)
    })
    .waiting(),
    Line::new("parallel stage that waits, 16 workers", "fetch", 130.0, |job| {
        let mut sum = Running::default();
        let stream = Stream::from_iter(job.source(1.0)).name("list").map(nap(2_000)).name("fetch");
        job.run(job.replicated(stream).serial_map(move |item| sum.next(item)).name("number"), 5.0)
    })
    .waiting()
    .with(16),
    Line::new("parallel stage that waits, 4 replicas of 16 workers", "fetch", 270.0, |job| {
        let mut sum = Running::default();
        let stream =
            Stream::from_iter(job.source(1.0)).name("list").map(nap(1_000)).name("fetch").replicate(4);
        let stream = stream.serial_map(move |item| sum.next(item)).name("number").map(job.busy(20.0));
        job.run(job.replicated(stream.name("encode")), 1.0)
    })
    .waiting()
    .with(16),
    Line::new("serial stage that waits, 4 workers", "commit", 370.0, |job| {
        let stream = Stream::from_iter(job.source(1.0)).name("read").map(job.busy(100.0)).name("encode");
        job.run(job.replicated(stream).serial_map(nap(300)).name("commit"), 1.0)
    })
    .waiting()
    .with(4),
    Line::new("sink that waits, 4 workers", "fold", 370.0, |job| {
        let stream = Stream::from_iter(job.source(1.0)).name("read").map(job.busy(100.0)).name("encode");
        job.run_into(job.replicated(stream), nap(300))
    })
    .waiting()
    .with(4),
];
