//! Firing rules: rates, windows, ends, many of them on few threads.

use std::ops::ControlFlow::{self, Break, Continue};

use anabranch_network::{Input, Network, Output};

/// A rule that writes the numbers below `count`.
fn numbers(net: &mut Network<'_, String>, out: Output<u64>, count: u64) {
    let mut numbers = 0..count;
    net.rule("numbers", (), out, move |(), out| {
        while out.left() > 0 {
            match numbers.next() {
                Some(n) => out.push(n),
                None => return Ok(Break(())),
            }
        }
        Ok(Continue(()))
    });
}

#[test]
fn rules_fire_at_their_rates() {
    for workers in [1, 2, 5] {
        let mut net = Network::new().workers(workers);
        let (give, take) = net.record::<u64>(16);
        let (sums, end) = net.record::<u64>(4);
        let mut seen = Vec::new();
        numbers(&mut net, give.produces(5), 60);
        net.rule("sums", take.consumes(3).peeks(6), sums.produces(2), |n, out| {
            out.push(n.index());
            out.push(n.iter().sum());
            Ok(())
        });
        net.rule("seen", end.consumes(1), (), |n, ()| {
            seen.push(n[0]);
            Ok(())
        });
        net.run().unwrap();
        // The last window begins at 54: with 57 there are only 3 items of 6.
        let expected: Vec<u64> = (0..=18).flat_map(|k| [3 * k, (3 * k..3 * k + 6).sum()]).collect();
        assert_eq!(seen, expected);
    }
}

#[test]
fn ten_thousand_rules_run_on_two_workers() {
    let mut net = Network::<String>::new().workers(2);
    let (give, mut take) = net.record::<u64>(4);
    numbers(&mut net, give.produces(1), 100);
    for _ in 0..10_000 {
        let (give, next) = net.record::<u64>(2);
        net.rule("add", take.consumes(1), give.produces(1), |n, out| {
            out.push(n[0] + 1);
            Ok(())
        });
        take = next;
    }
    let mut seen = Vec::new();
    net.rule("seen", take.consumes(1), (), |n, ()| {
        seen.push(n[0]);
        Ok(())
    });
    net.run().unwrap();
    assert_eq!(seen, (10_000..10_100).collect::<Vec<_>>());
}

#[test]
fn a_ring_of_rules_passes_a_token_and_ends() {
    for workers in [1, 2, 3] {
        let mut net = Network::<String>::new().workers(workers);
        let (first, mut take) = net.record_with::<u64>(2, [0]);
        let mut last = 0;
        for _ in 1..1_000 {
            let (give, next) = net.record::<u64>(2);
            net.rule("pass", take.consumes(1), give.produces(1), |n, out| {
                out.push(n[0] + 1);
                Ok(())
            });
            take = next;
        }
        net.rule("count", take.consumes(1), first.produces(1), |n, out| {
            last = n[0] + 1;
            out.push(last);
            Ok(if last == 20_000 { Break(()) } else { Continue(()) })
        });
        net.run().unwrap();
        assert_eq!(last, 20_000);
    }
}

#[test]
fn rules_and_processes_feed_each_other() {
    for workers in 1..4 {
        let mut net = Network::<String>::new().workers(workers);
        let (mut give, take) = net.record::<u64>(8);
        let (out, mut end) = net.record::<u64>(8);
        let mut sum = 0;
        net.process("gives", move |_| {
            (0..5_000).for_each(|n| give.push(n).unwrap());
            Ok(())
        });
        net.rule("double", take.consumes(1), out.produces(1), |n, out| {
            out.push(2 * n[0]);
            Ok(())
        });
        net.process("sum", |_| {
            sum = end.by_ref().sum();
            Ok(())
        });
        net.run().unwrap();
        assert_eq!(sum, 4_999 * 5_000);
    }
}

#[test]
fn a_process_creates_rules_while_the_network_runs() {
    for workers in [1, 2, 5] {
        let pool = anabranch::Pool::new(workers);
        for shared in [false, true] {
            let net = Network::<String>::new();
            let mut net = if shared { net.pool(&pool) } else { net.workers(workers) };
            let (mut give, take) = net.record::<u64>(4);
            let (end, mut ends) = net.record::<u64>(4);
            let mut seen = Vec::new();
            net.process("gives", move |_| {
                (0..300).for_each(|n| give.push(n).unwrap());
                Ok(())
            });
            net.process("builds", move |here| {
                let mut take = take;
                // As many rules as the first item of the stream says.
                let count = take.next().unwrap() + 100;
                let mut take = take.hand_over();
                for _ in 0..count {
                    let (give, next) = here.record::<u64>(2);
                    here.rule("add", take.consumes(1), give.produces(1), |n, out| {
                        out.push(n[0] + 1);
                        Ok(())
                    });
                    take = next;
                }
                here.rule("last", take.consumes(1), end.produces(1), |n, out| {
                    out.push(n[0]);
                    Ok(())
                });
                Ok(())
            });
            net.process("seen", |_| {
                seen.extend(&mut ends);
                Ok(())
            });
            net.run().unwrap();
            assert_eq!(seen, (101..400).collect::<Vec<_>>(), "{workers} workers, a pool: {shared}");
        }
    }
}

#[test]
fn rates_that_a_late_rule_cannot_have_are_told() {
    let mut net = Network::<String>::new();
    let (mut give, take) = net.record::<u64>(4);
    net.process("gives", move |_| {
        let _ = give.push(1);
        Ok(())
    });
    net.process("builds", move |here| {
        here.rule("peeks", take.consumes(1).peeks(5), (), |_, ()| Ok(()));
        Ok(())
    });
    let text = net.run().unwrap_err().to_string();
    assert!(
        text.contains("`peeks`") && text.contains("record 0 of u64") && text.contains("5 or more"),
        "{text}"
    );
}

#[test]
fn a_late_rule_fails_like_any_other() {
    let mut net = Network::<String>::new();
    let (mut give, take) = net.record::<u64>(4);
    net.process("gives", move |_| {
        while give.push(1).is_ok() {}
        Ok(())
    });
    net.process("builds", move |here| {
        let mut left = 10;
        here.rule("picky", take.consumes(1), (), move |_, ()| {
            left -= 1;
            if left == 0 { Err("ten".to_string()) } else { Ok(()) }
        });
        Ok(())
    });
    assert_eq!(net.run().unwrap_err().failure(), Some(("picky", &"ten".to_string())));
}

#[test]
fn items_are_taken_out_of_a_window_or_dropped() {
    let mut net = Network::<String>::new().workers(2);
    let (give, take) = net.record::<String>(4);
    let mut words = "a b c d e f".split(' ');
    let mut taken = Vec::new();
    net.rule("words", (), give.produces(1), move |(), out| {
        let Some(word) = words.next() else { return Ok(Break(())) };
        out.push(word.to_string());
        Ok(Continue(()))
    });
    net.rule("every other", take.consumes(2).peeks(3), (), |words, ()| {
        taken.push(words.pop().unwrap());
        // One more is consumed, the third is only seen.
        assert_eq!(words.len(), 2);
        words.pop().unwrap();
        assert_eq!(words.pop(), None);
        Ok(())
    });
    net.run().unwrap();
    assert_eq!(taken, ["a", "c"]);
}

#[test]
fn ports_come_in_tuples_and_vectors() {
    let mut net = Network::<String>::new().workers(2);
    let (mut inputs, mut outputs): (Vec<Input<u64>>, Vec<Output<u64>>) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        let (give, take) = net.record::<u64>(4);
        outputs.push(give.produces(1));
        inputs.push(take.consumes(1));
    }
    let mut n = 0;
    net.rule("fan out", (), outputs, move |(), outs| {
        n += 1;
        outs.iter_mut().zip(1..).for_each(|(out, k)| out.push(k * n));
        Ok(if n > 10 { Break(()) } else { Continue(()) })
    });
    let (give, take) = net.record::<(u64, bool)>(4);
    let (odd, odd_out) = net.record::<bool>(4);
    net.rule("fan in", inputs, (give.produces(1), odd.produces(1)), |ins, (sums, odds)| {
        let sum: u64 = ins.iter().map(|n| n[0]).sum();
        sums.push((sum, sum % 2 == 1));
        odds.push(sum % 2 == 1);
        Ok(())
    });
    let mut sums = Vec::new();
    net.rule("check", (take.consumes(1), odd_out.consumes(1)), (), |(sum, odd), ()| {
        assert_eq!(sum[0].1, odd[0]);
        sums.push(sum[0].0);
        Ok(())
    });
    net.run().unwrap();
    assert_eq!(sums, (1..=10).map(|n| 15 * n).collect::<Vec<_>>());
}

#[test]
fn a_rule_that_fails_is_named() {
    let mut net = Network::<String>::new().workers(2);
    let (give, take) = net.record::<u64>(4);
    numbers(&mut net, give.produces(1), 100);
    net.rule("picky", take.consumes(1), (), |n, ()| if n[0] == 50 { Err("fifty".into()) } else { Ok(()) });
    assert_eq!(net.run().unwrap_err().failure(), Some(("picky", &"fifty".to_string())));
}

#[test]
fn a_view_inside_of_a_rules_code_must_not_wait() {
    let mut net = Network::<String>::new().workers(1);
    let (give, take) = net.record::<u64>(4);
    let (_other, mut inside) = net.record::<u64>(4);
    numbers(&mut net, give.produces(1), 1);
    net.rule("waits", take.consumes(1), (), move |_, ()| {
        inside.next();
        Ok::<ControlFlow<()>, String>(Continue(()))
    });
    let payload = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| net.run())).unwrap_err();
    assert!(payload.downcast_ref::<String>().unwrap().contains("outside of a process"));
}
