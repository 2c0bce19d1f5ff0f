//! A worker joins runs and leaves them.

use std::collections::VecDeque;
use std::time::Instant;

use super::super::runs::{ASKS_AGAIN, Heard, JOINING, Served};
use super::Serving;
use crate::events::Event;
use crate::wire::{self, Beat, Join, Queue, Terms, WorkerBeat, message, read, subjects};

impl Serving {
    /// A program lives.
    pub(super) async fn heard(&mut self, beat: Beat) {
        let Beat { run, times_made, alone, given_up, has_ended } = beat;
        if has_ended {
            self.forget(run);
            return;
        }
        match self.runs.runs.get_mut(&run) {
            Some(Heard::Served(served)) => {
                served.heard = Instant::now();
                served.is_deaf = false;
                served.alone = alone;
                let is_new = served.queue.times_made() != times_made;
                if is_new {
                    let set = self.functions.name();
                    served.queue = Queue::new(self.line.clone(), set, run, times_made);
                    served.asked.clear();
                    self.stop_asking(run);
                }
                self.outbox.heard(run).await;
                self.give_up(run, &given_up).await;
                if alone > 0 || is_new {
                    self.work().await;
                }
            }
            Some(Heard::Refused { heard, joined, .. }) => {
                *heard = Instant::now();
                if joined.elapsed() > ASKS_AGAIN {
                    self.join(run);
                }
            }
            None => self.join(run),
        }
    }

    fn join(&mut self, run: u64) {
        if self.is_leaving || !self.runs.joining.insert(run) {
            return;
        }
        let join = Join { worker: self.worker_beat(None), identity: self.functions.identity() };
        let (client, payload) = (self.line.beats.clone(), message(&join));
        let mut news = self.line.news();
        self.runs.joins.spawn(async move {
            let (length, most) = (payload.len(), client.max_payload());
            if length > most {
                let text = format!(
                    "the names of the functions have {length} bytes, and the server takes messages of at most {most}: set a larger `max_payload`"
                );
                return (run, Some(Err(text)));
            }
            let asked = async_nats::Request::new().payload(payload).timeout(Some(JOINING));
            let reply = tokio::select! {
                reply = client.send_request(subjects::member(run, "join"), asked) => reply.ok(),
                // The answer is lost, or the request is.
                Ok(()) = news.changed() => None,
            };
            (run, reply.and_then(|reply| read(&reply.payload)))
        });
    }

    pub(super) async fn joined(&mut self, run: u64, answer: Option<Result<Terms, String>>) {
        self.runs.joining.remove(&run);
        // If there is no answer, the next beat asks again.
        let Some(answer) = answer else { return };
        let now = Instant::now();
        let known = answer.and_then(|terms| {
            let function = terms.function.clone();
            let coded = self.functions.coded(&function);
            coded.map(|coded| (terms, coded)).ok_or_else(|| format!("there is no function {function}"))
        });
        match known {
            Ok((terms, coded)) => {
                let queue = Queue::new(self.line.clone(), self.functions.name(), run, terms.times_made);
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
                    asked: VecDeque::new(),
                    asked_at: now,
                    paused: now,
                };
                self.runs.runs.insert(run, Heard::Served(Box::new(served)));
                self.work().await;
            }
            Err(text) => {
                let refused = Heard::Refused { heard: now, joined: now, text: text.clone() };
                let before = self.runs.runs.insert(run, refused);
                if !matches!(before, Some(Heard::Refused { text: before, .. }) if before == text) {
                    self.options.events.tell(&Event::Refused(text));
                }
            }
        }
    }

    /// Gives up a run, with all that the worker has of it.
    pub(super) fn forget(&mut self, run: u64) {
        let Some(Heard::Served(served)) = self.runs.runs.remove(&run) else { return };
        let function = &served.function;
        self.options.events.tell(&Event::Left { name: format!("a program that calls {function}") });
        for key in self.held_of(run) {
            self.let_go(key);
        }
        self.stop_asking(run);
    }

    /// Forgets the runs of programs that are silent, and looks for queues that nobody needs any more.
    pub(super) fn forget_silent(&mut self) {
        let silent = self.runs.silent();
        if silent.is_empty() {
            return;
        }
        for run in silent {
            self.forget(run);
        }
        tokio::spawn(wire::sweep(self.line.clone()));
    }

    pub(super) fn worker_beat(&self, alone: Option<u64>) -> WorkerBeat {
        WorkerBeat {
            id: self.id,
            name: self.options.name.clone(),
            threads: self.threads.count() as u32,
            slots: self.slots() as u32,
            window: self.work.window() as u32,
            alone,
            is_leaving: self.is_leaving,
        }
    }

    /// Tells all programs that the worker lives, or that it leaves.
    pub(super) async fn beat(&mut self) {
        let beat = message(&self.worker_beat(self.running_alone()));
        let runs: Vec<u64> = match self.is_leaving {
            true => self.runs.all().collect(),
            false => self.runs.served().map(|(run, _)| run).collect(),
        };
        for run in runs {
            self.line.beat(subjects::member(run, "worker"), beat.clone()).await;
        }
    }
}
