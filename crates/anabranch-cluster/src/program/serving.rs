//! The task of a run: it puts batches of calls into the queue, and takes outcomes.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_nats::{Client, Message, Subject, Subscriber};
use bytes::Bytes;
use futures_util::stream::{self, StreamExt};
use serde::de::DeserializeOwned;
use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use super::member::{Change, Members};
use super::stats::{Landed, Stats, processor};
use super::{Answer, NewCall, Order};
use crate::cluster::Link;
use crate::error::Error;
use crate::functions::{Functions, Identity, decode, message};
use crate::options::{ClusterOptions, Event};
use crate::wire::{self, Batch, Beat, Body, Done, Ended, Join, PartRequest, Parts, Queue, Shelf, Terms};
use crate::wire::{ALONE, WORK, WorkerBeat, inline_limit, subjects};

/// A batch is so large that its items are computed for about this time.
const BATCH_TIME: Duration = Duration::from_millis(2);

/// The most calls of a batch.
const MOST_CALLS: usize = 1024;

/// How many large results are fetched at once.
const FETCHES: usize = 4;

/// So many batches for each that the workers may hold are sent ahead, so that a worker that asks need not wait for the program.
const AHEAD: usize = 2;

/// How long a stored message is waited for before it is sent again.
const STORED_PATIENCE: Duration = Duration::from_secs(2);

/// A call without an outcome.
struct Call {
    /// Its body is on the shelf.
    length: usize,
    body: Bytes,
    made: Instant,
    answer: oneshot::Sender<Answer>,
    /// How many workers were lost with it.
    deaths: u32,
}

/// A batch in the queue, or at a worker.
struct Sent {
    calls: Vec<u64>,
    is_alone: bool,
    sent: Instant,
    /// Its number in the stream, once it is stored.
    sequence: Option<u64>,
    /// When a worker last said that it runs it alone.
    taken: Option<Instant>,
    // What the worker has told of it, in nanoseconds.
    computed: u64,
    waited: u64,
    fetched: u64,
}

/// Outcomes whose bodies have been fetched.
struct Fetched {
    done: Done,
    reply: Option<Subject>,
    /// `None` if a body is missing.
    answers: Option<Vec<(u64, Answer)>>,
}

pub(super) struct Serving {
    run: u64,
    function: String,
    identity: Identity,
    options: ClusterOptions,
    client: Client,
    connections: watch::Receiver<u64>,
    queue: Queue,
    needs_repair: bool,
    calls: HashMap<u64, Call>,
    /// Calls that are not in a batch, in their order.
    waiting: VecDeque<u64>,
    batches: HashMap<u64, Sent>,
    shelf: Shelf,
    members: Members,
    /// What a worker with other functions was told last.
    refused: Option<String>,
    /// Since when calls wait although there is no worker, and whether this was told.
    lonely: Option<(Instant, Instant)>,
    /// The mean time that an item is computed, in nanoseconds.
    cost: Option<f64>,
    /// The least time that a batch was outside of program and worker. A longer one has waited in the queue of the server.
    least: Duration,
    next: u64,
    fetches: JoinSet<Fetched>,
    fetching: HashSet<String>,
    permits: Arc<Semaphore>,
    stats: Arc<Mutex<Stats>>,
    /// When the last outcome came, or the queue was looked at.
    progress: Instant,
    /// How long the thread had had the processor when the run began.
    began: Duration,
}

impl Serving {
    pub(super) fn new(link: &Link, functions: &Functions, name: &str, stats: Arc<Mutex<Stats>>) -> Self {
        let run = wire::random();
        let identity = functions.identity();
        Self {
            run,
            function: name.to_owned(),
            options: link.options.clone(),
            client: link.client.clone(),
            connections: link.connections.clone(),
            queue: Queue::new(link.client.clone(), &identity.name, run, 0),
            identity,
            needs_repair: false,
            calls: HashMap::new(),
            waiting: VecDeque::new(),
            batches: HashMap::new(),
            shelf: Shelf::default(),
            members: Members::default(),
            refused: None,
            lonely: None,
            cost: None,
            least: Duration::MAX,
            next: 0,
            fetches: JoinSet::new(),
            fetching: HashSet::new(),
            permits: Arc::new(Semaphore::new(FETCHES)),
            stats,
            progress: Instant::now(),
            began: Duration::ZERO,
        }
    }

    /// Makes the queue.
    pub(super) async fn open(self) -> Result<Self, Error> {
        self.queue.make(self.options.lease).await.map_err(Error::Queue)?;
        Ok(self)
    }

    /// Serves calls until the run is dropped.
    pub(super) async fn serve(mut self, mut orders: mpsc::UnboundedReceiver<Order>) {
        let Ok(mut inbox) = self.subscribe().await else { return };
        self.began = processor();
        let mut connections = self.connections.clone();
        let mut tick = tokio::time::interval(self.options.lease / 4);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                order = orders.recv() => {
                    let Some(order) = order else { break };
                    let mut any_given_up = self.accept(order);
                    while let Ok(order) = orders.try_recv() {
                        any_given_up |= self.accept(order);
                    }
                    if any_given_up {
                        self.drop_closed().await;
                    }
                    self.send().await;
                }
                Some(message) = inbox.next() => self.take(message).await,
                Some(fetched) = self.fetches.join_next() => {
                    if let Ok(fetched) = fetched {
                        self.fetched(fetched).await;
                    }
                }
                Ok(()) = connections.changed() => {
                    self.needs_repair = true;
                    self.repair().await;
                }
                _ = tick.tick() => self.tick().await,
            }
        }
        self.fetches.abort_all();
        self.beat(true).await;
        self.queue.delete().await;
    }

    async fn subscribe(
        &self,
    ) -> Result<impl futures_util::Stream<Item = Message> + use<>, async_nats::SubscribeError> {
        let to_run = self.client.subscribe(subjects::run(self.run, "*")).await?;
        let asks: Subscriber = self.client.subscribe(subjects::ask(&self.identity.name)).await?;
        Ok(stream::select(to_run, asks))
    }

    /// Returns whether a call was given up.
    fn accept(&mut self, order: Order) -> bool {
        let Order::Call(NewCall { body, made, answer }) = order else { return true };
        let id = self.number();
        self.calls.insert(id, Call { length: body.len(), body, made, answer, deaths: 0 });
        self.waiting.push_back(id);
        false
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Puts as many batches into the queue as the workers may soon ask for.
    async fn send(&mut self) {
        let most = (self.members.slots() * AHEAD).saturating_sub(self.batches.len());
        for left in (1..=most).rev() {
            let calls = self.gather(self.waiting.len().div_ceil(left));
            if calls.is_empty() {
                return;
            }
            self.put(calls, false).await;
        }
    }

    /// Takes at most `share` calls that wait, and no more than a batch may have.
    fn gather(&mut self, share: usize) -> Vec<u64> {
        let by_cost = self.cost.map_or(1.0, |cost| BATCH_TIME.as_nanos() as f64 / cost.max(1.0));
        let most = share.min(by_cost as usize).clamp(1, MOST_CALLS);
        let limit = inline_limit(&self.client);
        let mut bytes = 0;
        let mut calls = Vec::new();
        while calls.len() < most
            && let Some(&id) = self.waiting.front()
        {
            let Some(call) = self.calls.get(&id).filter(|call| !call.answer.is_closed()) else {
                self.calls.remove(&id);
                self.waiting.pop_front();
                continue;
            };
            bytes += call.length;
            if bytes > limit && !calls.is_empty() {
                break;
            }
            calls.push(id);
            self.waiting.pop_front();
        }
        calls
    }

    /// Puts a batch into the queue.
    async fn put(&mut self, calls: Vec<u64>, is_alone: bool) {
        let id = self.number();
        let now = Instant::now();
        let sent = Sent {
            calls,
            is_alone,
            sent: now,
            sequence: None,
            taken: None,
            computed: 0,
            waited: 0,
            fetched: 0,
        };
        self.batches.insert(id, sent);
        self.store(id).await;
    }

    /// Sends a batch to the server.
    async fn store(&mut self, id: u64) {
        let Some(batch) = self.batches.get_mut(&id) else { return };
        batch.sent = Instant::now();
        batch.sequence = None;
        let limit = inline_limit(&self.client);
        let mut calls = Vec::with_capacity(batch.calls.len());
        for &id in &batch.calls {
            let Some(call) = self.calls.get(&id) else { continue };
            let body = if call.length > limit {
                self.shelf.put(id, call.body.clone());
                Body::Shelved { ticket: id, length: call.length as u64 }
            } else {
                Body::Here(call.body.clone())
            };
            calls.push((id, body));
        }
        let kind = if batch.is_alone { ALONE } else { WORK };
        let reply = subjects::run(self.run, &format!("stored-{id:x}"));
        self.queue.put(kind, message(&Batch { id, calls }), reply).await;
    }

    async fn take(&mut self, message: Message) {
        let topic = subjects::topic(&message.subject).to_owned();
        match topic.as_str() {
            "ask" => self.beat(false).await,
            "join" => self.join(message).await,
            "worker" => {
                if let Some(beat) = read::<WorkerBeat>(&message) {
                    self.heard(beat);
                    self.send().await;
                }
            }
            "part" => {
                let part = read::<PartRequest>(&message).map(|request| self.shelf.part(&request));
                self.reply(message.reply, part.unwrap_or_default()).await;
            }
            "again" => {
                if let Some(batch) = read::<u64>(&message) {
                    self.again(batch).await;
                    self.reply(message.reply, Bytes::new()).await;
                }
            }
            "done" => {
                if let Some(done) = read::<Done>(&message) {
                    self.done(done, message.reply).await;
                }
            }
            _ => {
                if let Some(id) = topic.strip_prefix("stored-") {
                    self.stored(id, &message.payload);
                }
            }
        }
    }

    /// The server has stored a batch, or could not.
    fn stored(&mut self, id: &str, answer: &[u8]) {
        let batch = u64::from_str_radix(id, 16).ok().and_then(|id| self.batches.get_mut(&id));
        let sequence =
            serde_json::from_slice::<serde_json::Value>(answer).ok().and_then(|it| it["seq"].as_u64());
        match (batch, sequence) {
            (Some(batch), Some(sequence)) => batch.sequence = Some(sequence),
            // No stream has the subject: the server says at once that nobody listens.
            (Some(_), None) => self.needs_repair = true,
            (None, _) => {}
        }
    }

    async fn join(&mut self, message: Message) {
        let Some(Join { worker, identity }) = read::<Join>(&message) else { return };
        let answer = if identity == self.identity {
            self.refused = None;
            self.heard(worker);
            Ok(Terms {
                function: self.function.clone(),
                times_made: self.queue.times_made(),
                lease: self.options.lease,
            })
        } else {
            let (program, name) = (&self.options.name, &worker.name);
            let text = format!("worker {name} has {identity}, and program {program} has {}", self.identity);
            if self.refused.as_ref() != Some(&text) {
                self.options.events.tell(&Event::Refused(text.clone()));
            }
            self.refused = Some(text.clone());
            Err(text)
        };
        self.reply(message.reply, crate::functions::message(&answer)).await;
        self.send().await;
    }

    fn heard(&mut self, beat: WorkerBeat) {
        if let Some(batch) = beat.alone.and_then(|batch| self.batches.get_mut(&batch)) {
            batch.taken = Some(Instant::now());
        }
        lock(&self.stats).worker(beat.id, &beat.name, beat.threads);
        match self.members.heard(beat) {
            Change::Nothing => {}
            Change::Joined(name) => self.options.events.tell(&Event::Joined { name }),
            Change::Left(name) => self.options.events.tell(&Event::Left { name }),
        }
    }

    /// A batch was delivered once more: the worker that had it was lost.
    async fn again(&mut self, batch: u64) {
        let Some(batch) = self.batches.remove(&batch) else { return };
        for id in batch.calls {
            let Some(call) = self.calls.get_mut(&id) else { continue };
            call.deaths += 1;
            if call.deaths >= self.options.attempts {
                let workers = call.deaths;
                self.answer(id, Answer::Lost { workers });
            } else {
                // From now on no other item is in the same worker while it runs.
                self.put(vec![id], true).await;
            }
        }
        self.beat(false).await;
        self.send().await;
    }

    async fn done(&mut self, done: Done, reply: Option<Subject>) {
        self.progress = Instant::now();
        let mut shelved = Vec::new();
        for (id, ended) in &done.outcomes {
            if let Ended::Value(body) | Ended::Error(body) = ended
                && let Body::Shelved { ticket, length } = body
                && *length <= self.options.body_limit
                && self.calls.contains_key(id)
            {
                shelved.push((*id, *ticket, *length));
            }
        }
        if shelved.is_empty() {
            let answers = Some(Vec::new());
            return self.fetched(Fetched { done, reply, answers }).await;
        }
        // The worker sends it again until it is confirmed.
        if let Some(reply) = &reply
            && !self.fetching.insert(reply.to_string())
        {
            return;
        }
        let (client, permits) = (self.client.clone(), Arc::clone(&self.permits));
        let subject = subjects::worker(done.worker, "part");
        self.fetches.spawn(async move {
            let _permit = permits.acquire_owned().await;
            let mut bodies = Vec::new();
            for (id, ticket, length) in shelved {
                let parts = Parts { client: client.clone(), subject: subject.clone(), ticket, length };
                match parts.fetch().await {
                    Ok(body) => bodies.push((id, body)),
                    Err(_) => return Fetched { done, reply, answers: None },
                }
            }
            let mut bodies: HashMap<u64, Bytes> = bodies.into_iter().collect();
            let answers = done.outcomes.iter().filter_map(|(id, ended)| {
                let body = bodies.remove(id)?;
                Some((
                    *id,
                    if matches!(ended, Ended::Value(_)) { Answer::Value(body) } else { Answer::Error(body) },
                ))
            });
            let answers = Some(answers.collect());
            Fetched { done, reply, answers }
        });
    }

    /// Gives the outcomes to the callers, and confirms them.
    async fn fetched(&mut self, fetched: Fetched) {
        let Fetched { done, reply, answers } = fetched;
        if let Some(reply) = &reply {
            self.fetching.remove(reply.as_str());
        }
        let Some(answers) = answers else { return };
        let mut answers: HashMap<u64, Answer> = answers.into_iter().collect();
        let Done { worker, batch: id, is_last, outcomes, times } = done;
        let mut sent = None;
        if let Some(batch) = self.batches.get_mut(&id) {
            batch.computed += times.computed;
            batch.waited = batch.waited.max(times.waited);
            batch.fetched = batch.fetched.max(times.fetched);
            let fetched = Duration::from_nanos(batch.fetched);
            let inside = Duration::from_nanos(batch.computed + batch.waited) + fetched;
            let outside = batch.sent.elapsed().saturating_sub(inside);
            self.least = self.least.min(outside);
            let queued = outside - self.least + Duration::from_nanos(batch.waited);
            sent = Some((batch.sent, queued, self.least + fetched));
        }
        let mut landed = Landed::new(&times);
        let count = outcomes.len().max(1) as f64;
        for (id, ended) in outcomes {
            let Some(call) = self.calls.get(&id) else { continue };
            if let Some((sent, queued, transport)) = sent {
                landed.add(sent.saturating_duration_since(call.made) + queued, transport);
            }
            let answer = answers.remove(&id).unwrap_or_else(|| self.answer_of(ended));
            self.answer(id, answer);
        }
        lock(&self.stats).landed(worker, &landed, processor().saturating_sub(self.began));
        let cost = times.computed as f64 / count;
        self.cost = Some(self.cost.map_or(cost, |mean| 0.8 * mean + 0.2 * cost));
        if is_last {
            self.batches.remove(&id);
        }
        self.reply(reply, Bytes::new()).await;
        self.send().await;
    }

    /// The answer to an outcome whose body is in the message, or too large.
    fn answer_of(&self, ended: Ended) -> Answer {
        match ended {
            Ended::Value(Body::Here(body)) => Answer::Value(body),
            Ended::Error(Body::Here(body)) => Answer::Error(body),
            Ended::Value(body) | Ended::Error(body) => Answer::TooLarge {
                size: body.length(),
                limit: self.options.body_limit,
                side: format!("program {}", self.options.name),
            },
            Ended::Panic(text) => Answer::Panic(text),
            Ended::Undecodable(text) => Answer::Undecodable(text),
            Ended::TooLarge { size, limit, side } => Answer::TooLarge { size, limit, side },
        }
    }

    fn answer(&mut self, id: u64, answer: Answer) {
        self.shelf.remove(id);
        if let Some(call) = self.calls.remove(&id) {
            // Nobody waits for it if the stream has ended.
            let _ = call.answer.send(answer);
        }
    }

    async fn tick(&mut self) {
        self.beat(false).await;
        for name in self.members.forget_silent(self.options.lease * 2) {
            self.options.events.tell(&Event::Left { name });
        }
        self.say_lonely();
        let unstored = |batch: &Sent| batch.sequence.is_none() && batch.sent.elapsed() > STORED_PATIENCE;
        let stands_still = !self.batches.is_empty() && self.progress.elapsed() > self.options.lease * 2;
        if self.needs_repair || stands_still || self.batches.values().any(unstored) {
            self.repair().await;
        }
        self.send().await;
    }

    /// Forgets the calls whose futures were dropped, and takes their batches out of the queue.
    async fn drop_closed(&mut self) {
        let closed: Vec<u64> =
            self.calls.iter().filter(|(_, call)| call.answer.is_closed()).map(|(id, _)| *id).collect();
        if closed.is_empty() {
            return;
        }
        for id in closed {
            self.shelf.remove(id);
            self.calls.remove(&id);
        }
        let over: Vec<u64> = self
            .batches
            .iter()
            .filter(|(_, batch)| batch.calls.iter().all(|id| !self.calls.contains_key(id)))
            .map(|(id, _)| *id)
            .collect();
        let mut stored = Vec::new();
        for id in &over {
            stored.extend(self.batches.remove(id).and_then(|batch| batch.sequence));
        }
        self.tell(false, over).await;
        let queue = self.queue.clone();
        tokio::spawn(async move {
            for sequence in stored {
                queue.take_out(sequence).await;
            }
        });
    }

    /// Tells that calls wait and no worker is there.
    fn say_lonely(&mut self) {
        if !self.members.is_empty() || self.calls.is_empty() {
            self.lonely = None;
            return;
        }
        let now = Instant::now();
        let (since, told) = *self.lonely.get_or_insert((now, now));
        if told.elapsed() < self.options.patience {
            return;
        }
        self.lonely = Some((since, now));
        let event = Event::NoWorker { function: self.function.clone(), waited: since.elapsed() };
        self.options.events.tell(&event);
        if let Some(text) = self.refused.clone() {
            let all: Vec<u64> = self.calls.keys().copied().collect();
            for id in all {
                self.answer(id, Answer::Refused(text.clone()));
            }
            self.waiting.clear();
            self.batches.clear();
        }
    }

    /// Makes the queue again if the server has lost it, and sends what is not stored.
    async fn repair(&mut self) {
        self.progress = Instant::now();
        let is_there = self.queue.is_there().await;
        if !is_there {
            let times = self.queue.times_made() + 1;
            let new = Queue::new(self.client.clone(), &self.identity.name, self.run, times);
            // The old one is there after all if the server was only slow.
            let old = std::mem::replace(&mut self.queue, new);
            tokio::spawn(async move { old.delete().await });
            if self.queue.make(self.options.lease).await.is_err() {
                self.needs_repair = true;
                return;
            }
        }
        self.needs_repair = false;
        let lost =
            |batch: &Sent| !is_there || batch.sequence.is_none() && batch.sent.elapsed() > STORED_PATIENCE;
        let again: Vec<u64> =
            self.batches.iter().filter(|(_, batch)| lost(batch)).map(|(id, _)| *id).collect();
        for id in again {
            self.store(id).await;
        }
        self.beat(false).await;
    }

    async fn beat(&self, has_ended: bool) {
        self.tell(has_ended, Vec::new()).await;
    }

    /// Says that the program lives, and which batches were given up.
    async fn tell(&self, has_ended: bool, given_up: Vec<u64>) {
        let lease = self.options.lease;
        let waits = |batch: &&Sent| batch.is_alone && batch.taken.is_none_or(|taken| taken.elapsed() > lease);
        let alone = self.batches.values().filter(waits).count() as u32;
        let beat = Beat { run: self.run, times_made: self.queue.times_made(), alone, given_up, has_ended };
        let _ = self.client.publish(subjects::beat(&self.identity.name), message(&beat)).await;
    }

    async fn reply(&self, reply: Option<Subject>, payload: Bytes) {
        if let Some(reply) = reply {
            let _ = self.client.publish(reply, payload).await;
        }
    }
}

fn read<T: DeserializeOwned>(message: &Message) -> Option<T> {
    // What is not of this crate is left alone.
    decode(&message.payload).ok()
}

fn lock(stats: &Mutex<Stats>) -> std::sync::MutexGuard<'_, Stats> {
    stats.lock().unwrap_or_else(PoisonError::into_inner)
}
