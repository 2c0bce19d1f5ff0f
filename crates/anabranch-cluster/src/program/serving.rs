//! The task of a run: it puts batches of calls into the queue, and takes outcomes.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use async_nats::Message;
use bytes::Bytes;
use futures_util::stream::{self, Stream, StreamExt};
use serde::de::DeserializeOwned;
use tokio::sync::{mpsc, watch};
use tokio::time::MissedTickBehavior;

use super::batches::{Batches, Place, Sent};
use super::calls::Calls;
use super::deaths::Deaths;
use super::keeper::{Keeper, News};
use super::landing::{self, Landed, Landing};
use super::member::{Change, Members};
use super::order::{Answer, Order};
use super::stats::{Book, Stats};
use super::trouble::Trouble;
use crate::error::Error;
use crate::events::Event;
use crate::functions::Functions;
use crate::identity::Identity;
use crate::link::Link;
use crate::options::ClusterOptions;
use crate::wire::{
    self, ALONE, Beat, Done, Failure, Flow, Join, Line, Made, PartRequest, Probe, Terms, WORK, WorkerBeat,
    inline_limit, message, subjects,
};

/// The batches that are sent ahead for each that the workers may hold, so that a worker that asks need not wait for the program.
const AHEAD: usize = 2;

pub(super) struct Serving {
    run: u64,
    function: String,
    identity: Identity,
    options: ClusterOptions,
    line: Line,
    made: Made,
    keeper: Keeper,
    calls: Calls,
    batches: Batches,
    /// The bytes on their way to the queue.
    flow: Flow,
    landing: Landing,
    members: Members,
    deaths: Deaths,
    trouble: Trouble,
    book: Book,
    /// When the last outcome arrived, or the queue was looked at.
    progress: Instant,
}

impl Serving {
    pub(super) fn new(link: &Link, functions: &Functions, name: &str, stats: Arc<Mutex<Stats>>) -> Self {
        let run = wire::random();
        let identity = functions.identity();
        let (line, options) = (link.line.clone(), link.options.clone());
        Self {
            run,
            function: name.to_owned(),
            made: *line.news().borrow(),
            keeper: Keeper::new(line.clone(), &identity.name, run, options.lease),
            identity,
            options,
            calls: Calls::default(),
            batches: Batches::default(),
            flow: Flow::new(),
            landing: Landing::new(line.clone()),
            line,
            members: Members::default(),
            deaths: Deaths::default(),
            trouble: Trouble::default(),
            book: Book::new(stats),
            progress: Instant::now(),
        }
    }

    /// Makes the queue.
    pub(super) async fn open(self) -> Result<Self, Error> {
        match self.keeper.open().await {
            Ok(()) => Ok(self),
            Err(failure) => Err(Error::Queue(failure.to_string())),
        }
    }

    /// Serves calls until the run is dropped.
    pub(super) async fn serve(mut self, mut orders: mpsc::UnboundedReceiver<Order>) {
        let Ok(inbox) = self.subscribe().await else { return };
        let mut inbox = std::pin::pin!(inbox);
        self.book.begin();
        let mut news: watch::Receiver<Made> = self.line.news();
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
                landed = self.landing.next() => self.landed(landed).await,
                told = self.keeper.news() => self.queue_is(told).await,
                Ok(()) = news.changed() => self.connected(),
                _ = tick.tick() => self.tick().await,
            }
        }
        self.beat(true).await;
        self.keeper.queue.delete().await;
    }

    async fn subscribe(&self) -> Result<impl Stream<Item = Message> + use<>, async_nats::SubscribeError> {
        let Line { bodies, beats, .. } = &self.line;
        let to_run = bodies.subscribe(subjects::run(self.run, "*")).await?;
        let members = beats.subscribe(subjects::member(self.run, "*")).await?;
        let asks = beats.subscribe(subjects::ask(&self.identity.name)).await?;
        Ok(stream::select(stream::select(members, asks), to_run))
    }

    /// Returns whether a call was given up.
    fn accept(&mut self, order: Order) -> bool {
        let Order::Call(call) = order else { return true };
        self.calls.add(call);
        false
    }

    // Batches go out.

    /// Puts as many batches into the queue as the workers may soon ask for.
    async fn send(&mut self) {
        let most = (self.members.slots() * AHEAD).saturating_sub(self.batches.len());
        for left in (1..=most).rev() {
            if !self.pump().await || self.batches.any_refused() {
                return;
            }
            let share = self.calls.waiting().div_ceil(left);
            let calls = self.calls.gather(share, self.inline_limit());
            if calls.is_empty() {
                return;
            }
            self.put(calls, false);
        }
        self.pump().await;
    }

    /// The most bytes of the bodies in one message. It suits the slowest line of a worker, since any of them may take the message.
    fn inline_limit(&self) -> usize {
        inline_limit(&self.line.bodies, self.members.window().min(self.flow.window()))
    }

    fn put(&mut self, calls: Vec<u64>, is_alone: bool) {
        let id = self.calls.number();
        self.batches.add(id, calls, is_alone);
    }

    /// Sends the batches that are here, while the line has room. Returns whether all of them are sent.
    async fn pump(&mut self) -> bool {
        while let Some(id) = self.batches.next() {
            if !self.keeper.is_good() || !self.store(id).await {
                return false;
            }
        }
        true
    }

    /// Sends a batch to the server. Returns whether it is on its way.
    async fn store(&mut self, id: u64) -> bool {
        let limit = self.inline_limit();
        let Some(batch) = self.batches.get_mut(id) else { return true };
        let limit = if batch.is_shelved { 0 } else { limit };
        let message = self.calls.message(id, &batch.calls, limit);
        let Some(pass) = self.flow.try_enter(message.len()) else { return false };
        let kind = if batch.is_alone { ALONE } else { WORK };
        let reply = subjects::run(self.run, &format!("stored-{id:x}"));
        batch.sent = Instant::now();
        let is_sent = self.keeper.queue.put(kind, message, reply).await;
        if is_sent {
            batch.place = Place::UnderWay(pass, 0);
        }
        is_sent
    }

    /// The server has stored a batch, or could not.
    async fn stored(&mut self, id: u64, answer: &[u8]) {
        let Some(batch) = self.batches.get_mut(id) else { return };
        match wire::stored(answer) {
            Some(Ok(sequence)) => {
                if let Place::UnderWay(pass, _) = std::mem::replace(&mut batch.place, Place::Stored(sequence))
                {
                    pass.arrived();
                }
                self.batches.retry(true);
                self.trouble.end(&self.options);
            }
            Some(Err(cause)) => {
                batch.place = Place::Refused;
                batch.is_shelved = true;
                let cause = format!("the queue of {} takes no items: {cause}", self.function);
                self.trouble.begin(&cause, &self.options);
            }
            // No stream has the subject: the server says at once that nobody listens.
            None => {
                batch.place = Place::Here;
                self.keeper.check();
            }
        }
        self.send().await;
    }

    /// A connection was lost and is there again. The server may be a new one.
    fn connected(&mut self) {
        let made = *self.line.news().borrow();
        if made.bodies != self.made.bodies {
            self.batches.send_again();
        }
        self.made = made;
        self.members.excuse();
        self.keeper.check();
    }

    async fn queue_is(&mut self, news: News) {
        self.progress = Instant::now();
        match news {
            News::IsThere => self.batches.look(),
            News::IsNew => self.batches.send_all_again(),
            News::Failed(failure) => {
                // A server that is away is told by the connection.
                if failure != Failure::Silent || self.line.is_connected() {
                    let cause = format!("there is no queue for {}: {failure}", self.function);
                    self.trouble.begin(&cause, &self.options);
                }
                return;
            }
        }
        if !self.batches.any_refused() {
            self.trouble.end(&self.options);
        }
        self.beat(false).await;
        self.send().await;
    }

    // Messages arrive.

    async fn take(&mut self, message: Message) {
        let topic = subjects::topic(&message.subject).to_owned();
        match topic.as_str() {
            "join" => self.join(message).await,
            "worker" => {
                if let Some(beat) = read::<WorkerBeat>(&message) {
                    self.heard(beat);
                    self.send().await;
                }
            }
            "part" => {
                let part = read::<PartRequest>(&message).map(|request| self.calls.shelf.part(&request));
                self.line.answer(message.reply, part.unwrap_or_default()).await;
            }
            "again" => {
                if let Some(batch) = read::<u64>(&message) {
                    self.again(batch).await;
                    self.line.answer(message.reply, Bytes::new()).await;
                }
            }
            "done" => {
                if let Some(done) = read::<Done>(&message) {
                    self.progress = Instant::now();
                    let (calls, limit) = (&self.calls, self.options.body_limit);
                    let landed = self.landing.land(done, message.reply, limit, |id| calls.has(id));
                    if let Some(landed) = landed {
                        self.landed(landed).await;
                    }
                }
            }
            "probe" => {
                if let Some(probe) = read::<Probe>(&message) {
                    let missing = wire::message(&self.landing.missing(&probe));
                    self.line.answer(message.reply, missing).await;
                }
            }
            _ => {
                if let Some(id) = subjects::number_of(&topic, "stored-") {
                    self.stored(id, &message.payload).await;
                } else {
                    // A worker asks who is there.
                    self.beat(false).await;
                }
            }
        }
    }

    async fn join(&mut self, message: Message) {
        let Some(Join { worker, identity }) = read::<Join>(&message) else { return };
        let answer = if identity == self.identity {
            self.heard(worker);
            Ok(Terms {
                function: self.function.clone(),
                times_made: self.keeper.queue.times_made(),
                lease: self.options.lease,
            })
        } else {
            let (program, name) = (&self.options.name, &worker.name);
            let text = format!("worker {name} has {identity}, and program {program} has {}", self.identity);
            let text = wire::short(&text, wire::WORDS);
            if worker.is_leaving {
                self.members.heard(worker);
            } else if self.members.refuse(worker.id, &text) {
                self.options.events.tell(&Event::Refused(text.clone()));
            }
            Err(text)
        };
        if let Some(reply) = message.reply {
            let _ = self.line.beats.publish(reply, wire::message(&answer)).await;
        }
        self.send().await;
    }

    fn heard(&mut self, beat: WorkerBeat) {
        if let Some(batch) = beat.alone.and_then(|batch| self.batches.get_mut(batch)) {
            batch.taken = Some(Instant::now());
        }
        let id = beat.id;
        self.book.worker(id, &beat.name, beat.threads);
        match self.members.heard(beat) {
            Change::Nothing => {}
            Change::Joined(name) => self.options.events.tell(&Event::Joined { name }),
            Change::Left(name) => self.options.events.tell(&Event::Left { name }),
        }
    }

    /// A batch was delivered once more: the worker that had it was lost, or the message was.
    async fn again(&mut self, batch: u64) {
        let Some(batch) = self.batches.remove(batch) else { return };
        for id in batch.calls {
            self.deaths.suspect(id, batch.sent);
            self.deaths.wait(id);
        }
        self.judge();
        self.beat(false).await;
        self.send().await;
    }

    /// Gives calls that may have ended their workers to others, if these are not too many.
    fn judge(&mut self) {
        for id in self.deaths.judge(&self.members) {
            if let Some(call) = self.calls.get_mut(id) {
                call.deaths += 1;
            }
        }
        for id in self.deaths.take_waiting() {
            let Some(call) = self.calls.get(id) else { continue };
            let (workers, most) = (call.deaths, self.options.attempts);
            if workers >= most {
                self.calls.answer(id, Answer::Lost { workers });
            } else if workers + self.deaths.doubts(id) < most {
                // From now on no other item is in the same worker while it runs.
                self.put(vec![id], true);
            } else {
                self.deaths.wait(id);
            }
        }
    }

    /// Gives outcomes to the callers, and confirms them.
    async fn landed(&mut self, landed: Landed) {
        let Landed { done, reply, mut bodies } = landed;
        self.progress = Instant::now();
        let Done { worker, batch: id, outcomes, times } = done;
        let count = outcomes.len();
        let way = self.batches.get_mut(id).map(|batch| self.book.way(batch, &times));
        let calls = outcomes.iter().filter_map(|(id, _)| self.calls.get(*id)).map(|call| call.made);
        // A stream that has its last result may ask for its report at once.
        self.book.landed(worker, &times, way, calls);
        for (id, ended) in outcomes {
            if self.calls.has(id) {
                let answer = landing::answer(ended, bodies.remove(&id), &self.options);
                self.calls.answer(id, answer);
            }
        }
        self.calls.cost(times.computed as f64, count);
        // Other outcomes may still be fetched. If their worker is lost meanwhile, the batch is delivered again.
        let is_over = |batch: &Sent| !batch.calls.iter().any(|id| self.calls.has(*id));
        if self.batches.get_mut(id).is_some_and(|batch| is_over(batch)) {
            self.batches.remove(id);
        }
        self.line.answer(reply, Bytes::new()).await;
        self.send().await;
    }

    /// Forgets the calls whose futures were dropped, and takes their batches out of the queue.
    async fn drop_closed(&mut self) {
        if !self.calls.drop_closed() {
            return;
        }
        let (over, stored) = self.batches.take_empty(|id| self.calls.has(id));
        self.tell(false, over).await;
        let queue = self.keeper.queue.clone();
        tokio::spawn(async move {
            for sequence in stored {
                queue.take_out(sequence).await;
            }
        });
    }

    // Time passes.

    async fn tick(&mut self) {
        self.beat(false).await;
        if !self.line.is_connected() && self.line.has_ended().await {
            self.calls.answer_all(|| Answer::Closed(wire::ENDED.to_owned()));
            self.batches.clear();
        }
        if self.line.is_connected() {
            for (id, name) in self.members.forget_silent(self.options.lease * 2) {
                self.landing.forget(id);
                self.options.events.tell(&Event::Left { name });
            }
        }
        self.judge();
        self.say_lonely();
        if self.keeper.is_good() && !self.batches.any_refused() {
            // The refused request is not needed any more.
            self.trouble.end(&self.options);
        }
        self.trouble.tick(&self.options);
        self.batches.retry(false);
        let stands_still = !self.batches.is_empty() && self.progress.elapsed() > self.options.lease * 2;
        if stands_still || self.batches.wonders() {
            self.progress = Instant::now();
            self.keeper.check();
        }
        self.keeper.tick();
        self.send().await;
    }

    /// Tells that calls wait and no worker is there.
    fn say_lonely(&mut self) {
        let (is_needed, patience) = (!self.calls.is_empty(), self.options.patience);
        let Some(waited) = self.members.is_missed(is_needed, patience) else { return };
        let event = Event::NoWorker { function: self.function.clone(), waited };
        self.options.events.tell(&event);
        if let Some(text) = self.members.refused() {
            self.calls.answer_all(|| Answer::Refused(text.to_owned()));
            self.batches.clear();
        }
    }

    async fn beat(&self, has_ended: bool) {
        self.tell(has_ended, Vec::new()).await;
    }

    /// Says that the program lives, and which batches were given up.
    async fn tell(&self, has_ended: bool, mut given_up: Vec<u64>) {
        /// The most numbers in a beat.
        const MOST: usize = 200;
        let alone = self.batches.alone(self.options.lease);
        let times_made = self.keeper.queue.times_made();
        loop {
            let rest = given_up.split_off(given_up.len().min(MOST));
            let beat = Beat { run: self.run, times_made, alone, given_up, has_ended };
            self.line.beat(subjects::beat(&self.identity.name), message(&beat)).await;
            if rest.is_empty() {
                return;
            }
            given_up = rest;
        }
    }
}

fn read<T: DeserializeOwned>(message: &Message) -> Option<T> {
    // Messages that are not of this crate are left alone.
    wire::read(&message.payload)
}
