//! The task of a worker: it takes batches from the queues of runs, gives them to the threads, and sends what becomes of them.

mod runs;
mod work;

use std::future::Future;
use std::time::{Duration, Instant};

use async_nats::Message;
use bytes::Bytes;
use futures_util::stream::StreamExt;
use tokio::sync::mpsc::UnboundedReceiver;

use super::outbox::Outbox;
use super::pace::Pace;
use super::runs::Runs;
use super::threads::{Finished, Threads};
use super::work::Work;
use crate::error::Error;
use crate::functions::Functions;
use crate::options::ClusterOptions;
use crate::wire::{self, Beat, Line, PartRequest, read, subjects};

pub(super) struct Serving {
    pub(super) id: u64,
    pub(super) line: Line,
    pub(super) options: ClusterOptions,
    pub(super) functions: Functions,
    pub(super) threads: Threads,
    pub(super) runs: Runs,
    pub(super) work: Work,
    pub(super) outbox: Outbox,
    pub(super) pace: Pace,
    pub(super) is_leaving: bool,
}

impl Serving {
    pub(super) fn new(line: Line, options: ClusterOptions, functions: Functions, threads: Threads) -> Self {
        let id = wire::random();
        Self {
            id,
            outbox: Outbox::new(id, line.clone()),
            line,
            options,
            functions,
            threads,
            runs: Runs::default(),
            work: Work::new(),
            pace: Pace::new(),
            is_leaving: false,
        }
    }

    /// Serves runs until `stop` is there and the worker holds nothing any more.
    pub(super) async fn serve(
        mut self,
        mut finished: UnboundedReceiver<Finished>,
        stop: impl Future<Output = ()>,
    ) -> Result<(), Error> {
        let set = self.functions.name().to_owned();
        let subscribed = |error: async_nats::SubscribeError| Error::Queue(error.to_string());
        let Line { bodies, beats, .. } = self.line.clone();
        let mut pulled = bodies.subscribe(subjects::worker(self.id, "pull.*.*")).await.map_err(subscribed)?;
        let mut inbox = bodies.subscribe(subjects::worker(self.id, "*")).await.map_err(subscribed)?;
        let mut heard = beats.subscribe(subjects::beat(&set)).await.map_err(subscribed)?;
        self.ask().await;
        tokio::spawn(wire::sweep(self.line.clone()));
        let mut news = self.line.news();
        let mut stop = std::pin::pin!(stop);
        let mut tick = std::pin::pin!(tokio::time::sleep(Duration::ZERO));
        let mut may_pull = true;
        while may_pull || !self.work.is_empty() {
            tokio::select! {
                () = &mut stop, if !self.is_leaving => {
                    self.is_leaving = true;
                    // Batches that the server has already given are computed before the end.
                    let _ = pulled.drain().await;
                    self.beat().await;
                }
                message = pulled.next(), if may_pull => match message {
                    Some(message) => self.pulled(message).await,
                    None if self.is_leaving => may_pull = false,
                    // Nobody has asked for this end.
                    None => return Err(Error::Closed(wire::ENDED.to_owned())),
                },
                Some(message) = inbox.next() => self.take(message).await,
                Some(message) = heard.next() => {
                    if let Some(beat) = read::<Beat>(&message.payload) {
                        self.heard(beat).await;
                    }
                }
                Some(finished) = finished.recv() => self.finished(finished).await,
                Some(fetched) = self.work.fetches.join_next() => {
                    if let Ok(fetched) = fetched {
                        self.fetched(fetched).await;
                    }
                }
                Some(joined) = self.runs.joins.join_next() => {
                    if let Ok((run, answer)) = joined {
                        self.joined(run, answer).await;
                    }
                }
                Ok(()) = news.changed() => self.connected().await,
                () = &mut tick => {
                    if !self.line.is_connected() && self.line.has_ended().await {
                        return Err(Error::Closed(wire::ENDED.to_owned()));
                    }
                    self.tick().await;
                    let period = self.runs.lease().map_or(Duration::from_secs(1), |lease| lease / 4);
                    tick.as_mut().reset((Instant::now() + period).into());
                }
            }
        }
        let _ = bodies.flush().await;
        let _ = beats.flush().await;
        Ok(())
    }

    /// Asks which programs are there.
    async fn ask(&self) {
        self.line.beat(subjects::ask(self.functions.name()), Bytes::new()).await;
    }

    /// A connection was lost and is there again.
    async fn connected(&mut self) {
        self.runs.excuse();
        self.stop_asking_late(true);
        self.ask().await;
        self.outbox.connected().await;
        self.work().await;
    }

    async fn take(&mut self, message: Message) {
        let topic = subjects::topic(&message.subject);
        if topic == "part" {
            let request = read::<PartRequest>(&message.payload);
            let part = request.map(|request| self.outbox.part(&request)).unwrap_or_default();
            self.line.answer(message.reply, part).await;
        } else if let Some(number) = subjects::number_of(topic, "ok-") {
            if message.status.is_none() {
                self.confirmed(number).await;
            } else if let Some(run) = self.outbox.unheard(number) {
                // It is sent again when the program is heard.
                if let Some(served) = self.runs.get(run) {
                    served.is_deaf = true;
                }
                self.work().await;
            }
        } else if let Some(run) = subjects::number_of(topic, "lost-") {
            let answer = message.status.is_none().then_some(&message.payload);
            self.outbox.lost(run, answer).await;
        }
    }

    async fn tick(&mut self) {
        self.renew().await;
        self.beat().await;
        self.outbox.tick().await;
        if self.line.is_connected() {
            self.forget_silent();
        }
        self.stop_asking_late(false);
        self.work().await;
    }
}
