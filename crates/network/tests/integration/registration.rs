//! Views that register while the network runs: no reader misses an item, ids are handed over, records grow,
//! and no writer waits for an observer.

use anabranch_network::{All, Dealt, Network, RegisterError};

#[test]
fn no_late_reader_loses_an_item() {
    for _ in 0..50 {
        let mut net = Network::<String>::new();
        let registry = net.registry::<u32, _>(4, Dealt::one(), All::of(2));
        let (mut go, mut gone) = net.record::<()>(1);
        let (at_once, late) = (registry.clone(), registry.clone());
        let (mut first, mut second) = (0, 0);
        net.process("writer", move |here| {
            let mut give = here.writer(&registry, 0, 4).unwrap();
            go.push(()).unwrap();
            (0..100).for_each(|n| give.push(n).unwrap());
            Ok(())
        });
        net.process("at once", |here| {
            first = here.reader(&at_once, 0, 4).unwrap().sum();
            Ok(())
        });
        net.process("late", |here| {
            gone.next();
            second = here.reader(&late, 1, 4).unwrap().sum();
            Ok(())
        });
        net.run().unwrap();
        assert_eq!((first, second), (4_950, 4_950));
    }
}

#[test]
fn an_id_is_handed_from_process_to_process() {
    let mut net = Network::<String>::new();
    let registry = net.registry::<u32, _>(2, Dealt::one(), Dealt::one());
    let reads = registry.clone();
    let mut seen = Vec::new();
    let (mut pass, mut passed) = net.record::<u32>(1);
    net.process("first half", move |here| {
        let mut give = here.writer(&registry, 0, 2).unwrap();
        (0..10).for_each(|n| give.push(n).unwrap());
        give.leave();
        here.process("second half", move |here| {
            let mut give = here.writer(&registry, 0, 2).unwrap();
            assert_eq!(give.index(), 10);
            (10..20).for_each(|n| give.push(n).unwrap());
            Ok(())
        });
        Ok(())
    });
    net.process("reads some", |here| {
        let mut take = here.reader(&reads, 0, 2).unwrap();
        for n in take.by_ref().take(7) {
            pass.push(n).unwrap();
        }
        take.leave();
        let mut take = here.reader(&reads, 0, 2).unwrap();
        take.try_for_each(|n| pass.push(n)).map_err(|closed| closed.to_string())
    });
    net.process("seen", |_| {
        seen.extend(&mut passed);
        Ok(())
    });
    net.run().unwrap();
    assert_eq!(seen, (0..20).collect::<Vec<_>>());
}

#[test]
fn ids_are_given_out_once() {
    let mut net = Network::<String>::new();
    let registry = net.registry::<u32, _>(2, Dealt::one(), All::of(1));
    net.process("asks", move |here| {
        let give = here.writer(&registry, 0, 2).unwrap();
        let text = |result: Result<_, RegisterError>| result.map(drop).unwrap_err();
        assert_eq!(text(here.writer(&registry, 0, 2)), RegisterError::Taken { id: 0 });
        assert_eq!(text(here.writer(&registry, 1, 2)), RegisterError::NoSuchId { id: 1, views: 1 });
        drop(give);
        assert_eq!(text(here.writer(&registry, 0, 2)), RegisterError::Ended { id: 0 });
        Ok(())
    });
    net.run().unwrap();
}

#[test]
fn a_wider_view_makes_the_record_grow() {
    let mut net = Network::<String>::new();
    let registry = net.registry::<u32, _>(2, Dealt::one(), All::of(1));
    let reads = registry.clone();
    net.process("writer", move |here| {
        let mut give = here.writer(&registry, 0, 2).unwrap();
        (0..30).for_each(|n| give.push(n).unwrap());
        Ok(())
    });
    net.process("reader", move |here| {
        let mut take = here.reader(&reads, 0, 2).unwrap();
        assert_eq!(take.receive(2).iter().sum::<u32>(), 1);
        take.leave();
        let mut take = here.reader(&reads, 0, 9).unwrap();
        assert_eq!(take.receive(9).iter().sum::<u32>(), 36);
        assert_eq!(reads.span(), 9);
        assert_eq!(take.count(), 30);
        Ok(())
    });
    net.run().unwrap();
}

#[test]
fn ids_that_nobody_takes_end_when_all_stand_still() {
    let mut net = Network::<String>::new();
    let registry = net.registry::<u32, _>(2, Dealt::of(2, 1), All::of(2));
    let reads = registry.clone();
    net.process("one of two writers", |here| {
        let mut give = here.writer(&registry, 0, 2).unwrap();
        let _ = give.push(7);
        Ok(())
    });
    net.process("one of two readers", move |here| {
        let take = here.reader(&reads, 0, 2).unwrap();
        assert_eq!(take.collect::<Vec<_>>(), [7]);
        Ok(())
    });
    net.run().unwrap();
}

#[test]
fn an_observer_holds_nobody_up_and_sees_whole_items_in_order() {
    let mut net = Network::<String>::new();
    let registry = net.registry::<[u64; 4], _>(8, Dealt::one(), All::of(1));
    let (reads, looks) = (registry.clone(), registry.clone());
    net.process("writer", move |here| {
        let mut give = here.writer(&registry, 0, 8).unwrap();
        (0..20_000).for_each(|n| give.push([n; 4]).unwrap());
        Ok(())
    });
    net.process("reader", move |here| {
        let take = here.reader(&reads, 0, 8).unwrap();
        assert_eq!(take.count(), 20_000);
        Ok(())
    });
    net.process("observer", move |_| {
        let mut observer = looks.observer();
        let (mut seen, mut last) = (Vec::new(), 0);
        for _ in 0..1_000 {
            let range = observer.observe(3, &mut seen);
            assert!(range.start >= last && seen.len() <= 3);
            for (index, item) in range.clone().zip(seen.drain(..)) {
                assert_eq!(item, [index; 4]);
            }
            last = range.end;
        }
        Ok(())
    });
    net.run().unwrap();
}
