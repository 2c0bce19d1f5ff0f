//! The one-to-one record as its two sides see it.

use anabranch_network::record::{Closed, TryStallError, one_to_one};
use std::{
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

fn write(writer: &mut anabranch_network::record::Writer<u64>, n: usize) {
    let from = writer.index();
    let mut slots = writer.stall(n).unwrap();
    assert_eq!(slots.fill(from..), n);
    slots.commit();
}

#[test]
fn the_end_is_a_short_count_and_then_zero() {
    let (mut writer, mut reader) = one_to_one(8, 8);
    write(&mut writer, 5);
    drop(writer);
    let mut counts = vec![];
    loop {
        let items = reader.receive(3);
        counts.push(items.len());
        if items.is_empty() {
            break;
        }
        items.release();
    }
    assert_eq!(counts, [3, 2, 0]);
    assert!(reader.receive(3).is_empty(), "the end stays the end");
}

#[test]
fn a_full_record_holds_both_horizons_and_not_one_item_more() {
    let (mut writer, mut reader) = one_to_one(3, 4);
    write(&mut writer, 3);
    write(&mut writer, 3);
    assert_eq!(writer.try_stall(2).unwrap_err(), TryStallError::Full);
    write(&mut writer, 1);
    assert_eq!(writer.try_stall(1).unwrap_err(), TryStallError::Full);
    reader.receive(1).release();
    assert_eq!(writer.try_stall(1).unwrap().len(), 1);
    assert_eq!(reader.ready(), 6);
}

#[test]
fn a_writer_learns_that_the_reader_has_gone() {
    let (mut writer, reader) = one_to_one::<u64>(4, 4);
    write(&mut writer, 4);
    drop(reader);
    assert!(writer.is_closed());
    assert_eq!(writer.stall(1).unwrap_err(), Closed);
    assert_eq!(writer.try_stall(1).unwrap_err(), TryStallError::Closed);
}

/// The other side goes a little later each time: before the wait, while the thread falls asleep, and after.
const ROUNDS: u32 = if cfg!(miri) { 3 } else { 100 };

/// Waits a little longer in each round. Beside a busy program a yield takes milliseconds, so there are few of them.
fn wait_for(round: u32) {
    (0..round * 20).for_each(|_| std::hint::spin_loop());
    (0..round / 10).for_each(|_| thread::yield_now());
}

#[test]
fn a_waiting_writer_is_woken_when_the_reader_goes() {
    for round in 0..ROUNDS {
        let (mut writer, reader) = one_to_one::<u64>(1, 1);
        write(&mut writer, 1);
        write(&mut writer, 1);
        let waits = thread::spawn(move || writer.stall(1).map(|_| ()));
        wait_for(round);
        drop(reader);
        assert_eq!(waits.join().unwrap(), Err(Closed));
    }
}

#[test]
fn a_waiting_reader_is_woken_when_the_writer_goes() {
    for round in 0..ROUNDS {
        let (mut writer, mut reader) = one_to_one::<u64>(2, 2);
        write(&mut writer, 1);
        let waits = thread::spawn(move || reader.receive(2).len());
        wait_for(round);
        drop(writer);
        assert_eq!(waits.join().unwrap(), 1);
    }
}

#[test]
fn committing_or_releasing_a_lower_index_again_does_nothing() {
    let (mut writer, mut reader) = one_to_one(8, 8);
    let mut slots = writer.stall(4).unwrap();
    slots.fill(0..3);
    slots.commit_to(2);
    slots.commit_to(1);
    slots.commit_to(0);
    assert_eq!((slots.index(), slots.len()), (2, 2));
    slots.push(3);
    slots.commit();
    assert_eq!(writer.index(), 4);
    let mut items = reader.receive(4);
    items.release_to(2);
    items.release_to(0);
    assert_eq!((items.index(), items.get(0)), (2, Some(&2)));
    drop(items);
    assert_eq!(reader.receive(2).iter().copied().collect::<Vec<_>>(), [2, 3]);
}

#[test]
#[should_panic(expected = "only those below 1 are written")]
fn an_item_that_was_not_written_cannot_be_committed() {
    let (mut writer, _reader) = one_to_one(8, 8);
    let mut slots = writer.stall(4).unwrap();
    slots.push(1);
    slots.commit_to(2);
}

#[test]
fn windows_of_a_reader_may_overlap() {
    let (mut writer, mut reader) = one_to_one(8, 3);
    write(&mut writer, 6);
    drop(writer);
    let mut sums = vec![];
    loop {
        let mut window = reader.receive(3);
        if window.len() < 3 {
            break;
        }
        sums.push(window.iter().sum::<u64>());
        window.release_to(window.index() + 1);
    }
    assert_eq!(sums, [3, 6, 9, 12]);
}

#[test]
fn a_burst_that_wraps_is_two_slices() {
    let (mut writer, mut reader) = one_to_one(4, 4);
    for lap in 0..10u64 {
        let mut slots = writer.stall(3).unwrap();
        assert_eq!(slots.slices_mut().map(|slice| slice.len()).sum::<usize>(), 3);
        for (item, value) in slots.slices_mut().flatten().zip(lap * 3..) {
            *item = value;
        }
        slots.commit();
        let items = reader.receive(3);
        assert!(items.slices().flatten().copied().eq(lap * 3..lap * 3 + 3));
        items.release();
    }
}

#[test]
fn skipping_to_a_range_that_never_comes_ends() {
    let (mut writer, mut reader) = one_to_one(8, 8);
    write(&mut writer, 5);
    drop(writer);
    assert_eq!(reader.receive_range(4..9).len(), 1);
    assert!(reader.receive_range(100..101).is_empty());
}

#[test]
fn asking_ahead_counts_what_is_committed_and_changes_nothing() {
    let (mut writer, mut reader) = one_to_one(64, 64);
    assert_eq!(reader.ask(8), 0);
    write(&mut writer, 40);
    assert_eq!(reader.ask(8), 8);
    assert_eq!(reader.ask(64), 40);
    assert_eq!(reader.receive(40).len(), 40);
    assert_eq!(reader.ready(), 40);
}

#[test]
fn nothing_to_receive_is_not_the_end() {
    let (mut writer, mut reader) = one_to_one(8, 8);
    assert!(reader.try_receive(1).is_none());
    write(&mut writer, 2);
    assert!(reader.try_receive(3).is_none());
    drop(writer);
    assert_eq!(reader.try_receive(3).map(|items| items.len()), Some(2));
}

#[test]
fn items_cross_threads_whole_and_in_order_whatever_the_bursts() {
    for (write_burst, read_burst, horizons) in
        [(1, 1, (1, 1)), (7, 3, (7, 5)), (64, 64, (64, 64)), (5, 64, (8, 64))]
    {
        let (mut writer, mut reader) = one_to_one::<Box<u64>>(horizons.0, horizons.1);
        let items = 20_000;
        thread::scope(|scope| {
            scope.spawn(move || {
                let mut values = (0..items).map(Box::new);
                loop {
                    let mut slots = writer.stall(write_burst).unwrap();
                    if slots.fill(&mut values) == 0 {
                        break;
                    }
                    slots.commit();
                }
            });
            let mut next = 0;
            loop {
                let mut burst = reader.receive(read_burst);
                if burst.is_empty() {
                    break;
                }
                for item in burst.drain() {
                    assert_eq!(*item, next);
                    next += 1;
                }
            }
            assert_eq!(next, items);
        });
    }
}

/// The notifier becomes light in the fast stretches, and must be heard in the slow ones.
#[test]
fn no_wake_up_is_lost_between_quick_and_slow_stretches() {
    let (mut writer, mut reader) = one_to_one::<u64>(16, 16);
    let (done, finished) = mpsc::channel();
    let start = Instant::now();
    let both = [
        thread::spawn(move || {
            for burst in 0..6_000u64 {
                let mut slots = writer.stall(8).unwrap();
                slots.fill(0..);
                slots.commit();
                if burst % 150 == 0 {
                    thread::sleep(Duration::from_micros(400));
                }
            }
        }),
        thread::spawn(move || {
            let mut bursts = 0;
            loop {
                let items = reader.receive(8);
                if items.is_empty() {
                    break;
                }
                items.release();
                bursts += 1;
                if bursts % 220 == 0 {
                    thread::sleep(Duration::from_micros(400));
                }
            }
            done.send(bursts).unwrap();
        }),
    ];
    assert_eq!(finished.recv_timeout(Duration::from_secs(60)), Ok(6_000), "after {:?}", start.elapsed());
    both.into_iter().for_each(|thread| thread.join().unwrap());
}
