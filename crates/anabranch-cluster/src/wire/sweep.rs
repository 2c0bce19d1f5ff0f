//! Queues whose programs are dead are deleted by those who live.

use std::collections::HashSet;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::StreamExt;

use super::line::Line;
use super::{Beat, queue, read, subjects};

/// A queue is deleted if its program was not heard of for so long, although it was asked. A program that lives after all makes its queue
/// again.
const ORPHAN: Duration = Duration::from_secs(10);

/// Deletes the queues on the server, of any set of functions, whose programs do not answer.
pub(crate) async fn sweep(line: Line) {
    let mut news = line.news();
    loop {
        news.mark_unchanged();
        let swept = async {
            let Ok(mut beats) = line.beats.subscribe(subjects::beat("*")).await else { return };
            let Ok(queues) = queue::queues(&line).await else { return };
            if queues.is_empty() {
                return;
            }
            let sets: HashSet<&String> = queues.iter().map(|(_, set, _)| set).collect();
            for set in sets {
                let _ = line.beats.publish(subjects::ask(set), Bytes::new()).await;
            }
            let mut alive = HashSet::new();
            let listens = async {
                while let Some(message) = beats.next().await {
                    if let Some(beat) = read::<Beat>(&message.payload) {
                        alive.insert(beat.run);
                    }
                }
            };
            let _ = tokio::time::timeout(ORPHAN, listens).await;
            for (stream, _, run) in &queues {
                if !alive.contains(run) && line.is_connected() {
                    let _ = queue::delete(&line, stream).await;
                }
            }
        };
        tokio::select! {
            () = swept => return,
            // Whoever was away may have missed a beat.
            Ok(()) = news.changed() => {}
        }
    }
}
