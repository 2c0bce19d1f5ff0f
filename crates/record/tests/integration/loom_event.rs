//! The event count, with every interleaving and every outcome that the memory model allows.
//!
//!     RUSTFLAGS="--cfg loom" cargo test -p anabranch-record --release --test integration loom_
//!
//! A lost wake-up shows as a deadlock. A thread that ends after one item stands for a worker that is busy
//! with this item for ever: the other threads must not need it any more.

use crate::model::check;
use crate::ports::{Hop, Source, open};
use anabranch_record::EventCount;
use anabranch_record::lane::{Cell, Exit, Stamped};
use anabranch_record::mutant::Mutant;
use anabranch_record::sync::{Arc, AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
use loom::thread;

/// Waits until `look` finds something (rule 9).
fn park_until<R>(event: &EventCount, mut look: impl FnMut() -> Option<R>) -> R {
    loop {
        if let Some(found) = look() {
            return found;
        }
        let key = event.prepare();
        if Mutant("no_last_look").is_on() {
            event.wait(key);
        } else if let Some(found) = look() {
            event.leave();
            return found;
        } else {
            event.wait(key);
        }
    }
}

/// A source with a hop after it, and the event on which claiming threads wait.
struct Lane {
    hop: Hop<u64, u64>,
    event: EventCount,
    _out: (Stamped<u64>, Exit),
}

impl Lane {
    fn open(window: usize) -> (Source<u64>, Arc<Self>) {
        let (source, lane, exit) = open(window);
        let (hop, out) = Hop::new(lane);
        (source, Arc::new(Self { hop, event: EventCount::new(), _out: (out, exit) }))
    }

    fn put_and_notify(&self, source: &mut Source<u64>, items: u64) {
        for item in 0..items {
            source.put(Cell::Value(item));
            self.event.notify();
        }
    }

    /// Claims one item, and waits for it. A thread that leaves work behind notifies another (rule 10).
    fn claim_one(&self) -> u64 {
        let mut claim = park_until(&self.event, || self.hop.claim(1));
        if !Mutant("no_notice_of_what_is_left").is_on() && self.hop.ready() > 0 {
            self.event.notify();
        }
        match claim.take() {
            Some(Cell::Value(item)) => {
                claim.put(Cell::Empty);
                item
            }
            other => panic!("one value was claimed, not {other:?}"),
        }
    }
}

#[test]
fn commit_and_notify_against_park() {
    check(4, || {
        let (mut source, lane) = Lane::open(1);
        let other = Arc::clone(&lane);
        let consumer = thread::spawn(move || assert_eq!(other.claim_one(), 0));
        lane.put_and_notify(&mut source, 1);
        consumer.join().unwrap();
    });
}

#[test]
fn notify_against_leaving_the_park_and_parking_again_with_two_items() {
    check(4, || {
        let (mut source, lane) = Lane::open(2);
        let other = Arc::clone(&lane);
        let consumer = thread::spawn(move || assert_eq!([other.claim_one(), other.claim_one()], [0, 1]));
        lane.put_and_notify(&mut source, 2);
        consumer.join().unwrap();
    });
}

#[test]
fn two_items_wake_two_consumers_that_stay_with_their_first() {
    check(3, || {
        let (mut source, lane) = Lane::open(2);
        let consumers = [(); 2].map(|()| {
            let lane = Arc::clone(&lane);
            thread::spawn(move || lane.claim_one())
        });
        lane.put_and_notify(&mut source, 2);
        let sum: u64 = consumers.map(|consumer| consumer.join().unwrap()).iter().sum();
        assert_eq!(sum, 1, "each has had an item of its own");
    });
}

#[test]
fn a_light_notification_against_park() {
    check(4, || {
        let (mut source, lane) = Lane::open(1);
        lane.event.make_light();
        let other = Arc::clone(&lane);
        let consumer = thread::spawn(move || assert_eq!(other.claim_one(), 0));
        lane.put_and_notify(&mut source, 1);
        consumer.join().unwrap();
    });
}

#[test]
fn one_consumer_makes_the_event_light_while_another_parks() {
    check(2, || {
        let (mut source, lane) = Lane::open(2);
        let consumers = [(); 2].map(|()| {
            let lane = Arc::clone(&lane);
            thread::spawn(move || {
                let item = lane.claim_one();
                lane.event.make_light();
                item
            })
        });
        lane.put_and_notify(&mut source, 2);
        let sum: u64 = consumers.map(|consumer| consumer.join().unwrap()).iter().sum();
        assert_eq!(sum, 1, "each has had an item of its own");
    });
}

#[test]
fn a_light_notification_against_one_that_settles() {
    // The thread that settles leaves for good. So either it sees the item, or the notifier learns that it has to wake
    // somebody else.
    check(4, || {
        let shared = Arc::new((EventCount::new(), AtomicU64::new(0)));
        shared.0.make_light();
        let leaves = Arc::clone(&shared);
        let leaver = thread::spawn(move || {
            leaves.0.settle();
            leaves.1.load(Ordering::Acquire) == 1
        });
        shared.1.store(1, Ordering::Release);
        let spared = shared.0.is_light();
        let seen = leaver.join().unwrap();
        assert!(seen || !spared, "the item was told nobody, and was not seen");
    });
}

#[test]
fn two_consumers_share_two_items_and_the_end() {
    // One of them may get both items while the other goes to sleep and wakes. The end wakes it (rule 10).
    check(2, || {
        let (mut source, lane) = Lane::open(2);
        let taken = Arc::new(AtomicU64::new(0));
        let consumers = [(); 2].map(|()| {
            let (lane, taken) = (Arc::clone(&lane), Arc::clone(&taken));
            thread::spawn(move || {
                loop {
                    let claim = park_until(&lane.event, || {
                        let done = taken.load(Ordering::Acquire) == 2;
                        if done { Some(None) } else { lane.hop.claim(1).map(Some) }
                    });
                    let Some(mut claim) = claim else { return };
                    if lane.hop.ready() > 0 {
                        lane.event.notify();
                    }
                    claim.take();
                    claim.put(Cell::Empty);
                    if taken.fetch_add(1, Ordering::AcqRel) == 1 {
                        lane.event.notify_all();
                    }
                }
            })
        });
        lane.put_and_notify(&mut source, 2);
        for consumer in consumers {
            consumer.join().unwrap();
        }
    });
}

#[test]
fn three_threads_on_the_wake_flag() {
    // Two notifiers, and one thread that waits for both. A wake-up that is under way may or may not cover the
    // second notification.
    check(3, || {
        let shared = Arc::new((EventCount::new(), AtomicU64::new(0), AtomicU64::new(0)));
        let first = Arc::clone(&shared);
        let second = Arc::clone(&shared);
        let notifiers = [
            thread::spawn(move || {
                first.1.store(1, Ordering::Release);
                first.0.notify();
            }),
            thread::spawn(move || {
                second.2.store(1, Ordering::Release);
                second.0.notify();
            }),
        ];
        let (event, one, two) = &*shared;
        park_until(event, || (one.load(Ordering::Acquire) + two.load(Ordering::Acquire) == 2).then_some(()));
        for notifier in notifiers {
            notifier.join().unwrap();
        }
    });
}

#[test]
fn the_end_of_a_run_against_two_that_park() {
    check(3, || {
        let shared = Arc::new((EventCount::new(), AtomicBool::new(false)));
        let sleepers = [(); 2].map(|()| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                park_until(&shared.0, || shared.1.load(Ordering::Acquire).then_some(()));
            })
        });
        shared.1.store(true, Ordering::Release);
        shared.0.notify_all();
        for sleeper in sleepers {
            sleeper.join().unwrap();
        }
    });
}

#[test]
fn the_end_of_a_run_against_a_notice_and_one_that_parks() {
    check(3, || {
        let shared = Arc::new((EventCount::new(), AtomicBool::new(false)));
        let (waits, notifies) = (Arc::clone(&shared), Arc::clone(&shared));
        let sleeper = thread::spawn(move || {
            park_until(&waits.0, || waits.1.load(Ordering::Acquire).then_some(()));
        });
        let notifier = thread::spawn(move || notifies.0.notify());
        shared.1.store(true, Ordering::Release);
        shared.0.notify_all();
        sleeper.join().unwrap();
        notifier.join().unwrap();
    });
}

#[test]
fn a_replica_that_is_given_back_against_a_put_and_one_that_parks() {
    // There is one replica. The thread that gives it back is busy for ever, and so is the thread that puts.
    // The third thread was told of the item while the replica was taken, and may be about to sleep again.
    check(3, || {
        let (mut source, lane) = Lane::open(1);
        let replicas = Arc::new(AtomicUsize::new(1));
        let (left, given) = (Arc::clone(&lane), Arc::clone(&replicas));
        let leaver = thread::spawn(move || {
            given.fetch_sub(1, Ordering::SeqCst);
            if !Mutant("no_fence_after_replica").is_on() {
                fence(Ordering::SeqCst);
            }
            if left.hop.ready() > 0 {
                left.event.notify();
            }
        });
        let idle = Arc::clone(&lane);
        let parks = thread::spawn(move || {
            let enter = || idle.hop.ready() > 0 && replicas.load(Ordering::SeqCst) == 0;
            park_until(&idle.event, || enter().then_some(()));
        });
        lane.put_and_notify(&mut source, 1);
        leaver.join().unwrap();
        parks.join().unwrap();
    });
}

/// The items that a thread takes which goes away, and comes back when it is recalled.
#[derive(Default)]
struct Seated {
    event: EventCount,
    posted: AtomicU64,
    taken: AtomicU64,
    is_over: AtomicBool,
    has_left: AtomicBool,
}

impl Seated {
    fn post(&self) {
        self.posted.fetch_add(1, Ordering::Release);
        self.event.notify();
    }

    /// Only one thread at a time is on the slot.
    fn take(&self) -> bool {
        let (taken, posted) = (self.taken.load(Ordering::Relaxed), self.posted.load(Ordering::Acquire));
        self.taken.store(posted, Ordering::Relaxed);
        taken != posted
    }

    fn is_ready(&self) -> bool {
        self.taken.load(Ordering::Relaxed) != self.posted.load(Ordering::Acquire)
    }

    /// Works on the slot until there is nothing to take, and then vacates it. The thread that notifies comes back to it.
    fn visit(this: &Arc<Self>) {
        loop {
            if this.is_over.load(Ordering::Acquire) {
                return this.has_left.store(true, Ordering::Relaxed);
            }
            if this.take() {
                continue;
            }
            let key = this.event.prepare();
            if this.is_ready() || this.is_over.load(Ordering::Acquire) {
                this.event.leave();
                continue;
            }
            let slot = Arc::clone(this);
            let recall = move || {
                slot.event.leave();
                Self::visit(&slot);
            };
            if this.event.vacate(key, Box::new(recall)) {
                return;
            }
        }
    }
}

#[test]
fn two_notifications_against_a_slot_that_is_vacated() {
    check(3, || {
        let seated = Arc::new(Seated::default());
        let other = Arc::clone(&seated);
        let worker = thread::spawn(move || Seated::visit(&other));
        seated.post();
        seated.post();
        worker.join().unwrap();
        assert_eq!(seated.taken.load(Ordering::Relaxed), 2, "an item that nobody takes");
        seated.is_over.store(true, Ordering::Release);
        seated.event.notify_all();
        assert!(seated.has_left.load(Ordering::Relaxed), "a slot to which nobody comes back");
    });
}

#[test]
fn the_end_of_a_run_against_a_slot_that_is_vacated() {
    check(3, || {
        let seated = Arc::new(Seated::default());
        let other = Arc::clone(&seated);
        let worker = thread::spawn(move || Seated::visit(&other));
        seated.is_over.store(true, Ordering::Release);
        seated.event.notify_all();
        worker.join().unwrap();
        assert!(seated.has_left.load(Ordering::Relaxed), "a slot to which nobody comes back");
    });
}
