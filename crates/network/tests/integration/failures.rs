//! The failure that a run returns, the fate of the other processes, and the messages for wrong networks.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::contract_support::planted::{Bomb, Planted};
use crate::contract_support::watchdog::{hush, within};
use anabranch_network::{Dealt, Error, Horizon, Network};

#[test]
fn a_failure_that_follows_from_another_is_not_returned() {
    for _ in 0..200 {
        let mut net = Network::new();
        let (mut give, middle) = net.record::<u32>(4);
        let (mut pass, mut take) = net.record::<u32>(4);
        // Created before the one that begins it.
        net.process("reader", move |_| {
            let count = take.by_ref().count();
            if count == 100 { Ok(()) } else { Err(format!("only {count} came")) }
        });
        net.process("middle", move |_| {
            for n in middle {
                if pass.push(n).is_err() {
                    return Err("nobody reads".to_string());
                }
            }
            Ok(())
        });
        net.process("writer", move |_| {
            (0..50).for_each(|n| give.push(n).unwrap());
            Err("boom".to_string())
        });
        let error = net.run().unwrap_err();
        assert_eq!(error.failure(), Some(("writer", &"boom".to_string())));
    }
}

#[test]
fn of_independent_failures_that_of_the_process_created_first_counts() {
    let all = Barrier::new(3);
    for _ in 0..50 {
        let mut net = Network::new();
        for name in ["one", "two", "three"] {
            net.process(name, |_| {
                all.wait();
                Err(name.to_string())
            });
        }
        assert_eq!(net.run().unwrap_err().failure(), Some(("one", &"one".to_string())));
    }
}

#[test]
fn a_failure_after_another_ones_ordinary_end_is_its_own() {
    let mut net = Network::new();
    let (mut give, mut take) = net.record::<u32>(4);
    net.process("writer", move |_| give.push(1).map_err(|closed| closed.to_string()));
    net.process("reader", move |_| {
        let count = take.by_ref().count();
        Err(format!("{count} came"))
    });
    assert_eq!(net.run().unwrap_err().failure(), Some(("reader", &"1 came".to_string())));
}

#[test]
fn others_end_when_one_fails() {
    let mut net = Network::new();
    let (mut give, mut take) = net.record::<u64>(16);
    net.process("endless", move |_| {
        while give.push(1).is_ok() {}
        Ok(())
    });
    net.process("endless, too", move |_| {
        while take.next().is_some() {}
        Ok(())
    });
    let (source, sink) = net.record::<u64>(16);
    net.rule("endless rule", (), source.produces(1), |(), out| {
        out.push(1);
        Ok(())
    });
    net.rule("its sink", sink.consumes(1), (), |_, ()| Ok(()));
    let (mut never, mut waits) = net.record::<u64>(16);
    net.process("waits", move |_| {
        assert_eq!(waits.next(), None);
        Ok(())
    });
    net.process("fails", move |_| {
        let _ = &mut never;
        Err("boom".to_string())
    });
    assert_eq!(net.run().unwrap_err().failure(), Some(("fails", &"boom".to_string())));
}

#[test]
fn a_panic_comes_through_whole() {
    #[derive(Debug, PartialEq)]
    struct Payload(u32);
    let run = |in_rule: bool| {
        let mut net = Network::<String>::new();
        let (mut give, mut take) = net.record::<u64>(16);
        net.process("endless", move |_| {
            while give.push(1).is_ok() {}
            Err("follows".to_string())
        });
        if in_rule {
            net.rule("panics", take.consumes(1), (), |_, ()| -> Result<(), String> {
                std::panic::resume_unwind(Box::new(Payload(7)))
            });
        } else {
            net.process("panics", move |_| {
                take.next();
                std::panic::resume_unwind(Box::new(Payload(7)))
            });
        }
        net.run()
    };
    for in_rule in [false, true] {
        let payload = catch_unwind(AssertUnwindSafe(|| run(in_rule))).unwrap_err();
        assert_eq!(payload.downcast_ref(), Some(&Payload(7)));
    }
}

#[test]
fn what_processes_have_is_dropped_and_every_thread_is_gone_after_the_run() {
    struct Flag<'a>(&'a AtomicBool);
    impl Drop for Flag<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let flags: [AtomicBool; 3] = Default::default();
    let threads = || std::fs::read_dir("/proc/self/task").map_or(0, |tasks| tasks.count());
    let _ = threads();
    let mut net = Network::new();
    let (first, second, third) = (Flag(&flags[0]), Flag(&flags[1]), Flag(&flags[2]));
    let (mut give, mut take) = net.record::<Flag<'_>>(4);
    net.process("gives", move |_| {
        let _first = first;
        give.push(second).map_err(|closed| closed.to_string())
    });
    net.process("fails", move |_| {
        let _third = third;
        let _second = take.next();
        Err("boom".to_string())
    });
    net.run().unwrap_err();
    assert!(flags.iter().all(|flag| flag.load(Ordering::Relaxed)));
}

fn message(net: Network<'_, String>) -> String {
    let error: Error<String> = net.run().unwrap_err();
    assert!(!error.is_deadlock() && error.failure().is_none());
    error.to_string()
}

#[test]
fn wrong_records_are_told() {
    let mut net = Network::<String>::new();
    let _ends = net.record::<u16>(0);
    let text = message(net);
    assert!(text.contains("record 0 of u16") && text.contains("1 to 2^32"), "{text}");

    let mut net = Network::<String>::new();
    let _ends = net.record_with(2, [1u8, 2, 3]);
    let text = message(net);
    assert!(text.contains("record 0 of u8") && text.contains("a horizon of 3 or more"), "{text}");

    let mut net = Network::<String>::new();
    let (give, mut take) = net.record::<u8>(Horizon::of(2).named("lonely"));
    drop(give);
    net.process("reader", |_| {
        take.next();
        Ok(())
    });
    let text = message(net);
    assert!(text.contains("record \"lonely\" of u8 has no writer"), "{text}");

    let mut net = Network::<String>::new();
    let (give, take) = net.record::<u8>(2);
    drop(take);
    net.rule("gives", (), give.produces(1), |(), out| {
        out.push(1);
        Ok(())
    });
    let text = message(net);
    assert!(text.contains("record 0 of u8 has no reader") && text.contains("written by `gives`"), "{text}");
}

#[test]
fn numbers_at_both_ends_are_told_or_work() {
    const FAR: [usize; 3] = [usize::MAX, usize::MAX - 1, (1 << 32) + 1];
    for far in FAR.into_iter().chain([0]) {
        let mut net = Network::<String>::new();
        let _ends = net.record::<u64>(far);
        let text = message(net);
        assert!(text.contains("1 to 2^32"), "{text}");
    }
    // No process can have 2^32 items of 32 KiB.
    let mut net = Network::<String>::new();
    let _ends = net.record::<[u64; 1 << 12]>(1 << 32);
    let text = message(net);
    assert!(text.contains("no memory"), "{text}");

    for far in FAR {
        // A record that may grow without end, and rates, windows and bursts that never fit.
        let pass = |produces: usize, consumes: usize, peeks: usize| {
            let mut net = Network::<String>::new();
            let (give, take) = net.record::<u8>(Horizon::of(1).grow_to(far));
            net.rule("gives", (), give.produces(produces), move |(), out| {
                out.push(1);
                Ok(())
            });
            net.rule("takes", take.consumes(consumes).peeks(peeks), (), |_, ()| Ok(()));
            message(net)
        };
        for (produces, consumes, peeks) in [(far, 1, 0), (1, far, 0), (1, 1, far), (0, 1, 1), (1, 0, 1)] {
            let text = pass(produces, consumes, peeks);
            assert!(text.contains("record 0 of u8 from `gives` (#0) to `takes` (#1)"), "{text}");
        }
        for reads in [false, true] {
            let mut net = Network::<String>::new();
            let (mut give, mut take) = net.record::<u8>(Horizon::of(1).grow_to(far));
            net.process("gives", move |_| match reads {
                false => give.stall(far).map(drop).map_err(|closed| closed.to_string()),
                true => give.push(1).map_err(|closed| closed.to_string()),
            });
            net.process("takes", move |_| {
                assert!(if reads { take.receive(far).is_empty() } else { take.next().is_none() });
                Ok(())
            });
            let text = message(net);
            assert!(text.contains(&format!("{far} items at once")), "{text}");
        }
        let mut net = Network::<String>::new();
        let registry = net.registry::<u8, _>(1, Dealt::one(), Dealt::one());
        net.process("registers", move |here| {
            let mut give = here.writer(&registry, 0, far).map_err(|error| error.to_string())?;
            give.push(1).map_err(|closed| closed.to_string())
        });
        let text = message(net);
        assert!(text.contains(&format!("a horizon of {far} items is registered")), "{text}");

        let mut net = Network::<String>::new().workers(far);
        let (give, take) = net.record::<u8>(2);
        let mut left = 100;
        net.rule("gives", (), give.produces(1), move |(), out| {
            out.push(1);
            left -= 1;
            Ok(if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        });
        net.rule("takes", take.consumes(1), (), |_, ()| Ok(()));
        net.run().unwrap();
    }
}

#[test]
fn a_window_or_burst_that_never_fits_is_told() {
    let mut net = Network::new();
    let (mut give, mut take) = net.record::<u8>(4);
    net.process("gives", move |_| {
        while give.push(1).is_ok() {}
        Ok(())
    });
    net.process("looks", move |_| if take.receive(5).is_empty() { Ok(()) } else { Err("no".to_string()) });
    let text = message(net);
    assert!(
        text.contains("\"looks\"") && text.contains("record 0 of u8") && text.contains("5 or more"),
        "{text}"
    );

    let mut net = Network::new();
    let (mut give, mut take) = net.record::<u8>(4);
    net.process("bursts", move |_| give.stall(5).map(drop).map_err(|closed| closed.to_string()));
    net.process("takes", move |_| {
        take.next();
        Ok(())
    });
    let text = message(net);
    assert!(text.contains("\"bursts\"") && text.contains("5 or more"), "{text}");

    let mut net = Network::<String>::new();
    let (give, take) = net.record::<u8>(4);
    net.rule("gives", (), give.produces(1), |(), out| {
        out.push(1);
        Ok(())
    });
    net.rule("peeks", take.consumes(1).peeks(5), (), |_, ()| Ok(()));
    let text = message(net);
    assert!(text.contains("horizon of 4, but `peeks` (#1) needs 5 or more"), "{text}");
}

#[test]
fn a_wider_window_makes_a_record_grow_that_may() {
    let mut net = Network::<String>::new();
    let (mut give, mut take) = net.record::<u8>(Horizon::of(2).grow_to(9));
    let mut seen = 0;
    net.process("gives", move |_| {
        (0..20).for_each(|n| give.push(n).unwrap());
        Ok(())
    });
    net.process("looks", |_| {
        take.next();
        seen = take.receive(9).iter().map(|&n| u32::from(n)).sum();
        take.by_ref().count();
        Ok(())
    });
    net.run().unwrap();
    assert_eq!(seen, 45);
}

#[test]
fn rates_that_no_schedule_balances_are_told_at_their_record() {
    let mut net = Network::<String>::new();
    let (a, from_a) = net.record::<u8>(8);
    let (b, from_b) = net.record::<u8>(8);
    net.rule("source", (), (a.produces(2), b.produces(1)), |(), (a, b)| {
        (0..2).for_each(|n| a.push(n));
        b.push(1);
        Ok(())
    });
    net.rule("join", (from_a.consumes(1), from_b.consumes(1)), (), |_, ()| Ok(()));
    let text = message(net);
    for part in ["inconsistent at record", "`source` (#0) writes 1", "`join` (#1) consumes 1"] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn a_rule_that_does_not_keep_its_rate_is_told() {
    for (wrote, part) in [(1, "left 1 items"), (3, "1 items too many")] {
        let mut net = Network::<String>::new();
        let (give, take) = net.record::<u8>(8);
        net.rule("off", (), give.produces(2), move |(), out| {
            (0..wrote).for_each(|n| out.push(n));
            Ok(())
        });
        net.rule("takes", take.consumes(1), (), |_, ()| Ok(()));
        let text = message(net);
        assert!(text.contains("rule \"off\"") && text.contains(part), "{text}");
    }
}

#[test]
fn a_network_that_is_dropped_leaves_closed_views() {
    let mut net = Network::<String>::new();
    let (mut give, mut take) = net.record::<u8>(2);
    net.process("never", |_| Ok(()));
    give.push(1).unwrap();
    drop(net);
    assert!(give.push(1).is_err());
    assert_eq!(take.next(), None);
}

#[test]
fn a_network_that_is_discarded_drops_what_its_processes_have() {
    let dropped = std::sync::Arc::new(());
    let mut net = Network::<String>::new();
    let (give, mut take) = net.record::<u8>(2);
    let (in_process, in_rule) = (dropped.clone(), dropped.clone());
    net.process("never", move |_| {
        drop((in_process, take.next()));
        Ok(())
    });
    net.rule("never, too", (), give.produces(1), move |(), out| {
        out.push(std::sync::Arc::strong_count(&in_rule) as u8);
        Ok(())
    });
    assert_eq!(std::sync::Arc::strong_count(&dropped), 3);
    net.discard();
    assert_eq!(std::sync::Arc::strong_count(&dropped), 1);
}

#[test]
fn a_guarded_network_drops_what_its_processes_have_however_it_ends() {
    let dropped = std::sync::Arc::new(());
    let build = |fails: bool, panics: bool| -> Result<(), String> {
        let mut net = Network::<String>::new().guarded();
        let (mut give, take) = net.record::<std::sync::Arc<()>>(4);
        give.push(dropped.clone()).unwrap();
        let in_process = dropped.clone();
        net.process("holds", move |_| {
            drop((in_process, give));
            Ok(())
        });
        let in_rule = dropped.clone();
        net.rule("holds, too", take.consumes(1), (), move |_, ()| {
            let _ = &in_rule;
            Ok(())
        });
        assert_eq!(std::sync::Arc::strong_count(&dropped), 4);
        assert!(!panics, "while it is built");
        if fails {
            Err("early".to_string())?
        }
        net.run().map_err(|error| error.to_string())
    };
    assert_eq!(build(true, false), Err("early".to_string()));
    assert_eq!(std::sync::Arc::strong_count(&dropped), 1);
    assert!(catch_unwind(AssertUnwindSafe(|| build(false, true))).is_err());
    assert_eq!(std::sync::Arc::strong_count(&dropped), 1);
    build(false, false).unwrap();
    assert_eq!(std::sync::Arc::strong_count(&dropped), 1);
}

#[test]
fn a_view_that_its_process_forgets_is_no_hang() {
    // The writer is moved into the process and never used; the reader gets the end of the stream.
    let mut net = Network::<String>::new();
    let (give, mut take) = net.record::<u8>(2);
    net.process("forgets", move |_| {
        let _unused = &give;
        Ok(())
    });
    net.process("reads", move |_| {
        assert_eq!(take.next(), None);
        Ok(())
    });
    net.run().unwrap();
}

#[test]
fn nobody_waits_outside_of_a_process_or_in_another_network() {
    let text = |result: Result<(), Box<dyn std::any::Any + Send>>| {
        result.unwrap_err().downcast_ref::<String>().unwrap().clone()
    };
    let mut net = Network::<String>::new();
    let (mut give, mut take) = net.record::<u8>(1);
    let outside = catch_unwind(AssertUnwindSafe(|| _ = take.next()));
    assert!(text(outside).contains("outside of a process"));
    net.process("other", |_| {
        let mut inner = Network::<String>::new();
        inner.process("inner", |_| {
            give.push(1).unwrap();
            Ok(())
        });
        inner.run().map_err(|error| error.to_string())
    });
    let other = catch_unwind(AssertUnwindSafe(|| net.run().unwrap()));
    assert!(text(other).contains("belongs to another network"));
}

#[test]
fn of_failures_whose_drops_panic_that_of_the_process_created_first_counts() {
    hush();
    within(|| {
        let all = Barrier::new(3);
        for by_panic in [false, true].repeat(20) {
            let planted = move |origin, bomb| Planted { node: 0, origin, path: 0, bomb };
            let mut net = Network::new();
            for number in 0..3 {
                let all = &all;
                net.process(&number.to_string(), move |_| {
                    all.wait();
                    let failure = planted(number, Bomb::armed());
                    if by_panic { std::panic::panic_any(failure) } else { Err(failure) }
                });
            }
            let found = match (by_panic, catch_unwind(AssertUnwindSafe(|| net.run()))) {
                (true, Err(payload)) => *payload.downcast::<Planted>().expect("its own payload"),
                (false, Ok(result)) => result.unwrap_err().into_failure().expect("a failure").1,
                (_, other) => panic!("{other:?}"),
            };
            found.bomb.disarm();
            assert_eq!(found, planted(0, Bomb::default()));
        }
    });
}
