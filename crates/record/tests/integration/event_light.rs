//! A light event count: notifications without a fence, on real threads.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use anabranch_record::EventCount;

/// Two threads, again and again: one publishes and notifies, the other prepares to wait and looks. If neither saw the other,
/// a wake-up would be lost.
#[test]
fn a_light_notification_or_the_last_look_sees_the_other() {
    const ROUNDS: u64 = 5_000;
    let event = EventCount::new();
    let (round, item, done) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 1..=ROUNDS {
                let mut polls = 0;
                while round.load(Ordering::Acquire) < number {
                    polls += 1;
                    if polls < 1_000 { std::hint::spin_loop() } else { thread::yield_now() }
                }
                item.store(number, Ordering::Release);
                event.notify();
                done.store(number, Ordering::Release);
            }
        });
        for number in 1..=ROUNDS {
            event.make_light();
            round.store(number, Ordering::Release);
            // The two threads meet at another moment in each round.
            for _ in 0..number % 64 {
                std::hint::spin_loop();
            }
            let key = event.prepare();
            if item.load(Ordering::Acquire) == number {
                event.leave();
            } else {
                // Sleeps for ever if the notification was spared.
                event.wait(key);
            }
            while done.load(Ordering::Acquire) < number {
                thread::yield_now();
            }
        }
    });
}

#[test]
fn of_several_waiting_threads_each_is_woken_though_the_event_is_light() {
    const ITEMS: u64 = 3_000;
    let event = EventCount::new();
    let (items, taken, over) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
    let take = || items.fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| left.checked_sub(1)).is_ok();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut calm = 0;
                while !over.load(Ordering::Acquire) {
                    if take() {
                        taken.fetch_add(1, Ordering::AcqRel);
                        calm += 1;
                        if calm == 4 {
                            event.make_light();
                        }
                        continue;
                    }
                    calm = 0;
                    let key = event.prepare();
                    if items.load(Ordering::Acquire) > 0 || over.load(Ordering::Acquire) {
                        event.leave();
                    } else {
                        event.wait(key);
                    }
                }
            });
        }
        for number in 0..ITEMS {
            items.fetch_add(1, Ordering::AcqRel);
            event.notify();
            // Until every item was taken nothing more comes, so a lost notification stops everything here.
            while number % 16 == 0 && taken.load(Ordering::Acquire) < number + 1 {
                thread::yield_now();
            }
        }
        while taken.load(Ordering::Acquire) < ITEMS {
            thread::yield_now();
        }
        over.store(true, Ordering::Release);
        event.notify_all();
    });
}
