//! The workers of a run, as its program knows them.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::wire::WorkerBeat;

/// A worker that serves the run.
#[derive(Debug)]
struct Member {
    beat: WorkerBeat,
    heard: Instant,
}

#[derive(Debug, Default)]
pub(super) struct Members {
    members: HashMap<u64, Member>,
}

/// What a beat has changed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Change {
    Nothing,
    Joined(String),
    Left(String),
}

impl Members {
    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// How many batches all of them may hold at once.
    pub(super) fn slots(&self) -> usize {
        self.members.values().map(|member| member.beat.slots as usize).sum()
    }

    pub(super) fn heard(&mut self, beat: WorkerBeat) -> Change {
        let name = beat.name.clone();
        if beat.is_leaving {
            return self.members.remove(&beat.id).map_or(Change::Nothing, |_| Change::Left(name));
        }
        let member = Member { heard: Instant::now(), beat };
        match self.members.insert(member.beat.id, member) {
            None => Change::Joined(name),
            Some(_) => Change::Nothing,
        }
    }

    /// Forgets those that were not heard of for the time. Returns their names.
    pub(super) fn forget_silent(&mut self, silent: Duration) -> Vec<String> {
        let mut left = Vec::new();
        self.members.retain(|_, member| {
            let stays = member.heard.elapsed() < silent;
            if !stays {
                left.push(member.beat.name.clone());
            }
            stays
        });
        left
    }
}
