//! Records with several writers and readers; copies of a process; modes; a sieve that grows as it runs.

use anabranch_network::{All, Dealt, Here, Network, Reader};

#[test]
fn every_reader_of_a_broadcast_sees_every_item() {
    let mut net = Network::<String>::new();
    let (mut give, takes) = net.broadcast::<String>(4, 3);
    let mut seen = vec![Vec::new(); 3];
    net.process("gives", move |_| {
        (0..100).for_each(|n| give.push(n.to_string()).unwrap());
        Ok(())
    });
    for (mut take, seen) in takes.into_iter().zip(&mut seen) {
        net.process("takes", move |_| {
            seen.extend(&mut take);
            Ok(())
        });
    }
    net.run().unwrap();
    let expected: Vec<String> = (0..100).map(|n| n.to_string()).collect();
    assert!(seen.iter().all(|seen| *seen == expected));
}

#[test]
fn a_reader_that_ends_holds_up_no_other() {
    let mut net = Network::<String>::new();
    let (mut give, takes) = net.broadcast::<u32>(4, 3);
    let mut takes = takes.into_iter();
    let (mut one, mut two, mut three) = (takes.next().unwrap(), takes.next().unwrap(), takes.next().unwrap());
    let mut sum = 0;
    net.process("gives", move |_| {
        (0..1_000).for_each(|n| give.push(n).unwrap());
        Ok(())
    });
    net.process("one", move |_| {
        assert_eq!(one.by_ref().take(3).sum::<u32>(), 3);
        Ok(())
    });
    // The process borrows the view, so it is not dropped when the process ends.
    net.process("two", |_| {
        two.next();
        Ok(())
    });
    net.process("three", |_| {
        sum = three.by_ref().sum();
        Ok(())
    });
    net.run().unwrap();
    assert_eq!(sum, 499_500);
}

#[test]
fn copies_of_a_process_share_its_work_and_the_order_stays() {
    for (copies, burst) in [(1, 1), (3, 1), (3, 4), (4, 7)] {
        let mut net = Network::<String>::new();
        let (mut give, takes) = net.deal::<u64>(64, copies, burst);
        let (gives, mut take) = net.merge::<u64>(64, copies, burst);
        let mut seen = Vec::new();
        net.process("gives", move |_| {
            (0..1_000).for_each(|n| give.push(n).unwrap());
            Ok(())
        });
        for (mut take, mut give) in takes.into_iter().zip(gives) {
            net.process("square", move |_| {
                take.try_for_each(|n| give.push(n * n)).map_err(|closed| closed.to_string())
            });
        }
        net.process("seen", |_| {
            seen.extend(&mut take);
            Ok(())
        });
        net.run().unwrap();
        assert_eq!(
            seen,
            (0..1_000).map(|n| n * n).collect::<Vec<u64>>(),
            "{copies} copies, ranges of {burst}"
        );
    }
}

#[test]
fn copies_of_a_rule_do_so_too() {
    for workers in [1, 2, 4] {
        let mut net = Network::<String>::new().workers(workers);
        let (mut give, takes) = net.deal::<u64>(64, 3, 4);
        let (gives, mut take) = net.merge::<u64>(64, 3, 4);
        let mut seen = Vec::new();
        net.process("gives", move |_| {
            (0..1_200).for_each(|n| give.push(n).unwrap());
            Ok(())
        });
        for (take, give) in takes.into_iter().zip(gives) {
            net.rule("square", take.consumes(2), give.produces(2), |n, out| {
                n.iter().for_each(|n| out.push(n * n));
                Ok(())
            });
        }
        net.process("seen", |_| {
            seen.extend(&mut take);
            Ok(())
        });
        net.run().unwrap();
        assert_eq!(seen, (0..1_200).map(|n| n * n).collect::<Vec<u64>>());
    }
}

#[test]
fn many_writers_to_many_readers() {
    let mut net = Network::<String>::new();
    let (gives, takes) = net.shared::<u64, _>(16, Dealt::of(2, 3), All::of(2));
    let mut seen = [Vec::new(), Vec::new()];
    for (at, mut give) in (0..).zip(gives) {
        net.process("gives", move |_| {
            (0..300).for_each(|_| give.push(10 * give.index() + at).unwrap());
            Ok(())
        });
    }
    for (mut take, seen) in takes.into_iter().zip(&mut seen) {
        net.process("takes", move |_| {
            seen.extend(&mut take);
            Ok(())
        });
    }
    net.run().unwrap();
    let expected: Vec<u64> = (0..600).map(|n| 10 * n + n / 3 % 2).collect();
    assert_eq!(seen[0], expected);
    assert_eq!(seen[1], expected);
}

#[test]
fn a_writer_behind_the_end_of_a_merge_is_told() {
    let mut net = Network::<String>::new();
    let (gives, mut take) = net.merge::<u64>(8, 2, 1);
    let mut gives = gives.into_iter();
    let (mut short, mut long) = (gives.next().unwrap(), gives.next().unwrap());
    let mut seen = 0;
    net.process("short", move |_| {
        (0..3).for_each(|n| short.push(n).unwrap());
        Ok(())
    });
    net.process("long", move |_| {
        while long.push(1).is_ok() {}
        Ok(())
    });
    net.process("seen", |_| {
        seen = take.by_ref().count();
        Ok(())
    });
    net.run().unwrap();
    // 0, 1, 0, 1, 0, 1: the seventh is the short one's.
    assert_eq!(seen, 6);
}

#[test]
fn a_window_reads_ranges_and_plain_memory() {
    let mut net = Network::<String>::new();
    let (mut give, mut take) = net.record::<u32>(16);
    net.process("gives", move |_| {
        for burst in 0..10u32 {
            let mut slots = give.stall(10).map_err(|closed| closed.to_string())?;
            slots.with_slices(|at, slice| {
                slice.iter_mut().enumerate().for_each(|(i, item)| *item = 10 * burst + (at + i) as u32);
            });
            slots.commit();
        }
        Ok(())
    });
    net.process("every seventh", move |_| {
        for index in (0..100).step_by(7) {
            let window = take.receive_range(index..index + 2);
            let mut items = Vec::new();
            window.with_slices(|_, slice| items.extend_from_slice(slice));
            assert_eq!(items[0], index as u32);
            if let Some(&second) = items.get(1) {
                assert_eq!(second, index as u32 + 1);
            }
            window.release();
        }
        Ok(())
    });
    net.run().unwrap();
}

#[test]
fn slots_are_written_again_before_they_are_committed() {
    let mut net = Network::<String>::new();
    let (mut give, mut take) = net.record::<String>(8);
    net.process("gives", move |_| {
        let mut slots = give.stall(3).unwrap();
        assert_eq!(slots.fill(["a", "b", "c"].map(String::from)), 3);
        slots.get_mut(1).unwrap().push('!');
        slots.commit_to(1);
        assert_eq!(slots.get_mut(0).unwrap(), "b!");
        assert_eq!(slots.get_mut(2), None);
        slots.commit();
        Ok(())
    });
    net.process("takes", move |_| {
        assert_eq!(take.by_ref().collect::<Vec<_>>(), ["a", "b!", "c"]);
        Ok(())
    });
    net.run().unwrap();
}

#[test]
fn modes_change_with_the_input() {
    // As in 802.11a: a header says how many symbols follow and how many bits each of them has.
    let packets: Vec<(u64, u64)> = (0..200).map(|n| (n % 7, 1 + n % 4)).collect();
    let mut sums: Vec<u64> = Vec::new();
    let mut net = Network::<String>::new();
    let (mut give, mut take) = net.record::<u64>(9);
    let (mut bits, mut end) = net.record::<u64>(3);
    let expected: Vec<u64> = packets.iter().map(|(symbols, width)| symbols * width).collect();
    net.process("packets", move |_| {
        for (symbols, width) in packets {
            give.push(symbols).unwrap();
            give.push(width).unwrap();
            (0..symbols).for_each(|_| give.push((1 << width) - 1).unwrap());
        }
        Ok(())
    });
    net.process("demodulate", move |_| {
        while let (Some(symbols), Some(width)) = (take.next(), take.next()) {
            bits.push(symbols * width).unwrap();
            for _ in 0..symbols {
                let symbol = take.next().unwrap();
                (0..width).for_each(|bit| bits.push(symbol >> bit & 1).unwrap());
            }
        }
        Ok(())
    });
    net.process("sum", |_| {
        while let Some(count) = end.next() {
            sums.push(end.by_ref().take(count as usize).sum());
        }
        Ok(())
    });
    net.run().unwrap();
    assert_eq!(sums, expected);
}

/// Reads a prime, writes it, and puts a filter behind itself.
fn sift<'env>(
    here: &Here<'_, 'env, String>,
    mut take: Reader<u64>,
    primes: &'env std::sync::Mutex<Vec<u64>>,
) -> Result<(), String> {
    let Some(prime) = take.next() else { return Ok(()) };
    primes.lock().unwrap().push(prime);
    let (mut give, next) = here.record::<u64>(4);
    here.process("sift", move |here| sift(here, next, primes));
    for n in take {
        if n % prime != 0 && give.push(n).is_err() {
            break;
        }
    }
    Ok(())
}

#[test]
fn a_sieve_grows_as_it_runs() {
    let primes = std::sync::Mutex::new(Vec::new());
    let mut net = Network::new();
    let (mut give, take) = net.record::<u64>(4);
    net.process("numbers", move |_| {
        for n in 2..200 {
            if give.push(n).is_err() {
                break;
            }
        }
        Ok(())
    });
    net.process("sift", |here| sift(here, take, &primes));
    net.run().unwrap();
    let primes = primes.into_inner().unwrap();
    assert_eq!(primes.len(), 46);
    assert_eq!(primes[45], 199);
}
