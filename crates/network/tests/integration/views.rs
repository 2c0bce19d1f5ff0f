//! The end of views, and the processes to which they belong.

use anabranch_network::Network;

#[test]
fn a_borrowed_view_closes_with_its_process() {
    let mut net = Network::<String>::new();
    let (mut give, mut take) = net.record::<u32>(4);
    let mut seen = Vec::new();
    net.process("gives", |_| {
        (0..3).for_each(|n| give.push(n).unwrap());
        Ok(())
    });
    net.process("takes", |_| {
        seen.extend(&mut take);
        Ok(())
    });
    net.run().unwrap();
    assert_eq!(seen, [0, 1, 2]);
    assert!(give.push(9).is_err(), "it stays closed after the run");
    assert_eq!(take.next(), None);
}

#[test]
fn a_writer_learns_that_its_borrowed_reader_has_closed() {
    let mut net = Network::<String>::new();
    let (mut give, mut take) = net.record::<u32>(4);
    let mut pushed = 0;
    net.process("gives", |_| {
        while give.push(0).is_ok() {
            pushed += 1;
        }
        Ok(())
    });
    net.process("takes", |_| {
        take.by_ref().take(10).count();
        Ok(())
    });
    net.run().unwrap();
    assert!((10..=14).contains(&pushed), "{pushed}");
}

#[test]
fn views_that_nobody_has_used_close_when_all_stand_still() {
    let mut net = Network::<String>::new();
    let (_give, mut take) = net.record::<u32>(4);
    let (mut give, _take) = net.record::<u32>(4);
    let (mut lazy, mut waits) = net.record::<u32>(4);
    net.process("reads", |_| {
        assert_eq!(take.next(), None);
        Ok(())
    });
    net.process("writes", |_| {
        (0..4).for_each(|n| give.push(n).unwrap());
        assert!(give.push(4).is_err());
        Ok(())
    });
    net.process("does not use what it borrows", |_| {
        if false {
            lazy.push(1).unwrap();
        }
        Ok(())
    });
    net.process("waits for that one", |_| {
        assert_eq!(waits.next(), None);
        Ok(())
    });
    net.run().unwrap();
}

#[test]
fn a_process_that_keeps_a_view_to_itself_is_told_as_a_deadlock() {
    let mut net = Network::<String>::new();
    let (give, mut take) = net.record::<u32>(4);
    let (mut back, mut early) = net.record::<u32>(4);
    net.process("keeps", move |_| {
        let _give = give;
        early.next();
        Ok(())
    });
    net.process("waits", move |_| {
        take.next();
        let _ = back.push(1);
        Ok(())
    });
    let error = net.run().unwrap_err();
    assert!(error.is_deadlock());
    let text = error.to_string();
    assert!(text.contains("\"keeps\"") && text.contains("\"waits\"") && text.contains("record 0"), "{text}");
}

#[test]
fn dropping_a_view_in_the_middle_of_a_process_closes_it() {
    let mut net = Network::<String>::new();
    let (mut give, mut take) = net.record::<u32>(4);
    let (mut ack, mut acked) = net.record::<u32>(4);
    net.process("gives", move |_| {
        give.push(1).unwrap();
        drop(give);
        assert_eq!(acked.next(), Some(1));
        Ok(())
    });
    net.process("takes", move |_| {
        let count = take.by_ref().count() as u32;
        ack.push(count).unwrap();
        Ok(())
    });
    net.run().unwrap();
}

#[test]
fn a_view_that_is_handed_over_outlives_the_process_that_used_it_first() {
    for _ in 0..100 {
        let mut net = Network::<String>::new();
        let (mut give, mut take) = net.record::<u32>(2);
        let (mut out, mut end) = net.record::<u32>(2);
        let mut seen = Vec::new();
        net.process("gives", move |_| {
            (0..20).for_each(|n| give.push(n).unwrap());
            Ok(())
        });
        net.process("parent", move |here| {
            out.push(take.next().unwrap()).unwrap();
            let (mut take, mut out) = (take.hand_over(), out.hand_over());
            here.process("child", move |_| {
                take.try_for_each(|n| out.push(n)).map_err(|closed| closed.to_string())
            });
            Ok(())
        });
        net.process("end", |_| {
            seen.extend(&mut end);
            Ok(())
        });
        net.run().unwrap();
        assert_eq!(seen, (0..20).collect::<Vec<_>>());
    }
}

#[test]
fn a_view_that_is_forgotten_or_leaked_hangs_nobody() {
    let mut net = Network::<String>::new();
    let (mut give, mut take) = net.record::<u32>(2);
    let (unused, mut other) = net.record::<u32>(2);
    net.process("forgets", move |_| {
        give.push(1).unwrap();
        std::mem::forget(give);
        std::mem::forget(unused);
        Ok(())
    });
    net.process("takes", move |_| {
        assert_eq!(take.by_ref().count(), 1);
        assert_eq!(other.next(), None);
        Ok(())
    });
    net.run().unwrap();
}

#[test]
fn a_window_that_is_leaked_stays_valid() {
    let mut net = Network::<String>::new();
    let (mut give, mut takes) = net.broadcast::<u64>(2, 2);
    let (first, second) = takes.split_at_mut(1);
    let mut leaked: Option<&u64> = None;
    net.process("gives", move |_| {
        for n in 7..100 {
            if give.push(n).is_err() {
                break;
            }
        }
        Ok(())
    });
    let reader: &mut [_] = first;
    net.process("leaks", |_| {
        let window = Box::leak(Box::new(reader[0].receive(1)));
        leaked = window.get(0);
        Ok(())
    });
    net.process("takes", move |_| {
        while second[0].next().is_some() {}
        Ok(())
    });
    // The window holds its slot for ever: the writer waits for it, which is told, and the slot is not reused.
    assert!(net.run().unwrap_err().is_deadlock());
    assert_eq!(leaked, Some(&7));
}
