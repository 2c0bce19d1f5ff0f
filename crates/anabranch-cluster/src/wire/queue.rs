//! The queue of a run: a stream of JetStream in the memory of the server, with a consumer for each kind of work.
//!
//! The requests are those of the interface of JetStream, whose messages are JSON: <https://docs.nats.io/reference/reference-protocols/nats_api_reference>.

use std::fmt;
use std::time::Duration;

use async_nats::{Message, RequestErrorKind};
use bytes::Bytes;
use serde_json::{Value, json};

use super::line::Line;
use super::subjects;
use crate::error::Error;

/// A request to JetStream may take so long. In the worst case the server is about to start.
const PATIENCE: Duration = Duration::from_secs(5);

/// The kinds of work, each with a consumer of the same name.
pub(crate) const WORK: &str = "work";
pub(crate) const ALONE: &str = "alone";

/// The error codes of JetStream for what is not there: <https://github.com/nats-io/nats-server/blob/main/server/errors.json>.
const NO_STREAM: u64 = 10_059;
const NOT_FOR_ACCOUNT: u64 = 10_039;

/// The reason why a request to JetStream has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// There was no answer, so the request has had its effect or not.
    Silent,
    /// Nobody answers such requests: the server has no JetStream.
    Nobody,
    /// This user may not make the request, or not get the answer.
    Forbidden(String),
    /// The answer is an error.
    Says { code: u64, text: String },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silent => f.write_str("JetStream does not answer"),
            Self::Nobody => f.write_str("JetStream is not enabled on the server"),
            Self::Forbidden(text) | Self::Says { text, .. } => f.write_str(text),
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Queue {
    line: Line,
    run: u64,
    /// How often the run has made its queue. Each one has a name of its own, so that no worker acknowledges a message of another one.
    times_made: u32,
    stream: String,
}

/// A message of a queue, as the worker that has it sees it.
#[derive(Debug, Clone)]
pub(crate) struct Delivery {
    /// The subject by which it is acknowledged.
    pub(crate) reply: String,
    /// How often it was delivered so far, this time included.
    pub(crate) count: u64,
}

impl Delivery {
    /// `$JS.ACK.STREAM.CONSUMER.DELIVERED...` of older servers, and `$JS.ACK.DOMAIN.ACCOUNT.STREAM.CONSUMER.DELIVERED...` of newer ones.
    pub(crate) fn of(message: &Message) -> Option<Self> {
        let reply = message.reply.as_ref()?.as_str();
        let words: Vec<&str> = reply.split('.').collect();
        if words.first() != Some(&"$JS") || words.get(1) != Some(&"ACK") {
            return None;
        }
        let at = if words.len() >= 11 { 6 } else { 4 };
        Some(Self { reply: reply.to_owned(), count: words.get(at)?.parse().ok()? })
    }
}

impl Queue {
    pub(crate) fn new(line: Line, set: &str, run: u64, times_made: u32) -> Self {
        let stream = format!("{}-{set}-{run:016x}-{times_made}", subjects::PREFIX);
        Self { line, run, times_made, stream }
    }

    pub(crate) fn times_made(&self) -> u32 {
        self.times_made
    }

    /// Makes the stream and its consumers, or those of them that are not there. It may be repeated.
    pub(crate) async fn make(&self, lease: Duration) -> Result<(), Failure> {
        let stream = json!({
            "name": self.stream,
            "subjects": [self.subject("*")],
            "retention": "workqueue",
            "storage": "memory",
            "max_consumers": -1, "max_msgs": -1, "max_bytes": -1, "max_age": 0,
            "num_replicas": 1,
        });
        api(&self.line, &format!("STREAM.CREATE.{}", self.stream), stream).await?;
        self.make_consumers(lease).await
    }

    async fn make_consumers(&self, lease: Duration) -> Result<(), Failure> {
        for kind in [WORK, ALONE] {
            let config = json!({
                "stream_name": self.stream,
                "config": {
                    "durable_name": kind,
                    "filter_subject": self.subject(kind),
                    "ack_policy": "explicit",
                    "deliver_policy": "all",
                    "ack_wait": u64::try_from(lease.as_nanos()).unwrap_or(u64::MAX),
                    "max_deliver": -1,
                    "max_ack_pending": 1_000_000,
                    "max_waiting": 10_000,
                    "mem_storage": true,
                },
            });
            api(&self.line, &format!("CONSUMER.DURABLE.CREATE.{}.{kind}", self.stream), config).await?;
        }
        Ok(())
    }

    /// Returns whether the stream is there, with what was put in. Makes its consumers if they are missing.
    pub(crate) async fn check(&self, lease: Duration) -> Result<bool, Failure> {
        let there = match api(&self.line, &format!("STREAM.INFO.{}", self.stream), Value::Null).await {
            Ok(_) => self.make_consumers(lease).await,
            Err(failure) => Err(failure),
        };
        match there {
            Ok(()) => Ok(true),
            Err(Failure::Says { code: NO_STREAM, .. }) => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    fn subject(&self, kind: &str) -> String {
        subjects::queue(self.run, self.times_made, kind)
    }

    pub(crate) async fn delete(&self) {
        // The stream may be gone already.
        let _ = delete(&self.line, &self.stream).await;
    }

    /// Takes a message out that no worker has, or only a worker that will not acknowledge it.
    pub(crate) async fn take_out(&self, sequence: u64) {
        let request = json!({ "seq": sequence, "no_erase": true });
        let _ = api(&self.line, &format!("STREAM.MSG.DELETE.{}", self.stream), request).await;
    }

    /// Puts a message in. The server tells the sequence number of the message to `reply`. Returns whether the message is on its way.
    pub(crate) async fn put(&self, kind: &str, payload: Bytes, reply: String) -> bool {
        self.line.send(self.subject(kind), reply, payload).await
    }

    /// Asks for messages, which are sent to `reply` while there are any, until the time has passed. Without a time, the request ends
    /// at once if there is none. Returns whether the request is on its way. It follows the subscription to `reply` on its connection.
    pub(crate) async fn pull(
        &self,
        kind: &str,
        most: usize,
        expires: Option<Duration>,
        reply: String,
    ) -> bool {
        let mut request = json!({ "batch": most });
        match expires {
            Some(time) => request["expires"] = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).into(),
            None => request["no_wait"] = true.into(),
        }
        let subject = format!("$JS.API.CONSUMER.MSG.NEXT.{}.{kind}", self.stream);
        self.line.send(subject, reply, request.to_string().into()).await
    }
}

/// The server's answer to a message that was put into a queue: its sequence number, or why it is not stored. `None` if there is no
/// queue.
pub(crate) fn stored(answer: &[u8]) -> Option<Result<u64, String>> {
    let answer: Value = serde_json::from_slice(answer).ok()?;
    match answer.get("error") {
        Some(error) => Some(Err(text_of(error))),
        None => answer["seq"].as_u64().filter(|number| *number > 0).map(Ok),
    }
}

fn text_of(error: &Value) -> String {
    error["description"].as_str().unwrap_or("an error without a text").to_owned()
}

/// Whether the server has JetStream for this account.
pub(crate) async fn check(line: &Line, url: &str) -> Result<(), Error> {
    let Err(failure) = api(line, "INFO", Value::Null).await else { return Ok(()) };
    let (url, cause) = (url.to_owned(), failure.to_string());
    Err(match failure {
        Failure::Silent => Error::Connect { url, cause },
        Failure::Forbidden(_) => Error::NotAllowed { url, cause },
        Failure::Says { code: NOT_FOR_ACCOUNT, .. } => {
            let cure = "enable it for the account, by `jetstream: enabled`".to_owned();
            Error::NoJetStream { url, cause, cure }
        }
        _ => Error::NoJetStream { url, cause, cure: "start it with `nats-server -js`".to_owned() },
    })
}

/// The queues on the server, of all programs: the names of their streams, the sets of their programs, and their runs.
pub(crate) async fn queues(line: &Line) -> Result<Vec<(String, String, u64)>, Failure> {
    let mut queues = Vec::new();
    let mut seen = 0;
    loop {
        let answer = api(line, "STREAM.NAMES", json!({ "offset": seen })).await?;
        let names = answer["streams"].as_array().map_or(&[][..], Vec::as_slice);
        for name in names.iter().filter_map(Value::as_str) {
            let mut words = name.strip_prefix(subjects::PREFIX).unwrap_or_default().rsplitn(3, '-');
            let (_, run, set) = (words.next(), words.next(), words.next());
            if let (Some(Ok(run)), Some(set)) = (run.map(|run| u64::from_str_radix(run, 16)), set)
                && let Some(set) = set.strip_prefix('-')
            {
                queues.push((name.to_owned(), set.to_owned(), run));
            }
        }
        seen += names.len();
        if names.is_empty() || seen as u64 >= answer["total"].as_u64().unwrap_or(0) {
            return Ok(queues);
        }
    }
}

pub(crate) async fn delete(line: &Line, stream: &str) -> Result<(), Failure> {
    api(line, &format!("STREAM.DELETE.{stream}"), Value::Null).await.map(drop)
}

async fn api(line: &Line, operation: &str, request: Value) -> Result<Value, Failure> {
    let payload: Bytes = if request.is_null() { Bytes::new() } else { request.to_string().into() };
    let asked = async_nats::Request::new().payload(payload).timeout(Some(PATIENCE));
    let (mut forbidden, mut news) = (line.forbidden(), line.news());
    let reply = tokio::select! {
        biased;
        reply = line.beats.send_request(format!("$JS.API.{operation}"), asked) => reply,
        // It is about this request or about its answer, or both will be repeated anyway.
        Ok(()) = forbidden.changed() => {
            let text = forbidden.borrow().clone();
            return Err(Failure::Forbidden(text));
        }
        // The answer is lost, or the request is.
        Ok(()) = news.changed() => return Err(Failure::Silent),
    };
    let reply = reply.map_err(|error| match error.kind() {
        RequestErrorKind::NoResponders => Failure::Nobody,
        _ => Failure::Silent,
    })?;
    let answer: Value = serde_json::from_slice(&reply.payload).map_err(|error| Failure::Says {
        code: 0,
        text: format!("an answer of JetStream is no JSON: {error}"),
    })?;
    match answer.get("error") {
        None => Ok(answer),
        Some(error) => {
            let code = error["err_code"].as_u64().unwrap_or(0);
            Err(Failure::Says { code, text: text_of(error) })
        }
    }
}
