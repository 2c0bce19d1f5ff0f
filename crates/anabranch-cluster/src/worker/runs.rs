//! The runs of programs that a worker has heard of.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::serving::Serving;
use crate::events::Event;
use crate::functions::Coded;
use crate::wire::{self, Beat, Join, Pass, Queue, Terms, WorkerBeat, message, read, subjects};

/// A program may be silent for so many leases, and at least for the time, before its run is given up.
const SILENT_LEASES: u32 = 3;
const SILENT: Duration = Duration::from_secs(2);

/// The answer to a join is waited for so long.
const JOINING: Duration = Duration::from_secs(3);

/// A worker that was refused asks again after this time, so that the program knows that it is there.
const ASKS_AGAIN: Duration = Duration::from_secs(1);

/// A run that refuses the worker is forgotten if it was not heard of for so long.
const FORGET_REFUSED: Duration = Duration::from_secs(10);

/// A run that the worker serves.
pub(super) struct Served {
    pub(super) function: String,
    pub(super) coded: Coded,
    pub(super) terms: Terms,
    pub(super) queue: Queue,
    pub(super) heard: Instant,
    /// Whether nobody has listened to its results since.
    pub(super) is_deaf: bool,
    /// How many batches wait that must run alone, as was heard last.
    pub(super) alone: u32,
    /// The requests for work that are open, with room on the line for what they bring.
    pub(super) asked: VecDeque<Pass>,
    pub(super) asked_at: Instant,
    /// No request before this moment.
    pub(super) paused: Instant,
}

impl Served {
    /// Whether its program seems to have ended. Then it gets no new work, and what the worker has of it is in the way of no other.
    pub(super) fn seems_dead(&self) -> bool {
        self.is_deaf || self.heard.elapsed() > self.terms.lease
    }
}

/// A run that was heard of.
enum Heard {
    Served(Box<Served>),
    /// Its program has other functions, as it said then.
    Refused {
        heard: Instant,
        joined: Instant,
        text: String,
    },
}

#[derive(Default)]
pub(super) struct Runs {
    runs: BTreeMap<u64, Heard>,
    joining: HashSet<u64>,
    pub(super) joins: JoinSet<(u64, Option<Result<Terms, String>>)>,
}

impl Runs {
    pub(super) fn served(&mut self) -> impl Iterator<Item = (u64, &mut Served)> {
        self.runs.iter_mut().filter_map(|(run, heard)| match heard {
            Heard::Served(served) => Some((*run, &mut **served)),
            Heard::Refused { .. } => None,
        })
    }

    pub(super) fn get(&mut self, run: u64) -> Option<&mut Served> {
        match self.runs.get_mut(&run)? {
            Heard::Served(served) => Some(served),
            Heard::Refused { .. } => None,
        }
    }

    /// The runs whose programs know this worker.
    pub(super) fn all(&self) -> impl Iterator<Item = u64> {
        self.runs.keys().copied()
    }

    /// Nothing was heard for some time, because the connection was lost. The server has forgotten the requests.
    pub(super) fn excuse(&mut self) {
        let now = Instant::now();
        for (_, served) in self.served() {
            served.heard = now;
            served.asked.clear();
        }
    }

    /// Those of which nothing was heard for long.
    pub(super) fn silent(&mut self) -> Vec<u64> {
        self.runs.retain(
            |_, heard| !matches!(heard, Heard::Refused { heard, .. } if heard.elapsed() > FORGET_REFUSED),
        );
        let is_silent =
            |served: &Served| served.heard.elapsed() > (served.terms.lease * SILENT_LEASES).max(SILENT);
        self.served().filter(|(_, served)| is_silent(served)).map(|(run, _)| run).collect()
    }

    /// The shortest lease of the runs that are served.
    pub(super) fn lease(&mut self) -> Option<Duration> {
        self.served().map(|(_, served)| served.terms.lease).min()
    }
}

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
