//! Pipelines whose stages compute.

use anabranch::Stream;

use super::{Line, one_in};
use measure_harness::work::Running;

pub const LINES: &[Line] = &[
    Line::new("slow source", "read", 20.0, |job| {
        let stream = Stream::from_iter(job.source(20.0)).name("read").map(job.busy(10.0)).name("encode");
        job.run(job.replicated(stream), 1.0)
    }),
    Line::new("slow source, cheap serial stage", "read", 30.0, |job| {
        let (mut sum, encode) = (Running::default(), job.busy(15.0));
        let stream = Stream::from_iter(job.source(30.0)).name("read").map(encode).name("encode");
        let stream = job.replicated(stream).serial_map(move |item| sum.next(item)).name("number");
        job.run(stream, 2.0)
    }),
    Line::new("slow serial stage in the middle", "check", 24.0, |job| {
        let (check, parse, encode) = (job.busy(24.0), job.busy(6.0), job.busy(6.0));
        let stream = Stream::from_iter(job.source(1.0)).name("read").map(parse).name("parse");
        let stream = job.replicated(stream).serial_map(check).name("check").map(encode).name("encode");
        job.run(stream, 1.0)
    }),
    Line::new("slow serial stage after the source", "split", 20.0, |job| {
        let stream = Stream::from_iter(job.source(1.0)).name("read").serial_map(job.busy(20.0)).name("split");
        job.run(job.replicated(stream.map(job.busy(10.0)).name("encode")), 1.0)
    }),
    Line::new("second of two serial stages", "merge", 30.0, |job| {
        let (split, encode, merge) = (job.busy(3.0), job.busy(12.0), job.busy(30.0));
        let stream = Stream::from_iter(job.source(1.0)).name("read").serial_map(split).name("split");
        let stream = job.replicated(stream.map(encode).name("encode")).serial_map(merge).name("merge");
        job.run(stream, 2.0)
    }),
    Line::new("two slow serial stages side by side", "sort", 20.0, |job| {
        let (sort, merge) = (job.busy(20.0), job.busy(10.0));
        let stream = Stream::from_iter(job.source(1.0)).name("read").map(job.busy(4.0)).name("parse");
        job.run(job.replicated(stream).serial_map(sort).name("sort").serial_map(merge).name("merge"), 1.0)
    }),
    Line::new("costly parallel stage", "encode", 26.0, |job| {
        let stream = Stream::from_iter(job.source(1.0)).name("read").map(job.busy(50.0)).name("encode");
        job.run(job.replicated(stream), 1.0)
    }),
    Line::new("second of two parallel stages", "encode", 38.0, |job| {
        let (mut sum, parse, encode) = (Running::default(), job.busy(10.0), job.busy(60.0));
        let stream = Stream::from_iter(job.source(1.0)).name("read").map(parse).name("parse");
        let stream = stream.serial_map(move |item| sum.next(item)).name("number").map(encode).name("encode");
        job.run(job.replicated(stream), 2.0)
    }),
    Line::new("costly uneven parallel stage", "encode", 21.0, |job| {
        let work = job.unit.share(40.0).uneven();
        let encode = move |item| work.run(item);
        let stream = Stream::from_iter(job.source(0.5)).name("read").map(encode).name("encode");
        job.run(job.replicated(stream), 0.5)
    }),
    Line::new("costly filter", "match", 22.0, |job| {
        let (search, keep) = (job.busy(40.0), one_in(4));
        let filter = move |item: u64| Some(search(item)).filter(keep);
        let stream = Stream::from_iter(job.source(1.0)).name("read").filter_map(filter).name("match");
        job.run(job.replicated(stream).serial_map(job.busy(2.0)).name("number"), 2.0)
    }),
    Line::new("costly flat_map", "unpack", 23.0, |job| {
        let decode = job.busy(40.0);
        let unpack = move |item| {
            let whole = decode(item);
            (0..4).map(move |n| n ^ whole)
        };
        let stream = Stream::from_iter(job.source(1.0)).name("read").flat_map(unpack).name("unpack");
        job.run(job.replicated(stream), 1.0)
    }),
    Line::new("slow sink", "fold", 20.0, |job| {
        let stream = Stream::from_iter(job.source(1.0)).name("read").map(job.busy(10.0)).name("encode");
        job.run(job.replicated(stream), 20.0)
    }),
    Line::new("slow sink after a filter", "fold", 25.0, |job| {
        let stream = Stream::from_iter(job.source(1.0)).name("read").map(job.busy(10.0)).filter(one_in(4));
        job.run(job.replicated(stream.name("match")), 100.0)
    }),
    Line::new("slow sink after a flat_map", "fold", 40.0, |job| {
        let decode = job.busy(10.0);
        let unpack = move |item| {
            let whole = decode(item);
            (0..4).map(move |n| n ^ whole)
        };
        let stream = Stream::from_iter(job.source(1.0)).name("read").flat_map(unpack).name("unpack");
        job.run(job.replicated(stream), 10.0)
    }),
    Line::new("one replica", "encrypt", 40.0, |job| {
        let (mut sum, encrypt, pack) = (Running::default(), job.busy(40.0), job.busy(10.0));
        let stream =
            Stream::from_iter(job.source(1.0)).name("read").map(encrypt).name("encrypt").replicate(1);
        let stream = stream.serial_map(move |item| sum.next(item)).name("number").map(pack).name("pack");
        job.run(job.replicated(stream), 1.0)
    }),
    Line::new("slow serial_flat_map", "open", 60.0, |job| {
        let open = job.busy(60.0);
        let open = move |item| {
            let file = open(item);
            (0..4u64).map(move |n| n ^ file)
        };
        let stream = Stream::from_iter(job.source(1.0)).name("list").serial_flat_map(open).name("open");
        job.run(job.replicated(stream.map(job.busy(8.0)).name("encode")), 1.0)
    }),
    Line::new("five stages alike", "", 12.5, |job| {
        let five = || job.busy(5.0);
        let stream = Stream::from_iter(job.source(5.0)).name("read").map(five()).name("parse");
        let stream = job.replicated(stream).serial_map(five()).name("number").map(five()).name("encode");
        job.run(stream, 5.0)
    }),
    Line::new("long items", "encode", 510.0, |job| {
        let stream = Stream::from_iter(job.source(10.0)).name("read").map(job.busy(1_000.0)).name("encode");
        job.run(job.replicated(stream), 10.0)
    }),
];
