//! A thread for each process, and channels of bursts between them.

use std::thread;

use crossbeam_channel::bounded;

use signals::exploration::consumed;

use super::Task;

/// Sends the bursts as vectors through a bounded channel. They come back through another one to be used again.
pub fn crossbeam(task: Task) -> u32 {
    let (give, take) = bounded::<Vec<u32>>(task.slots());
    let (give_back, take_back) = bounded::<Vec<u32>>(task.slots());
    for _ in 0..task.slots() {
        give_back.send(vec![0; task.burst]).expect("the channel has room for all of them");
    }
    thread::scope(|scope| {
        scope.spawn(move || {
            for burst in 0..task.bursts {
                let Ok(mut slots) = take_back.recv() else { return };
                task.store(burst, &mut slots);
                if give.send(slots).is_err() {
                    return;
                }
            }
        });
        take.iter().fold(0, |sum, slots| {
            let sum = consumed(task.work, sum, &slots);
            // An error means that the producer has ended.
            let _ = give_back.send(slots);
            sum
        })
    })
}
