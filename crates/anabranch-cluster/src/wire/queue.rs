//! The queue of a run: a stream of JetStream in the memory of the server, with a consumer for each kind of work.
//!
//! The requests are those of the interface of JetStream, whose messages are JSON: <https://docs.nats.io/reference/reference-protocols/nats_api_reference>.

use std::time::Duration;

use async_nats::{Client, Message};
use bytes::Bytes;
use serde_json::{Value, json};

use super::subjects;
use crate::error::Error;

/// A request to JetStream may take so long. In the worst case the server is about to start.
const PATIENCE: Duration = Duration::from_secs(5);

/// The kinds of work, each with a consumer of the same name.
pub(crate) const WORK: &str = "work";
pub(crate) const ALONE: &str = "alone";

#[derive(Debug, Clone)]
pub(crate) struct Queue {
    client: Client,
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
    pub(crate) fn new(client: Client, set: &str, run: u64, times_made: u32) -> Self {
        let stream = format!("{}-{set}-{run:016x}-{times_made}", subjects::PREFIX);
        Self { client, run, times_made, stream }
    }

    pub(crate) fn times_made(&self) -> u32 {
        self.times_made
    }

    /// Makes the stream and its consumers.
    pub(crate) async fn make(&self, lease: Duration) -> Result<(), String> {
        let stream = json!({
            "name": self.stream,
            "subjects": [self.subject("*")],
            "retention": "workqueue",
            "storage": "memory",
            "max_consumers": -1, "max_msgs": -1, "max_bytes": -1, "max_age": 0,
            "num_replicas": 1,
        });
        api(&self.client, &format!("STREAM.CREATE.{}", self.stream), stream).await?;
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
            api(&self.client, &format!("CONSUMER.DURABLE.CREATE.{}.{kind}", self.stream), config).await?;
        }
        Ok(())
    }

    pub(crate) async fn is_there(&self) -> bool {
        api(&self.client, &format!("STREAM.INFO.{}", self.stream), Value::Null).await.is_ok()
    }

    fn subject(&self, kind: &str) -> String {
        subjects::queue(self.run, self.times_made, kind)
    }

    pub(crate) async fn delete(&self) {
        // The stream may be gone already.
        let _ = api(&self.client, &format!("STREAM.DELETE.{}", self.stream), Value::Null).await;
    }

    /// Takes a message out that no worker has, or only a worker that will not acknowledge it.
    pub(crate) async fn take_out(&self, sequence: u64) {
        let request = json!({ "seq": sequence, "no_erase": true });
        let _ = api(&self.client, &format!("STREAM.MSG.DELETE.{}", self.stream), request).await;
    }

    /// Puts a message in. The server tells the sequence number of the message to `reply`.
    pub(crate) async fn put(&self, kind: &str, payload: Bytes, reply: String) {
        let _ = self.client.publish_with_reply(self.subject(kind), reply, payload).await;
    }

    /// Asks for messages, which come to `reply` while there are any, until the time has passed. Without a time, the request ends
    /// at once if there is none.
    pub(crate) async fn pull(&self, kind: &str, most: usize, expires: Option<Duration>, reply: String) {
        let mut request = json!({ "batch": most });
        match expires {
            Some(time) => request["expires"] = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).into(),
            None => request["no_wait"] = true.into(),
        }
        let subject = format!("$JS.API.CONSUMER.MSG.NEXT.{}.{kind}", self.stream);
        let _ = self.client.publish_with_reply(subject, reply, request.to_string().into()).await;
    }
}

/// Whether the server has JetStream for this account.
pub(crate) async fn check(client: &Client, url: &str) -> Result<(), Error> {
    let answer = api(client, "INFO", Value::Null).await;
    answer.map(drop).map_err(|cause| Error::NoJetStream { url: url.to_owned(), cause })
}

/// The queues of a set on the server: the number of the run, and how often it has made its queue.
pub(crate) async fn queues(client: &Client, set: &str) -> Vec<(u64, u32)> {
    let prefix = format!("{}-{set}-", subjects::PREFIX);
    let Ok(answer) = api(client, "STREAM.NAMES", Value::Null).await else { return Vec::new() };
    let names = answer["streams"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let numbers = names.filter_map(|name| {
        let (run, times) = name.strip_prefix(&prefix)?.split_once('-')?;
        Some((u64::from_str_radix(run, 16).ok()?, times.parse().ok()?))
    });
    numbers.collect()
}

async fn api(client: &Client, operation: &str, request: Value) -> Result<Value, String> {
    let payload: Bytes = if request.is_null() { Bytes::new() } else { request.to_string().into() };
    let asked = async_nats::Request::new().payload(payload).timeout(Some(PATIENCE));
    let reply = client.send_request(format!("$JS.API.{operation}"), asked).await;
    let reply = reply.map_err(|error| error.to_string())?;
    let answer: Value = serde_json::from_slice(&reply.payload).map_err(|error| error.to_string())?;
    match answer.get("error") {
        None => Ok(answer),
        Some(error) => Err(error["description"].as_str().unwrap_or("an error without a text").to_owned()),
    }
}
