//! Records whose callers arrange the waits, and views that are ended from elsewhere while they are in use.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use anabranch_network::record::{All, Closed, Dealt, Record, Sleep, TryStallError, bounded};

/// A sleeper that a hook wakes.
#[derive(Default)]
struct Nap {
    woken: Mutex<bool>,
    changed: Condvar,
    /// The number of naps after which it gives up.
    patience: Option<usize>,
    naps: AtomicUsize,
}

impl Nap {
    fn wake(&self) {
        *self.woken.lock().unwrap() = true;
        self.changed.notify_all();
    }
}

impl Sleep for Nap {
    fn prepare(&self) {
        *self.woken.lock().unwrap() = false;
    }

    fn cancel(&self) {}

    fn sleep(&self) -> bool {
        if self.patience == Some(self.naps.fetch_add(1, Ordering::Relaxed)) {
            return false;
        }
        let mut woken = self.woken.lock().unwrap();
        while !*woken {
            woken = self.changed.wait(woken).unwrap();
        }
        true
    }
}

/// Sleepers for both sides, and their hooks.
fn naps() -> (Arc<Nap>, Arc<Nap>, impl Fn() + Send + Sync, impl Fn() + Send + Sync) {
    let (items, room) = (Arc::<Nap>::default(), Arc::<Nap>::default());
    let (on_items, on_room) = (Arc::clone(&items), Arc::clone(&room));
    (items, room, move || on_items.wake(), move || on_room.wake())
}

#[test]
fn a_bounded_record_holds_as_many_items_as_its_horizon_and_all_at_once() {
    let (mut writer, mut reader) = bounded::<u32>(3, || (), || ());
    let mut slots = writer.try_stall(3).unwrap();
    slots.fill(0..);
    slots.commit();
    assert!(matches!(writer.try_stall(1), Err(TryStallError::Full)));
    assert_eq!(reader.try_receive(3).unwrap().iter().copied().collect::<Vec<_>>(), [0, 1, 2]);
    reader.try_receive(1).unwrap().release();
    assert!(writer.try_stall(1).is_ok());
    assert!(matches!(writer.try_stall(2), Err(TryStallError::Full)));
    assert_eq!(writer.closer().span_for(2), 4);

    let record = Record::<u32, _, _>::bounded(Dealt::one(), All::of(2), || (), || ());
    let mut writer = record.writer(0, 3).unwrap();
    let _readers = [0, 1].map(|id| record.reader(id, 3).unwrap());
    assert_eq!(record.span(), 3);
    let mut slots = writer.try_stall(3).unwrap();
    slots.fill(0..);
    slots.commit();
    assert!(matches!(writer.try_stall(1), Err(TryStallError::Full)));
}

#[test]
fn views_sleep_as_their_caller_says() {
    let (items, room, on_items, on_room) = naps();
    let (mut writer, mut reader) = bounded::<u64>(2, on_items, on_room);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0..10_000 {
                let mut slots = writer.stall_by(1, &*room).unwrap().unwrap();
                slots.push(n);
                slots.commit();
            }
            drop(writer);
        });
        for n in 0..10_000 {
            assert_eq!(reader.receive_by(1, &*items).unwrap().pop(), Some(n));
        }
        assert!(reader.receive_by(1, &*items).unwrap().is_empty());
    });

    let (items, room, on_items, on_room) = naps();
    let record = Record::<u64, _, _>::bounded(Dealt::one(), Dealt::of(2, 1), on_items, on_room);
    let mut writer = record.writer(0, 2).unwrap();
    let readers = [0, 1].map(|id| record.reader(id, 2).unwrap());
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for n in 0..1_000 {
                let mut slots = writer.stall_by(1, &*room).unwrap().unwrap();
                slots.push(n);
                slots.commit();
            }
        });
        // One thread for both readers: they share the sleeper.
        let [mut even, mut odd] = readers;
        for n in (0..1_000).step_by(2) {
            assert_eq!(even.receive_by(1, &*items).unwrap().pop(), Some(n));
            assert_eq!(odd.receive_by(1, &*items).unwrap().pop(), Some(n + 1));
        }
    });
}

#[test]
fn a_sleeper_that_gives_up_gets_nothing_and_may_come_again() {
    let nap = Nap { patience: Some(0), ..Nap::default() };
    let (mut writer, mut reader) = bounded::<u64>(1, || (), || ());
    assert!(reader.receive_by(1, &nap).is_none());
    let mut slots = writer.try_stall(1).unwrap();
    slots.push(1);
    slots.commit();
    nap.naps.store(0, Ordering::Relaxed);
    assert!(writer.stall_by(1, &nap).is_none());
    assert_eq!(reader.receive_by(1, &nap).unwrap().pop(), Some(1));
}

#[test]
fn closing_a_side_of_a_one_to_one_record_from_elsewhere_tells_the_other() {
    let (mut writer, mut reader) = bounded::<String>(2, || (), || ());
    let mut slots = writer.try_stall(1).unwrap();
    slots.push("left".into());
    slots.commit();
    writer.closer().close();
    assert_eq!(reader.try_receive(2).unwrap().pop().as_deref(), Some("left"));
    assert!(reader.try_receive(1).unwrap().is_empty());
    reader.closer().close();
    assert!(matches!(writer.try_stall(1), Err(TryStallError::Closed)));
}

#[test]
fn a_hook_is_called_once_for_each_announcement() {
    let calls = Arc::new(AtomicUsize::new(0));
    let on_items = Arc::clone(&calls);
    let (mut writer, reader) = bounded::<u8>(8, move || _ = on_items.fetch_add(1, Ordering::Relaxed), || ());
    let mut push = || {
        let mut slots = writer.try_stall(1).unwrap();
        slots.push(0);
        slots.commit();
    };
    push();
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    reader.announce();
    push();
    push();
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    reader.announce();
    push();
    assert_eq!(calls.load(Ordering::Relaxed), 2);
    reader.announce();
    reader.withdraw();
    push();
    assert_eq!(calls.load(Ordering::Relaxed), 2);
    reader.announce();
    drop(writer);
    assert_eq!(calls.load(Ordering::Relaxed), 3);
}

#[test]
fn a_view_that_is_revoked_ends_with_its_burst() {
    let record = Record::<String, _, _>::bounded(Dealt::one(), All::of(2), || (), || ());
    let mut writer = record.writer(0, 2).unwrap();
    let (mut first, mut second) = (record.reader(0, 2).unwrap(), record.reader(1, 2).unwrap());
    let revoker = first.revoker();
    let push = |writer: &mut anabranch_network::record::WriteView<String, Dealt>, item: &str| {
        let mut slots = writer.try_stall(1)?;
        slots.push(item.into());
        slots.commit();
        Ok::<(), TryStallError>(())
    };
    push(&mut writer, "a").unwrap();
    push(&mut writer, "b").unwrap();
    second.try_receive(2).unwrap().release();
    let window = first.try_receive(2).unwrap();
    revoker.revoke();
    // Still there, and so nothing is written over it.
    assert_eq!(window.get(0).map(String::as_str), Some("a"));
    assert_eq!(push(&mut writer, "c"), Err(TryStallError::Full));
    drop(window);
    push(&mut writer, "c").unwrap();
    push(&mut writer, "d").unwrap();
    assert!(first.try_receive(1).unwrap().is_empty());
    assert!(first.receive_range(7..8).is_empty());
    assert_eq!(second.try_receive(2).unwrap().get(1).map(String::as_str), Some("d"));
    drop(first);
    second.revoker().revoke();
    assert_eq!(push(&mut writer, "e"), Err(TryStallError::Closed));
}

#[test]
fn a_view_that_is_revoked_between_bursts_ends_at_once_and_only_once() {
    let record = Record::<u8, _, _>::bounded(Dealt::of(2, 1), Dealt::of(2, 1), || (), || ());
    let mut writers = [0, 1].map(|id| record.writer(id, 1).unwrap());
    let mut readers = [0, 1].map(|id| record.reader(id, 1).unwrap());
    let revoker = readers[0].revoker();
    assert!(readers[0].try_receive(1).is_none());
    revoker.revoke();
    revoker.revoke();
    let revoker = writers[1].revoker();
    revoker.revoke();
    assert!(matches!(writers[1].try_stall(1), Err(TryStallError::Closed)));
    // The stream ends at the revoked writer's first index.
    let mut slots = writers[0].try_stall(1).unwrap();
    slots.push(1);
    slots.commit();
    assert!(readers[1].try_receive(1).unwrap().is_empty());
    // A writer behind the end is told so, instead of waiting for ever.
    let nap = Nap { patience: Some(0), ..Nap::default() };
    assert!(matches!(writers[0].stall_by(1, &nap), Some(Err(Closed))));
    drop(writers);
    drop(readers);
}

#[test]
fn a_burst_that_was_forgotten_keeps_its_slots_until_the_view_is_used_again() {
    let record = Record::<u64, _, _>::bounded(Dealt::one(), All::of(2), || (), || ());
    let mut writer = record.writer(0, 1).unwrap();
    let (mut first, mut second) = (record.reader(0, 1).unwrap(), record.reader(1, 1).unwrap());
    let revoker = first.revoker();
    let mut slots = writer.try_stall(1).unwrap();
    slots.push(1);
    slots.commit();
    second.try_receive(1).unwrap().release();
    std::mem::forget(first.try_receive(1));
    revoker.revoke();
    assert!(matches!(writer.try_stall(1), Err(TryStallError::Full)));
    assert!(first.try_receive(1).unwrap().is_empty());
    assert!(writer.try_stall(1).is_ok());
}

#[test]
fn written_items_are_changed_in_place_until_they_are_committed() {
    let (mut writer, mut reader) = bounded::<String>(4, || (), || ());
    let mut slots = writer.try_stall(3).unwrap();
    slots.push("a".into());
    slots.push("b".into());
    slots.get_mut(0).unwrap().push('!');
    assert_eq!(slots.get_mut(2), None);
    assert_eq!(slots.get_mut(usize::MAX), None);
    slots.commit_to(1);
    slots.get_mut(0).unwrap().push('?');
    slots.commit();
    assert_eq!(reader.try_receive(2).unwrap().drain().collect::<Vec<_>>(), ["a!", "b?"]);
}
