//! The workers of a run, as its program knows them.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::wire::WorkerBeat;

/// A worker that serves the run.
#[derive(Debug)]
struct Member {
    beat: WorkerBeat,
    /// When it was heard of, or there was no connection to hear it.
    heard: Instant,
    /// When it said something.
    said: Instant,
}

/// A worker that has other functions.
#[derive(Debug)]
struct Stranger {
    heard: Instant,
    text: String,
}

/// A worker that was refused asks again after a second or more, so it is forgotten so much later than one that serves.
const ASKS_AGAIN: Duration = Duration::from_secs(2);

#[derive(Debug, Default)]
pub(super) struct Members {
    members: HashMap<u64, Member>,
    strangers: HashMap<u64, Stranger>,
    /// When the last worker was forgotten that had not said that it leaves.
    lost: Option<Instant>,
    /// Since when a worker is needed although there is none, and when this was told.
    missed: Option<(Instant, Instant)>,
}

/// The change by a beat.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Change {
    Nothing,
    Joined(String),
    Left(String),
}

impl Members {
    fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// How many batches all of them may hold at once.
    pub(super) fn slots(&self) -> usize {
        self.members.values().map(|member| member.beat.slots as usize).sum()
    }

    /// The least of the windows of their lines, in bytes. Zero if there are none.
    pub(super) fn window(&self) -> usize {
        self.members.values().map(|member| member.beat.window as usize).min().unwrap_or(0)
    }

    pub(super) fn heard(&mut self, beat: WorkerBeat) -> Change {
        let name = beat.name.clone();
        self.strangers.remove(&beat.id);
        if beat.is_leaving {
            return self.members.remove(&beat.id).map_or(Change::Nothing, |_| Change::Left(name));
        }
        let now = Instant::now();
        let member = Member { heard: now, said: now, beat };
        match self.members.insert(member.beat.id, member) {
            None => Change::Joined(name),
            Some(_) => Change::Nothing,
        }
    }

    /// A worker with other functions wants to serve the run. Returns whether this is new.
    pub(super) fn refuse(&mut self, worker: u64, text: &str) -> bool {
        let stranger = Stranger { heard: Instant::now(), text: text.to_owned() };
        let before = self.strangers.insert(worker, stranger);
        before.is_none_or(|before| before.text != text)
    }

    /// The reason why the workers that are there do not serve the run. `None` if there are none.
    pub(super) fn refused(&self) -> Option<&str> {
        self.strangers.values().map(|stranger| stranger.text.as_str()).next()
    }

    /// How long a worker was needed while there is none, if this is to be told: after each stretch of `patience`.
    pub(super) fn is_missed(&mut self, is_needed: bool, patience: Duration) -> Option<Duration> {
        if !is_needed || !self.is_empty() {
            self.missed = None;
            return None;
        }
        let now = Instant::now();
        let (since, told) = *self.missed.get_or_insert((now, now));
        if told.elapsed() < patience {
            return None;
        }
        self.missed = Some((since, now));
        Some(since.elapsed())
    }

    /// Nothing was heard of anybody for some time, because the connection was lost.
    pub(super) fn excuse(&mut self) {
        let now = Instant::now();
        self.members.values_mut().for_each(|member| member.heard = now);
    }

    /// Whether a worker has ended after `since`. It is not known before all that are there have said something after `at`.
    pub(super) fn has_one_ended(&self, since: Instant, at: Instant) -> Option<bool> {
        if self.lost.is_some_and(|lost| lost >= since) {
            return Some(true);
        }
        self.members.values().all(|member| member.said >= at).then_some(false)
    }

    /// Forgets those that were not heard of for the time. Returns the numbers and names of those that have served.
    pub(super) fn forget_silent(&mut self, silent: Duration) -> Vec<(u64, String)> {
        let mut left = Vec::new();
        self.members.retain(|id, member| {
            let stays = member.heard.elapsed() < silent;
            if !stays {
                self.lost = Some(Instant::now());
                left.push((*id, member.beat.name.clone()));
            }
            stays
        });
        self.strangers.retain(|_, stranger| stranger.heard.elapsed() < silent + ASKS_AGAIN);
        left
    }
}
