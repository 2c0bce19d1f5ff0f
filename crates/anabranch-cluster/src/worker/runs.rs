//! The runs of programs that a worker has heard of.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use crate::functions::Coded;
use crate::wire::{Pass, Queue, Terms};

/// A program may be silent for so many leases, and at least for the time, before its run is given up.
pub(super) const SILENT_LEASES: u32 = 3;
pub(super) const SILENT: Duration = Duration::from_secs(2);

/// The answer to a join is waited for so long.
pub(super) const JOINING: Duration = Duration::from_secs(3);

/// A worker that was refused asks again after this time, so that the program knows that it is there.
pub(super) const ASKS_AGAIN: Duration = Duration::from_secs(1);

/// A run that refuses the worker is forgotten if it was not heard of for so long.
pub(super) const FORGET_REFUSED: Duration = Duration::from_secs(10);

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
pub(super) enum Heard {
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
    pub(super) runs: BTreeMap<u64, Heard>,
    pub(super) joining: HashSet<u64>,
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

    /// The runs of which nothing was heard for long.
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
