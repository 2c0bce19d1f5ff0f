//! Bodies that are too large for one message: the side that needs one asks for its parts.

use std::collections::HashMap;
use std::time::Duration;

use async_nats::Client;
use bytes::Bytes;
use futures_util::stream::{FuturesOrdered, StreamExt};

use super::meter::{Flow, Pass, is_quick};
use super::{PartRequest, message};

/// The bounds of the bodies in one message, in bytes. Longer ones are asked for in parts. It bounds what a queue holds, and how long the
/// messages of a queue keep a slow line busy.
const INLINE: usize = 128 << 10;
/// The same for lines that are [quick](is_quick). A server takes some hundred microseconds for each message of a queue, whatever its length: items of 4 KiB cost a
/// fifth less processor time in messages of 256 KiB than in those of 128 KiB.
const QUICK_INLINE: usize = 256 << 10;
const LEAST_INLINE: usize = 16 << 10;

/// The least number of messages under way, if a line is busy with them.
const MESSAGES_AT_ONCE: usize = 8;

/// The bounds of a part, in bytes.
const SMALLEST_PART: usize = 32 << 10;
const LARGEST_PART: usize = 1 << 20;

/// A body is fetched in at least so many parts, if they are under way at once.
const PARTS_AT_ONCE: usize = 4;

/// After this time without an answer, a question follows the request for a part.
const WONDER: Duration = Duration::from_secs(1);

/// The other side is asked again after this time if nobody listens there.
const NOBODY: Duration = Duration::from_millis(100);

/// The bytes of a message that are not its bodies: those of the message, and those of each call.
pub(crate) const ENVELOPE: usize = 128;
pub(crate) const ENVELOPE_OF_CALL: usize = 40;

/// The least `max_payload` of a server, in bytes: requests to JetStream have some hundred.
pub(crate) const LEAST_PAYLOAD: usize = 4 << 10;

/// The most bytes of the bodies in one message, with their envelopes. The line of the message has a window of so many bytes.
pub(crate) fn inline_limit(client: &Client, window: usize) -> usize {
    let most = (client.max_payload() / 2).saturating_sub(ENVELOPE);
    let bound = if is_quick(window) { QUICK_INLINE } else { INLINE };
    (window / MESSAGES_AT_ONCE).clamp(LEAST_INLINE, bound).min(most)
}

/// The most bytes of a part of a body.
fn part_limit(client: &Client) -> usize {
    LARGEST_PART.min(client.max_payload()).max(1)
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
#[derive(Debug, Clone)]
pub(crate) struct Parts {
    pub(crate) client: Client,
    pub(crate) flow: Flow,
    /// The subject by which the shelf is asked.
    pub(crate) subject: String,
    pub(crate) ticket: u64,
    pub(crate) length: u64,
}

/// The other side does not have the body any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gone;

impl Parts {
    /// Fetches the body, for as long as this takes. The caller has compared the length with its limit.
    ///
    /// A part is asked for again only if it is lost. Requests and answers keep their order on the way. So if a question that was
    /// asked later is answered before the part, the part will not arrive.
    pub(crate) async fn fetch(&self) -> Result<Bytes, Gone> {
        let length = usize::try_from(self.length).map_err(|_| Gone)?;
        let mut whole = Vec::new();
        let mut parts = FuturesOrdered::new();
        // The parts of this body pass before those of later ones, so that it is whole early.
        let (number, mut asked, mut next) = (self.flow.number(), 0, None);
        loop {
            if next.is_none() && asked < length {
                let size = (self.flow.window() / PARTS_AT_ONCE).clamp(SMALLEST_PART, LARGEST_PART);
                let size = size.min(part_limit(&self.client)).min(length - asked);
                next = Some(Box::pin(async move { (size, self.flow.enter(number, size).await) }));
            }
            tokio::select! {
                biased;
                Some(part) = parts.next(), if !parts.is_empty() => {
                    let part: Bytes = part?;
                    // Not before: many bodies wait for the line at once, beside the items of which they are the results.
                    if whole.capacity() == 0 {
                        whole.reserve_exact(length);
                    }
                    whole.extend_from_slice(&part);
                }
                (size, pass) = async { next.as_mut().expect("it is there").await }, if next.is_some() => {
                    next = None;
                    parts.push_back(self.part(number, asked as u64, size as u64, pass));
                    asked += size;
                }
                else => return Ok(whole.into()),
            }
        }
    }

    async fn part(&self, number: u64, offset: u64, length: u64, pass: Pass) -> Result<Bytes, Gone> {
        let mut pass = Some(pass);
        let mut pieces = Vec::new();
        let mut left = length;
        while left > 0 {
            // A server that was started again may take shorter messages than before.
            let most = left.min(part_limit(&self.client) as u64);
            let request = PartRequest { ticket: self.ticket, offset: offset + length - left, length: most };
            tokio::select! {
                biased;
                piece = self.ask(&request, None) => match piece {
                    Ok(piece) if piece.len() as u64 == most => {
                        left -= most;
                        pieces.push(piece);
                    }
                    Ok(_) => return Err(Gone),
                    Err(()) => {
                        // Others may use the line meanwhile.
                        drop(pass.take());
                        tokio::time::sleep(NOBODY).await;
                        pass = Some(self.flow.enter(number, length as usize).await);
                    }
                },
                () = self.overtake() => {}
            }
        }
        if let Some(pass) = pass {
            pass.arrived();
        }
        match <[Bytes; 1]>::try_from(pieces) {
            Ok([whole]) => Ok(whole),
            Err(pieces) => Ok(pieces.concat().into()),
        }
    }

    /// Ends when a question was answered that was asked now or later.
    async fn overtake(&self) {
        let question = PartRequest { ticket: self.ticket, offset: 0, length: 0 };
        loop {
            tokio::time::sleep(WONDER).await;
            // A question may be lost, too.
            if self.ask(&question, Some(WONDER * 5)).await.is_ok() {
                return;
            }
        }
    }

    async fn ask(&self, request: &PartRequest, patience: Option<Duration>) -> Result<Bytes, ()> {
        let asked = async_nats::Request::new().payload(message(request)).timeout(patience);
        let reply = self.client.send_request(self.subject.clone(), asked).await;
        reply.map(|reply| reply.payload).map_err(drop)
    }
}
