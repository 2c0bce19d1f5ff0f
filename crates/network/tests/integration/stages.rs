//! Stages of a stream inside a network: they keep its promises, and their deadlocks are told.

use anabranch::plan::Wait;
use anabranch::{Pool, Stream};
use anabranch_network::{Error, Network};

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The ways in which a stream can be run.
type Setting = for<'e> fn(Stream<'e, u64>, &'e Pool) -> Stream<'e, u64>;
const SETTINGS: [(&str, Setting); 8] = [
    ("inline", |items, _| items.inline()),
    ("one worker", |items, _| items.workers(1)),
    ("two workers", |items, _| items.workers(2)),
    ("four workers", |items, _| items.workers(4)),
    ("a narrow window", |items, _| items.workers(3).window(2)),
    ("spinning", |items, _| items.workers(2).with_plan(|plan| plan.settings.wait = Wait::Spin)),
    ("a dedicated stage", |items, _| items.workers(2).dedicated().serial_map(|n| n)),
    ("a pool", |items, pool| items.workers(3).pool(pool)),
];

#[test]
fn a_stage_gives_what_the_loop_gives() {
    let pool = Pool::new(3);
    for (name, set) in SETTINGS {
        let mut results = Vec::new();
        let mut net = Network::<String>::new();
        let (mut give, take) = net.record::<u64>(4);
        let (out, mut end) = net.record::<u64>(2);
        net.process("numbers", move |_| {
            let _ = (0..2_000).try_for_each(|n| give.push(n));
            Ok(())
        });
        let pool = &pool;
        net.stage("squares", take, out, move |items| set(items, pool).map(|n| n * n));
        net.process("end", |_| {
            results.extend(&mut end);
            Ok(())
        });
        net.run().unwrap();
        assert!(results.iter().copied().eq((0..2_000).map(|n| n * n)), "{name}");
    }
}

#[test]
fn a_stage_in_a_cycle_is_never_taken_for_a_deadlock() {
    let pool = Pool::new(3);
    for (name, set) in SETTINGS {
        let mut last = 0;
        let mut net = Network::<String>::new();
        let (mut give, take) = net.record::<u64>(1);
        let (back, mut early) = net.record::<u64>(1);
        let pool = &pool;
        net.stage("add", take, back, move |items| set(items, pool).map(|n| n + 1).serial_map(|n| n));
        net.process("turns", |_| {
            for _ in 0..2_000 {
                give.push(last).map_err(|closed| closed.to_string())?;
                last = early.next().ok_or("the stage has ended")?;
            }
            Ok(())
        });
        net.run().unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(last, 2_000, "{name}");
    }
}

fn told(result: Result<(), Error<String>>) -> String {
    let error = result.unwrap_err();
    assert!(error.is_deadlock(), "{error}");
    error.to_string()
}

#[test]
fn a_stage_that_keeps_items_in_a_cycle_is_a_deadlock_that_is_told() {
    let pool = Pool::new(3);
    for (name, set) in SETTINGS {
        let mut net = Network::<String>::new();
        let (mut give, take) = net.record::<u64>(4);
        let (back, mut early) = net.record::<u64>(4);
        let pool = &pool;
        // Two items make one, so that the cycle runs dry.
        net.stage("pairs", take, back, move |items| {
            set(items, pool).chunks(2).map(|pair| pair.iter().sum::<u64>())
        });
        net.process("turns", move |_| {
            for n in 0..4 {
                give.push(n).map_err(|closed| closed.to_string())?;
            }
            for _ in 0..4 {
                let n = early.next().ok_or("the stage has ended")?;
                give.push(n).map_err(|closed| closed.to_string())?;
            }
            Ok(())
        });
        let text = told(net.run());
        for part in
            ["\"pairs\" waits for an item", "\"to pairs\"", "\"turns\"", "that none of them can write"]
        {
            assert!(text.contains(part), "{name}: {part} in {text}");
        }
    }
}

#[test]
fn a_full_record_behind_a_stage_is_a_deadlock_that_names_it() {
    let pool = Pool::new(3);
    for (name, set) in SETTINGS {
        let mut net = Network::<String>::new();
        let (mut give, take) = net.record::<u64>(2);
        let (out, mut behind) = net.record::<u64>(2);
        let (mut late, mut first) = net.record::<u64>(1);
        net.process("gives", move |_| {
            for n in 0..100_000 {
                give.push(n).map_err(|closed| closed.to_string())?;
            }
            late.push(0).map_err(|closed| closed.to_string())
        });
        let pool = &pool;
        net.stage("copy", take, out, move |items| set(items, pool).window(64).map(|n| n));
        net.process("takes", move |_| {
            first.next().ok_or("nothing came first")?;
            behind.by_ref().for_each(drop);
            Ok(())
        });
        let result = net.run();
        let error = result.unwrap_err();
        let deadlock = error.deadlock().unwrap_or_else(|| panic!("{name}: {error}")).clone();
        assert!(deadlock.is_artificial(), "{name}");
        let waits: Vec<&str> = deadlock.waits().iter().map(|wait| wait.process()).collect();
        assert_eq!(waits, ["gives", "to copy", "copy", "takes"], "{name}: {deadlock}");
        assert!(deadlock.dot().contains("the queue of u64 before stage"), "{}", deadlock.dot());
        assert!(deadlock.svg().starts_with("<svg"), "{name}");
    }
}

#[test]
fn a_stage_ends_with_its_readers_and_lets_its_writers_end() {
    for (name, set) in SETTINGS {
        let pool = Pool::new(2);
        let (pool, made) = (&pool, AtomicUsize::new(0));
        let mut net = Network::<String>::new();
        let (mut give, take) = net.record::<u64>(2);
        let (out, mut end) = net.record::<u64>(2);
        net.process("gives", |_| {
            while give.push(1).is_ok() {
                made.fetch_add(1, Ordering::Relaxed);
            }
            Ok(())
        });
        net.stage("copy", take, out, move |items| set(items, pool).map(|n| n));
        net.process("takes three", |_| {
            assert_eq!(end.by_ref().take(3).count(), 3);
            Ok(())
        });
        net.run().unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(made.into_inner() >= 3);
    }
}

#[test]
fn the_failure_of_a_stage_is_the_networks_and_others_end() {
    for (name, set) in SETTINGS {
        let pool = Pool::new(2);
        let pool = &pool;
        let held = Arc::new(());
        let in_stage = Arc::clone(&held);
        let mut net = Network::<String>::new();
        let (mut give, take) = net.record::<u64>(2);
        let (out, mut end) = net.record::<u64>(2);
        net.process("gives", move |_| {
            let _ = (0..).try_for_each(|n| give.push(n));
            Ok(())
        });
        net.stage("fails", take, out, move |items| {
            set(items, pool).try_map(move |n| {
                let _in_stage = &in_stage;
                if n == 17 { Err("seventeen".to_string()) } else { Ok(n) }
            })
        });
        net.process("takes", move |_| {
            end.by_ref().for_each(drop);
            Ok(())
        });
        let error = net.run().unwrap_err();
        assert_eq!(error.failure(), Some(("fails", &"seventeen".to_string())), "{name}");
        assert_eq!(Arc::strong_count(&held), 1, "{name}: everything was dropped");
    }
}

#[test]
fn a_network_inside_of_a_stage_tells_its_own_deadlock() {
    let mut net = Network::<String>::new();
    let (mut give, take) = net.record::<u64>(2);
    let (out, mut end) = net.record::<u64>(2);
    net.process("gives", move |_| {
        let _ = (0..4).try_for_each(|n| give.push(n));
        Ok(())
    });
    net.stage("inner", take, out, |items: Stream<'_, u64>| {
        items.workers(2).try_map(|n| {
            let mut inner = Network::<String>::new();
            let (mut forth, mut forth_end) = inner.record::<u64>(1);
            let (mut back, mut back_end) = inner.record::<u64>(1);
            inner.process("first", move |_| {
                let n = back_end.next().ok_or("nothing")?;
                forth.push(n).map_err(|closed| closed.to_string())
            });
            inner.process("second", move |_| {
                let n = forth_end.next().ok_or("nothing")?;
                back.push(n).map_err(|closed| closed.to_string())
            });
            match inner.run() {
                Err(error) if n == 2 => Err(error.to_string()),
                _ => Ok(n),
            }
        })
    });
    net.process("end", move |_| {
        end.by_ref().for_each(drop);
        Ok(())
    });
    let error = net.run().unwrap_err();
    let (process, text) = error.failure().unwrap();
    assert!(process == "inner" && text.contains("\"first\" waits for an item"), "{process}: {text}");
}

#[test]
fn a_stage_may_leave_its_items_alone() {
    let mut seen = Vec::new();
    let mut net = Network::<String>::new();
    let (mut give, take) = net.record::<u64>(2);
    let (out, mut end) = net.record::<u64>(2);
    net.process("gives", move |_| {
        while give.push(1).is_ok() {}
        Ok(())
    });
    net.stage("others", take, out, |_| Stream::from_iter(0..3).map(|n| n));
    net.process("end", |_| {
        seen.extend(&mut end);
        Ok(())
    });
    net.run().unwrap();
    assert_eq!(seen, [0, 1, 2]);
}
