//! Outcomes that have arrived, and the bodies that are fetched for them.

use std::collections::HashMap;

use async_nats::Subject;
use bytes::Bytes;
use futures_util::future::try_join_all;
use tokio::task::{AbortHandle, JoinSet};

use super::order::Answer;
use crate::options::ClusterOptions;
use crate::wire::{Body, Done, Ended, Flow, Line, Parts, Probe, subjects};

/// Outcomes whose bodies are here.
pub(super) struct Landed {
    pub(super) done: Done,
    pub(super) reply: Option<Subject>,
    /// The bodies that were fetched, by the numbers of their calls.
    pub(super) bodies: HashMap<u64, Bytes>,
}

/// The worker of a message, and the number that it has given to the message.
type Number = (u64, u64);

pub(super) struct Landing {
    line: Line,
    flow: Flow,
    fetches: JoinSet<(Option<Number>, Option<Landed>)>,
    fetching: HashMap<Number, AbortHandle>,
}

impl Landing {
    pub(super) fn new(line: Line) -> Self {
        Self { line, flow: Flow::new(), fetches: JoinSet::new(), fetching: HashMap::new() }
    }

    /// Fetches the bodies of outcomes that somebody `awaits`. Returns the outcomes if there is nothing to be fetched.
    pub(super) fn land(
        &mut self,
        done: Done,
        reply: Option<Subject>,
        limit: u64,
        awaits: impl Fn(u64) -> bool,
    ) -> Option<Landed> {
        let shelved = done.outcomes.iter().filter_map(|(id, ended)| match ended.body() {
            Some(&Body::Shelved { ticket, length }) if length <= limit && awaits(*id) => {
                Some((*id, ticket, length))
            }
            _ => None,
        });
        let shelved: Vec<(u64, u64, u64)> = shelved.collect();
        if shelved.is_empty() {
            return Some(Landed { done, reply, bodies: HashMap::new() });
        }
        let number = reply.as_ref().and_then(|reply| subjects::number_of(subjects::topic(reply), "ok-"));
        let number = number.map(|number| (done.worker, number));
        if number.is_some_and(|number| self.fetching.contains_key(&number)) {
            return None;
        }
        let (client, flow) = (self.line.bodies.clone(), self.flow.clone());
        let subject = subjects::worker(done.worker, "part");
        let fetch = self.fetches.spawn(async move {
            let bodies = shelved.into_iter().map(|(id, ticket, length)| {
                let (client, flow, subject) = (client.clone(), flow.clone(), subject.clone());
                async move {
                    let body = Parts { client, flow, subject, ticket, length }.fetch().await?;
                    Ok::<_, crate::wire::Gone>((id, body))
                }
            });
            // The worker sends bodies that it does not have any more again, in another message.
            let bodies = try_join_all(bodies).await.ok();
            let landed = bodies.map(|bodies| Landed { done, reply, bodies: bodies.into_iter().collect() });
            (number, landed)
        });
        if let Some(number) = number {
            self.fetching.insert(number, fetch);
        }
        None
    }

    /// Waits for outcomes whose bodies have been fetched. The wait may be given up.
    pub(super) async fn next(&mut self) -> Landed {
        loop {
            let Some(fetched) = self.fetches.join_next().await else { return std::future::pending().await };
            // Calls that were given up are not in the table.
            let Ok((number, landed)) = fetched else { continue };
            if let Some(number) = number {
                self.fetching.remove(&number);
            }
            if let Some(landed) = landed {
                return landed;
            }
        }
    }

    /// The messages of a probe that are lost.
    pub(super) fn missing(&self, probe: &Probe) -> Vec<u64> {
        let is_lost = |number: &u64| !self.fetching.contains_key(&(probe.worker, *number));
        probe.numbers.iter().copied().filter(is_lost).collect()
    }

    /// Fetches nothing more from a worker.
    pub(super) fn forget(&mut self, worker: u64) {
        for (_, fetch) in self.fetching.extract_if(|(from, _), _| *from == worker) {
            fetch.abort();
        }
    }
}

/// The answer to a call. `fetched` is its body if that was fetched.
pub(super) fn answer(ended: Ended, fetched: Option<Bytes>, options: &ClusterOptions) -> Answer {
    let (kind, body): (fn(Bytes) -> Answer, Body) = match ended {
        Ended::Value(body) => (Answer::Value, body),
        Ended::Error(body) => (Answer::Error, body),
        Ended::Panic(body) => (|text| Answer::Panic(String::from_utf8_lossy(&text).into_owned()), body),
        Ended::Undecodable(text) => return Answer::Undecodable(text),
        Ended::TooLarge { size, limit, side } => return Answer::TooLarge { size, limit, side },
    };
    match (body, fetched) {
        (Body::Here(body), _) | (Body::Shelved { .. }, Some(body)) => kind(body),
        // It was not fetched.
        (Body::Shelved { length, .. }, None) => Answer::TooLarge {
            size: length,
            limit: options.body_limit,
            side: format!("program {}", options.name),
        },
    }
}
