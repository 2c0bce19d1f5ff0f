//! The task of a worker: it takes batches from the queues of runs, gives them to the threads, and sends what comes of them.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use async_nats::{Client, Message};
use bytes::Bytes;
use futures_util::stream::StreamExt;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};

use super::threads::{Finished, Task, Threads};
use crate::error::Error;
use crate::functions::{Coded, Functions, Outcome, decode, message};
use crate::options::{ClusterOptions, Event};
use crate::wire::{
    self, ALONE, Batch, Beat, Body, Delivery, Done, Ended, Join, Missing, PartRequest, Parts, Queue, Shelf,
    Terms, Times, WORK, WorkerBeat, inline_limit, subjects,
};

/// A request for work is valid for so long.
const ASKS_FOR: Duration = Duration::from_secs(30);

/// After a request that failed at once, the next one comes so much later.
const PAUSE: Duration = Duration::from_millis(50);

/// What is not confirmed after this time is sent again.
const RESEND: Duration = Duration::from_secs(1);

/// A program may be silent for so many leases, and at least for the time, before its run is given up.
const SILENT_LEASES: u32 = 3;
const SILENT: Duration = Duration::from_secs(2);

/// A queue whose program was not heard of for so long is deleted.
const ORPHAN: Duration = Duration::from_secs(10);

/// An item that takes less than so many times its transport is fetched while another one is computed.
const FETCH_AHEAD: f64 = 16.0;

/// The part of the transport that is not seen here.
const LEAST_TRANSPORT: Duration = Duration::from_micros(500);

/// A run that the worker serves.
struct Served {
    function: String,
    coded: Coded,
    terms: Terms,
    queue: Queue,
    heard: Instant,
    /// Whether nobody has listened to its results since.
    is_deaf: bool,
    /// How many batches wait that must run alone, as was heard last.
    alone: u32,
    /// How many requests for work are open.
    asked: usize,
    asked_at: Instant,
    /// No request before this moment.
    paused: Instant,
}

impl Served {
    /// Whether its program seems to have ended. Then it gets no new work, and what the worker has of it is in the way of no other.
    fn seems_dead(&self) -> bool {
        self.is_deaf || self.heard.elapsed() > self.terms.lease
    }
}

/// A run that was heard of.
enum Heard {
    Joining,
    Served(Box<Served>),
    /// Its program has other functions.
    Refused(Instant),
}

/// A message from the queue of a run. Its lease is renewed until it is acknowledged.
struct Held {
    run: u64,
    batch: u64,
    delivery: Delivery,
    is_alone: bool,
    /// Whether it takes a place of those that the worker may hold.
    is_open: bool,
    fetch: Option<AbortHandle>,
    /// Whether a thread has it.
    is_computed_now: bool,
    is_given_up: Arc<AtomicBool>,
    received: Instant,
    fetched: Duration,
    /// Times that were not told yet.
    waited: Duration,
    /// How many messages about it are not confirmed.
    unconfirmed: usize,
}

/// A message that is sent until the program confirms it.
struct Unconfirmed {
    held: u64,
    subject: String,
    payload: Bytes,
    sent: Instant,
    /// What the program may fetch.
    tickets: Vec<u64>,
}

/// Bodies that were fetched for a message.
type Fetched = (u64, Vec<(u64, Result<Bytes, Ended>)>);

/// Whether an item runs alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Alone {
    No,
    /// The queue of this run was asked for one.
    Asked(u64, Instant),
    /// This message is being computed.
    Running(u64),
}

pub(super) struct Serving {
    id: u64,
    client: Client,
    options: ClusterOptions,
    functions: Functions,
    threads: Threads,
    runs: BTreeMap<u64, Heard>,
    orphans: HashMap<(u64, u32), Instant>,
    held: HashMap<u64, Held>,
    ready: VecDeque<(u64, Vec<(u64, Bytes)>)>,
    /// How many threads compute.
    computing: usize,
    alone: Alone,
    unconfirmed: HashMap<u64, Unconfirmed>,
    shelf: Shelf,
    next: u64,
    fetches: JoinSet<Fetched>,
    joins: JoinSet<(u64, Option<Result<Terms, String>>)>,
    /// The mean times of a batch, in nanoseconds.
    computed: f64,
    transport: f64,
    is_leaving: bool,
}

impl Serving {
    pub(super) fn new(
        client: Client,
        options: ClusterOptions,
        functions: Functions,
        threads: Threads,
    ) -> Self {
        Self {
            id: wire::random(),
            client,
            options,
            functions,
            threads,
            runs: BTreeMap::new(),
            orphans: HashMap::new(),
            held: HashMap::new(),
            ready: VecDeque::new(),
            computing: 0,
            alone: Alone::No,
            unconfirmed: HashMap::new(),
            shelf: Shelf::default(),
            next: 0,
            fetches: JoinSet::new(),
            joins: JoinSet::new(),
            computed: f64::MAX,
            transport: LEAST_TRANSPORT.as_nanos() as f64,
            is_leaving: false,
        }
    }

    /// Serves runs until `stop` is there and the worker holds nothing any more.
    pub(super) async fn serve(
        mut self,
        mut finished: UnboundedReceiver<Finished>,
        mut connections: watch::Receiver<u64>,
        stop: impl Future<Output = ()>,
    ) -> Result<(), Error> {
        let set = self.functions.name().to_owned();
        let subscribed = |error: async_nats::SubscribeError| Error::Queue(error.to_string());
        let mut pulled =
            self.client.subscribe(subjects::worker(self.id, "pull.*.*")).await.map_err(subscribed)?;
        let mut inbox = self.client.subscribe(subjects::worker(self.id, "*")).await.map_err(subscribed)?;
        let mut beats = self.client.subscribe(subjects::beat(&set)).await.map_err(subscribed)?;
        let _ = self.client.publish(subjects::ask(&set), Bytes::new()).await;
        for queue in wire::queues(&self.client, &set).await {
            self.orphans.insert(queue, Instant::now());
        }
        let mut stop = std::pin::pin!(stop);
        let mut tick = std::pin::pin!(tokio::time::sleep(Duration::ZERO));
        let mut may_pull = true;
        while may_pull || !self.held.is_empty() {
            tokio::select! {
                () = &mut stop, if !self.is_leaving => {
                    self.is_leaving = true;
                    // What the server has already given comes before the end.
                    let _ = pulled.drain().await;
                    self.beat().await;
                }
                message = pulled.next(), if may_pull => match message {
                    Some(message) => self.pulled(message).await,
                    None => may_pull = false,
                },
                Some(message) = inbox.next() => self.take(message).await,
                Some(message) = beats.next() => {
                    if let Ok(beat) = decode::<Beat>(&message.payload) {
                        self.heard(beat).await;
                    }
                }
                Some(finished) = finished.recv() => self.finished(finished).await,
                Some(fetched) = self.fetches.join_next() => {
                    if let Ok(fetched) = fetched {
                        self.fetched(fetched).await;
                    }
                }
                Some(joined) = self.joins.join_next() => {
                    if let Ok((run, answer)) = joined {
                        self.joined(run, answer).await;
                    }
                }
                Ok(()) = connections.changed() => self.connected().await,
                () = &mut tick => {
                    self.tick().await;
                    tick.as_mut().reset((Instant::now() + self.period()).into());
                }
            }
        }
        let _ = self.client.flush().await;
        Ok(())
    }

    fn served(&mut self) -> impl Iterator<Item = (u64, &mut Served)> {
        self.runs.iter_mut().filter_map(|(run, heard)| match heard {
            Heard::Served(served) => Some((*run, &mut **served)),
            _ => None,
        })
    }

    fn run(&mut self, run: u64) -> Option<&mut Served> {
        match self.runs.get_mut(&run)? {
            Heard::Served(served) => Some(served),
            _ => None,
        }
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    // Runs come and go.

    async fn heard(&mut self, beat: Beat) {
        let Beat { run, times_made, alone, given_up, has_ended } = beat;
        self.orphans.retain(|(orphan, _), _| *orphan != run);
        if has_ended {
            self.forget(run);
            return;
        }
        match self.runs.get_mut(&run) {
            Some(Heard::Served(served)) => {
                served.heard = Instant::now();
                served.is_deaf = false;
                served.alone = alone;
                let is_new = served.queue.times_made() != times_made;
                if is_new {
                    let set = self.functions.name();
                    served.queue = Queue::new(self.client.clone(), set, run, times_made);
                    served.asked = 0;
                    self.stop_asking(run);
                }
                self.give_up(run, &given_up).await;
                if alone > 0 || is_new {
                    self.work().await;
                }
            }
            Some(Heard::Refused(heard)) => *heard = Instant::now(),
            Some(Heard::Joining) => {}
            None if self.is_leaving => {}
            None => {
                self.runs.insert(run, Heard::Joining);
                let join = Join { worker: self.worker_beat(None), identity: self.functions.identity() };
                let (client, payload) = (self.client.clone(), message(&join));
                self.joins.spawn(async move {
                    let reply = client.request(subjects::run(run, "join"), payload).await;
                    (run, reply.ok().and_then(|reply| decode(&reply.payload).ok()))
                });
            }
        }
    }

    async fn joined(&mut self, run: u64, answer: Option<Result<Terms, String>>) {
        if !self.runs.contains_key(&run) {
            return;
        }
        let now = Instant::now();
        let known = answer.map(|answer| {
            answer.and_then(|terms| {
                let function = terms.function.clone();
                let coded = self.functions.coded(&function);
                coded.map(|coded| (terms, coded)).ok_or_else(|| format!("there is no function {function}"))
            })
        });
        match known {
            Some(Ok((terms, coded))) => {
                let queue = Queue::new(self.client.clone(), self.functions.name(), run, terms.times_made);
                let function = terms.function.clone();
                self.options.events.tell(&Event::Joined { name: format!("a program that calls {function}") });
                let served = Served {
                    function,
                    coded,
                    terms,
                    queue,
                    heard: now,
                    is_deaf: false,
                    alone: 0,
                    asked: 0,
                    asked_at: now,
                    paused: now,
                };
                self.runs.insert(run, Heard::Served(Box::new(served)));
                self.work().await;
            }
            Some(Err(text)) => {
                self.options.events.tell(&Event::Refused(text));
                self.runs.insert(run, Heard::Refused(now));
            }
            // The next beat asks again.
            None => {
                self.runs.remove(&run);
            }
        }
    }

    /// Gives up a run, with all that the worker has of it.
    fn forget(&mut self, run: u64) -> Option<Queue> {
        let Some(Heard::Served(served)) = self.runs.remove(&run) else { return None };
        let function = &served.function;
        self.options.events.tell(&Event::Left { name: format!("a program that calls {function}") });
        let held: Vec<u64> =
            self.held.iter().filter(|(_, held)| held.run == run).map(|(key, _)| *key).collect();
        for key in held {
            self.let_go(key);
        }
        self.stop_asking(run);
        Some(served.queue)
    }

    /// Forgets that a run was asked for an item that runs alone.
    fn stop_asking(&mut self, run: u64) {
        if matches!(self.alone, Alone::Asked(asked, _) if asked == run) {
            self.alone = Alone::No;
        }
    }

    /// Computes no more of batches that were given up.
    async fn give_up(&mut self, run: u64, batches: &[u64]) {
        let held = self.held.iter().filter(|(_, held)| held.run == run && batches.contains(&held.batch));
        for key in held.map(|(key, _)| *key).collect::<Vec<_>>() {
            let held = &self.held[&key];
            held.is_given_up.store(true, Relaxed);
            if held.is_computed_now {
                continue;
            }
            let held = self.let_go(key).expect("it is held");
            let _ = self.client.publish(held.delivery.reply, "+ACK".into()).await;
        }
    }

    /// Forgets a message. Its results come to nothing.
    fn let_go(&mut self, key: u64) -> Option<Held> {
        let held = self.held.remove(&key)?;
        if let Some(fetch) = &held.fetch {
            fetch.abort();
        }
        self.ready.retain(|(ready, _)| *ready != key);
        let shelf = &mut self.shelf;
        self.unconfirmed.retain(|_, sent| {
            if sent.held == key {
                sent.tickets.iter().for_each(|ticket| shelf.remove(*ticket));
            }
            sent.held != key
        });
        Some(held)
    }

    /// The connection was lost and is there again. The server has forgotten the requests.
    async fn connected(&mut self) {
        if let Alone::Asked(run, _) = self.alone {
            self.stop_asking(run);
        }
        for (_, served) in self.served() {
            served.asked = 0;
        }
        let _ = self.client.publish(subjects::ask(self.functions.name()), Bytes::new()).await;
        self.resend(Duration::ZERO).await;
        self.work().await;
    }

    // Work comes in.

    /// How many messages the worker may hold, computed or to be computed.
    fn slots(&self) -> usize {
        let threads = self.threads.count();
        if self.computed < FETCH_AHEAD * self.transport { 2 * threads } else { threads }
    }

    /// Gives tasks to threads that are free, and asks for as many messages as there is room for.
    async fn work(&mut self) {
        while self.computing < self.threads.count() && !matches!(self.alone, Alone::Running(_)) {
            let Some((key, calls)) = self.ready.pop_front() else { break };
            if self.held[&key].is_alone {
                if self.computing > 0 {
                    self.ready.push_front((key, calls));
                    break;
                }
                self.alone = Alone::Running(key);
            }
            self.compute(key, calls);
        }
        if self.is_leaving || self.alone != Alone::No {
            return;
        }
        let dead: Vec<u64> = self.served().filter(|(_, it)| it.seems_dead()).map(|(run, _)| run).collect();
        let open = self.held.values().filter(|held| held.is_open && !dead.contains(&held.run)).count();
        let (slots, most) = (self.slots(), self.slots() + self.threads.count());
        let mut held = HashMap::<u64, usize>::new();
        for it in self.held.values() {
            *held.entry(it.run).or_default() += 1;
        }
        let now = Instant::now();
        let id = self.id;
        let alone = self.served().find(|(_, served)| served.alone > 0 && !served.seems_dead());
        if let Some((run, queue)) = alone.map(|(run, served)| (run, served.queue.clone())) {
            // The results of the others are at the program first, so that none of them is lost with this worker.
            if held.keys().all(|run| dead.contains(run)) && self.computing == 0 {
                let reply = subjects::worker(id, &format!("pull.{run:016x}.{ALONE}"));
                queue.pull(ALONE, 1, None, reply).await;
                self.alone = Alone::Asked(run, now);
            }
            return;
        }
        for (run, served) in self.served().filter(|(_, served)| !served.seems_dead()) {
            let held = held.get(&run).copied().unwrap_or(0);
            if served.asked > 0 && served.asked_at.elapsed() > ASKS_FOR * 2 {
                served.asked = 0;
            }
            while open + served.asked < slots && held + served.asked < most && served.paused <= now {
                let reply = subjects::worker(id, &format!("pull.{run:016x}.{WORK}"));
                served.queue.pull(WORK, 1, Some(ASKS_FOR), reply).await;
                served.asked += 1;
                served.asked_at = now;
            }
        }
    }

    fn compute(&mut self, key: u64, calls: Vec<(u64, Bytes)>) {
        let inline = inline_limit(&self.client);
        let Some(held) = self.held.get_mut(&key) else { return };
        let Some(Heard::Served(served)) = self.runs.get(&held.run) else { return };
        held.waited = held.received.elapsed().saturating_sub(held.fetched);
        held.is_computed_now = true;
        let is_given_up = Arc::clone(&held.is_given_up);
        self.computing += 1;
        self.threads.run(Task { delivery: key, coded: served.coded.clone(), calls, inline, is_given_up });
    }

    /// A message from a queue, or the end of a request.
    async fn pulled(&mut self, message: Message) {
        let Some(run) = subjects::run_of(&message.subject) else { return };
        let is_alone = subjects::topic(&message.subject) == ALONE;
        let delivery = Delivery::of(&message);
        if is_alone {
            self.stop_asking(run);
        } else if let Some(served) = self.run(run) {
            served.asked = served.asked.saturating_sub(1);
        }
        let Some(served) = self.run(run) else { return };
        match (delivery, decode::<Batch>(&message.payload)) {
            (Some(delivery), Ok(batch)) => self.deliver(run, delivery, batch, is_alone).await,
            (Some(_), Err(_)) => {}
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
        let key = self.number();
        let Batch { id, calls } = batch;
        let again = delivery.count > 1;
        let now = Instant::now();
        let held = Held {
            run,
            batch: id,
            delivery,
            is_alone,
            is_open: !again,
            fetch: None,
            is_computed_now: false,
            is_given_up: Arc::default(),
            received: now,
            fetched: Duration::ZERO,
            waited: Duration::ZERO,
            unconfirmed: 0,
        };
        self.held.insert(key, held);
        if again {
            // Whoever had it was lost. The program decides what becomes of its items.
            self.send(key, subjects::run(run, "again"), message(&id), Vec::new()).await;
            return;
        }
        if is_alone {
            let beat = self.worker_beat(Some(id));
            let _ = self.client.publish(subjects::run(run, "worker"), message(&beat)).await;
        }
        let bodies = calls.into_iter().map(|(id, body)| (id, self.checked(body)));
        let bodies: Vec<_> = bodies.collect();
        let are_here = bodies.iter().all(|(_, body)| !matches!(body, Ok(Body::Shelved { .. })));
        let client = self.client.clone();
        let fetching = async move {
            let mut fetched = Vec::with_capacity(bodies.len());
            for (id, body) in bodies {
                let body = match body {
                    Ok(Body::Here(body)) => Ok(body),
                    Ok(Body::Shelved { ticket, length }) => {
                        let Some(body) = fetch(&client, run, ticket, length).await else { continue };
                        Ok(body)
                    }
                    Err(ended) => Err(ended),
                };
                fetched.push((id, body));
            }
            (key, fetched)
        };
        if are_here {
            // Nothing is waited for.
            let fetched = fetching.await;
            return self.fetched(fetched).await;
        }
        let fetch = self.fetches.spawn(fetching);
        if let Some(held) = self.held.get_mut(&key) {
            held.fetch = Some(fetch);
        }
    }

    /// A body that is not too large.
    fn checked(&self, body: Body) -> Result<Body, Ended> {
        let (size, limit) = (body.length(), self.options.body_limit);
        if size <= limit {
            return Ok(body);
        }
        Err(Ended::TooLarge { size, limit, side: format!("worker {}", self.options.name) })
    }

    async fn fetched(&mut self, fetched: Fetched) {
        let (key, bodies) = fetched;
        let Some(held) = self.held.get_mut(&key) else { return };
        held.fetched = held.received.elapsed();
        let transport = (held.fetched + LEAST_TRANSPORT).as_nanos() as f64;
        self.transport = 0.8 * self.transport + 0.2 * transport;
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
            self.report(key, outcomes, Vec::new(), Duration::ZERO, true).await;
        } else {
            if !outcomes.is_empty() {
                self.report(key, outcomes, Vec::new(), Duration::ZERO, false).await;
            }
            self.ready.push_back((key, calls));
        }
        self.work().await;
    }

    // Results go out.

    async fn finished(&mut self, finished: Finished) {
        let Finished { delivery: key, outcomes, computed, is_last } = finished;
        if is_last {
            self.computing -= 1;
            if self.alone == Alone::Running(key) {
                self.alone = Alone::No;
            }
            let nanos = computed.as_nanos() as f64;
            self.computed = if self.computed == f64::MAX { nanos } else { 0.8 * self.computed + 0.2 * nanos };
            if let Some(held) = self.held.get_mut(&key) {
                held.is_computed_now = false;
            }
        }
        if self.held.contains_key(&key) {
            let (inline, limit) = (inline_limit(&self.client), self.options.body_limit);
            let mut tickets = Vec::new();
            let outcomes = outcomes.into_iter().map(|(id, outcome)| {
                let mut shelve = |code: Vec<u8>, ended: fn(Body) -> Ended| {
                    let size = code.len() as u64;
                    if size > limit {
                        let side = format!("worker {}", self.options.name);
                        return Ended::TooLarge { size, limit, side };
                    }
                    if code.len() <= inline {
                        return ended(Body::Here(code.into()));
                    }
                    self.next += 1;
                    self.shelf.put(self.next, code.into());
                    tickets.push(self.next);
                    ended(Body::Shelved { ticket: self.next, length: size })
                };
                let ended = match outcome {
                    Outcome::Value(code) => shelve(code, Ended::Value),
                    Outcome::Error(code) => shelve(code, Ended::Error),
                    Outcome::Panic(text) => Ended::Panic(text),
                    Outcome::Undecodable(text) => {
                        Ended::Undecodable(format!("worker {}: {text}", self.options.name))
                    }
                };
                (id, ended)
            });
            let outcomes = outcomes.collect();
            self.report(key, outcomes, tickets, computed, is_last).await;
        }
        self.work().await;
    }

    /// Tells the program of outcomes.
    async fn report(
        &mut self,
        key: u64,
        outcomes: Vec<(u64, Ended)>,
        tickets: Vec<u64>,
        computed: Duration,
        is_last: bool,
    ) {
        let Some(held) = self.held.get_mut(&key) else { return };
        held.is_open &= !is_last;
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let times = Times {
            computed: nanos(computed),
            fetched: nanos(std::mem::take(&mut held.fetched)),
            waited: nanos(std::mem::take(&mut held.waited)),
        };
        let done = Done { worker: self.id, batch: held.batch, is_last, outcomes, times };
        let subject = subjects::run(held.run, "done");
        self.send(key, subject, message(&done), tickets).await;
    }

    /// Sends a message about one that is held, until it is confirmed.
    async fn send(&mut self, key: u64, subject: String, payload: Bytes, tickets: Vec<u64>) {
        let number = self.number();
        if let Some(held) = self.held.get_mut(&key) {
            held.unconfirmed += 1;
        }
        let sent = Unconfirmed { held: key, subject, payload, sent: Instant::now(), tickets };
        self.publish(number, &sent).await;
        self.unconfirmed.insert(number, sent);
    }

    async fn publish(&self, number: u64, sent: &Unconfirmed) {
        let reply = subjects::worker(self.id, &format!("ok-{number:x}"));
        let Unconfirmed { subject, payload, .. } = sent;
        let _ = self.client.publish_with_reply(subject.clone(), reply, payload.clone()).await;
    }

    async fn resend(&mut self, older_than: Duration) {
        let mut unconfirmed = std::mem::take(&mut self.unconfirmed);
        for (number, sent) in &mut unconfirmed {
            if sent.sent.elapsed() >= older_than {
                sent.sent = Instant::now();
                self.publish(*number, sent).await;
            }
        }
        self.unconfirmed = unconfirmed;
    }

    async fn take(&mut self, message: Message) {
        let topic = subjects::topic(&message.subject);
        if topic == "part" {
            let request = decode::<PartRequest>(&message.payload).ok();
            let part = request.map(|request| self.shelf.part(&request)).unwrap_or_default();
            if let Some(reply) = message.reply {
                let _ = self.client.publish(reply, part).await;
            }
        } else if let Some(number) =
            topic.strip_prefix("ok-").and_then(|text| u64::from_str_radix(text, 16).ok())
        {
            if message.status.is_none() {
                self.confirmed(number).await;
            } else if let Some(held) = self.unconfirmed.get(&number).map(|sent| sent.held) {
                // Nobody listens to the run. It is sent again later.
                let run = self.held.get(&held).map(|held| held.run);
                if let Some(served) = run.and_then(|run| self.run(run)) {
                    served.is_deaf = true;
                }
                self.work().await;
            }
        }
    }

    async fn confirmed(&mut self, number: u64) {
        let Some(sent) = self.unconfirmed.remove(&number) else { return };
        for ticket in sent.tickets {
            self.shelf.remove(ticket);
        }
        let Some(held) = self.held.get_mut(&sent.held) else { return };
        held.unconfirmed -= 1;
        if held.unconfirmed == 0 && !held.is_open {
            let held = self.let_go(sent.held).expect("it is held");
            let _ = self.client.publish(held.delivery.reply, "+ACK".into()).await;
            self.work().await;
        }
    }

    // Time passes.

    fn period(&mut self) -> Duration {
        let lease = self.served().map(|(_, served)| served.terms.lease).min();
        lease.map_or(Duration::from_secs(1), |lease| lease / 4)
    }

    async fn tick(&mut self) {
        for held in self.held.values() {
            let _ = self.client.publish(held.delivery.reply.clone(), "+WPI".into()).await;
        }
        self.beat().await;
        self.resend(RESEND).await;
        let silent = self
            .served()
            .filter(|(_, served)| served.heard.elapsed() > (served.terms.lease * SILENT_LEASES).max(SILENT));
        let silent: Vec<u64> = silent.map(|(run, _)| run).collect();
        for run in silent {
            if let Some(queue) = self.forget(run) {
                // If the program lives after all, it makes the queue again.
                tokio::spawn(async move { queue.delete().await });
            }
        }
        if let Alone::Asked(run, asked) = self.alone
            && asked.elapsed() > RESEND
        {
            self.stop_asking(run);
        }
        self.runs.retain(|_, heard| !matches!(heard, Heard::Refused(heard) if heard.elapsed() > ORPHAN));
        let orphans = self.orphans.extract_if(|_, seen| seen.elapsed() > ORPHAN);
        for ((run, times_made), _) in orphans.collect::<Vec<_>>() {
            let queue = Queue::new(self.client.clone(), self.functions.name(), run, times_made);
            tokio::spawn(async move { queue.delete().await });
        }
        self.work().await;
    }

    fn worker_beat(&self, alone: Option<u64>) -> WorkerBeat {
        WorkerBeat {
            id: self.id,
            name: self.options.name.clone(),
            threads: self.threads.count() as u32,
            slots: self.slots() as u32,
            alone,
            is_leaving: self.is_leaving,
        }
    }

    /// Tells all programs that the worker lives, or that it leaves.
    async fn beat(&mut self) {
        let alone = match self.alone {
            Alone::Running(key) => self.held.get(&key).map(|held| held.batch),
            _ => None,
        };
        let beat = message(&self.worker_beat(alone));
        let runs: Vec<u64> = self.served().map(|(run, _)| run).collect();
        for run in runs {
            let _ = self.client.publish(subjects::run(run, "worker"), beat.clone()).await;
        }
    }
}

/// Fetches an item from its program for as long as this takes. Returns `None` if its call was given up.
async fn fetch(client: &Client, run: u64, ticket: u64, length: u64) -> Option<Bytes> {
    loop {
        let subject = subjects::run(run, "part");
        let parts = Parts { client: client.clone(), subject, ticket, length };
        match parts.fetch().await {
            Ok(body) => return Some(body),
            Err(Missing::Gone) => return None,
            Err(Missing::Silent) => tokio::time::sleep(PAUSE).await,
        }
    }
}
