//! A worker pulls batches of calls, hands them to its threads, and sends the outcomes.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use async_nats::Message;
use bytes::Bytes;
use futures_util::future::join_all;

use super::super::outbox::Word;
use super::super::threads::{Finished, Task};
use super::super::work::{ALONE_PATIENCE, ASKS_FOR, Alone, Fetched, Held, PAUSE};
use super::Serving;
use crate::functions::Outcome;
use crate::wire::{
    self, ALONE, Batch, Body, Delivery, Done, Ended, Parts, Times, WORK, message, read, subjects,
};

impl Serving {
    pub(super) fn held_of(&self, run: u64) -> Vec<u64> {
        self.work.held.iter().filter(|(_, held)| held.run == run).map(|(key, _)| *key).collect()
    }

    /// Forgets that a run was asked for an item that runs alone.
    pub(super) fn stop_asking(&mut self, run: u64) {
        if matches!(self.work.alone, Alone::Asked(asked, _) if asked == run) {
            self.work.alone = Alone::No;
        }
    }

    /// Forgets that any run was asked for one, if that was too long ago.
    pub(super) fn stop_asking_late(&mut self, is_lost: bool) {
        if let Alone::Asked(_, asked) = self.work.alone
            && (is_lost || asked.elapsed() > ALONE_PATIENCE)
        {
            self.work.alone = Alone::No;
        }
    }

    /// The batch that runs alone.
    pub(super) fn running_alone(&self) -> Option<u64> {
        match self.work.alone {
            Alone::Running(key) => self.work.held.get(&key).map(|held| held.batch),
            Alone::No | Alone::Asked(..) => None,
        }
    }

    /// Computes no more of batches that were given up.
    pub(super) async fn give_up(&mut self, run: u64, batches: &[u64]) {
        if batches.is_empty() {
            return;
        }
        for key in self.held_of(run) {
            let held = &self.work.held[&key];
            if !batches.contains(&held.batch) {
                continue;
            }
            held.is_given_up.store(true, Relaxed);
            if !held.is_computed_now {
                self.acknowledge(key).await;
            }
        }
    }

    /// Forgets a message. Its results come to nothing.
    pub(super) fn let_go(&mut self, key: u64) -> Option<Delivery> {
        let held = self.work.held.remove(&key)?;
        if let Some(fetch) = &held.fetch {
            fetch.abort();
        }
        self.work.ready.retain(|(ready, _)| *ready != key);
        self.outbox.forget(key);
        Some(held.delivery)
    }

    /// Takes a message out of its queue, and forgets it.
    async fn acknowledge(&mut self, key: u64) {
        if let Some(delivery) = self.let_go(key) {
            // If this is lost, the message is delivered again, and the program says that it is not needed.
            self.line.beat(delivery.reply, "+ACK".into()).await;
        }
    }

    /// Renews the leases.
    pub(super) async fn renew(&self) {
        for held in self.work.held.values() {
            self.line.beat(held.delivery.reply.clone(), "+WPI".into()).await;
        }
    }

    // Work arrives.

    /// How many messages the worker may hold, computed or to be computed.
    pub(super) fn slots(&self) -> usize {
        self.pace.slots(self.threads.count(), self.work.pulls.shortest(), self.outbox.shortest())
    }

    /// Gives tasks to threads that are free, and asks for as many messages as there is room for.
    pub(super) async fn work(&mut self) {
        while self.work.computing < self.threads.count() && !matches!(self.work.alone, Alone::Running(_)) {
            let Some((key, calls)) = self.work.ready.pop_front() else { break };
            if self.work.held[&key].is_alone {
                if self.work.computing > 0 {
                    self.work.ready.push_front((key, calls));
                    break;
                }
                self.work.alone = Alone::Running(key);
            }
            self.compute(key, calls);
        }
        if self.is_leaving || self.work.alone != Alone::No {
            return;
        }
        let dead: Vec<u64> =
            self.runs.served().filter(|(_, it)| it.seems_dead()).map(|(run, _)| run).collect();
        let all = self.work.held.values();
        let open = all.filter(|held| held.is_open && !dead.contains(&held.run)).count();
        let (slots, most) = (self.slots(), self.slots() + self.threads.count());
        let mut held = HashMap::<u64, usize>::new();
        for it in self.work.held.values() {
            *held.entry(it.run).or_default() += 1;
        }
        let now = Instant::now();
        let id = self.id;
        let alone = self.runs.served().find(|(_, served)| served.alone > 0 && !served.seems_dead());
        if let Some((run, queue)) = alone.map(|(run, served)| (run, served.queue.clone())) {
            // The results of the others are at the program first, so that none of them is lost with this worker.
            if held.keys().all(|run| dead.contains(run)) && self.work.computing == 0 {
                let reply = subjects::worker(id, &format!("pull.{run:016x}.{ALONE}"));
                if queue.pull(ALONE, 1, None, reply).await {
                    self.work.alone = Alone::Asked(run, now);
                }
            }
            return;
        }
        for (run, served) in self.runs.served().filter(|(_, served)| !served.seems_dead()) {
            let held = held.get(&run).copied().unwrap_or(0);
            if served.asked_at.elapsed() > ASKS_FOR * 2 {
                served.asked.clear();
            }
            while open + served.asked.len() < slots
                && held + served.asked.len() < most
                && served.paused <= now
            {
                let Some(pass) = self.work.pulls.try_enter(self.work.length as usize) else { return };
                let reply = subjects::worker(id, &format!("pull.{run:016x}.{WORK}"));
                if !served.queue.pull(WORK, 1, Some(ASKS_FOR), reply).await {
                    break;
                }
                served.asked.push_back(pass);
                served.asked_at = now;
            }
        }
    }

    fn compute(&mut self, key: u64, calls: Vec<(u64, Bytes)>) {
        let inline = self.outbox.limit();
        let Some(held) = self.work.held.get_mut(&key) else { return };
        let Some(served) = self.runs.get(held.run) else { return };
        held.waited = held.received.elapsed().saturating_sub(held.fetched);
        held.is_computed_now = true;
        let is_given_up = Arc::clone(&held.is_given_up);
        self.work.computing += 1;
        self.threads.run(Task { delivery: key, coded: served.coded.clone(), calls, inline, is_given_up });
    }

    /// A message from a queue, or the end of a request.
    pub(super) async fn pulled(&mut self, message: Message) {
        let Some(run) = subjects::run_of(&message.subject) else { return };
        let is_alone = subjects::topic(&message.subject) == ALONE;
        let delivery = Delivery::of(&message);
        if is_alone {
            self.stop_asking(run);
        } else if let Some(served) = self.runs.get(run)
            && let Some(pass) = served.asked.pop_front()
            && delivery.is_some()
        {
            pass.arrived_as(message.payload.len());
            self.work.length = 0.8 * self.work.length + 0.2 * message.payload.len() as f64;
        }
        let Some(served) = self.runs.get(run) else { return };
        match (delivery, read::<Batch>(&message.payload)) {
            (Some(delivery), Some(batch)) => self.deliver(run, delivery, batch, is_alone).await,
            (Some(_), None) => {}
            (None, _) if is_alone => served.alone = 0,
            (None, _) => {
                let has_expired =
                    message.status.is_some_and(|status| status == async_nats::StatusCode::TIMEOUT);
                if !has_expired {
                    served.paused = Instant::now() + PAUSE;
                }
            }
        }
        self.work().await;
    }

    async fn deliver(&mut self, run: u64, delivery: Delivery, batch: Batch, is_alone: bool) {
        self.work.next += 1;
        let key = self.work.next;
        let Batch { id, calls } = batch;
        let again = delivery.count > 1;
        let held = Held {
            run,
            batch: id,
            delivery,
            is_alone,
            is_open: !again,
            fetch: None,
            is_computed_now: false,
            is_given_up: Arc::default(),
            received: Instant::now(),
            mark: self.pace.begin(),
            fetched: Duration::ZERO,
            waited: Duration::ZERO,
            unconfirmed: 0,
        };
        self.work.held.insert(key, held);
        if again {
            // Whoever had it was lost. The program decides what becomes of its items.
            self.say(key, Word::Again(id)).await;
            return;
        }
        if is_alone {
            let beat = self.worker_beat(Some(id));
            self.line.beat(subjects::member(run, "worker"), message(&beat)).await;
        }
        let bodies: Vec<_> = calls.into_iter().map(|(id, body)| (id, self.checked(body))).collect();
        let are_here = bodies.iter().all(|(_, body)| !matches!(body, Ok(Body::Shelved { .. })));
        let (client, flow) = (self.line.bodies.clone(), self.work.flow.clone());
        let fetching = async move {
            let fetches = bodies.into_iter().map(|(id, body)| {
                let (client, flow) = (client.clone(), flow.clone());
                async move {
                    let body = match body {
                        Ok(Body::Here(body)) => Ok(body),
                        Ok(Body::Shelved { ticket, length }) => {
                            let subject = subjects::run(run, "part");
                            // A body that is gone is that of a call that was given up.
                            Ok(Parts { client, flow, subject, ticket, length }.fetch().await.ok()?)
                        }
                        Err(ended) => Err(ended),
                    };
                    Some((id, body))
                }
            });
            (key, join_all(fetches).await.into_iter().flatten().collect())
        };
        if are_here {
            // Nothing is waited for.
            let fetched = fetching.await;
            return self.fetched(fetched).await;
        }
        let fetch = self.work.fetches.spawn(fetching);
        if let Some(held) = self.work.held.get_mut(&key) {
            held.fetch = Some(fetch);
        }
    }

    /// A body that is not too large.
    fn checked(&self, body: Body) -> Result<Body, Ended> {
        let (size, limit) = (body.length(), self.options.body_limit);
        if size <= limit { Ok(body) } else { Err(self.too_large(size)) }
    }

    fn too_large(&self, size: u64) -> Ended {
        let side = format!("worker {}", self.options.name);
        Ended::TooLarge { size, limit: self.options.body_limit, side }
    }

    pub(super) async fn fetched(&mut self, fetched: Fetched) {
        let (key, bodies) = fetched;
        let Some(held) = self.work.held.get_mut(&key) else { return };
        held.fetched = held.received.elapsed();
        self.pace.fetched(held.fetched);
        let mut calls = Vec::with_capacity(bodies.len());
        let mut outcomes = Vec::new();
        for (id, body) in bodies {
            match body {
                Ok(body) => calls.push((id, body)),
                Err(ended) => outcomes.push((id, ended)),
            }
        }
        if calls.is_empty() {
            // The items are too large, or their calls have been given up.
            self.report(key, outcomes, Duration::ZERO, true).await;
        } else {
            if !outcomes.is_empty() {
                self.report(key, outcomes, Duration::ZERO, false).await;
            }
            self.work.ready.push_back((key, calls));
        }
        self.work().await;
    }

    // Results leave.

    pub(super) async fn finished(&mut self, finished: Finished) {
        let Finished { delivery: key, outcomes, computed, is_last } = finished;
        if is_last {
            self.work.computing -= 1;
            if self.work.alone == Alone::Running(key) {
                self.work.alone = Alone::No;
            }
            self.pace.computed(computed);
            if let Some(held) = self.work.held.get_mut(&key) {
                held.is_computed_now = false;
            }
        }
        if self.work.held.contains_key(&key) {
            let outcomes = outcomes.into_iter().map(|(id, outcome)| {
                let checked = |code: Bytes, ended: fn(Body) -> Ended| {
                    let size = code.len() as u64;
                    if size > self.options.body_limit {
                        self.too_large(size)
                    } else {
                        ended(Body::Here(code))
                    }
                };
                let ended = match outcome {
                    Outcome::Value(code) => checked(code.into(), Ended::Value),
                    Outcome::Error(code) => checked(code.into(), Ended::Error),
                    Outcome::Panic(text) => checked(text.into(), Ended::Panic),
                    Outcome::Undecodable(text) => Ended::Undecodable(wire::short(
                        &format!("worker {}: {text}", self.options.name),
                        wire::WORDS,
                    )),
                };
                (id, ended)
            });
            let outcomes = outcomes.collect();
            self.report(key, outcomes, computed, is_last).await;
        }
        self.work().await;
    }

    /// Tells the program of outcomes.
    async fn report(&mut self, key: u64, outcomes: Vec<(u64, Ended)>, computed: Duration, is_last: bool) {
        let Some(held) = self.work.held.get_mut(&key) else { return };
        held.is_open &= !is_last;
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let times = Times {
            computed: nanos(computed),
            fetched: nanos(std::mem::take(&mut held.fetched)),
            waited: nanos(std::mem::take(&mut held.waited)),
        };
        let done = Done { worker: self.id, batch: held.batch, outcomes, times };
        self.say(key, Word::Done(done)).await;
    }

    async fn say(&mut self, key: u64, word: Word) {
        let Some(held) = self.work.held.get_mut(&key) else { return };
        held.unconfirmed += 1;
        self.outbox.add(key, held.run, word).await;
    }

    /// The program has confirmed a message.
    pub(super) async fn confirmed(&mut self, number: u64) {
        let Some(key) = self.outbox.confirmed(number).await else { return };
        let Some(held) = self.work.held.get_mut(&key) else { return };
        held.unconfirmed -= 1;
        if held.unconfirmed == 0 && !held.is_open {
            // The worker could have asked for more.
            let is_limited = self.work.ready.is_empty();
            self.pace.end(held.mark, is_limited);
            self.acknowledge(key).await;
            self.work().await;
        }
    }
}
