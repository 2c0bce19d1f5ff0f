//! Pipelines whose stages compute.

use anabranch::Source;

use super::{Line, one_in};
use measure_harness::work::Running;

pub const LINES: &[Line] = &[
    Line::new("slow source", "read", 20.0, |job| {
        let stream = job.read(20.0).named("encode").replicas(job.knobs.replicas).map(job.busy(10.0));
        job.run(stream, 1.0)
    }),
    Line::new("slow source, cheap serial stage", "read", 30.0, |job| {
        let (mut sum, encode) = (Running::default(), job.busy(15.0));
        let stream = job.read(30.0).named("encode").replicas(job.knobs.replicas).map(encode);
        let stream = stream.named("number").serial_map(move |item| sum.next(item));
        job.run(stream, 2.0)
    }),
    Line::new("slow serial stage in the middle", "check", 24.0, |job| {
        let (check, parse, encode) = (job.busy(24.0), job.busy(6.0), job.busy(6.0));
        let stream = job.read(1.0).named("parse").replicas(job.knobs.replicas).map(parse);
        let stream = stream.named("check").serial_map(check).named("encode").map(encode);
        job.run(stream, 1.0)
    }),
    Line::new("slow serial stage after the source", "split", 20.0, |job| {
        let stream = job.read(1.0).named("split").serial_map(job.busy(20.0));
        job.run(stream.named("encode").replicas(job.knobs.replicas).map(job.busy(10.0)), 1.0)
    }),
    Line::new("second of two serial stages", "merge", 30.0, |job| {
        let (split, encode, merge) = (job.busy(3.0), job.busy(12.0), job.busy(30.0));
        let stream = job.read(1.0).named("split").serial_map(split);
        let stream =
            stream.named("encode").replicas(job.knobs.replicas).map(encode).named("merge").serial_map(merge);
        job.run(stream, 2.0)
    }),
    Line::new("two slow serial stages side by side", "sort", 20.0, |job| {
        let (sort, merge) = (job.busy(20.0), job.busy(10.0));
        let stream = job.read(1.0).named("parse").replicas(job.knobs.replicas).map(job.busy(4.0));
        job.run(stream.named("sort").serial_map(sort).named("merge").serial_map(merge), 1.0)
    }),
    Line::new("costly parallel stage", "encode", 26.0, |job| {
        let stream = job.read(1.0).named("encode").replicas(job.knobs.replicas).map(job.busy(50.0));
        job.run(stream, 1.0)
    }),
    Line::new("second of two parallel stages", "encode", 38.0, |job| {
        let (mut sum, parse, encode) = (Running::default(), job.busy(10.0), job.busy(60.0));
        let stream = job.read(1.0).named("parse").map(parse);
        let stream = stream
            .named("number")
            .serial_map(move |item| sum.next(item))
            .named("encode")
            .replicas(job.knobs.replicas)
            .map(encode);
        job.run(stream, 2.0)
    }),
    Line::new("costly uneven parallel stage", "encode", 21.0, |job| {
        let work = job.unit.share(40.0).uneven();
        let encode = move |item| work.run(item);
        let stream = job.read(0.5).named("encode").replicas(job.knobs.replicas).map(encode);
        job.run(stream, 0.5)
    }),
    Line::new("costly filter", "match", 22.0, |job| {
        let (search, keep) = (job.busy(40.0), one_in(4));
        let filter = move |item: u64| Some(search(item)).filter(keep);
        let stream = job.read(1.0).named("match").replicas(job.knobs.replicas).filter_map(filter);
        job.run(stream.named("number").serial_map(job.busy(2.0)), 2.0)
    }),
    Line::new("costly flat_map", "unpack", 23.0, |job| {
        let decode = job.busy(40.0);
        let unpack = move |item| {
            let whole = decode(item);
            (0..4).map(move |n| n ^ whole)
        };
        let stream = job.read(1.0).named("unpack").replicas(job.knobs.replicas).flat_map(unpack);
        job.run(stream, 1.0)
    }),
    Line::new("slow sink", "fold", 20.0, |job| {
        let stream = job.read(1.0).named("encode").replicas(job.knobs.replicas).map(job.busy(10.0));
        job.run(stream, 20.0)
    }),
    Line::new("slow sink after a filter", "fold", 25.0, |job| {
        let stream =
            job.read(1.0).map(job.busy(10.0)).named("match").replicas(job.knobs.replicas).filter(one_in(4));
        job.run(stream, 100.0)
    }),
    Line::new("slow sink after a flat_map", "fold", 40.0, |job| {
        let decode = job.busy(10.0);
        let unpack = move |item| {
            let whole = decode(item);
            (0..4).map(move |n| n ^ whole)
        };
        let stream = job.read(1.0).named("unpack").replicas(job.knobs.replicas).flat_map(unpack);
        job.run(stream, 10.0)
    }),
    Line::new("one replica", "encrypt", 40.0, |job| {
        let (mut sum, encrypt, pack) = (Running::default(), job.busy(40.0), job.busy(10.0));
        let stream = job.read(1.0).named("encrypt").replicas(1).map(encrypt);
        let stream = stream
            .named("number")
            .serial_map(move |item| sum.next(item))
            .named("pack")
            .replicas(job.knobs.replicas)
            .map(pack);
        job.run(stream, 1.0)
    }),
    Line::new("slow serial_flat_map", "open", 60.0, |job| {
        let open = job.busy(60.0);
        let open = move |item| {
            let file = open(item);
            (0..4u64).map(move |n| n ^ file)
        };
        let stream =
            Source::new(job.source(1.0)).named("list").into_stream().named("open").serial_flat_map(open);
        job.run(stream.named("encode").replicas(job.knobs.replicas).map(job.busy(8.0)), 1.0)
    }),
    Line::new("five stages alike", "", 12.5, |job| {
        let five = || job.busy(5.0);
        let stream = job.read(5.0).named("parse").replicas(job.knobs.replicas).map(five());
        let stream = stream.named("number").serial_map(five()).named("encode").map(five());
        job.run(stream, 5.0)
    }),
    Line::new("long items", "encode", 510.0, |job| {
        let stream = job.read(10.0).named("encode").replicas(job.knobs.replicas).map(job.busy(1_000.0));
        job.run(stream, 10.0)
    }),
];
