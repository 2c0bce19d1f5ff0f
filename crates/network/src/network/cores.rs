//! Measures what the cores of this machine take to hand something to each other, for the placement of rules.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use crate::plan::Cores;

use anabranch::host::Processors;

/// How many times a cache line goes to the other core and back in a measurement.
const TRIPS: u64 = 1_000;
/// The number of measurements, of which the shortest counts.
const ROUNDS: usize = 5;
/// How many looks a thread takes before it lets others run: the other core may be busy with another program.
const LOOKS: u32 = 1 << 12;

/// Measures what each two of the processors that the program may use take to hand a cache line over. For each two of them, the
/// line goes there and back some 5,000 times, between two threads. If threads cannot be told where to run, as on systems other
/// than Linux and in some sandboxes, the result has no cores.
///
/// ```no_run
/// use anabranch_network::measured_cores;
/// use anabranch_network::plan::{Flow, ItemType, Machine, Node, Passes, Plan};
///
/// let mut plan = Plan::network(2);
/// let source = plan.rule(Node::rule("source").cost(4_000));
/// let sink = plan.rule(Node::rule("sink").cost(6_000));
/// plan.record(source, sink, ItemType::of::<f32>(), Flow::of(1, 1));
/// let cores = measured_cores();
/// println!("{}", Passes::all().explain_on(&plan, &Machine::new(cores.count().max(1)), &cores));
/// ```
pub fn measured_cores() -> Cores {
    let processors = Processors::of_this_thread();
    let count = processors.count();
    let can_pin =
        || thread::scope(|scope| scope.spawn(|| (0..count).all(|number| processors.pin(number))).join());
    let count = if matches!(can_pin(), Ok(true)) { count } else { 0 };
    Cores::new(count, |a, b| (0..ROUNDS).map(|_| hand_over(&processors, a, b)).fold(f64::INFINITY, f64::min))
}

/// The time in which a cache line goes from one processor to another, in nanoseconds.
fn hand_over(processors: &Processors, a: usize, b: usize) -> f64 {
    let turn = AtomicU64::new(0);
    // One thread takes the turns with even numbers.
    let play = |processor: usize, mine: u64| {
        processors.pin(processor);
        let mut began = Instant::now();
        for trip in 0..=TRIPS {
            if trip == 1 {
                began = Instant::now(); // both threads run now
            }
            let mut looks = 0;
            while turn.load(Ordering::Acquire) != 2 * trip + mine {
                looks += 1;
                if looks % LOOKS == 0 {
                    thread::yield_now();
                }
                std::hint::spin_loop();
            }
            turn.store(2 * trip + mine + 1, Ordering::Release);
        }
        began.elapsed().as_secs_f64() * 1e9 / (2 * TRIPS) as f64
    };
    // Not on the calling thread, which stays where it may run. The second thread is started before the first waits for it.
    let both = || {
        thread::scope(|scope| {
            let other = scope.spawn(|| play(b, 1));
            let time = play(a, 0);
            other.join().expect("it does not panic");
            time
        })
    };
    thread::scope(|scope| scope.spawn(both).join().expect("it does not panic"))
}
