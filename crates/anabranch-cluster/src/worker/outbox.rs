//! Messages about what a worker has taken from a queue. Each is kept until the program confirms it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::wire::{
    Body, Done, ENVELOPE_OF_CALL, Ended, Flow, Line, PartRequest, Pass, Probe, Shelf, inline_limit, message,
    read, subjects,
};

/// The program is asked which messages are lost after this time without a confirmation.
const WONDER: Duration = Duration::from_secs(1);

/// The question is repeated after this time, since it may be lost, too.
const PATIENCE: Duration = Duration::from_secs(5);

/// The most messages in a question.
const MOST: usize = 400;

/// The report on a batch.
pub(super) enum Word {
    /// It was delivered once more.
    Again(u64),
    /// Outcomes, whose bodies are all in here.
    Done(Done),
}

struct Entry {
    /// The message of the queue.
    held: u64,
    run: u64,
    word: Word,
    /// When it was sent, if it may be under way.
    sent: Option<(Instant, Pass)>,
    /// The results that the program may fetch: the numbers of the calls, and their tickets.
    tickets: Vec<(u64, u64)>,
}

pub(super) struct Outbox {
    worker: u64,
    line: Line,
    flow: Flow,
    entries: BTreeMap<u64, Entry>,
    shelf: Shelf,
    /// The runs to which nobody listens at the moment.
    deaf: HashSet<u64>,
    /// When the runs were asked what is lost.
    asked: HashMap<u64, Instant>,
    next: u64,
}

impl Outbox {
    pub(super) fn new(worker: u64, line: Line) -> Self {
        Self {
            worker,
            line,
            flow: Flow::new(),
            entries: BTreeMap::new(),
            shelf: Shelf::default(),
            deaf: HashSet::new(),
            asked: HashMap::new(),
            next: 0,
        }
    }

    pub(super) async fn add(&mut self, held: u64, run: u64, word: Word) {
        self.next += 1;
        self.entries.insert(self.next, Entry { held, run, word, sent: None, tickets: Vec::new() });
        self.pump().await;
    }

    /// Sends what is not under way, in its order, while the line has room.
    async fn pump(&mut self) {
        let waiting = self.entries.iter().filter(|(_, entry)| entry.sent.is_none());
        let waiting: Vec<u64> =
            waiting.filter(|(_, entry)| !self.deaf.contains(&entry.run)).map(|(number, _)| *number).collect();
        for number in waiting {
            let Some(entry) = self.entries.get_mut(&number) else { continue };
            let (topic, payload) = match &entry.word {
                Word::Again(batch) => ("again", message(batch)),
                Word::Done(done) => {
                    let limit = inline_limit(&self.line.bodies, self.flow.window());
                    ("done", written(done, limit, &mut self.shelf, &mut entry.tickets, &mut self.next))
                }
            };
            let Some(pass) = self.flow.try_enter(payload.len()) else { return };
            let reply = subjects::worker(self.worker, &format!("ok-{number:x}"));
            if !self.line.send(subjects::run(entry.run, topic), reply, payload).await {
                return;
            }
            entry.sent = Some((Instant::now(), pass));
        }
    }

    /// The shortest time in which a message was confirmed, or zero if nothing is known.
    pub(super) fn shortest(&self) -> Duration {
        self.flow.shortest()
    }

    /// The most bytes of results in one message, with their envelopes.
    pub(super) fn limit(&self) -> usize {
        inline_limit(&self.line.bodies, self.flow.window())
    }

    /// The program has confirmed a message. Returns the message of the queue that it was about.
    pub(super) async fn confirmed(&mut self, number: u64) -> Option<u64> {
        let Entry { held, sent, tickets, .. } = self.entries.remove(&number)?;
        if let Some((_, pass)) = sent
            && tickets.is_empty()
        {
            // Otherwise the program has fetched bodies meanwhile.
            pass.arrived();
        }
        tickets.iter().for_each(|(_, ticket)| self.shelf.remove(*ticket));
        self.pump().await;
        Some(held)
    }

    /// Nobody has listened to a message, which the server says at once. Returns its run.
    pub(super) fn unheard(&mut self, number: u64) -> Option<u64> {
        let entry = self.entries.get_mut(&number)?;
        entry.sent = None;
        self.deaf.insert(entry.run);
        Some(entry.run)
    }

    /// The program of a run lives.
    pub(super) async fn heard(&mut self, run: u64) {
        if self.deaf.remove(&run) {
            self.pump().await;
        }
    }

    /// A connection is there again.
    pub(super) async fn connected(&mut self) {
        self.asked.clear();
        self.pump().await;
        self.probe(Duration::ZERO).await;
    }

    pub(super) async fn tick(&mut self) {
        self.pump().await;
        self.probe(WONDER).await;
    }

    /// Asks the programs which messages are lost, if a confirmation is missing for so long.
    async fn probe(&mut self, silent: Duration) {
        let mut late = BTreeMap::<u64, Vec<u64>>::new();
        for (number, entry) in &self.entries {
            if entry.sent.as_ref().is_some_and(|(sent, _)| sent.elapsed() >= silent) {
                late.entry(entry.run).or_default().push(*number);
            }
        }
        self.asked.retain(|_, asked| asked.elapsed() < PATIENCE);
        for (run, mut numbers) in late {
            if self.asked.contains_key(&run) {
                continue;
            }
            numbers.truncate(MOST);
            let probe = message(&Probe { worker: self.worker, numbers });
            let reply = subjects::worker(self.worker, &format!("lost-{run:x}"));
            if self.line.send(subjects::run(run, "probe"), reply, probe).await {
                self.asked.insert(run, Instant::now());
            }
        }
    }

    /// The program of a run says which messages are lost, or nobody listens there.
    pub(super) async fn lost(&mut self, run: u64, answer: Option<&Bytes>) {
        let numbers = answer.and_then(read::<Vec<u64>>);
        if numbers.is_some() {
            self.asked.remove(&run);
        }
        for number in numbers.unwrap_or_default() {
            if let Some(entry) = self.entries.get_mut(&number) {
                entry.sent = None;
            }
        }
        self.pump().await;
    }

    /// The part of a body that a program asks for.
    pub(super) fn part(&self, request: &PartRequest) -> Bytes {
        self.shelf.part(request)
    }

    /// Forgets what was to be told about a message of the queue.
    pub(super) fn forget(&mut self, held: u64) {
        let shelf = &mut self.shelf;
        self.entries.retain(|_, entry| {
            let stays = entry.held != held;
            if !stays {
                entry.tickets.iter().for_each(|(_, ticket)| shelf.remove(*ticket));
            }
            stays
        });
    }
}

/// The message of outcomes. The bodies for which it has no room are put on the shelf.
fn written(
    done: &Done,
    limit: usize,
    shelf: &mut Shelf,
    tickets: &mut Vec<(u64, u64)>,
    next: &mut u64,
) -> Bytes {
    let mut bytes = done.outcomes.len() * ENVELOPE_OF_CALL;
    let mut shelve = |id: u64, body: &Body| {
        let Body::Here(body) = body else { return body.clone() };
        if bytes + body.len() <= limit {
            bytes += body.len();
            return Body::Here(body.clone());
        }
        // A message that is sent again has the same tickets, since the program may be fetching.
        let known = tickets.iter().find(|(call, _)| *call == id).map(|(_, ticket)| *ticket);
        let ticket = known.unwrap_or_else(|| {
            *next += 1;
            tickets.push((id, *next));
            shelf.put(*next, body.clone());
            *next
        });
        Body::Shelved { ticket, length: body.len() as u64 }
    };
    let outcomes = done.outcomes.iter().map(|(id, ended)| {
        let ended = match ended {
            Ended::Value(body) => Ended::Value(shelve(*id, body)),
            Ended::Error(body) => Ended::Error(shelve(*id, body)),
            Ended::Panic(body) => Ended::Panic(shelve(*id, body)),
            other => other.clone(),
        };
        (*id, ended)
    });
    message(&Done { outcomes: outcomes.collect(), ..*done })
}
