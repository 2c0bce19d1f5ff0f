//! Tasks of rayon.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use signals::exploration::consumed;

use super::Task;

/// Produces a burst while the one before it is consumed, with two buffers that change places.
pub fn join(task: Task) -> u32 {
    let (mut now, mut next) = (vec![0; task.burst], vec![0; task.burst]);
    let mut sum = 0;
    task.store(0, &mut now);
    for burst in 1..task.bursts {
        ((), sum) = rayon::join(|| task.store(burst, &mut next), || consumed(task.work, sum, &now));
        std::mem::swap(&mut now, &mut next);
    }
    consumed(task.work, sum, &now)
}

/// Produces the bursts of a window, and spawns a consumer for each. The scope's end is the end of the window.
pub fn scope(task: Task) -> u32 {
    let mut window = vec![0; task.slots() * task.burst];
    let sum = AtomicU32::new(0);
    let mut burst = 0;
    while burst < task.bursts {
        let count = (task.bursts - burst).min(task.slots() as u64);
        rayon::scope(|scope| {
            for slots in window.chunks_exact_mut(task.burst).take(count as usize) {
                task.store(burst, slots);
                burst += 1;
                let (slots, sum) = (&*slots, &sum);
                scope.spawn(move |_| {
                    sum.fetch_add(consumed(task.work, 0, slots), Relaxed);
                });
            }
        });
    }
    sum.into_inner()
}
