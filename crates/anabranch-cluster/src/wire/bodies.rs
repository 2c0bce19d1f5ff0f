//! Bodies that are too large for one message: the side that needs one asks for its parts.

use std::collections::HashMap;
use std::time::Duration;

use async_nats::Client;
use bytes::Bytes;
use futures_util::stream::{self, StreamExt};

use super::PartRequest;
use crate::functions::message;

/// A body of more bytes is asked for in parts. It bounds what a queue holds.
const INLINE: usize = 128 << 10;

/// The most bytes of a part.
const PART: usize = 1 << 20;

/// How many parts of a body are on their way at once.
const PARTS_AT_ONCE: usize = 2;

/// How long a part is waited for.
const PART_PATIENCE: Duration = Duration::from_secs(2);

/// The most bytes of the bodies in one message.
pub(crate) fn inline_limit(client: &Client) -> usize {
    INLINE.min(client.max_payload() / 2)
}

/// The most bytes of a part of a body.
pub(crate) fn part_limit(client: &Client) -> usize {
    PART.min(client.max_payload())
}

/// The bodies that the other side may ask for, by their tickets.
#[derive(Debug, Default)]
pub(crate) struct Shelf {
    bodies: HashMap<u64, Bytes>,
}

impl Shelf {
    pub(crate) fn put(&mut self, ticket: u64, body: Bytes) {
        self.bodies.insert(ticket, body);
    }

    pub(crate) fn remove(&mut self, ticket: u64) {
        self.bodies.remove(&ticket);
    }

    /// The part that is asked for. It is empty if there is none.
    pub(crate) fn part(&self, request: &PartRequest) -> Bytes {
        let Some(body) = self.bodies.get(&request.ticket) else { return Bytes::new() };
        let from = usize::try_from(request.offset).unwrap_or(usize::MAX).min(body.len());
        let length = usize::try_from(request.length).unwrap_or(usize::MAX).min(body.len() - from);
        body.slice(from..from + length)
    }
}

/// A body to be fetched from a shelf.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) client: Client,
    /// The subject by which the shelf is asked.
    pub(crate) subject: String,
    pub(crate) ticket: u64,
    pub(crate) length: u64,
}

/// Why a body has not come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// The other side does not have it any more.
    Gone,
    /// The other side does not answer.
    Silent,
}

impl Parts {
    /// Fetches the body. The caller has compared the length with its limit.
    pub(crate) async fn fetch(self) -> Result<Bytes, Missing> {
        let most = part_limit(&self.client) as u64;
        let count = self.length.div_ceil(most).max(1);
        let each = self.length.div_ceil(count);
        let ranges = (0..count).map(|n| (n * each, each.min(self.length - n * each)));
        let parts = stream::iter(ranges).map(|(offset, length)| self.part(offset, length));
        let mut parts = std::pin::pin!(parts.buffered(PARTS_AT_ONCE));
        let mut whole = Vec::with_capacity(usize::try_from(self.length).map_err(|_| Missing::Gone)?);
        while let Some(part) = parts.next().await {
            whole.extend_from_slice(&part?);
        }
        Ok(whole.into())
    }

    async fn part(&self, offset: u64, length: u64) -> Result<Bytes, Missing> {
        let payload = message(&PartRequest { ticket: self.ticket, offset, length });
        let asked = async_nats::Request::new().payload(payload).timeout(Some(PART_PATIENCE));
        let reply =
            self.client.send_request(self.subject.clone(), asked).await.map_err(|_| Missing::Silent)?;
        if reply.payload.len() as u64 == length { Ok(reply.payload) } else { Err(Missing::Gone) }
    }
}
