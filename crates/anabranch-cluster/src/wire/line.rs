//! The connections of a program or a worker.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_nats::connection::State;
use async_nats::{Client, ClientError, ConnectError, ConnectErrorKind, ServerError};
use bytes::Bytes;
use tokio::sync::watch;

use super::bodies::LEAST_PAYLOAD;
use crate::address::Address;
use crate::error::Error;
use crate::events::{Event, Events};
use crate::options::ClusterOptions;

/// The connection of bodies is quiet while it sends large ones, so it gets more time for its answers. The connection of beats finds
/// a line that was cut.
const BODIES_PING: Duration = Duration::from_secs(10);

/// The time between two looks for a server that is not there yet.
const LOOK: Duration = Duration::from_millis(300);

/// The reason why a run or a worker ends if a connection does.
pub(crate) const ENDED: &str = "the connection to the server has ended for good, and is not made again: the server may demand TLS now, \
                                which needs the feature `tls` of the crate `anabranch-cluster`";

/// How often the connections were made again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Made {
    pub(crate) bodies: u64,
    pub(crate) beats: u64,
}

/// Two connections to a server. Items and results pass on one, and beats on the other, so that no beat waits for a body.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) bodies: Client,
    pub(crate) beats: Client,
    news: watch::Receiver<Made>,
    /// The last action that the server forbade this user.
    forbidden: watch::Receiver<String>,
}

impl Line {
    /// Connects to a server. A server that is not there yet is waited for.
    pub(super) async fn connect(
        address: &Address,
        options: &ClusterOptions,
        wait: Duration,
    ) -> Result<Self, Error> {
        let (news, renewed) = watch::channel(Made::default());
        let (forbids, forbidden) = watch::channel(String::new());
        let watcher = Arc::new(Watcher {
            bodies: Mutex::new(None),
            address: address.to_string(),
            patience: options.patience,
            events: options.events.clone(),
            news,
            forbids,
            away: Mutex::new(None),
        });
        let ping = (options.lease / 2).clamp(Duration::from_millis(500), BODIES_PING);
        let bodies = watcher.first(address, options, BODIES_PING, wait).await?;
        *lock(&watcher.bodies) = Some(bodies.clone());
        let beats = watcher.connect(address, options, ping, true).await?;
        let line = Self { bodies, beats, news: renewed, forbidden };
        let most = line.bodies.max_payload();
        if most < LEAST_PAYLOAD {
            let address = address.to_string();
            return Err(Error::SmallMessages { url: address, most, needed: LEAST_PAYLOAD });
        }
        Ok(line)
    }

    /// Says how often a connection was made again. Messages that were under way then may be lost.
    pub(crate) fn news(&self) -> watch::Receiver<Made> {
        let mut news = self.news.clone();
        news.mark_unchanged();
        news
    }

    /// The actions that the server forbids this user from now on.
    pub(crate) fn forbidden(&self) -> watch::Receiver<String> {
        let mut forbidden = self.forbidden.clone();
        forbidden.mark_unchanged();
        forbidden
    }

    /// Whether both connections seem to be there.
    pub(crate) fn is_connected(&self) -> bool {
        [&self.bodies, &self.beats].iter().all(|client| client.connection_state() == State::Connected)
    }

    /// Whether a connection has ended for good: the client has given up, or it has panicked.
    pub(crate) async fn has_ended(&self) -> bool {
        for client in [&self.bodies, &self.beats] {
            // A client that is connecting takes the order and does not answer yet.
            if let Ok(Err(_)) = tokio::time::timeout(Duration::from_millis(1), client.flush()).await {
                return true;
            }
        }
        false
    }

    /// Sends a small message that a later one replaces. It is dropped while there is no connection.
    pub(crate) async fn beat(&self, subject: String, payload: Bytes) {
        if self.beats.connection_state() == State::Connected {
            let _ = self.beats.publish(subject, payload).await;
        }
    }

    /// Sends a message that is answered at `reply`. Returns whether it is on its way.
    pub(crate) async fn send(&self, subject: String, reply: String, payload: Bytes) -> bool {
        self.bodies.connection_state() == State::Connected
            && self.bodies.publish_with_reply(subject, reply, payload).await.is_ok()
    }

    /// Answers a message that has arrived on the connection of bodies.
    pub(crate) async fn answer(&self, reply: Option<async_nats::Subject>, payload: Bytes) {
        if let Some(reply) = reply {
            let _ = self.bodies.publish(reply, payload).await;
        }
    }
}

/// Is told of the events of both connections.
struct Watcher {
    /// The connection of bodies, once it is there.
    bodies: Mutex<Option<Client>>,
    address: String,
    patience: Duration,
    events: Events,
    news: watch::Sender<Made>,
    forbids: watch::Sender<String>,
    /// The server is away: since when, what was said when, and how often the connections were made before.
    away: Mutex<Option<Away>>,
}

struct Away {
    since: Instant,
    told: Instant,
    /// The reason why the server refuses the connection, as was told last.
    refused: Option<String>,
    made: Made,
}

impl Watcher {
    /// Makes the first connection, as soon as the server is there.
    async fn first(
        self: &Arc<Self>,
        address: &Address,
        options: &ClusterOptions,
        ping: Duration,
        wait: Duration,
    ) -> Result<Client, Error> {
        let (began, mut told) = (Instant::now(), false);
        loop {
            address.look().await?;
            match self.connect(address, options, ping, false).await {
                Err(Error::Connect { .. }) if began.elapsed() < wait => {}
                Ok(client) => {
                    if told {
                        self.events.tell(&Event::Connected);
                    }
                    return Ok(client);
                }
                error => return error,
            }
            if !told && began.elapsed() >= self.patience.min(wait / 2) {
                told = true;
                let (address, waited) = (self.address.clone(), began.elapsed());
                self.events.tell(&Event::NoServer { address, waited });
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn connect(
        self: &Arc<Self>,
        address: &Address,
        options: &ClusterOptions,
        ping: Duration,
        has_beats: bool,
    ) -> Result<Client, Error> {
        let watcher = Arc::clone(self);
        let is_first = std::sync::atomic::AtomicBool::new(true);
        let connection = options.connection(address).await?;
        let connection = connection
            .name(&options.name)
            .ping_interval(ping)
            .reconnect_delay_callback(|attempts| Duration::from_millis(10 << attempts.min(5)))
            .event_callback(move |event| {
                let is_first = matches!(event, async_nats::Event::Connected)
                    && is_first.swap(false, std::sync::atomic::Ordering::Relaxed);
                let watcher = Arc::clone(&watcher);
                async move {
                    if !is_first {
                        watcher.event(event, has_beats).await;
                    }
                }
            });
        let connected = connection.connect(address.servers()).await;
        connected.map_err(|error| refused(&self.address, &error))
    }

    async fn event(&self, event: async_nats::Event, has_beats: bool) {
        match event {
            async_nats::Event::Connected => {
                if has_beats {
                    self.is_back().await;
                }
                self.news
                    .send_modify(|made| *(if has_beats { &mut made.beats } else { &mut made.bodies }) += 1);
            }
            async_nats::Event::Disconnected if has_beats => {
                let now = Instant::now();
                let made = *self.news.borrow();
                *lock(&self.away) = Some(Away { since: now, told: now, refused: None, made });
                self.events.tell(&Event::Disconnected);
            }
            async_nats::Event::ServerError(ServerError::Other(text)) if is_forbidden(&text) => {
                // The other connection may be told the same.
                let is_new = self.forbids.send_if_modified(|before| {
                    let is_new = *before != text;
                    before.clone_from(&text);
                    is_new
                });
                if is_new {
                    self.events.tell(&Event::ServerRefuses { cause: text, waited: Duration::ZERO });
                } else {
                    self.forbids.send_modify(|_| ());
                }
            }
            async_nats::Event::ClientError(ClientError::Other(text)) if has_beats => self.fails(text),
            _ => {}
        }
    }

    /// The server could not be reached once more.
    fn fails(&self, text: String) {
        let mut away = lock(&self.away);
        let Some(Away { since, told, refused, .. }) = &mut *away else { return };
        let waited = since.elapsed();
        let is_refused = text.contains("authorization") || text.contains("nonce");
        let event = if is_refused {
            let cause = format!("the server at {} does not accept the credentials any more", self.address);
            if refused.as_ref() == Some(&cause) && told.elapsed() < self.patience {
                return;
            }
            *refused = Some(cause.clone());
            Event::ServerRefuses { cause, waited }
        } else {
            if told.elapsed() < self.patience {
                return;
            }
            Event::NoServer { address: self.address.clone(), waited }
        };
        *told = Instant::now();
        drop(away);
        self.events.tell(&event);
    }

    /// The connection of beats is there again.
    async fn is_back(&self) {
        let away = lock(&self.away).take();
        if let Some(Away { made, .. }) = away {
            // The connection of bodies may not have noticed that the line was cut.
            let bodies = lock(&self.bodies).clone();
            if self.news.borrow().bodies == made.bodies
                && let Some(bodies) = bodies
                && bodies.connection_state() == State::Connected
            {
                let _ = bodies.force_reconnect().await;
            }
            self.events.tell(&Event::Connected);
        }
    }
}

fn is_forbidden(text: &str) -> bool {
    text.to_lowercase().contains("permissions violation")
}

fn refused(address: &str, error: &ConnectError) -> Error {
    let (url, cause) = (address.to_owned(), error.to_string());
    match error.kind() {
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
            Error::Credentials { url, cause }
        }
        _ => Error::Connect { url, cause },
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
