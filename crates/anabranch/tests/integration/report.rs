//! The content of reports: exact counts, times that are not too short, and pages and traces that other
//! programs can read.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::contract_support::watchdog::{LIMIT, comes_true};

use anabranch::plan::Rate;
use anabranch::{
    CancelToken, Monitor, Report, ReportFormat, ReportSlot, ReportWriter, Shards, Source, Stream,
};
use serde_json::Value;

/// With one worker a run is inline, with several it uses threads.
const WORKERS: [usize; 3] = [1, 2, 4];

fn counts(report: &Report) -> Vec<(&str, u64, u64)> {
    report.nodes().iter().map(|node| (&*node.name, node.items, node.given)).collect()
}

#[test]
fn items_are_counted_where_they_become_fewer_or_more() {
    for workers in WORKERS {
        let slot = ReportSlot::new();
        let sum = Source::new(0..1_000u64)
            .named("read")
            .into_stream()
            .workers(workers)
            .filter(|n| n % 4 == 0)
            .named("halve")
            .serial_filter_map(|n| (n % 8 == 0).then_some(n))
            .flat_map(|n| [n, n, n])
            .report_to(&slot)
            .fold(0, |sum, n| sum + n);
        let report = slot.take().unwrap();
        assert_eq!(sum, 3 * (0..125).map(|n| 8 * n).sum::<u64>());
        let expected = [
            ("read", 1_000, 1_000),
            ("filter", 1_000, 250),
            ("halve", 250, 125),
            ("flat_map", 125, 375),
            ("fold", 375, 0),
        ];
        assert_eq!(counts(&report), expected, "{workers} workers");
        let rates: Vec<Option<Rate>> = report.measured_plan().nodes.iter().map(|node| node.rate).collect();
        let rate = |given, taken| Some(Rate { given, taken });
        assert_eq!(rates, [None, rate(250, 1_000), rate(125, 250), rate(375, 125), None]);
    }
}

#[test]
fn items_are_counted_through_domains_and_shards() {
    for workers in WORKERS {
        let slot = ReportSlot::new();
        Stream::from_iter(0..20u64)
            .workers(workers)
            .named("open")
            .serial_flat_map(|n| 0..n)
            .map_sharded(Shards::by_key(3, |n: &u64| *n), || 0, |_, n| n)
            .report_to(&slot)
            .for_each(drop);
        let report = slot.take().unwrap();
        let expected = [
            ("from_iter", 20, 20),
            ("open", 20, 190),
            ("deal", 190, 190),
            ("map_sharded", 190, 190),
            ("for_each", 190, 0),
        ];
        assert_eq!(counts(&report), expected, "{workers} workers");
        let ways: Vec<(&str, &str)> = report.latencies().iter().map(|one| (&*one.from, &*one.to)).collect();
        assert_eq!(ways, [("from_iter", "open"), ("open", "for_each")]);
    }
    let slot = ReportSlot::new();
    Stream::from_iter(0..500u64)
        .workers(3)
        .map(|n| n)
        .unordered()
        .map(|n| n + 1)
        .report_to(&slot)
        .for_each(drop);
    let report = slot.take().unwrap();
    assert_eq!(report.nodes().last().unwrap().items, 500);
    assert!(report.latencies().len() >= 2);
}

#[test]
fn a_stage_that_sleeps_takes_its_time_and_no_core() {
    let nap = Duration::from_millis(2);
    for workers in WORKERS {
        let naps = 40 * workers as u32;
        // The first items wait for each other, so that no helper comes late.
        let all = std::sync::Barrier::new(workers);
        let slot = ReportSlot::new();
        Stream::from_iter(0..naps)
            .workers(workers)
            .named("nap")
            .map(|n: u32| {
                if n < workers as u32 {
                    all.wait();
                }
                std::thread::sleep(nap);
                n
            })
            .report_to(&slot)
            .for_each(drop);
        let report = slot.take().unwrap();
        let node = &report.nodes()[1];
        assert!(node.busy >= naps * nap && node.each() >= nap, "{workers}: {node:?}");
        if cfg!(all(target_os = "linux", not(portable))) {
            assert!(node.off_processor > node.busy / 2, "{workers}: {node:?}");
        }
        let latency = &report.latencies()[0];
        // The classes of the histogram are accurate to 3 %.
        assert!(latency.p50 >= nap.mul_f64(0.96) && latency.p50 <= latency.p95 && latency.p95 <= latency.p99);
        assert!(report.wall() >= 40 * nap);
        assert_eq!(report.bottleneck().map(|node| &*node.name), Some("nap"));
        assert!(report.explanation().contains("`nap`"), "{}", report.explanation());
    }
}

#[test]
fn a_slow_sink_is_named_and_the_window_before_it_is_full() {
    let given = AtomicU32::new(0);
    let slot = ReportSlot::new();
    Stream::from_iter((0..60u32).inspect(|n| given.store(n + 1, Ordering::SeqCst)))
        .workers(3)
        .window(16)
        .map(|n| n)
        .report_to(&slot)
        .for_each(|n| {
            // However late the helpers come, for most of the time the window is full.
            let began = Instant::now();
            let is_full = || given.load(Ordering::SeqCst) >= (n + 16).min(60);
            assert!(comes_true(LIMIT / 2, is_full));
            std::thread::sleep(4 * began.elapsed() + Duration::from_millis(1));
        });
    let report = slot.take().unwrap();
    let sink = report.nodes().last().unwrap();
    assert_eq!(report.bottleneck().unwrap().name, "for_each");
    assert!(sink.fullest <= 16 && sink.occupancy > 4.0, "{sink:?}");
    assert!(sink.waiting > Duration::from_millis(4), "{sink:?}");
    let said = report.explanation();
    assert!(said.starts_with("Bottleneck: `for_each` is serial"), "{said}");
    assert!(said.contains("With `for_each` at half its cost the run would be"), "{said}");
}

#[test]
fn a_run_that_stops_early_is_reported_too() {
    for workers in WORKERS {
        let slot = ReportSlot::new();
        let found =
            Stream::from_iter(0u64..).workers(workers).map(|n| n * n).report_to(&slot).find(|n| *n == 10_000);
        let report = slot.take().unwrap();
        assert_eq!(found, Some(10_000));
        assert_eq!(report.nodes().last().unwrap().items, 101);
        let slot = ReportSlot::new();
        let result = Stream::from_iter(0..100u64)
            .workers(workers)
            .try_map(|n| if n < 50 { Ok(n) } else { Err(n) })
            .report_to(&slot)
            .count();
        let report = slot.take().unwrap();
        assert_eq!(result, Err(50));
        assert_eq!(report.nodes().last().unwrap().items, 50);
        let token = CancelToken::new();
        let stops = token.clone();
        let slot = ReportSlot::new();
        Stream::from_iter(0u64..).workers(workers).cancel_by(&token).map(|n| n).report_to(&slot).for_each(
            move |n| {
                if n == 10 {
                    stops.cancel()
                }
            },
        );
        let report = slot.take().unwrap();
        assert!(report.nodes()[0].items > 10);
        println!("{report}");
    }
    let slot = ReportSlot::new();
    Stream::from_iter(Vec::<u8>::new()).workers(2).map(|n| n).report_to(&slot).for_each(drop);
    let report = slot.take().unwrap();
    assert_eq!((report.throughput(), report.latencies().len()), (0.0, 0));
    well_formed(&report);
    assert!(report.to_string().contains("No item came"), "{report}");
}

/// A run whose report has everything that a report can have.
fn rich(workers: usize) -> Report {
    let slot = ReportSlot::new();
    Stream::from_iter(0..3_000u64)
        .title("a <rich> & \"odd\" run")
        .workers(workers)
        .trace()
        .named("drop a third")
        .filter(|n| n % 3 != 0)
        .named("<serial> & co")
        .serial_map(|n| n + 1)
        .flat_map(|n| [n, n])
        .spread()
        .report_to(&slot)
        .for_each(|n| assert!(n > 0));
    slot.take().unwrap()
}

/// Checks that the programs for which a format is made can read it.
fn well_formed(report: &Report) {
    roxmltree::Document::parse(&report.to_svg()).expect("an SVG is XML");
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    let page = report.to_html();
    let page = roxmltree::Document::parse_with_options(&page, options).expect("the page is XML too");
    for node in page.descendants() {
        assert!(!["script", "link", "img", "iframe"].contains(&node.tag_name().name()));
        assert!(node.attributes().all(|attribute| attribute.name() != "src" && attribute.name() != "href"));
    }
    let json: Value = serde_json::from_str(&report.to_json()).unwrap();
    assert_eq!(json["version"], anabranch::REPORT_VERSION);
    assert_eq!(json["nodes"].as_array().unwrap().len(), report.nodes().len());
}

#[test]
fn the_page_the_pictures_and_the_json_can_be_read() {
    for workers in WORKERS {
        let report = rich(workers);
        well_formed(&report);
        let json: Value = serde_json::from_str(&report.to_json()).unwrap();
        assert_eq!(json["items"], 3_000);
        assert_eq!(json["nodes"][1]["name"], "drop a third");
        for thread in json["threads"].as_array().unwrap() {
            let lines = thread["shares"].as_array().unwrap();
            assert_eq!(lines.len(), report.nodes().len() + 1);
            let shares = lines.iter().flat_map(|line| line["values"].as_array().unwrap());
            assert!(shares.into_iter().all(|share| (0.0..=1.0).contains(&share.as_f64().unwrap())));
        }
    }
}

/// The rules of the Trace Event Format that a viewer relies on.
#[test]
fn a_trace_has_a_track_for_each_thread_and_slices_that_do_not_overlap() {
    for workers in [2, 4] {
        let report = rich(workers);
        let trace: Value = serde_json::from_str(&report.to_trace()).unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        let text = |event: &Value, field: &str| event[field].as_str().unwrap_or_default().to_owned();
        let mut named = Vec::new();
        let mut ends = std::collections::HashMap::new();
        let mut items = std::collections::HashMap::new();
        let mut counters = std::collections::HashMap::new();
        for event in events {
            assert!(event["name"].is_string() && event["pid"].is_u64(), "{event}");
            match &*text(event, "ph") {
                "M" if text(event, "name") == "thread_name" => {
                    assert!(event["args"]["name"].is_string());
                    named.push(event["tid"].as_u64().unwrap());
                }
                "M" => {}
                "X" => {
                    let (tid, from) = (event["tid"].as_u64().unwrap(), event["ts"].as_f64().unwrap());
                    let nanos = event["dur"].as_f64().unwrap();
                    let last = ends.insert(tid, from + nanos).unwrap_or(0.0);
                    assert!(
                        named.contains(&tid) && nanos >= 0.0 && from >= last - 1e-6,
                        "{event} begins before {last}"
                    );
                    *items.entry(text(event, "name")).or_insert(0.0) +=
                        event["args"]["items"].as_f64().unwrap_or(0.0);
                }
                "C" => {
                    let from = event["ts"].as_f64().unwrap();
                    let last = counters.insert(text(event, "name"), from);
                    assert!(
                        last.is_none_or(|last| from > last)
                            && event["args"]["items"].as_f64().unwrap() >= 0.0
                    );
                }
                other => panic!("a phase that no viewer was asked for: {other}"),
            }
        }
        // The caller and its helpers. A helper that came too late has no track.
        assert!((1..=workers).contains(&named.len()), "{named:?}");
        for node in report.nodes() {
            assert_eq!(items[&node.name], node.items as f64, "all slices of {} are kept", node.name);
        }
        assert_eq!(counters.len(), report.nodes().len() - 1);
    }
}

#[test]
fn several_runs_make_one_document() {
    let reports = [rich(2), rich(1)];
    let document = |format: ReportFormat, reports: &[Report]| {
        let mut writer = ReportWriter::new(Vec::new(), format);
        reports.iter().for_each(|report| writer.write(report).unwrap());
        String::from_utf8(writer.finish().unwrap()).unwrap()
    };
    for (many, reports) in [(0, &reports[..0]), (1, &reports[..1]), (2, &reports[..])] {
        let json: Value = serde_json::from_str(&document(ReportFormat::Json, reports)).unwrap();
        assert_eq!(json.as_array().unwrap().len(), many);
        let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
        let page = document(ReportFormat::Html, reports);
        let page = roxmltree::Document::parse_with_options(&page, options).unwrap();
        assert_eq!(page.descendants().filter(|node| node.has_tag_name("article")).count(), many);
        let trace: Value = serde_json::from_str(&document(ReportFormat::Trace, reports)).unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        let process = |event: &&Value| event["name"] == "process_name";
        assert_eq!(events.iter().filter(process).count(), many);
        let begin = |pid: u64| {
            let of = events.iter().filter(|event| event["pid"] == pid && event["ph"] == "X");
            of.filter_map(|event| event["ts"].as_f64()).fold(f64::INFINITY, f64::min)
        };
        if many == 2 {
            assert!(begin(2) >= 1e6 * reports[0].wall().as_secs_f64());
        }
        let text = document(ReportFormat::Text, reports);
        assert_eq!(text.matches("Bottleneck: ").count(), many, "{text}");
    }
}

#[test]
fn a_snapshot_has_the_same_table_so_far() {
    let monitor = Monitor::new();
    let mut looks = Vec::new();
    Stream::from_iter(0..2_000u32)
        .title("watched")
        .workers(2)
        .watch(&monitor)
        .named("work")
        .map(|n| n)
        .for_each(|n| {
            if n == 1_000 {
                looks = monitor.snapshots()
            }
        });
    let said = looks[0].to_string();
    let header = said.lines().nth(1).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.starts_with("watched: after "), "{said}");
    assert_eq!(header, "stage items busy an item used waiting occupancy");
    // The other worker may be in another stage.
    let running = said.lines().last().and_then(|line| line.strip_prefix("Running now: "));
    assert!(said.contains("work") && running.is_some_and(|stages| stages.ends_with("for_each.")), "{said}");
    assert!(looks[0].report.nodes()[1].items <= 2_000);
}

#[test]
fn runs_inside_runs_are_reported_apart() {
    let slot = ReportSlot::new();
    Stream::from_iter(0..20u64)
        .workers(2)
        .trace()
        .named("outer")
        .map(|n| {
            let slot = ReportSlot::new();
            let sum = Stream::from_iter(0..n)
                .workers(2)
                .trace()
                .named("inner")
                .map(|n| n)
                .report_to(&slot)
                .fold(0, |a, b| a + b);
            let inner = slot.take().unwrap();
            assert_eq!(inner.nodes()[1].items, n);
            assert!(!inner.to_trace().contains("\"outer\""));
            sum
        })
        .report_to(&slot)
        .for_each(drop);
    let outer = slot.take().unwrap();
    assert_eq!(outer.nodes()[1].items, 20);
    assert!(!outer.to_trace().contains("inner"));
}

/// Programs that keep all cores busy until this is dropped, and for two minutes at most.
#[cfg(all(target_os = "linux", not(portable)))]
struct Neighbours(Vec<std::process::Child>);

#[cfg(all(target_os = "linux", not(portable)))]
impl Neighbours {
    /// Starts one for each core, and returns once all of them run.
    fn start() -> Self {
        use std::io::{BufReader, Read};

        let this = std::env::current_exe().unwrap();
        let spins = ["--exact", "report::spins", "--ignored", "--nocapture"];
        let start = || {
            let mut command = std::process::Command::new(&this);
            let piped = std::process::Stdio::piped;
            command.args(spins).env("SPINS", "1").stdin(piped()).stdout(piped()).spawn().unwrap()
        };
        let cores = std::thread::available_parallelism().unwrap().get();
        let mut all = Self((0..cores).map(|_| start()).collect());
        for child in &mut all.0 {
            let mut said = BufReader::new(child.stdout.as_mut().unwrap()).bytes();
            assert!(said.any(|byte| matches!(byte, Ok(b'!'))), "a neighbour did not start");
        }
        all
    }
}

#[cfg(all(target_os = "linux", not(portable)))]
impl Drop for Neighbours {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The work of a neighbour.
#[test]
#[ignore = "keeps a core busy for the test of reports beside other programs"]
fn spins() {
    if std::env::var_os("SPINS").is_some() {
        println!("!");
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(120) {
            std::hint::spin_loop();
        }
    }
}

/// How long the calling thread has had a processor, and has been ready without one; the second if the system tells.
#[cfg(all(target_os = "linux", not(portable)))]
fn of_thread() -> (Duration, Option<Duration>) {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let numbers: Vec<u64> = text.split_whitespace().map(|number| number.parse().unwrap()).collect();
    let delay = (numbers.get(2) > Some(&0)).then(|| Duration::from_nanos(numbers[1]));
    (Duration::new(time.tv_sec as u64, time.tv_nsec as u32), delay)
}

#[test]
#[cfg(all(target_os = "linux", not(portable)))]
fn beside_other_programs_work_waiting_and_having_no_core_are_told_apart() {
    let neighbours = Neighbours::start();
    let cores = std::thread::available_parallelism().unwrap().get();
    // How long an item needs a processor and how long it sleeps, in microseconds.
    for (work, nap) in [(3_000, 0), (0, 3_000), (700, 2_000), (2_000, 300)] {
        for workers in [1, cores] {
            // The measurements of the stage itself: its time, and how much of it was work and having no core.
            let truth = [const { AtomicU64::new(0) }; 3];
            let read = || truth.each_ref().map(|nanos| Duration::from_nanos(nanos.load(Ordering::SeqCst)));
            let tells = of_thread().1.is_some();
            let began = Instant::now();
            let is_enough = || {
                let [all, _, delayed] = read();
                // A sleeping thread is rarely kept from a core for long.
                let is_delayed = work <= nap || !tells || delayed > all / 4;
                all > Duration::from_millis(300) && is_delayed || began.elapsed() > LIMIT / 2
            };
            let slot = ReportSlot::new();
            Stream::from_iter((0u64..).take_while(|_| !is_enough()))
                .workers(workers)
                .window(4 * workers)
                .named("stage")
                .map(|n| {
                    let (began, (processor, delay)) = (Instant::now(), of_thread());
                    while of_thread().0 - processor < Duration::from_micros(work) {}
                    if nap > 0 {
                        std::thread::sleep(Duration::from_micros(nap));
                    }
                    let (after, delay_after) = of_thread();
                    let delayed =
                        delay_after.zip(delay).map_or(Duration::ZERO, |(after, before)| after - before);
                    let parts = [began.elapsed(), after - processor, delayed];
                    for (sum, part) in truth.iter().zip(parts) {
                        sum.fetch_add(part.as_nanos() as u64, Ordering::SeqCst);
                    }
                    n
                })
                .report_to(&slot)
                .for_each(drop);
            let report = slot.take().unwrap();
            let [all, worked, delayed] = read();
            let (node, said) = (&report.nodes()[1], report.explanation());
            let shown = format!("{work} µs of work and {nap} µs asleep, {workers} workers: {node:?}\n{said}");
            let Some(told) = node.delayed else {
                assert!(!tells && said.contains("does not tell"), "{shown}");
                continue;
            };
            // The clocks of the stage do not see that it loses its core between them, so its own delay is too short.
            assert!(told + all / 10 > delayed, "{delayed:?} without a core: {shown}");
            let asleep = Duration::from_micros(nap) * node.items as u32;
            let near = |a: Duration, b: Duration| a.abs_diff(b) < all / 10 + Duration::from_millis(10);
            assert!(near(node.off_processor - told, asleep), "{asleep:?} asleep: {shown}");
            assert!(near(node.busy - node.off_processor, worked), "{worked:?} of work: {shown}");
            assert_eq!(node.waits, 2 * nap > 3 * work, "{shown}");
            // The prediction is made from the work and the sleep.
            let costed = &report.measured_plan().nodes[1];
            let cost = Duration::from_nanos(costed.cost.unwrap() * node.items);
            assert!(near(cost, worked + asleep), "{cost:?}: {shown}");
            if work > nap {
                assert!(!said.contains("mostly waits"), "{shown}");
                assert!(said.contains("Other programs or threads had the cores"), "{shown}");
            }
        }
    }
    drop(neighbours);
}
