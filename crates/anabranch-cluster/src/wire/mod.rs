//! The messages between programs and workers, and their subjects.
//!
//! A **run** is a function in use by a program. It has a queue of its own, a stream of JetStream. The program puts **batches** of
//! calls into the queue, and workers take them. All else passes the server without being stored: a program says by a **beat** that
//! it lives, a worker **joins** its run, and sends the outcomes of a batch, which the program confirms. Items and results are
//! **bodies**: small ones are in the message, and the parts of a large one are asked for by a **ticket**.
//!
//! No message is sent again while it may be under way, however long this takes. A server keeps the order of the messages on a
//! connection. So a short message that is sent later and answered shows which ones are lost: a **probe** for outcomes, and a question
//! for parts.

mod bodies;
mod connect;
mod line;
mod meter;
mod queue;
pub(crate) mod subjects;
mod sweep;
mod text;

use std::cell::RefCell;
use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use serde::de::{DeserializeOwned, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

pub(crate) use bodies::{ENVELOPE_OF_CALL, Gone, Parts, Shelf, inline_limit};
pub(crate) use connect::connect;
pub(crate) use line::{ENDED, Line, Made};
pub(crate) use meter::{Flow, Mark, Meter, Pass};
pub(crate) use queue::{ALONE, Delivery, Failure, Queue, WORK, stored};
pub(crate) use sweep::sweep;
pub(crate) use text::short;

use crate::identity::Identity;

/// An item or a result on its way.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Body {
    Here(#[serde(deserialize_with = "sliced")] Bytes),
    /// The side that sends it has it on its [`Shelf`].
    Shelved {
        ticket: u64,
        length: u64,
    },
}

impl Body {
    pub(crate) fn length(&self) -> u64 {
        match self {
            Self::Here(bytes) => bytes.len() as u64,
            Self::Shelved { length, .. } => *length,
        }
    }
}

/// A program lives.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Beat {
    pub(crate) run: u64,
    /// How often the queue was made. It is another one each time.
    pub(crate) times_made: u32,
    /// How many batches of single items wait that must run alone.
    pub(crate) alone: u32,
    /// Batches whose results nobody needs any more.
    pub(crate) given_up: Vec<u64>,
    /// Whether the run is over.
    pub(crate) has_ended: bool,
}

/// A worker wants to serve a run. The reply is a `Result<Terms, String>`.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Join {
    pub(crate) worker: WorkerBeat,
    pub(crate) identity: Identity,
}

/// How a run is to be served.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Terms {
    pub(crate) function: String,
    /// How often the queue was made.
    pub(crate) times_made: u32,
    /// A batch whose lease is not renewed for so long is given to another worker.
    pub(crate) lease: Duration,
}

/// A worker lives.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct WorkerBeat {
    pub(crate) id: u64,
    /// Its name for people.
    pub(crate) name: String,
    pub(crate) threads: u32,
    /// How many batches it may hold at once.
    pub(crate) slots: u32,
    /// How many bytes of messages may be on their way to it at once.
    pub(crate) window: u32,
    /// The batch that it runs alone.
    pub(crate) alone: Option<u64>,
    pub(crate) is_leaving: bool,
}

/// Calls that travel together.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Batch {
    pub(crate) id: u64,
    pub(crate) calls: Vec<(u64, Body)>,
}

/// Outcomes of calls of a batch. The worker sends it until the program has confirmed it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Done {
    pub(crate) worker: u64,
    pub(crate) batch: u64,
    pub(crate) outcomes: Vec<(u64, Ended)>,
    pub(crate) times: Times,
}

/// How a call has ended on a worker.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Ended {
    Value(Body),
    Error(Body),
    /// The body is the message of the panic.
    Panic(Body),
    Undecodable(String),
    TooLarge {
        size: u64,
        limit: u64,
        side: String,
    },
}

/// The times of a worker for outcomes, added up, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Times {
    /// The calls were computed for so long.
    pub(crate) computed: u64,
    /// Their bodies were fetched for so long.
    pub(crate) fetched: u64,
    /// The batch then waited for a thread for so long.
    pub(crate) waited: u64,
}

impl Ended {
    /// The body of the outcome, if it has one.
    pub(crate) fn body(&self) -> Option<&Body> {
        match self {
            Self::Value(body) | Self::Error(body) | Self::Panic(body) => Some(body),
            Self::Undecodable(_) | Self::TooLarge { .. } => None,
        }
    }
}

/// A worker asks which of its messages are lost, by their numbers. The reply is a list of them: neither are they confirmed nor does the
/// program fetch their bodies.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Probe {
    pub(crate) worker: u64,
    pub(crate) numbers: Vec<u64>,
}

/// A part of a body is asked for. The reply is the part, and empty if there is no such body any more or no byte is asked for.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PartRequest {
    pub(crate) ticket: u64,
    pub(crate) offset: u64,
    pub(crate) length: u64,
}

/// The most bytes of a message for people in a message of this crate.
pub(crate) const WORDS: usize = 1 << 10;

/// The code of a message of this crate. Both sides have the same version of it, so it has no names.
pub(crate) fn message<T: Serialize>(value: &T) -> Bytes {
    postcard::to_stdvec(value).expect("numbers, bytes and texts can be encoded").into()
}

thread_local! {
    /// The message that is being read.
    static READ: RefCell<Bytes> = const { RefCell::new(Bytes::new()) };
}

/// Reads a message of this crate. `None` if it is something else. The bodies in it are parts of the message, and keep its memory.
pub(crate) fn read<T: DeserializeOwned>(message: &Bytes) -> Option<T> {
    READ.set(message.clone());
    let value = match postcard::take_from_bytes(message) {
        Ok((value, [])) => Some(value),
        _ => None,
    };
    READ.set(Bytes::new());
    value
}

/// Reads a body as a part of the [message](READ), without a copy.
fn sliced<'de, D: Deserializer<'de>>(reader: D) -> Result<Bytes, D::Error> {
    struct Part;
    impl Visitor<'_> for Part {
        type Value = Bytes;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("bytes of a message")
        }

        fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes, E> {
            READ.with_borrow(|message| Ok(message.slice_ref(bytes)))
        }
    }
    reader.deserialize_bytes(Part)
}

/// Returns a number that no other program or worker has.
pub(crate) fn random() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    // Its keys are random, and new ones for each process and each call.
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.finish()
}
