//! A ring of tokio tasks, each of which takes a token from a channel and puts it into the next one. All tasks run on
//! one thread.
//!
//! After a line with its name and version, and one with the word `ready`, the program reads requests of five words:
//! a name, a number of tasks, two words that mean nothing here, and a number of hops. It answers each with the
//! seconds that the hops took and the number of hops.

use std::io::BufRead;
use std::time::Instant;

use tokio::sync::mpsc::channel;

fn main() {
    println!("tokio 1");
    println!("ready");
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (Some(Ok(tasks)), Some(Ok(hops))) =
            (words.get(1).map(|word| word.parse()), words.get(4).map(|word| word.parse()))
        else {
            println!("a request has five words");
            continue;
        };
        let began = Instant::now();
        let seen = ring(tasks, hops);
        println!("{} {seen}", began.elapsed().as_secs_f64());
    }
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
