//! Records with threads: every item arrives once and in order, for all forms, bursts and ends.

use anabranch_network::record::{Dealt, Owning, ReadDeal, Record, Tickets, WriteDeal};
use std::thread;

const ITEMS: u64 = 12_000;

/// The writers write each index into its slot until `ITEMS` is passed. Returns what each reader saw.
fn run<W: WriteDeal, R: ReadDeal<Box<u64>> + Owning>(
    record: Record<Box<u64>, W, R>,
    views: (usize, usize),
    bursts: (usize, usize),
) -> Vec<Vec<u64>> {
    thread::scope(|scope| {
        for id in 0..views.0 {
            let mut writer = record.writer(id, bursts.0).unwrap();
            scope.spawn(move || {
                // Another writer may have ended the stream already, and the readers are gone.
                while let Ok(mut slots) = writer.stall(bursts.0) {
                    if slots.index() >= ITEMS {
                        break;
                    }
                    slots.fill((slots.index()..).map(Box::new));
                    slots.commit();
                }
            });
        }
        let readers: Vec<_> = (0..views.1).map(|id| record.reader(id, bursts.1).unwrap()).collect();
        let readers: Vec<_> = readers
            .into_iter()
            .map(|mut reader| {
                scope.spawn(move || {
                    let mut seen = vec![];
                    loop {
                        let mut items = reader.receive(bursts.1);
                        if items.is_empty() {
                            return seen;
                        }
                        seen.extend(items.drain().map(|item| *item));
                    }
                })
            })
            .collect();
        readers.into_iter().map(|reader| reader.join().unwrap()).collect()
    })
}

#[track_caller]
fn every_index_once(seen: &[Vec<u64>]) {
    assert!(seen.iter().all(|seen| seen.is_sorted()), "each reader sees indices rise");
    let mut all: Vec<u64> = seen.iter().flatten().copied().collect();
    all.sort_unstable();
    assert!(all.len() as u64 >= ITEMS, "only {} items", all.len());
    assert!(all.iter().copied().zip(0..).all(|(item, index)| item == index), "every index once");
}

const BURSTS: [(usize, usize); 4] = [(1, 1), (3, 2), (2, 5), (16, 16)];

#[test]
fn dealt_writers_and_dealt_readers() {
    for bursts in BURSTS {
        let seen = run(Record::new(Dealt::of(3, 4), Dealt::of(2, 3)), (3, 2), bursts);
        every_index_once(&seen);
        for (seat, seen) in seen.iter().enumerate() {
            assert!(seen.iter().all(|index| index / 3 % 2 == seat as u64));
        }
    }
}

#[test]
fn ticket_writers_and_ticket_readers() {
    for bursts in BURSTS {
        every_index_once(&run(Record::new(Tickets::of(3), Tickets::of(2)), (3, 2), bursts));
    }
}

#[test]
fn ticket_writers_and_dealt_readers() {
    for bursts in BURSTS {
        every_index_once(&run(Record::new(Tickets::of(2), Dealt::of(3, 2)), (2, 3), bursts));
    }
}

#[test]
fn dealt_writers_and_ticket_readers() {
    for bursts in BURSTS {
        every_index_once(&run(Record::new(Dealt::of(2, 1), Tickets::of(3)), (2, 3), bursts));
    }
}

/// Views leave and are succeeded at any time, sometimes by a wider one.
#[test]
fn broadcast_with_hand_over_and_growth_loses_nothing() {
    let record = Record::<Box<u64>>::broadcast(2);
    thread::scope(|scope| {
        let mut writer = record.writer(0, 1).unwrap();
        let readers = [0, 1].map(|id| {
            let mut reader = record.reader(id, 1).unwrap();
            let record = record.clone();
            scope.spawn(move || {
                let mut next = 0;
                for round in 0.. {
                    let items = reader.receive(reader.horizon().min(round % 7 + 1));
                    if items.is_empty() {
                        break;
                    }
                    for item in items.iter() {
                        assert_eq!(**item, next);
                        next += 1;
                    }
                    items.release();
                    if round % 97 == 0 {
                        let horizon = reader.horizon();
                        reader.leave();
                        reader = record.reader(id, horizon + round % 2).unwrap();
                    }
                }
                next
            })
        });
        let record = record.clone();
        for round in 0.. {
            let mut slots = writer.stall(writer.horizon().min(round % 5 + 1)).unwrap();
            if slots.index() >= ITEMS {
                break;
            }
            slots.fill((slots.index()..).map(Box::new));
            slots.commit();
            if round % 101 == 0 {
                let horizon = writer.horizon();
                writer.leave();
                writer = record.writer(0, horizon + round % 2).unwrap();
            }
        }
        let written = writer.index();
        drop(writer);
        assert_eq!(readers.map(|reader| reader.join().unwrap()), [written; 2]);
    });
}

/// Views with tickets end at odd moments with claims in hand, and other views take these over.
#[test]
fn tickets_survive_views_that_end_early() {
    for seed in 0..20 {
        let record = Record::<Box<u64>, _, _>::new(Tickets::of(3), Tickets::of(3));
        let writers: Vec<_> = (0..3).map(|id| record.writer(id, 4).unwrap()).collect();
        let readers: Vec<_> = (0..3).map(|id| record.reader(id, 4).unwrap()).collect();
        let mut seen: Vec<u64> = thread::scope(|scope| {
            for (id, mut writer) in writers.into_iter().enumerate() {
                scope.spawn(move || {
                    for round in 0.. {
                        let mut slots = writer.stall(4).unwrap();
                        let from = slots.index();
                        if id > 0 && round == 20 * id + seed {
                            slots.push(Box::new(from));
                            slots.push(Box::new(from + 1));
                            slots.commit_to(from + 1);
                            break; // three claimed slots stay behind, one of them written
                        }
                        if from >= 1000 {
                            break;
                        }
                        slots.fill((from..).map(Box::new));
                        slots.commit();
                    }
                });
            }
            let readers: Vec<_> = readers
                .into_iter()
                .enumerate()
                .map(|(id, mut reader)| {
                    scope.spawn(move || {
                        let mut seen = vec![];
                        for round in 0.. {
                            let mut items = reader.receive(4);
                            if items.is_empty() {
                                break;
                            }
                            if id > 0 && round == 15 * id + seed {
                                seen.extend(items.pop().map(|item| *item));
                                break; // the others are left to another reader
                            }
                            seen.extend(items.drain().map(|item| *item));
                        }
                        seen
                    })
                })
                .collect();
            readers.into_iter().flat_map(|reader| reader.join().unwrap()).collect()
        });
        seen.sort_unstable();
        assert!(seen.len() >= 1000, "only {}", seen.len());
        assert!(seen.iter().copied().zip(0..).all(|(item, index)| item == index), "every index once");
    }
}
