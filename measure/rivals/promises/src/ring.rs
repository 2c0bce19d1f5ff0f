//! A ring of tokio tasks, each of which takes a token from a channel and puts it into the next one. All tasks run on
//! one thread.
//!
//! The words of a request are `ring TASKS HOPS`. The digest is the number of hops.

use measure_harness::rival::{Answer, number};
use tokio::sync::mpsc::channel;

/// Answers a request.
pub fn answer(words: &[&str]) -> Result<Answer, String> {
    let (tasks, hops) = (number(words, 1)?, number(words, 2)?);
    Ok(Answer::timed(|| ring(tasks, hops)))
}

/// Passes a token round until it has made `hops` hops.
fn ring(tasks: usize, hops: u64) -> u64 {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime without drivers");
    runtime.block_on(async move {
        let (first, mut take) = channel::<u64>(2);
        first.send(0).await.expect("the ring takes it");
        for _ in 1..tasks {
            let (give, next) = channel::<u64>(2);
            tokio::spawn(async move {
                while let Some(n) = take.recv().await {
                    if give.send(n + 1).await.is_err() {
                        break;
                    }
                }
            });
            take = next;
        }
        // The last one counts, as the counter of the ring of rules does.
        let counter = tokio::spawn(async move {
            let mut last = 0;
            while let Some(n) = take.recv().await {
                last = n + 1;
                if last >= hops || first.send(last).await.is_err() {
                    break;
                }
            }
            last
        });
        counter.await.expect("it does not panic").min(hops)
    })
}
