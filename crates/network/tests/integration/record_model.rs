//! Random operations on a record and on a plain model of it give the same results.

use anabranch_network::record::{All, Dealt, ReadView, Record, TryStallError, WriteView, one_to_one};
use proptest::prelude::*;
use std::collections::VecDeque;

#[derive(Debug, Clone)]
enum Operation {
    /// Stall this many slots, write this many of them, and commit this many of those.
    Write {
        view: usize,
        stall: usize,
        write: usize,
        commit: usize,
    },
    /// Receive this many items, and release this many of them.
    Read {
        view: usize,
        receive: usize,
        release: usize,
    },
    /// Hand the reader's place over to a successor whose horizon is larger by this much.
    Succeed {
        view: usize,
        wider: usize,
    },
    DropWriter,
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let operation = prop_oneof![
        10 => (0..3usize, 1..=4usize, 0..=4usize, 0..=4usize)
            .prop_map(|(view, stall, write, commit)| Operation::Write { view, stall, write, commit }),
        10 => (0..3usize, 1..=4usize, 0..=4usize)
            .prop_map(|(view, receive, release)| Operation::Read { view, receive, release }),
        2 => (0..3usize, 0..=2usize).prop_map(|(view, wider)| Operation::Succeed { view, wider }),
        1 => Just(Operation::DropWriter),
    ];
    prop::collection::vec(operation, 0..120)
}

proptest! {
    #[test]
    fn one_to_one_is_a_bounded_queue(operations in operations(), horizons in (4..7usize, 4..7usize)) {
        let (writer, mut reader) = one_to_one::<Box<u64>>(horizons.0, horizons.1);
        let (mut writer, bound) = (Some(writer), horizons.0 + horizons.1);
        let (mut queue, mut next) = (VecDeque::new(), 0);
        for operation in operations {
            match operation {
                Operation::Write { stall, write, commit, .. } => {
                    let Some(writer) = &mut writer else { continue };
                    match writer.try_stall(stall) {
                        Ok(mut slots) => {
                            prop_assert!(queue.len() + stall <= bound);
                            let index = slots.index();
                            let written = slots.fill((next..).map(Box::new).take(write));
                            prop_assert_eq!(written, write.min(stall));
                            let commit = commit.min(written) as u64;
                            slots.commit_to(index + commit);
                            drop(slots);
                            queue.extend(next..next + commit);
                            next += commit;
                        }
                        Err(error) => {
                            prop_assert_eq!(error, TryStallError::Full);
                            prop_assert!(queue.len() + stall > bound);
                        }
                    }
                }
                Operation::Read { receive, release, .. } => match reader.try_receive(receive) {
                    Some(mut items) => {
                        prop_assert!(items.len() == receive || writer.is_none());
                        prop_assert_eq!(items.len(), receive.min(queue.len()));
                        prop_assert!(items.iter().map(|item| **item).eq(queue.iter().copied().take(receive)));
                        for _ in 0..release.min(items.len()) {
                            prop_assert_eq!(items.pop().map(|item| *item), queue.pop_front());
                        }
                    }
                    None => prop_assert!(writer.is_some() && queue.len() < receive),
                },
                Operation::Succeed { .. } => prop_assert_eq!(reader.ready(), queue.len()),
                Operation::DropWriter => writer = None,
            }
        }
    }

    /// Two dealt writers and two readers that see all items, with hand-over and growth, compared with the
    /// whole sequence and with each view's index.
    #[test]
    fn many_views_are_indices_into_one_sequence(operations in operations(), burst in 1..4usize) {
        let record = Record::<Box<u64>, _, _>::new(Dealt::of(2, burst), All::of(2));
        let mut writers: [WriteView<_, _>; 2] = [0, 1].map(|id| record.writer(id, 4).unwrap());
        let mut readers: [ReadView<_, _>; 2] = [0, 1].map(|id| record.reader(id, 4).unwrap());
        // The next index of each writer and reader. `dealt` says which indices a writer owns.
        let dealt = |seat: usize, index: u64| (index..).find(|index| *index as usize / burst % 2 == seat).unwrap();
        let (mut commits, mut releases) = ([dealt(0, 0), dealt(1, 0)], [0u64; 2]);
        let mut widest = 4;
        for operation in operations {
            let committed = commits[0].min(commits[1]);
            match operation {
                Operation::Write { view, stall, write, commit } => {
                    let seat = view % 2;
                    let from = commits[seat];
                    let run = (from / burst as u64 + 1) * burst as u64;
                    let end = run.min(from + stall as u64);
                    match writers[seat].try_stall(stall) {
                        Ok(mut slots) => {
                            let floor = committed.min(releases[0]).min(releases[1]);
                            prop_assert!(end <= floor + widest + 4, "past the horizon");
                            prop_assert_eq!((slots.index(), slots.len() as u64), (from, end - from));
                            let written = slots.fill((from..).map(Box::new).take(write)) as u64;
                            let commit = from + written.min(commit as u64);
                            slots.commit_to(commit);
                            commits[seat] = dealt(seat, commit);
                        }
                        Err(error) => {
                            prop_assert_eq!(error, TryStallError::Full);
                            let floor = committed.min(releases[0]).min(releases[1]);
                            prop_assert!(end > floor + widest + 4, "there was room");
                        }
                    }
                }
                Operation::Read { view, receive, release } => {
                    let seat = view % 2;
                    let from = releases[seat];
                    match readers[seat].try_receive(receive) {
                        Some(mut items) => {
                            prop_assert!(items.iter().map(|item| **item).eq(from..from + receive as u64));
                            prop_assert!(
                                items.slices().flatten().map(|item| **item).eq(from..from + receive as u64)
                            );
                            releases[seat] = from + receive.min(release) as u64;
                            items.release_to(releases[seat]);
                        }
                        None => prop_assert!(committed < from + receive as u64),
                    }
                }
                Operation::Succeed { view, wider } => {
                    let seat = view % 2;
                    let [first, second] = readers;
                    let (leaver, other) = if seat == 0 { (first, second) } else { (second, first) };
                    let horizon = leaver.horizon() + wider;
                    widest = widest.max(horizon as u64);
                    leaver.leave();
                    let successor = record.reader(seat, horizon).unwrap();
                    prop_assert_eq!(successor.index(), releases[seat]);
                    readers = if seat == 0 { [successor, other] } else { [other, successor] };
                    prop_assert_eq!(record.span() as u64, widest + 4);
                }
                Operation::DropWriter => {}
            }
        }
    }
}
