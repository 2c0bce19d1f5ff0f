//! Process networks in many random schedules. If a wake-up is lost, or a deadlock is not detected or detected
//! wrongly, the run hangs or gives other results.
//!
//!     RUSTFLAGS="--cfg shuttle" cargo test -p anabranch-network --release --test integration shuttle_networks

use crate::model::check;
use anabranch_network::plan::{Flow, ItemType, Node, Plan};
use anabranch_network::{Horizon, Input, Kernels, Network, Output};
use anabranch_record::sync::{Arc, Mutex, lock};
use std::ops::ControlFlow::{Break, Continue};

#[test]
fn items_pass_between_two_processes_that_both_wait() {
    check(1_000, || {
        let mut sum = 0;
        let mut net = Network::<String>::new().workers(1);
        let (mut give, mut take) = net.record::<u64>(1);
        let (mut back, mut early) = net.record_with(1, [0u64]);
        net.process("forth", move |_| {
            while let Some(n) = early.next() {
                if n == 4 || give.push(n + 1).is_err() {
                    break;
                }
            }
            Ok(())
        });
        net.process("back", |_| {
            for n in &mut take {
                sum += n;
                let _ = back.push(n);
            }
            Ok(())
        });
        net.run().unwrap();
        assert_eq!(sum, 10);
    });
}

#[test]
fn rules_on_two_workers_between_processes() {
    check(500, || {
        let mut sum = 0;
        let mut net = Network::<String>::new().workers(2);
        let (mut give, take) = net.record::<u64>(1);
        let (middle, middle_take) = net.record::<u64>(1);
        let (out, mut end) = net.record::<u64>(1);
        net.process("gives", move |_| {
            (1..4).for_each(|n| give.push(n).unwrap());
            Ok(())
        });
        net.rule("double", take.consumes(1), middle.produces(1), |n, out| {
            out.push(2 * n[0]);
            Ok(())
        });
        net.rule("add", middle_take.consumes(1), out.produces(1), |n, out| {
            out.push(n[0] + 1);
            Ok(())
        });
        net.process("sum", |_| {
            sum = end.by_ref().sum();
            Ok(())
        });
        net.run().unwrap();
        assert_eq!(sum, 3 + 5 + 7);
    });
}

#[test]
fn rules_in_a_ring_on_two_workers() {
    check(500, || {
        let mut last = 0;
        let mut net = Network::<String>::new().workers(2);
        let (give, take) = net.record::<u64>(1);
        let (back, early) = net.record_with(1, [0u64]);
        net.rule("forth", early.consumes(1), give.produces(1), |n, out| {
            out.push(n[0] + 1);
            Ok(())
        });
        net.rule("back", take.consumes(1), back.produces(1), |n, out| {
            last = n[0];
            if last == 5 {
                return Ok(Break(()));
            }
            out.push(last);
            Ok(Continue(()))
        });
        net.run().unwrap();
        assert_eq!(last, 5);
    });
}

#[test]
fn a_rule_that_a_process_creates_is_fired() {
    check(500, || {
        let mut seen = Vec::new();
        let mut net = Network::<String>::new().workers(2);
        let (mut give, take) = net.record::<u64>(1);
        let (out, mut end) = net.record::<u64>(1);
        net.process("gives", move |_| {
            (1..3).for_each(|n| give.push(n).unwrap());
            Ok(())
        });
        net.process("creates", move |here| {
            let (middle, middle_take) = here.record::<u64>(1);
            here.rule("double", take.consumes(1), middle.produces(1), |n, out| {
                out.push(2 * n[0]);
                Ok(())
            });
            here.rule("add", middle_take.consumes(1), out.produces(1), |n, out| {
                out.push(n[0] + 1);
                Ok(())
            });
            Ok(())
        });
        net.process("seen", |_| {
            seen.extend(&mut end);
            Ok(())
        });
        net.run().unwrap();
        assert_eq!(seen, [3, 5]);
    });
}

#[test]
fn rules_that_are_fired_by_turns() {
    check(500, || {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let mut kernels = Kernels::<String>::new();
        kernels.rule::<(), Output<u64>>("numbers", |node| {
            let mut numbers = 0..3;
            Ok(node.fires(move |(), out| {
                let Some(n) = numbers.next() else { return Ok(Break(())) };
                out.push(n);
                Ok(Continue(()))
            }))
        });
        kernels.rule::<Input<u64>, Output<u64>>("double", |node| {
            Ok(node.fires(|n, out| {
                out.push(2 * n[0]);
                Ok(())
            }))
        });
        let sees = Arc::clone(&seen);
        kernels.rule::<Input<u64>, ()>("see", move |node| {
            let seen = Arc::clone(&sees);
            Ok(node.fires(move |n, ()| {
                lock(&seen).push(n[0]);
                Ok(())
            }))
        });
        let mut plan = Plan::network(2);
        let rules = ["numbers", "double", "see"].map(|kernel| plan.rule(Node::rule(kernel)));
        for pair in rules.windows(2) {
            plan.record(pair[0], pair[1], ItemType::of::<u64>(), Flow::of(1, 1).horizon(2));
        }
        // The first two share a unit, and have short turns.
        for node in &mut plan.nodes[..2] {
            (node.unit, node.firings) = (0, Some(1));
        }
        kernels.build(&plan).unwrap().run().unwrap();
        assert_eq!(*lock(&seen), [0, 2, 4]);
    });
}

#[test]
fn a_standstill_is_seen_whoever_sleeps_last() {
    check(1_000, || {
        let mut net = Network::<String>::new().workers(2);
        let (mut give, mut take) = net.record::<u64>(1);
        let (mut back, mut early) = net.record_with(1, [0u64]);
        net.process("forth", move |_| {
            give.push(early.next().unwrap()).unwrap();
            assert!(early.receive(1).is_empty());
            Ok(())
        });
        let (out, last) = net.record::<u64>(1);
        net.process("keeps", move |_| {
            take.next();
            assert!(take.next().is_none());
            let _ = &mut back;
            Ok(())
        });
        net.rule("waits", last.consumes(1), out.produces(1), |n, out| {
            out.push(n[0]);
            Ok(())
        });
        assert!(net.run().unwrap_err().is_deadlock());
    });
}

#[test]
fn a_record_grows_whoever_sleeps_last() {
    check(1_000, || {
        let mut seen = Vec::new();
        let mut net = Network::<String>::new().workers(1);
        let (mut early, mut early_out) = net.record::<u64>(Horizon::of(1).grow_to(3));
        let (mut late, mut late_out) = net.record::<u64>(1);
        net.process("left", move |_| {
            (0..3).for_each(|n| early.push(n).unwrap());
            late.push(3).unwrap();
            Ok(())
        });
        net.process("right", |_| {
            seen.extend(late_out.next());
            seen.extend(&mut early_out);
            Ok(())
        });
        net.run().unwrap();
        assert_eq!(seen, [3, 0, 1, 2]);
    });
}

#[test]
fn a_failure_ends_those_who_are_about_to_sleep() {
    check(1_000, || {
        let ended = Arc::new(Mutex::new(0));
        let mut net = Network::new().workers(1);
        let (mut give, mut take) = net.record::<u64>(1);
        let (mut never, mut waits) = net.record::<u64>(1);
        let (mut hold, mut held) = net.record::<u64>(1);
        for take in [&mut take, &mut waits] {
            let ended = Arc::clone(&ended);
            net.process("waits", move |_| {
                while take.next().is_some() {}
                *lock(&ended) += 1;
                Ok(())
            });
        }
        net.process("keeps", move |_| {
            let _ = give.push(1);
            while held.next().is_some() {}
            Ok(())
        });
        net.process("fails", move |_| {
            let _ = (never.push(1), hold.push(1));
            Err("boom".to_string())
        });
        let error = net.run().unwrap_err();
        assert_eq!(error.failure().map(|(name, _)| name), Some("fails"));
        assert_eq!(*lock(&ended), 2);
    });
}

/// A process ends the network by a record with a horizon of 0, while another one creates a record and waits in it for itself. Only
/// the end of the network can wake it, and the record may be created before or after all views were closed.
#[test]
fn the_end_of_a_network_wakes_those_who_wait_for_themselves() {
    check(500, || {
        let mut net = Network::<String>::new().workers(1);
        let ended = Arc::new(Mutex::new(false));
        let told = Arc::clone(&ended);
        net.process("waits", move |here| {
            let (mut give, mut take) = here.record::<u64>(1);
            let _ = give.push(1);
            while take.next().is_some() {}
            *lock(&told) = true;
            Ok(())
        });
        net.process("errs", |here| {
            drop(here.record::<u64>(0));
            Ok(())
        });
        let error = net.run().unwrap_err();
        assert!(error.failure().is_none() && !error.is_deadlock(), "{error}");
        assert!(*lock(&ended));
    });
}

#[test]
fn a_stage_in_a_cycle_is_quiet_only_while_it_has_no_work() {
    check(500, || {
        let mut last = 0;
        let mut net = Network::<String>::new().workers(1);
        let (mut give, take) = net.record::<u64>(1);
        let (back, mut early) = net.record::<u64>(1);
        net.stage("add", take, back, |items| items.workers(2).map(|n| n + 1).serial_map(|n| n).map(|n| n));
        net.process("turns", |_| {
            for _ in 0..2 {
                give.push(last).unwrap();
                last = early.next().unwrap();
            }
            Ok(())
        });
        net.run().unwrap();
        assert_eq!(last, 2);
    });
}

#[test]
fn a_stage_whose_end_waits_goes_on_when_there_is_room() {
    check(500, || {
        let mut seen = Vec::new();
        let mut net = Network::<String>::new().workers(1);
        let (mut give, take) = net.record::<u64>(1);
        let (out, mut end) = net.record::<u64>(1);
        let (mut start, mut started) = net.record::<u64>(1);
        net.process("gives", move |_| {
            (0..4).for_each(|n| give.push(n).unwrap());
            start.push(0).unwrap();
            Ok(())
        });
        // The items fit into the records, the queue and the window, so the other one can wait until all were given.
        net.stage("copy", take, out, |items| items.workers(2).window(4).map(|n| n));
        net.process("sees", |_| {
            started.next();
            seen.extend(&mut end);
            Ok(())
        });
        net.run().unwrap();
        assert_eq!(seen, [0, 1, 2, 3]);
    });
}

#[test]
fn a_deadlock_through_a_stage_is_seen_whoever_sleeps_last() {
    check(500, || {
        let mut net = Network::<String>::new().workers(1);
        let (mut give, take) = net.record::<u64>(1);
        let (out, mut end) = net.record::<u64>(1);
        let (mut late, mut first) = net.record::<u64>(1);
        net.process("gives", move |_| {
            let _ = (0..12).try_for_each(|n| give.push(n));
            let _ = late.push(0);
            Ok(())
        });
        net.stage("copy", take, out, |items| items.workers(2).window(2).map(|n| n));
        net.process("waits", move |_| {
            first.next();
            end.by_ref().for_each(drop);
            Ok(())
        });
        assert!(net.run().unwrap_err().is_deadlock());
    });
}
