//! A deadlock of a network is reported at once, with the processes and what they wait for. If records may
//! grow, the network goes on.

use anabranch_network::{Error, Horizon, Network};

fn deadlock(result: Result<(), Error<String>>) -> anabranch_network::Deadlock {
    let error = result.unwrap_err();
    assert!(error.is_deadlock(), "{error}");
    assert_eq!(error.failure(), None);
    error.deadlock().unwrap().clone()
}

/// Writes `ahead` items of one record before the first of another, which its reader wants first.
fn crossed<'env>(horizon: impl Into<Horizon>, ahead: u32, sum: &'env mut u32) -> Network<'env, String> {
    let mut net = Network::new();
    let (mut early, mut early_out) = net.record::<u32>(horizon);
    let (mut late, mut late_out) = net.record::<u32>(2);
    net.process("left", move |_| {
        for n in 0..ahead {
            if early.push(n).is_err() {
                return Ok(());
            }
        }
        let _ = late.push(100);
        Ok(())
    });
    net.process("right", move |_| {
        let Some(first) = late_out.next() else { return Ok(()) };
        *sum += first + early_out.by_ref().sum::<u32>();
        Ok(())
    });
    net
}

#[test]
fn a_horizon_that_is_too_small_is_named_with_one_that_would_do() {
    let mut sum = 0;
    let deadlock = deadlock(crossed(3, 5, &mut sum).run());
    assert!(deadlock.is_artificial());
    let waits = deadlock.waits();
    assert_eq!(waits[0].process(), "left");
    assert!(waits[0].is_for_room());
    assert_eq!((waits[0].horizon(), waits[0].asks()), (3, 4));
    assert_eq!((waits[1].process(), waits[1].is_for_room()), ("right", false));
    let text = deadlock.to_string();
    for part in ["\"left\"", "\"right\"", "record 0 of u32", "horizon of 4"] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(sum, 0);
}

#[test]
fn what_is_asked_for_is_enough_in_the_end() {
    let mut horizon = 1;
    loop {
        let mut sum = 0;
        match crossed(horizon, 9, &mut sum).run() {
            Ok(()) => {
                assert_eq!((sum, horizon), (136, 9));
                break;
            }
            Err(error) => {
                let deadlock = error.deadlock().unwrap();
                let asks = deadlock.waits().iter().find(|wait| wait.is_for_room()).unwrap().asks();
                assert!(asks > horizon, "{error}");
                horizon = asks;
            }
        }
    }
}

#[test]
fn a_record_that_may_grow_does() {
    for (least, most) in [(1, 5), (2, 100), (4, 5)] {
        let mut sum = 0;
        crossed(Horizon::of(least).grow_to(most), 5, &mut sum).run().unwrap();
        assert_eq!(sum, 110, "{least} to {most}");
    }
    let mut sum = 0;
    let deadlock = deadlock(crossed(Horizon::of(1).grow_to(4).named("early"), 5, &mut sum).run());
    assert_eq!((deadlock.waits()[0].horizon(), deadlock.waits()[0].asks()), (4, 5));
    assert!(deadlock.to_string().contains("record \"early\" of u32"), "{deadlock}");
}

#[test]
fn only_the_records_that_must_grow_do() {
    let mut net = Network::<String>::new();
    let (mut wide, mut wide_out) = net.record::<u32>(Horizon::of(2).grow_to(1 << 20));
    let (mut give, mut take) = net.record::<u32>(Horizon::of(2).grow_to(1 << 20));
    let (mut go, mut gone) = net.record::<u32>(1);
    let (mut horizons, mut sum) = ((0, 0), 0);
    net.process("writer", |_| {
        (0..100).for_each(|n| wide.push(n).unwrap());
        go.push(1).unwrap();
        (0..1_000).for_each(|n| give.push(n).unwrap());
        horizons = (wide.horizon(), give.horizon());
        Ok(())
    });
    net.process("reader", move |_| {
        gone.next().unwrap();
        sum += take.by_ref().chain(&mut wide_out).sum::<u32>();
        assert_eq!(sum, 499_500 + 4_950);
        Ok(())
    });
    net.run().unwrap();
    assert!((100..=256).contains(&horizons.0), "{horizons:?}");
    assert_eq!(horizons.1, 2);
}

#[test]
fn a_circle_that_waits_for_items_is_told_with_a_drawing() {
    let mut net = Network::new();
    let (mut give, mut take) = net.record::<u8>(4);
    let (mut back, mut early) = net.record::<u8>(4);
    net.process("first", move |_| {
        let n = early.next().ok_or("nothing came")?;
        give.push(n).map_err(|_| "nobody reads")?;
        Ok(())
    });
    net.process("second", move |_| {
        let n = take.next().ok_or("nothing came")?;
        back.push(n).map_err(|_| "nobody reads")?;
        Ok(())
    });
    net.process("alone", |_| Ok(()));
    let deadlock = deadlock(net.run().map_err(|error: Error<String>| error));
    assert!(!deadlock.is_artificial());
    let text = deadlock.to_string();
    assert!(text.contains("\"first\" waits for an item of record 1 of u8"), "{text}");
    assert!(text.contains("\"second\" waits for an item of record 0 of u8"), "{text}");
    assert!(!text.contains("alone"), "{text}");
}

#[test]
fn a_circle_of_processes_that_have_used_their_views_is_shown_as_one() {
    let mut net = Network::<String>::new();
    let (mut a, mut b_in) = net.record::<u8>(4);
    let (mut b, mut c_in) = net.record::<u8>(4);
    let (mut c, mut a_in) = net.record_with::<u8>(4, [0]);
    // Each passes one item on, then wants two.
    for (name, take, give) in [("a", &mut a_in, &mut a), ("b", &mut b_in, &mut b), ("c", &mut c_in, &mut c)] {
        net.process(name, move |_| {
            let n = take.next().unwrap();
            give.push(n).unwrap();
            let window = take.receive(2);
            assert!(window.len() < 2);
            Ok(())
        });
    }
    let deadlock = deadlock(net.run());
    assert_eq!(deadlock.cycle().len(), 3);
    let text = deadlock.to_string();
    assert!(text.contains("\"a\" waits for 2 items of record 2 of u8, which is written by \"c\""), "{text}");
    let dot = deadlock.dot();
    assert!(dot.starts_with("digraph deadlock {") && dot.ends_with("}\n"), "{dot}");
    for edge in ["p0 -> p2", "p1 -> p0", "p2 -> p1"] {
        assert!(dot.contains(edge), "{dot}");
    }
    assert_eq!(dot.matches("color=red").count(), 3, "{dot}");
    let svg = deadlock.svg();
    let picture = roxmltree::Document::parse(&svg).unwrap();
    let texts: Vec<&str> = picture
        .descendants()
        .filter(|node| node.has_tag_name("text"))
        .filter_map(|node| node.text())
        .collect();
    for text in ["a", "b", "c", "2 items of record 2 of u8"] {
        assert!(texts.contains(&text), "{text}: {texts:?}");
    }
    assert_eq!(svg.matches("<polygon").count(), 3, "three arrows: {svg}");
}

#[test]
fn panics_that_follow_from_a_deadlock_do_not_hide_it() {
    let mut net = Network::new();
    let (mut give, mut take) = net.record::<u8>(4);
    let (mut back, mut early) = net.record::<u8>(4);
    net.process("first", move |_| {
        give.push(early.next().unwrap()).unwrap();
        Ok(())
    });
    net.process("second", move |_| {
        back.push(take.next().unwrap()).unwrap();
        Ok(())
    });
    deadlock(net.run());
}

#[test]
fn one_part_of_a_network_that_stands_still_waits_for_the_others() {
    let mut net = Network::<String>::new();
    let (mut give, mut take) = net.record::<u64>(1);
    let (mut back, mut early) = net.record::<u64>(1);
    net.process("stuck", move |_| {
        let _ = early.next().map(|n| give.push(n));
        Ok(())
    });
    net.process("stuck, too", move |_| {
        let _ = take.next().map(|n| back.push(n));
        Ok(())
    });
    let (mut numbers, mut rest) = net.record::<u64>(2);
    let mut sum = 0;
    net.process("numbers", move |_| {
        (0..10_000).for_each(|n| numbers.push(n).unwrap());
        Ok(())
    });
    net.process("sum", |_| {
        sum = rest.by_ref().sum();
        Ok(())
    });
    deadlock(net.run());
    assert_eq!(sum, 49_995_000);
}

#[test]
fn rules_that_stand_still_are_named_too() {
    let mut net = Network::<String>::new().workers(2);
    let (give, take) = net.record::<u8>(4);
    let (back, early) = net.record::<u8>(4);
    net.rule("forth", early.consumes(1), give.produces(1), |n, out| {
        out.push(n[0]);
        Ok(())
    });
    net.rule("back", take.consumes(1), back.produces(1), |n, out| {
        out.push(n[0]);
        Ok(())
    });
    let deadlock = deadlock(net.run());
    assert_eq!(deadlock.cycle().len(), 2);
    assert!(!deadlock.is_artificial());

    // A window of 3 and a burst of 3 do not fit into 4.
    let mut net = Network::<String>::new().workers(2);
    let (mut give, take) = net.record::<u8>(4);
    net.process("bursts", move |_| {
        while let Ok(mut slots) = give.stall(3) {
            slots.fill([1, 2, 3]);
            slots.commit();
        }
        Ok(())
    });
    let (out, end) = net.record::<u8>(4);
    net.rule("four", take.consumes(4), out.produces(1), |n, out| {
        out.push(n.iter().sum());
        Ok(())
    });
    net.rule("end", end.consumes(1), (), |_, ()| Ok(()));
    let text = deadlock_text(net);
    assert!(text.contains("\"four\" waits for 4 items"), "{text}");
    assert!(text.contains("it asks for 6"), "{text}");
}

fn deadlock_text(net: Network<'_, String>) -> String {
    deadlock(net.run()).to_string()
}

/// Nobody has written anything, so no writer has been used when the network stands still.
#[test]
fn a_ring_that_never_began_is_shown_as_a_cycle() {
    let mut net = Network::<String>::new();
    let (first, mut take) = net.record::<u32>(2);
    let mut first = Some(first);
    for n in 0..5 {
        let (give, next) = net.record::<u32>(2);
        let mut give = if n == 4 { first.take().unwrap() } else { give };
        let mut from = std::mem::replace(&mut take, next);
        net.process(&format!("stage {n}"), move |_| {
            for item in from.by_ref() {
                if give.push(item).is_err() {
                    break;
                }
            }
            Ok(())
        });
    }
    drop(take);
    let deadlock = deadlock(net.run());
    assert!(!deadlock.is_artificial());
    assert_eq!(deadlock.cycle().len(), 5, "{deadlock}");
    let text = deadlock.to_string();
    assert!(
        text.contains("\"stage 1\" waits for an item of record 1 of u32, which is written by \"stage 0\""),
        "{text}"
    );
    assert!(!text.contains("nobody"), "{text}");
    assert!(!deadlock.dot().contains("nobody") && !deadlock.svg().contains("nobody"));
}
